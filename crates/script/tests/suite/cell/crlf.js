let a = 1
let b = a +
  2
b
