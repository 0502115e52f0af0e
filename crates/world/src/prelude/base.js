// What prepared code calls by reserved names: declarations of cells, names of functions, the end of a run.
(function (native, kit) {
  'use strict';
  const { Object, TypeError, Map, Promise, Symbol, SyntaxError, Error } = globalThis;
  const { defineProperty, getOwnPropertyDescriptor, freeze } = Object;
  const reflectDefine = globalThis.Reflect.defineProperty;
  const world = globalThis;
  kit.realEval = world.eval;

  // One cell of a native array instead of a call: asked at every promise callback.
  kit.over = [false, undefined];

  kit.declare = (...names) => {
    for (const name of names) {
      const found = getOwnPropertyDescriptor(world, name);
      if (found === undefined) {
        defineProperty(world, name, { value: undefined, writable: true, enumerable: true, configurable: true });
      } else if (!found.configurable) {
        throw new TypeError(`${name} belongs to this world and cannot be declared again`);
      } else if (found.writable !== true) {
        defineProperty(world, name, { value: found.value, writable: true, enumerable: true, configurable: true });
      }
    }
  };
  kit.lock = (...names) => { for (const name of names) defineProperty(world, name, { writable: false }); };
  kit.nameFunction = (made, name) => { defineProperty(made, 'name', { value: name, configurable: true }); return made; };
  // The global of that name is a courtesy: where the guest has closed its global object, the parameter still works.
  kit.setInput = (text) => {
    const value = text === undefined ? undefined : kit.decode(text);
    reflectDefine(world, 'input', { value, writable: true, enumerable: true, configurable: true });
    return value;
  };
  kit.setVariable = (name, text) => {
    defineProperty(world, name, { value: kit.harden(kit.decode(text)), writable: true, enumerable: true, configurable: true });
  };
  kit.setTool = (name, sync) => {
    defineProperty(world, name, { value: kit.makeTool(name, sync), writable: false, enumerable: name !== '__cove_fs', configurable: false });
  };
})
