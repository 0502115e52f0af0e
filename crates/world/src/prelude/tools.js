// Host functions as plain functions, and the marks by which Cove knows its own errors again.
//
// A mark is membership in a WeakMap that only this file holds: no message, name or property makes an error "ours".
(function (native, kit) {
  'use strict';
  const { Map, WeakMap, Promise, JSON, Object, Uint8Array, TypeError, RangeError, Reflect, Symbol, Array, String } = globalThis;
  const { create, defineProperty, getOwnPropertyDescriptor, getPrototypeOf, hasOwn, keys, freeze } = Object;
  const { apply } = Reflect;
  const stringify = JSON.stringify;
  const parse = JSON.parse;
  const tagOf = getOwnPropertyDescriptor(getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag).get;
  const toBase64 = Uint8Array.prototype.toBase64;
  const fromBase64 = Uint8Array.fromBase64;
  const BYTES = '$bytes';
  const TEXT = '$text';
  // 16 MiB of JSON: more than any argument should be, less than what would starve the bridge.
  const MAX_ARGS = 16 << 20;

  const marks = new WeakMap();
  const pending = new Map();

  function error(kind, message, code, base) {
    const made = base ?? native.bareError();
    defineProperty(made, 'message', { value: message, writable: true, enumerable: false, configurable: true });
    if (code !== undefined) defineProperty(made, 'code', { value: code, writable: true, enumerable: true, configurable: true });
    marks.set(made, kind);
    return made;
  }
  kit.markedError = error;
  // What an error is about, in fields that no listing shows: whoever tells of it need not read the sentence.
  kit.about = (made, fields) => {
    for (const key of keys(fields)) defineProperty(made, key, { value: fields[key], writable: true, enumerable: false, configurable: true });
    return made;
  };
  kit.kindOf = (value) => (value !== null && (typeof value === 'object' || typeof value === 'function') ? marks.get(value) : undefined);

  function toolError(message, code) {
    const made = error('tool', `Tool execution failed: ${message}`, 'ERR_TOOL_PROXY_FAIL');
    if (code !== undefined) defineProperty(made, 'toolCode', { value: code, writable: true, enumerable: true, configurable: true });
    return made;
  }

  // Answers that code may use as their text: `(await read('a')).split('\\n')`. They are plain objects as far as JSON, keys
  // and copies go; every method of strings asks for `toString`, and that is all they need of a string.
  const texts = new WeakMap();
  kit.textOf = (value) => (value !== null && typeof value === 'object' ? texts.get(value) : undefined);
  const textual = create(String.prototype, { constructor: { value: Object } });
  for (const name of ['toString', 'valueOf', Symbol.toPrimitive]) {
    const told = { [name]() { return texts.get(this) ?? ''; } }[name];
    defineProperty(textual, name, { value: freeze(told) });
  }
  freeze(textual);
  function asText(value) {
    if (value === null || typeof value !== 'object' || !hasOwn(value, TEXT)) return value;
    const { length, truncated, nextOffset } = value[TEXT] ?? {};
    const whole = value.content?.[0]?.text;
    if (typeof whole !== 'string' || typeof length !== 'number') return value;
    const text = whole.slice(0, length);
    const made = create(textual);
    for (const key of keys(value)) {
      if (key !== TEXT) defineProperty(made, key, { value: value[key], writable: true, enumerable: true, configurable: true });
    }
    const hide = (key, hidden) => defineProperty(made, key, { value: hidden, writable: true, enumerable: false, configurable: true });
    hide('text', text);
    hide('length', text.length);
    hide('truncated', truncated === true);
    hide('nextOffset', nextOffset ?? undefined);
    texts.set(made, text);
    return made;
  }

  const encodeOne = (key, value) => {
    if (value === null || typeof value !== 'object') return value;
    if (apply(tagOf, value, []) === 'Uint8Array') return { [BYTES]: apply(toBase64, value, []) };
    return texts.get(value) ?? value;
  };
  kit.encode = (args) => {
    const text = stringify(args, encodeOne);
    if (text.length > MAX_ARGS) throw new RangeError(`the arguments of a tool may have ${MAX_ARGS} characters of JSON; these have ${text.length}`);
    return text;
  };
  const decodeOne = (key, value) => {
    if (value === null || typeof value !== 'object') return value;
    const text = value[BYTES];
    if (typeof text !== 'string' || keys(value).length !== 1) return value;
    try { return fromBase64(text); } catch (problem) { return value; }
  };
  kit.decode = (text) => (text.includes(`"${BYTES}"`) ? parse(text, decodeOne) : parse(text));

  function settle(text, message, code, fail = toolError) {
    if (text === undefined) return { failed: fail(message, code) };
    try { return { value: asText(kit.decode(text)) }; } catch (problem) { return { failed: toolError('the answer is not JSON', undefined) }; }
  }
  // `fail` makes the error of a call that fails; for a guest's own tools that is a tool's error.
  kit.callAsync = (name, args, fail) => {
    const text = kit.encode(args);
    const id = native.callTool(name, text);
    return new Promise((resolve, reject) => { pending.set(id, { resolve, reject, fail }); });
  };
  kit.settleCall = (id, text, message, code) => {
    const call = pending.get(id);
    if (call === undefined) return;
    pending.delete(id);
    const { value, failed } = settle(text, message, code, call.fail);
    if (failed !== undefined) call.reject(failed); else call.resolve(value);
  };
  kit.forgetCalls = () => { pending.clear(); };

  kit.makeTool = (name, sync) => {
    const tool = sync
      ? { [name](...args) {
          const text = kit.encode(args);
          const [answer, message, code] = native.callToolAndWait(name, text);
          const { value, failed } = settle(answer, message, code);
          if (failed !== undefined) throw failed;
          return value;
        } }[name]
      : { [name](...args) { return kit.callAsync(name, args); } }[name];
    return freeze(tool);
  };
})
