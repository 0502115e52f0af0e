// fetch, Headers, Request, Response: the host does the asking, over the reserved tool `__cove_fetch`, where a session
// may use the network at all. Where it may not, `fetch` says so and what to do.
(function (native, kit) {
  'use strict';
  const { TypeError, Symbol, Object, Array, Map, String, JSON, Uint8Array, URL, URLSearchParams, Blob, Promise, Number,
    DOMException } = globalThis;
  const { parse, stringify } = JSON;
  const { isView } = globalThis.ArrayBuffer;
  const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

  class Headers {
    #list = [];
    constructor(init) {
      if (init === undefined || init === null) return;
      if (init[Symbol.iterator] !== undefined) for (const pair of init) { const [name, value] = pair; this.append(name, value); }
      else for (const name of Object.keys(init)) this.append(name, init[name]);
    }
    #name(name) { const text = `${name}`.toLowerCase(); if (!token.test(text)) throw new TypeError(`"${name}" is not a header name`); return text; }
    append(name, value) { this.#list.push([this.#name(name), `${value}`.trim()]); }
    delete(name) { const key = this.#name(name); this.#list = this.#list.filter((pair) => pair[0] !== key); }
    get(name) { const key = this.#name(name); const all = this.#list.filter((pair) => pair[0] === key); return all.length === 0 ? null : all.map((pair) => pair[1]).join(', '); }
    getSetCookie() { return this.#list.filter((pair) => pair[0] === 'set-cookie').map((pair) => pair[1]); }
    has(name) { return this.get(name) !== null; }
    set(name, value) { this.delete(name); this.append(name, value); }
    forEach(callback, self) { for (const [name, value] of this) callback.call(self, value, name, this); }
    *entries() {
      const names = [...new Map(this.#list.map(([name]) => [name, true])).keys()].sort();
      for (const name of names) yield [name, this.get(name)];
    }
    *keys() { for (const [name] of this.entries()) yield name; }
    *values() { for (const [, value] of this.entries()) yield value; }
    [Symbol.iterator]() { return this.entries(); }
    get [Symbol.toStringTag]() { return 'Headers'; }
  }

  // The body's bytes and the content type they imply.
  function take(body) {
    if (body === undefined || body === null) return [null, undefined];
    if (typeof body === 'string') return [native.encodeUtf8(body), 'text/plain;charset=UTF-8'];
    if (body instanceof URLSearchParams) return [native.encodeUtf8(`${body}`), 'application/x-www-form-urlencoded;charset=UTF-8'];
    if (kit.isBlob(body)) return [kit.blobBytes(body), body.type === '' ? undefined : body.type];
    if (typeof body === 'object' && (native.brand(body) === 'ArrayBuffer' || isView(body))) return [kit.bytesFrom(body, 'a body').slice(), undefined];
    return [native.encodeUtf8(`${body}`), 'text/plain;charset=UTF-8'];
  }

  class Body {
    #bytes = null;
    #used = false;
    static { kit.setBody = (holder, bytes) => { holder.#bytes = bytes; }; kit.bodyBytes = (holder) => holder.#bytes; }
    get bodyUsed() { return this.#used; }
    get body() { return null; }
    #read() {
      if (this.#used) throw new TypeError('the body was read already');
      if (this.#bytes !== null) this.#used = true;
      return this.#bytes ?? new Uint8Array(0);
    }
    async text() { return native.decodeText('utf-8', this.#read(), false, false); }
    async json() { return parse(native.decodeText('utf-8', this.#read(), false, false)); }
    async arrayBuffer() { return this.#read().slice().buffer; }
    async bytes() { return this.#read().slice(); }
    async blob() { return new Blob([this.#read()], { type: this.headers.get('content-type') ?? '' }); }
  }

  class Request extends Body {
    #url; #method; #headers; #signal; #redirect;
    constructor(input, init = {}) {
      super();
      const from = input instanceof Request ? input : undefined;
      this.#url = from === undefined ? new URL(`${input}`).href : from.url;
      this.#method = `${init.method ?? from?.method ?? 'GET'}`.toUpperCase();
      this.#headers = new Headers(init.headers ?? from?.headers);
      this.#signal = init.signal ?? from?.signal;
      this.#redirect = `${init.redirect ?? from?.redirect ?? 'follow'}`;
      const [bytes, type] = init.body === undefined && from !== undefined ? [kit.bodyBytes(from), undefined] : take(init.body);
      if (bytes !== null && (this.#method === 'GET' || this.#method === 'HEAD')) throw new TypeError(`a ${this.#method} request has no body`);
      kit.setBody(this, bytes);
      if (type !== undefined && !this.#headers.has('content-type')) this.#headers.set('content-type', type);
    }
    get url() { return this.#url; }
    get method() { return this.#method; }
    get headers() { return this.#headers; }
    get signal() { return this.#signal; }
    get redirect() { return this.#redirect; }
    clone() { return new Request(this); }
    get [Symbol.toStringTag]() { return 'Request'; }
  }

  class Response extends Body {
    #status; #statusText; #headers; #url = ''; #redirected = false;
    static { kit.setUrl = (response, url, redirected) => { response.#url = url; response.#redirected = redirected; }; }
    constructor(body = null, init = {}) {
      super();
      this.#status = init.status === undefined ? 200 : Number(init.status);
      if (!(this.#status >= 200 && this.#status <= 599)) throw new TypeError(`${init.status} is not a status`);
      this.#statusText = init.statusText === undefined ? '' : `${init.statusText}`;
      this.#headers = new Headers(init.headers);
      const [bytes, type] = take(body);
      kit.setBody(this, bytes);
      if (type !== undefined && !this.#headers.has('content-type')) this.#headers.set('content-type', type);
    }
    static json(data, init = {}) {
      const response = new Response(stringify(data), init);
      response.headers.set('content-type', 'application/json');
      return response;
    }
    get status() { return this.#status; }
    get ok() { return this.#status >= 200 && this.#status <= 299; }
    get statusText() { return this.#statusText; }
    get headers() { return this.#headers; }
    get url() { return this.#url; }
    get redirected() { return this.#redirected; }
    get type() { return 'basic'; }
    clone() {
      const copy = new Response(kit.bodyBytes(this), { status: this.#status, statusText: this.#statusText, headers: this.#headers });
      kit.setUrl(copy, this.#url, this.#redirected);
      return copy;
    }
    get [Symbol.toStringTag]() { return 'Response'; }
  }

  const globals = { async fetch(input, init) {
    if (!native.mayFetch()) {
      throw new TypeError('fetch is closed in this session: no host is allowed. Ask for the data through a tool, pass it in as a variable, or open the session with a network policy that names the host.');
    }
    const request = new Request(input, init);
    const signal = request.signal;
    signal?.throwIfAborted();
    const call = kit.callAsync('__cove_fetch', [{ url: request.url, method: request.method, headers: [...request.headers], body: kit.bodyBytes(request), redirect: request.redirect }]);
    const answer = signal === undefined ? await call : await new Promise((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
      call.then(resolve, reject);
    });
    const bytes = answer.body === null || answer.body === undefined ? null : answer.body;
    const response = new Response(bytes, { status: answer.status, statusText: answer.statusText, headers: answer.headers });
    kit.setUrl(response, answer.url ?? request.url, (answer.url ?? request.url) !== request.url);
    return response;
  } };
  native.define('Headers', Headers);
  native.define('Request', Request);
  native.define('Response', Response);
  native.define('fetch', globals.fetch);
})
