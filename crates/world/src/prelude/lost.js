// What a value loses on its way to JSON, said with what to write instead. Runs none of the guest's code: no getter, no proxy.
(function (native, kit) {
  'use strict';
  const { Object, Array, Number, Date, Reflect } = globalThis;
  const { getOwnPropertyDescriptor, getPrototypeOf, keys } = Object;
  const { apply } = Reflect;
  const isArray = Array.isArray, isFinite = Number.isFinite, getTime = Date.prototype.getTime;
  // As many places as are looked at, and as many sentences.
  const MOST_PLACES = 200, MOST_SENTENCES = 5, MOST_DEPTH = 6;

  const CURES = { __proto__: null,
    Map: ['a Map', '{}', 'Object.fromEntries(map) or [...map]'], Set: ['a Set', '{}', '[...set]'], RegExp: ['a RegExp', '{}', 'String(regexp)'],
    Error: ['an Error', '{}', 'String(error)'], Promise: ['a Promise', '{}', 'its value: await it'], ArrayBuffer: ['an ArrayBuffer', '{}', '[...new Uint8Array(buffer)]'],
    WeakMap: ['a WeakMap', '{}', 'something else'], WeakSet: ['a WeakSet', '{}', 'something else'], Generator: ['a generator', '{}', '[...generator]'] };
  const typed = (brand) => brand.endsWith('Array') && brand !== 'Array';

  // Whether it says itself what it is in JSON.
  function hasForm(object) {
    for (let at = object, steps = 0; at !== null && steps < 20; at = getPrototypeOf(at), steps++) {
      if (native.brand(at) === 'Proxy') return true;
      const found = getOwnPropertyDescriptor(at, 'toJSON');
      if (found !== undefined) return found.get !== undefined || typeof found.value === 'function';
    }
    return false;
  }
  const cut = (text) => (text.length > 400 ? `${text.slice(0, 400)}...` : text);

  // A cell that ends in a declaration has a function for its value, and nobody wants it.
  kit.lost = (value, cell) => {
    if (cell && typeof value === 'function') return [];
    const sentences = [], seen = [];
    let places = 0;
    const say = (path, what, becomes, instead, shown) => {
      const text = `${path === '' ? 'The value' : `\`${path}\``} is ${what}, which JSON writes as ${becomes}; use ${instead} instead.${shown === undefined ? '' : ` It is: ${cut(kit.inspect(shown, 2))}`}`;
      if (sentences.length < MOST_SENTENCES) sentences.push(text);
    };
    const look = (item, path, depth, listed) => {
      if (++places > MOST_PLACES || sentences.length >= MOST_SENTENCES) return;
      const type = typeof item;
      if (type === 'number' && !isFinite(item)) say(path, `${item}`, 'null', 'String(number), or handle it before', undefined);
      if (type === 'function') say(path, 'a function', path === '' || listed ? 'null' : 'nothing', 'what it gives when it is called', undefined);
      if (type === 'symbol') say(path, 'a symbol', path === '' || listed ? 'null' : 'nothing', 'String(symbol)', undefined);
      if (type !== 'object' || item === null) return;
      const brand = native.brand(item);
      if (brand === 'Proxy') return;
      if (brand === 'Date') {
        if (!isFinite(apply(getTime, item, []))) say(path, 'an invalid Date', 'null', 'a valid one', undefined);
        return;
      }
      if (hasForm(item)) return;
      if (CURES[brand] !== undefined) { say(path, ...CURES[brand], item); return; }
      if (typed(brand)) { say(path, `a ${brand}`, 'an object with a key for each index', 'Array.from(array)', item); return; }
      if (depth >= MOST_DEPTH || seen.includes(item)) return;
      seen.push(item);
      const list = isArray(item);
      const names = list ? undefined : keys(item);
      const count = list ? item.length : names.length;
      for (let i = 0; i < count && places <= MOST_PLACES; i++) {
        const found = getOwnPropertyDescriptor(item, list ? i : names[i]);
        if (found === undefined || found.get !== undefined) continue;
        look(found.value, list ? `${path}[${i}]` : path === '' ? names[i] : `${path}.${names[i]}`, depth + 1, list);
      }
    };
    look(value, '', 0, false);
    return sentences;
  };
})
