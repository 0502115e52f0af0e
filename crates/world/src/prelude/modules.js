// import(): modules whose text the host gave, each run once per session. A module that waits for itself through
// others gets what its partner has exported so far, as ES modules do.
(function (native, kit) {
  'use strict';
  const { Map, Set, Promise, Symbol, Object } = globalThis;
  const { defineProperty } = Object;
  const modules = new Map();

  function waitsFor(from, target, seen) {
    if (from === target) return true;
    if (seen.has(from)) return false;
    seen.add(from);
    for (const next of modules.get(from)?.waits ?? []) if (waitsFor(next, target, seen)) return true;
    return false;
  }

  async function load(entry, run) {
    await run(entry.exports);
    entry.done = true;
    return entry.exports;
  }

  // './x' and '../x' are names beside the module that asks.
  function beside(referrer, name) {
    const parts = referrer.split('/').slice(0, -1);
    for (const part of name.split('/')) {
      if (part === '..') parts.pop(); else if (part !== '.') parts.push(part);
    }
    return parts.join('/');
  }

  kit.importModule = (specifier) => {
    let name;
    try { name = `${specifier}`; } catch (error) { return Promise.reject(error); }
    const referrer = native.callerModule();
    if (referrer !== undefined && (name.startsWith('./') || name.startsWith('../'))) name = beside(referrer, name);
    const parent = modules.get(referrer);
    let entry = modules.get(name);
    if (entry === undefined) {
      let run;
      try { run = native.moduleFunction(name); } catch (error) { return Promise.reject(error); }
      if (typeof run !== 'function') return Promise.reject(kit.about(kit.markedError(run[1] === 'ERR_IMPORT_NOT_ALLOWED' ? 'import' : 'module', run[0], run[1]), { module: name }));
      const exports = { __proto__: null };
      defineProperty(exports, Symbol.toStringTag, { value: 'Module' });
      entry = { exports, waits: new Set(), done: false, promise: undefined };
      modules.set(name, entry);
      if (parent !== undefined) parent.waits.add(name);
      entry.promise = load(entry, run);
      entry.promise.then(undefined, () => {});
    } else if (!entry.done && parent !== undefined) {
      if (waitsFor(name, referrer, new Set())) return Promise.resolve(entry.exports);
      parent.waits.add(name);
    }
    return entry.promise;
  };
  // A module that was still loading when its run ended never will be loaded; the next import starts anew.
  kit.forgetImports = () => { for (const [name, entry] of modules) if (!entry.done) modules.delete(name); };
})
