// Node's Buffer, as far as programs use it: a Uint8Array with encodings.
(need) => {
  const utf8 = new TextEncoder(), text = new TextDecoder();
  const latin = (bytes) => { let s = ''; for (let i = 0; i < bytes.length; i++) s += String.fromCharCode(bytes[i]); return s; };
  const unlatin = (s) => Uint8Array.from(s, (c) => c.charCodeAt(0) & 255);
  const kind = (encoding) => {
    const name = String(encoding ?? 'utf8').toLowerCase().replace('-', '');
    if (['utf8', 'hex', 'base64', 'base64url', 'latin1', 'binary', 'ascii'].includes(name)) return name;
    if (['utf16le', 'ucs2', 'utf-16le', 'ucs-2'].includes(name)) return 'utf16le';
    throw new TypeError('Unknown encoding: ' + encoding + ' (here: utf8, utf16le, hex, base64, base64url, latin1, ascii)');
  };
  const encode = (s, encoding) => {
    switch (kind(encoding)) {
      case 'utf8': return utf8.encode(s);
      case 'utf16le': { const made = new DataView(new ArrayBuffer(s.length * 2)); for (let i = 0; i < s.length; i++) made.setUint16(i * 2, s.charCodeAt(i), true); return new Uint8Array(made.buffer); }
      case 'hex': return Uint8Array.from(s.match(/[0-9a-f]{2}/gi) ?? [], (pair) => parseInt(pair, 16));
      case 'base64': case 'base64url': return unlatin(atob(s.replace(/-/g, '+').replace(/_/g, '/').replace(/[^A-Za-z0-9+/]/g, '')));
      default: return unlatin(s);
    }
  };
  const decode = (bytes, encoding) => {
    switch (kind(encoding)) {
      case 'utf8': return text.decode(bytes);
      case 'utf16le': { let s = ''; for (let i = 0; i + 1 < bytes.length; i += 2) s += String.fromCharCode(bytes[i] | (bytes[i + 1] << 8)); return s; }
      case 'hex': return Array.from(bytes, (b) => b.toString(16).padStart(2, '0')).join('');
      case 'base64': return btoa(latin(bytes));
      case 'base64url': return btoa(latin(bytes)).replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '');
      case 'ascii': return latin(bytes.map((b) => b & 127));
      default: return latin(bytes);
    }
  };
  const own = (bytes) => new Buffer(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  class Buffer extends Uint8Array {
    static from(value, encoding, length) {
      if (typeof value === 'string') return own(encode(value, encoding));
      if (value instanceof ArrayBuffer) return new Buffer(value, encoding, length);
      if (value && value.type === 'Buffer' && Array.isArray(value.data)) return own(Uint8Array.from(value.data));
      return own(Uint8Array.from(value));
    }
    static alloc(size, fill, encoding) { const made = new Buffer(size); return fill === undefined ? made : made.fill(fill, 0, size, encoding); }
    static allocUnsafe(size) { return new Buffer(size); }
    static isBuffer(value) { return value instanceof Buffer; }
    static isEncoding(name) { try { kind(name); return true; } catch { return false; } }
    static byteLength(value, encoding) { return typeof value === 'string' ? encode(value, encoding).length : value.byteLength; }
    static compare(a, b) { return own(a).compare(b); }
    static concat(list, total) {
      const made = new Buffer(total ?? list.reduce((sum, part) => sum + part.length, 0));
      let at = 0;
      for (const part of list) { const room = made.length - at; made.set(part.length > room ? part.subarray(0, room) : part, at); at += Math.min(part.length, room); }
      return made;
    }
    toString(encoding, start = 0, end = this.length) { return decode(new Uint8Array(this.buffer, this.byteOffset, this.byteLength).subarray(start, end), encoding); }
    toJSON() { return { type: 'Buffer', data: Array.from(this) }; }
    equals(other) { return this.compare(other) === 0; }
    compare(other) {
      for (let i = 0; i < this.length && i < other.length; i++) if (this[i] !== other[i]) return this[i] < other[i] ? -1 : 1;
      return Math.sign(this.length - other.length);
    }
    subarray(start, end) { return own(new Uint8Array(this.buffer, this.byteOffset, this.byteLength).subarray(start, end)); }
    slice(start, end) { return this.subarray(start, end); }
    copy(target, at = 0, start = 0, end = this.length) {
      const part = this.subarray(start, Math.min(end, start + target.length - at));
      target.set(part, at);
      return part.length;
    }
    write(string, offset = 0, length, encoding = 'utf8') {
      const bytes = encode(string, typeof length === 'string' ? length : encoding).subarray(0, this.length - offset);
      this.set(bytes, offset);
      return bytes.length;
    }
    fill(value, start = 0, end = this.length, encoding) {
      if (typeof value !== 'string') return super.fill(value, start, end);
      const bytes = encode(value, encoding);
      for (let i = start; i < end; i++) this[i] = bytes.length === 0 ? 0 : bytes[(i - start) % bytes.length];
      return this;
    }
    indexOf(value, from) { return typeof value === 'number' ? super.indexOf(value, from) : this.toString('latin1').indexOf(latin(typeof value === 'string' ? utf8.encode(value) : value), from); }
    lastIndexOf(value, from) { return typeof value === 'number' ? super.lastIndexOf(value, from ?? this.length) : this.toString('latin1').lastIndexOf(latin(typeof value === 'string' ? utf8.encode(value) : value), from); }
    readUIntBE(at, size) { let n = 0; for (let i = 0; i < size; i++) n = n * 256 + this[at + i]; return n; }
    readUIntLE(at, size) { let n = 0; for (let i = size; i-- > 0;) n = n * 256 + this[at + i]; return n; }
    includes(value, from) { return this.indexOf(value, from) !== -1; }
  }
  const sizes = { Int8: 1, UInt8: 1, Int16: 2, UInt16: 2, Int32: 4, UInt32: 4, BigInt64: 8, BigUInt64: 8, Float: 4, Double: 8 };
  const methods = { Float: 'Float32', Double: 'Float64' };
  for (const [name, size] of Object.entries(sizes)) for (const order of size === 1 ? [''] : ['LE', 'BE']) {
    const method = methods[name] ?? name.replace('UInt', 'Uint');
    const view = (buffer) => new DataView(buffer.buffer, buffer.byteOffset, buffer.byteLength);
    const read = function (offset = 0) { return view(this)['get' + method](offset, order === 'LE'); };
    const write = function (value, offset = 0) { view(this)['set' + method](offset, value, order === 'LE'); return offset + size; };
    for (const spelt of [name, name.replace('UInt', 'Uint')]) {
      Object.defineProperty(Buffer.prototype, 'read' + spelt + order, { value: read, writable: true, configurable: true });
      Object.defineProperty(Buffer.prototype, 'write' + spelt + order, { value: write, writable: true, configurable: true });
    }
  }
  return { Buffer, Blob: globalThis.Blob, atob: globalThis.atob, btoa: globalThis.btoa };
}
