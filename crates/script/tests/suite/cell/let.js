let a = 1, b;
let c

