// How often each of a few thousand words occurs in three million.
const counts = new Map();
for (let i = 0; i < 3_000_000; i++) {
  const word = 'w' + ((i * 7919) % 4001).toString(36);
  counts.set(word, (counts.get(word) ?? 0) + 1);
}
return [...counts].sort(([a], [b]) => (a < b ? -1 : 1)).slice(0, 3);
