// Promise.any with the message that other engines give its error; the engine's own has none.
(function (native, kit) {
  'use strict';
  const { Promise, AggregateError, TypeError, Reflect, Object } = globalThis;
  const { apply } = Reflect;

  const globals = {
    any(iterable) {
      const Maker = this;
      let resolve, reject;
      const promise = new Maker((yes, no) => { resolve = yes; reject = no; });
      const errors = [];
      let left = 1;
      const failed = () => { if (--left === 0) reject(new AggregateError(errors, 'All promises were rejected')); };
      try {
        const promised = Maker.resolve;
        if (typeof promised !== 'function') throw new TypeError('Promise.resolve is not a function');
        let count = 0;
        for (const item of iterable) {
          const at = count++;
          let told = false;
          errors[at] = undefined;
          left++;
          apply(promised, Maker, [item]).then(resolve, (error) => {
            if (told) return;
            told = true;
            errors[at] = error;
            failed();
          });
        }
        failed();
      } catch (error) {
        reject(error);
      }
      return promise;
    },
  };
  Object.defineProperty(Promise, 'any', { value: globals.any, writable: true, enumerable: false, configurable: true });
})
