// Two and a half million numbers, sorted by a function.
let seed = 1;
const next = () => (seed = (seed * 1103515245 + 12345) % 2147483648);
const list = Array.from({ length: 2_500_000 }, next);
list.sort((a, b) => a - b);
return list[1_000_000];
