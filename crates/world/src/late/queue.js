// What all streams share: queues that know their size, the two strategies, and promises that are settled from outside.
(function (native, kit, world) {
  'use strict';
  const { Promise, TypeError, RangeError, Symbol, Number, Reflect, Object, Infinity } = world;
  const { apply } = Reflect;

  const nothing = () => {};
  const quiet = (promise) => { promise.then(undefined, nothing); return promise; };
  const deferred = () => {
    const made = { isSettled: false };
    made.promise = new Promise((resolve, reject) => {
      made.resolve = (value) => { made.isSettled = true; resolve(value); };
      made.reject = (error) => { made.isSettled = true; reject(error); };
    });
    return made;
  };
  // Rejects a promise that nobody need hear; one that is settled already is replaced.
  const rejectQuietly = (made, error) => {
    const open = made.isSettled ? deferred() : made;
    open.reject(error);
    quiet(open.promise);
    return open;
  };
  // A call whose throw is a rejection.
  const settled = (run) => {
    try {
      return Promise.resolve(run());
    } catch (error) {
      kit.rethrow(error);
      return Promise.reject(error);
    }
  };

  class Fifo {
    items = [];
    at = 0;
    total = 0;
    get length() { return this.items.length - this.at; }
    push(value, size) {
      const weight = Number(size);
      if (!(weight >= 0) || weight === Infinity) throw new RangeError('the size of a chunk is a number that is neither negative nor infinite');
      this.items.push(value, weight);
      this.total += weight;
    }
    get isEmpty() { return this.at === this.items.length; }
    peek() { return this.items[this.at]; }
    shift() {
      const value = this.items[this.at];
      this.total -= this.items[this.at + 1];
      this.items[this.at] = undefined;
      this.at += 2;
      // Half of it is behind us: begin anew, so that a queue that is never empty does not grow for ever.
      if (this.at === this.items.length) { this.items = []; this.at = 0; }
      else if (this.at > 256 && this.at * 2 > this.items.length) { this.items = this.items.slice(this.at); this.at = 0; }
      if (this.total < 0) this.total = 0;
      return value;
    }
    clear() { this.items = []; this.at = 0; this.total = 0; }
  }

  const isObject = (value) => value !== null && (typeof value === 'object' || typeof value === 'function');
  const needObject = (value, what) => {
    if (value === undefined || value === null) return {};
    if (!isObject(value)) throw new TypeError(`${what} is an object`);
    return value;
  };
  // A callback of the guest's by its name, bound to its owner; `undefined` where there is none.
  const callback = (owner, name) => {
    const found = owner[name];
    if (found === undefined) return undefined;
    if (typeof found !== 'function') throw new TypeError(`${name} is a function`);
    return (...args) => apply(found, owner, args);
  };
  const markOf = (strategy, usual) => {
    if (strategy.highWaterMark === undefined) return usual;
    const mark = Number(strategy.highWaterMark);
    if (!(mark >= 0)) throw new RangeError('highWaterMark is a number that is not negative');
    return mark;
  };
  const one = () => 1;
  const sizeOf = (strategy) => {
    const { size } = strategy;
    if (size === undefined) return one;
    if (typeof size !== 'function') throw new TypeError('size is a function');
    return (chunk) => apply(size, undefined, [chunk]);
  };

  const given = (init) => {
    if (!isObject(init) || init.highWaterMark === undefined) throw new TypeError('a strategy needs a highWaterMark');
    return Number(init.highWaterMark);
  };
  const count = Object.freeze({ size() { return 1; } }.size);
  const bytes = Object.freeze({ size(chunk) { return chunk.byteLength; } }.size);
  class CountQueuingStrategy {
    #mark;
    constructor(init) { this.#mark = given(init); }
    get highWaterMark() { return this.#mark; }
    get size() { void this.#mark; return count; }
    get [Symbol.toStringTag]() { return 'CountQueuingStrategy'; }
  }
  class ByteLengthQueuingStrategy {
    #mark;
    constructor(init) { this.#mark = given(init); }
    get highWaterMark() { return this.#mark; }
    get size() { void this.#mark; return bytes; }
    get [Symbol.toStringTag]() { return 'ByteLengthQueuingStrategy'; }
  }

  return {
    names: { CountQueuingStrategy, ByteLengthQueuingStrategy },
    inner: { nothing, quiet, deferred, rejectQuietly, settled, Fifo, isObject, needObject, callback, markOf, sizeOf, one },
  };
})
