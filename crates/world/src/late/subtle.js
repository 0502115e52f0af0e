// crypto.subtle: keys and what they may be used for. The mathematics is the host's; keys on curves and of RSA are in files of their own.
(function (native, kit, world, own) {
  'use strict';
  const { TypeError, DOMException, Symbol, Number, Uint8Array, JSON, Object, Math } = world;
  const { freeze } = Object;
  const fail = (name, message) => { throw new DOMException(message, name); };
  // What Chrome has and this engine does not; by the field `auto` knows it.
  const elsewhere = (message) => { throw kit.about(new DOMException(`${message}; use engine "browser" for it`, 'NotSupportedError'), { engine: 'browser' }); };
  const has = (list, item) => list.includes(item);
  let open = false;
  let partsOf;

  class CryptoKey {
    #parts;
    static { partsOf = (key, who) => {
      if (key === null || typeof key !== 'object' || !(#parts in key)) throw new TypeError(`${who} takes a CryptoKey`);
      return key.#parts;
    }; }
    constructor(parts) {
      if (!open) throw new TypeError('a CryptoKey comes from importKey, generateKey or deriveKey');
      this.#parts = parts;
    }
    get type() { return this.#parts.type; }
    get extractable() { return this.#parts.extractable; }
    get algorithm() { return this.#parts.algorithm; }
    get usages() { return this.#parts.usages; }
    get [Symbol.toStringTag]() { return 'CryptoKey'; }
  }
  const USAGES = ['encrypt', 'decrypt', 'sign', 'verify', 'deriveKey', 'deriveBits', 'wrapKey', 'unwrapKey'];
  // `may`: what a key of this kind can do. A secret that can do nothing is a mistake.
  function makeKey({ type, algorithm, data, extractable, usages, may }) {
    const wanted = usagesOf(usages);
    for (const usage of wanted) if (!has(may, usage)) fail('SyntaxError', `a ${algorithm.name} ${type} key cannot be used for ${usage}`);
    if (wanted.length === 0 && type !== 'public') fail('SyntaxError', `a ${type} key needs usages`);
    open = true;
    try {
      return new CryptoKey({ type, algorithm: freeze(algorithm), data, extractable: !!extractable, usages: freeze(USAGES.filter((usage) => has(wanted, usage))) });
    } finally {
      open = false;
    }
  }
  function usagesOf(list) {
    const wanted = [...list].map((usage) => `${usage}`);
    for (const usage of wanted) if (!has(USAGES, usage)) throw new TypeError(`"${usage}" is no usage of a key`);
    return wanted;
  }

  // The host's limit for one call: bytes are copied for it.
  const MAX_BYTES = 64 << 20;
  const bytesOf = (data, who) => {
    const bytes = kit.bytesFrom(data, who);
    if (bytes.length > MAX_BYTES) fail('OperationError', `${who} takes at most ${MAX_BYTES} bytes at a time, not ${bytes.length}`);
    return bytes.slice();
  };
  const toUrl = (bytes) => bytes.toBase64({ alphabet: 'base64url', omitPadding: true });
  const fromUrl = (text, what) => {
    if (typeof text !== 'string') fail('DataError', `the JWK has no ${what}`);
    try {
      return Uint8Array.fromBase64(text, { alphabet: 'base64url' });
    } catch (error) {
      kit.rethrow(error);
      return fail('DataError', `${what} of the JWK is not base64url`);
    }
  };
  const BLOCKS = { __proto__: null, 'SHA-1': 512, 'SHA-256': 512, 'SHA-384': 1024, 'SHA-512': 1024 };
  const hashOf = (hash) => {
    const given = hash !== null && typeof hash === 'object' ? hash.name : hash;
    if (given === undefined) throw new TypeError('the algorithm needs a hash');
    const name = `${given}`.toUpperCase();
    if (BLOCKS[name] === undefined) fail('NotSupportedError', `crypto.subtle knows SHA-1, SHA-256, SHA-384 and SHA-512, not ${given}`);
    return name;
  };
  const whole = (value, what, most) => {
    const number = Number(value);
    if (!(number >= 0) || number > most) throw new TypeError(`${what} is a number from 0 to ${most}`);
    return Math.trunc(number);
  };
  // What a JWK says about itself must not speak against what is asked of it.
  function checkJwk(jwk, kty, alg, extractable, usages, use) {
    if (jwk === null || typeof jwk !== 'object') throw new TypeError('a JWK is an object');
    if (jwk.kty !== kty) fail('DataError', `the JWK has kty ${JSON.stringify(jwk.kty)}; ${kty} is needed`);
    if (alg !== undefined && jwk.alg !== undefined && jwk.alg !== alg) fail('DataError', `the JWK is for ${jwk.alg}, not for ${alg}`);
    if (extractable && jwk.ext === false) fail('DataError', 'the JWK says that it cannot be extractable');
    if (jwk.use !== undefined && usages.length > 0 && jwk.use !== use) fail('DataError', `the JWK is not for use "${use}"`);
    if (jwk.key_ops !== undefined && !usages.every((usage) => has(jwk.key_ops, usage))) fail('DataError', 'key_ops of the JWK allow less than the usages');
  }
  const jwkOf = (parts, fields) => ({ key_ops: [...parts.usages], ext: parts.extractable, ...fields });
  const unknownFormat = (name, format) => fail('NotSupportedError', `${name} keys have no format "${format}" here`);

  const secretForms = (algorithmOf, jwkAlg, may) => ({
    importKey(format, data, given, extractable, usages) {
      let bytes;
      if (format === 'raw') bytes = bytesOf(data, 'importKey');
      else if (format === 'jwk') {
        checkJwk(data, 'oct', undefined, extractable, usages, has(may, 'sign') ? 'sig' : 'enc');
        bytes = fromUrl(data.k, 'k');
      } else unknownFormat(given.name, format);
      const algorithm = algorithmOf(given, bytes.length * 8);
      if (format === 'jwk' && data.alg !== undefined && data.alg !== jwkAlg(algorithm)) fail('DataError', `the JWK is for ${data.alg}, not for ${jwkAlg(algorithm)}`);
      return makeKey({ type: 'secret', algorithm, data: bytes, extractable, usages, may });
    },
    exportKey(format, parts) {
      if (format === 'raw') return parts.data.slice().buffer;
      if (format === 'jwk') return jwkOf(parts, { alg: jwkAlg(parts.algorithm), kty: 'oct', k: toUrl(parts.data) });
      return unknownFormat(parts.algorithm.name, format);
    },
  });
  const randomKey = (bits) => native.randomBytes(bits / 8);

  const hmacMay = ['sign', 'verify'];
  const HMAC = {
    ...secretForms((given, bits) => {
      if (bits === 0) fail('DataError', 'an HMAC key has at least one byte');
      if (given.length !== undefined && Number(given.length) !== bits) fail('DataError', `the key has ${bits} bits, not ${given.length}`);
      return { name: 'HMAC', length: bits, hash: { name: hashOf(given.hash) } };
    }, ({ hash }) => `HS${hash.name.slice(4)}`, hmacMay),
    keyLength(given) {
      const hash = hashOf(given.hash);
      const bits = given.length === undefined ? BLOCKS[hash] : whole(given.length, 'length', 524288);
      if (bits === 0 || bits % 8 !== 0) fail('OperationError', 'the length of a key is a multiple of 8 bits');
      return bits;
    },
    generateKey(given, extractable, usages) {
      const length = HMAC.keyLength(given);
      return makeKey({ type: 'secret', algorithm: { name: 'HMAC', length, hash: { name: hashOf(given.hash) } }, data: randomKey(length), extractable, usages, may: hmacMay });
    },
    sign: (given, parts, data) => own.hmac(parts.algorithm.hash.name, parts.data, data),
    verify: (given, parts, signature, data) => own.hmacIs(parts.algorithm.hash.name, parts.data, data, signature),
  };

  const aesMay = ['encrypt', 'decrypt', 'wrapKey', 'unwrapKey'];
  const aes = (name, work) => {
    const one = {
      ...secretForms((given, bits) => {
        if (bits !== 128 && bits !== 192 && bits !== 256) fail('DataError', `an AES key has 128, 192 or 256 bits, not ${bits}`);
        return { name, length: bits };
      }, ({ length }) => `A${length}${name.slice(4)}`, aesMay),
      keyLength({ length }) {
        const bits = Number(length);
        if (bits !== 128 && bits !== 192 && bits !== 256) fail('OperationError', `an AES key has 128, 192 or 256 bits, not ${length}`);
        return bits;
      },
      generateKey(given, extractable, usages) {
        const length = one.keyLength(given);
        return makeKey({ type: 'secret', algorithm: { name, length }, data: randomKey(length), extractable, usages, may: aesMay });
      },
      encrypt: (given, parts, data) => work(true, given, parts, data) ?? fail('OperationError', 'the data cannot be encrypted'),
      decrypt: (given, parts, data) => work(false, given, parts, data) ?? fail('OperationError', 'the data cannot be decrypted: another key, other parameters, or changed bytes'),
    };
    return one;
  };
  const sixteen = (data, what) => {
    const bytes = bytesOf(data, what);
    if (bytes.length !== 16) fail('OperationError', `${what} has 16 bytes, not ${bytes.length}`);
    return bytes;
  };
  const GCM = aes('AES-GCM', (seals, given, parts, data) => {
    const iv = bytesOf(given.iv, 'iv of AES-GCM');
    if (iv.length !== 12 && iv.length !== 16) fail('OperationError', `iv of AES-GCM has 12 bytes (or 16) here, not ${iv.length}`);
    const tag = given.tagLength === undefined ? 128 : Number(given.tagLength);
    if (!has([96, 104, 112, 120, 128], tag)) fail('OperationError', `tagLength is 96, 104, 112, 120 or 128, not ${given.tagLength}`);
    const more = given.additionalData === undefined ? new Uint8Array(0) : bytesOf(given.additionalData, 'additionalData');
    return own.aesGcm(seals, parts.data, iv, more, data, tag / 8);
  });
  const CBC = aes('AES-CBC', (seals, given, parts, data) => own.aesCbc(seals, parts.data, sixteen(given.iv, 'iv of AES-CBC'), data));
  const CTR = aes('AES-CTR', (seals, given, parts, data) => {
    const counter = sixteen(given.counter, 'counter of AES-CTR');
    const bits = Number(given.length);
    if (!(bits >= 1 && bits <= 128)) fail('OperationError', 'length of AES-CTR is from 1 to 128 bits');
    return own.aesCtr(parts.data, counter, bits, data);
  });

  const derives = (name, derive) => ({
    keyLength: () => null,
    importKey(format, data, given, extractable, usages) {
      if (format !== 'raw') unknownFormat(name, format);
      if (extractable) fail('SyntaxError', `a ${name} key cannot be extractable`);
      return makeKey({ type: 'secret', algorithm: { name }, data: bytesOf(data, 'importKey'), extractable, usages, may: ['deriveKey', 'deriveBits'] });
    },
    deriveBits(given, parts, length) {
      if (length === null || length === undefined || Number(length) % 8 !== 0) fail('OperationError', 'the length is a multiple of 8 bits');
      return derive(given, parts, whole(length, 'length', 4294967295) / 8) ?? fail('OperationError', `${name} cannot give ${length} bits`);
    },
  });
  const PBKDF2 = derives('PBKDF2', (given, parts, length) => {
    const hash = hashOf(given.hash);
    const salt = bytesOf(given.salt, 'salt');
    const rounds = whole(given.iterations, 'iterations', 4294967295);
    if (rounds === 0) fail('OperationError', 'iterations cannot be 0');
    return own.pbkdf2(hash, parts.data, salt, rounds, length);
  });
  const HKDF = derives('HKDF', (given, parts, length) => own.hkdf(hashOf(given.hash), parts.data, bytesOf(given.salt, 'salt'), bytesOf(given.info, 'info'), length));

  const ALGORITHMS = { __proto__: null, HMAC, 'AES-GCM': GCM, 'AES-CBC': CBC, 'AES-CTR': CTR, PBKDF2, HKDF };
  // Algorithms in files of their own: how they are written, and where they are.
  const OTHERS = { __proto__: null, ECDSA: ['ECDSA', 'keys.js'], ECDH: ['ECDH', 'keys.js'], ED25519: ['Ed25519', 'keys.js'], 'RSASSA-PKCS1-V1_5': ['RSASSA-PKCS1-v1_5', 'rsa.js'], 'RSA-PSS': ['RSA-PSS', 'rsa.js'] };
  const tools = { fail, elsewhere, has, makeKey, bytesOf, toUrl, fromUrl, hashOf, checkJwk, jwkOf, unknownFormat, partsOf };
  // What Chrome knows and is not here.
  const ELSEWHERE = ['RSA-OAEP', 'AES-KW', 'X25519'];
  // The algorithm with its own name, and what can be done with it.
  function find(given, verb) {
    const fields = given !== null && typeof given === 'object' ? given : { name: given };
    if (fields.name === undefined) throw new TypeError('an algorithm has a name');
    const upper = `${fields.name}`.toUpperCase();
    const [name, file] = OTHERS[upper] ?? [upper];
    const known = file === undefined ? ALGORITHMS[upper] : kit.late(file).algorithms(tools)[name];
    if (known === undefined) {
      const message = `crypto.subtle knows HMAC, AES-GCM, AES-CBC, AES-CTR, PBKDF2, HKDF, ECDSA and ECDH on P-256, Ed25519, RSASSA-PKCS1-v1_5 and RSA-PSS here, not ${fields.name}`;
      if (ELSEWHERE.includes(upper)) elsewhere(message); else fail('NotSupportedError', message);
    }
    if (verb !== undefined && known[verb] === undefined) fail('NotSupportedError', `${name} cannot be used for ${verb}`);
    return [{ __proto__: null, ...fields, name }, known];
  }
  // The parts of a key that may be used so.
  function use(key, given, usage) {
    const parts = partsOf(key, usage);
    if (parts.algorithm.name !== given.name) fail('InvalidAccessError', `the key is for ${parts.algorithm.name}, not for ${given.name}`);
    if (!has(parts.usages, usage)) fail('InvalidAccessError', `the key may not be used for ${usage}`);
    return parts;
  }
  function exported(format, key) {
    const parts = partsOf(key, 'exportKey');
    const [, known] = find(parts.algorithm.name);
    if (known.exportKey === undefined) fail('NotSupportedError', `a ${parts.algorithm.name} key cannot be exported`);
    if (!parts.extractable) fail('InvalidAccessError', 'the key is not extractable');
    return known.exportKey(`${format}`, parts);
  }
  const imported = (format, data, algorithm, extractable, usages) => {
    const [given, known] = find(algorithm, 'importKey');
    return known.importKey(`${format}`, data, given, !!extractable, usagesOf(usages));
  };
  function derived(algorithm, key, length, usage) {
    const [given, known] = find(algorithm, 'deriveBits');
    return known.deriveBits(given, use(key, given, usage), length);
  }
  function crypt(algorithm, key, data, verb, usage) {
    const [given, known] = find(algorithm, verb);
    return known[verb](given, use(key, given, usage), data);
  }

  class SubtleCrypto {
    constructor() { if (!open) throw new TypeError('there is one SubtleCrypto: crypto.subtle'); }
    async digest(algorithm, data) {
      const name = hashOf(algorithm);
      return native.digest(name, kit.bytesFrom(data, 'digest')).buffer;
    }
    async generateKey(algorithm, extractable, usages) {
      const [given, known] = find(algorithm, 'generateKey');
      return known.generateKey(given, !!extractable, usagesOf(usages));
    }
    async importKey(format, data, algorithm, extractable, usages) { return imported(format, data, algorithm, extractable, usages); }
    async exportKey(format, key) { return exported(format, key); }
    async sign(algorithm, key, data) {
      const [given, known] = find(algorithm, 'sign');
      return known.sign(given, use(key, given, 'sign'), bytesOf(data, 'sign')).buffer;
    }
    async verify(algorithm, key, signature, data) {
      const [given, known] = find(algorithm, 'verify');
      return known.verify(given, use(key, given, 'verify'), bytesOf(signature, 'verify'), bytesOf(data, 'verify'));
    }
    async encrypt(algorithm, key, data) { return crypt(algorithm, key, bytesOf(data, 'encrypt'), 'encrypt', 'encrypt').buffer; }
    async decrypt(algorithm, key, data) { return crypt(algorithm, key, bytesOf(data, 'decrypt'), 'decrypt', 'decrypt').buffer; }
    async deriveBits(algorithm, key, length) { return derived(algorithm, key, length, 'deriveBits').buffer; }
    async deriveKey(algorithm, key, type, extractable, usages) {
      const [wanted, known] = find(type, 'importKey');
      const length = known.keyLength === undefined ? fail('NotSupportedError', `a ${wanted.name} key cannot be derived`) : known.keyLength(wanted);
      return imported('raw', derived(algorithm, key, length, 'deriveKey'), type, extractable, usages);
    }
    async wrapKey(format, key, wrapping, algorithm) {
      const out = exported(format, key);
      const bytes = `${format}` === 'jwk' ? native.encodeUtf8(JSON.stringify(out)) : new Uint8Array(out);
      return crypt(algorithm, wrapping, bytes, 'encrypt', 'wrapKey').buffer;
    }
    async unwrapKey(format, wrapped, unwrapping, algorithm, type, extractable, usages) {
      const bytes = crypt(algorithm, unwrapping, bytesOf(wrapped, 'unwrapKey'), 'decrypt', 'unwrapKey');
      const data = `${format}` === 'jwk' ? JSON.parse(native.decodeText('utf-8', bytes, false, false)) : bytes;
      return imported(format, data, type, extractable, usages);
    }
    get [Symbol.toStringTag]() { return 'SubtleCrypto'; }
  }
  open = true;
  const subtle = new SubtleCrypto();
  open = false;

  return { names: { SubtleCrypto, CryptoKey }, hidden: { '%Subtle%': subtle }, inner: { subtle } };
})
