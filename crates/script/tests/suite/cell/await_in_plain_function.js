function f() { await x }
