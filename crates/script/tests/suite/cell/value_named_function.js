(function f() {})
