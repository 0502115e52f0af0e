for (let i = 0; i < 3; i++) fs.push(() => i)
for (const k of ks) { let t = k; }
