  // Part 5: tools and `final_answer`: what reaches the host while a run goes on.
  const MAX_ARGS = 16 << 20, MAX_WAITING = 4096, MAX_WAITING_CHARACTERS = 64 << 20;
  const failures = new PageWeakMap();
  let lastCall = 0, waiting = create(null), waitingCount = 0, waitingCharacters = 0;
  const forgetCalls = () => { waiting = create(null); waitingCount = 0; waitingCharacters = 0; };
  // The call with this number, which waits no longer.
  const answered = (id) => {
    const call = run === null ? undefined : waiting[id];
    if (call === undefined) return undefined;
    delete waiting[id];
    waitingCount--;
    waitingCharacters -= call.size;
    return call;
  };

  // Bytes cross as {"$bytes": base64}; everything else as JSON does it.
  const bytesOut = (_, value) => {
    if (typeof value !== "object" || value === null) return value;
    const plain = textOf(value);
    if (plain !== undefined) return plain;
    const tag = tagOfView(value);
    return tag === "Uint8Array" || tag === "Uint8ClampedArray" ? { __proto__: null, $bytes: toBase64(tag === "Uint8Array" ? value : new PageBytes(value)) } : value;
  };
  const bytesIn = (value) => {
    if (typeof value !== "object" || value === null) return value;
    const keys = getOwnPropertyNames(value);
    if (!isArray(value) && keys.length === 1 && keys[0] === "$bytes" && typeof value.$bytes === "string") {
      try {
        return apply(fromBase64, PageBytes, [value.$bytes]);
      } catch {
        return value;
      }
    }
    for (let i = 0; i < keys.length; i++) {
      const child = value[keys[i]];
      if (typeof child === "object" && child !== null) put(value, keys[i], bytesIn(child));
    }
    return value;
  };
  // Answers that code may use as their text, as in the embedded engine: plain objects as far as JSON, keys and copies go;
  // every method of strings asks for `toString`, and that is all they need of a string.
  const texts = new PageWeakMap();
  const textOf = (value) => (typeof value === "object" && value !== null ? weakGet(texts, value) : undefined);
  const textual = create(PageString.prototype);
  const hide = (object, key, value) => defineProperty(object, key, { __proto__: null, value, writable: true, enumerable: false, configurable: true });
  hide(textual, "constructor", Object);
  hide(textual, "toString", { toString() { return textOf(this) ?? ""; } }.toString);
  hide(textual, "valueOf", { valueOf() { return textOf(this) ?? ""; } }.valueOf);
  hide(textual, Symbol.toPrimitive, { [Symbol.toPrimitive]() { return textOf(this) ?? ""; } }[Symbol.toPrimitive]);
  const asText = (value) => {
    const mark = typeof value === "object" && value !== null ? own(value, "$text") : undefined;
    if (typeof mark !== "object" || mark === null) return value;
    const content = own(value, "content"), first = isArray(content) ? own(content, 0) : undefined;
    const whole = typeof first === "object" && first !== null ? own(first, "text") : undefined, length = own(mark, "length");
    if (typeof whole !== "string" || typeof length !== "number") return value;
    const made = create(textual), plain = slice(whole, 0, length), keys = getOwnPropertyNames(value);
    for (let i = 0; i < keys.length; i++) if (keys[i] !== "$text") put(made, keys[i], own(value, keys[i]));
    hide(made, "text", plain);
    hide(made, "length", plain.length);
    hide(made, "truncated", own(mark, "truncated") === true);
    hide(made, "nextOffset", own(mark, "nextOffset") ?? undefined);
    weakSet(texts, made, plain);
    return made;
  };
  const pack = (args) => {
    const json = stringify(args, bytesOut);
    if (json.length > MAX_ARGS) throw new PageRangeError("the arguments of a tool call are too large");
    return json;
  };
  // An error of the host's making: user code may catch it; uncaught, the run's fault says what it was.
  const hostError = (kind, message, code, module) => {
    const error = kind === "syntax" ? new PageSyntaxError(message) : kind === "range" ? new PageRangeError(message) : new PageError(kind === "tool" ? `Tool execution failed: ${message}` : message);
    if (kind === "tool") {
      put(error, "code", "ERR_TOOL_PROXY_FAIL");
      if (code !== undefined && code !== null) put(error, "toolCode", code);
    } else if (kind === "import" || kind === "missing") {
      put(error, "code", kind === "import" ? "ERR_IMPORT_NOT_ALLOWED" : "ERR_MODULE_NOT_FOUND");
      // What it is about, in a field that no listing shows: the host need not read the sentence.
      hide(error, "module", module);
    }
    weakSet(failures, error, kind);
    return error;
  };
  const ended = () => hostError("late", "the run is over");
  // Every promise that guest code gets is made here and handed over as it is: returned through an async function it
  // would be resolved by its own `then`, which guest code may have replaced.
  const ask = (message, module) =>
    new PagePromise((resolve, reject) => {
      if (run === null || run.over !== null) throw ended();
      if (waitingCount >= MAX_WAITING) throw new PageRangeError(`more than ${MAX_WAITING} calls wait for an answer`);
      const words = message(), id = ++lastCall;
      if (waitingCharacters + words.length > MAX_WAITING_CHARACTERS) throw new PageRangeError("the calls that wait for an answer are too large together");
      waiting[id] = { __proto__: null, resolve, reject, module, size: words.length };
      waitingCount++;
      waitingCharacters += words.length;
      emit(`{"id":${id},${words}}`);
    });
  // The page stands still until the host has answered: a request that the host itself fulfils.
  const askAndWait = (message) => {
    if (run === null || run.over !== null) throw ended();
    const request = new PageXhr();
    xhrOpen(request, "POST", settings.syncUrl, false);
    let answer;
    try {
      xhrSend(request, `${settings.secret}{"id":${++lastCall},${message}}`);
      answer = parse(xhrText(request));
    } catch {
      throw hostError("tool", "the host did not answer");
    }
    if (own(answer, "ok") !== undefined) return asText(bytesIn(parse(answer.ok)));
    throw hostError(own(answer, "kind"), own(answer, "message"), own(answer, "code"));
  };
  const addTool = (name, sync) => {
    const message = (args) => `"t":"tool","name":${quote(name)},"args":${quote(pack(args))}`;
    const tool = sync ? (...args) => askAndWait(message(args)) : (...args) => ask(() => message(args));
    defineProperty(tool, "name", { __proto__: null, value: name });
    defineProperty(guest, name, { __proto__: null, value: freeze(tool), writable: false, enumerable: name !== "__cove_fs", configurable: true });
  };

  const end = (why) => {
    if (run === null || run.over !== null) return;
    run.over = why;
    run.counted = countSteps(run);
    giveSteps(0);
    // `finally` blocks run first; what waits longer than that waits for nothing. Not by a timer: those can be cleared.
    ending = run;
    postEnd(endings, null);
  };
  let ending = null;
  const { port1: endings, port2: arrivals } = new MessageChannel(), postEnd = method(MessagePort.prototype, "postMessage");
  arrivals.onmessage = () => { const mine = ending; ending = null; if (mine !== null) finish(mine, undefined, undefined); };
  const final_answer = function final_answer(value) {
    if (run !== null && run.over === null) {
      try {
        run.answer = toJson(value);
      } catch (e) {
        if (e === ENDED) throw e;
        run.unfit = text(e && e.message);
      }
      end("answer");
    }
    throw ENDED;
  };
