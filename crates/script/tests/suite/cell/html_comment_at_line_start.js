<!-- hello
1
