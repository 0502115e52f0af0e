// CompressionStream and DecompressionStream over the host's codecs, which give their output in small pieces.
(function (native, kit, world, own) {
  'use strict';
  const { TypeError, Symbol } = world;
  const { TransformStream } = kit.late('transform.js');

  function pair(who, format, packs) {
    const codec = own.open(`${format}`, packs);
    if (codec === undefined) throw new TypeError(`${who} knows gzip, deflate and deflate-raw, not ${format}`);
    const drain = (control, last) => {
      for (let piece = own.pull(codec, last); piece !== undefined; piece = own.pull(codec, last)) control.enqueue(piece);
    };
    return new TransformStream({
      transform(chunk, control) {
        own.push(codec, kit.bytesFrom(chunk, who));
        drain(control, false);
      },
      flush(control) { drain(control, true); },
      cancel() { own.close(codec); },
    });
  }

  class CompressionStream {
    #pair;
    constructor(format) { this.#pair = pair('CompressionStream', format, true); }
    get readable() { return this.#pair.readable; }
    get writable() { return this.#pair.writable; }
    get [Symbol.toStringTag]() { return 'CompressionStream'; }
  }
  class DecompressionStream {
    #pair;
    constructor(format) { this.#pair = pair('DecompressionStream', format, false); }
    get readable() { return this.#pair.readable; }
    get writable() { return this.#pair.writable; }
    get [Symbol.toStringTag]() { return 'DecompressionStream'; }
  }

  return { names: { CompressionStream, DecompressionStream }, inner: {} };
})
