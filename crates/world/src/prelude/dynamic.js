// eval and the function constructors: text becomes code only after it went through the same preparation as any other
// code, and it runs in the same world with the same guards.
(function (native, kit) {
  'use strict';
  const { Object, Array, String, TypeError, Reflect } = globalThis;
  const { defineProperty, getPrototypeOf, setPrototypeOf } = Object;
  const realEval = kit.realEval;
  const world = globalThis;

  const globals = { eval(text) { return typeof text === 'string' ? realEval(native.prepareDynamic(text)) : text; } };
  native.define('eval', globals.eval);

  function make(name, head, sample) {
    const prototype = getPrototypeOf(sample);
    const maker = { [name]: function (...args) {
      native.mayMakeFunctions();
      const texts = args.map((arg) => `${arg}`);
      const body = texts.length === 0 ? '' : texts[texts.length - 1];
      const parameters = texts.slice(0, -1).join(',');
      if (name === 'Function' && parameters === '' && /^\s*return this;?\s*$/.test(body)) return () => world;
      const made = realEval(native.prepareFunction(head, parameters, body));
      if (new.target !== undefined && new.target !== maker) setPrototypeOf(made, new.target.prototype);
      return made;
    } }[name];
    defineProperty(maker, 'length', { value: 1, configurable: true });
    defineProperty(maker, 'prototype', { value: prototype, writable: false, enumerable: false, configurable: false });
    defineProperty(prototype, 'constructor', { value: maker, writable: name === 'Function', enumerable: false, configurable: true });
    return maker;
  }
  const Function = make('Function', 'function', function () {});
  for (const maker of [
    make('AsyncFunction', 'async function', async function () {}),
    make('GeneratorFunction', 'function*', function* () {}),
    make('AsyncGeneratorFunction', 'async function*', async function* () {}),
  ]) setPrototypeOf(maker, Function);
  native.define('Function', Function);
})
