// WritableStream with its writer and controller, as the Streams Standard says.
(function (native, kit, world) {
  'use strict';
  const { Promise, TypeError, RangeError, Symbol, AbortController } = world;
  const { nothing, deferred, rejectQuietly, settled, Fifo, isObject, needObject, callback, markOf, sizeOf, one } = kit.late('queue.js');
  const CLOSE = Symbol('close');
  let plan;
  let sinkOf, writerOf, isWritable;

  const isClosing = (sink) => sink.closeAsked !== undefined || sink.closeUnderWay !== undefined;
  const isBusy = (sink) => sink.writeUnderWay !== undefined || sink.closeUnderWay !== undefined;
  const hasPressure = (control) => control.mark - control.queue.total <= 0;
  const forget = (control) => { control.write = nothing; control.close = nothing; control.abort = nothing; control.size = one; };

  function setPressure(sink, pressure) {
    const { writer } = sink;
    if (writer !== undefined && pressure !== sink.pressure) {
      if (pressure) writer.ready = deferred(); else writer.ready.resolve();
    }
    sink.pressure = pressure;
  }
  function startErroring(sink, reason) {
    sink.status = 'erroring';
    sink.error = reason;
    if (sink.writer !== undefined) sink.writer.ready = rejectQuietly(sink.writer.ready, reason);
    if (!isBusy(sink) && sink.control.started) finishErroring(sink);
  }
  function rejectClosed(sink) {
    sink.closeAsked?.reject(sink.error);
    sink.closeAsked = undefined;
    if (sink.writer !== undefined) sink.writer.closed = rejectQuietly(sink.writer.closed, sink.error);
  }
  function finishErroring(sink) {
    sink.status = 'errored';
    sink.control.queue.clear();
    for (const write of sink.writes.splice(0)) write.reject(sink.error);
    const { aborting } = sink;
    sink.aborting = undefined;
    if (aborting === undefined) { rejectClosed(sink); return; }
    if (aborting.wasErroring) { aborting.reject(sink.error); rejectClosed(sink); return; }
    const { control } = sink;
    const done = settled(() => control.abort(aborting.reason));
    forget(control);
    done.then(() => { aborting.resolve(); rejectClosed(sink); }, (error) => { aborting.reject(error); rejectClosed(sink); });
  }
  function failed(sink, error) { if (sink.status === 'writable') startErroring(sink, error); else finishErroring(sink); }
  function errorIfNeeded(control, error) {
    if (control.sink.status !== 'writable') return;
    forget(control);
    startErroring(control.sink, error);
  }

  function advance(control) {
    const { sink, queue } = control;
    if (!control.started || sink.writeUnderWay !== undefined) return;
    if (sink.status === 'erroring') { finishErroring(sink); return; }
    if (queue.isEmpty) return;
    const chunk = queue.peek();
    if (chunk === CLOSE) closeNow(control); else writeNow(control, chunk);
  }
  function closeNow(control) {
    const { sink, queue } = control;
    sink.closeUnderWay = sink.closeAsked;
    sink.closeAsked = undefined;
    queue.shift();
    const done = settled(() => control.close());
    forget(control);
    done.then(() => {
      sink.closeUnderWay.resolve();
      sink.closeUnderWay = undefined;
      if (sink.status === 'erroring') {
        sink.error = undefined;
        sink.aborting?.resolve();
        sink.aborting = undefined;
      }
      sink.status = 'closed';
      sink.writer?.closed.resolve();
    }, (error) => {
      sink.closeUnderWay.reject(error);
      sink.closeUnderWay = undefined;
      sink.aborting?.reject(error);
      sink.aborting = undefined;
      failed(sink, error);
    });
  }
  function writeNow(control, chunk) {
    const { sink, queue } = control;
    sink.writeUnderWay = sink.writes.shift();
    settled(() => control.write(chunk, control.face)).then(() => {
      sink.writeUnderWay.resolve();
      sink.writeUnderWay = undefined;
      const { status } = sink;
      queue.shift();
      if (!isClosing(sink) && status === 'writable') setPressure(sink, hasPressure(control));
      advance(control);
    }, (error) => {
      if (sink.status === 'writable') forget(control);
      sink.writeUnderWay.reject(error);
      sink.writeUnderWay = undefined;
      failed(sink, error);
    });
  }

  function abort(sink, reason) {
    if (sink.status === 'closed' || sink.status === 'errored') return Promise.resolve();
    sink.control.stop.abort(reason);
    if (sink.status === 'closed' || sink.status === 'errored') return Promise.resolve();
    if (sink.aborting !== undefined) return sink.aborting.promise;
    const wasErroring = sink.status === 'erroring';
    const aborting = deferred();
    aborting.wasErroring = wasErroring;
    aborting.reason = wasErroring ? undefined : reason;
    sink.aborting = aborting;
    if (!wasErroring) startErroring(sink, reason);
    return aborting.promise;
  }
  function close(sink) {
    if (sink.status === 'closed' || sink.status === 'errored') return Promise.reject(new TypeError(`a stream that is ${sink.status} cannot be closed`));
    if (isClosing(sink)) return Promise.reject(new TypeError('the stream is being closed already'));
    const asked = deferred();
    sink.closeAsked = asked;
    if (sink.writer !== undefined && sink.pressure && sink.status === 'writable') sink.writer.ready.resolve();
    sink.control.queue.push(CLOSE, 0);
    advance(sink.control);
    return asked.promise;
  }
  function write(writer, chunk) {
    const { sink } = writer;
    const { control } = sink;
    let size;
    try {
      size = control.size(chunk);
    } catch (error) {
      kit.rethrow(error);
      errorIfNeeded(control, error);
      size = 1;
    }
    if (writer.sink !== sink) return Promise.reject(new TypeError('the writer was released'));
    if (sink.status === 'errored') return Promise.reject(sink.error);
    if (isClosing(sink) || sink.status === 'closed') return Promise.reject(new TypeError('the stream is closed: nothing can be written any more'));
    if (sink.status === 'erroring') return Promise.reject(sink.error);
    const done = deferred();
    sink.writes.push(done);
    try {
      control.queue.push(chunk, size);
    } catch (error) {
      kit.rethrow(error);
      errorIfNeeded(control, error);
      return done.promise;
    }
    if (!isClosing(sink) && sink.status === 'writable') setPressure(sink, hasPressure(control));
    advance(control);
    return done.promise;
  }
  function acquire(sink) {
    if (sink.writer !== undefined) throw new TypeError('the stream is locked to a writer already');
    const writer = { sink, closed: deferred(), ready: deferred() };
    sink.writer = writer;
    const { status } = sink;
    if (status === 'writable') {
      if (isClosing(sink) || !sink.pressure) writer.ready.resolve();
    } else if (status === 'closed') {
      writer.ready.resolve();
      writer.closed.resolve();
    } else {
      rejectQuietly(writer.ready, sink.error);
      if (status === 'errored') rejectQuietly(writer.closed, sink.error);
    }
    return writer;
  }
  function release(writer) {
    const { sink } = writer;
    if (sink === undefined) return;
    const error = new TypeError('the writer was released');
    writer.ready = rejectQuietly(writer.ready, error);
    writer.closed = rejectQuietly(writer.closed, error);
    sink.writer = undefined;
    writer.sink = undefined;
  }
  const desired = (sink) => (sink.status === 'errored' || sink.status === 'erroring' ? null : sink.status === 'closed' ? 0 : sink.control.mark - sink.control.queue.total);

  function make(how) {
    plan = { start: undefined, write: nothing, close: nothing, abort: nothing, mark: 1, size: one, ...how };
    return sinkOf(new WritableStream());
  }
  function begin(face, { start, write: put, close: end, abort: stop, mark, size }) {
    const sink = { face, status: 'writable', error: undefined, writer: undefined, control: undefined, writes: [], writeUnderWay: undefined, closeAsked: undefined, closeUnderWay: undefined, aborting: undefined, pressure: false };
    const control = { sink, queue: new Fifo(), started: false, mark, size, write: put, close: end, abort: stop, face: undefined, stop: new AbortController() };
    sink.control = control;
    plan = control;
    control.face = new WritableStreamDefaultController();
    return [sink, () => {
      setPressure(sink, hasPressure(control));
      const started = start === undefined ? undefined : start(control.face);
      Promise.resolve(started).then(() => { control.started = true; advance(control); }, (error) => { control.started = true; failed(sink, error); });
    }];
  }

  class WritableStream {
    #record;
    static {
      isWritable = (value) => isObject(value) && #record in value;
      sinkOf = (value) => {
        if (!isWritable(value)) throw new TypeError('this is no WritableStream');
        return value.#record;
      };
    }
    constructor(target, strategy) {
      let how = plan;
      plan = undefined;
      if (how === undefined) {
        const to = needObject(target, 'the sink of a WritableStream');
        const by = needObject(strategy, 'a strategy');
        if (to.type !== undefined) throw new RangeError('a WritableStream has no types');
        how = { size: sizeOf(by), mark: markOf(by, 1), start: callback(to, 'start'), write: callback(to, 'write') ?? nothing, close: callback(to, 'close') ?? nothing, abort: callback(to, 'abort') ?? nothing };
      }
      const [record, start] = begin(this, how);
      this.#record = record;
      start();
    }
    get locked() { return sinkOf(this).writer !== undefined; }
    #unlocked(verb) {
      const sink = sinkOf(this);
      if (sink.writer !== undefined) throw new TypeError(`a stream that is locked to a writer cannot be ${verb}`);
      return sink;
    }
    abort(reason) { return settled(() => abort(this.#unlocked('aborted'), reason)); }
    close() { return settled(() => close(this.#unlocked('closed'))); }
    getWriter() {
      plan = acquire(sinkOf(this));
      return new WritableStreamDefaultWriter();
    }
    get [Symbol.toStringTag]() { return 'WritableStream'; }
  }

  class WritableStreamDefaultWriter {
    #record;
    static {
      writerOf = (value) => {
        const writer = value.#record;
        if (writer.sink === undefined) throw new TypeError('the writer was released');
        return writer;
      };
    }
    constructor(stream) {
      const given = plan;
      plan = undefined;
      this.#record = given ?? acquire(sinkOf(stream));
    }
    get closed() { return this.#record.closed.promise; }
    get ready() { return this.#record.ready.promise; }
    get desiredSize() { return desired(writerOf(this).sink); }
    abort(reason) { return settled(() => abort(writerOf(this).sink, reason)); }
    close() { return settled(() => close(writerOf(this).sink)); }
    releaseLock() { release(this.#record); }
    write(chunk) { return settled(() => write(writerOf(this), chunk)); }
    get [Symbol.toStringTag]() { return 'WritableStreamDefaultWriter'; }
  }

  class WritableStreamDefaultController {
    #record;
    constructor() {
      if (plan === undefined) throw new TypeError('a controller comes with its stream');
      this.#record = plan;
      plan = undefined;
    }
    get signal() { return this.#record.stop.signal; }
    error(reason) { errorIfNeeded(this.#record, reason); }
    get [Symbol.toStringTag]() { return 'WritableStreamDefaultController'; }
  }

  return {
    names: { WritableStream, WritableStreamDefaultWriter, WritableStreamDefaultController },
    inner: { isWritable, sinkOf, make, acquire, release, write, close, abort, errorIfNeeded, isClosing },
  };
})
