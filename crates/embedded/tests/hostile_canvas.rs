//! Canvases that want too much: each ends in a value or a clear fault within its time, and the engine goes on.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod stage;

use cove_core::{FaultKind, SessionFate};
use stage::{body, engine, once, value};

/// More than any of them takes, on a machine that has much else to do.
const TIMEOUT_MS: u64 = 60_000;

/// The program, and what it must give; `None` where any value or a fault about memory or range will do.
const HOSTILE: &[(&str, Option<&str>)] = &[
    // Sizes.
    ("try { getCanvas(1e9, 1e9); return 'made' } catch (e) { return e.name }", Some("RangeError")),
    ("try { new OffscreenCanvas(1e9, 1e9).getContext('2d').fillRect(0, 0, 1, 1); return 'made' } catch (e) { return e.name }", None),
    ("const c = getCanvas(10, 10); try { c.width = 1e9; c.height = 1e9 } catch {} return 'on'", None),
    ("const ctx = getCanvas(10, 10).getContext('2d'); try { ctx.getImageData(0, 0, 1e9, 1e9); return 'got' } catch (e) { return e.name }", Some("RangeError")),
    ("const ctx = getCanvas(10, 10).getContext('2d'); try { ctx.createImageData(65535, 65535); return 'got' } catch (e) { return e.name }", Some("RangeError")),
    // States.
    (
        "const ctx = getCanvas(10, 10).getContext('2d'); for (let i = 0; i < 100000; i++) { ctx.save(); ctx.lineWidth = i + 1 }
         for (let i = 0; i < 100000; i++) ctx.restore(); return String(ctx.lineWidth)",
        Some("1"),
    ),
    ("const ctx = getCanvas(10, 10).getContext('2d'); for (let i = 0; i < 100000; i++) { ctx.save(); ctx.beginPath(); ctx.arc(5, 5, 5 - i * 1e-6, 0, 7); ctx.clip() } return 'on'", None),
    // Paths.
    ("const ctx = getCanvas(200, 200).getContext('2d'); ctx.beginPath(); for (let i = 0; i < 1e6; i++) ctx.lineTo(i % 200, i % 197); ctx.fill(); return 'drawn'", Some("drawn")),
    ("const p = new Path2D('M0 0L1 1'); for (let i = 0; i < 40; i++) p.addPath(p); getCanvas(9, 9).getContext('2d').fill(p); return 'on'", None),
    ("const ctx = getCanvas(100, 100).getContext('2d'); ctx.setLineDash([1e-9, 1e-9]); ctx.lineWidth = 1e9; ctx.strokeRect(0, 0, 1e9, 1e9); return 'on'", Some("on")),
    // Numbers that are none, everywhere.
    (
        "const ctx = getCanvas(50, 50).getContext('2d'); ctx.fillRect(0, 0, 10, 10);
         for (const bad of [NaN, Infinity, -Infinity, undefined, 'x', {}]) for (const name of Object.getOwnPropertyNames(Object.getPrototypeOf(ctx)))
         { try { if (typeof ctx[name] === 'function') ctx[name](bad, bad, bad, bad, bad, bad, bad, bad); else ctx[name] = bad } catch {} }
         return String(ctx.getImageData(5, 5, 1, 1).data.length)",
        Some("4"),
    ),
    // Pictures of themselves.
    (
        "const c = getCanvas(64, 64), ctx = c.getContext('2d'); ctx.fillRect(0, 0, 9, 9);
         for (let i = 0; i < 2000; i++) { ctx.fillStyle = ctx.createPattern(c, 'repeat'); ctx.fillRect(0, 0, 64, 64); ctx.drawImage(c, 1, 1, 63, 63) } return 'drawn'",
        Some("drawn"),
    ),
    // Many of them, kept.
    ("const all = []; for (let i = 0; i < 10000; i++) { const c = new OffscreenCanvas(300, 150); c.getContext('2d').fillRect(0, 0, 1, 1); all.push(c) } return 'made'", None),
    ("for (let i = 0; i < 10000; i++) new OffscreenCanvas(300, 150).getContext('2d').fillRect(0, 0, 1, 1); return 'made'", Some("made")),
    ("const all = []; for (let i = 0; i < 10000; i++) all.push(new OffscreenCanvas(300, 150).getContext('2d').getImageData(0, 0, 300, 150)); return 'made'", None),
    // Dropped ones leave room for what a drawing needs besides its canvas.
    (
        "const ctx = getCanvas(900, 600).getContext('2d');
         for (let i = 0; i < 59; i++) new OffscreenCanvas(900, 600).getContext('2d').fillRect(0, 0, 1, 1);
         ctx.shadowColor = 'red'; ctx.shadowBlur = 9; ctx.fillRect(9, 9, 99, 99); ctx.getImageData(0, 0, 900, 600); return 'drawn'",
        Some("drawn"),
    ),
    // Texts and filters.
    ("const ctx = getCanvas(100, 100).getContext('2d'); ctx.font = '1e9px Arial'; ctx.fillText('x'.repeat(1e6), 0, 50); return 'on'", Some("on")),
    (
        "const ctx = getCanvas(100, 100).getContext('2d'); ctx.font = '16px monospace';
         for (const letter of ['x', 'xy ', '字', '😀', 'א ', '\\u0301'])
             for (const align of ['left', 'right']) { ctx.textAlign = align; ctx.fillText(letter.repeat(5e4), 50, 50); ctx.strokeText(letter.repeat(5e4), 50, 50) }
         ctx.rotate(1); ctx.fillText('x'.repeat(1e6), 0, 0, 50);
         return String(Math.round(ctx.measureText('x'.repeat(1e6)).width / ctx.measureText('x'.repeat(100)).width))",
        Some("10000"),
    ),
    ("const ctx = getCanvas(100, 100).getContext('2d'); ctx.filter = 'blur(1e9px) '.repeat(1000); ctx.shadowBlur = 1e9; ctx.shadowColor = 'red'; ctx.fillRect(0, 0, 50, 50); return 'on'", Some("on")),
];

#[tokio::test]
async fn hostile_canvases_stay_within_limits() {
    let engine = engine();
    for (code, expected) in HOSTILE {
        let report = once(&engine, body(code, TIMEOUT_MS)).await;
        match (&report.result, expected) {
            (Ok(answer), Some(expected)) => assert_eq!(answer.value, *expected, "{code}"),
            (Ok(_), None) => {}
            (Err(fault), None) => {
                assert!(matches!(fault.kind, FaultKind::Memory | FaultKind::Exception), "{code}: {fault:?}");
            }
            (Err(fault), Some(_)) => panic!("{code}: {fault:?}"),
        }
        // Never by the hand of the kernel or the clock.
        assert!(report.fate != SessionFate::Lost || report.result.is_err(), "{code}");
        assert!(!report.result.as_ref().is_err_and(|fault| fault.kind == FaultKind::Timeout), "{code}");
        assert_eq!(value(&engine, "return 1").await, 1, "{code}");
    }
}
