// What the parts of Intl share: names of locales, reading of options. The texts are made by the host, which keeps formatters by
// their specification; an object here holds no more than that text.
(function (native, kit, world, own) {
  'use strict';
  const { Object, String, Number, Array, TypeError, RangeError, JSON, Math } = world;
  const { stringify, parse } = JSON;

  // The canonical names in what was given as `locales`.
  function localeList(locales) {
    if (locales === undefined) return [];
    if (typeof locales === 'string') return [own.canonical(locales)];
    if (locales === null) throw new TypeError('Cannot convert undefined or null to object');
    const given = typeof locales === 'object' && nameOf(locales) !== undefined ? [locales] : Object(locales);
    const list = [];
    const length = Math.min(Math.max(Math.trunc(Number(given.length)) || 0, 0), 1000);
    for (let at = 0; at < length; at++) {
      if (!(at in given)) continue;
      const item = given[at];
      if (typeof item !== 'string' && (item === null || typeof item !== 'object')) throw new TypeError('Incorrect locale information provided');
      const tag = nameOf(item) ?? own.canonical(`${item}`);
      if (!list.includes(tag)) list.push(tag);
    }
    return list;
  }
  // Of an Intl.Locale, which is in a file of its own; its class puts the way here.
  const hooks = { nameOf: () => undefined };
  const nameOf = (value) => hooks.nameOf(value);

  function choose(options, name, values, fallback) {
    const value = options[name];
    if (value === undefined) return fallback;
    const text = `${value}`;
    if (values !== undefined && !values.includes(text)) throw new RangeError(`Value ${text} out of range for Intl options property ${name}`);
    return text;
  }
  function truth(options, name) {
    const value = options[name];
    return value === undefined ? undefined : !!value;
  }
  function whole(value, least, most, fallback, name) {
    if (value === undefined) return fallback;
    const number = Number(value);
    if (!(number >= least && number <= most)) throw new RangeError(`${name} value is out of range.`);
    return Math.floor(number);
  }
  // `null` is no object here, anything else becomes one; newer classes take objects only.
  const loose = (options) => {
    if (options === undefined) return { __proto__: null };
    return Object(options === null ? (() => { throw new TypeError('Cannot convert undefined or null to object'); })() : options);
  };
  const strict = (options) => {
    if (options === undefined) return { __proto__: null };
    if (options === null || typeof options !== 'object' && typeof options !== 'function') throw new TypeError('Incorrect options provided');
    return options;
  };
  const typeName = (options, name, pattern) => {
    const value = choose(options, name);
    if (value !== undefined && !/^[a-z0-9]{3,8}(-[a-z0-9]{3,8})*$/i.test(value)) throw new RangeError(`Invalid ${name} : ${value}`);
    return value?.toLowerCase();
  };

  // Pieces come as a flat list.
  const pieces = (flat, more) => {
    const list = [];
    for (let at = 0; at < flat.length; at += 2) list.push({ type: flat[at], value: flat[at + 1], ...more?.(flat[at]) });
    return list;
  };
  const rangePieces = (flat) => {
    const list = [];
    for (let at = 0; at < flat.length; at += 3) list.push({ type: flat[at], value: flat[at + 1], source: flat[at + 2] });
    return list;
  };
  const joined = (flat, step) => {
    let text = '';
    for (let at = 1; at < flat.length; at += step) text += flat[at];
    return text;
  };
  const supportedLocalesOf = (locales, options) => {
    const list = localeList(locales);
    if (options !== undefined) choose(loose(options), 'localeMatcher', ['lookup', 'best fit']);
    return list.filter((tag) => own.supports(tag));
  };

  // A class that may also be called without `new`, as the oldest three can.
  const callable = (Hidden, name) => {
    const { construct } = world.Reflect;
    const made = { [name]: function (locales, options) { return construct(Hidden, [locales, options], new.target ?? made); } }[name];
    Object.defineProperty(made, 'length', { value: 0, configurable: true });
    Object.defineProperty(made, 'prototype', { value: Hidden.prototype, writable: false });
    Object.defineProperty(Hidden.prototype, 'constructor', { value: made, writable: true, enumerable: false, configurable: true });
    Object.defineProperty(made, 'supportedLocalesOf', { value: { supportedLocalesOf(locales, options) { return supportedLocalesOf(locales, options); } }.supportedLocalesOf, writable: true, enumerable: false, configurable: true });
    return made;
  };

  return { names: {}, inner: { own, localeList, choose, truth, whole, loose, strict, typeName, pieces, rangePieces, joined, supportedLocalesOf, callable, hooks, stringify, parse } };
})
