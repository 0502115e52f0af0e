// URLPattern: one pattern for each part of an address. Fixed text in patterns is compared as it is written, but for letters
// that an address would encode.
(function (native, kit, world) {
  'use strict';
  const { TypeError, Symbol, RegExp, Object, URL } = world;
  const PARTS = ['protocol', 'username', 'password', 'hostname', 'port', 'pathname', 'search', 'hash'];
  const PORTS = { __proto__: null, http: '80', https: '443', ws: '80', wss: '443', ftp: '21' };
  // What ends a `:name` of a part, and what belongs to it when it stands before it.
  const STOPS = { __proto__: null, pathname: '/', hostname: '.' };
  const PREFIXES = { __proto__: null, pathname: '/' };
  const special = /[.+*?^${}()[\]|/\\]/g;
  const quote = (text) => text.replace(special, '\\$&');
  const nameStart = /[\p{ID_Start}$_]/u;
  const namePart = /[\p{ID_Continue}$\u200c\u200d]/u;
  const bad = (text, why) => new TypeError(`"${text}" is no URL pattern: ${why}`);

  // A pattern as tokens: text, names, groups in round brackets, stars, curly brackets, and what says how often.
  function tokens(text) {
    const out = [];
    const chars = [...text];
    for (let at = 0; at < chars.length; at++) {
      const char = chars[at];
      const before = out[out.length - 1]?.kind;
      if (char === '\\') {
        if (at + 1 === chars.length) throw bad(text, 'it ends with a backslash');
        out.push({ kind: 'text', value: chars[++at], escaped: true });
      } else if (char === ':' && nameStart.test(chars[at + 1] ?? '')) {
        let value = '';
        while (at + 1 < chars.length && (value === '' ? nameStart : namePart).test(chars[at + 1])) value += chars[++at];
        out.push({ kind: 'name', value });
      } else if (char === '(') {
        let depth = 1;
        let value = '';
        while (depth > 0) {
          const next = chars[++at];
          if (next === undefined) throw bad(text, 'a bracket is not closed');
          if (next === '\\') { value += next + (chars[++at] ?? ''); continue; }
          if (next === '(') {
            depth++;
            if (chars[at + 1] !== '?') throw bad(text, 'a group inside of a group begins with ?:');
          }
          if (next === ')') depth--;
          if (depth > 0) value += next;
        }
        if (value === '' || value.startsWith('?')) throw bad(text, 'a group holds an expression');
        out.push({ kind: 'group', value });
      } else if (char === '{') out.push({ kind: 'open', value: char });
      else if (char === '}') out.push({ kind: 'close', value: char });
      else if ((char === '?' || char === '+' || char === '*') && (before === 'name' || before === 'group' || before === 'close' || before === 'star')) out.push({ kind: 'often', value: char });
      else if (char === '*') out.push({ kind: 'star', value: char });
      else out.push({ kind: 'text', value: char });
    }
    return out;
  }

  // Tokens as they are written.
  const write = (list) => list.map((token) => (token.kind === 'name' ? `:${token.value}` : token.kind === 'group' ? `(${token.value})` : token.escaped ? `\\${token.value}` : token.value)).join('');

  // One part's pattern as an expression and the names of its groups.
  function compile(given, part, ignoreCase) {
    const list = tokens(given);
    if (list.some((token) => token.kind === 'text' && token.value === ':' && !token.escaped)) throw bad(given, 'a name is missing behind a colon; write \\\\: for the colon itself');
    // An address has these parts encoded.
    if (part === 'pathname' || part === 'search' || part === 'hash') for (const token of list) if (token.kind === 'text') token.value = encoded(token.value);
    const pattern = write(list);
    const stop = STOPS[part];
    const segment = stop === undefined ? '.+?' : `[^${quote(stop)}]+?`;
    const names = [];
    let source = '';
    let pending = '';
    let hasGroups = false;
    let at = 0;
    const flush = () => { source += quote(pending); pending = ''; };
    const often = () => (list[at]?.kind === 'often' ? list[at++].value : '');
    const nameOf = (token) => {
      const name = token?.kind === 'name' ? token.value : `${names.filter((each) => /^\d+$/.test(each)).length}`;
      if (names.includes(name)) throw bad(pattern, `the name ${name} is used twice`);
      names.push(name);
    };
    // A name, a group or a star, with what is fixed before and behind it.
    const add = (before, inner, behind, times) => {
      const [head, tail] = [quote(before), quote(behind)];
      if (times === '' || times === '?') source += head === '' && tail === '' ? `(${inner})${times}` : `(?:${head}(${inner})${tail})${times}`;
      else source += `(?:${head}((?:${inner})(?:${tail}${head}(?:${inner}))*)${tail})${times === '*' ? '?' : ''}`;
    };
    const value = () => {
      const token = list[at];
      if (token?.kind === 'name') {
        at++;
        const own = list[at]?.kind === 'group' ? list[at++].value : undefined;
        nameOf(token);
        hasGroups ||= own !== undefined;
        return own ?? segment;
      }
      if (token?.kind !== 'group' && token?.kind !== 'star') return undefined;
      at++;
      nameOf(token);
      hasGroups ||= token.kind === 'group';
      return token.kind === 'star' ? '.*' : token.value;
    };
    while (at < list.length) {
      const token = list[at];
      if (token.kind === 'text') { pending += token.value; at++; continue; }
      if (token.kind === 'open') {
        flush();
        at++;
        let before = '';
        while (list[at]?.kind === 'text') before += list[at++].value;
        const inner = value();
        let behind = '';
        while (list[at]?.kind === 'text') behind += list[at++].value;
        if (list[at]?.kind !== 'close') throw bad(pattern, 'a curly bracket is not closed, or holds more than one group');
        at++;
        const times = often();
        if (inner !== undefined) add(before, inner, behind, times); else source += `(?:${quote(before)})${times}`;
        continue;
      }
      if (token.kind === 'close' || token.kind === 'often') throw bad(pattern, `${token.value} stands in the wrong place`);
      // `/:id?` makes the slash optional, too.
      const last = list[at - 1];
      const prefix = PREFIXES[part] !== undefined && pending.endsWith(PREFIXES[part]) && !last?.escaped ? PREFIXES[part] : '';
      pending = pending.slice(0, pending.length - prefix.length);
      flush();
      const inner = value();
      add(prefix, inner, '', often());
    }
    flush();
    let regexp;
    try {
      regexp = new RegExp(`^(?:${source})$`, ignoreCase ? 'ui' : 'u');
    } catch (error) {
      kit.rethrow(error);
      throw bad(pattern, 'a group is no expression');
    }
    return { pattern, regexp, names, hasGroups };
  }
  const encoded = (text) => text.replace(/[^\x21-\x7e]/gu, (char) => [...native.encodeUtf8(char)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join(''));

  // A pattern that is written as one address, cut into its parts.
  function split(text) {
    const parts = {};
    let depth = 0;
    let brackets = 0;
    let part;
    let from = 0;
    const list = tokens(text);
    const plain = (at, value) => depth === 0 && list[at]?.kind === 'text' && list[at].value === value;
    const take = (to) => write(list.slice(from, to));
    const go = (name, to, behind) => { if (part !== undefined) parts[part] = take(to); part = name; from = behind; };
    let scheme = -1;
    for (let at = 0; at < list.length && scheme === -1; at++) {
      if (list[at].kind === 'open') depth++; else if (list[at].kind === 'close') depth--;
      else if (plain(at, ':') && plain(at + 1, '/') && plain(at + 2, '/')) scheme = at;
      else if (plain(at, '/') || plain(at, '?') || plain(at, '#')) break;
    }
    depth = 0;
    let at = 0;
    if (scheme !== -1) {
      part = 'protocol';
      go('hostname', scheme, scheme + 3);
      const sign = list.findIndex((token, index) => index >= from && (plain(index, '@') || plain(index, '/')));
      if (sign !== -1 && plain(sign, '@')) {
        const colon = list.findIndex((token, index) => index >= from && index < sign && plain(index, ':'));
        parts.username = take(colon === -1 ? sign : colon);
        if (colon !== -1) parts.password = write(list.slice(colon + 1, sign));
        from = sign + 1;
      }
      at = from;
    } else part = list[0] !== undefined && plain(0, '?') ? 'search' : plain(0, '#') ? 'hash' : 'pathname';
    if (scheme === -1 && part !== 'pathname') { from = 1; at = 1; }
    for (; at < list.length; at++) {
      if (list[at].kind === 'open') depth++; else if (list[at].kind === 'close') depth--;
      else if (part === 'hostname' && plain(at, '[')) brackets++;
      else if (part === 'hostname' && plain(at, ']')) brackets--;
      else if (part === 'hostname' && brackets === 0 && plain(at, ':')) go('port', at, at + 1);
      else if ((part === 'hostname' || part === 'port') && plain(at, '/')) go('pathname', at, at);
      else if (part !== 'search' && part !== 'hash' && plain(at, '?')) go('search', at, at + 1);
      else if (part !== 'hash' && plain(at, '#')) go('hash', at, at + 1);
    }
    go(undefined, list.length, 0);
    if (scheme !== -1) parts.port ??= '';
    return parts;
  }

  const partsOfUrl = (url) => ({
    protocol: url.protocol.slice(0, -1), username: url.username, password: url.password, hostname: url.hostname,
    port: url.port, pathname: url.pathname, search: url.search.slice(1), hash: url.hash.slice(1),
  });
  const tidy = (name, text) => {
    if (name === 'protocol') return text.replace(/:$/, '').toLowerCase();
    if (name === 'hostname') return text.toLowerCase();
    if (name === 'search') return text.replace(/^\?/, '');
    return name === 'hash' ? text.replace(/^#/, '') : text;
  };
  // `..` and `.` in a path that begins with fixed text.
  function withoutDots(path) {
    for (let shorter = path; ; path = shorter) {
      shorter = path.replace(/\/\.(?=\/)/, '').replace(/\/(?!\.\.\/)[^/{}():*?+\\]+\/\.\.(?=\/)/, '').replace(/^(?:\/\.\.)+(?=\/)/, '');
      if (shorter === path) return path;
    }
  }
  // Parts before the first one that is given come from the base.
  function inherit(given, base) {
    const from = partsOfUrl(new URL(`${base}`));
    const first = PARTS.findIndex((name) => name !== 'username' && name !== 'password' && given[name] !== undefined);
    const out = { ...given };
    for (const [index, name] of PARTS.entries()) if (name !== 'username' && name !== 'password' && (first === -1 || index < first)) out[name] ??= from[name].replace(/[+*?:{}()\\]/g, '\\$&');
    if (given.pathname !== undefined && !/^[/*{(\\:]/.test(given.pathname)) out.pathname = withoutDots(from.pathname.slice(0, from.pathname.lastIndexOf('/') + 1) + given.pathname);
    return out;
  }

  class URLPattern {
    #parts = {};
    constructor(input = {}, base, options) {
      if (base !== null && typeof base === 'object' && options === undefined) { options = base; base = undefined; }
      let given = {};
      if (input !== null && typeof input === 'object') {
        if (base !== undefined) throw new TypeError('a pattern that is an object has its baseURL inside');
        for (const name of PARTS) if (input[name] !== undefined) given[name] = tidy(name, `${input[name]}`);
        if (input.baseURL !== undefined) given = inherit(given, input.baseURL);
      } else {
        given = split(`${input}`);
        for (const name of Object.keys(given)) given[name] = tidy(name, given[name]);
        if (base !== undefined) given = inherit(given, base);
        else if (given.protocol === undefined) throw bad(input, 'without a base it begins with a protocol');
      }
      if (PORTS[given.protocol] !== undefined && given.port === PORTS[given.protocol]) given.port = '';
      for (const name of PARTS) this.#parts[name] = compile(given[name] ?? '*', name, (name === 'pathname' || name === 'search' || name === 'hash') && !!options?.ignoreCase);
    }
    #match(input, base) {
      let parts;
      if (input !== null && typeof input === 'object') {
        parts = input.baseURL === undefined ? {} : partsOfUrl(new URL(`${input.baseURL}`));
        for (const name of PARTS) parts[name] = input[name] === undefined ? parts[name] ?? '' : tidy(name, `${input[name]}`);
      } else {
        const url = URL.parse(`${input}`, base === undefined ? undefined : `${base}`);
        if (url === null) return null;
        parts = partsOfUrl(url);
      }
      const found = {};
      for (const name of PARTS) {
        const { regexp, names } = this.#parts[name];
        const hit = regexp.exec(parts[name]);
        if (hit === null) return null;
        const groups = {};
        for (const [index, group] of names.entries()) groups[group] = hit[index + 1];
        found[name] = { input: parts[name], groups };
      }
      return found;
    }
    test(input = {}, base) { return this.#match(input, base) !== null; }
    exec(input = {}, base) {
      const found = this.#match(input, base);
      return found === null ? null : { inputs: base === undefined ? [input] : [input, base], ...found };
    }
    get protocol() { return this.#parts.protocol.pattern; }
    get username() { return this.#parts.username.pattern; }
    get password() { return this.#parts.password.pattern; }
    get hostname() { return this.#parts.hostname.pattern; }
    get port() { return this.#parts.port.pattern; }
    get pathname() { return this.#parts.pathname.pattern; }
    get search() { return this.#parts.search.pattern; }
    get hash() { return this.#parts.hash.pattern; }
    get hasRegExpGroups() { return PARTS.some((name) => this.#parts[name].hasGroups); }
    get [Symbol.toStringTag]() { return 'URLPattern'; }
  }

  return { names: { URLPattern }, inner: {} };
})
