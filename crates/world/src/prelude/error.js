// `error.stack` as people know it: a first line with name and message, then only frames of the user's own code, with
// the user's own lines and columns. The engine's record of the stack is kept where no property can change it.
(function (native, kit) {
  'use strict';
  const { Object, Error, Reflect, String, TypeError, Set } = globalThis;
  const { defineProperty, getOwnPropertyDescriptor, getPrototypeOf } = Object;
  const { apply } = Reflect;
  const record = getOwnPropertyDescriptor(Error.prototype, 'stack').get;

  // Where `new MyError()` stands says more than where `super()` stands in it: frames of an error's own constructors are left
  // out, as other engines do it.
  function withoutMakers(error, raw) {
    let rest = raw;
    const names = [];
    for (let at = getPrototypeOf(error), steps = 0; at !== null && steps < 20 && !native.isIntrinsic(at); at = getPrototypeOf(at), steps++) {
      if (native.brand(at) === 'Proxy') break;
      const maker = getOwnPropertyDescriptor(at, 'constructor')?.value;
      const name = typeof maker === 'function' ? getOwnPropertyDescriptor(maker, 'name')?.value : undefined;
      if (typeof name === 'string' && name !== '') names.push(`    at ${name} (`);
    }
    while (names.length > 0 && names.some((name) => rest.startsWith(name))) {
      const end = rest.indexOf('\n');
      if (end === -1 || end === rest.length - 1) break;
      rest = rest.slice(end + 1);
    }
    return rest;
  }
  kit.rawStack = (error) => {
    const own = native.brand(error) === 'Error';
    const raw = own ? apply(record, error, []) : getOwnPropertyDescriptor(error, 'stack')?.value;
    return typeof raw !== 'string' ? undefined : own ? withoutMakers(error, raw) : raw;
  };
  kit.framesOf = (error) => {
    const raw = kit.rawStack(error);
    return raw === undefined ? '' : native.userFrames(raw);
  };

  function headOf(error) {
    const name = error.name === undefined ? 'Error' : `${error.name}`;
    const message = error.message === undefined ? '' : `${error.message}`;
    return message === '' ? name : name === '' ? message : `${name}: ${message}`;
  }
  const accessor = {
    get stack() {
      if (this === null || typeof this !== 'object' || native.brand(this) !== 'Error') return undefined;
      const frames = kit.framesOf(this);
      return frames === '' ? headOf(this) : `${headOf(this)}\n${frames}`;
    },
    set stack(value) {
      if (this === null || typeof this !== 'object' && typeof this !== 'function') throw new TypeError('stack belongs to objects');
      defineProperty(this, 'stack', { value, writable: true, enumerable: false, configurable: true });
    },
  };
  const { get, set } = getOwnPropertyDescriptor(accessor, 'stack');
  defineProperty(Error.prototype, 'stack', { get, set, enumerable: false, configurable: true });

  // Prototypes are frozen with their properties turned into pairs; printing wants the values behind the pairs.
  const pairs = new Set();
  kit.rememberPair = (getter) => { pairs.add(getter); };
  kit.mended = (getter) => (pairs.has(getter) ? apply(getter, undefined, []) : undefined);
})
