const x = input.a + 1
return { x }
