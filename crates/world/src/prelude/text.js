// TextEncoder and TextDecoder: the host's tables behind the web's classes.
(function (native, kit) {
  'use strict';
  const { TypeError, RangeError, String, Uint8Array, Math } = globalThis;

  class TextEncoder {
    get encoding() { return 'utf-8'; }
    encode(text = '') { return native.encodeUtf8(`${text}`); }
    encodeInto(text, target) {
      let read = 0;
      let written = 0;
      for (const char of `${text}`) {
        const bytes = native.encodeUtf8(char);
        if (written + bytes.length > target.length) break;
        target.set(bytes, written);
        written += bytes.length;
        read += char.length;
      }
      return { read, written };
    }
  }

  class TextDecoder {
    #encoding;
    #fatal;
    #ignoreBOM;
    #left = new Uint8Array(0);
    // Whether a stream has begun: a byte order mark in its midst is text.
    #begun = false;
    constructor(label = 'utf-8', options = {}) {
      const encoding = native.encodingName(`${label}`);
      if (encoding === undefined) throw new RangeError(`TextDecoder does not know the encoding "${label}"`);
      this.#encoding = encoding;
      this.#fatal = !!options?.fatal;
      this.#ignoreBOM = !!options?.ignoreBOM;
    }
    get encoding() { return this.#encoding; }
    get fatal() { return this.#fatal; }
    get ignoreBOM() { return this.#ignoreBOM; }
    decode(input, options) {
      let bytes = input === undefined ? new Uint8Array(0) : kit.bytesFrom(input, 'TextDecoder.decode');
      if (this.#left.length > 0) {
        const joined = new Uint8Array(this.#left.length + bytes.length);
        joined.set(this.#left);
        joined.set(bytes, this.#left.length);
        bytes = joined;
        this.#left = new Uint8Array(0);
      }
      if (options?.stream) {
        const keep = native.incompleteTail(this.#encoding, bytes.slice(Math.max(0, bytes.length - 4)));
        this.#left = bytes.slice(bytes.length - keep);
        bytes = bytes.slice(0, bytes.length - keep);
      }
      const text = native.decodeText(this.#encoding, bytes.slice(), this.#fatal, this.#ignoreBOM || this.#begun);
      this.#begun = !!options?.stream && (this.#begun || bytes.length > 0);
      if (text === undefined) throw new TypeError(`the bytes are not valid ${this.#encoding}`);
      return text;
    }
  }
  native.define('TextEncoder', TextEncoder);
  native.define('TextDecoder', TextDecoder);
})
