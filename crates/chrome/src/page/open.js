// The guest page's kernel, part 1: everything it will ever need is taken from the page before guest code runs.
//
// Guest code may overwrite or delete whatever it likes afterwards; from here on the kernel only calls what it saved,
// looks nothing up on a prototype and iterates over nothing. `__cove_n` and the names below it stand in the global
// lexical scope because prepared source uses them as plain identifiers; the kernel itself is reachable from no name.
"use strict";
let __cove_n = Infinity, __cove_boot = (() => {
  const { apply, construct } = Reflect;
  const { create, defineProperty, freeze, getOwnPropertyDescriptor, getOwnPropertyNames, getPrototypeOf, isFrozen } = Object;
  const { ownKeys } = Reflect;
  const { stringify, parse } = JSON;
  const { isArray } = Array;
  const { floor, round, sqrt } = Math;
  const method = (prototype, name) => {
    const saved = prototype[name];
    return (self, ...args) => apply(saved, self, args);
  };
  const getter = (prototype, name) => {
    const saved = getOwnPropertyDescriptor(prototype, name).get;
    return (self) => apply(saved, self, []);
  };
  const setter = (prototype, name) => {
    const saved = getOwnPropertyDescriptor(prototype, name).set;
    return (self, value) => apply(saved, self, [value]);
  };
  const guest = globalThis, page = document, PagePromise = Promise, PageError = Error, PageTypeError = TypeError;
  const PageRangeError = RangeError, PageSyntaxError = SyntaxError, PageXhr = XMLHttpRequest, PageMap = Map, PageSet = Set, PageWeakMap = WeakMap;
  const PageBytes = Uint8Array, PageDate = Date, PageString = String, PageNumber = Number, evaluate = eval;
  const join = method(Array.prototype, "join"), slice = method(String.prototype, "slice"), charCode = method(String.prototype, "charCodeAt");
  const indexOf = method(String.prototype, "indexOf"), repeat = method(String.prototype, "repeat"), wellFormed = method(String.prototype, "toWellFormed");
  const mapGet = method(Map.prototype, "get"), mapSet = method(Map.prototype, "set"), mapDelete = method(Map.prototype, "delete");
  const mapEach = method(Map.prototype, "forEach"), mapSize = getter(Map.prototype, "size");
  const setHas = method(Set.prototype, "has"), setAdd = method(Set.prototype, "add"), setDelete = method(Set.prototype, "delete");
  const setEach = method(Set.prototype, "forEach"), setSize = getter(Set.prototype, "size");
  const weakGet = method(WeakMap.prototype, "get"), weakSet = method(WeakMap.prototype, "set");
  const tagOfView = getter(getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag), lengthOfView = getter(getPrototypeOf(Uint8Array.prototype), "length");
  const toBase64 = method(Uint8Array.prototype, "toBase64"), fromBase64 = Uint8Array.fromBase64;
  const sizeOfBuffer = getter(ArrayBuffer.prototype, "byteLength"), bufferOfView = getter(DataView.prototype, "buffer");
  const startOfView = getter(DataView.prototype, "byteOffset"), sizeOfView = getter(DataView.prototype, "byteLength");
  const boxedNumber = method(Number.prototype, "valueOf"), boxedString = method(String.prototype, "valueOf"), boxedBoolean = method(Boolean.prototype, "valueOf");
  const boxedBigInt = method(BigInt.prototype, "valueOf"), boxedSymbol = method(Symbol.prototype, "valueOf");
  const weakMapHas = method(WeakMap.prototype, "has"), weakSetHas = method(WeakSet.prototype, "has"), tag = Symbol.toStringTag;
  const tagName = getter(Element.prototype, "localName"), attribute = method(Element.prototype, "getAttribute");
  const queryEach = method(URLSearchParams.prototype, "forEach"), queryOf = getter(URL.prototype, "searchParams");
  const addressParts = ["href", "origin", "protocol", "username", "password", "host", "hostname", "port", "pathname", "search", "hash"];
  const address = { __proto__: null };
  for (let i = 0; i < addressParts.length; i++) address[addressParts[i]] = getter(URL.prototype, addressParts[i]);
  const thrownError = getter(ErrorEvent.prototype, "error");
  const isoDate = method(Date.prototype, "toISOString"), dateValue = method(Date.prototype, "getTime");
  const regexpText = method(RegExp.prototype, "toString"), symbolText = method(Symbol.prototype, "toString"), functionText = method(Function.prototype, "toString");
  const setTimer = guest.setTimeout, clearTimer = guest.clearTimeout, stopFrame = guest.cancelAnimationFrame, nextFrame = guest.requestAnimationFrame;
  const xhrOpen = method(XMLHttpRequest.prototype, "open"), xhrSend = method(XMLHttpRequest.prototype, "send");
  const xhrText = getter(XMLHttpRequest.prototype, "responseText"), xhrStatus = getter(XMLHttpRequest.prototype, "status");
  const now = PageDate.now, elapsed = (() => { const p = performance, f = p.now; return () => apply(f, p, []); })();

  // The one way out. The host listens to this page's main world alone, and the name is gone before guest code runs.
  const emit = guest.__cove_send;
  delete guest.__cove_send;

  // What is thrown to end a run: it carries nothing, it only has to be recognised.
  const ENDED = freeze({ __proto__: null });

  // The session's settings and the run that is going on; `null` between runs.
  let settings = { __proto__: null, levels: "", secret: "", guarded: false };
  let run = null;

  const text = (value) => {
    try {
      return typeof value === "symbol" ? symbolText(value) : `${value}`;
    } catch {
      return "?";
    }
  };
  // A JSON string literal; only ever handed a string, so no `toJSON` can interfere.
  const quote = (string) => stringify(wellFormed(string));
  // An own, plain property, whatever setters stand on the prototypes.
  const put = (object, key, value) => defineProperty(object, key, { __proto__: null, value, writable: true, enumerable: true, configurable: true });
