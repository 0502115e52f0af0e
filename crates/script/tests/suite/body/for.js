for (let i = 0; i < 3; i++) { f(i) }
for (;;) break
for (let i = 0, n = 2; i < n; i++) f(() => i)
