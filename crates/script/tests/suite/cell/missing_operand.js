let a = 1
let x = ;
let b = 2
