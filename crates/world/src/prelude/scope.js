// The scope of a compartment: every name that code does not declare is looked up in the compartment's own global
// object and nowhere else. This is the one sloppy script of Cove: strict code has no `with`.
(function (native, kit) {
  const { Proxy, Reflect, ReferenceError, Promise, Symbol, Object, TypeError } = globalThis;
  const { get, set, has } = Reflect;
  const realEval = kit.realEval;
  const unscopables = Symbol.unscopables;
  const refuseImport = () => Promise.reject(new TypeError('import() is not available inside a Compartment'));

  function inside(scope) {
    with (scope) {
      return function () { 'use strict'; return eval(arguments[0]); };
    }
  }

  kit.makeEvaluator = (globals) => {
    let next = false;
    const handler = {
      __proto__: null,
      // Names of Cove's own (`__cove…`) are refused in source text, so only prepared code reaches past this scope.
      has(target, name) { return typeof name === 'string' && (name === '__cove_import' || !name.startsWith('__cove')); },
      get(target, name) {
        if (name === unscopables) return undefined;
        if (name === '__cove_import') return refuseImport;
        if (name === 'eval' && next) { next = false; return realEval; }
        return get(globals, name);
      },
      set(target, name, value) {
        if (!has(globals, name)) throw new ReferenceError(`${name} is not defined`);
        return set(globals, name, value);
      },
      deleteProperty() { return false; },
      defineProperty() { return false; },
    };
    const evaluate = inside(new Proxy(Object.freeze({ __proto__: null }), handler));
    return (text) => { next = true; try { return evaluate.call(globals, text); } finally { next = false; } };
  };
})
