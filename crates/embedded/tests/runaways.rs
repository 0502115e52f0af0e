//! Code that never ends on its own, whatever it is doing: ended by the clock, and nobody else notices.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod stage;

use std::time::{Duration, Instant};

use cove_core::{FaultKind, SessionFate};
use stage::{PATIENCE_MS, body, engine, once, value};

/// Programs that the engine's own interrupt does not reach are among them: only the kill does.
const RUNAWAYS: &[&str] = &[
    "while (true) {}",
    "for (;;) await 0",
    "return Array(1e9).join('x')",
    "return new Array(2 ** 32 - 1).sort()",
    "return /^(a+)+$/.test('a'.repeat(40) + 'b')",
    "return {toJSON() { while (true) {} }}",
    "return {get x() { while (true) {} }}",
    "setTimeout(() => { while (true) {} }, 1); await new Promise(() => {})",
    "const f = () => queueMicrotask(f); f(); await new Promise(r => setTimeout(r, 1e9))",
    "try { while (true) {} } catch { while (true) {} } finally { while (true) {} }",
    "return [].fill.call({length: 2 ** 40}, 1)",
    "setInterval(() => {}, 1); await new Promise(() => {})",
    "const k = await crypto.subtle.importKey('raw', new Uint8Array(8), 'PBKDF2', false, ['deriveBits']); \
     await crypto.subtle.deriveBits({ name: 'PBKDF2', hash: 'SHA-512', salt: new Uint8Array(8), iterations: 4294967295 }, k, 512)",
    "await new ReadableStream({ pull(c) { c.enqueue(1) } }).pipeTo(new WritableStream())",
    "const bytes = new Uint8Array(1 << 20); await new ReadableStream({ pull(c) { c.enqueue(bytes) } }) \
     .pipeThrough(new CompressionStream('gzip')).pipeTo(new WritableStream())",
    "const bytes = new Uint8Array(1 << 20); await new Response(new ReadableStream({ pull(c) { c.enqueue(bytes) } })).text()",
];

/// Each ends with a fault, soon after its deadline (a second here, because tests run on busy machines).
#[tokio::test]
async fn the_clock_ends_everything() {
    let engine = engine();
    value(&engine, "return 0").await;
    for code in RUNAWAYS {
        let started = Instant::now();
        let report = once(&engine, body(code, 150)).await;
        let fault = report.result.unwrap_err();
        // Some of them run into the memory limit first; that, too, is an end.
        assert!(matches!(fault.kind, FaultKind::Timeout | FaultKind::Memory), "{code}: {fault:?}");
        assert!(started.elapsed() < Duration::from_millis(150 + 1000), "{code}: {:?}", started.elapsed());
        if fault.kind == FaultKind::Timeout {
            assert_eq!(fault.message, "Agent execution timed out after 150ms");
            assert_eq!(report.fate, SessionFate::Lost, "{code}");
        }
    }
    assert_eq!(value(&engine, "return 'well'").await, "well");
}

/// Neighbours go on: a session that was open all the time keeps its state and its speed of answering.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn neighbours_do_not_notice() {
    let engine = engine();
    let mut neighbour = stage::session(&engine).await;
    neighbour.run(&body("globalThis.kept = 'mine'", PATIENCE_MS)).await.result.unwrap();
    let bad = async {
        for code in [
            "return Array(1e9).join('x')",
            "while (true) {}",
            "let a = []; while (true) a.push(new Array(1e5).fill(1))",
        ] {
            let report = once(&engine, body(code, 200)).await;
            assert!(report.result.is_err());
        }
    };
    let good = async {
        for n in 0..50 {
            assert_eq!(neighbour.run(&body(&format!("return {n}"), PATIENCE_MS)).await.result.unwrap().value, n);
        }
    };
    tokio::join!(bad, good);
    assert_eq!(neighbour.run(&body("return 'still here'", PATIENCE_MS)).await.result.unwrap().value, "still here");
}

/// Memory: the engine's own count first, the kernel's behind it; the host gets a fault of its kind.
#[tokio::test]
async fn memory_bombs_are_told_as_memory() {
    let engine = engine();
    for code in [
        "let a = []; while (true) a.push(new Array(1e5).fill(1))",
        "let s = 'x'; while (true) s += s",
        "return new ArrayBuffer(1e9).byteLength",
        "const m = new Map(); for (let i = 0; ; i++) m.set(i, {i})",
        "return JSON.parse('[' + '[],'.repeat(3e7) + '0]')",
    ] {
        let report = once(&engine, body(code, 20_000)).await;
        let fault = report.result.unwrap_err();
        // A single allocation that cannot be had is an exception that code may catch; a full heap is a memory fault.
        assert!(matches!(fault.kind, FaultKind::Memory | FaultKind::Exception), "{code}: {fault:?}");
        assert_eq!(value(&engine, "return 1").await, 1);
    }
}

/// Programs that walk trees and fill areas go deep; one that never ends gets an error that it can catch.
#[tokio::test]
async fn there_is_room_to_recurse() {
    let engine = engine();
    for (code, expected) in [
        ("const f = n => n === 0 ? 0 : 1 + f(n - 1); return f(10_000)", 10_000),
        ("const walk = n => n === 0 ? 0 : [n].map(() => 1 + walk(n - 1))[0]; return walk(4000)", 4000),
        ("const f = () => f() + 1; try { f() } catch (e) { return e instanceof RangeError ? 1 : 0 }", 1),
        ("const deep = '['.repeat(3000) + ']'.repeat(3000); return JSON.stringify(JSON.parse(deep)).length", 6000),
    ] {
        assert_eq!(value(&engine, code).await, expected, "{code}");
    }
}
