let a = 1 let b = 2 throwHere(a, b)
