class A { static n = 1; m() { return A.n } }
class B extends A {}
(new B).m()
