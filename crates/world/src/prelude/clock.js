// Time as this session may see it: `Date` and `performance` ask the host's clock, which may stand still or refuse.
(function (native, kit) {
  'use strict';
  const { Date: Original, Reflect, Object } = globalThis;
  const { construct } = Reflect;
  const { defineProperty, getOwnPropertyDescriptor } = Object;

  function Date(...args) {
    if (new.target === undefined) return new Original(native.now('Date()')).toString();
    if (args.length === 0) args = [native.now('new Date()')];
    return construct(Original, args, new.target);
  }
  defineProperty(Date, 'length', { value: 7, configurable: true });
  defineProperty(Date, 'prototype', { value: Original.prototype, writable: false });
  const statics = { now() { return native.now('Date.now()'); } };
  defineProperty(Date, 'now', { value: statics.now, writable: true, configurable: true });
  for (const name of ['parse', 'UTC']) defineProperty(Date, name, getOwnPropertyDescriptor(Original, name));
  defineProperty(Original.prototype, 'constructor', { value: Date, writable: true, configurable: true });
  native.define('Date', Date);

  const performance = {
    now() { return native.performance(); },
    get timeOrigin() { return native.now('performance.timeOrigin') - native.performance(); },
    mark() {},
    measure() {},
  };
  native.define('performance', performance);
})
