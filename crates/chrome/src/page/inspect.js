  // Part 2: console lines. A value becomes text here, in the page, so that one line is one small message and stands in
  // order with tool calls. The look is Node's, without its line breaks: a log line is one line.
  const MAX_DEPTH = 2, MAX_ITEMS = 100, MAX_TEXT = 10_000;
  const isName = (key) => {
    if (key === "") return false;
    for (let i = 0; i < key.length; i++) {
      const c = charCode(key, i);
      if (!((c > 64 && c < 91) || (c > 96 && c < 123) || c === 95 || c === 36 || (i > 0 && c > 47 && c < 58))) return false;
    }
    return true;
  };
  const literal = (string) => {
    const short = string.length > MAX_TEXT ? `${slice(string, 0, MAX_TEXT)}... ${string.length - MAX_TEXT} more characters` : string;
    const json = quote(short);
    return indexOf(json, "'") < 0 && indexOf(json, '\\"') < 0 ? `'${slice(json, 1, -1)}'` : json;
  };
  const kindOf = (value) => {
    for (let p = value, i = 0; p !== null && i < 20; p = getPrototypeOf(p), i++) {
      const d = getOwnPropertyDescriptor(p, "constructor");
      if (d && typeof d.value === "function") {
        const name = getOwnPropertyDescriptor(d.value, "name");
        if (name && typeof name.value === "string" && name.value !== "") return name.value;
      }
    }
    return "[Object: null prototype]";
  };
  // Whether an internal slot is there: asking throws where it is not.
  const slot = (ask, value) => {
    try {
      return ask(value), true;
    } catch {
      return false;
    }
  };
  const errorLine = (value) => {
    const name = text(value.name), message = text(value.message);
    return message === "" ? name : name === "" ? message : `${name}: ${message}`;
  };
  const isError = (value) => value instanceof PageError || kindOf(value) === "DOMException";
  const body = (open, parts, close) => (parts === "" ? `${open}${close}` : `${open} ${parts} ${close}`);
  let marks = 0;
  const show = (value, depth, above) => {
    switch (typeof value) {
      case "string": return literal(value);
      case "bigint": return `${value}n`;
      case "symbol": return symbolText(value);
      case "number": return value === 0 && 1 / value < 0 ? "-0" : `${value}`;
      case "function": {
        const name = getOwnPropertyDescriptor(value, "name"), word = indexOf(functionText(value), "class") === 0 ? "class" : "Function";
        const shown = name && typeof name.value === "string" && name.value !== "" ? name.value : "(anonymous)";
        return word === "class" ? `[class ${shown}]` : shown === "(anonymous)" ? "[Function (anonymous)]" : `[Function: ${shown}]`;
      }
      case "object": break;
      default: return `${value}`;
    }
    if (value === null) return "null";
    for (let a = above; a !== null; a = a.above) {
      if (a.value !== value) continue;
      if (a.mark === 0) a.mark = ++marks;
      return `[Circular *${a.mark}]`;
    }
    const here = { __proto__: null, value, above, mark: 0 }, shown = members(value, depth, here);
    return here.mark === 0 ? shown : `<ref *${here.mark}> ${shown}`;
  };
  const members = (value, depth, here) => {
    if (slot(dateValue, value)) return dateValue(value) === dateValue(value) ? isoDate(value) : "Invalid Date";
    if (slot(regexpText, value) && kindOf(value) === "RegExp") return regexpText(value);
    if (isError(value)) return `[${errorLine(value)}]`;
    const kind = kindOf(value);
    if (depth > MAX_DEPTH) return isArray(value) ? "[Array]" : `[${kind}]`;
    let parts = "", count = 0, left = 0;
    const add = (part) => {
      if (count++ < MAX_ITEMS) parts = parts === "" ? part : `${parts}, ${part}`;
      else left++;
    };
    const more = () => { if (left > 0) parts = `${parts}, ... ${left} more item${left === 1 ? "" : "s"}`; };
    const view = tagOfView(value);
    if (isArray(value) || view !== undefined) {
      const length = view === undefined ? value.length : lengthOfView(value);
      let i = 0;
      while (i < length && count < MAX_ITEMS) {
        let holes = 0;
        while (i < length && holes < 1_000_000 && getOwnPropertyDescriptor(value, `${i}`) === undefined) { i++; holes++; }
        if (holes > 0) add(`<${holes} empty item${holes === 1 ? "" : "s"}>`);
        else {
          const d = getOwnPropertyDescriptor(value, `${i++}`);
          add("value" in d ? show(d.value, depth + 1, here) : "[Getter]");
        }
      }
      left = length - i;
      more();
      const head = kind === "Array" ? "[" : `${kind}(${length}) [`;
      return body(head, parts, "]");
    }
    if (slot(mapSize, value)) {
      mapEach(value, (v, k) => add(`${show(k, depth + 1, here)} => ${show(v, depth + 1, here)}`));
      more();
      return body(`Map(${mapSize(value)}) {`, parts, "}");
    }
    if (slot(setSize, value)) {
      setEach(value, (v) => add(show(v, depth + 1, here)));
      more();
      return body(`Set(${setSize(value)}) {`, parts, "}");
    }
    const keys = ownKeys(value);
    for (let i = 0; i < keys.length; i++) {
      const key = keys[i], d = getOwnPropertyDescriptor(value, key);
      if (!d || !d.enumerable) continue;
      if (count >= MAX_ITEMS) { left++; continue; }
      const shownKey = typeof key === "symbol" ? `[${symbolText(key)}]` : isName(key) ? key : literal(key);
      add(`${shownKey}: ${"value" in d ? show(d.value, depth + 1, here) : d.set ? (d.get ? "[Getter/Setter]" : "[Setter]") : "[Getter]"}`);
    }
    more();
    return body(kind === "Object" ? "{" : `${kind} {`, parts, "}");
  };
  const inspect = (value) => {
    marks = 0;
    try {
      return show(value, 0, null);
    } catch {
      return "[object that cannot be shown]";
    }
  };
  // The arguments of one console call as one text, with Node's `%` directives.
  const format = (args) => {
    let out = "", next = 0;
    if (typeof args[0] === "string") {
      const head = args[0];
      next = 1;
      if (args.length === 1) return head;
      let from = 0;
      for (let at = indexOf(head, "%"); at >= 0 && at < head.length - 1; at = indexOf(head, "%", from)) {
        const letter = head[at + 1];
        let part = null;
        if (letter === "%") part = "%";
        else if (next < args.length) {
          const value = args[next];
          if (letter === "s") part = typeof value === "string" ? value : typeof value === "object" && value !== null ? inspect(value) : typeof value === "bigint" ? `${value}n` : text(value);
          else if (letter === "d") part = typeof value === "object" ? "NaN" : typeof value === "bigint" ? `${value}n` : text(PageNumber(value));
          else if (letter === "i") part = typeof value === "object" ? "NaN" : text(PageNumber(value) - (PageNumber(value) % 1));
          else if (letter === "f") part = text(PageNumber(value));
          else if (letter === "j") { try { part = text(stringify(value)); } catch { part = "[Circular]"; } }
          else if (letter === "o" || letter === "O") part = inspect(value);
          else if (letter === "c") part = "";
          if (part !== null) next++;
        }
        out += part === null ? slice(head, from, at + 2) : slice(head, from, at) + part;
        from = at + 2;
      }
      out += slice(head, from);
    }
    for (; next < args.length; next++) {
      const shown = typeof args[next] === "string" ? args[next] : inspect(args[next]);
      out = next === 0 ? shown : `${out} ${shown}`;
    }
    return out;
  };
