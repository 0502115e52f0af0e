let s = "abc
let t = 2
