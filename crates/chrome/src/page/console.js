  // Part 3: the console. Past the run's limit nothing is sent any more, so a flood of lines ends where it begins.
  let indent = "";
  const write = (level, line) => {
    if (run === null || run.over !== null || indexOf(settings.levels, level[0]) < 0 || run.logLeft < 0) return;
    const whole = indent === "" ? line : indented(line);
    run.logLeft -= whole.length + 1;
    emit(run.logLeft < 0 ? '{"t":"cut"}' : `{"t":"log","level":"${level}","text":${quote(whole)}}`);
  };
  const indented = (line) => {
    let out = indent, from = 0;
    for (let at = indexOf(line, "\n"); at >= 0; at = indexOf(line, "\n", from)) {
      out += `${slice(line, from, at + 1)}${indent}`;
      from = at + 1;
    }
    return out + slice(line, from);
  };
  const line = (level) => ({ [level](...args) { write(level, format(args)); } })[level];
  const counts = new PageMap(), timers = new PageMap();
  const label = (name) => (name === undefined ? "default" : text(name));
  const since = (name) => `${label(name)}: ${floor((elapsed() - mapGet(timers, label(name))) * 1000) / 1000}ms`;
  const started = (name) => mapGet(timers, label(name)) !== undefined;
  // How many columns of a terminal a text takes: none for marks that sit on others, two for wide characters.
  const columnsOf = (string) => {
    let columns = 0;
    for (let i = 0; i < string.length; i++) {
      const c = charCode(string, i);
      if ((c >= 0x300 && c <= 0x36f) || (c >= 0x200b && c <= 0x200f) || (c >= 0xfe00 && c <= 0xfe0f)) continue;
      const wide = (c >= 0x1100 && c <= 0x115f) || (c >= 0x2e80 && c <= 0xa4cf) || (c >= 0xac00 && c <= 0xd7a3) || (c >= 0xf900 && c <= 0xfaff) || (c >= 0xff00 && c <= 0xff60);
      // Half of a pair counts one: most characters beyond the first plane are wide.
      columns += wide ? 2 : 1;
    }
    return columns;
  };
  const table = (data, columns) => {
    if (typeof data !== "object" || data === null) write("log", format([data]));
    else write("log", tableText(data, isArray(columns) ? columns : undefined));
  };
  // As Node draws it: a line per entry, a column per key that any entry has, `Values` for entries that are no objects.
  const tableText = (data, wanted) => {
    const rows = row(), names = row(), at = new PageMap();
    let plain = false;
    const column = (name) => {
      let index = mapGet(at, name);
      if (index === undefined) { index = names.length; mapSet(at, name, index); append(names, name); }
      return index;
    };
    if (wanted !== undefined) for (let i = 0; i < wanted.length && i < MAX_ITEMS; i++) column(text(wanted[i]));
    const add = (key, value, closed) => {
      if (rows.length >= 1000) return;
      const entry = { __proto__: null, key, cells: { __proto__: null }, value: "" };
      append(rows, entry);
      if (closed || typeof value !== "object" || value === null) { plain = true; entry.value = inspect(value, 0); return; }
      const keys = getOwnPropertyNames(value);
      for (let i = 0, shown = 0; i < keys.length && shown < MAX_ITEMS; i++) {
        const d = getOwnPropertyDescriptor(value, keys[i]);
        if (!d || !d.enumerable || (wanted !== undefined && mapGet(at, keys[i]) === undefined)) continue;
        shown++;
        entry.cells[column(keys[i])] = "value" in d ? inspect(d.value, 0) : "[Getter]";
      }
    };
    let index = "(index)";
    if (slot(mapSize, data)) {
      index = "(iteration index)";
      let i = 0;
      mapEach(data, (v, k) => add(`${i++}`, { __proto__: null, Key: k, Values: v }));
    } else if (slot(setSize, data)) {
      index = "(iteration index)";
      let i = 0;
      setEach(data, (v) => add(`${i++}`, v, true));
    } else {
      const keys = getOwnPropertyNames(data);
      for (let i = 0; i < keys.length; i++) {
        const d = getOwnPropertyDescriptor(data, keys[i]);
        if (d && d.enumerable) add(keys[i], "value" in d ? d.value : undefined);
      }
    }
    const count = names.length + (plain ? 2 : 1), widths = row();
    const cell = (entry, i) => (i === 0 ? entry.key : i <= names.length ? entry.cells[i - 1] ?? "" : entry.value);
    const head = { __proto__: null, key: index, cells: names, value: "Values" };
    for (let i = 0; i < count; i++) {
      let width = columnsOf(cell(head, i));
      for (let r = 0; r < rows.length; r++) if (columnsOf(cell(rows[r], i)) > width) width = columnsOf(cell(rows[r], i));
      append(widths, width + 2);
    }
    const rule = (left, middle, right) => {
      let out = left;
      for (let i = 0; i < count; i++) out += `${i === 0 ? "" : middle}${repeat("─", widths[i])}`;
      return out + right;
    };
    const drawn = (entry) => {
      let out = "│";
      for (let i = 0; i < count; i++) out += ` ${cell(entry, i)}${repeat(" ", widths[i] - columnsOf(cell(entry, i)) - 1)}│`;
      return out;
    };
    let out = `${rule("┌", "┬", "┐")}\n${drawn(head)}\n${rule("├", "┼", "┤")}\n`;
    for (let r = 0; r < rows.length; r++) out += `${drawn(rows[r])}\n`;
    return out + rule("└", "┴", "┘");
  };
  const methods = {
    __proto__: null,
    debug: line("debug"), log: line("log"), info: line("info"), warn: line("warn"), error: line("error"),
    trace(...args) { write("debug", args.length === 0 ? "Trace" : `Trace: ${format(args)}`); },
    dir(value, options) {
      const own = typeof options === "object" && options !== null ? getOwnPropertyDescriptor(options, "depth") : undefined;
      const depth = own === undefined ? DEPTH : own.value === null || own.value > 20 ? 20 : typeof own.value === "number" ? own.value : DEPTH;
      write("log", inspect(value, depth));
    },
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
  // What nobody catches is told; it ends no run, as in the embedded engine. Of a script that is not ours to read (`<script src>`) the browser says no more than that.
  guest.addEventListener("error", (event) => {
    const error = thrownError(event);
    if (error === ENDED || (run !== null && run.over !== null)) return;
    write("error", `Uncaught error in a callback: ${error === null || error === undefined ? "the browser tells no more; catch it to see it" : told(error, 0)}`);
  });
