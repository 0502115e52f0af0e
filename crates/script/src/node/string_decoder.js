// string_decoder, for text in UTF-8 that comes in pieces.
() => ({
  StringDecoder: class StringDecoder {
    #decoder = new TextDecoder('utf-8', { ignoreBOM: true });
    write(bytes) { return typeof bytes === 'string' ? bytes : this.#decoder.decode(bytes, { stream: true }); }
    end(bytes) { return (bytes === undefined ? '' : this.write(bytes)) + this.#decoder.decode(); }
  },
})
