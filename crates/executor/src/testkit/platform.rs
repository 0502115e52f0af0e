//! What of the web's platform both engines have: the browser's own, and ours.

use serde_json::{Value, json};

use super::Suite;

/// A list of patterns, each tried on one address; the values are Chrome's.
const PATTERNS: &str = include_str!("patterns.js");
const MATCHES: &str = include_str!("patterns.json");

impl Suite {
    /// Streams, forms, channels, compression and keys give the same values in every engine.
    pub fn the_platform_is_the_same(&self) {
        let cases: &[(&str, Value)] = &[
            (
                "const from = new ReadableStream({ start(c) { c.enqueue('a'); c.enqueue('b'); c.close() } }); const up = new \
                 TransformStream({ transform(x, c) { c.enqueue(x + x) }, flush(c) { c.enqueue('.') } }); const got = []; for await \
                 (const x of from.pipeThrough(up)) got.push(x); return got",
                json!(["aa", "bb", "."]),
            ),
            (
                "const [one, two] = new Response('hey').body.tee(); return [await new Response(one).text(), await new \
                 Response(two.pipeThrough(new TextDecoderStream()).pipeThrough(new TextEncoderStream())).text()]",
                json!(["hey", "hey"]),
            ),
            (
                "const log = []; const w = new WritableStream({ write(x) { log.push(x) }, close() { log.push('end') } }); await \
                 new Blob(['x', 'y']).stream().pipeTo(new WritableStream({ write(b) { log.push(...b) } })); const g = \
                 w.getWriter(); g.write(1); await g.close(); return [log, await g.write(2).catch((e) => e.name)]",
                json!([[120, 121, 1, "end"], "TypeError"]),
            ),
            (
                "const f = new FormData(); f.append('a', '1'); f.append('f', new File(['x'], 'n.txt', { type: 'text/plain' })); \
                 const back = await new Response(f).formData(); return [back.get('a'), back.get('f').name, await \
                 back.get('f').text()]",
                json!(["1", "n.txt", "x"]),
            ),
            (
                "const { port1, port2 } = new MessageChannel(); return new Promise((r) => { port2.onmessage = (e) => \
                 r([...e.data.m]); port1.postMessage({ m: new Map([[1, 2]]) }) })",
                json!([[1, 2]]),
            ),
            (
                "const out = []; for (const f of ['gzip', 'deflate', 'deflate-raw']) out.push((await new Response(new \
                 Blob(['ab'.repeat(999)]).stream().pipeThrough(new CompressionStream(f)).pipeThrough(new \
                 DecompressionStream(f))).text()).length); const bad = await new Response(new \
                 Blob(['no gzip at all']).stream().pipeThrough(new DecompressionStream('gzip'))).text().catch((e) => e.name); \
                 return [out, bad]",
                json!([[1998, 1998, 1998], "TypeError"]),
            ),
            (
                "const s = crypto.subtle, enc = new TextEncoder(), hex = (b) => [...new Uint8Array(b)].map((x) => \
                 x.toString(16).padStart(2, '0')).join(''); const h = await s.importKey('raw', enc.encode('k'), { name: 'HMAC', \
                 hash: 'SHA-256' }, false, ['sign']); const p = await s.importKey('raw', enc.encode('pw'), 'PBKDF2', false, \
                 ['deriveKey']); const a = await s.deriveKey({ name: 'PBKDF2', salt: enc.encode('salt'), iterations: 100, hash: \
                 'SHA-256' }, p, { name: 'AES-GCM', length: 256 }, false, ['encrypt']); return [hex(await s.sign('HMAC', h, \
                 enc.encode('d'))), hex(await s.encrypt({ name: 'AES-GCM', iv: new Uint8Array(12) }, a, enc.encode('text')))]",
                json!([
                    "e7ea21c3bcb63a4da3ad78503168d36bdca0be622382ea60a108fad4e4966679",
                    "a194eeffe493e2f643a682300da929491affccf5"
                ]),
            ),
            (
                "const s = crypto.subtle; const k = await s.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign', \
                 'verify']); const p = { name: 'ECDSA', hash: 'SHA-256' }, d = new Uint8Array([1]); const sig = await s.sign(p, \
                 k.privateKey, d); return [sig.byteLength, await s.verify(p, k.publicKey, sig, d), k.privateKey.usages, \
                 Object.keys(await s.exportKey('jwk', k.publicKey)).sort(), await s.decrypt({ name: 'AES-GCM', iv: d }, \
                 k.publicKey, d).catch((e) => e.name)]",
                json!([64, true, ["sign"], ["crv", "ext", "key_ops", "kty", "x", "y"], "InvalidAccessError"]),
            ),
            (PATTERNS, serde_json::from_str(MATCHES).unwrap_or_default()),
        ];
        let differs = |(code, expected): &(&str, Value)| {
            let answer = self.run(self.request(*code)).answer();
            (answer != *expected).then(|| format!("{code}\n    must: {expected}\n    was: {answer}"))
        };
        let failures: Vec<String> = cases.iter().filter_map(differs).collect();
        assert!(failures.is_empty(), "{} engine:\n{}", self.engine.name(), failures.join("\n"));
    }
}
