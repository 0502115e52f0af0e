a: for (const x of xs) { b: for (const y of x) { if (y) continue a; else break b } }
