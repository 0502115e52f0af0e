// util: printing, promises, comparing.
(need) => {
  const plain = (key) => /^[A-Za-z_$][\w$]*$/.test(key);
  const quote = (s) => (s.includes("'") ? JSON.stringify(s) : "'" + JSON.stringify(s).slice(1, -1).replace(/\\"/g, '"') + "'");
  const inspect = (value, options = {}) => {
    const depth = options === null || typeof options !== 'object' ? 2 : options.depth === null ? Infinity : options.depth ?? 2;
    const seen = [];
    let reached = 0;
    const list = (open, items, close, level) => {
      if (items.length === 0) return open + close;
      const line = open + ' ' + items.join(', ') + ' ' + close;
      return reached - level < 3 && line.length <= 72 && !line.includes('\n') ? line : open + '\n' + items.map((item) => '  ' + item.replace(/\n/g, '\n  ')).join(',\n') + '\n' + close;
    };
    const show = (v, level) => {
      if (typeof v === 'string') return quote(v);
      if (typeof v === 'bigint') return v + 'n';
      if (Object.is(v, -0)) return '-0';
      if (typeof v === 'symbol') return v.toString();
      if (typeof v === 'function') return /^class\b/.test(Function.prototype.toString.call(v)) ? '[class ' + (v.name || '(anonymous)') + ']' : v.name ? '[Function: ' + v.name + ']' : '[Function (anonymous)]';
      if (v === null || typeof v !== 'object') return String(v);
      if (seen.includes(v)) return '[Circular *1]';
      if (typeof v[inspect.custom] === 'function') return String(v[inspect.custom](depth - level, options, inspect));
      if (v instanceof Error) return v.stack ?? String(v);
      if (v instanceof Date) return Number.isNaN(v.getTime()) ? 'Invalid Date' : v.toISOString();
      if (v instanceof RegExp) return String(v);
      if (v instanceof Promise) return 'Promise {}';
      const name = Object.getPrototypeOf(v) === null ? '[Object: null prototype]' : v.constructor?.name ?? 'Object';
      if (level > depth) return Array.isArray(v) ? '[Array]' : '[' + name + ']';
      seen.push(v);
      reached = level;
      try {
        const inner = (x) => show(x, level + 1);
        const more = (items, total) => (total > items.length ? [...items, '... ' + (total - items.length) + ' more items'] : items);
        if (Array.isArray(v)) return list('[', more(v.slice(0, 100).map(inner), v.length), ']', level);
        if (name === 'Buffer' && v instanceof Uint8Array) return '<Buffer' + Array.from(v.subarray(0, 50), (b) => ' ' + b.toString(16).padStart(2, '0')).join('') + (v.length > 50 ? ' ... ' + (v.length - 50) + ' more bytes>' : v.length === 0 ? ' >' : '>');
        if (ArrayBuffer.isView(v) && v.length !== undefined) return list(name + '(' + v.length + ') [', more(Array.from(v.slice(0, 100), inner), v.length), ']', level);
        if (v instanceof Map) return list('Map(' + v.size + ') {', [...v].map(([a, b]) => inner(a) + ' => ' + inner(b)), '}', level);
        if (v instanceof Set) return list('Set(' + v.size + ') {', [...v].map(inner), '}', level);
        const keys = [...Object.keys(v), ...Object.getOwnPropertySymbols(v).filter((key) => Object.prototype.propertyIsEnumerable.call(v, key))];
        const items = keys.map((key) => {
          const found = Object.getOwnPropertyDescriptor(v, key);
          const shown = found.get ? (found.set ? '[Getter/Setter]' : '[Getter]') : found.set ? '[Setter]' : inner(found.value);
          return (typeof key === 'symbol' ? '[' + key.toString() + ']' : plain(key) ? key : quote(key)) + ': ' + shown;
        });
        return (name === 'Object' ? '' : name + ' ') + list('{', items, '}', level);
      } finally { seen.pop(); }
    };
    return show(value, 0);
  };
  inspect.custom = Symbol.for('nodejs.util.inspect.custom');
  const format = (first, ...rest) => {
    if (typeof first !== 'string') return [first, ...rest].map((v) => (typeof v === 'string' ? v : inspect(v))).join(' ');
    if (rest.length === 0) return first;
    let at = 0;
    const head = first.replace(/%[sdifjoOc%]/g, (mark) => {
      if (mark === '%%') return '%';
      if (at >= rest.length) return mark;
      const v = rest[at++];
      switch (mark) {
        case '%s': return typeof v === 'string' ? v : typeof v === 'object' && v !== null ? inspect(v, { depth: 0 }) : typeof v === 'bigint' ? v + 'n' : String(v);
        case '%d': return typeof v === 'bigint' ? v + 'n' : String(Number(v));
        case '%i': return String(parseInt(v, 10));
        case '%f': return String(parseFloat(v));
        case '%j': return JSON.stringify(v);
        case '%c': return '';
        default: return inspect(v);
      }
    });
    return [head, ...rest.slice(at).map((v) => (typeof v === 'string' ? v : inspect(v)))].join(' ');
  };
  const equal = (a, b, seen = []) => {
    if (Object.is(a, b)) return true;
    if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
    if (Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false;
    if (seen.some(([x, y]) => x === a && y === b)) return true;
    const next = [...seen, [a, b]];
    if (a instanceof Date && a.getTime() !== b.getTime()) return false;
    if (a instanceof RegExp && String(a) !== String(b)) return false;
    if (a instanceof Error && (a.message !== b.message || a.name !== b.name)) return false;
    if (a instanceof Map) return a.size === b.size && [...a].every(([k, v]) => b.has(k) && equal(v, b.get(k), next));
    if (a instanceof Set) return a.size === b.size && [...a].every((v) => b.has(v) || [...b].some((w) => equal(v, w, next)));
    if (Array.isArray(a) && a.length !== b.length) return false;
    const keys = Object.keys(a);
    return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && equal(a[key], b[key], next));
  };
  const custom = Symbol.for('nodejs.util.promisify.custom');
  const waits = (ms, value) => new Promise((done) => { setTimeout(done, ms, value); });
  const promisify = (f) => f === setTimeout ? waits : typeof f[custom] === 'function' ? f[custom] : (...args) => new Promise((resolve, reject) => { f(...args, (error, value) => (error ? reject(error) : resolve(value))); });
  promisify.custom = custom;
  const callbackify = (f) => (...args) => { const done = args.pop(); f(...args).then((value) => done(null, value), done); };
  const types = {
    isDate: (v) => v instanceof Date, isRegExp: (v) => v instanceof RegExp, isMap: (v) => v instanceof Map, isSet: (v) => v instanceof Set,
    isPromise: (v) => v instanceof Promise, isNativeError: (v) => v instanceof Error, isTypedArray: (v) => ArrayBuffer.isView(v) && !(v instanceof DataView),
    isUint8Array: (v) => v instanceof Uint8Array, isArrayBuffer: (v) => v instanceof ArrayBuffer,
  };
  return {
    inspect, format, promisify, callbackify, types, isDeepStrictEqual: (a, b) => equal(a, b), isArray: Array.isArray, deprecate: (f) => f,
    inherits: (child, parent) => { Object.setPrototypeOf(child.prototype, parent.prototype); Object.defineProperty(child, 'super_', { value: parent, configurable: true, writable: true }); },
    stripVTControlCharacters: (s) => s.replace(/\u001b\[[0-9;]*[A-Za-z]/g, ''), TextEncoder, TextDecoder, debuglog: () => () => {},
  };
}
