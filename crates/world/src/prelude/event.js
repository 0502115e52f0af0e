// Event, EventTarget, CustomEvent, AbortController, AbortSignal.
(function (native, kit) {
  'use strict';
  const { TypeError, Object, Map, Symbol, DOMException, Error, String, Array, queueMicrotask, setTimeout } = globalThis;
  const dispatchState = Symbol('dispatch');

  class Event {
    #type; #bubbles; #cancelable; #composed; #prevented = false; #stopped = false; #target = null; #timeStamp;
    static { kit.eventControl = {
      isEvent: (event) => event !== null && typeof event === 'object' && #type in event,
      begin: (event, target) => { event.#target = target; event.#stopped = false; },
      stopped: (event) => event.#stopped,
      prevented: (event) => event.#prevented,
    }; }
    static NONE = 0; static CAPTURING_PHASE = 1; static AT_TARGET = 2; static BUBBLING_PHASE = 3;
    constructor(type, init = {}) {
      if (arguments.length === 0) throw new TypeError('an Event needs a type');
      this.#type = `${type}`;
      this.#bubbles = !!init?.bubbles;
      this.#cancelable = !!init?.cancelable;
      this.#composed = !!init?.composed;
      this.#timeStamp = 0;
    }
    get type() { return this.#type; }
    get target() { return this.#target; }
    get currentTarget() { return this.#target; }
    get srcElement() { return this.#target; }
    get bubbles() { return this.#bubbles; }
    get cancelable() { return this.#cancelable; }
    get composed() { return this.#composed; }
    get defaultPrevented() { return this.#prevented; }
    get returnValue() { return !this.#prevented; }
    get eventPhase() { return this.#target === null ? 0 : 2; }
    get isTrusted() { return false; }
    get timeStamp() { return this.#timeStamp; }
    composedPath() { return this.#target === null ? [] : [this.#target]; }
    preventDefault() { if (this.#cancelable) this.#prevented = true; }
    stopPropagation() {}
    stopImmediatePropagation() { this.#stopped = true; }
    get [Symbol.toStringTag]() { return 'Event'; }
  }

  class CustomEvent extends Event {
    #detail;
    constructor(type, init = {}) { super(type, init); this.#detail = init?.detail ?? null; }
    get detail() { return this.#detail; }
    get [Symbol.toStringTag]() { return 'CustomEvent'; }
  }

  const control = kit.eventControl;
  class EventTarget {
    #listeners = new Map();
    addEventListener(type, listener, options) {
      if (listener === null || listener === undefined) return;
      if (typeof listener !== 'function' && typeof listener !== 'object') throw new TypeError('a listener is a function or an object with handleEvent');
      const key = `${type}`;
      const once = typeof options === 'object' && options !== null && !!options.once;
      const signal = typeof options === 'object' && options !== null ? options.signal : undefined;
      if (signal?.aborted) return;
      const list = this.#listeners.get(key) ?? [];
      if (list.some((each) => each.listener === listener)) return;
      list.push({ listener, once });
      this.#listeners.set(key, list);
      if (signal !== undefined) signal.addEventListener('abort', () => this.removeEventListener(key, listener), { once: true });
    }
    removeEventListener(type, listener) {
      const key = `${type}`;
      const list = this.#listeners.get(key);
      if (list !== undefined) this.#listeners.set(key, list.filter((each) => each.listener !== listener));
    }
    dispatchEvent(event) {
      if (!control.isEvent(event)) throw new TypeError('dispatchEvent takes an Event');
      control.begin(event, this);
      const handler = this[`on${event.type}`];
      const list = [...(this.#listeners.get(event.type) ?? [])];
      if (typeof handler === 'function') list.unshift({ listener: handler, once: false });
      for (const { listener, once } of list) {
        if (once) this.removeEventListener(event.type, listener);
        try {
          if (typeof listener === 'function') listener.call(this, event); else listener.handleEvent(event);
        } catch (error) {
          kit.rethrow(error);
          kit.reportError(error);
        }
        if (control.stopped(event)) break;
      }
      return !control.prevented(event);
    }
    get [Symbol.toStringTag]() { return 'EventTarget'; }
  }

  let open = false;
  let abort;
  class AbortSignal extends EventTarget {
    #aborted = false;
    #reason = undefined;
    onabort = null;
    static { abort = (signal, reason) => {
      if (signal.#aborted) return;
      signal.#aborted = true;
      signal.#reason = reason === undefined ? new DOMException('This operation was aborted', 'AbortError') : reason;
      signal.dispatchEvent(new Event('abort'));
    }; }
    constructor() { if (!open) throw new TypeError('an AbortSignal comes from an AbortController'); super(); }
    static #make() { open = true; try { return new AbortSignal(); } finally { open = false; } }
    static { kit.newSignal = () => AbortSignal.#make(); }
    static abort(reason) { const signal = AbortSignal.#make(); abort(signal, reason); return signal; }
    static timeout(ms) {
      const signal = AbortSignal.#make();
      setTimeout(() => abort(signal, new DOMException('The operation was aborted due to timeout', 'TimeoutError')), ms);
      return signal;
    }
    static any(signals) {
      const made = AbortSignal.#make();
      for (const signal of signals) {
        if (signal.aborted) { abort(made, signal.reason); break; }
        signal.addEventListener('abort', () => abort(made, signal.reason), { once: true });
      }
      return made;
    }
    get aborted() { return this.#aborted; }
    get reason() { return this.#reason; }
    throwIfAborted() { if (this.#aborted) throw this.#reason; }
    get [Symbol.toStringTag]() { return 'AbortSignal'; }
  }

  class AbortController {
    #signal = kit.newSignal();
    get signal() { return this.#signal; }
    abort(reason) { abort(this.#signal, reason); }
    get [Symbol.toStringTag]() { return 'AbortController'; }
  }
  native.define('Event', Event);
  native.define('CustomEvent', CustomEvent);
  native.define('EventTarget', EventTarget);
  native.define('AbortSignal', AbortSignal);
  native.define('AbortController', AbortController);
})
