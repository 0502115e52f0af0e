// pipeTo and pipeThrough: reads while the other side has room, and carries an end or an error of either side to the other.
(function (native, kit, world) {
  'use strict';
  const { Promise, TypeError, AbortSignal } = world;
  const { nothing, needObject, quiet } = kit.late('queue.js');
  const readable = kit.late('readable.js');
  const writable = kit.late('writable.js');

  // Throws where `pipeTo` rejects: the caller knows which of the two it is.
  function pipe(source, target, options) {
    const sink = writable.sinkOf(target);
    // In this order, as a getter among them may see.
    const { preventAbort, preventCancel, preventClose, signal } = needObject(options, 'options');
    if (signal !== undefined && !(signal instanceof AbortSignal)) throw new TypeError('signal is an AbortSignal');
    // Throws where it only looks like one.
    void signal?.aborted;
    if (source.reader !== undefined) throw new TypeError('a stream that is locked to a reader cannot be piped');
    if (sink.writer !== undefined) throw new TypeError('a stream that is locked to a writer cannot be piped to');
    const reader = readable.acquire(source);
    const writer = writable.acquire(sink);
    source.disturbed = true;
    let ending = false;
    let lastWrite = Promise.resolve();

    return new Promise((resolve, reject) => {
      const finish = (isError, error) => {
        writable.release(writer);
        readable.release(reader);
        if (signal !== undefined) signal.removeEventListener('abort', stop);
        if (isError) reject(error); else resolve();
      };
      // What was read is written before the end is carried on.
      const written = () => { const last = lastWrite; return last.then(() => (last === lastWrite ? undefined : written())); };
      const end = (action, isError, error) => {
        if (ending) return;
        ending = true;
        const go = () => {
          if (action === undefined) { finish(isError, error); return; }
          action().then(() => finish(isError, error), (other) => finish(true, other));
        };
        if (sink.status === 'writable' && !writable.isClosing(sink)) written().then(go); else go();
      };
      const stop = () => {
        const { reason } = signal;
        end(() => Promise.all([
          preventAbort || sink.status !== 'writable' ? undefined : writable.abort(sink, reason),
          preventCancel || source.status !== 'readable' ? undefined : readable.cancel(source, reason),
        ]), true, reason);
      };
      const sourceFailed = (error) => end(preventAbort ? undefined : () => writable.abort(sink, error), true, error);
      const sourceEnded = () => end(preventClose ? undefined : () => {
        if (writable.isClosing(sink) || sink.status === 'closed') return Promise.resolve();
        return sink.status === 'errored' ? Promise.reject(sink.error) : writable.close(sink);
      }, false, undefined);
      const sinkFailed = (error) => end(preventCancel ? undefined : () => readable.cancel(source, error), true, error);

      if (signal !== undefined) {
        if (signal.aborted) { stop(); return; }
        signal.addEventListener('abort', stop);
      }
      if (source.status === 'errored') sourceFailed(source.error);
      else if (sink.status === 'errored') sinkFailed(sink.error);
      else if (source.status === 'closed') sourceEnded();
      else if (writable.isClosing(sink) || sink.status === 'closed') sinkFailed(new TypeError('the stream that is piped to is closed'));
      reader.closed.promise.then(sourceEnded, (error) => { if (source.status === 'errored') sourceFailed(error); });
      writer.closed.promise.then(nothing, (error) => { if (sink.status === 'errored') sinkFailed(error); });

      const step = () => {
        if (ending) return;
        writer.ready.promise.then(() => {
          if (ending) return;
          readable.read(reader, {
            chunk(value) {
              lastWrite = quiet(writable.write(writer, value)).then(nothing, nothing);
              step();
            },
            close: nothing,
            error: nothing,
          });
        }, nothing);
      };
      step();
    });
  }

  return { names: {}, inner: { pipe } };
})
