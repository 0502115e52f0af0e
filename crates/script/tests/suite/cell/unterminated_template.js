let a = 1
let s = `abc ${a} 

