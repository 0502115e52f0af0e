// MessageChannel: two ports, each of which hears copies of what is posted to the other, one after the other.
(function (native, kit, world) {
  'use strict';
  const { TypeError, Symbol, Object, Event, EventTarget, setTimeout, DOMException, Array } = world;
  let open = false;
  let entangle;

  class MessageEvent extends Event {
    #data; #origin; #lastEventId; #source; #ports;
    constructor(type, init = {}) {
      super(type, init);
      this.#data = init?.data === undefined ? null : init.data;
      this.#origin = `${init?.origin ?? ''}`;
      this.#lastEventId = `${init?.lastEventId ?? ''}`;
      this.#source = init?.source ?? null;
      this.#ports = Object.freeze([...(init?.ports ?? [])]);
    }
    get data() { return this.#data; }
    get origin() { return this.#origin; }
    get lastEventId() { return this.#lastEventId; }
    get source() { return this.#source; }
    get ports() { return this.#ports; }
    get [Symbol.toStringTag]() { return 'MessageEvent'; }
  }

  class MessagePort extends EventTarget {
    #other; #waiting = []; #started = false; #closed = false; #handler = null;
    static { entangle = (one, two) => { one.#other = two; two.#other = one; }; }
    constructor() {
      if (!open) throw new TypeError('a MessagePort comes from a MessageChannel');
      super();
    }
    #deliver(count) {
      for (; count > 0 && this.#waiting.length > 0; count--) {
        const data = this.#waiting.shift();
        setTimeout(() => { if (!this.#closed) this.dispatchEvent(new MessageEvent('message', { data })); }, 0);
      }
    }
    postMessage(value, options) {
      if (arguments.length === 0) throw new TypeError('postMessage takes a value');
      const moved = Array.isArray(options) ? options : options?.transfer ?? [];
      const data = kit.clone(value);
      // A buffer that is handed over is gone here, as if it had been moved.
      for (const item of moved) {
        if (native.brand(item) !== 'ArrayBuffer') throw new DOMException('only an ArrayBuffer can be transferred here', 'DataCloneError');
        item.transfer(0);
      }
      const other = this.#other;
      if (this.#closed || other === undefined || other.#closed) return;
      other.#waiting.push(data);
      if (other.#started) other.#deliver(1);
    }
    start() {
      if (this.#started) return;
      this.#started = true;
      this.#deliver(this.#waiting.length);
    }
    close() {
      if (this.#closed) return;
      const other = this.#other;
      this.#closed = true;
      // What was posted before is still heard by the other side.
      if (other !== undefined) setTimeout(() => { if (!other.#closed) { other.#closed = true; other.dispatchEvent(new Event('close')); } }, 0);
    }
    get onmessage() { return this.#handler; }
    set onmessage(handler) {
      this.#handler = typeof handler === 'function' ? handler : null;
      if (this.#handler !== null) this.start();
    }
    get [Symbol.toStringTag]() { return 'MessagePort'; }
  }

  class MessageChannel {
    #ports;
    constructor() {
      open = true;
      try { this.#ports = [new MessagePort(), new MessagePort()]; } finally { open = false; }
      entangle(this.#ports[0], this.#ports[1]);
    }
    get port1() { return this.#ports[0]; }
    get port2() { return this.#ports[1]; }
    get [Symbol.toStringTag]() { return 'MessageChannel'; }
  }

  return { names: { MessageChannel, MessagePort, MessageEvent }, inner: {} };
})
