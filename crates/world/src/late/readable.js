// ReadableStream with its default reader and controller, as the Streams Standard says. What only byte streams do is in bytes.js:
// `control.bytes` are its functions.
// The classes are thin: what a stream is stands in a record behind a private field, and the functions work on records.
(function (native, kit, world) {
  'use strict';
  const { Promise, TypeError, RangeError, Symbol, Object, Number } = world;
  const { nothing, quiet, deferred, rejectQuietly, settled, Fifo, isObject, needObject, callback, markOf, sizeOf, one } = kit.late('queue.js');
  // The record for the next stream or controller that is made from inside; `undefined`: a guest makes it.
  let plan;
  let streamOf, readerOf, isReadable;

  const canEnqueue = (control) => !control.closing && control.stream.status === 'readable';
  const desired = (control) => {
    const { status } = control.stream;
    return status === 'errored' ? null : status === 'closed' ? 0 : control.mark - control.queue.total;
  };
  const wantsMore = (control) => canEnqueue(control) && control.started
    && (control.stream.reader !== undefined && control.stream.reader.requests.length > 0 || desired(control) > 0);
  const forget = (control) => { control.pull = nothing; control.cancel = nothing; control.size = one; };

  function pullIfWanted(control) {
    if (!wantsMore(control)) return;
    if (control.pulling) { control.again = true; return; }
    control.pulling = true;
    settled(() => control.pull(control.face)).then(() => {
      control.pulling = false;
      if (control.again) { control.again = false; pullIfWanted(control); }
    }, (error) => fail(control, error));
  }
  function closeStream(stream) {
    stream.status = 'closed';
    const { reader } = stream;
    if (reader === undefined) return;
    reader.closed.resolve();
    // A buffer that waits to be filled is given back by the source's answer.
    if (!reader.byob) for (const request of reader.requests.splice(0)) request.close();
  }
  function fail(control, error) {
    const { stream } = control;
    if (stream.status !== 'readable') return;
    control.bytes?.clear(control);
    control.queue.clear();
    forget(control);
    stream.status = 'errored';
    stream.error = error;
    const { reader } = stream;
    if (reader === undefined) return;
    rejectQuietly(reader.closed, error);
    for (const request of reader.requests.splice(0)) request.error(error);
  }
  function enqueue(control, chunk) {
    if (control.bytes !== undefined) { control.bytes.enqueue(control, chunk); return; }
    if (!canEnqueue(control)) return;
    const { reader } = control.stream;
    if (reader !== undefined && reader.requests.length > 0) reader.requests.shift().chunk(chunk);
    else {
      try {
        control.queue.push(chunk, control.size(chunk));
      } catch (error) {
        kit.rethrow(error);
        fail(control, error);
        throw error;
      }
    }
    pullIfWanted(control);
  }
  function close(control) {
    if (control.bytes !== undefined) { control.bytes.close(control); return; }
    if (!canEnqueue(control)) return;
    control.closing = true;
    if (control.queue.isEmpty) { forget(control); closeStream(control.stream); }
  }
  function cancel(stream, reason) {
    stream.disturbed = true;
    if (stream.status === 'closed') return Promise.resolve();
    if (stream.status === 'errored') return Promise.reject(stream.error);
    closeStream(stream);
    const { control, reader } = stream;
    if (reader?.byob) for (const request of reader.requests.splice(0)) request.close(undefined);
    control.bytes?.clear(control);
    control.queue.clear();
    const done = settled(() => control.cancel(reason));
    forget(control);
    return done.then(nothing);
  }
  // `request` has a function for each of what can happen: chunk, close, error.
  function read(reader, request) {
    const { stream } = reader;
    stream.disturbed = true;
    if (stream.status === 'closed') { request.close(); return; }
    if (stream.status === 'errored') { request.error(stream.error); return; }
    const { control } = stream;
    if (control.bytes !== undefined) { control.bytes.read(control, reader, request); return; }
    if (control.queue.isEmpty) {
      reader.requests.push(request);
      pullIfWanted(control);
      return;
    }
    const chunk = control.queue.shift();
    if (control.closing && control.queue.isEmpty) { forget(control); closeStream(stream); } else pullIfWanted(control);
    request.chunk(chunk);
  }
  function acquire(stream, byob = false) {
    if (stream.reader !== undefined) throw new TypeError('the stream is locked to a reader already');
    if (byob && stream.control.bytes === undefined) throw new TypeError("only a byte stream (type: 'bytes') has a reader that fills buffers");
    const reader = { stream, closed: deferred(), requests: [], byob };
    stream.reader = reader;
    if (stream.status === 'closed') reader.closed.resolve();
    else if (stream.status === 'errored') rejectQuietly(reader.closed, stream.error);
    return reader;
  }
  function release(reader) {
    const { stream } = reader;
    if (stream === undefined) return;
    const error = new TypeError('the reader was released');
    reader.closed = rejectQuietly(reader.closed, error);
    stream.control.bytes?.release(stream.control);
    stream.reader = undefined;
    reader.stream = undefined;
    for (const request of reader.requests.splice(0)) request.error(error);
  }
  const readOne = (reader) => new Promise((resolve, reject) => read(reader, {
    chunk: (value) => resolve({ value, done: false }),
    close: () => resolve({ value: undefined, done: true }),
    error: reject,
  }));

  // A stream from functions of our own. `start` may give a promise.
  function make({ start, pull = nothing, cancel: stop = nothing, mark = 1, size = one, bytes }) {
    plan = { start, pull, cancel: stop, mark, size, bytes };
    return streamOf(new ReadableStream());
  }
  function begin(face, { start, pull, cancel: stop, mark, size, bytes, chunkSize }) {
    const stream = { face, status: 'readable', reader: undefined, error: undefined, disturbed: false, control: undefined };
    const control = { stream, queue: new Fifo(), started: false, closing: false, pulling: false, again: false, mark, size, pull, cancel: stop, bytes, chunkSize, face: undefined };
    stream.control = control;
    if (bytes !== undefined) control.face = bytes.face(control);
    else {
      plan = control;
      control.face = new ReadableStreamDefaultController();
    }
    return [stream, () => {
      const started = start === undefined ? undefined : start(control.face);
      Promise.resolve(started).then(() => { control.started = true; pullIfWanted(control); }, (error) => fail(control, error));
    }];
  }

  function tee(stream) {
    const reader = acquire(stream);
    const { bytes } = stream.control;
    const cancelled = deferred();
    const branches = [];
    const gone = [false, false];
    const reasons = [undefined, undefined];
    let reading = false;
    let again = false;
    const pull = () => {
      if (reading) { again = true; return; }
      reading = true;
      read(reader, {
        chunk(value) {
          Promise.resolve().then(() => {
            again = false;
            // A byte stream takes the buffer over: each branch has its own.
            const other = bytes === undefined || gone[0] || gone[1] ? value : value.slice();
            for (const at of [0, 1]) if (!gone[at]) enqueue(branches[at].control, at === 0 ? value : other);
            reading = false;
            if (again) pull();
          });
        },
        close() {
          reading = false;
          for (const at of [0, 1]) if (!gone[at]) close(branches[at].control);
          for (const { control } of branches) bytes?.finish(control);
          if (!gone[0] || !gone[1]) cancelled.resolve();
        },
        error() { reading = false; },
      });
    };
    for (const at of [0, 1]) {
      branches.push(make({
        bytes,
        mark: bytes === undefined ? 1 : 0,
        pull,
        cancel(reason) {
          gone[at] = true;
          reasons[at] = reason;
          if (gone[1 - at]) cancelled.resolve(cancel(stream, reasons));
          return cancelled.promise;
        },
      }));
    }
    reader.closed.promise.then(nothing, (error) => {
      for (const branch of branches) fail(branch.control, error);
      if (!gone[0] || !gone[1]) cancelled.resolve();
    });
    return branches;
  }

  // What `ReadableStream.from` makes of anything that can be iterated.
  function fromIterable(source) {
    const ask = source?.[Symbol.asyncIterator] ?? source?.[Symbol.iterator];
    if (typeof ask !== 'function') throw new TypeError('ReadableStream.from takes something that can be iterated');
    const items = ask.call(source);
    if (!isObject(items)) throw new TypeError('an iterator is an object');
    const { next } = items;
    const stream = make({
      mark: 0,
      async pull() {
        const step = await next.call(items);
        if (!isObject(step)) throw new TypeError("an iterator's step is an object");
        if (step.done) close(stream.control); else enqueue(stream.control, await step.value);
      },
      async cancel(reason) {
        const stop = items.return;
        if (stop === undefined || stop === null) return;
        if (!isObject(await stop.call(items, reason))) throw new TypeError("an iterator's step is an object");
      },
    });
    return stream;
  }
  function fromBytes(bytes) {
    const stream = make({
      bytes: kit.late('bytes.js').bytes,
      mark: 0,
      pull() {
        if (bytes.length > 0) enqueue(stream.control, bytes.slice());
        close(stream.control);
        if (bytes.length === 0) stream.control.bytes.finish(stream.control);
      },
    });
    return stream;
  }

  class ReadableStream {
    #record;
    static {
      isReadable = (value) => isObject(value) && #record in value;
      streamOf = (value) => {
        if (!isReadable(value)) throw new TypeError('this is no ReadableStream');
        return value.#record;
      };
    }
    constructor(source, strategy) {
      let how = plan;
      plan = undefined;
      if (how === undefined) {
        if (source === null) throw new TypeError('the source of a ReadableStream is an object');
        const from = needObject(source, 'the source of a ReadableStream');
        const by = needObject(strategy, 'a strategy');
        const { type } = from;
        if (type !== undefined && `${type}` !== 'bytes') throw new TypeError(`a ReadableStream has no type ${type}`);
        const bytes = type === undefined ? undefined : kit.late('bytes.js').bytes;
        if (bytes !== undefined && by.size !== undefined) throw new RangeError('a byte stream counts bytes: its strategy has no size');
        const chunkSize = bytes === undefined || from.autoAllocateChunkSize === undefined ? undefined : Number(from.autoAllocateChunkSize);
        if (chunkSize !== undefined && !(chunkSize >= 1)) throw new TypeError('autoAllocateChunkSize is a number of bytes from 1');
        how = { bytes, chunkSize, mark: markOf(by, bytes === undefined ? 1 : 0), size: bytes === undefined ? sizeOf(by) : one, start: callback(from, 'start'), pull: callback(from, 'pull') ?? nothing, cancel: callback(from, 'cancel') ?? nothing };
      }
      const [record, start] = begin(this, how);
      this.#record = record;
      start();
    }
    static from(source) { return fromIterable(source).face; }
    get locked() { return streamOf(this).reader !== undefined; }
    cancel(reason) {
      return settled(() => {
        const stream = streamOf(this);
        if (stream.reader !== undefined) throw new TypeError('a stream that is locked to a reader cannot be cancelled');
        return cancel(stream, reason);
      });
    }
    getReader(options) {
      const stream = streamOf(this);
      const { mode } = needObject(options, 'options');
      if (mode !== undefined) {
        if (`${mode}` !== 'byob') throw new TypeError(`a reader has no mode ${mode}`);
        return new (kit.late('bytes.js').ReadableStreamBYOBReader)(this);
      }
      plan = acquire(stream);
      return new ReadableStreamDefaultReader();
    }
    pipeThrough(pair, options) {
      const source = streamOf(this);
      if (!isObject(pair) || !isReadable(pair.readable)) throw new TypeError('pipeThrough takes an object with a readable and a writable side');
      quiet(kit.late('pipe.js').pipe(source, pair.writable, options, true));
      return pair.readable;
    }
    pipeTo(target, options) { return settled(() => kit.late('pipe.js').pipe(streamOf(this), target, options, false)); }
    tee() { return tee(streamOf(this)).map((branch) => branch.face); }
    values(options) {
      const stream = streamOf(this);
      const { preventCancel } = needObject(options, 'options');
      return new ReadableStreamAsyncIterator(acquire(stream), !!preventCancel);
    }
    get [Symbol.toStringTag]() { return 'ReadableStream'; }
  }
  Object.defineProperty(ReadableStream.prototype, Symbol.asyncIterator, { value: ReadableStream.prototype.values, writable: true, enumerable: false, configurable: true });

  // Steps of one iteration wait for each other, however often `next` is called ahead.
  class ReadableStreamAsyncIterator {
    #reader; #keep; #before; #done = false;
    constructor(reader, keep) { this.#reader = reader; this.#keep = keep; }
    // The first one begins at once.
    #queue(step) {
      const mine = this.#before === undefined ? step() : this.#before.then(step, step);
      const over = () => { if (this.#before === mine) this.#before = undefined; };
      this.#before = mine;
      mine.then(over, over);
      return mine;
    }
    next() {
      return this.#queue(async () => {
        if (this.#done) return { value: undefined, done: true };
        try {
          const step = await readOne(this.#reader);
          if (!step.done) return step;
        } catch (error) {
          kit.rethrow(error);
          this.#done = true;
          release(this.#reader);
          throw error;
        }
        this.#done = true;
        release(this.#reader);
        return { value: undefined, done: true };
      });
    }
    return(value) {
      return this.#queue(async () => {
        if (this.#done) return { value, done: true };
        this.#done = true;
        const done = this.#keep ? undefined : cancel(this.#reader.stream, value);
        release(this.#reader);
        await done;
        return { value, done: true };
      });
    }
  }
  const iteratorPrototype = ReadableStreamAsyncIterator.prototype;
  delete iteratorPrototype.constructor;
  for (const name of ['next', 'return']) Object.defineProperty(iteratorPrototype, name, { enumerable: true });
  Object.setPrototypeOf(iteratorPrototype, Object.getPrototypeOf(Object.getPrototypeOf(async function* () {}).prototype));
  Object.defineProperty(iteratorPrototype, Symbol.toStringTag, { value: 'ReadableStream AsyncIterator', configurable: true });

  class ReadableStreamDefaultReader {
    #record;
    static { readerOf = (value) => value.#record; }
    constructor(stream) {
      const given = plan;
      plan = undefined;
      this.#record = given ?? acquire(streamOf(stream));
    }
    get closed() { return this.#record.closed.promise; }
    read() {
      return settled(() => {
        if (readerOf(this).stream === undefined) throw new TypeError('the reader was released');
        return readOne(this.#record);
      });
    }
    cancel(reason) {
      return settled(() => {
        const { stream } = readerOf(this);
        if (stream === undefined) throw new TypeError('the reader was released');
        return cancel(stream, reason);
      });
    }
    releaseLock() { release(this.#record); }
    get [Symbol.toStringTag]() { return 'ReadableStreamDefaultReader'; }
  }

  class ReadableStreamDefaultController {
    #record;
    constructor() {
      if (plan === undefined) throw new TypeError('a controller comes with its stream');
      this.#record = plan;
      plan = undefined;
    }
    get desiredSize() { return desired(this.#record); }
    close() {
      if (!canEnqueue(this.#record)) throw new TypeError('the stream is closed already');
      close(this.#record);
    }
    enqueue(chunk) {
      if (!canEnqueue(this.#record)) throw new TypeError('the stream is closed: nothing can be enqueued any more');
      enqueue(this.#record, chunk);
    }
    error(reason) { fail(this.#record, reason); }
    get [Symbol.toStringTag]() { return 'ReadableStreamDefaultController'; }
  }

  // All bytes of a stream of Uint8Arrays, as bodies are read.
  async function collect(stream) {
    const reader = acquire(stream);
    const pieces = [];
    let length = 0;
    for (;;) {
      const { value, done } = await readOne(reader);
      if (done) break;
      const piece = typeof value === 'string' ? undefined : kit.bytesFrom(value, "a body's stream");
      if (piece === undefined) throw new TypeError("a body's stream gives Uint8Array chunks, not text; pipe it through a TextEncoderStream");
      pieces.push(piece);
      length += piece.length;
    }
    const bytes = new world.Uint8Array(length);
    let at = 0;
    for (const piece of pieces) { bytes.set(piece, at); at += piece.length; }
    return bytes;
  }

  return {
    names: { ReadableStream, ReadableStreamDefaultReader, ReadableStreamDefaultController },
    hidden: { '%ReadableStreamAsyncIteratorPrototype%': iteratorPrototype },
    inner: { isReadable, streamOf, make, acquire, release, read, cancel, enqueue, close, fail, canEnqueue, wantsMore, desired, forget, pullIfWanted, closeStream, tee, fromBytes, collect },
  };
})
