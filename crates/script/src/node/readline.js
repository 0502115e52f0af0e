// readline: the lines of a stream. There is no terminal to ask.
(need) => {
  const { EventEmitter } = need('events');
  const nobody = () => { throw new Error('readline has nobody to ask here: pass the answers as input.'); };
  class Interface extends EventEmitter {
    #input; #started = false; #closed = false; #waiting;
    constructor({ input } = {}) {
      super();
      if (typeof input?.[Symbol.asyncIterator] !== 'function') nobody();
      this.#input = input;
      queueMicrotask(() => { if (this.listenerCount('line') > 0) this.#start(); });
    }
    async *#lines() {
      let rest = '';
      const decoder = new TextDecoder();
      for await (const chunk of this.#input) {
        const lines = (rest + (typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true }))).split(/\r?\n/);
        rest = lines.pop();
        for (const line of lines) { if (this.#closed) return; yield line; }
      }
      if (rest !== '') yield rest;
    }
    async #start() {
      if (this.#started) return;
      this.#started = true;
      try { for await (const line of this.#lines()) { if (this.#closed) break; this.emit('line', line); } } catch (error) { this.emit('error', error); }
      this.close();
    }
    on(name, listener) { super.on(name, listener); if (name === 'line') queueMicrotask(() => this.#start()); return this; }
    async *[Symbol.asyncIterator]() { this.#started = true; yield* this.#lines(); this.close(); }
    close() { if (!this.#closed) { this.#closed = true; this.emit('close'); } }
    setPrompt() {}
    prompt() {}
    pause() { return this; }
    resume() { return this; }
    question() { nobody(); }
  }
  const createInterface = (options, output) => new Interface(options?.input === undefined && options?.on ? { input: options, output } : options);
  return { createInterface, Interface, promises: { createInterface, Interface } };
}
