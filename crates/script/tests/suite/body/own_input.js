const input = { a: 1 }
return input.a
