//! The escape suite: programs that try to leave the world, poison it, outlive its end or break its report.
//!
//! Each block of the files in `escapes/` says what it tries and what must happen. Every program runs twice, as a
//! function body and as a cell, each time in a fresh world; afterwards the same world must still work.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs, clippy::result_large_err)]

mod host;

use cove_core::{Fault, FaultKind, RunReport, SessionFate};
use host::Guest;
use serde_json::{Value, json};

/// Runs a function and says what it threw.
const ATTEMPT: &str = "const attempt = (f) => { try { return f() } catch (e) { return e instanceof globalThis.Error ? e.name : String(e) } };";

/// What must still hold in the world after any program that did not use up its memory.
const SOUND: &str = "const list = [3, 1, 2].map((x) => x * 2).sort((a, b) => a - b);\
    if (({}).polluted !== undefined || [].polluted !== undefined) throw new Error('polluted');\
    return [list, await Promise.resolve('p'), `${{}}`, [...'ab'], (() => { try { null.x } catch (e) { return e.name } })()]";

struct Program {
    tries: String,
    must: String,
    code: String,
}

fn programs(text: &str) -> Vec<Program> {
    text.split("\n---\n")
        .map(|block| {
            let mut lines = block.trim_start().splitn(3, '\n');
            let tries = lines.next().unwrap().strip_prefix("tries: ").expect("a block begins with `tries:`");
            let must = lines.next().unwrap().strip_prefix("must: ").expect("then comes `must:`");
            Program { tries: tries.into(), must: must.into(), code: lines.next().unwrap().trim_end().into() }
        })
        .collect()
}

fn fresh() -> Guest {
    let mut guest = Guest::new();
    guest.desk.tool("tool", |args| Ok(Value::from(args.to_vec())));
    guest.tools(&[("tool", false)]);
    guest.world.set_variables(json!({"data": {"a": 1, "list": [1]}}).as_object().unwrap()).unwrap();
    guest
}

/// Whether a report is what the block says.
fn holds(must: &str, report: &RunReport) -> bool {
    match &report.result {
        Ok(ended) if must.starts_with("answer ") => {
            ended.is_final_answer && ended.value == serde_json::from_str::<Value>(&must[7..]).unwrap()
        }
        Ok(ended) if !must.starts_with("fault ") => {
            !ended.is_final_answer && ended.value == serde_json::from_str::<Value>(must).unwrap()
        }
        Ok(_) => must.split(['|', ' ']).any(|word| word == "value"),
        Err(Fault { kind, .. }) => {
            let name = serde_json::to_value(kind).unwrap();
            must.strip_prefix("fault ").is_some_and(|kinds| kinds.split('|').any(|kind| name == kind))
        }
    }
}

fn check(text: &str) {
    let mut failures = Vec::new();
    let programs = programs(text);
    for Program { tries, must, code } in &programs {
        for cell in [false, true] {
            let mut guest = fresh();
            let whole = match (cell, code.contains("import fs")) {
                (false, false) => format!("{ATTEMPT}{code}"),
                (true, false) => format!("{ATTEMPT}await (async () => {{ {code}\n}})()"),
                (_, true) => code.clone(),
            };
            let report = guest.report(&whole, cell, Some(50_000));
            if !holds(must, &report) {
                failures.push(format!("{tries} (cell: {cell})\n    must: {must}\n    was: {:?}", report.result));
                continue;
            }
            if report.fate == SessionFate::Lost {
                assert!(matches!(&report.result, Err(fault) if fault.kind == FaultKind::Memory), "{tries}");
                continue;
            }
            let sound = guest.report(SOUND, false, Some(50_000)).result.map(|ended| ended.value);
            let expected = json!([[2, 4, 6], "p", "[object Object]", ["a", "b"], "TypeError"]);
            let shadows = code.contains("globalThis.Array = null") || code.contains("delete globalThis[name]");
            if !shadows && sound.as_ref() != Ok(&expected) {
                failures.push(format!("{tries} (cell: {cell})\n    left a world that is not sound: {sound:?}"));
            }
        }
    }
    assert!(failures.is_empty(), "{} of {}:\n{}", failures.len(), programs.len(), failures.join("\n"));
}

macro_rules! suites {
    ($($name:ident),*) => {$(
        #[test]
        fn $name() {
            check(include_str!(concat!("escapes/", stringify!($name), ".txt")));
        }
    )*};
}
suites!(frozen, dynamic, realm, ending, results, names, compartments);

#[test]
fn the_suite_is_as_large_as_promised() {
    let count: usize = [
        include_str!("escapes/frozen.txt"),
        include_str!("escapes/dynamic.txt"),
        include_str!("escapes/realm.txt"),
        include_str!("escapes/ending.txt"),
        include_str!("escapes/results.txt"),
        include_str!("escapes/names.txt"),
        include_str!("escapes/compartments.txt"),
    ]
    .into_iter()
    .map(|text| programs(text).len())
    .sum();
    assert!(count >= 120, "{count} programs");
}
