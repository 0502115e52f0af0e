// Timers: the host keeps the order and the time, this file keeps the functions. Nothing outlives its run.
(function (native, kit) {
  'use strict';
  const { Map, TypeError, Number, Object, queueMicrotask: queue } = globalThis;
  const waiting = new Map();
  let last = 0;

  function add(name, callback, delay, args, repeat) {
    if (typeof callback !== 'function') {
      throw new TypeError(`${name} takes a function; text is not run as code here`);
    }
    const id = ++last;
    const ms = Number(delay);
    const wait = ms >= 1 && ms <= 2147483647 ? ms : 1;
    native.timerSet(id, wait, repeat);
    waiting.set(id, { callback, args, repeat });
    return id;
  }

  const globals = {
    setTimeout(callback, delay, ...args) { return add('setTimeout', callback, delay, args, false); },
    setInterval(callback, delay, ...args) { return add('setInterval', callback, delay, args, true); },
    setImmediate(callback, ...args) { return add('setImmediate', callback, 0, args, false); },
    clearTimeout(id) { if (waiting.delete(id)) native.timerClear(id); },
    clearInterval(id) { if (waiting.delete(id)) native.timerClear(id); },
    clearImmediate(id) { if (waiting.delete(id)) native.timerClear(id); },
  };
  for (const name of Object.keys(globals)) native.define(name, globals[name]);
  native.define('queueMicrotask', { queueMicrotask(callback) {
    if (typeof callback !== 'function') throw new TypeError('queueMicrotask takes a function');
    queue(() => {
      try {
        callback();
      } catch (error) {
        if (kit.over[0]) throw error;
        kit.reportError(error);
      }
    });
  } }.queueMicrotask);

  kit.fireTimer = (id) => {
    const timer = waiting.get(id);
    if (timer === undefined) return;
    if (!timer.repeat) waiting.delete(id);
    const { callback, args } = timer;
    callback(...args);
  };
  kit.clearTimers = () => { waiting.clear(); };
})
