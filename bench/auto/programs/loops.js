// Sixty million turns of a nested loop.
let sum = 0;
for (let i = 0; i < 6_000; i++) for (let j = 0; j < 10_000; j++) sum = (sum + i * j) % 1_000_003;
return sum;
