// URL and URLSearchParams: parsing and writing are the host's (the WHATWG rules), the classes are here.
(function (native, kit) {
  'use strict';
  const { TypeError, Symbol, Object, Array, String } = globalThis;
  const { iterator } = Symbol;
  let attach;

  class URLSearchParams {
    #list = [];
    #owner;
    // For printing; `undefined` for anything else.
    static { kit.queryOf = (value) => (#list in value ? value.#list : undefined); }
    static { attach = (params, owner) => { params.#owner = owner; return (text) => { params.#list = native.parseQuery(text); }; }; }
    constructor(init = '') {
      if (init !== null && typeof init === 'object' || typeof init === 'function') {
        if (init[iterator] !== undefined) {
          for (const pair of init) {
            const [...parts] = pair;
            if (parts.length !== 2) throw new TypeError('each entry given to URLSearchParams must be a pair');
            this.#list.push([`${parts[0]}`, `${parts[1]}`]);
          }
        } else for (const key of Object.keys(init)) this.#list.push([key, `${init[key]}`]);
      } else {
        const text = `${init}`;
        this.#list = native.parseQuery(text.startsWith('?') ? text.slice(1) : text);
      }
    }
    #changed() { if (this.#owner !== undefined) this.#owner(this.toString()); }
    get size() { return this.#list.length; }
    append(name, value) { this.#list.push([`${name}`, `${value}`]); this.#changed(); }
    delete(name, value) {
      const key = `${name}`;
      this.#list = this.#list.filter((pair) => pair[0] !== key || value !== undefined && pair[1] !== `${value}`);
      this.#changed();
    }
    get(name) { const key = `${name}`; const pair = this.#list.find((each) => each[0] === key); return pair === undefined ? null : pair[1]; }
    getAll(name) { const key = `${name}`; return this.#list.filter((pair) => pair[0] === key).map((pair) => pair[1]); }
    has(name, value) { const key = `${name}`; return this.#list.some((pair) => pair[0] === key && (value === undefined || pair[1] === `${value}`)); }
    set(name, value) {
      const key = `${name}`;
      const at = this.#list.findIndex((pair) => pair[0] === key);
      if (at === -1) this.#list.push([key, `${value}`]);
      else {
        this.#list[at][1] = `${value}`;
        this.#list = this.#list.filter((pair, index) => index <= at || pair[0] !== key);
      }
      this.#changed();
    }
    sort() { this.#list.sort((a, b) => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0)); this.#changed(); }
    forEach(callback, self) { for (const [key, value] of this.#list) callback.call(self, value, key, this); }
    *entries() { for (const [key, value] of this.#list) yield [key, value]; }
    *keys() { for (const [key] of this.#list) yield key; }
    *values() { for (const [, value] of this.#list) yield value; }
    [iterator]() { return this.entries(); }
    toString() { return native.writeQuery(this.#list); }
    get [Symbol.toStringTag]() { return 'URLSearchParams'; }
  }

  const PARTS = ['href', 'origin', 'protocol', 'username', 'password', 'host', 'hostname', 'port', 'pathname', 'search', 'hash'];
  class URL {
    #parts;
    #params;
    #refill;
    static canParse(url, base) { return native.parseUrl(`${url}`, base === undefined ? undefined : `${base}`) !== undefined; }
    static parse(url, base) { try { return new URL(url, base); } catch (error) { return null; } }
    constructor(url, base) {
      const parts = native.parseUrl(`${url}`, base === undefined ? undefined : `${base}`);
      if (parts === undefined) throw new TypeError(base === undefined ? `Invalid URL: ${url}` : `Invalid URL: ${url} (base: ${base})`);
      this.#parts = parts;
    }
    #get(index) { return this.#parts[index]; }
    #set(name, value) {
      const parts = native.changeUrl(this.#parts[0], name, `${value}`);
      if (parts !== undefined) this.#parts = parts;
      else if (name === 'href') throw new TypeError(`Invalid URL: ${value}`);
      if (this.#refill !== undefined && (name === 'search' || name === 'href')) this.#refill(this.search.slice(1));
    }
    get href() { return this.#get(0); } set href(value) { this.#set('href', value); }
    get origin() { return this.#get(1); }
    get protocol() { return this.#get(2); } set protocol(value) { this.#set('protocol', value); }
    get username() { return this.#get(3); } set username(value) { this.#set('username', value); }
    get password() { return this.#get(4); } set password(value) { this.#set('password', value); }
    get host() { return this.#get(5); } set host(value) { this.#set('host', value); }
    get hostname() { return this.#get(6); } set hostname(value) { this.#set('hostname', value); }
    get port() { return this.#get(7); } set port(value) { this.#set('port', value); }
    get pathname() { return this.#get(8); } set pathname(value) { this.#set('pathname', value); }
    get search() { return this.#get(9); } set search(value) { this.#set('search', value); }
    get hash() { return this.#get(10); } set hash(value) { this.#set('hash', value); }
    get searchParams() {
      if (this.#params === undefined) {
        this.#params = new URLSearchParams(this.search);
        this.#refill = attach(this.#params, (text) => {
          const parts = native.changeUrl(this.#parts[0], 'search', text);
          if (parts !== undefined) this.#parts = parts;
        });
      }
      return this.#params;
    }
    toString() { return this.href; }
    toJSON() { return this.href; }
    get [Symbol.toStringTag]() { return 'URL'; }
    static {
      // For printing, as Node prints one; `undefined` for anything else.
      kit.urlOf = (value) => {
        if (!(#parts in value)) return undefined;
        const [href, origin, protocol, username, password, host, hostname, port, pathname, search, hash] = value.#parts;
        return { href, origin, protocol, username, password, host, hostname, port, pathname, search, searchParams: value.#params ?? new URLSearchParams(search), hash };
      };
    }
  }
  native.define('URL', URL);
  native.define('URLSearchParams', URLSearchParams);
})
