// harden, lockdown and Compartment, as Hardened JavaScript knows them.
(function (native, kit) {
  'use strict';
  const { Object, Reflect, Set, Proxy, Symbol, TypeError, ReferenceError, Promise, WeakMap, Array } = globalThis;
  const { defineProperty, freeze, getOwnPropertyDescriptor, getPrototypeOf, create } = Object;
  const { ownKeys } = Reflect;
  const world = globalThis;
  const isObject = (value) => value !== null && (typeof value === 'object' || typeof value === 'function');

  // Freezes everything that can be reached. What is frozen already at the start (the intrinsics) is not walked again.
  function harden(root) {
    if (!isObject(root)) return root;
    const seen = new Set();
    const queue = [];
    const add = (value) => {
      if (isObject(value) && !seen.has(value) && !native.isIntrinsic(value) && value !== world) { seen.add(value); queue.push(value); }
    };
    add(root);
    for (let at = 0; at < queue.length; at++) {
      const object = queue[at];
      const tag = kit.typedTag(object);
      if (tag !== undefined) Object.seal(object); else freeze(object);
      add(getPrototypeOf(object));
      if (tag !== undefined) continue;
      for (const key of ownKeys(object)) {
        const descriptor = getOwnPropertyDescriptor(object, key);
        if (descriptor === undefined) continue;
        add(descriptor.value);
        add(descriptor.get);
        add(descriptor.set);
      }
    }
    return root;
  }
  kit.typedTag = ((get) => (value) => Reflect.apply(get, value, []))(getOwnPropertyDescriptor(getPrototypeOf(globalThis.Uint8Array.prototype), Symbol.toStringTag).get);
  const globals = {
    harden(value) { return harden(value); },
    // The world is locked down before any code runs; whoever asks again finds it done.
    lockdown() { return undefined; },
  };
  native.define('harden', globals.harden);
  native.define('lockdown', globals.lockdown);
  kit.harden = harden;

  const SHARED = ['Object', 'Function', 'Error', 'EvalError', 'RangeError', 'ReferenceError', 'SyntaxError', 'TypeError',
    'URIError', 'AggregateError', 'SuppressedError', 'Iterator', 'Array', 'parseInt', 'parseFloat', 'isNaN', 'isFinite',
    'decodeURI', 'decodeURIComponent', 'encodeURI', 'encodeURIComponent', 'escape', 'unescape', 'Number', 'Boolean',
    'String', 'Math', 'Reflect', 'Symbol', 'BigInt', 'Date', 'RegExp', 'JSON', 'Proxy', 'Map', 'Set', 'WeakMap',
    'WeakSet', 'ArrayBuffer', 'Uint8ClampedArray', 'Int8Array', 'Uint8Array', 'Int16Array', 'Uint16Array', 'Int32Array',
    'Uint32Array', 'BigInt64Array', 'BigUint64Array', 'Float16Array', 'Float32Array', 'Float64Array', 'DataView',
    'Promise', 'DisposableStack', 'AsyncDisposableStack', 'harden', 'lockdown'];
  // What files that are loaded later find under these names: a guest may have put something else there meanwhile.
  const LATE = ['Object', 'Error', 'RangeError', 'TypeError', 'SyntaxError', 'Array', 'Number', 'Infinity', 'String', 'Math', 'Reflect', 'Symbol',
    'RegExp', 'JSON', 'Map', 'Set', 'ArrayBuffer', 'DataView', 'Uint8ClampedArray', 'Int8Array', 'Uint8Array', 'Int16Array', 'Uint16Array', 'Int32Array',
    'Uint32Array', 'BigInt64Array', 'BigUint64Array', 'Float16Array', 'Float32Array', 'Float64Array', 'Promise', 'DOMException', 'Event', 'EventTarget', 'AbortController', 'AbortSignal',
    'TextDecoder', 'URL', 'URLSearchParams', 'Blob', 'File', 'setTimeout', 'atob', 'btoa'];
  let shared;
  // Taken once, after everything is in its place and before any guest code runs.
  kit.captureShared = () => {
    shared = SHARED.map((name) => [name, world[name]]);
    const late = { __proto__: null };
    for (const name of LATE) late[name] = world[name];
    kit.world = freeze(late);
  };

  const makeEvaluator = kit.makeEvaluator;
  class Compartment {
    #globals;
    #evaluate;
    constructor(first = {}, second, third) {
      native.compartmentMade();
      const options = isObject(first) && (first.__options__ || Object.hasOwn(first, 'globals')) ? first : { globals: first };
      const own = {};
      for (const [name, value] of shared) defineProperty(own, name, { value, writable: true, enumerable: false, configurable: true });
      for (const [name, value] of [['NaN', NaN], ['Infinity', Infinity], ['undefined', undefined]]) defineProperty(own, name, { value });
      defineProperty(own, 'globalThis', { value: own, writable: true, enumerable: false, configurable: true });
      const inner = { eval: (text) => (typeof text === 'string' ? this.#evaluate(text) : text) };
      defineProperty(own, 'eval', { value: inner.eval, writable: true, enumerable: false, configurable: true });
      defineProperty(own, 'Compartment', { value: Compartment, writable: true, enumerable: false, configurable: true });
      const given = options.globals;
      if (isObject(given)) for (const key of ownKeys(given)) defineProperty(own, key, { value: given[key], writable: true, enumerable: true, configurable: true });
      this.#globals = own;
      const evaluator = makeEvaluator(own);
      this.#evaluate = (text) => evaluator(native.prepareDynamic(text));
    }
    get globalThis() { return this.#globals; }
    evaluate(text) {
      if (typeof text !== 'string') throw new TypeError('Compartment.evaluate takes a string');
      return this.#evaluate(text);
    }
    get [Symbol.toStringTag]() { return 'Compartment'; }
  }
  const { NaN, Infinity } = globalThis;
  native.define('Compartment', Compartment);
})
