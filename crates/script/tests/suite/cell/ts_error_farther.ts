interface A { x: number }
function f(a: A) { return a..x }
