// Keys of RSA that were made elsewhere: they are imported and exported, they verify, and sign by PKCS #1. What else RSA can do is
// Chrome's.
(function (native, kit, world, own) {
  'use strict';
  const { Uint8Array } = world;
  const { join } = kit.late('keys.js');
  let made;

  const OID = Uint8Array.fromHex('06092a864886f70d0101010500');
  // The numbers of a key in the order of its file.
  const PUBLIC = ['n', 'e'];
  const PRIVATE = ['n', 'e', 'd', 'p', 'q', 'dp', 'dq', 'qi'];

  const lengthOf = (count) => (count < 128 ? [count] : count < 256 ? [0x81, count] : [0x82, count >> 8, count & 255]);
  const der = (tag, ...pieces) => {
    const body = join(...pieces);
    return join(Uint8Array.of(tag, ...lengthOf(body.length)), body);
  };
  const written = (number) => der(2, number[0] > 127 ? join(Uint8Array.of(0), number) : number);
  const plain = (number) => {
    let at = 0;
    while (at < number.length - 1 && number[at] === 0) at++;
    return number.slice(at);
  };
  // One element of a key file: what is in it, and what is behind it. `undefined`: another one stands there.
  const read = (bytes, tag) => {
    let at = 2;
    let length = bytes[1];
    if (bytes[0] !== tag || length === undefined || length === 0x80 || length > 0x82) return undefined;
    if (length > 0x80) {
      at += length - 0x80;
      length = length === 0x81 ? bytes[2] : bytes[2] * 256 + bytes[3];
    }
    return at + length <= bytes.length ? [bytes.subarray(at, at + length), bytes.subarray(at + length)] : undefined;
  };
  // The numbers of a sequence, by these names.
  const numbersIn = (bytes, names) => {
    let rest = read(bytes, 0x30)?.[0];
    const out = {};
    for (const name of names) {
      const found = rest === undefined ? undefined : read(rest, 2);
      if (found === undefined || found[0].length === 0) return undefined;
      out[name] = plain(found[0]);
      [, rest] = found;
    }
    return out;
  };
  // What a file says behind the name of the algorithm.
  const behindName = (bytes, tag) => {
    const named = read(bytes, 0x30);
    if (named === undefined || named[0].toHex() !== OID.toHex()) return undefined;
    return read(named[1], tag)?.[0];
  };
  const ofSpki = (bytes) => {
    const bits = behindName(read(bytes, 0x30)?.[0] ?? bytes, 3);
    return bits === undefined || bits[0] !== 0 ? undefined : numbersIn(bits.subarray(1), PUBLIC);
  };
  const ofPkcs8 = (bytes) => {
    const version = read(read(bytes, 0x30)?.[0] ?? bytes, 2);
    const key = version === undefined ? undefined : behindName(version[1], 4);
    return key === undefined ? undefined : numbersIn(key, ['version', ...PRIVATE]);
  };

  function algorithms({ fail, elsewhere, makeKey, bytesOf, toUrl, fromUrl, hashOf, checkJwk, jwkOf, unknownFormat }) {
    if (made !== undefined) return made;
    const secret = (parts) => PRIVATE.map((name) => parts.data[name]);

    const kind = (name, mark) => {
      const jwkName = (hash) => `${mark}${hash.slice(4)}`;
      const key = (given, numbers, extractable, usages, what) => {
        const type = numbers?.d === undefined ? 'public' : 'private';
        if (numbers === undefined || type === 'private' && !own.rsaIsKey(PRIVATE.map((each) => numbers[each]))) fail('DataError', `this is no ${what} of an RSA key with 2048 to 4096 bits`);
        const [first] = numbers.n;
        const modulusLength = numbers.n.length * 8 - world.Math.clz32(first) + 24;
        const algorithm = { name, modulusLength, publicExponent: numbers.e.slice(), hash: { name: hashOf(given.hash) } };
        return makeKey({ type, algorithm, data: numbers, extractable, usages, may: [type === 'public' ? 'verify' : 'sign'] });
      };
      return {
        generateKey: () => elsewhere(`${name} keys are not made here`),
        importKey(format, data, given, extractable, usages) {
          const hash = hashOf(given.hash);
          if (format === 'spki') return key(given, ofSpki(bytesOf(data, 'importKey')), extractable, usages, 'SPKI file');
          if (format === 'pkcs8') return key(given, ofPkcs8(bytesOf(data, 'importKey')), extractable, usages, 'PKCS#8 file');
          if (format !== 'jwk') unknownFormat(name, format);
          checkJwk(data, 'RSA', jwkName(hash), extractable, usages, 'sig');
          const numbers = {};
          for (const each of data.d === undefined ? PUBLIC : PRIVATE) numbers[each] = plain(fromUrl(data[each], each));
          return key(given, numbers, extractable, usages, 'JWK');
        },
        exportKey(format, parts) {
          const { data, type, algorithm } = parts;
          if (format === 'jwk') {
            const fields = { kty: 'RSA', alg: jwkName(algorithm.hash.name) };
            for (const each of type === 'public' ? PUBLIC : PRIVATE) fields[each] = toUrl(data[each]);
            return jwkOf(parts, fields);
          }
          if (type === 'public' && format === 'spki') return der(0x30, der(0x30, OID), der(3, Uint8Array.of(0), der(0x30, ...PUBLIC.map((each) => written(data[each]))))).buffer;
          const zero = Uint8Array.of(2, 1, 0);
          if (type === 'private' && format === 'pkcs8') return der(0x30, zero, der(0x30, OID), der(4, der(0x30, zero, ...PRIVATE.map((each) => written(data[each]))))).buffer;
          return fail(format === 'spki' || format === 'pkcs8' ? 'InvalidAccessError' : 'NotSupportedError', `a ${type} key of RSA is exported as ${type === 'public' ? 'spki' : 'pkcs8'} or jwk, not as ${format}`);
        },
      };
    };

    made = {
      __proto__: null,
      'RSASSA-PKCS1-v1_5': {
        ...kind('RSASSA-PKCS1-v1_5', 'RS'),
        sign: (given, parts, data) => own.rsaSign(parts.algorithm.hash.name, secret(parts), data) ?? elsewhere('RSA does not sign with SHA-1 here'),
        verify: (given, parts, signature, data) => own.rsaVerify(parts.algorithm.hash.name, false, parts.data.n, parts.data.e, data, signature),
      },
      'RSA-PSS': {
        ...kind('RSA-PSS', 'PS'),
        sign: () => elsewhere('RSA-PSS does not sign here'),
        verify(given, parts, signature, data) {
          const { name } = parts.algorithm.hash;
          const length = world.Number(name.slice(4)) / 8;
          if (name === 'SHA-1' || world.Number(given.saltLength) !== length) elsewhere(`RSA-PSS verifies with SHA-256, SHA-384 and SHA-512 here, and a saltLength of the hash's own length`);
          return own.rsaVerify(name, true, parts.data.n, parts.data.e, data, signature);
        },
      },
    };
    return made;
  }

  return { names: {}, inner: { algorithms } };
})
