//! The web's platform as Node has it: streams, forms, channels, compression, `crypto.subtle`.
//!
//! Each table in `platform/` is a list of programs. What must come of them is what comes of them in a real Node.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs, clippy::result_large_err)]

mod host;

use cove_core::{Limits, Random};
use cove_testkit::run_in_node;
use host::{Guest, setup};
use serde_json::{Value, json};

/// The values of programs with their inputs, in Node; `{ thrown }` for one that failed.
fn in_node(programs: &[(&str, Value)]) -> Vec<Value> {
    let ends = run_in_node(programs).into_iter();
    ends.map(|end| end.thrown.map_or(end.value.unwrap_or_default(), |thrown| json!({ "thrown": thrown }))).collect()
}

fn here(code: &str, input: Value) -> Value {
    match Guest::new().with_input(code, input) {
        Ok(value) => value,
        Err(fault) => json!({ "thrown": fault.message }),
    }
}

/// Each program of a table gives here what it gives in Node.
fn check(text: &str) {
    let blocks: Vec<(&str, &str)> = text
        .split("\n---\n")
        .map(|block| block.trim_start_matches('\n').split_once('\n').expect("a title and a program"))
        .collect();
    let programs: Vec<_> = blocks.iter().map(|(_, code)| (*code, Value::Null)).collect();
    let mut failures = Vec::new();
    for ((does, code), node) in blocks.iter().zip(in_node(&programs)) {
        assert!(node.get("thrown").is_none(), "Node itself fails: {does}: {node}");
        let is = here(code, Value::Null);
        if is != node {
            failures.push(format!("{does}\n    node: {node}\n    here: {is}"));
        }
    }
    assert!(failures.is_empty(), "{}:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn streams_are_as_in_node() {
    check(include_str!("platform/streams.txt"));
}

#[test]
fn forms_channels_and_bodies_are_as_in_node() {
    check(include_str!("platform/web.txt"));
}

#[test]
fn compression_is_as_in_node() {
    check(include_str!("platform/compression.txt"));
}

#[test]
fn keys_and_ciphers_are_as_in_node() {
    check(include_str!("platform/crypto.txt"));
}

/// What is packed or signed here is unpacked and verified there, and the other way round.
#[test]
fn what_one_makes_the_other_takes() {
    const PACK: &str = "const out = {}; for (const f of ['gzip', 'deflate', 'deflate-raw']) out[f] = [...new Uint8Array(await \
        new Response(new Blob(['one two '.repeat(99)]).stream().pipeThrough(new CompressionStream(f))).arrayBuffer())]; return out";
    const UNPACK: &str = "const out = []; for (const [f, b] of Object.entries(input)) out.push((await new Response(new \
        Blob([new Uint8Array(b)]).stream().pipeThrough(new DecompressionStream(f))).text()).length); return out";
    const SIGN: &str = "const out = []; for (const a of [{ name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }, { name: \
        'Ed25519' }]) { const k = await crypto.subtle.generateKey(a, true, ['sign', 'verify']); out.push([a, await \
        crypto.subtle.exportKey('jwk', k.publicKey), [...new Uint8Array(await crypto.subtle.exportKey('spki', k.publicKey))], \
        [...new Uint8Array(await crypto.subtle.exportKey('pkcs8', k.privateKey))], [...new Uint8Array(await \
        crypto.subtle.sign(a, k.privateKey, new Uint8Array([5])))]]) } return out";
    const VERIFY: &str = "const out = []; for (const [a, jwk, spki, pkcs8, sig] of input) for (const k of [await \
        crypto.subtle.importKey('jwk', jwk, a, true, ['verify']), await crypto.subtle.importKey('spki', new Uint8Array(spki), a, \
        true, ['verify'])]) { const p = await crypto.subtle.importKey('pkcs8', new Uint8Array(pkcs8), a, false, ['sign']); \
        const again = await crypto.subtle.sign(a, p, new Uint8Array([6])); out.push(await crypto.subtle.verify(a, k, new \
        Uint8Array(sig), new Uint8Array([5])), await crypto.subtle.verify(a, k, again, new Uint8Array([6]))) } return out";
    let made = in_node(&[(PACK, Value::Null), (SIGN, Value::Null)]);
    let taken = in_node(&[(UNPACK, here(PACK, Value::Null)), (VERIFY, here(SIGN, Value::Null))]);
    let lengths = json!([792, 792, 792]);
    let verified = json!([true, true, true, true, true, true, true, true]);
    assert_eq!(taken, [lengths.clone(), verified.clone()]);
    assert_eq!(here(UNPACK, made[0].clone()), lengths);
    assert_eq!(here(VERIFY, made[1].clone()), verified);
}

/// Keys of RSA that Node has made sign and verify here, and Node takes what comes of it.
#[test]
fn rsa_keys_of_node_work_here() {
    const MAKE: &str = "const s = crypto.subtle, data = new Uint8Array([1, 2, 3]), list = (b) => [...new Uint8Array(b)], out = []; for (const [name, hash] of \
        [['RSASSA-PKCS1-v1_5', 'SHA-256'], ['RSASSA-PKCS1-v1_5', 'SHA-384'], ['RSA-PSS', 'SHA-512']]) { const a = { name, hash, saltLength: 64 }; const k = await \
        s.generateKey({ ...a, modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]) }, true, ['sign', 'verify']); out.push([a, list(await \
        s.exportKey('spki', k.publicKey)), list(await s.exportKey('pkcs8', k.privateKey)), await s.exportKey('jwk', k.publicKey), await s.exportKey('jwk', \
        k.privateKey), list(await s.sign(a, k.privateKey, data))]) } return out";
    const USE: &str = "const s = crypto.subtle, data = new Uint8Array([1, 2, 3]), list = (b) => [...new Uint8Array(b)], out = []; for (const [a, spki, pkcs8, \
        jwk, secret, signature] of input) { const keys = [await s.importKey('spki', new Uint8Array(spki), a, true, ['verify']), await s.importKey('jwk', jwk, a, \
        true, ['verify'])]; const own = [await s.importKey('pkcs8', new Uint8Array(pkcs8), a, true, ['sign']), await s.importKey('jwk', secret, a, true, ['sign'])]; \
        const row = []; for (const k of keys) row.push(await s.verify(a, k, new Uint8Array(signature), data), await s.verify(a, k, new Uint8Array(signature), \
        data.slice(1)), list(await s.exportKey('spki', k)), await s.exportKey('jwk', k), k.algorithm.modulusLength, [...k.algorithm.publicExponent], \
        k.algorithm.hash, k.type); for (const k of own) { row.push(list(await s.exportKey('pkcs8', k)), await s.exportKey('jwk', k), k.usages); if (a.name !== \
        'RSA-PSS') row.push(list(await s.sign(a, k, data))) } out.push(row) } return out";
    const REFUSED: &str = "const s = crypto.subtle, n = (p) => p.then((v) => 'done', (e) => e.name); const [a, spki, pkcs8, jwk] = input[0]; const k = await \
        s.importKey('spki', new Uint8Array(spki), a, false, []); return [k.usages, k.extractable, await n(s.importKey('spki', new Uint8Array(spki).slice(1), a, true, ['verify'])), await \
        n(s.importKey('pkcs8', new Uint8Array(pkcs8).subarray(0, 900), a, true, ['sign'])), await n(s.importKey('spki', new Uint8Array(spki), a, true, ['sign'])), \
        await n(s.verify(a, k, new Uint8Array(256), \
        new Uint8Array(1)))]";
    let made = in_node(&[(MAKE, Value::Null)]).remove(0);
    let node = in_node(&[(USE, made.clone()), (REFUSED, made.clone())]);
    assert_eq!(here(USE, made.clone()), node[0]);
    assert_eq!(here(REFUSED, made), node[1]);
    let refused = "const f = (p) => p.then(() => 'done', (e) => e.name + ' ' + e.message.includes('use engine \"browser\"')); const s = crypto.subtle; return [await \
        f(s.generateKey({ name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }, true, ['sign'])), await f(s.importKey('spki', new Uint8Array(9), { name: 'RSA-OAEP', hash: \
        'SHA-1' }, true, ['encrypt'])), await f(s.generateKey({ name: 'NOPE' }, true, []))]";
    let (browser, no) = ("NotSupportedError true", "NotSupportedError false");
    assert_eq!(here(refused, Value::Null), json!([browser, browser, no]));
}

/// A gigabyte of zeros in a megabyte of gzip, twice packed into a few kilobytes: it ends at the memory limit.
#[test]
fn a_bomb_meets_the_memory_limit() {
    let bomb = "let bytes = new Uint8Array(1 << 20); const zeros = bytes; let left = 1024;
        const source = new ReadableStream({ pull(c) { if (left-- > 0) c.enqueue(zeros); else c.close() } });
        const packed = await new Response(source.pipeThrough(new CompressionStream('gzip'))).arrayBuffer();
        console.log(packed.byteLength);
        return (await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'))).arrayBuffer()).byteLength";
    let mut guest = Guest::new();
    let report = guest.report(bomb, false, None);
    let fault = report.result.unwrap_err();
    assert_eq!(serde_json::to_value(fault.kind).unwrap(), "memory", "{fault:?}");
    assert!(guest.desk.text().parse::<u64>().unwrap() < 2 << 20, "{}", guest.desk.text());
    // Read piece by piece it is no bomb: nothing keeps what was read.
    let counted = bomb.replace("console.log", "void ").split("return (await").next().unwrap().to_owned()
        + "let n = 0; for await (const piece of new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'))) \
           n += piece.length; return n";
    let limits = Limits { memory_bytes: 64 << 20, ..Limits::ONE_SHOT };
    let mut guest = Guest::with(&cove_world::Setup { limits, ..setup() });
    let counted = guest.body(&counted.replace("left = 1024", "left = 16")).unwrap();
    assert_eq!(counted, 16 << 20);
}

/// Codecs lie outside the heap: there are only so many, and those that were dropped make room.
#[test]
fn codecs_are_counted() {
    let many = "const kept = []; let n = 0; try { for (; n < 1000; n++) kept.push(new CompressionStream('gzip')) } catch (e) \
        { return [n, e.name] } return n";
    assert_eq!(Guest::new().body(many).unwrap(), json!([128, "RangeError"]));
    let dropped =
        "for (let n = 0; n < 1000; n++) { new CompressionStream('gzip'); await null; await null } return 'fine'";
    assert_eq!(Guest::new().body(dropped).unwrap(), "fine");
    let finished = "for (let n = 0; n < 300; n++) { await new Response(new Blob(['x']).stream().pipeThrough(new \
        CompressionStream('gzip'))).text() } return 'fine'";
    assert_eq!(Guest::new().body(finished).unwrap(), "fine");
}

/// Bytes are copied for the host's side of `crypto.subtle`; what is too long is refused before.
#[test]
fn one_call_takes_so_much() {
    let limits = Limits { memory_bytes: 512 << 20, ..Limits::ONE_SHOT };
    let mut guest = Guest::with(&cove_world::Setup { limits, ..setup() });
    let code = "const key = await crypto.subtle.generateKey({ name: 'HMAC', hash: 'SHA-1' }, false, ['sign']); const bytes = new \
        Uint8Array((64 << 20) + 1); return [await crypto.subtle.sign('HMAC', key, bytes).catch((e) => e.name), (await \
        crypto.subtle.sign('HMAC', key, bytes.subarray(1))).byteLength]";
    assert_eq!(guest.body(code).unwrap(), json!(["OperationError", 20]));
}

/// Keys come from the session's own randomness: the same in each run of a seeded one, none where there is none.
#[test]
fn keys_come_from_the_randomness_of_the_session() {
    let code = "const out = []; for (const [a, u] of [[{ name: 'AES-GCM', length: 128 }, ['encrypt']], [{ name: 'ECDSA', \
        namedCurve: 'P-256' }, ['sign', 'verify']], ['Ed25519', ['sign', 'verify']]]) { const k = await \
        crypto.subtle.generateKey(a, true, u); out.push(await crypto.subtle.exportKey('jwk', k.privateKey ?? k)) } return out";
    let made = |random| Guest::with(&cove_world::Setup { random, ..setup() }).body(code);
    assert_eq!(made(Random::Seeded(5)).unwrap(), made(Random::Seeded(5)).unwrap());
    assert_ne!(made(Random::Seeded(5)).unwrap(), made(Random::Seeded(6)).unwrap());
    let refused = made(Random::None).unwrap_err();
    assert!(refused.message.contains("no randomness"), "{}", refused.message);
}
