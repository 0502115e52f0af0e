//! What a session without a clock can observe of time: each way that code could try, and that it learns nothing.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod host;

use cove_core::{Clock, FaultKind, Random, SessionFate};
use host::{Guest, setup};
use serde_json::{Value, json};

/// Work that takes many milliseconds, and no steps that would end the run.
const WORK: &str = "let sum = 0; for (let i = 0; i < 40; i++) sum += 'x'.repeat(1 << 20).indexOf('y');";

fn guest(clock: Clock) -> Guest {
    let mut setup = setup();
    (setup.clock, setup.random) = (clock, Random::None);
    Guest::with(&setup)
}

fn timeless(code: &str) -> Result<Value, String> {
    guest(Clock::None).body(code).map_err(|fault| fault.message)
}

/// `setTimeout(A, n)`, work, `setTimeout(B, 1)`: the order says nothing about how long the work took.
#[test]
fn the_order_of_timers_is_no_clock() {
    for clock in [Clock::None, Clock::Fixed(5)] {
        for wait in [2, 3, 5, 10] {
            let code = format!(
                "const order = [];
                 const done = new Promise((end) => {{
                   setTimeout(() => {{ order.push('A'); end() }}, {wait});
                   {WORK}
                   setTimeout(() => order.push('B'), 1);
                 }});
                 await done; return order.join('')"
            );
            assert_eq!(guest(clock).body(&code).unwrap(), "BA", "{clock:?} {wait}");
        }
    }
}

/// Timers fire by their due times, whatever happens between them; equal ones in the order in which they were set.
#[test]
fn timers_fire_by_their_due_times() {
    let order = |body: &str| {
        timeless(&format!(
            "const seen = []; const at = (name, ms, next) => setTimeout(() => {{ seen.push(name); next?.() }}, ms);
             {body}
             await new Promise((end) => setTimeout(end, 1e6)); return seen.join('')"
        ))
        .unwrap()
    };
    for (body, expected) in [
        ("at('c', 30); at('a', 10); at('b', 20)", "abc"),
        ("at('a', 5); at('b', 5); at('c', 5.5)", "abc"),
        ("at('b', 1); at('a', 0); at('c', 1)", "bac"),
        ("at('a', 10, () => { at('b', 10); at('d', 30) }); at('c', 25)", "abcd"),
        ("at('a', 10, () => { for (let i = 0; i < 1e5; i++); at('b', 1) }); at('c', 12)", "abc"),
        ("const t = at('x', 5); at('a', 10); clearTimeout(t)", "a"),
        (
            "let n = 0; const i = setInterval(() => { seen.push('i'); if (++n === 3) clearInterval(i) }, 10); at('a', 25)",
            "iiai",
        ),
        ("setImmediate(() => seen.push('a')); at('b', 2); queueMicrotask(() => seen.push('m'))", "mab"),
        ("at('b', 2147483647e3); at('a', -5)", "ba"),
        ("at('a', NaN); at('b', 'x'); at('c', 2)", "abc"),
    ] {
        assert_eq!(order(body), expected, "{body}");
    }
}

/// A sleep costs nothing: the host is never asked to wait.
#[test]
fn a_sleep_takes_no_time() {
    let mut guest = guest(Clock::None);
    let code = "const sleep = (ms) => new Promise((end) => setTimeout(end, ms));
                for (let i = 0; i < 100; i++) await sleep(1000 * 60 * 60);
                const signal = AbortSignal.timeout(5000); await sleep(5001);
                return [signal.aborted, signal.reason.name]";
    assert_eq!(guest.body(code).unwrap(), json!([true, "TimeoutError"]));
    assert!(guest.desk.waits.is_empty(), "{:?}", guest.desk.waits);
    // Where there is a clock, timers wait as ever.
    let mut guest = self::guest(Clock::Real);
    assert_eq!(guest.body("await new Promise((end) => setTimeout(end, 2)); return 1").unwrap(), 1);
    assert!(guest.desk.waits.iter().all(Option::is_some) && !guest.desk.waits.is_empty());
}

/// No timer fires while the host is asked something, so no tick can be counted meanwhile; afterwards they go on.
#[test]
fn the_latency_of_a_tool_cannot_be_counted_in_ticks() {
    for code in [
        "let ticks = 0; setInterval(() => ticks++, 1); await slow(); return ticks",
        "let ticks = 0; const tick = () => { ticks++; setTimeout(tick, 0) }; tick(); ticks = 0; await slow(); return ticks",
        "let ticks = 0; setImmediate(function again() { ticks++; setImmediate(again) }); await slow(); return ticks",
        "let ticks = 0; setInterval(() => ticks++, 1); await Promise.all([slow(), slow(), slow()]); return ticks",
        "let won; await Promise.race([slow().then(() => { won = 0 }), new Promise((end) => setTimeout(end, 1)).then(() => { won ??= 1 })]); return won",
        "let ticks = 0; setInterval(() => ticks++, 1); waits(); return ticks",
        "const signal = AbortSignal.timeout(1); await slow(); return Number(signal.aborted)",
    ] {
        let mut guest = guest(Clock::None);
        guest.desk.tool("slow", |_| Ok(json!(1)));
        guest.desk.tool("waits", |_| Ok(json!(1)));
        guest.tools(&[("slow", false), ("waits", true)]);
        assert_eq!(guest.body(code).unwrap(), 0, "{code}");
        assert!(guest.desk.waits.iter().all(Option::is_none), "{code}: {:?}", guest.desk.waits);
    }
    let mut guest = guest(Clock::None);
    guest.desk.tool("slow", |_| Ok(json!(1)));
    guest.tools(&[("slow", false)]);
    let code = "let ticks = 0; setInterval(() => ticks++, 10); await slow(); await new Promise((end) => setTimeout(end, 35)); return ticks";
    assert_eq!(guest.body(code).unwrap(), 3);
}

/// Which of two tools answered first is not to be seen: answers are heard in the order of the calls.
#[test]
fn answers_are_heard_in_the_order_of_the_calls() {
    let code = "const order = []; const ask = (n) => tell(n).then((v) => order.push(v), (e) => order.push(`!${n}`));
                const all = [ask(1), ask(2), ask(3)]; waits(); all.push(ask(4), ask(5));
                await Promise.all(all); return order.join('')";
    for (backwards, clock, expected) in
        [(false, Clock::None, "12!345"), (true, Clock::None, "12!345"), (true, Clock::Real, "54!321")]
    {
        let mut guest = guest(clock);
        guest.desk.backwards = backwards;
        guest.desk.tool("tell", |args| if args[0] == 3 { Err("no".into()) } else { Ok(args[0].clone()) });
        guest.desk.tool("waits", |_| Ok(json!(1)));
        guest.tools(&[("tell", false), ("waits", true)]);
        assert_eq!(guest.body(code).unwrap(), expected, "{clock:?}, backwards: {backwards}");
    }
    // What was answered and not heard does not reach the next run.
    let mut guest = guest(Clock::None);
    guest.desk.backwards = true;
    guest.desk.tool("tell", |args| Ok(args[0].clone()));
    guest.tools(&[("tell", false)]);
    assert_eq!(guest.body("tell(1); tell(2); return 'gone'").unwrap(), "gone");
    guest.desk.backwards = false;
    assert_eq!(guest.body("return await tell(3)").unwrap(), 3);
}

/// The same program gives the same trace, however the host's answers come.
#[test]
fn a_run_can_be_repeated() {
    let code = "const trace = []; const say = (text) => trace.push(text);
        for (let n = 0; n < 6; n++) {
          tool(n).then((v) => { say(`t${v}`); setTimeout(() => say(`T${v}`), 7 - v); queueMicrotask(() => say(`m${v}`)) });
          setTimeout(() => { say(`s${n}`); if (n % 2) tool(n + 10).then((v) => say(`t${v}`)) }, n * 3);
        }
        await new Promise((end) => setTimeout(end, 100)); return trace.join(' ')";
    let run = |backwards| {
        let mut guest = guest(Clock::None);
        guest.desk.backwards = backwards;
        guest.desk.tool("tool", |args| Ok(args[0].clone()));
        guest.tools(&[("tool", false)]);
        guest.body(code).unwrap()
    };
    assert_eq!(run(false), run(true));
}

/// A row of timers without end is ended by the step counter, and the session goes on.
#[test]
fn endless_timers_are_counted() {
    for code in [
        "setInterval(() => {}, 1); await new Promise(() => {})",
        "const again = () => setTimeout(again, 1e9); again(); await new Promise(() => {})",
        "(function again() { setImmediate(again) })(); await new Promise(() => {})",
        "const sleep = () => new Promise((end) => setTimeout(end, 1)); const forever = async () => { await sleep(); return forever() }; await forever()",
        "setInterval(() => { throw 1 }, 1); await new Promise(() => {})",
        "setInterval(() => { try { for (;;); } catch {} }, 1); await new Promise(() => {})",
    ] {
        let mut guest = guest(Clock::None);
        let report = guest.report(code, true, Some(2_000));
        assert_eq!(report.result.unwrap_err().kind, FaultKind::MaxOperations, "{code}");
        assert_eq!((report.usage.operations, report.fate), (2_000, SessionFate::Usable), "{code}");
        assert_eq!(guest.cell("await new Promise((end) => setTimeout(() => end(7), 50))").unwrap(), 7, "{code}");
    }
    // Each timer is one step; those of a program that ends are in its bill.
    let mut guest = guest(Clock::None);
    let code = "let n = 0; await new Promise((end) => { const i = setInterval(() => { if (++n === 10) { clearInterval(i); end() } }, 1) }); n";
    let report = guest.report(code, true, Some(100));
    assert_eq!((report.result.unwrap().value, report.usage.operations), (json!(10), 10));
}

/// Every other thing that tells the time elsewhere: it says nothing here, or is not there.
#[test]
fn nothing_else_tells_the_time() {
    let refused = [
        "Date.now()",
        "new Date()",
        "Date()",
        "Reflect.construct(Date, [])",
        "Reflect.apply(Date, undefined, [])",
        "new (class extends Date {})()",
        "new (new Date(0).constructor)()",
        "Date.bind(null)()",
        "new Intl.DateTimeFormat().format()",
        "new Intl.DateTimeFormat().formatToParts()",
        "performance.now()",
        "performance.timeOrigin",
        "Object.getOwnPropertyDescriptor(performance, 'timeOrigin').get.call({})",
        "new Compartment().evaluate('Date.now()')",
        "(0, eval)('new Date()')",
        "new Function('return Date.now()')()",
        "Math.random()",
    ];
    for code in refused {
        let message = timeless(&format!("return {code}")).unwrap_err();
        assert!(message.contains("not available"), "{code}: {message}");
    }
    let constant = [
        ("new Event('x').timeStamp", json!(0)),
        ("performance.mark('x') ?? null", json!(null)),
        ("performance.measure('x') ?? null", json!(null)),
        ("console.time('x') ?? console.timeEnd('x') ?? null", json!(null)),
        ("new Date(0).getTimezoneOffset()", json!(0)),
        ("structuredClone(new Date(9)).getTime()", json!(9)),
        ("typeof Atomics", json!("undefined")),
        ("typeof SharedArrayBuffer", json!("undefined")),
        ("typeof WeakRef", json!("undefined")),
        ("typeof FinalizationRegistry", json!("undefined")),
        ("typeof Worker", json!("undefined")),
        ("typeof BroadcastChannel", json!("undefined")),
        ("typeof requestAnimationFrame", json!("undefined")),
        ("typeof requestIdleCallback", json!("undefined")),
        ("typeof scheduler", json!("undefined")),
        ("typeof Temporal", json!("undefined")),
        ("typeof gc", json!("undefined")),
        ("typeof process", json!("undefined")),
        ("typeof performance.memory", json!("undefined")),
        ("typeof performance.eventLoopUtilization", json!("undefined")),
        ("new Intl.DateTimeFormat().resolvedOptions().timeZone", json!("UTC")),
        ("new Intl.DateTimeFormat().resolvedOptions().locale", json!("en-US")),
        ("/[0-9]{13}/.test(new Error('x').stack)", json!(false)),
        ("/[0-9]{13}/.test(URL.createObjectURL?.(new Blob([])) ?? '')", json!(false)),
    ];
    for (code, expected) in constant {
        assert_eq!(timeless(&format!("return {code}")), Ok(expected), "{code}");
    }
}

/// A message to a port is a timer of no length: in virtual time it comes in the order in which it was sent, and counts
/// nothing.
#[test]
fn messages_between_ports_come_in_virtual_time() {
    let order = timeless(
        "const seen = []; const { port1, port2 } = new MessageChannel(); port2.onmessage = (e) => seen.push(e.data);
         setTimeout(() => seen.push('t1'), 1); port1.postMessage('m'); setTimeout(() => seen.push('t2'), 1);
         await new Promise((end) => setTimeout(end, 5)); return seen.join(' ')",
    );
    assert_eq!(order.unwrap(), "t1 m t2");
}

/// Microtasks run in the order of the language, before any timer and any answer: a chain of them counts nothing.
#[test]
fn microtasks_leave_no_room_for_a_count() {
    let mut guest = guest(Clock::None);
    guest.desk.tool("slow", |_| Ok(json!(1)));
    guest.tools(&[("slow", false)]);
    let code = "let open = true, n = 0; slow().then(() => { open = false }); setTimeout(() => { open = false }, 1);
                while (open) { n++; await null } return n";
    // The answer waits until no microtask is left, which never happens: the counter ends it, with the same figure always.
    let report = guest.report(code, true, Some(3_000));
    assert_eq!(report.result.unwrap_err().kind, FaultKind::MaxOperations);
    let order = timeless(
        "const seen = []; setTimeout(() => seen.push('t'), 0); Promise.resolve().then(() => seen.push('p'));
         queueMicrotask(() => seen.push('q')); (async () => { await null; seen.push('a') })();
         await new Promise((end) => setTimeout(end, 5)); return seen.join('')",
    );
    assert_eq!(order.unwrap(), "pqat");
}

/// How deep calls may go is a figure of the build, the same in every run, and not of the machine's state.
#[test]
fn the_depth_of_the_stack_is_the_same_each_time() {
    let code =
        "let depth = 0; const down = () => { depth++; down() }; try { down() } catch (e) { return [e.name, depth] }";
    let mut guest = guest(Clock::None);
    let first = guest.body(code).unwrap();
    assert_eq!(first[0], "RangeError", "{first}");
    guest.body("globalThis.junk = Array.from({ length: 1e5 }, (_, i) => ({ i }))").unwrap();
    assert_eq!(guest.body(code).unwrap(), first);
}

/// Memory is counted by the heap's own bytes: the same program is ended at the same place each time.
#[test]
fn memory_pressure_is_the_programs_own() {
    let code = "let n = 0; for (;;) { (globalThis.hoard ??= []).push('x'.repeat(100000) + n); n++; if (n % 10 === 0) console.log(n) }";
    let said = || {
        let mut guest = guest(Clock::None);
        let report = guest.report(code, true, Some(1 << 40));
        assert_eq!(report.result.unwrap_err().kind, FaultKind::Memory);
        guest.desk.text()
    };
    let first = said();
    assert!(first.lines().count() > 10, "{first}");
    assert_eq!(said(), first);
}
