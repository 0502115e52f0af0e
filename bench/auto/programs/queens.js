// Every way to place thirteen queens.
const n = 13;
let ways = 0;
const place = (row, columns, left, right) => {
  if (row === n) { ways++; return; }
  for (let free = ~(columns | left | right) & ((1 << n) - 1); free; free &= free - 1) {
    const bit = free & -free;
    place(row + 1, columns | bit, (left | bit) << 1, (right | bit) >> 1);
  }
};
place(0, 0, 0, 0);
return ways;
