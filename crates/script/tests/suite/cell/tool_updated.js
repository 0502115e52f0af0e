function f() { search++ }
