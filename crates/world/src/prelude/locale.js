// `toLocaleString` and its relatives. All of their work is done by Intl, which is loaded when the first of them is called.
(function (native, kit) {
  'use strict';
  const { Object, Array, Number, BigInt, Date, String, Math, TypeError, Reflect, Uint8Array } = globalThis;
  const { trunc } = Math;
  const { defineProperty } = Object;
  const uncurry = (f) => (self, ...args) => Reflect.apply(f, self, args);
  const numberValue = uncurry(Number.prototype.valueOf), bigintValue = uncurry(BigInt.prototype.valueOf);
  const dateValue = uncurry(Date.prototype.getTime);
  const replace = (prototype, methods) => {
    for (const name of Object.keys(methods)) defineProperty(prototype, name, { value: methods[name], writable: true, enumerable: false, configurable: true });
  };
  const number = (value, locales, options) => kit.late('intl-number.js').write(value, locales, options);
  const date = (self, locales, options, required, defaults) => {
    const time = dateValue(self);
    return kit.late('intl-date.js').write(time, locales, options, required, defaults);
  };
  replace(Number.prototype, { toLocaleString(locales, options) { return number(numberValue(this), locales, options); } });
  replace(BigInt.prototype, { toLocaleString(locales, options) { return number(bigintValue(this), locales, options); } });

  // Lists: each item is asked in the same language.
  const listed = (list, length, locales, options) => {
    let text = '';
    for (let index = 0; index < length; index++) {
      const item = list[index];
      if (index > 0) text += ',';
      if (item !== undefined && item !== null) text += `${item.toLocaleString(locales, options)}`;
    }
    return text;
  };
  const { prototype: typed } = Object.getPrototypeOf(Uint8Array);
  const typedLength = uncurry(Object.getOwnPropertyDescriptor(typed, 'length').get);
  const lengthOf = (list) => { const length = trunc(+list.length); return length > 0 ? length : 0; };
  replace(Array.prototype, {
    toLocaleString(locales = undefined, options = undefined) {
      if (this === null || this === undefined) throw new TypeError('a list is needed');
      return listed(this, lengthOf(this), locales, options);
    },
  });
  replace(typed, { toLocaleString(locales = undefined, options = undefined) { return listed(this, typedLength(this), locales, options); } });

  const plainUpper = uncurry(String.prototype.toUpperCase), plainLower = uncurry(String.prototype.toLowerCase);
  const own = (self) => {
    if (self === null || self === undefined) throw new TypeError('a text is needed');
    return `${self}`;
  };
  // In most languages letters have one other size, in some there is more to it.
  const special = /^(?:tr|az|lt|el|nl|hy)(?:-|$)/;
  const cased = (text, locales, plain, name) => {
    if (locales === undefined) return plain(text);
    const tag = kit.late('intl-text.js').tagOf(locales);
    return tag !== undefined && special.test(tag) ? kit.late('intl.js').own[name](text, tag) : plain(text);
  };
  replace(String.prototype, {
    toLocaleUpperCase(locales) { return cased(own(this), locales, plainUpper, 'upper'); },
    toLocaleLowerCase(locales) { return cased(own(this), locales, plainLower, 'lower'); },
    localeCompare(that, locales, options) { return kit.late('compare.js').compare(own(this), `${that}`, locales, options); },
  });

  const ZONE = 'Coordinated Universal Time';
  const plainString = uncurry(Date.prototype.toString), plainTime = uncurry(Date.prototype.toTimeString);
  const withZone = (text) => (text === 'Invalid Date' ? text : `${text} (${ZONE})`);
  replace(Date.prototype, {
    toString() { return withZone(plainString(this)); },
    toTimeString() { return withZone(plainTime(this)); },
    toLocaleString(locales, options) { return date(this, locales, options, 'any', 'all'); },
    toLocaleDateString(locales, options) { return date(this, locales, options, 'date', 'date'); },
    toLocaleTimeString(locales, options) { return date(this, locales, options, 'time', 'time'); },
  });
})
