  // Part 9: what prepared source calls, and what guest code finds in its world beside the page's own.
  const declared = new PageSet();
  const names = {
    __proto__: null,
    stop() {
      if (run !== null && run.over === null && run.steps !== null) end("steps");
      throw ENDED;
    },
    caught(e) { if (e === ENDED || (run !== null && run.over !== null)) throw ENDED; },
    load: loadFor(undefined),
    declare(...list) {
      for (let i = 0; i < list.length; i++) {
        const name = list[i], d = getOwnPropertyDescriptor(guest, name);
        if (d && d.writable && d.configurable) { setAdd(declared, name); continue; }
        const value = d && "value" in d && (setHas(declared, name) || d.configurable) ? d.value : undefined;
        put(guest, name, value);
        setAdd(declared, name);
      }
    },
    lock(...list) {
      for (let i = 0; i < list.length; i++) defineProperty(guest, list[i], { __proto__: null, writable: false });
    },
    named(fn, name) {
      defineProperty(fn, "name", { __proto__: null, value: name, configurable: true });
      return fn;
    },
  };
  // The window itself is tiny, because nobody looks at it; the page is laid out for a whole screen.
  put(guest, "outerWidth", innerWidth);
  put(guest, "outerHeight", innerHeight);
  put(guest, "getCanvas", getCanvas);
  defineProperty(guest, "final_answer", { __proto__: null, value: freeze(final_answer), writable: false, enumerable: true, configurable: false });
  put(guest, "close", { close() {} }.close);
  // The page stays: whoever would leave it is told so by nothing happening. Only a page that is gone cannot answer.
  if (typeof navigation === "object") {
    const cancel = method(Event.prototype, "preventDefault"), sameDocument = getter(NavigateEvent.prototype, "hashChange");
    const ended = getter(NavigationDestination.prototype, "sameDocument"), destination = getter(NavigateEvent.prototype, "destination");
    navigation.addEventListener("navigate", (event) => { if (!sameDocument(event) && !ended(destination(event))) cancel(event); });
  }
  emit('{"t":"hello"}');
  return { __proto__: null, kernel, names };
})();
const __cove_stop = __cove_boot.names.stop, __cove_catch = __cove_boot.names.caught, __cove_import = __cove_boot.names.load;
const __cove_decl = __cove_boot.names.declare, __cove_lock = __cove_boot.names.lock, __cove_fn = __cove_boot.names.named;
(() => { const { kernel } = __cove_boot; __cove_boot = undefined; return kernel; })();
//# sourceURL=cove-kernel.js
