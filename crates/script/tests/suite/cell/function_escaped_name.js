function \u0066oo() { return 1 }
foo()
