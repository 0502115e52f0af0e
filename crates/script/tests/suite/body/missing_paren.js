return foo(1, 2
