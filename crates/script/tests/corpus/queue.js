// Promises, classes, private fields, getters, async iteration, finally.
class Queue {
  #items = [];
  static created = 0;
  static {
    for (let i = 0; i < 1; i++) Queue.created += i;
  }
  constructor(limit = 3) {
    this.limit = limit;
    Queue.created++;
  }
  get size() {
    let n = 0;
    for (const _ of this.#items) n++;
    return n;
  }
  push(...items) {
    for (const item of items) {
      if (this.#items.length >= this.limit) throw new RangeError(`full at ${item}`);
      this.#items.push(item);
    }
    return this;
  }
  async *[Symbol.asyncIterator]() {
    while (this.#items.length) {
      await null;
      yield this.#items.shift();
    }
  }
}

const trace = [];
const queue = new Queue();
try {
  queue.push(1, 2, 3, 4);
} catch ({ name, message }) {
  trace.push(`${name}: ${message}`);
} finally {
  trace.push(queue.size);
}

for await (const item of queue) trace.push(item);

const slow = (ms, value) => new Promise((resolve) => setTimeout(resolve, ms, value));
const all = await Promise.all([slow(2, "b"), slow(1, "a"), (async () => { for (;;) return "c" })()]);
trace.push(all.join(""), Queue.created);

const lazy = { get value() { return (this.count = (this.count ?? 0) + 1) } };
lazy.value; lazy.value
trace.push(lazy.count)

const text = JSON.stringify(trace);
if (text !== '["RangeError: full at 4",3,1,2,3,"bac",1,2]') throw new Error(text);
return "ok";
