  // Part 2: console lines. A value becomes text here, in the page, so that one line is one small message and stands in
  // order with tool calls. The look is Node's (depth 2, width 80).
  const DEPTH = 2, MAX_ITEMS = 100, MAX_TEXT = 10_000, WIDTH = 80;
  const isName = (key) => {
    if (key === "") return false;
    for (let i = 0; i < key.length; i++) {
      const c = charCode(key, i);
      if (!((c > 64 && c < 91) || (c > 96 && c < 123) || c === 95 || (i > 0 && c > 47 && c < 58))) return false;
    }
    return true;
  };
  const ESCAPES = { __proto__: null, 8: "\\b", 9: "\\t", 10: "\\n", 12: "\\f", 13: "\\r", 92: "\\\\" };
  const HEX = "0123456789ABCDEF", LOW_HEX = "0123456789abcdef";
  const literal = (string) => {
    let short = string, after = "";
    if (string.length > MAX_TEXT) {
      short = slice(string, 0, MAX_TEXT);
      after = `... ${string.length - MAX_TEXT} more character${string.length - MAX_TEXT === 1 ? "" : "s"}`;
    }
    const mark = indexOf(short, "'") < 0 ? "'" : indexOf(short, '"') < 0 ? '"' : indexOf(short, "`") < 0 && indexOf(short, "${") < 0 ? "`" : "'";
    let out = "", from = 0;
    for (let i = 0; i < short.length; i++) {
      const c = charCode(short, i);
      if (c > 159 || (c > 31 && c < 127 && c !== 92 && !(c === 39 && mark === "'"))) continue;
      out += slice(short, from, i) + (ESCAPES[c] ?? (c === 39 ? "\\'" : `\\x${HEX[c >> 4]}${HEX[c & 15]}`));
      from = i + 1;
    }
    return `${mark}${out}${slice(short, from)}${mark}${after}`;
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
  // Texts in a row, without a prototype that guest code could have prepared.
  const row = () => ({ __proto__: null, length: 0 });
  const append = (list, item) => { list[list.length++] = item; };
  const pad = (string, width, before) => {
    const space = width > string.length ? repeat(" ", width - string.length) : "";
    return before ? space + string : string + space;
  };
  // Short items of a long array stand in columns, as Node has them.
  const inColumns = (items, value, indent) => {
    let total = 0, longest = 0;
    const count = items.length > MAX_ITEMS ? items.length - 1 : items.length;
    for (let i = 0; i < count; i++) {
      total += items[i].length + 2;
      if (items[i].length > longest) longest = items[i].length;
    }
    const widest = longest + 2;
    if (!(widest * 3 + indent < WIDTH && (total / widest > 5 || longest <= 6))) return items;
    const narrow = widest - 3 - sqrt(widest - total / items.length), biased = narrow > 1 ? narrow : 1;
    let columns = round(sqrt(2.5 * biased * count) / biased);
    const fit = floor((WIDTH - indent) / widest);
    if (columns > fit) columns = fit;
    if (columns > 12) columns = 12;
    if (columns <= 1) return items;
    let numbers = true;
    for (let i = 0; i < count && numbers; i++) {
      const type = typeof (getOwnPropertyDescriptor(value, `${i}`) ?? row()).value;
      numbers = type === "number" || type === "bigint";
    }
    const lines = row();
    for (let from = 0; from < count; from += columns) {
      let line = "";
      for (let at = from; at < from + columns && at < count; at++) {
        let width = 0;
        for (let other = at - from; other < count; other += columns) if (items[other].length > width) width = items[other].length;
        const last = at === from + columns - 1 || at === count - 1;
        line += last ? pad(items[at], numbers ? width : 0, numbers) : pad(`${items[at]}, `, width + 2, numbers);
      }
      append(lines, line);
    }
    if (items.length > MAX_ITEMS) append(lines, items[count]);
    return lines;
  };
  // On one line where it fits and is not too deep, else one item per line.
  const layout = (open, items, close, depth, indent, array) => {
    if (items.length === 0) return `${open}${close}`;
    const lines = array !== undefined && items.length > 6 ? inColumns(items, array, indent) : items;
    if (deepest - depth < 3 && lines === items) {
      let width = items.length * 2 + indent + open.length + 10, oneLine = "", broken = false;
      for (let i = 0; i < items.length; i++) {
        width += items[i].length;
        broken ||= indexOf(items[i], "\n") >= 0;
        oneLine += i === 0 ? items[i] : `, ${items[i]}`;
      }
      if (width <= WIDTH && !broken) return `${open} ${oneLine} ${close}`;
    }
    const space = `\n${repeat(" ", indent)}`;
    let out = `${open}${space}  `;
    for (let i = 0; i < lines.length; i++) out += i === 0 ? lines[i] : `,${space}  ${lines[i]}`;
    return `${out}${space}${close}`;
  };
  let marks = 0, deepest = 0, depthLimit = DEPTH;
  const show = (value, depth, above, indent) => {
    switch (typeof value) {
      case "string": return literalLines(value, indent);
      case "bigint": return `${value}n`;
      case "symbol": return symbolText(value);
      case "number": return value === 0 && 1 / value < 0 ? "-0" : `${value}`;
      case "function": {
        const base = functionBase(value), items = row();
        properties(value, items, (item) => show(item, depth + 1, { __proto__: null, value, above, mark: 0 }, indent + 2), false);
        if (items.length > 0 && depth <= depthLimit) deepest = depth;
        return items.length === 0 || depth > depthLimit ? base : layout(`${base} {`, items, "}", depth, indent);
      }
      case "object": break;
      default: return `${value}`;
    }
    if (value === null) return "null";
    for (let a = above; a !== null; a = a.above) {
      if (a.value !== value) continue;
      if (a.mark === 0) { a.mark = ++marks; append(marked, a); }
      return `[Circular *${a.mark}]`;
    }
    const here = { __proto__: null, value, above, mark: markOf(value) }, shown = members(value, depth, here, indent);
    return here.mark === 0 ? shown : `<ref *${here.mark}> ${shown}`;
  };
  // A thing that contains itself keeps its number wherever it is met again.
  let marked = row();
  const markOf = (value) => {
    for (let i = 0; i < marked.length; i++) if (marked[i].value === value) return marked[i].mark;
    return 0;
  };
  // A long text of several lines, a line of it on each.
  const literalLines = (string, indent) => {
    if (string.length <= 16 || string.length > MAX_TEXT || string.length <= WIDTH - indent - 4 || indexOf(string, "\n") < 0) return literal(string);
    let out = "", from = 0;
    for (let at = indexOf(string, "\n"); at >= 0 && at < string.length - 1; at = indexOf(string, "\n", from)) {
      out += `${literal(slice(string, from, at + 1))} +\n${repeat(" ", indent + 2)}`;
      from = at + 1;
    }
    return out + literal(slice(string, from));
  };
  const functionBase = (value) => {
    const own = getOwnPropertyDescriptor(value, "name"), name = own && typeof own.value === "string" ? own.value : "";
        if (indexOf(functionText(value), "class") !== 0) return name === "" ? `[${kindOf(value)} (anonymous)]` : `[${kindOf(value)}: ${name}]`;
        const parent = getPrototypeOf(value), above = parent && getOwnPropertyDescriptor(parent, "name");
        return `[class ${name === "" ? "(anonymous)" : name}${above && above.value ? ` extends ${above.value}` : ""}]`;
  };
  // Own enumerable properties; of an array only those that are no items.
  const isIndex = (key) => {
    for (let i = 0; i < key.length; i++) {
      const c = charCode(key, i);
      if (c < 48 || c > 57) return false;
    }
    return key !== "";
  };
  const properties = (value, items, inner, named) => {
    const keys = ownKeys(value);
    let left = 0;
    for (let i = 0; i < keys.length; i++) {
      const key = keys[i];
      if (named && typeof key === "string" && isIndex(key)) continue;
      const d = getOwnPropertyDescriptor(value, key);
      if (!d || !d.enumerable) continue;
      if (items.length >= MAX_ITEMS + 1) { left++; continue; }
      const name = typeof key === "symbol" ? `[${symbolText(key)}]` : isName(key) ? key : literal(key);
      append(items, `${name}: ${"value" in d ? inner(d.value) : d.set ? (d.get ? "[Getter/Setter]" : "[Setter]") : "[Getter]"}`);
    }
    if (left > 0) append(items, `... ${left} more item${left === 1 ? "" : "s"}`);
  };
  // What a name on the prototypes says a thing is, where that is more than its class says.
  const tagOf = (value, kind) => {
    for (let p = value, i = 0; p !== null && i < 20; p = getPrototypeOf(p), i++) {
      const d = getOwnPropertyDescriptor(p, tag);
      if (d) return typeof d.value === "string" && d.value !== "" && d.value !== kind ? ` [${d.value}]` : "";
    }
    return "";
  };
  const element = (value) => {
    const id = attribute(value, "id"), named = attribute(value, "class");
    return `<${tagName(value)}${id === null ? "" : ` id=${quote(id)}`}${named === null ? "" : ` class=${quote(named)}`}>`;
  };
  const members = (value, depth, here, indent) => {
    if (slot(dateValue, value)) return dateValue(value) === dateValue(value) ? isoDate(value) : "Invalid Date";
    if (slot(regexpText, value) && kindOf(value) === "RegExp") return regexpText(value);
    const kind = kindOf(value), items = row(), whole = depth <= depthLimit;
    let left = 0;
    const inner = (item) => show(item, depth + 1, here, indent + 2);
    const add = (item) => { if (items.length < MAX_ITEMS) append(items, item()); else left++; };
    const more = () => { if (left > 0) append(items, `... ${left} more item${left === 1 ? "" : "s"}`); };
    const deep = (open, close, array) => {
      if (items.length === 0) return open[open.length - 1] === "{" || open[open.length - 1] === "[" ? `${open}${close}` : open;
      deepest = depth;
      return layout(open, items, close, depth, indent, array);
    };
    if (isError(value)) {
      if (!whole) return `[${errorLine(value)}]`;
      properties(value, items, inner, false);
      const cause = getOwnPropertyDescriptor(value, "cause"), errors = getOwnPropertyDescriptor(value, "errors");
      if (cause && !cause.enumerable) append(items, `[cause]: ${inner(cause.value)}`);
      if (errors && !errors.enumerable) append(items, `[errors]: ${inner(errors.value)}`);
      return items.length === 0 ? `[${errorLine(value)}]` : deep(`[${errorLine(value)}] {`, "}");
    }
    if (slot(tagName, value)) return element(value);
    for (let i = 0; i < BOXES.length; i++) if (slot(BOXES[i].ask, value)) return `[${BOXES[i].name}: ${show(BOXES[i].ask(value), 0, null, 0)}]`;
    if (slot(askWeakMap, value) || slot(askWeakSet, value)) return `${kind} { <items unknown> }`;
    const view = tagOfView(value);
    if (!whole && (isArray(value) ? value.length > 0 : view !== undefined || slot(mapSize, value) || slot(setSize, value) || hasShown(value))) return isArray(value) ? "[Array]" : `[${kind}]`;
    if (slot(sizeOfBuffer, value)) {
      append(items, `[Uint8Contents]: <${hexOf(value)}>`);
      append(items, `byteLength: ${sizeOfBuffer(value)}`);
      return deep(`${kind} {`, "}");
    }
    if (slot(sizeOfView, value)) {
      append(items, `byteLength: ${sizeOfView(value)}`);
      append(items, `byteOffset: ${startOfView(value)}`);
      append(items, `buffer: ${inner(bufferOfView(value))}`);
      return deep(`${kind} {`, "}");
    }
    if (slot(address.href, value)) {
      for (let i = 0; i < addressParts.length; i++) {
        if (addressParts[i] === "hash") append(items, `searchParams: ${inner(queryOf(value))}`);
        append(items, `${addressParts[i]}: ${literal(address[addressParts[i]](value))}`);
      }
      return deep(`${kind} {`, "}");
    }
    if (slot(askQuery, value)) {
      queryEach(value, (v, k) => add(() => `${literal(k)} => ${literal(v)}`));
      more();
      return deep(`${kind} {`, "}");
    }
    if (isArray(value) || view !== undefined) {
      const length = view === undefined ? value.length : lengthOfView(value);
      if (view === "Uint8Array" && kind === "Buffer") return bufferText(value, length);
      let i = 0;
      while (i < length && items.length < MAX_ITEMS) {
        let holes = 0;
        while (i < length && holes < 1_000_000 && getOwnPropertyDescriptor(value, `${i}`) === undefined) { i++; holes++; }
        if (holes > 0) append(items, `<${holes} empty item${holes === 1 ? "" : "s"}>`);
        else {
          const d = getOwnPropertyDescriptor(value, `${i++}`);
          append(items, "value" in d ? inner(d.value) : "[Getter]");
        }
      }
      left = length - i;
      more();
      const shown = items.length;
      if (view === undefined && length < 10_000) properties(value, items, inner, true);
      const open = kind === "Array" ? "[" : `${kind}(${length}) [`;
      return items.length === shown ? deep(open, "]", value) : deep(open, "]");
    }
    if (slot(mapSize, value)) {
      mapEach(value, (v, k) => add(() => `${inner(k)} => ${inner(v)}`));
      more();
      properties(value, items, inner, false);
      return deep(`${kind}(${mapSize(value)})${kind === "Map" ? "" : " [Map]"} {`, "}");
    }
    if (slot(setSize, value)) {
      setEach(value, (v) => add(() => inner(v)));
      more();
      properties(value, items, inner, false);
      return deep(`${kind}(${setSize(value)})${kind === "Set" ? "" : " [Set]"} {`, "}");
    }
    properties(value, items, inner, false);
    const said = tagOf(value, kind);
    return deep(kind === "Object" && said === "" ? "{" : `${kind}${said} {`, "}");
  };
  const BOXES = [{ ask: boxedNumber, name: "Number" }, { ask: boxedString, name: "String" }, { ask: boxedBoolean, name: "Boolean" },
    { ask: boxedBigInt, name: "BigInt" }, { ask: boxedSymbol, name: "Symbol" }];
  const askWeakMap = (value) => { weakMapHas(value, value); }, askWeakSet = (value) => { weakSetHas(value, value); };
  const askQuery = (value) => { queryEach(value, () => {}); };
  const hasShown = (value) => {
    const keys = ownKeys(value);
    for (let i = 0; i < keys.length; i++) if ((getOwnPropertyDescriptor(value, keys[i]) ?? row()).enumerable) return true;
    return false;
  };
  const hexOf = (buffer) => {
    const bytes = new PageBytes(buffer, 0, sizeOfBuffer(buffer) > 50 ? 50 : sizeOfBuffer(buffer)), length = lengthOfView(bytes);
    let out = "";
    for (let i = 0; i < length; i++) out += `${i === 0 ? "" : " "}${LOW_HEX[bytes[i] >> 4]}${LOW_HEX[bytes[i] & 15]}`;
    const left = sizeOfBuffer(buffer) - length;
    return left > 0 ? `${out} ... ${left} more byte${left === 1 ? "" : "s"}` : out;
  };
  // As Node shows its own; the class of that name here is code of the guest's.
  const bufferText = (value, length) => {
    let out = length === 0 ? " " : "";
    for (let i = 0; i < length && i < 50; i++) {
      const byte = getOwnPropertyDescriptor(value, `${i}`).value;
      out += ` ${LOW_HEX[byte >> 4]}${LOW_HEX[byte & 15]}`;
    }
    return `<Buffer${out}${length > 50 ? ` ... ${length - 50} more byte${length === 51 ? "" : "s"}` : ""}>`;
  };
  const inspect = (value, limit = DEPTH) => {
    marks = deepest = 0;
    marked = row();
    depthLimit = limit;
    try {
      return show(value, 0, null, 0);
    } catch {
      return "[object that cannot be shown]";
    }
  };
  // Whether it has a `toString` that the guest wrote, or is a thing whose text says more than its parts.
  const hasOwnText = (value) => {
    if (isError(value) || slot(dateValue, value)) return true;
    for (let p = value, i = 0; p !== null && i < 20; p = getPrototypeOf(p), i++) {
      const d = getOwnPropertyDescriptor(p, "toString");
      if (d) return typeof d.value === "function" && indexOf(functionText(d.value), "[native code]") < 0;
    }
    return false;
  };
  // The arguments of one console call as one text, with Node's `%` directives.
  const format = (args) => {
    let out = "", next = 0;
    for (let i = 0; i < args.length; i++) {
      const plain = textOf(args[i]);
      if (plain !== undefined) args[i] = plain;
    }
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
          if (letter === "s") part = typeof value === "string" ? value : typeof value === "object" && value !== null ? (hasOwnText(value) ? text(value) : inspect(value, 0)) : typeof value === "bigint" ? `${value}n` : text(value);
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
