function f() { enum L { A, B } for (;;) { enum M { C } } return L.B }
