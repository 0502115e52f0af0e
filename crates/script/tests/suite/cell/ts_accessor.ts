class A { accessor x: number = 1 }
