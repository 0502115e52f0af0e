for (var i = 0, n = 3; i < n; i++) ;
for (var k in o) use(k)
for (var [x, y] of z) { var w = x }
for await (var v of s) v
for (var async of q) ;
for (var j; ;) break
