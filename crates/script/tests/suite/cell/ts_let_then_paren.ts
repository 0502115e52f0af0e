let a: T
(b as any)()
let c = d as E
[f] = g
var h: I
[j] = k
