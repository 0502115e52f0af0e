items
  .filter(x => x.ok)
  .map(x => x.id)
  .join(", ")
