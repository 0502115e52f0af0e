  // Part 8: one run from its first line to its report.
  const toJson = (value) => {
    const type = typeof value;
    if (type === "undefined" || type === "function" || type === "symbol") return "null";
    return stringify(value) ?? "null";
  };
  // Characters, not UTF-16 units: a pair of surrogates is one.
  const characters = (string) => {
    let n = string.length;
    for (let i = 0; i < string.length - 1; i++) {
      if ((charCode(string, i) & 0xfc00) === 0xd800 && (charCode(string, i + 1) & 0xfc00) === 0xdc00) { n--; i++; }
    }
    return n;
  };
  // What the value loses on its way to JSON, said as the embedded engine says it. Best effort: a page's own objects may lie.
  const CURES = {
    __proto__: null, Map: ["a Map", "{}", "Object.fromEntries(map) or [...map]"], Set: ["a Set", "{}", "[...set]"], RegExp: ["a RegExp", "{}", "String(regexp)"],
    Error: ["an Error", "{}", "String(error)"], Promise: ["a Promise", "{}", "its value: await it"], ArrayBuffer: ["an ArrayBuffer", "{}", "[...new Uint8Array(buffer)]"],
    Generator: ["a generator", "{}", "[...generator]"],
  };
  const brandOf = method(Object.prototype, "toString");
  const lost = (value) => {
    // JSON by hand: a list of ours would be asked for a `toJSON` of the guest's.
    const seen = new PageSet();
    let places = 0, said = 0, list = "";
    const say = (path, what, becomes, instead, shown) => {
      if (said++ >= 5) return;
      const words = shown === undefined ? "" : inspect(shown);
      const sentence = `${path === "" ? "The value" : `\`${path}\``} is ${what}, which JSON writes as ${becomes}; use ${instead} instead.${words === "" ? "" : ` It is: ${words.length > 400 ? `${slice(words, 0, 400)}...` : words}`}`;
      list += `${list === "" ? "" : ","}${quote(sentence)}`;
    };
    const look = (item, path, depth, listed) => {
      if (++places > 200 || said >= 5) return;
      const type = typeof item, gone = path === "" || listed ? "null" : "nothing";
      if (type === "number" && (item !== item || item === Infinity || item === -Infinity)) say(path, `${item}`, "null", "String(number), or handle it before", undefined);
      if (type === "function") say(path, "a function", gone, "what it gives when it is called", undefined);
      if (type === "symbol") say(path, "a symbol", gone, "String(symbol)", undefined);
      if (type !== "object" || item === null || setHas(seen, item) || depth > 6) return;
      setAdd(seen, item);
      if (typeof item.toJSON === "function") return;
      const tag = brandOf(item), brand = slice(tag, 8, tag.length - 1);
      if (CURES[brand] !== undefined) return say(path, CURES[brand][0], CURES[brand][1], CURES[brand][2], item);
      if (brand !== "Array" && slice(brand, brand.length - 5) === "Array") return say(path, `a ${brand}`, "an object with a key for each index", "Array.from(array)", item);
      const isList = isArray(item), names = isList ? null : getOwnPropertyNames(item), count = isList ? item.length : names.length;
      for (let i = 0; i < count && places <= 200; i++) {
        const found = getOwnPropertyDescriptor(item, isList ? i : names[i]);
        if (found === undefined || found.get !== undefined) continue;
        look(found.value, isList ? `${path}[${i}]` : path === "" ? names[i] : `${path}.${names[i]}`, depth + 1, isList);
      }
    };
    try { look(value, "", 0, false); } catch {}
    return `[${list}]`;
  };
  const clip = (string) => (string.length > 20_000 ? `${slice(string, 0, 20_000)}\u2026` : string);
  // What was thrown in words, as the embedded engine has them: causes and collected errors are told too.
  const told = (e, depth) => {
    const isObject = (typeof e === "object" && e !== null) || typeof e === "function";
    if (!isObject || !isError(e)) return `Uncaught ${clip(typeof e === "string" ? quote(e) : inspect(e))}`;
    const message = text(e.message);
    let out = message === "" ? text(e.name) : `${text(e.name)}: ${clip(message)}`;
    const errors = getOwnPropertyDescriptor(e, "errors"), cause = getOwnPropertyDescriptor(e, "cause");
    if (depth < 3 && errors && isArray(errors.value) && errors.value.length > 0) {
      let list = "";
      for (let i = 0; i < errors.value.length && i < 5; i++) list += `${i === 0 ? "" : "; "}${told(errors.value[i], depth + 1)}`;
      out += ` [${list}${errors.value.length > 5 ? `; and ${errors.value.length - 5} more` : ""}]`;
    }
    if (depth < 3 && cause) {
      const words = told(cause.value, depth + 1);
      out += ` (cause: ${indexOf(words, "Uncaught ") === 0 ? slice(words, 9) : words})`;
    }
    return out;
  };
  const thrown = (e) => {
    let kind = "exception", message = "", stack = "", module = "null";
    try {
      message = told(e, 0);
      if ((typeof e === "object" && e !== null) || typeof e === "function") {
        const known = weakGet(failures, e);
        if (known === "tool" || known === "import") { kind = known; message = text(e.message); }
        if (isError(e) && typeof e.stack === "string") stack = e.stack;
        if (isError(e)) {
          const code = getOwnPropertyDescriptor(e, "code")?.value, name = getOwnPropertyDescriptor(e, "module")?.value;
          if (typeof name === "string" && (code === "ERR_IMPORT_NOT_ALLOWED" || code === "ERR_MODULE_NOT_FOUND" || code === "MODULE_NOT_FOUND")) module = quote(clip(name));
        }
      }
    } catch {
      if (message === "") message = "Uncaught exception";
    }
    return `"thrown":{"kind":"${kind}","message":${quote(clip(message))},"stack":${quote(clip(stack))},"module":${module}}`;
  };
  let lastTimer = 0;
  // Timers of a run end with it: the next run of the session begins on a quiet page.
  const stopTimers = () => {
    const newest = apply(setTimer, guest, [() => {}, 0]);
    for (let id = lastTimer + 1; id <= newest; id++) apply(clearTimer, guest, [id]);
    lastTimer = newest;
    const frame = apply(nextFrame, guest, [() => {}]);
    for (let id = frame > 100 ? frame - 100 : 1; id <= frame; id++) apply(stopFrame, guest, [id]);
  };
  const answer = (mine, json) => {
    if (json.length > mine.maxResult) {
      const length = characters(json);
      if (length > mine.maxResult) return `"tooLarge":${length}`;
    }
    return `"json":${quote(json)},${exportPictures(mine.used)}`;
  };
  const outcome = (mine, failed, value) => {
    if (mine.over === "steps") return '"steps":true';
    if (mine.over === null && failed) return thrown(value);
    if (mine.unfit !== null) return `"unfit":${quote(clip(mine.unfit))}`;
    if (mine.over === "answer") return `"answer":true,${answer(mine, mine.answer)}`;
    // Text for eyes is cut, not refused: a page sends no more than a result may have.
    if (mine.inspect) return `"shown":${quote(slice(inspect(value), 0, mine.maxResult))},${answer(mine, "null")}`;
    let json;
    try {
      json = toJson(value);
    } catch (e) {
      if (mine.over !== null) return outcome(mine, failed, value);
      return `"unfit":${quote(clip(text(e && e.message)))}`;
    }
    return `"lost":${!mine.body && typeof value === "function" ? "[]" : lost(value)},"undefined":${value === undefined},${answer(mine, json)}`;
  };
  const finish = (mine, failed, value) => {
    if (mine !== run || mine.done) return;
    mine.done = true;
    let message;
    try {
      message = outcome(mine, failed, value);
    } catch (e) {
      message = mine.over === "steps" ? '"steps":true' : `"unfit":${quote(clip(text(e && e.message)))}`;
    }
    // Only now: making JSON of a value may have run guest code.
    const steps = mine.counted === null ? countSteps(mine) : mine.counted;
    run = null;
    giveSteps(0);
    forgetCalls();
    forgetImports();
    indent = "";
    stopTimers();
    if (!mine.silent) emit(`{"t":"done","operations":${steps},${message}}`);
  };
  const watch = async (mine, promise) => {
    let value, failed = false;
    try {
      value = await promise;
    } catch (e) {
      failed = true;
      value = e;
    }
    finish(mine, failed, value);
  };
  const freezeDeep = (value) => {
    if (typeof value !== "object" || value === null || isFrozen(value)) return value;
    const keys = getOwnPropertyNames(value);
    for (let i = 0; i < keys.length; i++) freezeDeep(value[keys[i]]);
    return freeze(value);
  };

  // What the host may call. It holds this object by a handle of the debugger; no name in the page leads here.
  const kernel = {
    __proto__: null,
    configure(json) {
      const given = parse(json);
      settings = { __proto__: null, guarded: false, levels: given.levels, secret: given.secret, syncUrl: given.syncUrl };
      setClock(given.clock);
      setRandom(given.random);
    },
    variables(json) {
      const values = parse(json), names = getOwnPropertyNames(values);
      for (let i = 0; i < names.length; i++) {
        defineProperty(guest, names[i], { __proto__: null, value: freezeDeep(values[names[i]]), writable: false, enumerable: true, configurable: true });
      }
    },
    tools(json) {
      const list = parse(json);
      for (let i = 0; i < list.length; i++) addTool(list[i].name, list[i].sync);
    },
    run(source, json) {
      const given = parse(json), steps = own(given, "steps"), input = own(given, "input");
      const mine = {
        __proto__: null, over: null, done: false, answer: null, unfit: null, used: new PageSet(), steps, counted: null,
        silent: own(given, "silent") === true, body: own(given, "body") === true, inspect: own(given, "inspect") === true, logLeft: own(given, "maxLog"), maxResult: own(given, "maxResult"), maxImages: own(given, "maxImages"),
      };
      if (steps !== null) guardDynamicCode();
      const program = compile(source);
      run = mine;
      giveSteps(steps === null ? Infinity : steps);
      if (own(given, "body")) put(guest, "input", input);
      watch(mine, program(input, getCanvas));
    },
    settle(id, json) {
      const call = answered(id), given = parse(json);
      if (call === undefined) return;
      if (own(given, "ok") !== undefined) call.resolve(asText(bytesIn(parse(own(given, "ok")))));
      else call.reject(hostError(own(given, "kind"), own(given, "message"), own(given, "code"), call.module?.name));
    },
    async module(id, source) {
      const call = answered(id);
      if (call === undefined) return;
      const { module } = call;
      try {
        await compile(source)(loadFor(module.name))(module.exports);
        module.done = true;
        call.resolve(module.exports);
      } catch (e) {
        call.reject(e);
      }
    },
  };
