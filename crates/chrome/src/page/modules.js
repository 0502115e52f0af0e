  // Part 6: import(): modules whose text the host gave, each run once per session.
  //
  // Every module has an `import` of its own, which knows whose it is. A module that waits for itself through others gets
  // what its partner has exported so far, as ES modules do.
  const modules = new PageMap(), { toStringTag } = Symbol;
  const refuse = (error) => new PagePromise((_, reject) => reject(error));
  // A path without its last part; `null` when nothing is left.
  const above = (path) => {
    if (path === null) return null;
    let at = path.length - 1;
    while (at >= 0 && charCode(path, at) !== 47) at--;
    return at < 0 ? null : slice(path, 0, at);
  };
  // './x' and '../x' are names beside the module that asks.
  const beside = (referrer, name) => {
    let folder = above(referrer);
    for (let rest = name; ; ) {
      const cut = indexOf(rest, "/"), part = cut < 0 ? rest : slice(rest, 0, cut);
      if (part === "..") folder = above(folder);
      else if (part !== ".") folder = folder === null ? part : `${folder}/${part}`;
      if (cut < 0) return folder ?? "";
      rest = slice(rest, cut + 1);
    }
  };
  const isRelative = (name) => indexOf(name, "./") === 0 || indexOf(name, "../") === 0;
  const waitsFor = (from, target, seen) => {
    if (from === target) return true;
    if (setHas(seen, from)) return false;
    setAdd(seen, from);
    const module = mapGet(modules, from);
    let found = false;
    if (module !== undefined) setEach(module.waits, (next) => { if (!found) found = waitsFor(next, target, seen); });
    return found;
  };
  const loadFor = (referrer) => (specifier) => {
    let name;
    try {
      name = `${specifier}`;
    } catch (e) {
      return refuse(e);
    }
    if (referrer !== undefined && isRelative(name)) name = beside(referrer, name);
    const parent = referrer === undefined ? undefined : mapGet(modules, referrer), known = mapGet(modules, name);
    if (known === undefined) {
      if (run === null || run.over !== null) return refuse(ended());
      const module = { __proto__: null, name, exports: create(null), waits: new PageSet(), done: false, promise: undefined };
      defineProperty(module.exports, toStringTag, { __proto__: null, value: "Module" });
      mapSet(modules, name, module);
      if (parent !== undefined) setAdd(parent.waits, name);
      module.promise = ask(() => `"t":"import","name":${quote(name)}`, module);
      // Whoever asked hears of a failure; the kernel itself has nothing to say to it.
      (async () => { try { await module.promise; } catch {} })();
      return module.promise;
    }
    if (!known.done && parent !== undefined) {
      if (waitsFor(name, referrer, new PageSet())) return new PagePromise((resolve) => resolve(known.exports));
      setAdd(parent.waits, name);
    }
    return known.promise;
  };
  // A module that was still loading when its run ended never will be loaded; the next import starts anew.
  const forgetImports = () => mapEach(modules, (module, name) => { if (!module.done) mapDelete(modules, name); });

