a: for (;;) { b: while (1) { continue a; } }
c: for (const x of y) d: for (const z of x) if (z) continue c; else break d
e: { break e }
