// 700 things, a bag of 40,000.
const items = Array.from({ length: 700 }, (_, i) => ({ weight: 10 + ((i * 37) % 90), value: 5 + ((i * 53) % 120) }));
const best = new Array(40_001).fill(0);
for (const { weight, value } of items) {
  for (let room = 40_000; room >= weight; room--) best[room] = Math.max(best[room], best[room - weight] + value);
}
return best[40_000];
