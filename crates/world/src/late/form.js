// FormData, and the two forms in which a body can carry it.
(function (native, kit, world) {
  'use strict';
  const { TypeError, Symbol, File, Uint8Array, URLSearchParams, JSON } = world;
  const { iterator } = Symbol;
  let listOf;

  class FormData {
    #list = [];
    static { listOf = (value) => (value !== null && typeof value === 'object' && #list in value ? value.#list : undefined); }
    constructor(form) { if (form !== undefined) throw new TypeError('there are no forms here: a FormData begins empty'); }
    #pair(name, value, fileName) {
      const key = `${name}`.toWellFormed();
      if (!kit.isBlob(value)) {
        if (fileName !== undefined) throw new TypeError('only a Blob can have a file name');
        return [key, `${value}`.toWellFormed()];
      }
      if (value instanceof File && fileName === undefined) return [key, value];
      return [key, new File([value], fileName === undefined ? 'blob' : `${fileName}`, { type: value.type })];
    }
    append(name, value, fileName) {
      if (arguments.length < 2) throw new TypeError('append takes a name and a value');
      this.#list.push(this.#pair(name, value, fileName));
    }
    set(name, value, fileName) {
      if (arguments.length < 2) throw new TypeError('set takes a name and a value');
      const pair = this.#pair(name, value, fileName);
      const at = this.#list.findIndex((each) => each[0] === pair[0]);
      if (at === -1) { this.#list.push(pair); return; }
      this.#list[at] = pair;
      this.#list = this.#list.filter((each, index) => index <= at || each[0] !== pair[0]);
    }
    delete(name) { const key = `${name}`; this.#list = this.#list.filter((pair) => pair[0] !== key); }
    get(name) { const key = `${name}`; return this.#list.find((pair) => pair[0] === key)?.[1] ?? null; }
    getAll(name) { const key = `${name}`; return this.#list.filter((pair) => pair[0] === key).map((pair) => pair[1]); }
    has(name) { const key = `${name}`; return this.#list.some((pair) => pair[0] === key); }
    forEach(callback, self) { for (const [key, value] of this.#list) callback.call(self, value, key, this); }
    *entries() { for (const [key, value] of this.#list) yield [key, value]; }
    *keys() { for (const [key] of this.#list) yield key; }
    *values() { for (const [, value] of this.#list) yield value; }
    [iterator]() { return this.entries(); }
    get [Symbol.toStringTag]() { return 'FormData'; }
  }

  const escaped = (text) => text.replace(/\r\n|\r|\n/g, '%0D%0A').replace(/"/g, '%22');
  const lines = (text) => text.replace(/\r\n|\r|\n/g, '\r\n');
  function join(pieces) {
    const bytes = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
    let at = 0;
    for (const piece of pieces) { bytes.set(piece, at); at += piece.length; }
    return bytes;
  }
  // The boundary is a hash of the content: the same in every run, and in no content that was not made for it.
  function encode(form) {
    const parts = [];
    for (const [key, value] of listOf(form)) {
      const head = `Content-Disposition: form-data; name="${escaped(lines(key))}"`;
      if (typeof value === 'string') parts.push([native.encodeUtf8(`${head}\r\n\r\n`), native.encodeUtf8(lines(value))]);
      else parts.push([native.encodeUtf8(`${head}; filename="${escaped(value.name)}"\r\nContent-Type: ${value.type || 'application/octet-stream'}\r\n\r\n`), kit.blobBytes(value)]);
    }
    const boundary = `----formdata-cove-${native.digest('SHA-256', join(parts.flat())).toHex().slice(0, 24)}`;
    const pieces = [];
    for (const [head, content] of parts) pieces.push(native.encodeUtf8(`--${boundary}\r\n`), head, content, native.encodeUtf8('\r\n'));
    pieces.push(native.encodeUtf8(`--${boundary}--\r\n`));
    return [join(pieces), `multipart/form-data; boundary=${boundary}`];
  }

  // Where `wanted` stands in `bytes`, from `from` on; -1 for nowhere.
  function find(bytes, wanted, from) {
    for (let at = bytes.indexOf(wanted[0], from); at !== -1 && at + wanted.length <= bytes.length; at = bytes.indexOf(wanted[0], at + 1)) {
      let same = 1;
      while (same < wanted.length && bytes[at + same] === wanted[same]) same++;
      if (same === wanted.length) return at;
    }
    return -1;
  }
  const text = (bytes) => native.decodeText('utf-8', bytes.slice(), false, true);
  const broken = () => new TypeError('the body is no multipart/form-data of its boundary');
  function decodeParts(bytes, boundary) {
    const form = new FormData();
    const mark = native.encodeUtf8(`--${boundary}`);
    const between = native.encodeUtf8(`\r\n--${boundary}`);
    const blank = native.encodeUtf8('\r\n\r\n');
    let at = find(bytes, mark, 0);
    if (at !== 0) throw broken();
    at += mark.length;
    while (bytes[at] !== 45 || bytes[at + 1] !== 45) {
      if (bytes[at] !== 13 || bytes[at + 1] !== 10) throw broken();
      const content = find(bytes, blank, at);
      const end = content === -1 ? -1 : find(bytes, between, content + 2);
      if (end === -1) throw broken();
      const headers = text(bytes.subarray(at + 2, content));
      const said = /^content-disposition:[ \t]*form-data;(.*)$/im.exec(headers)?.[1];
      const name = said === undefined ? undefined : /(?:^|;)[ \t]*name="([^"]*)"/i.exec(said)?.[1];
      if (name === undefined) throw broken();
      const file = /(?:^|;)[ \t]*filename="([^"]*)"/i.exec(said)?.[1];
      const value = bytes.subarray(content + 4, end);
      const plain = (escapedText) => escapedText.replace(/%0D%0A/gi, '\r\n').replace(/%22/g, '"');
      if (file === undefined) form.append(plain(name), text(value));
      else form.append(plain(name), new File([value], plain(file), { type: /^content-type:[ \t]*(.*?)[ \t]*$/im.exec(headers)?.[1] ?? 'text/plain' }));
      at = end + between.length;
    }
    return form;
  }
  function decode(bytes, type) {
    const [kind] = type.split(';');
    if (/^\s*application\/x-www-form-urlencoded\s*$/i.test(kind)) {
      const form = new FormData();
      for (const [key, value] of new URLSearchParams(text(bytes))) form.append(key, value);
      return form;
    }
    const boundary = /;\s*boundary=(?:"([^"]*)"|([^;\s]*))/i.exec(type);
    if (!/^\s*multipart\/form-data\s*$/i.test(kind) || boundary === null) throw new TypeError(`a body of type ${JSON.stringify(type)} is no form`);
    return decodeParts(bytes, boundary[1] ?? boundary[2]);
  }

  return { names: { FormData }, inner: { isForm: (value) => listOf(value) !== undefined, encode, decode } };
})
