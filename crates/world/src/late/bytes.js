// Readable byte streams: their controller, their reader that fills the buffers of whoever reads (`mode: 'byob'`), and the request that
// a source answers. What all readable streams do is in readable.js, which works on the same records.
(function (native, kit, world) {
  'use strict';
  const { Promise, TypeError, RangeError, Symbol, Uint8Array, ArrayBuffer, DataView, Number } = world;
  const { settled, isObject, needObject } = kit.late('queue.js');
  const { streamOf, acquire, release, cancel, fail, forget, desired, canEnqueue, pullIfWanted, closeStream } = kit.late('readable.js');
  // The record for the next object that is made from inside; `undefined`: a guest makes it.
  let plan;
  const take = (what) => {
    const record = plan;
    plan = undefined;
    if (record === undefined) throw new TypeError(`a ${what} comes with its stream`);
    return record;
  };

  // The bytes that wait: pieces of buffers.
  class ByteQueue {
    pieces = [];
    total = 0;
    get isEmpty() { return this.total === 0; }
    push(buffer, from, length) {
      if (length === 0) return;
      this.pieces.push({ buffer, from, length });
      this.total += length;
    }
    shift() {
      const piece = this.pieces.shift();
      this.total -= piece.length;
      return piece;
    }
    // So many bytes into a buffer.
    copy(buffer, at, wanted) {
      while (wanted > 0) {
        const [head] = this.pieces;
        const some = wanted < head.length ? wanted : head.length;
        new Uint8Array(buffer, at, some).set(new Uint8Array(head.buffer, head.from, some));
        if (some === head.length) this.pieces.shift();
        else { head.from += some; head.length -= some; }
        this.total -= some;
        at += some;
        wanted -= some;
      }
    }
    clear() { this.pieces = []; this.total = 0; }
  }

  const isView = (value) => isObject(value) && ArrayBuffer.isView(value);
  const moved = (buffer) => {
    if (native.brand(buffer) !== 'ArrayBuffer') throw new TypeError('the buffer of a view is an ArrayBuffer');
    if (buffer.detached) throw new TypeError('the buffer was handed over already');
    return buffer.transfer();
  };
  // The class of a view, and how long its items are.
  const classOf = (view) => {
    const name = native.brand(view);
    return name === 'DataView' ? [DataView, 1] : [world[name], world[name].BYTES_PER_ELEMENT];
  };

  // What waits to be filled: a buffer of a reader's, or one that was made for it (`autoAllocateChunkSize`).
  const viewOf = (wish) => new wish.Class(moved(wish.buffer), wish.from, wish.filled / wish.size);
  const forgetRequest = (control) => {
    if (control.request === undefined) return;
    control.request.control = undefined;
    control.request.view = null;
    control.request = undefined;
  };
  const nextWish = (control) => { forgetRequest(control); return control.wishes.shift(); };
  function answer(stream, wish) {
    const view = viewOf(wish);
    const request = stream.reader.requests.shift();
    if (stream.status === 'closed') request.close(wish.kind === 'byob' ? view : undefined); else request.chunk(view);
  }
  function afterTaking(control) {
    if (control.queue.isEmpty && control.closing) { forget(control); closeStream(control.stream); } else pullIfWanted(control);
  }
  // Fills a wish as far as there are bytes; whether it is full enough.
  function fill(control, wish) {
    const { queue } = control;
    const most = wish.filled + (queue.total < wish.length - wish.filled ? queue.total : wish.length - wish.filled);
    const whole = most - most % wish.size;
    const enough = whole >= wish.least;
    const some = (enough ? whole : most) - wish.filled;
    queue.copy(wish.buffer, wish.from + wish.filled, some);
    wish.filled += some;
    return enough;
  }
  function fillAll(control) {
    const full = [];
    while (control.wishes.length > 0 && !control.queue.isEmpty) if (fill(control, control.wishes[0])) full.push(nextWish(control));
    return full;
  }
  // What a reader that has gone left half filled goes back to the queue.
  function putBack(control, wish) {
    if (wish.filled > 0) control.queue.push(wish.buffer.slice(wish.from, wish.from + wish.filled), 0, wish.filled);
    nextWish(control);
  }
  const giveHead = (control, request) => {
    const { buffer, from, length } = control.queue.shift();
    afterTaking(control);
    request.chunk(new Uint8Array(buffer, from, length));
  };

  // What readable.js asks of a stream of this kind.
  const bytes = {
    face(control) {
      control.queue = new ByteQueue();
      control.wishes = [];
      control.request = undefined;
      plan = control;
      return new ReadableByteStreamController();
    },
    clear(control) { forgetRequest(control); control.wishes = []; },
    read(control, reader, request) {
      if (!control.queue.isEmpty) { giveHead(control, request); return; }
      if (control.chunkSize !== undefined) {
        let buffer;
        try { buffer = new ArrayBuffer(control.chunkSize); } catch (error) { kit.rethrow(error); request.error(error); return; }
        control.wishes.push({ buffer, whole: control.chunkSize, from: 0, length: control.chunkSize, filled: 0, least: 1, size: 1, Class: Uint8Array, kind: 'default' });
      }
      reader.requests.push(request);
      pullIfWanted(control);
    },
    release(control) {
      if (control.wishes.length === 0) return;
      control.wishes[0].kind = 'none';
      control.wishes = [control.wishes[0]];
    },
    enqueue(control, chunk) {
      if (!canEnqueue(control)) return;
      const { buffer, byteOffset: from, byteLength: length } = chunk;
      const own = moved(buffer);
      const { stream } = control;
      if (control.wishes.length > 0) {
        const [first] = control.wishes;
        if (first.buffer.detached) throw new TypeError('the buffer of the request was handed over already');
        forgetRequest(control);
        first.buffer = moved(first.buffer);
        if (first.kind === 'none') putBack(control, first);
      }
      const { reader } = stream;
      if (reader !== undefined && !reader.byob) {
        while (reader.requests.length > 0 && !control.queue.isEmpty) giveHead(control, reader.requests.shift());
        if (reader.requests.length === 0) control.queue.push(own, from, length);
        else {
          if (control.wishes.length > 0) nextWish(control);
          reader.requests.shift().chunk(new Uint8Array(own, from, length));
        }
      } else {
        control.queue.push(own, from, length);
        if (reader !== undefined) for (const wish of fillAll(control)) answer(stream, wish);
      }
      pullIfWanted(control);
    },
    close(control) {
      if (!canEnqueue(control)) return;
      if (!control.queue.isEmpty) { control.closing = true; return; }
      const [first] = control.wishes;
      if (first !== undefined && first.filled % first.size !== 0) {
        const error = new TypeError('the stream ends in the middle of an item');
        fail(control, error);
        throw error;
      }
      control.closing = true;
      forget(control);
      closeStream(control.stream);
    },
    // The other side of a stream that was divided has ended: whoever waits hears it.
    finish(control) { if (control.wishes.length > 0) respond(control, 0); },
  };

  function respond(control, written) {
    const [first] = control.wishes;
    const isClosed = control.stream.status === 'closed';
    if (isClosed && written !== 0) throw new TypeError('the stream is closed: 0 bytes are the only answer');
    if (!isClosed && written === 0) throw new TypeError('0 bytes are no answer while the stream is open');
    if (!isClosed && first.filled + written > first.length) throw new RangeError('more bytes than the view has');
    first.buffer = moved(first.buffer);
    settle(control, first, written);
  }
  function settle(control, first, written) {
    const { stream } = control;
    forgetRequest(control);
    if (stream.status === 'closed') {
      if (first.kind === 'none') nextWish(control);
      if (stream.reader?.byob) {
        const full = [];
        while (full.length < stream.reader.requests.length) full.push(nextWish(control));
        for (const wish of full) answer(stream, wish);
      }
    } else {
      first.filled += written;
      if (first.kind === 'none') {
        putBack(control, first);
        for (const wish of fillAll(control)) answer(stream, wish);
      } else if (first.filled >= first.least) {
        nextWish(control);
        const over = first.filled % first.size;
        if (over > 0) {
          const end = first.from + first.filled;
          control.queue.push(first.buffer.slice(end - over, end), 0, over);
        }
        first.filled -= over;
        const full = fillAll(control);
        answer(stream, first);
        for (const wish of full) answer(stream, wish);
      }
    }
    pullIfWanted(control);
  }
  function readInto(reader, view, least, request) {
    const { stream } = reader;
    stream.disturbed = true;
    if (stream.status === 'errored') { request.error(stream.error); return; }
    const { control } = stream;
    const [Class, size] = classOf(view);
    const { byteOffset: from, byteLength: length } = view;
    let buffer;
    try { buffer = moved(view.buffer); } catch (error) { kit.rethrow(error); request.error(error); return; }
    const wish = { buffer, whole: buffer.byteLength, from, length, filled: 0, least: least * size, size, Class, kind: 'byob' };
    if (control.wishes.length > 0) { control.wishes.push(wish); reader.requests.push(request); return; }
    if (stream.status === 'closed') { request.close(new Class(buffer, from, 0)); return; }
    if (!control.queue.isEmpty) {
      if (fill(control, wish)) {
        const filled = viewOf(wish);
        afterTaking(control);
        request.chunk(filled);
        return;
      }
      if (control.closing) {
        const error = new TypeError('the stream ends in the middle of an item');
        fail(control, error);
        request.error(error);
        return;
      }
    }
    control.wishes.push(wish);
    reader.requests.push(request);
    pullIfWanted(control);
  }

  class ReadableByteStreamController {
    #record;
    constructor() { this.#record = take('controller'); }
    get byobRequest() {
      const control = this.#record;
      const [first] = control.wishes;
      if (control.request === undefined && first !== undefined) {
        control.request = { control, view: new Uint8Array(first.buffer, first.from + first.filled, first.length - first.filled), face: undefined };
        plan = control.request;
        control.request.face = new ReadableStreamBYOBRequest();
      }
      return control.request?.face ?? null;
    }
    get desiredSize() { return desired(this.#record); }
    close() {
      if (!canEnqueue(this.#record)) throw new TypeError('the stream is closed already');
      bytes.close(this.#record);
    }
    enqueue(chunk) {
      const control = this.#record;
      if (!isView(chunk)) throw new TypeError('a byte stream takes views of buffers, such as a Uint8Array');
      if (chunk.byteLength === 0 || chunk.buffer.byteLength === 0) throw new TypeError('an empty view cannot be enqueued');
      if (!canEnqueue(control)) throw new TypeError('the stream is closed: nothing can be enqueued any more');
      bytes.enqueue(control, chunk);
    }
    error(reason) { fail(this.#record, reason); }
    get [Symbol.toStringTag]() { return 'ReadableByteStreamController'; }
  }

  class ReadableStreamBYOBRequest {
    #record;
    constructor() { this.#record = take('request'); }
    get view() { return this.#record.view; }
    #open() {
      const { control } = this.#record;
      if (control === undefined) throw new TypeError('this request was answered already');
      return control;
    }
    respond(written) {
      const count = Number(written);
      if (!(count >= 0) || count > Number.MAX_SAFE_INTEGER) throw new TypeError('respond takes a number of bytes');
      const control = this.#open();
      if (this.#record.view.buffer.detached) throw new TypeError('the buffer of the request was handed over already');
      respond(control, count - count % 1);
    }
    respondWithNewView(view) {
      if (!isView(view)) throw new TypeError('respondWithNewView takes a view of a buffer');
      const control = this.#open();
      if (view.buffer.detached) throw new TypeError('the buffer was handed over already');
      const [first] = control.wishes;
      const { byteLength, byteOffset, buffer } = view;
      const isClosed = control.stream.status === 'closed';
      if (isClosed && byteLength !== 0) throw new TypeError('the stream is closed: an empty view is the only answer');
      if (!isClosed && byteLength === 0) throw new TypeError('an empty view is no answer while the stream is open');
      if (first.from + first.filled !== byteOffset) throw new RangeError('the view begins at another place than the request');
      if (first.whole !== buffer.byteLength) throw new RangeError('the buffer has another length than that of the request');
      if (first.filled + byteLength > first.length) throw new RangeError('more bytes than the view has');
      first.buffer = moved(buffer);
      settle(control, first, byteLength);
    }
    get [Symbol.toStringTag]() { return 'ReadableStreamBYOBRequest'; }
  }

  class ReadableStreamBYOBReader {
    #record;
    constructor(stream) { this.#record = acquire(streamOf(stream), true); }
    get closed() { return this.#record.closed.promise; }
    read(view, options) {
      return settled(() => {
        const reader = this.#record;
        if (!isView(view)) throw new TypeError('read takes a view of a buffer, such as a Uint8Array');
        const { min = 1 } = needObject(options, 'options');
        const least = Number(min);
        if (view.byteLength === 0 || view.buffer.byteLength === 0) throw new TypeError('an empty view cannot be filled');
        if (view.buffer.detached) throw new TypeError('the buffer was handed over already');
        if (!(least >= 1)) throw new TypeError('min is a number from 1');
        const [, size] = classOf(view);
        if (least > view.byteLength / size) throw new RangeError('min is more than the view has');
        if (reader.stream === undefined) throw new TypeError('the reader was released');
        return new Promise((resolve, reject) => readInto(reader, view, least - least % 1, {
          chunk: (value) => resolve({ value, done: false }),
          close: (value) => resolve({ value, done: true }),
          error: reject,
        }));
      });
    }
    cancel(reason) {
      return settled(() => {
        const { stream } = this.#record;
        if (stream === undefined) throw new TypeError('the reader was released');
        return cancel(stream, reason);
      });
    }
    releaseLock() { release(this.#record); }
    get [Symbol.toStringTag]() { return 'ReadableStreamBYOBReader'; }
  }

  return { names: { ReadableByteStreamController, ReadableStreamBYOBReader, ReadableStreamBYOBRequest }, inner: { bytes, ReadableStreamBYOBReader } };
})
