// structuredClone: a copy of data, cycles and all; functions and promises are refused.
(function (native, kit) {
  'use strict';
  const { Map, Set, Object, Array, Date, RegExp, Reflect, DOMException, Error, EvalError, RangeError, ReferenceError,
    SyntaxError, TypeError, URIError, ArrayBuffer, Uint8Array, DataView, Symbol, Number, String, Boolean, BigInt } = globalThis;
  const { apply, construct } = Reflect;
  const { getOwnPropertyDescriptor, getPrototypeOf, defineProperty, keys } = Object;
  const getTime = Date.prototype.getTime;
  const mapForEach = Map.prototype.forEach;
  const setForEach = Set.prototype.forEach;
  const sliceBuffer = ArrayBuffer.prototype.slice;
  const typed = getPrototypeOf(Uint8Array.prototype);
  const tagOf = getOwnPropertyDescriptor(typed, Symbol.toStringTag).get;
  const bufferOf = getOwnPropertyDescriptor(typed, 'buffer').get;
  const offsetOf = getOwnPropertyDescriptor(typed, 'byteOffset').get;
  const lengthOf = getOwnPropertyDescriptor(typed, 'length').get;
  const ARRAYS = { Int8Array: globalThis.Int8Array, Uint8Array, Uint8ClampedArray: globalThis.Uint8ClampedArray,
    Int16Array: globalThis.Int16Array, Uint16Array: globalThis.Uint16Array, Int32Array: globalThis.Int32Array,
    Uint32Array: globalThis.Uint32Array, BigInt64Array: globalThis.BigInt64Array, BigUint64Array: globalThis.BigUint64Array,
    Float32Array: globalThis.Float32Array, Float64Array: globalThis.Float64Array, Float16Array: globalThis.Float16Array };
  const ERRORS = { EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError };
  const sourceOf = (regexp) => regexp.source;
  const valueOf = { Number: Number.prototype.valueOf, String: String.prototype.valueOf, Boolean: Boolean.prototype.valueOf, BigInt: BigInt.prototype.valueOf };

  const refuse = (what) => { throw new DOMException(`${what} could not be cloned.`, 'DataCloneError'); };

  function clone(value, seen) {
    if (typeof value === 'function') refuse(`${String(value).slice(0, 80)}`);
    if (typeof value === 'symbol') refuse(String(value));
    if (value === null || typeof value !== 'object') return value;
    if (seen.has(value)) return seen.get(value);
    const brand = native.brand(value);
    const keep = (copy) => { seen.set(value, copy); return copy; };
    const fill = (copy) => { for (const key of keys(value)) defineProperty(copy, key, { value: clone(value[key], seen), writable: true, enumerable: true, configurable: true }); return copy; };
    if (Array.isArray(value)) { const copy = keep([]); copy.length = value.length; return fill(copy); }
    const tag = apply(tagOf, value, []);
    if (tag !== undefined) {
      const buffer = clone(apply(bufferOf, value, []), seen);
      return keep(new ARRAYS[tag](buffer, apply(offsetOf, value, []), apply(lengthOf, value, [])));
    }
    switch (brand) {
      case 'Date': return keep(new Date(apply(getTime, value, [])));
      case 'RegExp': return keep(new RegExp(sourceOf(value), value.flags));
      case 'Map': { const copy = keep(new Map()); const pairs = []; apply(mapForEach, value, [(item, key) => pairs.push([key, item])]); for (const [key, item] of pairs) copy.set(clone(key, seen), clone(item, seen)); return copy; }
      case 'Set': { const copy = keep(new Set()); const items = []; apply(setForEach, value, [(item) => items.push(item)]); for (const item of items) copy.add(clone(item, seen)); return copy; }
      case 'ArrayBuffer': return keep(apply(sliceBuffer, value, [0]));
      case 'DataView': return keep(new DataView(clone(value.buffer, seen), value.byteOffset, value.byteLength));
      case 'Number': case 'String': case 'Boolean': case 'BigInt': return keep(Object(apply(valueOf[brand], value, [])));
      case 'Error': {
        const copy = keep(construct(ERRORS[value.name] ?? Error, []));
        if (value.message !== undefined) defineProperty(copy, 'message', { value: `${value.message}`, writable: true, enumerable: false, configurable: true });
        if (Object.hasOwn(value, 'cause')) defineProperty(copy, 'cause', { value: clone(value.cause, seen), writable: true, enumerable: false, configurable: true });
        return copy;
      }
      case 'Promise': case 'WeakMap': case 'WeakSet': case 'Generator': case 'Proxy': return refuse(`#<${brand}>`);
      default:
        if (kit.isBlob(value)) return value;
        return fill(keep({}));
    }
  }
  const globals = { structuredClone(value, options) {
    if (arguments.length === 0) throw new TypeError('structuredClone takes a value');
    return kit.clone(value);
  } };
  native.define('structuredClone', globals.structuredClone);
  kit.clone = (value) => clone(value, new Map());
  kit.entriesOf = (data) => {
    const pairs = [];
    let index = 0;
    if (native.brand(data) === 'Map') apply(mapForEach, data, [(item, key) => pairs.push([typeof key === 'string' ? key : kit.inspect(key, 0), item])]);
    else apply(setForEach, data, [(item) => pairs.push([`${index++}`, item])]);
    return pairs.slice(0, 1000);
  };
})
