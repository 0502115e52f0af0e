// URLPattern: the parts of a pattern are the host's (the rules of the standard), the expressions are the engine's own.
(function (native, kit, world, own) {
  'use strict';
  const { TypeError, Symbol, RegExp } = world;
  const PARTS = ['protocol', 'username', 'password', 'hostname', 'port', 'pathname', 'search', 'hash'];
  const INIT = [...PARTS, 'baseURL'];
  const isInit = (input) => input === undefined || input === null || typeof input === 'object' || typeof input === 'function';
  // A dictionary of parts, as the host takes it and as `inputs` tells it.
  const init = (input) => {
    const told = {};
    if (input !== undefined && input !== null) for (const name of INIT) { const value = input[name]; if (value !== undefined) told[name] = `${value}`; }
    return told;
  };
  const listed = (told) => INIT.map((name) => told[name]);

  // The standard says the flag `v`, with which this engine refuses plain signs outside of classes (`a-b`). Without sets in a class
  // it means the same as `u`, and a class with sets is no class of `u`.
  function compiled(source, ignoreCase, pattern) {
    let why;
    for (const flag of ['u', 'v']) {
      try { return new RegExp(source, flag + ignoreCase); } catch (error) { kit.rethrow(error); why ??= error.message; }
    }
    throw new TypeError(`"${pattern}" is not a URL pattern: a group is not a regular expression (${why})`);
  }

  // The parts of a pattern: how it is written, its expression, the names of its groups.
  function compile(input, base, ignoreCase) {
    const parts = own.parsePattern(isInit(input) ? listed(init(input)) : `${input}`, base === undefined ? undefined : `${base}`, ignoreCase);
    const out = {};
    for (const [index, part] of PARTS.entries()) {
      const [pattern, source, ...names] = parts[index];
      out[part] = { pattern, regexp: compiled(source, ignoreCase && index > 4 ? 'i' : '', pattern), names };
    }
    return { parts: out, hasGroups: parts[8][0] === 'true' };
  }

  class URLPattern {
    #parts;
    #hasGroups;
    constructor(input, base, options) {
      if (options === undefined && base !== undefined && isInit(base)) { options = base; base = undefined; }
      const { parts, hasGroups } = compile(input, base, !!options?.ignoreCase);
      this.#parts = parts;
      this.#hasGroups = hasGroups;
    }
    #match(input, base) {
      const given = isInit(input) ? init(input) : `${input}`;
      const values = own.parseInput(typeof given === 'string' ? given : listed(given), base === undefined ? undefined : `${base}`);
      if (values === undefined) return null;
      const found = { inputs: base === undefined ? [given] : [given, `${base}`] };
      for (const [index, name] of PARTS.entries()) {
        const { regexp, names } = this.#parts[name];
        const hit = regexp.exec(values[index]);
        if (hit === null) return null;
        const groups = {};
        for (const [at, group] of names.entries()) groups[group] = hit[at + 1];
        found[name] = { input: values[index], groups };
      }
      return found;
    }
    test(input, base) { return this.#match(input, base) !== null; }
    exec(input, base) { return this.#match(input, base); }
    get protocol() { return this.#parts.protocol.pattern; }
    get username() { return this.#parts.username.pattern; }
    get password() { return this.#parts.password.pattern; }
    get hostname() { return this.#parts.hostname.pattern; }
    get port() { return this.#parts.port.pattern; }
    get pathname() { return this.#parts.pathname.pattern; }
    get search() { return this.#parts.search.pattern; }
    get hash() { return this.#parts.hash.pattern; }
    get hasRegExpGroups() { return this.#hasGroups; }
    get [Symbol.toStringTag]() { return 'URLPattern'; }
  }

  return { names: { URLPattern }, inner: {} };
})
