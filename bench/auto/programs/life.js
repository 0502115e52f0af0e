// Conway's game on a torus of 512 by 512, two hundred generations.
const n = 512;
let now = new Uint8Array(n * n).map((_, i) => ((i * 2654435761) >>> 28) & 1);
for (let turn = 0; turn < 200; turn++) {
  const next = new Uint8Array(n * n);
  for (let y = 0; y < n; y++) {
    const above = ((y + n - 1) % n) * n, here = y * n, below = ((y + 1) % n) * n;
    for (let x = 0; x < n; x++) {
      const l = (x + n - 1) % n, r = (x + 1) % n;
      const sum = now[above + l] + now[above + x] + now[above + r] + now[here + l] + now[here + r] + now[below + l] + now[below + x] + now[below + r];
      next[here + x] = sum === 3 || (sum === 2 && now[here + x]) ? 1 : 0;
    }
  }
  now = next;
}
return now.reduce((a, b) => a + b, 0);
