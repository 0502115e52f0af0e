switch (x) { case 1: var a = 1
var [b] = c; break; default: var d }
try { var e = 1 } catch (err) { var f = err } finally { var g = 2 }
