// fetch, Headers, Request, Response: the host does the asking, over the reserved tool `__cove_fetch`, where a session
// may use the network at all. Where it may not, `fetch` says so and what to do. What may be asked is the host's decision;
// what is refused here is refused because a browser would refuse to write it.
(function (native, kit) {
  'use strict';
  const { TypeError, Symbol, Object, Array, Map, String, JSON, Uint8Array, URL, URLSearchParams, Blob, Promise, Number,
    RangeError, AbortSignal, WeakMap } = globalThis;
  const { defineProperty, setPrototypeOf } = Object;
  const { parse, stringify } = JSON;
  const { isView } = globalThis.ArrayBuffer;
  const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
  // One character is one byte on the wire, and no byte may end the line.
  const sendable = /^[^\0\r\n\u0100-\uffff]*$/;
  const around = /^[\t\n\r ]+|[\t\n\r ]+$/g;
  // Methods that are written in capitals whatever the program writes; others are sent as they are.
  const known = new Map(['DELETE', 'GET', 'HEAD', 'OPTIONS', 'POST', 'PUT'].map((name) => [name, true]));
  let requests = 0;
  // What fits through the bridge as text; the host has a limit of its own.
  const MAX_BODY = 8 << 20;

  class Headers {
    #list = [];
    constructor(init) {
      if (init === undefined || init === null) return;
      if (typeof init !== 'object') throw new TypeError('headers are an object or a list of pairs');
      if (init[Symbol.iterator] !== undefined) {
        for (const pair of init) {
          const both = [...pair];
          if (both.length !== 2) throw new TypeError('a header is a pair of a name and a value');
          this.append(both[0], both[1]);
        }
      } else for (const name of Object.keys(init)) this.append(name, init[name]);
    }
    #name(name) { const text = `${name}`.toLowerCase(); if (!token.test(text)) throw new TypeError(`"${name}" is not a header name`); return text; }
    #value(name, value) { const text = `${value}`.replace(around, ''); if (!sendable.test(text)) throw new TypeError(`the value of the header ${name} cannot be sent`); return text; }
    append(name, value) { this.#list.push([this.#name(name), this.#value(name, value)]); }
    delete(name) { const key = this.#name(name); this.#list = this.#list.filter((pair) => pair[0] !== key); }
    get(name) { const key = this.#name(name); const all = this.#list.filter((pair) => pair[0] === key); return all.length === 0 ? null : all.map((pair) => pair[1]).join(', '); }
    getSetCookie() { return this.#list.filter((pair) => pair[0] === 'set-cookie').map((pair) => pair[1]); }
    has(name) { return this.get(name) !== null; }
    set(name, value) { this.delete(name); this.append(name, value); }
    forEach(callback, self) { for (const [name, value] of this) callback.call(self, value, name, this); }
    *entries() {
      const names = [...new Map(this.#list.map(([name]) => [name, true])).keys()].sort();
      for (const name of names) {
        if (name !== 'set-cookie') yield [name, this.get(name)];
        else for (const cookie of this.getSetCookie()) yield [name, cookie];
      }
    }
    *keys() { for (const [name] of this.entries()) yield name; }
    *values() { for (const [, value] of this.entries()) yield value; }
    [Symbol.iterator]() { return this.entries(); }
    get [Symbol.toStringTag]() { return 'Headers'; }
  }

  // Streams and forms exist only once somebody has touched them, so a look at what is loaded is enough.
  const isStream = (body) => kit.loaded['readable.js']?.isReadable(body) === true;
  const isForm = (body) => kit.loaded['form.js']?.isForm(body) === true;

  // The body's bytes, the content type they imply, and the stream that gives them where they are not known yet.
  function take(body) {
    if (body === undefined || body === null) return [null, undefined];
    if (typeof body === 'string') return [native.encodeUtf8(body), 'text/plain;charset=UTF-8'];
    if (body instanceof URLSearchParams) return [native.encodeUtf8(`${body}`), 'application/x-www-form-urlencoded;charset=UTF-8'];
    if (kit.isBlob(body)) return [kit.blobBytes(body), body.type === '' ? undefined : body.type];
    if (typeof body === 'object' && (native.brand(body) === 'ArrayBuffer' || isView(body))) return [kit.bytesFrom(body, 'a body').slice(), undefined];
    if (isForm(body)) return kit.late('form.js').encode(body);
    if (isStream(body)) {
      const stream = kit.late('readable.js').streamOf(body);
      if (stream.disturbed || stream.reader !== undefined) throw new TypeError('a stream that was read or is locked cannot be a body');
      return [null, undefined, stream];
    }
    return [native.encodeUtf8(`${body}`), 'text/plain;charset=UTF-8'];
  }

  const isTaken = (stream) => stream !== undefined && (stream.disturbed || stream.reader !== undefined);
  class Body {
    // The bytes, or the stream that gives them; both, where somebody has asked for the stream of known bytes.
    #bytes = null;
    #stream;
    #used = false;
    static {
      kit.setBody = (holder, bytes, stream) => { holder.#bytes = bytes; holder.#stream = stream; };
      kit.hasBody = (holder) => holder.#bytes !== null || holder.#stream !== undefined;
      // What was read once is gone.
      const check = (holder) => { if (holder.#used || isTaken(holder.#stream)) throw new TypeError('the body was read already'); };
      kit.moveBody = (from, to) => {
        check(from);
        kit.setBody(to, from.#bytes, from.#stream);
        from.#used = kit.hasBody(from);
      };
      kit.copyBody = (from, to) => {
        check(from);
        if (from.#stream === undefined) { kit.setBody(to, from.#bytes, undefined); return; }
        const [one, two] = kit.late('readable.js').tee(from.#stream);
        from.#stream = one;
        kit.setBody(to, null, two);
      };
      // The bytes, or a promise of them.
      kit.readBody = (holder) => {
        check(holder);
        if (holder.#stream !== undefined) return kit.late('readable.js').collect(holder.#stream);
        if (holder.#bytes !== null) holder.#used = true;
        return holder.#bytes ?? new Uint8Array(0);
      };
    }
    get bodyUsed() { return this.#used || this.#stream?.disturbed === true; }
    get body() {
      if (this.#stream === undefined && this.#bytes !== null) {
        const streams = kit.late('readable.js');
        this.#stream = streams.fromBytes(this.#bytes);
        if (this.#used) streams.cancel(this.#stream);
      }
      return this.#stream?.face ?? null;
    }
    async #text() { return native.decodeText('utf-8', await kit.readBody(this), false, false); }
    async text() { return this.#text(); }
    async json() { return parse(await this.#text()); }
    async arrayBuffer() { return (await kit.readBody(this)).slice().buffer; }
    async bytes() { return (await kit.readBody(this)).slice(); }
    async blob() { return new Blob([await kit.readBody(this)], { type: this.headers.get('content-type') ?? '' }); }
    async formData() { return kit.late('form.js').decode(await kit.readBody(this), this.headers.get('content-type') ?? ''); }
  }

  class Request extends Body {
    #url; #method; #headers; #signal; #redirect;
    constructor(input, init = {}) {
      super();
      const from = input instanceof Request ? input : undefined;
      if (from === undefined) {
        const url = new URL(`${input}`);
        if (url.username !== '' || url.password !== '') throw new TypeError('an address with a name and a password cannot be fetched; send an Authorization header');
        this.#url = url.href;
      } else this.#url = from.url;
      init = init ?? {};
      const method = `${init.method ?? from?.method ?? 'GET'}`;
      const capital = method.toUpperCase();
      if (!token.test(method) || capital === 'CONNECT' || capital === 'TRACE' || capital === 'TRACK') throw new TypeError(`the method "${method}" cannot be used`);
      this.#method = known.has(capital) ? capital : method;
      this.#headers = new Headers(init.headers ?? from?.headers);
      this.#signal = (init.signal === undefined ? from?.signal : init.signal) ?? undefined;
      if (this.#signal !== undefined && !(this.#signal instanceof AbortSignal)) throw new TypeError('signal is an AbortSignal');
      this.#redirect = `${init.redirect ?? from?.redirect ?? 'follow'}`;
      if (this.#redirect !== 'follow' && this.#redirect !== 'error' && this.#redirect !== 'manual') throw new TypeError('redirect is "follow", "error" or "manual"');
      let type;
      if (init.body === undefined && from !== undefined) kit.moveBody(from, this);
      else {
        const [bytes, implied, stream] = take(init.body);
        kit.setBody(this, bytes, stream);
        type = implied;
      }
      if (kit.hasBody(this) && (this.#method === 'GET' || this.#method === 'HEAD')) throw new TypeError(`a ${this.#method} request has no body`);
      if (type !== undefined && !this.#headers.has('content-type')) this.#headers.set('content-type', type);
    }
    get url() { return this.#url; }
    get method() { return this.#method; }
    get headers() { return this.#headers; }
    get signal() { return this.#signal; }
    get redirect() { return this.#redirect; }
    clone() {
      const copy = new Request(this.#url, { method: this.#method, headers: this.#headers, signal: this.#signal, redirect: this.#redirect });
      kit.copyBody(this, copy);
      return copy;
    }
    get [Symbol.toStringTag]() { return 'Request'; }
  }

  class Response extends Body {
    #status; #statusText; #headers; #url = ''; #redirected = false; #type = 'default';
    static {
      kit.setUrl = (response, url, redirected, type) => { response.#url = url; response.#redirected = redirected; response.#type = type; };
      kit.failed = () => { const made = new Response(); made.#status = 0; made.#type = 'error'; return made; };
    }
    constructor(body = null, init = {}) {
      super();
      this.#status = init.status === undefined ? 200 : Number(init.status);
      if (!(this.#status >= 200 && this.#status <= 599)) throw new TypeError(`${init.status} is not a status`);
      this.#statusText = init.statusText === undefined ? '' : `${init.statusText}`;
      this.#headers = new Headers(init.headers);
      const [bytes, type, stream] = take(body);
      if ((bytes !== null || stream !== undefined) && (this.#status === 204 || this.#status === 205 || this.#status === 304)) throw new TypeError(`a response with status ${this.#status} has no body`);
      kit.setBody(this, bytes, stream);
      if (type !== undefined && !this.#headers.has('content-type')) this.#headers.set('content-type', type);
    }
    static json(data, init = {}) {
      const text = stringify(data);
      if (text === undefined) throw new TypeError('the value has no JSON');
      const headers = new Headers(init.headers);
      if (!headers.has('content-type')) headers.set('content-type', 'application/json');
      return new Response(text, { status: init.status, statusText: init.statusText, headers });
    }
    static error() { return kit.failed(); }
    static redirect(url, status = 302) {
      if (status !== 301 && status !== 302 && status !== 303 && status !== 307 && status !== 308) throw new RangeError(`${status} is not the status of a redirect`);
      const response = new Response(null, { headers: { location: new URL(`${url}`).href } });
      response.#status = status;
      return response;
    }
    get status() { return this.#status; }
    get ok() { return this.#status >= 200 && this.#status <= 299; }
    get statusText() { return this.#statusText; }
    get headers() { return this.#headers; }
    get url() { return this.#url; }
    get redirected() { return this.#redirected; }
    get type() { return this.#type; }
    clone() {
      const copy = new Response(null, { status: this.#status === 0 ? 200 : this.#status, statusText: this.#statusText, headers: this.#headers });
      kit.copyBody(this, copy);
      copy.#status = this.#status;
      kit.setUrl(copy, this.#url, this.#redirected, this.#type);
      return copy;
    }
    get [Symbol.toStringTag]() { return 'Response'; }
  }

  // The host's refusals. An error gets its place where it is thrown first, and that shall be the program's own `await`: so
  // `fetch` gives a copy that nobody has thrown yet.
  const refusals = new WeakMap();
  function refusal(message, network) {
    const made = setPrototypeOf(native.bareError(), TypeError.prototype);
    defineProperty(made, 'message', { value: message, writable: true, enumerable: false, configurable: true });
    refusals.set(made, [message, network]);
    return kit.about(made, network === undefined ? {} : { network });
  }
  const failure = (message, network) => refusal(`fetch failed: ${message}`, network);
  const nothing = () => {};
  // What an address holds itself needs no host.
  function fetchData(request) {
    request.signal?.throwIfAborted();
    const [type, bytes] = native.dataOf(request.url) ?? [];
    if (type === undefined) throw failure('the address has no data');
    const response = new Response(null, { statusText: 'OK', headers: { 'content-type': type } });
    kit.setBody(response, bytes, undefined);
    kit.setUrl(response, request.url, false, 'basic');
    return response;
  }
  async function ask(input, init) {
    if (!(input instanceof Request)) input = `${input}`;
    if (/^[\0- ]*data:/i.test(input.url ?? input)) return fetchData(new Request(input, init));
    if (!native.mayFetch()) {
      throw kit.about(new TypeError('fetch is closed in this session: no host is allowed. Ask for the data through a tool, pass it in as a variable, or open the session with a network policy that names the host.'), { network: 'closed' });
    }
    const request = new Request(input, init);
    const signal = request.signal;
    signal?.throwIfAborted();
    const body = kit.hasBody(request) ? await kit.readBody(request) : null;
    signal?.throwIfAborted();
    if (body !== null && body.length > MAX_BODY) throw new TypeError(`fetch failed: the request's body has ${body.length} bytes; the most is ${MAX_BODY}`);
    const number = requests += 1;
    const call = kit.callAsync('__cove_fetch', [{ url: request.url, method: request.method, headers: [...request.headers], body, redirect: request.redirect, number }], failure);
    let stop;
    const answer = signal === undefined ? await call : await new Promise((resolve, reject) => {
      stop = () => {
        reject(signal.reason);
        // The host need not go on with what nobody waits for. After the end of the run it has stopped anyway.
        try { kit.callAsync('__cove_fetch_stop', [number], failure).then(nothing, nothing); } catch (problem) { kit.rethrow(problem); }
      };
      signal.addEventListener('abort', stop, { once: true });
      call.then(resolve, reject);
    });
    if (stop !== undefined) signal.removeEventListener('abort', stop);
    const response = new Response(null, { status: answer.status, statusText: answer.statusText, headers: answer.headers });
    kit.setBody(response, answer.body, undefined);
    kit.setUrl(response, answer.url, answer.redirected === true, 'basic');
    return response;
  }
  const globals = { fetch(input, init) {
    return new Promise((resolve, reject) => {
      ask(input, init).then(resolve, (problem) => {
        const told = refusals.get(problem);
        reject(told === undefined ? problem : refusal(told[0], told[1]));
      });
    });
  } };
  native.define('Headers', Headers);
  native.define('Request', Request);
  native.define('Response', Response);
  native.define('fetch', globals.fetch);
})
