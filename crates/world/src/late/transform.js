// TransformStream, and the two that turn text into bytes and back.
(function (native, kit, world) {
  'use strict';
  const { Promise, TypeError, RangeError, Symbol, TextDecoder } = world;
  const { nothing, quiet, deferred, settled, needObject, callback, markOf, sizeOf, one } = kit.late('queue.js');
  const readable = kit.late('readable.js');
  const writable = kit.late('writable.js');
  let plan;

  const forget = (control) => { control.transform = nothing; control.flush = nothing; control.cancel = nothing; };
  function setPressure(both, pressure) {
    both.changed.resolve();
    both.changed = deferred();
    both.pressure = pressure;
  }
  const unblock = (both) => { if (both.pressure) setPressure(both, false); };
  function failSink(both, error) {
    forget(both.control);
    writable.errorIfNeeded(both.sink.control, error);
    unblock(both);
  }
  function fail(both, error) {
    readable.fail(both.source.control, error);
    failSink(both, error);
  }
  function enqueue(both, chunk) {
    const { control } = both.source;
    if (!readable.canEnqueue(control)) throw new TypeError('the readable side is closed: nothing can be enqueued any more');
    try {
      readable.enqueue(control, chunk);
    } catch (error) {
      kit.rethrow(error);
      failSink(both, error);
      throw both.source.error;
    }
    const pressure = !readable.wantsMore(control);
    if (pressure !== both.pressure) setPressure(both, true);
  }
  const perform = (both, chunk) => settled(() => both.control.transform(chunk, both.control.face)).then(undefined, (error) => {
    fail(both, error);
    throw error;
  });

  // The end of either side, once: both sides wait for the same callback.
  function end(both, run, ended, failed) {
    const { control } = both;
    if (control.ending !== undefined) return control.ending.promise;
    const ending = deferred();
    control.ending = ending;
    quiet(ending.promise);
    const done = settled(run);
    forget(control);
    done.then(() => ended(ending), (error) => { failed(error); ending.reject(error); });
    return ending.promise;
  }
  function sides(both, marks) {
    const start = () => both.started.promise;
    both.sink = writable.make({
      start,
      mark: marks.writableMark,
      size: marks.writableSize,
      write(chunk) {
        if (!both.pressure) return perform(both, chunk);
        return both.changed.promise.then(() => {
          if (both.sink.status === 'erroring') throw both.sink.error;
          return perform(both, chunk);
        });
      },
      abort: (reason) => end(both, () => both.control.cancel(reason), (ending) => {
        if (both.source.status === 'errored') { ending.reject(both.source.error); return; }
        readable.fail(both.source.control, reason);
        ending.resolve();
      }, (error) => readable.fail(both.source.control, error)),
      close: () => end(both, () => both.control.flush(both.control.face), (ending) => {
        if (both.source.status === 'errored') { ending.reject(both.source.error); return; }
        readable.close(both.source.control);
        ending.resolve();
      }, (error) => readable.fail(both.source.control, error)),
    });
    both.source = readable.make({
      start,
      mark: marks.readableMark,
      size: marks.readableSize,
      pull() { setPressure(both, false); return both.changed.promise; },
      cancel: (reason) => end(both, () => both.control.cancel(reason), (ending) => {
        if (both.sink.status === 'errored') { ending.reject(both.sink.error); return; }
        writable.errorIfNeeded(both.sink.control, reason);
        unblock(both);
        ending.resolve();
      }, (error) => { writable.errorIfNeeded(both.sink.control, error); unblock(both); }),
    });
  }

  class TransformStream {
    #both;
    constructor(transformer, writableStrategy, readableStrategy) {
      const from = needObject(transformer, 'a transformer');
      const wide = needObject(writableStrategy, 'a strategy');
      const deep = needObject(readableStrategy, 'a strategy');
      if (from.readableType !== undefined || from.writableType !== undefined) throw new RangeError('a TransformStream has no types');
      const both = { source: undefined, sink: undefined, pressure: undefined, changed: deferred(), started: deferred(), control: undefined };
      sides(both, { readableMark: markOf(deep, 0), readableSize: sizeOf(deep), writableMark: markOf(wide, 1), writableSize: sizeOf(wide) });
      setPressure(both, true);
      plan = both;
      const face = new TransformStreamDefaultController();
      both.control = {
        face,
        ending: undefined,
        transform: callback(from, 'transform') ?? ((chunk) => enqueue(both, chunk)),
        flush: callback(from, 'flush') ?? nothing,
        cancel: callback(from, 'cancel') ?? nothing,
      };
      this.#both = both;
      both.started.resolve(callback(from, 'start')?.(face));
    }
    get readable() { return this.#both.source.face; }
    get writable() { return this.#both.sink.face; }
    get [Symbol.toStringTag]() { return 'TransformStream'; }
  }

  class TransformStreamDefaultController {
    #both;
    constructor() {
      if (plan === undefined) throw new TypeError('a controller comes with its stream');
      this.#both = plan;
      plan = undefined;
    }
    get desiredSize() {
      const { status, control } = this.#both.source;
      return status === 'errored' ? null : status === 'closed' ? 0 : control.mark - control.queue.total;
    }
    enqueue(chunk) { enqueue(this.#both, chunk); }
    error(reason) { fail(this.#both, reason); }
    terminate() {
      readable.close(this.#both.source.control);
      failSink(this.#both, new TypeError('the transformation was terminated'));
    }
    get [Symbol.toStringTag]() { return 'TransformStreamDefaultController'; }
  }

  class TextEncoderStream {
    #pair;
    constructor() {
      // Half of a character at the end of a chunk waits for its other half.
      let high = '';
      this.#pair = new TransformStream({
        transform(chunk, control) {
          let text = high + `${chunk}`;
          high = '';
          const last = text.charCodeAt(text.length - 1);
          if (last >= 0xd800 && last <= 0xdbff) { high = text.slice(-1); text = text.slice(0, -1); }
          if (text !== '') control.enqueue(native.encodeUtf8(text));
        },
        flush(control) { if (high !== '') control.enqueue(native.encodeUtf8('\ufffd')); },
      });
    }
    get encoding() { void this.#pair; return 'utf-8'; }
    get readable() { return this.#pair.readable; }
    get writable() { return this.#pair.writable; }
    get [Symbol.toStringTag]() { return 'TextEncoderStream'; }
  }
  class TextDecoderStream {
    #pair; #decoder;
    constructor(label = 'utf-8', options = {}) {
      const decoder = new TextDecoder(label, options);
      this.#decoder = decoder;
      this.#pair = new TransformStream({
        transform(chunk, control) {
          const text = decoder.decode(chunk, { stream: true });
          if (text !== '') control.enqueue(text);
        },
        flush(control) {
          const text = decoder.decode();
          if (text !== '') control.enqueue(text);
        },
      });
    }
    get encoding() { return this.#decoder.encoding; }
    get fatal() { return this.#decoder.fatal; }
    get ignoreBOM() { return this.#decoder.ignoreBOM; }
    get readable() { return this.#pair.readable; }
    get writable() { return this.#pair.writable; }
    get [Symbol.toStringTag]() { return 'TextDecoderStream'; }
  }

  return {
    names: { TransformStream, TransformStreamDefaultController, TextEncoderStream, TextDecoderStream },
    inner: { TransformStream },
  };
})
