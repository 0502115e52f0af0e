// Blob and File: bytes that do not change.
(function (native, kit) {
  'use strict';
  const { TypeError, Symbol, Uint8Array, ArrayBuffer, String, Math, Number } = globalThis;
  const isView = ArrayBuffer.isView;
  let bytesOf;

  class Blob {
    #bytes;
    #type;
    static { bytesOf = (blob) => blob.#bytes; kit.isBlob = (value) => value !== null && typeof value === 'object' && #bytes in value; kit.blobBytes = (blob) => blob.#bytes; }
    constructor(parts = [], options = {}) {
      if (parts === null || typeof parts !== 'object' || parts[Symbol.iterator] === undefined) throw new TypeError('a Blob is made of a list of parts');
      const pieces = [];
      let length = 0;
      for (const part of parts) {
        const piece = kit.isBlob(part) ? bytesOf(part)
          : part !== null && typeof part === 'object' && (isView(part) || native.brand(part) === 'ArrayBuffer') ? kit.bytesFrom(part, 'Blob')
          : native.encodeUtf8(`${part}`);
        pieces.push(piece);
        length += piece.length;
      }
      const bytes = new Uint8Array(length);
      let at = 0;
      for (const piece of pieces) { bytes.set(piece, at); at += piece.length; }
      this.#bytes = bytes;
      const type = options?.type === undefined ? '' : `${options.type}`;
      this.#type = /^[\x20-\x7e]*$/.test(type) ? type.toLowerCase() : '';
    }
    get size() { return this.#bytes.length; }
    get type() { return this.#type; }
    async text() { return native.decodeText('utf-8', this.#bytes, false, false); }
    async arrayBuffer() { return this.#bytes.slice().buffer; }
    async bytes() { return this.#bytes.slice(); }
    stream() { return kit.late('readable.js').fromBytes(this.#bytes).face; }
    slice(from = 0, to = this.size, type = '') { return new Blob([this.#bytes.slice(from, to)], { type }); }
    get [Symbol.toStringTag]() { return 'Blob'; }
  }

  class File extends Blob {
    #name;
    #lastModified;
    constructor(parts, name, options = {}) {
      super(parts, options);
      this.#name = `${name}`;
      this.#lastModified = options?.lastModified === undefined ? 0 : Number(options.lastModified);
    }
    get name() { return this.#name; }
    get lastModified() { return this.#lastModified; }
    get [Symbol.toStringTag]() { return 'File'; }
  }
  native.define('Blob', Blob);
  native.define('File', File);
})
