  // Part 9: what prepared source calls, and what guest code finds in its world beside the page's own.
  const declared = new PageSet();
  // The counter is at its end, or only this part of it: the turn that asks is the first of the next part.
  __cove_stop = () => {
    if (stepsLeft > 0) {
      giveSteps(stepsLeft);
      __cove_n--;
      return;
    }
    if (run !== null && run.over === null && run.steps !== null) end("steps");
    throw ENDED;
  };
  __cove_catch = (e) => { if (e === ENDED || (run !== null && run.over !== null)) throw ENDED; };
  __cove_import = loadFor(undefined);
  __cove_decl = (...list) => {
    for (let i = 0; i < list.length; i++) {
      const name = list[i], d = getOwnPropertyDescriptor(guest, name);
      if (d && d.writable && d.configurable) { setAdd(declared, name); continue; }
      const value = d && "value" in d && (setHas(declared, name) || d.configurable) ? d.value : undefined;
      put(guest, name, value);
      setAdd(declared, name);
    }
  };
  __cove_lock = (...list) => {
    for (let i = 0; i < list.length; i++) defineProperty(guest, list[i], { __proto__: null, writable: false });
  };
  __cove_fn = (fn, name) => {
    defineProperty(fn, "name", { __proto__: null, value: name, configurable: true });
    return fn;
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
  return kernel;
})();
})();
//# sourceURL=cove-kernel.js
