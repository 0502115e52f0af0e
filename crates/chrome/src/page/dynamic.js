  // Part 7: what a session's policies take away: real time, real chance, and code that no host has seen.
  //
  // Time and chance as far as a page allows: `Date`, `performance.now`, `Temporal.Now`, `Math.random` and `crypto` of the
  // main world are replaced. A frame or a worker of the page's own, an event's `timeStamp` and an animation frame still
  // know the time; whoever needs a replay that cannot be told from the first run takes the embedded engine.
  const replaceDate = (read) => {
    const GuestDate = function Date(...args) {
      if (new.target === undefined) return text(new PageDate(read("Date()")));
      return construct(PageDate, args.length === 0 ? [read("new Date()")] : args, new.target === GuestDate ? PageDate : new.target);
    };
    defineProperty(GuestDate, "prototype", { __proto__: null, value: PageDate.prototype, writable: false });
    defineProperty(GuestDate, "length", { __proto__: null, value: 7 });
    put(GuestDate, "now", { now() { return read("Date.now()"); } }.now);
    put(GuestDate, "parse", PageDate.parse);
    put(GuestDate, "UTC", PageDate.UTC);
    defineProperty(PageDate.prototype, "constructor", { __proto__: null, value: GuestDate, writable: true, configurable: true });
    defineProperty(guest, "Date", { __proto__: null, value: GuestDate, writable: true, configurable: true });
  };
  const setClock = (clock) => {
    if (clock === "real") return;
    const fixed = typeof clock === "object" ? clock.fixed : null;
    const read = (who) => {
      if (fixed !== null) return fixed;
      throw new PageTypeError(`${who} is not available: this session has no clock, so that a run can be repeated. Pass the time in as a variable, or open the session with a real or a fixed clock.`);
    };
    replaceDate(read);
    put(performance, "now", { now() { return read("performance.now()") * 0; } }.now);
    if (typeof Temporal === "object") for (const name of getOwnPropertyNames(Temporal.Now)) put(Temporal.Now, name, () => { read(`Temporal.Now.${name}()`); throw new PageTypeError("Temporal.Now is not available with a fixed clock; use new Date()"); });
  };
  // splitmix64, in two halves of 32 bits.
  const seeded = (seed) => {
    let state = BigInt(seed);
    const mask = (1n << 64n) - 1n;
    return () => {
      state = (state + 0x9e3779b97f4a7c15n) & mask;
      let z = state;
      z = ((z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n) & mask;
      z = ((z ^ (z >> 27n)) * 0x94d049bb133111ebn) & mask;
      return z ^ (z >> 31n);
    };
  };
  const setRandom = (random) => {
    if (random === "real") return;
    const draw = typeof random === "object" ? seeded(random.seeded) : () => { throw new PageTypeError("this session has no randomness, so that a run can be repeated. Open the session with a seeded or a real random source."); };
    const toNumber = PageNumber;
    put(Math, "random", { random() { return toNumber(draw() >> 11n) / 9007199254740992; } }.random);
    put(crypto, "getRandomValues", { getRandomValues(view) {
      const length = lengthOfView(view), big = tagOfView(view) === "BigInt64Array" || tagOfView(view) === "BigUint64Array";
      for (let i = 0; i < length; i++) view[i] = big ? draw() : toNumber(draw() & 0xffffffffn);
      return view;
    } }.getRandomValues);
    put(crypto, "randomUUID", { randomUUID() {
      const hex = "0123456789abcdef";
      let out = "";
      for (let i = 0; i < 36; i++) {
        out += i === 8 || i === 13 || i === 18 || i === 23 ? "-" : i === 14 ? "4" : hex[i === 19 ? 8 + toNumber(draw() & 3n) : toNumber(draw() & 15n)];
      }
      return out;
    } }.randomUUID);
  };

  // Sessions with a step counter: text given to `eval` and its relatives goes through the host, which puts the same
  // guards into it, and every other way to run text is closed; where only the clock limits, the page is a page like any
  // other. Called before the session's first run, so that no guest has been here.
  const guardDynamicCode = () => {
    if (settings.guarded) return;
    settings.guarded = true;
    const execute = (code) => compile(askAndWait(`"t":"dynamic","code":${quote(code)}`));
    guestEval = { eval(code) { return typeof code === "string" ? execute(code) : code; } }.eval;
    const tame = (Original, head) => {
      const { prototype } = Original;
      const Tamed = function (...args) {
        let parameters = "", last = args.length - 1;
        for (let i = 0; i < last; i++) parameters += `${i === 0 ? "" : ","}${args[i]}`;
        return execute(`(${head} anonymous(${parameters}\n) {\n${last < 0 ? "" : args[last]}\n})`);
      };
      defineProperty(Tamed, "prototype", { __proto__: null, value: prototype, writable: false });
      defineProperty(Tamed, "name", { __proto__: null, value: Original.name });
      defineProperty(prototype, "constructor", { __proto__: null, value: Tamed, writable: false, configurable: true });
      return Tamed;
    };
    put(guest, "Function", tame(guest.Function, "function"));
    tame(getPrototypeOf(async function () {}).constructor, "async function");
    tame(getPrototypeOf(function* () {}).constructor, "function*");
    tame(getPrototypeOf(async function* () {}).constructor, "async function*");
    const timer = (name) => {
      const original = guest[name];
      put(guest, name, { [name](handler, ...rest) { return apply(original, guest, [typeof handler === "function" ? handler : () => execute(text(handler)), ...rest]); } }[name]);
    };
    timer("setTimeout");
    timer("setInterval");
    // A handler of a promise is a `catch` too: what ends a run passes through it.
    const { then } = PagePromise.prototype;
    const through = (handler) => typeof handler !== "function" ? handler : (value) => {
      if (value === ENDED || (run !== null && run.over !== null)) throw ENDED;
      return handler(value);
    };
    put(PagePromise.prototype, "then", { then(done, failed) { return apply(then, this, [through(done), through(failed)]); } }.then);
    defineProperty(PagePromise.prototype, "then", { __proto__: null, enumerable: false });
    // What no preparation reaches is closed: WebAssembly (in frames, the host sees to it) and workers.
    delete guest.WebAssembly;
    const closed = (name) => put(guest, name, { [name]: function () { throw new PageTypeError(`${name} is not available in a session that counts steps: its loops could not be counted. Run the code without a step limit.`); } }[name]);
    closed("Worker");
    closed("SharedWorker");
    // From here on text is code only if our own policy says so, in this realm and in every realm made from it: frames
    // inherit the rule. Markup stays free; its scripts, handlers and `javascript:` addresses do not run.
    policy = makePolicy(trusted, "cove", { __proto__: null, createScript: (source) => source });
    makePolicy(trusted, "default", { __proto__: null, createHTML: (markup) => markup });
    const rule = newElement("meta");
    setAttribute(rule, "http-equiv", "Content-Security-Policy");
    setAttribute(rule, "content", "script-src 'unsafe-eval'; worker-src 'none'; frame-src 'none'; object-src 'none'; require-trusted-types-for 'script'; trusted-types 'none'");
    appendTo(page.head, rule);
  };
