let a: Foo<Bar> = new Baz<Qux>() as typeof quux
a
