function f() { return arguments.length }
const o = { m() { return () => arguments } }
return f(1)
