// crypto: hashes and HMAC in plain JavaScript, since Node's answer at once and the Web's do not; random values by the Web's.
(need) => {
  const { Buffer } = need('buffer');
  const web = globalThis.crypto;
  const bytesOf = (data, encoding) => (typeof data === 'string' ? Buffer.from(data, encoding) : new Uint8Array(data.buffer ?? data, data.byteOffset ?? 0, data.byteLength));
  const pad = (bytes, block, big) => {
    const length = Math.ceil((bytes.length + 1 + block / 8) / block) * block, out = new Uint8Array(length), view = new DataView(out.buffer);
    out.set(bytes);
    out[bytes.length] = 128;
    const bits = BigInt(bytes.length) * 8n;
    view.setBigUint64(length - 8, bits, !big);
    return view;
  };
  const rotl = (x, n) => (x << n) | (x >>> (32 - n));
  const rotr = (x, n) => (x >>> n) | (x << (32 - n));
  const words = (list, little) => { const out = new DataView(new ArrayBuffer(list.length * 4)); list.forEach((w, i) => out.setUint32(i * 4, w >>> 0, little)); return new Uint8Array(out.buffer); };
  const primes = (count) => { const found = []; for (let n = 2; found.length < count; n++) if (found.every((p) => n % p !== 0)) found.push(n); return found; };
  const root = (n, k, bits) => {
    let low = 0n, high = 1n << BigInt(bits + 8);
    const wanted = BigInt(n) << BigInt(bits * k);
    while (high - low > 1n) { const mid = (low + high) >> 1n; if (mid ** BigInt(k) <= wanted) low = mid; else high = mid; }
    return low & ((1n << BigInt(bits)) - 1n);
  };
  const md5 = (bytes) => {
    const view = pad(bytes, 64, false), s = [7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21];
    const k = Array.from({ length: 64 }, (_, i) => Math.floor(Math.abs(Math.sin(i + 1)) * 4294967296) | 0);
    let h = [0x67452301, 0xefcdab89 | 0, 0x98badcfe | 0, 0x10325476];
    for (let at = 0; at < view.byteLength; at += 64) {
      let [a, b, c, d] = h;
      for (let i = 0; i < 64; i++) {
        const round = i >> 4;
        const [f, g] = round === 0 ? [(b & c) | (~b & d), i] : round === 1 ? [(d & b) | (~d & c), (5 * i + 1) % 16] : round === 2 ? [b ^ c ^ d, (3 * i + 5) % 16] : [c ^ (b | ~d), (7 * i) % 16];
        const sum = (a + f + k[i] + view.getUint32(at + g * 4, true)) | 0;
        [a, d, c, b] = [d, c, b, (b + rotl(sum, s[round * 4 + (i % 4)])) | 0];
      }
      h = [h[0] + a, h[1] + b, h[2] + c, h[3] + d].map((w) => w | 0);
    }
    return words(h, true);
  };
  const sha1 = (bytes) => {
    const view = pad(bytes, 64, true), w = new Int32Array(80);
    let h = [0x67452301, 0xefcdab89 | 0, 0x98badcfe | 0, 0x10325476, 0xc3d2e1f0 | 0];
    for (let at = 0; at < view.byteLength; at += 64) {
      for (let i = 0; i < 80; i++) w[i] = i < 16 ? view.getInt32(at + i * 4) : rotl(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
      let [a, b, c, d, e] = h;
      for (let i = 0; i < 80; i++) {
        const f = i < 20 ? (b & c) | (~b & d) : i < 40 ? b ^ c ^ d : i < 60 ? (b & c) | (b & d) | (c & d) : b ^ c ^ d;
        const k = i < 20 ? 0x5a827999 : i < 40 ? 0x6ed9eba1 : i < 60 ? 0x8f1bbcdc : 0xca62c1d6;
        [e, d, c, b, a] = [d, c, rotl(b, 30), a, (rotl(a, 5) + f + e + k + w[i]) | 0];
      }
      h = [h[0] + a, h[1] + b, h[2] + c, h[3] + d, h[4] + e].map((x) => x | 0);
    }
    return words(h, false);
  };
  let k256, k512;
  const sha256 = (bytes) => {
    k256 ??= Int32Array.from(primes(64), (p) => Number(BigInt.asIntN(32, root(p, 3, 32))));
    const view = pad(bytes, 64, true), w = new Int32Array(64);
    const h = Int32Array.from(primes(8), (p) => Number(BigInt.asIntN(32, root(p, 2, 32))));
    for (let at = 0; at < view.byteLength; at += 64) {
      for (let i = 0; i < 64; i++) {
        if (i < 16) { w[i] = view.getInt32(at + i * 4); continue; }
        const x = w[i - 15], y = w[i - 2];
        w[i] = w[i - 16] + (rotr(x, 7) ^ rotr(x, 18) ^ (x >>> 3)) + w[i - 7] + (rotr(y, 17) ^ rotr(y, 19) ^ (y >>> 10));
      }
      let [a, b, c, d, e, f, g, l] = h;
      for (let i = 0; i < 64; i++) {
        const one = (l + (rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25)) + ((e & f) ^ (~e & g)) + k256[i] + w[i]) | 0;
        const two = ((rotr(a, 2) ^ rotr(a, 13) ^ rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
        l = g; g = f; f = e; e = (d + one) | 0; d = c; c = b; b = a; a = (one + two) | 0;
      }
      [a, b, c, d, e, f, g, l].forEach((v, i) => { h[i] += v; });
    }
    return words(Array.from(h), false);
  };
  const sha512 = (bytes, small) => {
    k512 ??= primes(80).map((p) => root(p, 3, 64));
    const view = pad(bytes, 128, true), w = new BigUint64Array(80), cut = (x) => BigInt.asUintN(64, x), r = (x, n) => cut((x >> n) | (x << (64n - n)));
    let h = small ? primes(16).slice(8).map((p) => root(p, 2, 64)) : primes(8).map((p) => root(p, 2, 64));
    for (let at = 0; at < view.byteLength; at += 128) {
      for (let i = 0; i < 80; i++) {
        if (i < 16) { w[i] = view.getBigUint64(at + i * 8); continue; }
        const x = w[i - 15], y = w[i - 2];
        w[i] = w[i - 16] + (r(x, 1n) ^ r(x, 8n) ^ (x >> 7n)) + w[i - 7] + (r(y, 19n) ^ r(y, 61n) ^ (y >> 6n));
      }
      let [a, b, c, d, e, f, g, l] = h;
      for (let i = 0; i < 80; i++) {
        const one = cut(l + (r(e, 14n) ^ r(e, 18n) ^ r(e, 41n)) + ((e & f) ^ (cut(~e) & g)) + k512[i] + w[i]);
        const two = cut((r(a, 28n) ^ r(a, 34n) ^ r(a, 39n)) + ((a & b) ^ (a & c) ^ (b & c)));
        l = g; g = f; f = e; e = cut(d + one); d = c; c = b; b = a; a = cut(one + two);
      }
      h = [a, b, c, d, e, f, g, l].map((v, i) => cut(h[i] + v));
    }
    const out = new DataView(new ArrayBuffer(64));
    h.forEach((v, i) => out.setBigUint64(i * 8, v));
    return new Uint8Array(out.buffer).subarray(0, small ? 48 : 64);
  };
  const hashes = { md5: [md5, 64], sha1: [sha1, 64], sha256: [sha256, 64], sha384: [(b) => sha512(b, true), 128], sha512: [(b) => sha512(b, false), 128] };
  const pick = (name) => {
    const found = hashes[String(name).toLowerCase().replace('-', '')];
    if (found === undefined) throw new Error('Digest method not supported: ' + name + ' (here: md5, sha1, sha256, sha384, sha512)');
    return found;
  };
  class Hash {
    #parts = []; #finish; #done = false;
    constructor(finish) { this.#finish = finish; }
    update(data, encoding) { if (this.#done) throw new Error('Digest already called'); this.#parts.push(Uint8Array.from(bytesOf(data, encoding))); return this; }
    digest(encoding) {
      if (this.#done) throw new Error('Digest already called');
      this.#done = true;
      const made = Buffer.from(this.#finish(Buffer.concat(this.#parts)));
      return encoding === undefined || encoding === 'buffer' ? made : made.toString(encoding);
    }
  }
  const createHash = (name) => new Hash(pick(name)[0]);
  const createHmac = (name, key) => {
    const [hash, block] = pick(name);
    const given = bytesOf(key), secret = new Uint8Array(block);
    secret.set(given.length > block ? hash(given) : given);
    return new Hash((bytes) => hash(Buffer.concat([secret.map((b) => b ^ 92), hash(Buffer.concat([secret.map((b) => b ^ 54), bytes]))])));
  };
  const randomBytes = (size, done) => {
    const made = Buffer.alloc(size);
    for (let at = 0; at < size; at += 65536) web.getRandomValues(new Uint8Array(made.buffer, at, Math.min(65536, size - at)));
    if (typeof done === 'function') { queueMicrotask(() => done(null, made)); return undefined; }
    return made;
  };
  const bits = async (base, salt, algorithm, length) => {
    const key = await web.subtle.importKey('raw', bytesOf(base), algorithm.name, false, ['deriveBits']);
    return Buffer.from(await web.subtle.deriveBits({ ...algorithm, salt: bytesOf(salt) }, key, length * 8));
  };
  const dashed = (name) => String(name).toUpperCase().replace(/^SHA-?/, 'SHA-');
  const pbkdf2 = (password, salt, iterations, length, digest, done) => {
    bits(password, salt, { name: 'PBKDF2', iterations, hash: dashed(digest) }, length).then((key) => done(null, key), (error) => done(error));
  };
  const absent = {};
  const subtle = (names, instead) => { for (const name of names) absent[name] = () => { throw new Error('crypto.' + name + ' is not available here: ' + instead); }; };
  subtle(['createCipheriv', 'createDecipheriv'], 'use await crypto.subtle.encrypt and decrypt (AES-CBC, AES-CTR, AES-GCM).');
  subtle(['pbkdf2Sync'], 'use crypto.pbkdf2 with a callback, or await crypto.subtle.deriveBits (PBKDF2).');
  subtle(['hkdfSync', 'hkdf'], 'use await crypto.subtle.deriveBits (HKDF).');
  subtle(['scryptSync', 'scrypt'], 'use PBKDF2: await crypto.subtle.deriveBits.');
  subtle(['createSign', 'createVerify', 'sign', 'verify', 'generateKeyPairSync', 'generateKeyPair', 'createPublicKey', 'createPrivateKey', 'createECDH', 'createDiffieHellman', 'publicEncrypt', 'privateDecrypt'], 'use await crypto.subtle.generateKey, sign, verify, deriveBits and encrypt.');
  return {
    ...absent, pbkdf2, createHash, createHmac, randomBytes, hash: (name, data, encoding = 'hex') => createHash(name).update(data).digest(encoding),
    randomUUID: () => web.randomUUID(), getRandomValues: (array) => web.getRandomValues(array), webcrypto: web, subtle: web.subtle, getHashes: () => Object.keys(hashes),
    randomInt: (low, high) => { const [from, to] = high === undefined ? [0, low] : [low, high]; return from + Number(randomBytes(6).readUInt32LE(0) % (to - from)); },
    timingSafeEqual: (a, b) => { if (a.byteLength !== b.byteLength) throw new RangeError('Input buffers must have the same byte length'); return Buffer.from(a).equals(b); },
  };
}
