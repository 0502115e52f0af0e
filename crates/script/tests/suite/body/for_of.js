for (const [a, b] of m) f(a)
for (x of y) ;
for await (const z of s) { g(z) }
