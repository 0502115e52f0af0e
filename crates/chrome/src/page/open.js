// The guest page's kernel, part 1: everything it will ever need is taken from the page before guest code runs.
//
// Guest code may overwrite or delete whatever it likes afterwards; from here on the kernel only calls what it saved,
// looks nothing up on a prototype and iterates over nothing.
//
// Prepared source uses the counter and its companions as plain identifiers, so it is compiled where they are: in the
// scope of this function, by the direct `eval` below. Text that gets past the preparation, whatever realm compiles it,
// has the page's global scope around it and no name for them. They all begin with `__cove`, which prepared source may
// not write; nothing else may stand in this scope, for prepared source would see it.
"use strict";
(() => {
let __cove_n = 0, __cove_stop, __cove_catch, __cove_import, __cove_decl, __cove_lock, __cove_fn, __cove_own = false;
const __cove_compile = function () { __cove_own = true; return eval(arguments[0]); };
return (() => {
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
  const PageBytes = Uint8Array, PageDate = Date, PageString = String, PageNumber = Number;
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

  const trusted = guest.trustedTypes, makePolicy = method(TrustedTypePolicyFactory.prototype, "createPolicy"), callTrusted = method(TrustedTypePolicy.prototype, "createScript");
  const setAttribute = method(Element.prototype, "setAttribute"), appendTo = method(Element.prototype, "append");

  // The one way out. The host listens to this page's main world alone, and the name is gone before guest code runs.
  const emit = guest.__cove_send;
  delete guest.__cove_send;

  // What is thrown to end a run: it carries nothing, it only has to be recognised.
  const ENDED = freeze({ __proto__: null });

  // The session's settings and the run that is going on; `null` between runs.
  let settings = { __proto__: null, levels: "", secret: "", guarded: false };
  let run = null;

  // Steps, handed to the counter in parts that are small integers: beyond those every turn of a loop would allocate a
  // number, which is three times as slow.
  const PART = 0x3fffffff;
  let stepsLeft = 0;
  const giveSteps = (count) => { __cove_n = count < PART ? count : PART; stepsLeft = count - __cove_n; };
  const countSteps = (mine) => (mine.steps === null ? 0 : mine.steps - stepsLeft - (__cove_n > 0 ? __cove_n : 0));

  const text = (value) => {
    try {
      return typeof value === "symbol" ? symbolText(value) : `${value}`;
    } catch {
      return "?";
    }
  };
  // A JSON string literal; only ever handed a string, so no `toJSON` can interfere.
  const quote = (string) => stringify(wellFormed(string));
  // What the host sent under a name: never what guest code has put on a prototype.
  const own = (object, key) => { const d = getOwnPropertyDescriptor(object, key); return d === undefined ? undefined : d.value; };
  // An own, plain property, whatever setters stand on the prototypes.
  const put = (object, key, value) => defineProperty(object, key, { __proto__: null, value, writable: true, enumerable: true, configurable: true });
  // Only the page's own `eval`, called by that name, compiles into the caller's scope. Guest code may give the name
  // another meaning for itself; the one call that says it is ours gets the true one, once.
  const pageEval = eval;
  let guestEval = pageEval;
  defineProperty(guest, "eval", {
    __proto__: null, enumerable: false, configurable: false,
    get() { if (!__cove_own) return guestEval; __cove_own = false; return pageEval; },
    set(value) { guestEval = value; },
  });
  // Compiles prepared source into the scope of the counter. Once a session counts, a page's text is code only if this
  // policy says so.
  let policy = null;
  const compile = (source) => apply(__cove_compile, guest, [policy === null ? source : callTrusted(policy, source)]);
