// DOMException, and the two functions of the engine that throw its own: here it is an Error like any other, whose stack
// shows the user's frames only.
(function (native, kit) {
  'use strict';
  const { Error, Object, String, atob, btoa, Symbol } = globalThis;
  const { defineProperty } = Object;
  const CODES = ['INDEX_SIZE_ERR', 'DOMSTRING_SIZE_ERR', 'HIERARCHY_REQUEST_ERR', 'WRONG_DOCUMENT_ERR',
    'INVALID_CHARACTER_ERR', 'NO_DATA_ALLOWED_ERR', 'NO_MODIFICATION_ALLOWED_ERR', 'NOT_FOUND_ERR', 'NOT_SUPPORTED_ERR',
    'INUSE_ATTRIBUTE_ERR', 'INVALID_STATE_ERR', 'SYNTAX_ERR', 'INVALID_MODIFICATION_ERR', 'NAMESPACE_ERR',
    'INVALID_ACCESS_ERR', 'VALIDATION_ERR', 'TYPE_MISMATCH_ERR', 'SECURITY_ERR', 'NETWORK_ERR', 'ABORT_ERR',
    'URL_MISMATCH_ERR', 'QUOTA_EXCEEDED_ERR', 'TIMEOUT_ERR', 'INVALID_NODE_TYPE_ERR', 'DATA_CLONE_ERR'];
  const NUMBERS = { __proto__: null, IndexSizeError: 1, HierarchyRequestError: 3, WrongDocumentError: 4, InvalidCharacterError: 5,
    NoModificationAllowedError: 7, NotFoundError: 8, NotSupportedError: 9, InUseAttributeError: 10, InvalidStateError: 11,
    SyntaxError: 12, InvalidModificationError: 13, NamespaceError: 14, InvalidAccessError: 15, TypeMismatchError: 17,
    SecurityError: 18, NetworkError: 19, AbortError: 20, URLMismatchError: 21, QuotaExceededError: 22, TimeoutError: 23,
    InvalidNodeTypeError: 24, DataCloneError: 25 };

  class DOMException extends Error {
    #name;
    constructor(message = '', options = 'Error') {
      super(`${message}`);
      this.#name = `${options !== null && typeof options === 'object' ? options.name ?? 'Error' : options}`;
      if (options !== null && typeof options === 'object' && 'cause' in options) defineProperty(this, 'cause', { value: options.cause, writable: true, enumerable: false, configurable: true });
    }
    static { kit.domName = (error) => (error !== null && typeof error === 'object' && #name in error ? error.#name : undefined); }
    get name() { return this.#name; }
    get code() { return NUMBERS[this.#name] ?? 0; }
    get [Symbol.toStringTag]() { return 'DOMException'; }
  }
  for (let at = 0; at < CODES.length; at++) {
    defineProperty(DOMException, CODES[at], { value: at + 1, enumerable: true });
    defineProperty(DOMException.prototype, CODES[at], { value: at + 1, enumerable: true });
  }
  native.define('DOMException', DOMException);

  const globals = {
    atob(text) {
      try { return atob(`${text}`); } catch (error) { kit.rethrow(error); throw new DOMException('The string to be decoded is not correctly encoded.', 'InvalidCharacterError'); }
    },
    btoa(text) {
      try { return btoa(`${text}`); } catch (error) { kit.rethrow(error); throw new DOMException('The string to be encoded holds characters outside of Latin-1.', 'InvalidCharacterError'); }
    },
  };
  native.define('atob', globals.atob);
  native.define('btoa', globals.btoa);
})
