  // Part 3: the console. Past the run's limit nothing is sent any more, so a flood of lines ends where it begins.
  let indent = "";
  const write = (level, line) => {
    if (run === null || run.over !== null || indexOf(settings.levels, level[0]) < 0 || run.logLeft < 0) return;
    const whole = indent === "" ? line : `${indent}${line}`;
    run.logLeft -= whole.length + 1;
    emit(run.logLeft < 0 ? '{"t":"cut"}' : `{"t":"log","level":"${level}","text":${quote(whole)}}`);
  };
  const line = (level) => ({ [level](...args) { write(level, format(args)); } })[level];
  const counts = new PageMap(), timers = new PageMap();
  const label = (name) => (name === undefined ? "default" : text(name));
  const since = (name) => `${label(name)}: ${floor((elapsed() - mapGet(timers, label(name))) * 1000) / 1000}ms`;
  const started = (name) => mapGet(timers, label(name)) !== undefined;
  const table = (data) => write("log", typeof data === "object" && data !== null ? tableText(data) : inspect(data));
  const tableText = (data) => {
    let out = "";
    const keys = getOwnPropertyNames(data);
    for (let i = 0, shown = 0; i < keys.length && shown < MAX_ITEMS; i++) {
      const d = getOwnPropertyDescriptor(data, keys[i]);
      if (!d.enumerable) continue;
      shown++;
      out += `${out === "" ? "" : "\n"}${keys[i]} | ${inspect(d.value)}`;
    }
    return out;
  };
  const methods = {
    __proto__: null,
    debug: line("debug"), log: line("log"), info: line("info"), warn: line("warn"), error: line("error"),
    trace(...args) { write("debug", args.length === 0 ? "Trace" : `Trace: ${format(args)}`); },
    dir(value) { write("log", inspect(value)); },
    dirxml(...args) { write("log", format(args)); },
    table,
    assert(condition, ...args) { if (!condition) write("warn", args.length === 0 ? "Assertion failed" : `Assertion failed: ${format(args)}`); },
    count(name) {
      const n = (mapGet(counts, label(name)) ?? 0) + 1;
      mapSet(counts, label(name), n);
      write("log", `${label(name)}: ${n}`);
    },
    countReset(name) { mapDelete(counts, label(name)); },
    group(...args) { if (args.length > 0) write("log", format(args)); if (indent.length < 40) indent += "  "; },
    groupCollapsed(...args) { if (args.length > 0) write("log", format(args)); if (indent.length < 40) indent += "  "; },
    groupEnd() { indent = slice(indent, 2); },
    time(name) { mapSet(timers, label(name), elapsed()); },
    timeLog(name, ...args) { if (started(name)) write("log", args.length === 0 ? since(name) : `${since(name)} ${format(args)}`); },
    timeEnd(name) { if (started(name)) write("log", since(name)); mapDelete(timers, label(name)); },
    clear() {}, profile() {}, profileEnd() {}, timeStamp() {},
  };
  for (const name of getOwnPropertyNames(methods)) put(console, name, methods[name]);
