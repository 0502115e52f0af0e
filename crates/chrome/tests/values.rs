//! What a run gives back: values, errors, and where they come from.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs, unreachable_pub, dead_code)]

mod world;

use cove_core::{FaultKind, Limits, Position, RunRequest, SessionFate, SessionOptions};
use serde_json::json;
use world::{body, failed, finished, is, world};

#[tokio::test]
async fn values_come_back_as_json() {
    let world = world(2);
    for (code, expected) in [
        ("return 42", json!(42)),
        ("return", json!(null)),
        ("", json!(null)),
        ("return () => 1", json!(null)),
        ("return Symbol('x')", json!(null)),
        ("return [NaN, Infinity, undefined, -0]", json!([null, null, null, 0])),
        ("return new Date(0)", json!("1970-01-01T00:00:00.000Z")),
        ("return {toJSON() { return {a: 1} }}", json!({"a": 1})),
        ("return {toJSON() {}}", json!(null)),
        ("return await Promise.resolve([1, 'ä', '😀'])", json!([1, "ä", "😀"])),
        ("return 'half \\ud83d'", json!("half \u{fffd}")),
        ("return await new Promise(r => setTimeout(() => r('late'), 20))", json!("late")),
        ("const n: number = 4; interface A { x: number }; return n as number", json!(4)),
        ("return document.title + typeof crypto.subtle + isSecureContext", json!("Coveobjecttrue")),
        ("localStorage.a = 1; return [localStorage.a, typeof SharedArrayBuffer]", json!(["1", "function"])),
        (
            "return [innerWidth, innerHeight, outerWidth, outerHeight, screen.width, screen.height, devicePixelRatio]",
            json!([1280, 800, 1280, 800, 1280, 800, 1]),
        ),
        (
            "const d = document.createElement('div'); document.body.append(d);
          const seen = await new Promise(r => new ResizeObserver(e => r(e.length)).observe(d));
          return [document.visibilityState, typeof await new Promise(requestAnimationFrame), seen]",
            json!(["visible", "number", 1]),
        ),
        ("return [typeof input, 'input' in globalThis]", json!(["undefined", true])),
        (
            "const b = new Blob(['postMessage(6*7)']); const w = new Worker(URL.createObjectURL(b));
          return await new Promise(r => w.onmessage = e => r(e.data))",
            json!(42),
        ),
        ("return (0, eval)('1 + 1') + new Function('a', 'return a * 2')(20)", json!(42)),
        ("return Object.keys(globalThis).filter(k => k.startsWith('__cove'))", json!([])),
        (
            "return ['send', 'n', 'boot', 'stop'].map(n => typeof globalThis['__co' + 've_' + n])",
            json!(["undefined", "undefined", "undefined", "undefined"]),
        ),
        ("return (0, eval)('typeof __co' + 've_boot')", json!("undefined")),
    ] {
        assert_eq!(world.value(code).await, expected, "{code}");
    }
    let mut session = world.open(SessionOptions::one_shot()).await;
    let request =
        RunRequest { input: Some(json!({"a": [1, 2]})), ..body("return [input.a[1], globalThis.input === input]") };
    assert_eq!(finished(session.run(&request).await, "input").value, json!([2, true]));
    session.close().await.unwrap();
    world.end().await;
}

#[tokio::test]
async fn failures_say_what_and_where() {
    let world = world(2);
    let at = |line, column| Some(Position { line, column });
    for (code, kind, message, position) in [
        ("let a = 1;\nthrow new TypeError('no')", FaultKind::Exception, "TypeError: no", at(2, 7)),
        (
            "let a = 1;\n  null.x",
            FaultKind::Exception,
            "TypeError: Cannot read properties of null (reading 'x')",
            at(2, 8),
        ),
        ("function f() { missing() }\nf()", FaultKind::Exception, "ReferenceError: missing is not defined", at(1, 16)),
        (
            "const x: number = 1;\nawait Promise.reject(new RangeError('r' + x))",
            FaultKind::Exception,
            "RangeError: r1",
            at(2, 22),
        ),
        ("throw 'plain'", FaultKind::Exception, "Uncaught \"plain\"", None),
        ("throw {a: 1}", FaultKind::Exception, "{ a: 1 }", None),
        ("throw undefined", FaultKind::Exception, "undefined", None),
        ("class E extends Error { name = 'Own' }\n\nthrow new E('x')", FaultKind::Exception, "Own: x", at(3, 7)),
        ("throw new DOMException('d', 'AbortError')", FaultKind::Exception, "AbortError: d", None),
        ("let x = ;", FaultKind::Syntax, "", at(1, 9)),
        ("import fs from 'fs'", FaultKind::Refused, "import", at(1, 1)),
        ("return 10n", FaultKind::NotSerializable, "BigInt", None),
        ("const a = {}; a.a = a; return a", FaultKind::NotSerializable, "circular", None),
        ("return {toJSON() { throw new Error('mine') }}", FaultKind::NotSerializable, "mine", None),
        ("return {get a() { throw new Error('getter') }}", FaultKind::NotSerializable, "getter", None),
        ("let v = 0; for (let i = 0; i < 1000; i++) v = [v]; return v", FaultKind::NotSerializable, "deeply", None),
        ("return 'x'.repeat(200_000)", FaultKind::ResultTooLarge, "200002", None),
        ("const x = eval('1 +')", FaultKind::Exception, "SyntaxError", at(1, 11)),
        (
            "throw new Error('a', { cause: new TypeError('b') })",
            FaultKind::Exception,
            "Error: a (cause: TypeError: b)",
            at(1, 7),
        ),
        (
            "await Promise.any([Promise.reject('p'), Promise.reject(new Error('q'))])",
            FaultKind::Exception,
            "[Uncaught \"p\"; Error: q]",
            None,
        ),
    ] {
        let report = world.report(code).await;
        assert_eq!(report.fate, SessionFate::Usable, "{code}: {report:?}");
        let fault = failed(report, code);
        is(&fault, kind, message);
        assert_eq!(fault.position, position, "{code}: {fault:?}");
        assert_eq!(fault.frame.is_some(), position.is_some(), "{code}");
    }
    is(
        &world.fault("const f = () => f(); f()").await,
        FaultKind::Exception,
        "RangeError: Maximum call stack size exceeded",
    );
    let fault = world.fault("const ä = '😀😀', 名 = null; 名.x").await;
    assert_eq!(fault.position, at(1, 29), "{fault:?}");
    let fault = world.fault("return 'y'.repeat(50e6)").await;
    assert_eq!(fault.details["jsonLength"], 50_000_002u64);
    let fault = world.fault("return '😀'.repeat(199_999)").await;
    assert_eq!((fault.kind, &fault.details["jsonLength"]), (FaultKind::ResultTooLarge, &json!(200_001)));
    assert_eq!(world.value("return '😀'.repeat(199_998).length").await, 399_996);
    let wide = SessionOptions {
        limits: Limits { max_result_chars: 60 << 20, memory_bytes: 900 << 20, ..Limits::ONE_SHOT },
        ..SessionOptions::one_shot()
    };
    let mut session = world.open(wide).await;
    let value = finished(session.run(&body("return 'z'.repeat(50e6)")).await, "50 MB").value;
    assert_eq!(value.as_str().map(str::len), Some(50_000_000));
    session.close().await.unwrap();
    world.end().await;
}
