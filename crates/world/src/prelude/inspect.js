// How a value is printed: as Node prints it (`util.inspect`, depth 2, width 80), and without running guest code:
// getters are named, not called; a proxy is shown as its target; sizes are bounded.
(function (native, kit) {
  'use strict';
  const { Object, Reflect, Array, Map, Set, WeakSet, Symbol, String, Number, Math, JSON, Date, RegExp, Error, BigInt,
    Boolean, isNaN } = globalThis;
  const { getOwnPropertyDescriptor, getPrototypeOf, getOwnPropertyNames, getOwnPropertySymbols, is } = Object;
  const { apply } = Reflect;
  const uncurry = (f) => (self, ...args) => apply(f, self, args);
  const descriptorOf = (proto, name) => getOwnPropertyDescriptor(proto, name);
  const mapForEach = uncurry(Map.prototype.forEach);
  const setForEach = uncurry(Set.prototype.forEach);
  const mapSize = uncurry(descriptorOf(Map.prototype, 'size').get);
  const setSize = uncurry(descriptorOf(Set.prototype, 'size').get);
  const dateToISO = uncurry(Date.prototype.toISOString);
  const dateGetTime = uncurry(Date.prototype.getTime);
  const dateToString = uncurry(Date.prototype.toString);
  const regExpToString = uncurry(RegExp.prototype.toString);
  const symbolToString = uncurry(Symbol.prototype.toString);
  const functionToString = uncurry((() => {}).toString);
  const numberValueOf = uncurry(Number.prototype.valueOf);
  const stringValueOf = uncurry(String.prototype.valueOf);
  const booleanValueOf = uncurry(Boolean.prototype.valueOf);
  const bigintValueOf = uncurry(BigInt.prototype.valueOf);
  const symbolValueOf = uncurry(Symbol.prototype.valueOf);
  const typedArrayTag = uncurry(descriptorOf(getPrototypeOf(globalThis.Uint8Array.prototype), Symbol.toStringTag).get);
  const typedArrayLength = uncurry(descriptorOf(getPrototypeOf(globalThis.Uint8Array.prototype), 'length').get);
  const bufferLength = uncurry(descriptorOf(globalThis.ArrayBuffer.prototype, 'byteLength').get);
  const Uint8Array = globalThis.Uint8Array;
  const hasOwn = Object.hasOwn;
  const toStringTag = Symbol.toStringTag;
  const isEnumerable = uncurry(Object.prototype.propertyIsEnumerable);
  const objectPrototype = Object.prototype;
  const isArray = Array.isArray;

  const BREAK_LENGTH = 80;
  const COMPACT = 3;
  const MAX_ARRAY = 100;
  const MAX_STRING = 10000;
  // Past this many characters nothing more is formatted: a line nobody can read must not cost a minute.
  const BUDGET = 1 << 20;

  const identifier = /^[a-zA-Z_][a-zA-Z_0-9]*$/;
  const escapes = /[\x00-\x1f\x27\x5c\x7f-\x9f]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;
  const escapesAll = new RegExp(escapes.source, 'g');
  const escapesNoQuote = /[\x00-\x1f\x5c\x7f-\x9f]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
  const meta = ['\\x00', '\\x01', '\\x02', '\\x03', '\\x04', '\\x05', '\\x06', '\\x07', '\\b', '\\t', '\\n', '\\x0B',
    '\\f', '\\r', '\\x0E', '\\x0F', '\\x10', '\\x11', '\\x12', '\\x13', '\\x14', '\\x15', '\\x16', '\\x17', '\\x18',
    '\\x19', '\\x1A', '\\x1B', '\\x1C', '\\x1D', '\\x1E', '\\x1F'];
  const escapeOne = (char) => {
    const code = char.charCodeAt(0);
    if (code < 32) return meta[code];
    if (code === 39) return "\\'";
    if (code === 92) return '\\\\';
    if (code < 160) return `\\x${code.toString(16).toUpperCase()}`;
    return `\\u${code.toString(16)}`;
  };

  function quote(text) {
    if (!escapes.test(text)) return `'${text}'`;
    let mark = "'";
    if (text.includes("'")) {
      if (!text.includes('"')) mark = '"';
      else if (!text.includes('`') && !text.includes('${')) mark = '`';
    }
    return mark + text.replace(mark === "'" ? escapesAll : escapesNoQuote, escapeOne) + mark;
  }

  const number = (value) => (is(value, -0) ? '-0' : `${value}`);

  function primitive(ctx, value) {
    switch (typeof value) {
      case 'string': {
        let trailer = '';
        if (value.length > MAX_STRING) {
          const left = value.length - MAX_STRING;
          value = value.slice(0, MAX_STRING);
          trailer = `... ${left} more character${left > 1 ? 's' : ''}`;
        }
        if (value.length > 16 && value.length > BREAK_LENGTH - ctx.indentation - 4) {
          const lines = [];
          let from = 0;
          for (let at = value.indexOf('\n'); at !== -1; at = value.indexOf('\n', from)) {
            lines.push(quote(value.slice(from, at + 1)));
            from = at + 1;
          }
          if (from < value.length) lines.push(quote(value.slice(from)));
          return lines.join(` +\n${' '.repeat(ctx.indentation + 2)}`) + trailer;
        }
        return quote(value) + trailer;
      }
      case 'number': return number(value);
      case 'bigint': return `${value}n`;
      case 'symbol': return symbolToString(value);
      default: return `${value}`;
    }
  }

  // The value of a data property, or of one that Cove turned into a pair of functions when it froze the prototype.
  const plainValue = (descriptor) =>
    descriptor === undefined ? undefined : descriptor.get === undefined ? descriptor.value : kit.mended(descriptor.get);

  function constructorName(object) {
    for (let at = object, steps = 0; at !== null && steps < 100; at = getPrototypeOf(at), steps++) {
      if (native.brand(at) === 'Proxy') break;
      const made = plainValue(getOwnPropertyDescriptor(at, 'constructor'));
      if (typeof made === 'function') {
        const name = plainValue(getOwnPropertyDescriptor(made, 'name'));
        if (typeof name === 'string' && name !== '' && isInstance(object, made)) {
          return name;
        }
      }
    }
    return null;
  }

  function isInstance(object, maker) {
    const prototype = plainValue(getOwnPropertyDescriptor(maker, 'prototype'));
    if (prototype === null || typeof prototype !== 'object' && typeof prototype !== 'function') return false;
    for (let at = getPrototypeOf(object), steps = 0; at !== null && steps < 100; at = getPrototypeOf(at), steps++) {
      if (at === prototype) return true;
      if (native.brand(at) === 'Proxy') return false;
    }
    return object === prototype;
  }

  function tagOf(object, name) {
    for (let at = object, steps = 0; at !== null && steps < 100; at = getPrototypeOf(at), steps++) {
      if (native.brand(at) === 'Proxy') return '';
      const descriptor = getOwnPropertyDescriptor(at, toStringTag);
      if (descriptor !== undefined) {
        const tag = plainValue(descriptor);
        return typeof tag === 'string' && tag !== '' && tag !== name ? tag : '';
      }
    }
    return '';
  }

  function prefix(name, tag, fallback, size = '') {
    if (name === null) {
      return tag !== '' && fallback !== tag ? `[${fallback}${size}: null prototype] [${tag}] ` : `[${fallback}${size}: null prototype] `;
    }
    return tag !== '' && name !== tag ? `${name}${size} [${tag}] ` : `${name}${size} `;
  }

  function keysOf(object) {
    const keys = Object.keys(object);
    for (const symbol of getOwnPropertySymbols(object)) if (isEnumerable(object, symbol)) keys.push(symbol);
    return keys;
  }

  const isIndex = (key) => typeof key === 'string' && /^(0|[1-9][0-9]{0,9})$/.test(key) && +key < 4294967295;

  function property(ctx, object, key, depth, kind) {
    const descriptor = getOwnPropertyDescriptor(object, key) ??
      { value: undefined, enumerable: true };
    let text;
    const value = descriptor.get !== undefined && kit.mended(descriptor.get) !== undefined
      ? kit.mended(descriptor.get) : descriptor.value;
    if (descriptor.get === undefined && descriptor.set === undefined || value !== undefined) {
      ctx.indentation += 2;
      text = format(ctx, value, depth);
      ctx.indentation -= 2;
    } else if (descriptor.get !== undefined) {
      text = descriptor.set !== undefined ? '[Getter/Setter]' : '[Getter]';
    } else {
      text = descriptor.set !== undefined ? '[Setter]' : 'undefined';
    }
    if (kind === 'array') return text;
    let name;
    if (typeof key === 'symbol') name = `[${symbolToString(key).replace(escapesNoQuote, escapeOne)}]`;
    else if (key === '__proto__') name = "['__proto__']";
    else if (descriptor.enumerable === false) name = `[${key}]`;
    else if (identifier.test(key)) name = key;
    else name = quote(key);
    return `${name}: ${text}`;
  }

  function arrayItems(ctx, array, length, depth) {
    const output = [];
    const shown = Math.min(MAX_ARRAY, length);
    let index = 0;
    for (let taken = 0; index < length && taken < shown; taken++) {
      if (hasOwn(array, index)) {
        output.push(property(ctx, array, `${index}`, depth, 'array'));
        index++;
        continue;
      }
      let holes = 0;
      const limit = Math.min(length, index + 1000000);
      while (index < limit && !hasOwn(array, index)) { index++; holes++; }
      if (index === limit && limit < length) { holes += length - index; index = length; }
      output.push(`<${holes} empty item${holes > 1 ? 's' : ''}>`);
    }
    if (index < length) output.push(more(length - index));
    return output;
  }

  const more = (count, what = 'item') => `... ${count} more ${what}${count > 1 ? 's' : ''}`;

  // The first fifty bytes.
  function hexOf(bytes, length) {
    const hex = [];
    for (let index = 0; index < length && index < 50; index++) hex.push(bytes[index].toString(16).padStart(2, '0'));
    return hex.join(' ') + (length > 50 ? ` ... ${length - 50} more byte${length > 51 ? 's' : ''}` : '');
  }
  // As Node shows its own; the class of that name here is code of the guest's.
  const bufferText = (value, length) => (length === 0 ? '<Buffer >' : `<Buffer ${hexOf(value, length)}>`);

  function typedItems(ctx, array, length) {
    const output = [];
    const shown = Math.min(MAX_ARRAY, length);
    for (let index = 0; index < shown; index++) output.push(typeof array[index] === 'bigint' ? `${array[index]}n` : number(array[index]));
    if (length > shown) output.push(more(length - shown));
    return output;
  }

  function functionBase(value, name, tag) {
    const source = functionToString(value);
    if (source.startsWith('class') && source.endsWith('}')) {
      const own = plainValue(getOwnPropertyDescriptor(value, 'name'));
      let base = `[class ${typeof own === 'string' && own !== '' ? own : '(anonymous)'}`;
      if (name !== 'Function' && name !== null) base += ` [${name}]`;
      if (tag !== '' && name !== tag) base += ` [${tag}]`;
      const parent = getPrototypeOf(value);
      if (parent === null) base += ' extends [null prototype]';
      else {
        const parentName = plainValue(getOwnPropertyDescriptor(parent, 'name'));
        if (typeof parentName === 'string' && parentName !== '') base += ` extends ${parentName}`;
      }
      return `${base}]`;
    }
    const kind = native.functionKind(value);
    let base = `[${kind}`;
    if (name === null) base += ' (null prototype)';
    const own = plainValue(getOwnPropertyDescriptor(value, 'name'));
    base += typeof own === 'string' && own !== '' ? `: ${own}` : ' (anonymous)';
    base += ']';
    if (name !== kind && name !== null && name !== 'Function' && !kind.includes(name)) base += ` ${name}`;
    if (tag !== '' && name !== tag && !kind.includes(tag)) base += ` [${tag}]`;
    return base;
  }

  function errorBase(ctx, error, name, tag, keys) {
    const ownOr = (key) => {
      for (let at = error, steps = 0; at !== null && steps < 100; at = getPrototypeOf(at), steps++) {
        if (native.brand(at) === 'Proxy') return undefined;
        const descriptor = getOwnPropertyDescriptor(at, key);
        if (descriptor !== undefined) return plainValue(descriptor);
      }
      return undefined;
    };
    const ownStack = plainValue(getOwnPropertyDescriptor(error, 'stack'));
    const messageValue = ownOr('message');
    const message = typeof messageValue === 'string' ? messageValue : '';
    const domName = kit.domName(error);
    const nameValue = domName === undefined ? ownOr('name') : `DOMException [${domName}]`;
    const errorName = typeof nameValue === 'string' ? nameValue : 'Error';
    let head = message === '' ? errorName : `${errorName}: ${message}`;
    if (name !== null && errorName === 'Error' && name !== 'Error') head = head.replace(/^Error/, name);
    let text = typeof ownStack === 'string' ? ownStack : head;
    const frames = typeof ownStack === 'string' ? '' : kit.framesOf(error);
    if (frames !== '') text += `\n${frames}`;
    else if (typeof ownStack !== 'string' || !ownStack.includes('\n    at')) text = `[${text}]`;
    if (hasOwn(error, 'cause') && !keys.includes('cause')) keys.push('cause');
    const errors = plainValue(getOwnPropertyDescriptor(error, 'errors'));
    if (isArray(errors) && !keys.includes('errors')) keys.push('errors');
    for (const hidden of ['name', 'message', 'stack']) {
      const at = keys.indexOf(hidden);
      if (at !== -1 && text.includes(String(plainValue(getOwnPropertyDescriptor(error, hidden)) ?? ''))) keys.splice(at, 1);
    }
    if (ctx.indentation !== 0) text = text.replaceAll('\n', `\n${' '.repeat(ctx.indentation)}`);
    return text;
  }

  function format(ctx, value, depth, typed) {
    if (typeof value !== 'object' && typeof value !== 'function' || value === null) {
      const text = primitive(ctx, value);
      ctx.left -= text.length;
      return text;
    }
    if (ctx.left <= 0) return '...';
    let brand = native.brand(value);
    for (let hops = 0; brand === 'Proxy'; hops++) {
      const target = native.proxyTarget(value);
      if (target === null || hops > 100) return '<Revoked Proxy>';
      value = target;
      brand = native.brand(value);
    }
    if (ctx.seen.includes(value)) {
      let index = 1;
      if (ctx.circular === undefined) ctx.circular = new Map([[value, 1]]);
      else {
        index = ctx.circular.get(value);
        if (index === undefined) { index = ctx.circular.size + 1; ctx.circular.set(value, index); }
      }
      return `[Circular *${index}]`;
    }
    return formatRaw(ctx, value, brand, depth);
  }

  function formatRaw(ctx, value, brand, depth) {
    const name = constructorName(value);
    const tag = tagOf(value, name);
    let keys = keysOf(value);
    let base = '';
    let braces = ['{', '}'];
    let kind = 'object';
    let items = () => [];
    let noEntries = false;
    if (isArray(value)) {
      const length = value.length;
      const start = name !== 'Array' || tag !== '' ? prefix(name, tag, 'Array', `(${length})`) : '';
      braces = [`${start}[`, ']'];
      keys = keys.filter((key) => !isIndex(key));
      kind = 'array';
      if (length === 0 && keys.length === 0) return `${braces[0]}]`;
      items = () => arrayItems(ctx, value, length, depth);
    } else if (brand === 'Set') {
      const size = setSize(value);
      const start = prefix(name, tag, 'Set', `(${size})`);
      if (size === 0 && keys.length === 0) return `${start}{}`;
      braces[0] = `${start}{`;
      items = () => {
        const output = [];
        ctx.indentation += 2;
        let left = MAX_ARRAY;
        setForEach(value, (item) => { if (left-- > 0) output.push(format(ctx, item, depth)); });
        if (size > MAX_ARRAY) output.push(more(size - MAX_ARRAY));
        ctx.indentation -= 2;
        return output;
      };
    } else if (brand === 'Map') {
      const size = mapSize(value);
      const start = prefix(name, tag, 'Map', `(${size})`);
      if (size === 0 && keys.length === 0) return `${start}{}`;
      braces[0] = `${start}{`;
      items = () => {
        const output = [];
        ctx.indentation += 2;
        let left = MAX_ARRAY;
        mapForEach(value, (item, key) => {
          if (left-- > 0) output.push(`${format(ctx, key, depth)} => ${format(ctx, item, depth)}`);
        });
        if (size > MAX_ARRAY) output.push(more(size - MAX_ARRAY));
        ctx.indentation -= 2;
        return output;
      };
    } else if (brand === 'Object' && kit.urlOf(value) !== undefined) {
      const parts = kit.urlOf(value);
      braces[0] = `${prefix(name, tag, 'URL')}{`;
      items = () => Object.keys(parts).map((key) => property(ctx, parts, key, depth, 'object'));
    } else if (brand === 'Object' && kit.queryOf(value) !== undefined) {
      const pairs = kit.queryOf(value);
      const start = prefix(name, tag, 'URLSearchParams');
      if (pairs.length === 0 && keys.length === 0) return `${start}{}`;
      braces[0] = `${start}{`;
      items = () => pairs.slice(0, MAX_ARRAY).map(([key, item]) => `${quote(key)} => ${quote(item)}`);
    } else if (typedArrayTag(value) !== undefined) {
      const length = typedArrayLength(value);
      keys = keys.filter((key) => !isIndex(key));
      if (name === 'Buffer' && keys.length === 0) return bufferText(value, length);
      kind = 'array';
      braces = [`${prefix(name, tag === typedArrayTag(value) ? '' : tag, typedArrayTag(value), `(${length})`)}[`, ']'];
      if (length === 0 && keys.length === 0) return `${braces[0]}]`;
      items = () => typedItems(ctx, value, length);
    } else if (typeof value === 'function') {
      base = functionBase(value, name, tag);
      if (keys.length === 0) return base;
    } else if (brand === 'RegExp') {
      base = regExpToString(value);
      if (keys.length === 0) return base;
    } else if (brand === 'Date') {
      base = isNaN(dateGetTime(value)) ? dateToString(value) : dateToISO(value);
      if (name !== 'Date') base = `${prefix(name, tag, 'Date')}${base}`;
      if (keys.length === 0) return base;
    } else if (brand === 'Error') {
      base = errorBase(ctx, value, name, tag, keys);
      if (keys.length === 0) return base;
    } else if (brand === 'ArrayBuffer' || brand === 'SharedArrayBuffer') {
      const length = bufferLength(value);
      braces[0] = `${prefix(name, tag, 'ArrayBuffer')}{`;
      items = () => {
        const hex = hexOf(new Uint8Array(value, 0, Math.min(50, length)), length);
        return [`[Uint8Contents]: <${hex}>`, `byteLength: ${length}`];
      };
    } else if (brand === 'DataView') {
      braces[0] = `${prefix(name, tag, 'DataView')}{`;
      items = () => ['byteLength', 'byteOffset', 'buffer'].map((key) => `${key}: ${format(ctx, value[key], depth)}`);
    } else if (brand === 'Promise') {
      braces[0] = `${prefix(name, tag, 'Promise')}{`;
      items = () => {
        const [state, result] = native.promiseParts(value);
        if (state === 'pending') return ['<pending>'];
        ctx.indentation += 2;
        const text = format(ctx, result, depth);
        ctx.indentation -= 2;
        return [state === 'rejected' ? `<rejected> ${text}` : text];
      };
    } else if (brand === 'WeakSet' || brand === 'WeakMap') {
      braces[0] = `${prefix(name, tag, brand)}{`;
      items = () => ['<items unknown>'];
    } else if (brand === 'Number' || brand === 'String' || brand === 'Boolean' || brand === 'BigInt' || brand === 'Symbol') {
      const inner = brand === 'Number' ? numberValueOf(value) : brand === 'String' ? stringValueOf(value)
        : brand === 'Boolean' ? booleanValueOf(value) : brand === 'BigInt' ? bigintValueOf(value) : symbolValueOf(value);
      if (brand === 'String') keys = keys.filter((key) => !isIndex(key));
      base = `[${brand}`;
      if (brand !== name) base += name === null ? ' (null prototype)' : ` (${name})`;
      base += `: ${brand === 'String' ? quote(inner) : primitive(ctx, inner)}]`;
      if (tag !== '' && tag !== name) base += ` [${tag}]`;
      if (keys.length === 0) return base;
    } else if (brand === 'Generator') {
      braces[0] = `${prefix(name === null ? 'Object' : name, 'Generator', '')}{`;
      if (keys.length === 0) return `${braces[0]}}`;
    } else if (brand === 'Arguments' || brand === 'MappedArguments') {
      braces[0] = '[Arguments] {';
      if (keys.length === 0) return '[Arguments] {}';
    } else {
      const start = name === 'Object' && tag === '' ? '' : prefix(name, tag, 'Object');
      braces[0] = `${start}{`;
      if (keys.length === 0) return `${braces[0]}}`;
    }
    if (depth > ctx.depth) {
      const shown = prefix(name, tag, isArray(value) ? 'Array' : 'Object').slice(0, -1);
      return isArray(value) ? `[${shown === 'Array' ? 'Array' : shown}]` : `[${shown}]`;
    }
    ctx.seen.push(value);
    ctx.currentDepth = depth;
    const inner = depth + 1;
    const output = ((saved) => { depth = inner; const list = items(); depth = saved; return list; })(depth);
    let count = 0;
    for (const key of keys) {
      if (ctx.left <= 0 || count++ > 1000) { output.push('...'); break; }
      output.push(property(ctx, value, key, inner, 'object'));
    }
    if (ctx.circular !== undefined) {
      const index = ctx.circular.get(value);
      if (index !== undefined) {
        const mark = `<ref *${index}>`;
        if (base === '') braces[0] = `${mark} ${braces[0]}`; else base = `${mark} ${base}`;
      }
    }
    ctx.seen.pop();
    const text = oneString(ctx, output, base, braces, kind, depth, value);
    ctx.left -= text.length >> 1;
    return text;
  }

  function oneString(ctx, output, base, braces, kind, depth, value) {
    const entries = output.length;
    if (kind === 'array' && entries > 6) output = group(ctx, output, value);
    if (ctx.currentDepth - depth < COMPACT && entries === output.length) {
      const start = output.length + ctx.indentation + braces[0].length + base.length + 10;
      if (fits(output, start, base)) {
        const joined = output.join(', ');
        if (!joined.includes('\n')) return `${base ? `${base} ` : ''}${braces[0]} ${joined} ${braces[1]}`;
      }
    }
    const indentation = `\n${' '.repeat(ctx.indentation)}`;
    return `${base ? `${base} ` : ''}${braces[0]}${indentation}  ${output.join(`,${indentation}  `)}${indentation}${braces[1]}`;
  }

  function fits(output, start, base) {
    let total = output.length + start;
    if (total + output.length > BREAK_LENGTH) return false;
    for (const text of output) {
      total += text.length;
      if (total > BREAK_LENGTH) return false;
    }
    return base === '' || !base.includes('\n');
  }

  function group(ctx, output, value) {
    let total = 0;
    let longest = 0;
    const count = output.length > MAX_ARRAY ? output.length - 1 : output.length;
    const lengths = [];
    for (let index = 0; index < count; index++) {
      const length = output[index].length;
      lengths.push(length);
      total += length + 2;
      if (longest < length) longest = length;
    }
    const widest = longest + 2;
    if (!(widest * 3 + ctx.indentation < BREAK_LENGTH && (total / widest > 5 || longest <= 6))) return output;
    const bias = Math.sqrt(widest - total / output.length);
    const biased = Math.max(widest - 3 - bias, 1);
    const columns = Math.min(
      Math.round(Math.sqrt(2.5 * biased * count) / biased),
      Math.floor((BREAK_LENGTH - ctx.indentation) / widest),
      COMPACT * 4,
      15,
    );
    if (columns <= 1) return output;
    const lines = [];
    const widths = [];
    for (let column = 0; column < columns; column++) {
      let width = 0;
      for (let at = column; at < output.length; at += columns) if (lengths[at] > width) width = lengths[at];
      widths.push(width + 2);
    }
    let start = true;
    for (let index = 0; index < output.length && start; index++) {
      const item = isArray(value) ? plainValue(getOwnPropertyDescriptor(value, index)) : value[index];
      if (typeof item !== 'number' && typeof item !== 'bigint') start = false;
    }
    for (let index = 0; index < count; index += columns) {
      const end = Math.min(index + columns, count);
      let line = '';
      let at = index;
      for (; at < end - 1; at++) {
        const cell = `${output[at]}, `;
        line += start ? cell.padStart(widths[at - index]) : cell.padEnd(widths[at - index]);
      }
      line += start ? output[at].padStart(widths[at - index] - 2) : output[at];
      lines.push(line);
    }
    if (output.length > MAX_ARRAY) lines.push(output[count]);
    return lines;
  }

  const context = (depth) => ({ indentation: 0, seen: [], currentDepth: 0, circular: undefined, left: BUDGET, depth });
  kit.inspect = (value, depth = 2) => format(context(depth), value, 0);

  // `%s` calls `String` only where the guest wrote its own `toString`; everything else is printed.
  function asText(value) {
    if (typeof value === 'number') return number(value);
    if (typeof value === 'bigint') return `${value}n`;
    if (typeof value !== 'object' || value === null) return String(value);
    if (native.brand(value) === 'Proxy') return kit.inspect(value, 0);
    for (let at = value, steps = 0; at !== null && steps < 100; at = getPrototypeOf(at), steps++) {
      if (native.brand(at) === 'Proxy' || native.isIntrinsic(at)) break;
      const own = getOwnPropertyDescriptor(at, 'toString') ?? getOwnPropertyDescriptor(at, Symbol.toPrimitive);
      if (own !== undefined) return String(value);
    }
    return kit.inspect(value, 0);
  }

  kit.format = (given) => {
    const args = given.map((arg) => kit.textOf(arg) ?? arg);
    let text = '';
    let join = '';
    let next = 0;
    if (typeof args[0] === 'string') {
      if (args.length === 1) return args[0];
      const pattern = args[0];
      let last = 0;
      for (let at = 0; at < pattern.length - 1; at++) {
        if (pattern.charCodeAt(at) !== 37) continue;
        const code = pattern[at + 1];
        if (code === '%') { text += pattern.slice(last, at + 1); last = at + 2; at++; continue; }
        if (next + 1 === args.length) continue;
        let shown;
        const arg = args[next + 1];
        switch (code) {
          case 's': shown = asText(arg); break;
          case 'j': try { shown = JSON.stringify(arg); } catch (error) { shown = '[Circular]'; } break;
          case 'd':
            shown = typeof arg === 'bigint' ? `${arg}n` : typeof arg === 'symbol' || typeof arg === 'object' && arg !== null ? 'NaN' : number(Number(arg));
            if (typeof arg === 'object' && arg !== null) shown = number(Number(arg));
            break;
          case 'i':
            shown = typeof arg === 'bigint' ? `${arg}n` : typeof arg === 'symbol' || typeof arg === 'object' ? 'NaN' : number(Number.parseInt(arg));
            break;
          case 'f': shown = typeof arg === 'symbol' ? 'NaN' : number(Number.parseFloat(arg)); break;
          case 'o': shown = kit.inspect(arg, 4); break;
          case 'O': shown = kit.inspect(arg); break;
          case 'c': shown = ''; break;
          default: continue;
        }
        if (last !== at) text += pattern.slice(last, at);
        text += shown;
        last = at + 2;
        at++;
        next++;
      }
      if (last !== 0) {
        next++;
        join = ' ';
        if (last < pattern.length) text += pattern.slice(last);
      }
    }
    while (next < args.length) {
      const value = args[next];
      text += join;
      text += typeof value !== 'string' ? kit.inspect(value) : value;
      join = ' ';
      next++;
    }
    return text;
  };
})
