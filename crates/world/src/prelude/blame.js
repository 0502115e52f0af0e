// What an exception says of itself, read without running a line of the guest's: own and inherited data properties only.
(function (native, kit) {
  'use strict';
  const { Object, JSON, Array, String, Error } = globalThis;
  const { getOwnPropertyDescriptor, getPrototypeOf, hasOwn } = Object;
  const stringify = JSON.stringify;

  function read(object, key) {
    for (let at = object, steps = 0; at !== null && steps < 100; at = getPrototypeOf(at), steps++) {
      if (native.brand(at) === 'Proxy') return undefined;
      const found = getOwnPropertyDescriptor(at, key);
      if (found !== undefined) return found.get === undefined ? found.value : kit.mended(found.get);
    }
    return undefined;
  }

  function typeOf(error) {
    const dom = kit.domName(error);
    if (dom !== undefined) return dom;
    const name = read(error, 'name');
    if (typeof name === 'string' && name !== '' && name !== 'Error') return name;
    const maker = read(error, 'constructor');
    const made = typeof maker === 'function' ? getOwnPropertyDescriptor(maker, 'name')?.value : undefined;
    return typeof made === 'string' && made !== '' ? made : 'Error';
  }

  const cut = (text) => (text.length > 4000 ? `${text.slice(0, 4000)}...` : text);

  function sentence(value, depth) {
    if (typeof value === 'string') return `Uncaught ${cut(stringify(value))}`;
    const brand = value !== null && typeof value === 'object' ? native.brand(value) : undefined;
    if (brand !== 'Error') return `Uncaught ${cut(kit.inspect(value, 1))}`;
    const message = read(value, 'message');
    let text = typeof message === 'string' && message !== '' ? `${typeOf(value)}: ${cut(message)}` : typeOf(value);
    const errors = getOwnPropertyDescriptor(value, 'errors')?.value;
    if (depth < 3 && Array.isArray(errors) && errors.length > 0) {
      const parts = [];
      for (let at = 0; at < errors.length && at < 5; at++) parts.push(sentence(getOwnPropertyDescriptor(errors, at)?.value, depth + 1));
      text += ` [${parts.join('; ')}${errors.length > 5 ? `; and ${errors.length - 5} more` : ''}]`;
    }
    if (depth < 3 && hasOwn(value, 'cause')) text += ` (cause: ${sentence(getOwnPropertyDescriptor(value, 'cause')?.value, depth + 1).replace(/^Uncaught /, '')})`;
    return text;
  }

  kit.sentence = (value) => sentence(value, 0);
  kit.errorType = (value) => {
    const brand = value !== null && typeof value === 'object' ? native.brand(value) : undefined;
    return brand === 'Error' ? typeOf(value) : undefined;
  };
  kit.stackOf = (value) => (value !== null && typeof value === 'object' && native.brand(value) !== 'Proxy' ? kit.rawStack(value) : undefined);
  kit.reportError = (error) => { native.log(4, `Uncaught error in a callback: ${sentence(error, 0)}`); };
})
