// Chance as this session may see it: one stream of numbers from the host, which may be fixed or refuse.
(function (native, kit) {
  'use strict';
  const { Math, Uint8Array, ArrayBuffer, Object, Reflect, TypeError, DOMException, Symbol } = globalThis;
  const { getOwnPropertyDescriptor, getPrototypeOf, defineProperty } = Object;
  const { apply } = Reflect;
  const typed = getPrototypeOf(Uint8Array.prototype);
  const tagOf = getOwnPropertyDescriptor(typed, Symbol.toStringTag).get;
  const bufferOf = getOwnPropertyDescriptor(typed, 'buffer').get;
  const offsetOf = getOwnPropertyDescriptor(typed, 'byteOffset').get;
  const lengthOf = getOwnPropertyDescriptor(typed, 'byteLength').get;
  const INTEGERS = ['Int8Array', 'Uint8Array', 'Uint8ClampedArray', 'Int16Array', 'Uint16Array', 'Int32Array',
    'Uint32Array', 'BigInt64Array', 'BigUint64Array'];

  const chance = { random() { return native.random(); } };
  defineProperty(Math, 'random', { value: chance.random, writable: true, configurable: true });

  class Crypto {
    get subtle() { return kit.late('subtle.js').subtle; }
    getRandomValues(array) {
      const tag = array !== null && typeof array === 'object' ? apply(tagOf, array, []) : undefined;
      if (!INTEGERS.includes(tag)) throw new TypeError('crypto.getRandomValues takes an integer typed array');
      const length = apply(lengthOf, array, []);
      if (length > 65536) throw new DOMException(`crypto.getRandomValues gives at most 65536 bytes at a time; ${length} were asked for`, 'QuotaExceededError');
      new Uint8Array(apply(bufferOf, array, []), apply(offsetOf, array, []), length).set(native.randomBytes(length));
      return array;
    }
    randomUUID() {
      const bytes = native.randomBytes(16);
      bytes[6] = (bytes[6] & 15) | 64;
      bytes[8] = (bytes[8] & 63) | 128;
      const hex = bytes.toHex();
      return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
    }
  }
  native.define('crypto', new Crypto());

  // The bytes of whatever the web calls a BufferSource, as a Uint8Array over the same memory.
  const isView = ArrayBuffer.isView;
  const viewBuffer = getOwnPropertyDescriptor(globalThis.DataView.prototype, 'buffer').get;
  const viewOffset = getOwnPropertyDescriptor(globalThis.DataView.prototype, 'byteOffset').get;
  const viewLength = getOwnPropertyDescriptor(globalThis.DataView.prototype, 'byteLength').get;
  kit.bytesFrom = (data, who) => {
    const brand = data !== null && typeof data === 'object' ? native.brand(data) : undefined;
    if (brand === 'ArrayBuffer') return new Uint8Array(data);
    if (brand === 'DataView') return new Uint8Array(apply(viewBuffer, data, []), apply(viewOffset, data, []), apply(viewLength, data, []));
    if (isView(data)) return new Uint8Array(apply(bufferOf, data, []), apply(offsetOf, data, []), apply(lengthOf, data, []));
    throw new TypeError(`${who} takes an ArrayBuffer or a view of one`);
  };
})
