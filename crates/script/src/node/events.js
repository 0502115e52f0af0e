// EventEmitter.
(need) => {
  // A function, for `EventEmitter.call(this)` of older code; lists are kept aside, for such code has no constructor.
  function EventEmitter() {}
  const kept = new WeakMap();
  const lists = (emitter) => { const found = kept.get(emitter) ?? new Map(); kept.set(emitter, found); return found; };
  const single = (emitter, name, run) => { const one = (...args) => { emitter.off(name, one); return run.apply(emitter, args); }; one.listener = run; return one; };
  const add = (emitter, name, run, first) => {
    if (typeof run !== 'function') throw new TypeError('The "listener" argument must be of type function. Received ' + (run === null ? 'null' : typeof run));
    if (name !== 'newListener' && lists(emitter).has('newListener')) emitter.emit('newListener', name, run.listener ?? run);
    const list = lists(emitter).get(name) ?? [];
    lists(emitter).set(name, first ? [run, ...list] : [...list, run]);
    return emitter;
  };
  class Methods {
    on(name, run) { return add(this, name, run, false); }
    addListener(name, run) { return add(this, name, run, false); }
    prependListener(name, run) { return add(this, name, run, true); }
    once(name, run) { return add(this, name, single(this, name, run), false); }
    prependOnceListener(name, run) { return add(this, name, single(this, name, run), true); }
    off(name, run) {
      const list = lists(this).get(name) ?? [], at = list.findLastIndex((one) => one === run || one.listener === run);
      if (at !== -1) { if (list.length === 1) lists(this).delete(name); else lists(this).set(name, list.toSpliced(at, 1)); }
      return this;
    }
    removeListener(name, run) { return this.off(name, run); }
    removeAllListeners(name) { if (name === undefined) lists(this).clear(); else lists(this).delete(name); return this; }
    emit(name, ...args) {
      const list = lists(this).get(name);
      if (list === undefined) {
        if (name !== 'error') return false;
        throw args[0] instanceof Error ? args[0] : new Error('Unhandled error. (' + String(args[0]) + ')');
      }
      for (const run of list) run.apply(this, args);
      return true;
    }
    listeners(name) { return (lists(this).get(name) ?? []).map((run) => run.listener ?? run); }
    rawListeners(name) { return [...(lists(this).get(name) ?? [])]; }
    listenerCount(name) { return lists(this).get(name)?.length ?? 0; }
    eventNames() { return [...lists(this).keys()]; }
    setMaxListeners() { return this; }
    getMaxListeners() { return 10; }
    static once(emitter, name) {
      return new Promise((resolve, reject) => {
        const failed = (error) => { emitter.off(name, done); reject(error); };
        const done = (...args) => { emitter.off('error', failed); resolve(args); };
        emitter.once(name, done);
        if (name !== 'error') emitter.once('error', failed);
      });
    }
  }
  for (const name of Object.getOwnPropertyNames(Methods.prototype)) {
    if (name !== 'constructor') Object.defineProperty(EventEmitter.prototype, name, Object.getOwnPropertyDescriptor(Methods.prototype, name));
  }
  EventEmitter.once = Methods.once;
  EventEmitter.EventEmitter = EventEmitter;
  EventEmitter.default = EventEmitter;
  EventEmitter.defaultMaxListeners = 10;
  return EventEmitter;
}
