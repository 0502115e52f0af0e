let a = 1
let a = 2
let b = 1
let b = 2
