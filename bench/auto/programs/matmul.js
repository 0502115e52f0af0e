// Two matrices of 420 rows.
const n = 420;
const a = Array.from({ length: n }, (_, i) => Array.from({ length: n }, (_, j) => (i * j) % 7));
const b = Array.from({ length: n }, (_, i) => Array.from({ length: n }, (_, j) => (i + j) % 5));
let trace = 0;
for (let i = 0; i < n; i++) {
  for (let j = 0; j < n; j++) {
    let sum = 0;
    for (let k = 0; k < n; k++) sum += a[i][k] * b[k][j];
    if (i === j) trace += sum;
  }
}
return trace;
