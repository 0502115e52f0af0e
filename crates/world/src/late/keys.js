// Keys on curves: ECDSA and ECDH on P-256, and Ed25519.
(function (native, kit, world, own) {
  'use strict';
  const { Uint8Array } = world;
  let made;

  // The fixed part of each key file, before and behind the numbers.
  const hex = (text) => Uint8Array.fromHex(text);
  const P256 = { spki: hex('3059301306072a8648ce3d020106082a8648ce3d030107034200'), pkcs8: hex('308187020100301306072a8648ce3d020106082a8648ce3d030107046d306b0201010420'), behind: hex('a144034200'), oid: hex('06082a8648ce3d030107'), secret: hex('0201010420') };
  const ED = { spki: hex('302a300506032b6570032100'), pkcs8: hex('302e020100300506032b657004220420'), oid: hex('06032b6570'), secret: hex('04220420') };
  const join = (...pieces) => {
    const bytes = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
    let at = 0;
    for (const piece of pieces) { bytes.set(piece, at); at += piece.length; }
    return bytes;
  };
  const startsWith = (bytes, head) => bytes.length >= head.length && head.every((byte, at) => bytes[at] === byte);
  // Where a part of a key file ends; -1 where it does not stand. Key files are short.
  function after(bytes, part, from) {
    for (let at = from; at + part.length <= bytes.length; at++) if (part.every((byte, index) => bytes[at + index] === byte)) return at + part.length;
    return -1;
  }

  function algorithms(tools) {
    if (made !== undefined) return made;
    const { fail, elsewhere, has, makeKey, bytesOf, toUrl, fromUrl, hashOf, checkJwk, jwkOf, unknownFormat, partsOf } = tools;
    const same = (a, b) => a.length === b.length && a.every((byte, at) => byte === b[at]);
    // The private number of a PKCS#8 file: behind the curve's name, behind its own mark.
    const secretIn = (bytes, form, what) => {
      const named = after(bytes, form.oid, 0);
      const at = named === -1 ? -1 : after(bytes, form.secret, named);
      if (at === -1 || at + 32 > bytes.length) fail('DataError', `the bytes are no PKCS#8 file of ${what}`);
      return bytes.slice(at, at + 32);
    };
    const publicIn = (bytes, form, length, what) => {
      if (!startsWith(bytes, form.spki) || bytes.length !== form.spki.length + length) fail('DataError', `the bytes are no SPKI file of ${what}`);
      return bytes.slice(form.spki.length);
    };

    const curveOf = (given) => {
      if (given.namedCurve === undefined) throw new world.TypeError('the algorithm needs a namedCurve');
      if (given.namedCurve !== 'P-256') {
        const message = `${given.name} knows the curve P-256 here, not ${given.namedCurve}`;
        if (/^P-(?:384|521)$/.test(given.namedCurve)) elsewhere(message); else fail('NotSupportedError', message);
      }
      return { name: given.name, namedCurve: 'P-256' };
    };
    const notOnCurve = () => fail('DataError', 'the numbers are no key of P-256');
    const ec = (use, secretMay, publicMay) => {
      const publicKey = (algorithm, point, extractable, usages) => makeKey({ type: 'public', algorithm, data: { point: own.p256Point(point) ?? notOnCurve() }, extractable, usages, may: publicMay });
      const privateKey = (algorithm, secret, extractable, usages) => makeKey({ type: 'private', algorithm, data: { secret, point: own.p256Public(secret) ?? notOnCurve() }, extractable, usages, may: secretMay });
      return {
        generateKey(given, extractable, usages) {
          const algorithm = curveOf(given);
          let secret;
          // One number in four thousand million is none of the curve's.
          do secret = native.randomBytes(32); while (own.p256Public(secret) === undefined);
          const privateOnes = usages.filter((usage) => has(secretMay, usage));
          for (const usage of usages) if (!has(secretMay, usage) && !has(publicMay, usage)) fail('SyntaxError', `an ${given.name} key cannot be used for ${usage}`);
          return {
            publicKey: publicKey({ ...algorithm }, own.p256Public(secret), true, usages.filter((usage) => has(publicMay, usage))),
            privateKey: privateKey(algorithm, secret, extractable, privateOnes),
          };
        },
        importKey(format, data, given, extractable, usages) {
          const algorithm = curveOf(given);
          if (format === 'raw') return publicKey(algorithm, bytesOf(data, 'importKey'), extractable, usages);
          if (format === 'spki') return publicKey(algorithm, publicIn(bytesOf(data, 'importKey'), P256, 65, 'P-256'), extractable, usages);
          if (format === 'pkcs8') return privateKey(algorithm, secretIn(bytesOf(data, 'importKey'), P256, 'P-256'), extractable, usages);
          if (format !== 'jwk') unknownFormat(given.name, format);
          checkJwk(data, 'EC', given.name === 'ECDSA' ? 'ES256' : undefined, extractable, usages, use);
          if (data.crv !== 'P-256') fail('DataError', `the JWK is on ${data.crv}, not on P-256`);
          const point = join(new Uint8Array([4]), fromUrl(data.x, 'x'), fromUrl(data.y, 'y'));
          if (data.d === undefined) return publicKey(algorithm, point, extractable, usages);
          const secret = fromUrl(data.d, 'd');
          if (secret.length !== 32 || !same(own.p256Public(secret) ?? notOnCurve(), point)) notOnCurve();
          return privateKey(algorithm, secret, extractable, usages);
        },
        exportKey(format, parts) {
          const { secret, point } = parts.data;
          if (format === 'jwk') {
            const fields = { kty: 'EC', crv: 'P-256', x: toUrl(point.slice(1, 33)), y: toUrl(point.slice(33)) };
            return jwkOf(parts, secret === undefined ? fields : { ...fields, d: toUrl(secret) });
          }
          if (format === 'pkcs8' && secret !== undefined) return join(P256.pkcs8, secret, P256.behind, point).buffer;
          if (secret !== undefined) fail('InvalidAccessError', `a private key is exported as pkcs8 or jwk, not as ${format}`);
          if (format === 'raw') return point.slice().buffer;
          if (format === 'spki') return join(P256.spki, point).buffer;
          return fail(format === 'pkcs8' ? 'InvalidAccessError' : 'NotSupportedError', `a public key is exported as raw, spki or jwk, not as ${format}`);
        },
      };
    };

    const badEd = () => fail('DataError', 'the numbers are no key of Ed25519');
    const edPublic = (point, extractable, usages) => (point.length === 32 ? makeKey({ type: 'public', algorithm: { name: 'Ed25519' }, data: { point }, extractable, usages, may: ['verify'] }) : badEd());
    const edPrivate = (secret, extractable, usages) => makeKey({ type: 'private', algorithm: { name: 'Ed25519' }, data: { secret, point: own.ed25519Public(secret) ?? badEd() }, extractable, usages, may: ['sign'] });

    made = {
      __proto__: null,
      ECDSA: {
        ...ec('sig', ['sign'], ['verify']),
        sign: (given, parts, data) => own.p256Sign(parts.data.secret, native.digest(hashOf(given.hash), data)) ?? fail('OperationError', 'the data cannot be signed'),
        verify: (given, parts, signature, data) => own.p256Verify(parts.data.point, native.digest(hashOf(given.hash), data), signature),
      },
      ECDH: {
        ...ec('enc', ['deriveKey', 'deriveBits'], []),
        deriveBits(given, parts, length) {
          const other = partsOf(given.public, 'public of ECDH');
          if (parts.type !== 'private' || other.type !== 'public' || other.algorithm.name !== 'ECDH') fail('InvalidAccessError', 'ECDH takes a private key and the public key of the other side');
          const shared = own.p256Agree(parts.data.secret, other.data.point) ?? fail('OperationError', 'the keys do not agree');
          if (length === null || length === undefined) return shared;
          const bits = world.Number(length);
          if (!(bits >= 0 && bits <= 256)) fail('OperationError', `ECDH on P-256 gives at most 256 bits, not ${length}`);
          const cut = shared.slice(0, world.Math.ceil(bits / 8));
          if (bits % 8 !== 0) cut[cut.length - 1] &= 255 << (8 - bits % 8);
          return cut;
        },
      },
      Ed25519: {
        generateKey(given, extractable, usages) {
          for (const usage of usages) if (usage !== 'sign' && usage !== 'verify') fail('SyntaxError', `an Ed25519 key cannot be used for ${usage}`);
          const secret = native.randomBytes(32);
          return { publicKey: edPublic(own.ed25519Public(secret), true, usages.filter((usage) => usage === 'verify')), privateKey: edPrivate(secret, extractable, usages.filter((usage) => usage === 'sign')) };
        },
        importKey(format, data, given, extractable, usages) {
          if (format === 'raw') return edPublic(bytesOf(data, 'importKey'), extractable, usages);
          if (format === 'spki') return edPublic(publicIn(bytesOf(data, 'importKey'), ED, 32, 'Ed25519'), extractable, usages);
          if (format === 'pkcs8') return edPrivate(secretIn(bytesOf(data, 'importKey'), ED, 'Ed25519'), extractable, usages);
          if (format !== 'jwk') unknownFormat('Ed25519', format);
          checkJwk(data, 'OKP', undefined, extractable, usages, 'sig');
          if (data.alg !== undefined && data.alg !== 'Ed25519' && data.alg !== 'EdDSA') fail('DataError', `the JWK is for ${data.alg}, not for Ed25519`);
          if (data.crv !== 'Ed25519') fail('DataError', `the JWK is on ${data.crv}, not on Ed25519`);
          const point = fromUrl(data.x, 'x');
          if (data.d === undefined) return edPublic(point, extractable, usages);
          const secret = fromUrl(data.d, 'd');
          if (!same(own.ed25519Public(secret) ?? badEd(), point)) badEd();
          return edPrivate(secret, extractable, usages);
        },
        exportKey(format, parts) {
          const { secret, point } = parts.data;
          if (format === 'jwk') return jwkOf(parts, { alg: 'Ed25519', crv: 'Ed25519', ...(secret === undefined ? {} : { d: toUrl(secret) }), x: toUrl(point), kty: 'OKP' });
          if (format === 'pkcs8' && secret !== undefined) return join(ED.pkcs8, secret).buffer;
          if (secret !== undefined) fail('InvalidAccessError', `a private key is exported as pkcs8 or jwk, not as ${format}`);
          if (format === 'raw') return point.slice().buffer;
          if (format === 'spki') return join(ED.spki, point).buffer;
          return fail(format === 'pkcs8' ? 'InvalidAccessError' : 'NotSupportedError', `a public key is exported as raw, spki or jwk, not as ${format}`);
        },
        sign: (given, parts, data) => own.ed25519Sign(parts.data.secret, data),
        verify: (given, parts, signature, data) => own.ed25519Verify(parts.data.point, data, signature),
      },
    };
    return made;
  }

  return { names: {}, inner: { algorithms, join } };
})
