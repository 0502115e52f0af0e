// stream: Readable, Writable, Transform and what joins them, for streams whose data is small enough to wait for.
(need) => {
  const { EventEmitter } = need('events');
  const bytes = (chunk, encoding) => typeof chunk === 'string' ? need('buffer').Buffer.from(chunk, encoding) : chunk;
  const early = () => Object.assign(new Error('Premature close'), { code: 'ERR_STREAM_PREMATURE_CLOSE' });
  const reading = (Base) => class extends Base {
    #queue = []; #ended = false; #wake = () => {}; #flowing = false; #busy = false; #paused = false; #read = false; #decoder; #objects;
    constructor(options = {}) {
      super(options);
      this.readable = true;
      this.destroyed = false;
      this.readableEnded = false;
      this.#objects = options.objectMode === true || options.readableObjectMode === true;
      if (typeof options.read === 'function') this._read = options.read;
      if (options.encoding) this.setEncoding(options.encoding);
    }
    get readableObjectMode() { return this.#objects; }
    _read() {}
    push(chunk, encoding) {
      this.#busy = false;
      if (chunk === null) this.#ended = true;
      else if (this.#objects) this.#queue.push(chunk);
      else if (this.#decoder) { const text = this.#decoder.write(bytes(chunk, encoding)); if (text !== '') this.#queue.push(text); }
      else this.#queue.push(bytes(chunk, encoding));
      this.#wake();
      return this.#queue.length < 16;
    }
    setEncoding(encoding) {
      const { StringDecoder } = need('string_decoder');
      this.#decoder = /^utf-?8$/i.test(encoding) ? new StringDecoder() : { write: (chunk) => chunk.toString(encoding) };
      this.#queue = this.#queue.map((chunk) => this.#decoder.write(chunk));
      return this;
    }
    read() { return this.#queue.shift() ?? null; }
    [Symbol.asyncIterator]() { this.#read = true; return this.#chunks(); }
    async *#chunks() {
      try {
        for (;;) {
          if (this.#queue.length > 0) { yield this.#queue.shift(); continue; }
          if (this.failure !== undefined) throw this.failure;
          if (this.#ended) break;
          if (this.destroyed) throw early();
          const more = new Promise((done) => { this.#wake = done; });
          if (!this.#busy) { this.#busy = true; this._read(16384); }
          if (this.#queue.length === 0 && !this.#ended && !this.destroyed) await more;
        }
        this.readableEnded = true;
      } finally { if (!this.#ended) this.destroy(); }
    }
    async #flow() {
      try {
        for await (const chunk of this.#chunks()) {
          while (this.#paused) await new Promise((done) => { this.#wake = done; });
          this.emit('data', chunk);
        }
        this.emit('end');
        this.emit('close');
      } catch (error) { if (error !== this.failure && error.code !== 'ERR_STREAM_PREMATURE_CLOSE') this.destroy(error); }
    }
    resume() {
      this.#paused = false;
      this.#wake();
      if (!this.#flowing) { this.#flowing = true; queueMicrotask(() => this.#flow()); }
      return this;
    }
    pause() { this.#paused = true; return this; }
    isPaused() { return this.#paused; }
    on(name, listener) { super.on(name, listener); if (name === 'data') this.resume(); return this; }
    addListener(name, listener) { return this.on(name, listener); }
    pipe(to) {
      const run = async () => { for await (const chunk of this.#chunks()) if (to.write(chunk) === false) await need('events').once(to, 'drain'); to.end(); };
      run().catch((error) => { if (error !== this.failure) to.destroy?.(error); });
      return to;
    }
    destroy(error) {
      if (this.destroyed) return this;
      this.destroyed = true;
      this.failure ??= error;
      this.#wake();
      queueMicrotask(() => { if (error && (!this.#read || this.listenerCount('error') > 0)) this.emit('error', error); this.emit('close'); });
      return this;
    }
    async toArray() { const list = []; for await (const chunk of this) list.push(chunk); return list; }
  };
  const writing = (Base) => class extends Base {
    #jobs = []; #running = false; #ending = false; #objects;
    constructor(options = {}) {
      super(options);
      this.writable = true;
      this.writableFinished = false;
      this.#objects = options.objectMode === true || options.writableObjectMode === true;
      for (const [name, own] of [['write', '_write'], ['final', '_final'], ['transform', '_transform'], ['flush', '_flush']]) if (typeof options[name] === 'function') this[own] = options[name];
    }
    get writableEnded() { return this.#ending; }
    write(chunk, encoding, done) {
      if (typeof encoding === 'function') [encoding, done] = [undefined, encoding];
      if (this.#ending) { const late = Object.assign(new Error('write after end'), { code: 'ERR_STREAM_WRITE_AFTER_END' }); this.destroy(late); return false; }
      this.#jobs.push([this.#objects ? chunk : bytes(chunk, encoding), encoding ?? 'buffer', done]);
      this.#run();
      const room = this.#jobs.length < 16;
      if (!room) this.full = true;
      return room;
    }
    async #run() {
      if (this.#running) return;
      this.#running = true;
      try {
        for (let job; (job = this.#jobs.shift()) !== undefined && !this.destroyed;) {
          await new Promise((done, fail) => { this._write(job[0], job[1], (error) => (error ? fail(error) : done())); });
          job[2]?.(null);
          if (this.full && this.#jobs.length === 0) { this.full = false; this.emit('drain'); }
        }
        this.#running = false;
        if (this.#ending && !this.writableFinished && !this.destroyed) {
          this.#running = true;
          if (typeof this._final === 'function') await new Promise((done, fail) => { this._final((error) => (error ? fail(error) : done())); });
          this.writableFinished = true;
          this.emit('finish');
          if (!this.readable) this.emit('close');
        }
      } catch (error) { this.destroy(error); }
    }
    end(chunk, encoding, done) {
      const given = [chunk, encoding, done].find((value) => typeof value === 'function');
      if (given) this.once('finish', given);
      if (chunk !== undefined && chunk !== null && typeof chunk !== 'function') this.write(chunk, typeof encoding === 'string' ? encoding : undefined);
      this.#ending = true;
      queueMicrotask(() => this.#run());
      return this;
    }
    destroy(error) {
      if (super.destroy) return super.destroy(error);
      if (this.destroyed) return this;
      this.destroyed = true;
      this.failure = error;
      queueMicrotask(() => { if (error) this.emit('error', error); this.emit('close'); });
      return this;
    }
    cork() {}
    uncork() {}
  };
  class Readable extends reading(EventEmitter) {
    static from(source, options) {
      const iterator = typeof source === 'string' || source instanceof Uint8Array ? [source][Symbol.iterator]() : (source[Symbol.asyncIterator] ?? source[Symbol.iterator]).call(source);
      return new Readable({
        objectMode: true, ...options,
        read() { Promise.resolve(iterator.next()).then(async ({ value, done }) => { this.push(done ? null : await value); }).catch((error) => { this.destroy(error); }); },
      });
    }
  }
  class Writable extends writing(EventEmitter) {}
  class Duplex extends writing(reading(EventEmitter)) {}
  class Transform extends Duplex {
    _write(chunk, encoding, done) { this._transform(chunk, encoding, (error, value) => { if (!error && value !== undefined && value !== null) this.push(value); done(error); }); }
    _final(done) {
      const end = (error, value) => { if (!error) { if (value !== undefined && value !== null) this.push(value); this.push(null); } done(error); };
      if (typeof this._flush === 'function') this._flush(end); else end();
    }
  }
  class PassThrough extends Transform { _transform(chunk, encoding, done) { done(null, chunk); } }
  const finished = (stream) => new Promise((done, fail) => {
    if (stream.failure) { fail(stream.failure); return; }
    if (stream.writable ? stream.writableFinished : stream.readableEnded) { done(); return; }
    stream.once('error', fail);
    stream.once(stream.writable ? 'finish' : 'end', done);
  });
  const joined = async (...parts) => {
    if (Array.isArray(parts[0])) parts = parts[0];
    let from = parts[0];
    const failed = [];
    const watch = (stream) => { if (stream?.once) failed.push(new Promise((_, fail) => { stream.once('error', fail); })); };
    if (typeof from === 'function') from = from();
    watch(from);
    for (const part of parts.slice(1, -1)) {
      if (typeof part === 'function') { from = part(from); continue; }
      watch(part);
      (from.pipe ? from : Readable.from(from)).pipe(part);
      from = part;
    }
    const last = parts.at(-1);
    if (typeof last === 'function') return Promise.race([last(from), ...failed]);
    watch(last);
    const done = finished(last);
    done.catch(() => {});
    (from.pipe ? from : Readable.from(from)).pipe(last);
    for (const one of failed) one.catch(() => {});
    try { await Promise.race([done, ...failed]); } catch (error) { for (const part of parts) part.destroy?.(); throw error; }
    return undefined;
  };
  const pipeline = (...parts) => {
    const done = typeof parts.at(-1) === 'function' && parts.length > 1 ? parts.pop() : () => {};
    joined(...parts).then((value) => done(undefined, value), (error) => done(error));
    return parts.at(-1);
  };
  const Stream = Object.assign(class Stream extends EventEmitter {}, { Readable, Writable, Duplex, Transform, PassThrough, pipeline, promises: { pipeline: joined, finished } });
  Stream.Stream = Stream;
  Stream.finished = (stream, done) => { finished(stream).then(() => done(), (error) => done(error)); };
  return Stream;
}
