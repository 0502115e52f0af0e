// Sums up orders per customer, as an agent would write it.
const orders = [
  { id: 1, customer: "ada", lines: [{ sku: "a", qty: 2, price: 1.5 }, { sku: "b", qty: 1, price: 10 }] },
  { id: 2, customer: "bob", lines: [{ sku: "a", qty: 1, price: 1.5 }] },
  { id: 3, customer: "ada", lines: [] },
];

function totalOf(order) {
  let total = 0;
  for (const { qty, price } of order.lines) total += qty * price;
  return total;
}

const byCustomer = new Map();
for (const order of orders) {
  const entry = byCustomer.get(order.customer) ?? { count: 0, total: 0 };
  entry.count++;
  entry.total += totalOf(order);
  byCustomer.set(order.customer, entry);
}

const rows = [...byCustomer].map(([name, { count, total }]) => `${name}: ${count} orders, ${total.toFixed(2)}`);
rows.sort((a, b) => a.localeCompare(b));

search:
for (let i = 0; i < rows.length; i++) {
  for (const word of rows[i].split(/[\s,:]+/)) {
    if (word === "orders") continue search;
    if (word === "nothing") break search;
  }
}

if (rows.join("|") !== "ada: 2 orders, 13.00|bob: 1 orders, 1.50") throw new Error(rows.join("|"));
return "ok";
