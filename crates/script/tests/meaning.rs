//! What prepared programs do, in a real engine.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stderr, missing_docs)]

mod calls;
mod engine;
mod grammar;
mod habits;
mod program;
mod table;

use std::ops::Range;

use cove_script::{Mode, PrepareOptions, prepare};
use serde_json::{Value, json};

fn prepared(source: &str, mode: Mode) -> String {
    let options = PrepareOptions { mark_calls: true, ..PrepareOptions::new(mode) };
    match prepare(source, &options) {
        Ok(prepared) => prepared.code,
        Err(refusal) => panic!("{}\n{}\n{source}", refusal.message, refusal.frame.unwrap_or_default()),
    }
}

/// Guards and splices change nothing that a program computes: random programs, in both forms, log the same.
#[test]
fn guards_do_not_change_what_a_program_computes() {
    let programs: Vec<_> = (0..400).map(|seed| program::random(seed, false)).collect();
    check_both(&programs, Mode::FunctionBody);
}

/// Nor does the rewriting of a cell; and its names hold, afterwards, what they held inside.
#[test]
fn cells_do_not_change_what_a_program_computes() {
    let programs: Vec<_> = (1000..1400).map(|seed| program::random(seed, true)).collect();
    check_both(&programs, Mode::Cell);
}

/// Programs of the kinds that models write: each does the same before and after, also where a sloppy function allows what
/// a strict one does not.
#[test]
fn programs_as_they_are_written_mean_the_same() {
    let programs: Vec<_> = habits::PROGRAMS.iter().map(|source| (*source).to_owned()).collect();
    let jobs: Vec<Value> = programs
        .iter()
        .map(|source| {
            let code = prepared(source, Mode::FunctionBody);
            json!({"kind": "both", "original": source, "prepared": code, "names": [], "cell": false, "sloppy": true})
        })
        .collect();
    for ((answer, source), job) in engine::run(&jobs).iter().zip(&programs).zip(&jobs) {
        let (original, ours) = (engine::lines(&answer[0]), engine::lines(&answer[1]));
        assert_eq!(original, ours, "\n{source}\n-----\n{}", job["prepared"].as_str().unwrap());
        assert!(original.iter().all(|line| !line.contains("SyntaxError")), "{source}: {original:?}");
    }
}

/// Programs over the whole grammar, with types and without, strict and sloppy.
#[test]
fn programs_of_the_whole_grammar_mean_the_same() {
    grammar::for_seeds(0..2000, check_grammar);
}

fn check_grammar(seeds: Range<u64>) {
    let first = seeds.start;
    let programs: Vec<_> = seeds.map(|seed| grammar::random(seed, seed % 4 == 3)).collect();
    let jobs: Vec<Value> = programs
        .iter()
        .enumerate()
        .map(|(index, program)| {
            let code = prepared(&program.typed, Mode::FunctionBody);
            let sloppy = (first + index as u64) % 4 == 3;
            json!({"kind": "both", "original": program.plain, "prepared": code, "names": [], "cell": false, "sloppy": sloppy})
        })
        .collect();
    let (mut lines, mut failed) = (0, 0);
    for (seed, ((answer, program), job)) in engine::run(&jobs).iter().zip(&programs).zip(&jobs).enumerate() {
        let (original, ours) = (engine::lines(&answer[0]), engine::lines(&answer[1]));
        let seed = first + seed as u64;
        let code = job["prepared"].as_str().unwrap();
        assert_eq!(original, ours, "seed {seed}\n{}\n-----\n{code}", program.typed);
        assert!(
            original.iter().all(|line| !line.contains("SyntaxError")),
            "seed {seed}\n{}: {original:?}",
            program.plain
        );
        lines += original.len();
        failed += usize::from(original.iter().any(|line| line.starts_with("threw ")));
    }
    assert!(lines > programs.len() * 12, "the programs say too little: {lines} lines");
    assert!(failed < programs.len() / 3, "too many programs end early: {failed}");
}

/// Calls in calls: marks change neither values nor the order of evaluation, whatever the arguments are.
#[test]
fn marked_calls_mean_the_same() {
    let programs: Vec<_> = (0..600).map(calls::random).collect();
    let jobs: Vec<Value> = programs
        .iter()
        .map(|source| {
            let code = prepared(source, Mode::FunctionBody);
            json!({"kind": "both", "original": source, "prepared": code, "names": [], "cell": false})
        })
        .collect();
    let mut marks = 0;
    for ((answer, source), job) in engine::run(&jobs).iter().zip(&programs).zip(&jobs) {
        let (original, ours) = (engine::lines(&answer[0]), engine::lines(&answer[1]));
        let code = job["prepared"].as_str().unwrap();
        assert_eq!(original, ours, "\n{source}\n-----\n{code}");
        assert!(original.iter().all(|line| !line.contains("SyntaxError")), "{source}: {original:?}");
        marks += code.matches(":undefined").count();
    }
    assert!(marks > 600, "only {marks} calls were marked");
}

fn check_both(programs: &[program::Program], mode: Mode) {
    let jobs: Vec<Value> = programs
        .iter()
        .map(|program| {
            let code = prepared(&program.source, mode);
            let cell = mode == Mode::Cell;
            json!({"kind": "both", "original": program.source, "prepared": code, "names": program.names, "cell": cell})
        })
        .collect();
    let mut lines = 0;
    for ((answer, program), job) in engine::run(&jobs).iter().zip(programs).zip(&jobs) {
        let (original, ours) = (engine::lines(&answer[0]), engine::lines(&answer[1]));
        assert_eq!(original, ours, "\n{}\n-----\n{}", program.source, job["prepared"].as_str().unwrap());
        lines += original.len();
    }
    assert!(lines > programs.len() * 10, "the programs say too little: {lines} lines");
}

/// Every accepted program of the table is JavaScript to another parser too.
#[test]
fn every_prepared_program_of_the_table_compiles() {
    let cases: Vec<_> = table::cases()
        .into_iter()
        .filter_map(|case| case.prepare().ok().map(|done| (case.name(), done.code)))
        .collect();
    let jobs: Vec<Value> = cases.iter().map(|(_, code)| json!({"kind": "compile", "prepared": code})).collect();
    let wrong: Vec<String> = engine::run(&jobs)
        .iter()
        .zip(&cases)
        // `using` is younger than the engine at hand.
        .filter(|(answer, (name, _))| !engine::lines(answer).is_empty() && !name.contains("using"))
        .map(|(answer, (name, code))| format!("{name}: {answer}\n{code}"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// The programs of the corpus check themselves; prepared, they still find nothing wrong.
#[test]
fn the_corpus_runs() {
    let programs = program::corpus();
    let jobs: Vec<Value> = programs
        .iter()
        .map(|(_, source)| json!({"kind": "one", "prepared": prepared(source, Mode::FunctionBody)}))
        .collect();
    for (answer, (name, _)) in engine::run(&jobs).iter().zip(&programs) {
        assert_eq!(engine::lines(answer).last().map(String::as_str), Some("value \"ok\""), "{name}: {answer}");
    }
}

/// What the cells of one session see of one another, and the value of each.
#[test]
fn cells_share_their_names() {
    let sessions: &[(&[&str], &[&str])] = &[
        (&["let a = 1", "a + 1"], &["value 1", "value 2"]),
        (&["const a = 1", "const a = 2; a"], &["value 1", "value 2"]),
        (
            &["const a = 1", "a = 2"],
            &["value 1", "threw TypeError: Cannot assign to read only property 'a' of object '[object Object]'"],
        ),
        (&["const a = 1", "let a = 5", "a++; a"], &["value 1", "value 5", "value 6"]),
        (&["var v = 1", "var v; v"], &["value 1", "value 1"]),
        (&["let v = 1", "let v; v"], &["value 1", "value undefined"]),
        (
            &["function f() { return 1 }", "function g() { return f() + 1 }; g()", "function f() { return 5 }", "g()"],
            &["value undefined", "value 2", "value undefined", "value 6"],
        ),
        (&["f(3)\nfunction f(n) { return n && n + f(n - 1) }", "f.name"], &["value 6", "value \"f\""]),
        (
            &[
                "class A { static n = 1; who() { return A.n } }",
                "class B extends A {}; new B().who()",
                "A.name + B.name",
            ],
            &["value undefined", "value 1", "value \"AB\""],
        ),
        (&["const { x, y: [z = 9] } = { x: 1, y: [] }", "[x, z]"], &["value undefined", "value [1,9]"]),
        (
            &["for (var i = 0; i < 3; i++) ;\nfor (let j = 0; j < 2; j++) ;", "i", "typeof j"],
            &["value undefined", "value 3", "value \"undefined\""],
        ),
        (
            &["if (true) { var deep = 1; let hidden = 2 }", "[deep, typeof hidden]"],
            &["value undefined", "value [1,\"undefined\"]"],
        ),
        (&["enum E { A, B = 5, C }", "[E.C, E[5], E.A]"], &["value undefined", "value [6,\"B\",0]"]),
        (&["enum E { A = 1 }\nenum E { B = A + 1, S = 's' }\nE"], &["value undefined"]),
        (&["const f = () => 1", "f.name", "(() => 1).name"], &["value function f", "value \"f\"", "value \"\""]),
        (&["await Promise.resolve(5)"], &["value 5"]),
        (&["const p = await Promise.resolve(7)", "p"], &["value 7", "value 7"]),
        (
            &["if (false) 1; else { 2 }", "try { throw 1 } catch (e) { e + 1 } finally { 99 }", "{ 1; { 5 } }"],
            &["value 2", "value 2", "value 5"],
        ),
        (&["switch (2) { case 1: 'a'; break; case 2: 'b'; break; default: 'c' }"], &["value \"b\""]),
        (
            &["out: { if (true) { 'kept'; break out } }", "'use strict'", "\"a\"\n\"b\""],
            &["value \"kept\"", "value \"use strict\"", "value \"b\""],
        ),
        (&["let n = 0; for (const x of [1, 2, 3]) n += x\nn"], &["value 6"]),
        (&["return 5", "if (1) return 'early'\n'late'"], &["value 5", "value \"early\""]),
        (&["let t = 3; t-->0", "t<!--t"], &["value true", "value false"]),
        (
            &["async function a() { return 1 }\nfunction* g() { yield 2 }", "[await a(), ...g()]"],
            &["value undefined", "value [1,2]"],
        ),
        (&["let x = 1\n{ let x = 2; x }", "x"], &["value 2", "value 1"]),
        (&["const fs = []\nfor (let i = 0; i < 3; i++) fs.push(() => i)\nfs.map(f => f())"], &["value [0,1,2]"]),
        (&["x = 1", "let y = 1; y = 2"], &["threw ReferenceError: x is not defined", "value 2"]),
        (&["total = 40 + 2"], &["threw ReferenceError: total is not defined"]),
        (&["let total", "total = 40 + 2"], &["value undefined", "value 42"]),
        (&["var [p, q] = [1, 2], r", "p + q + typeof r"], &["value undefined", "value \"3undefined\""]),
        (
            &[
                "try { throw { message: 'm', deep: { k: 1 } } } catch ({ message, deep: { k = 5, z = 6 } }) { [message, k, z] }",
            ],
            &["value [\"m\",1,6]"],
        ),
        (&["const m = await import('lodash'); m.map([1, 2], x => x * 2)"], &["value [2,4]"]),
    ];
    let jobs: Vec<Value> = sessions
        .iter()
        .map(|(cells, _)| json!({"kind": "cells", "prepared": cells.iter().map(|cell| prepared(cell, Mode::Cell)).collect::<Vec<_>>()}))
        .collect();
    for (answer, (cells, expected)) in engine::run(&jobs).iter().zip(sessions) {
        if cells[0].starts_with("enum E { A = 1 }") {
            assert!(answer[0].as_str().unwrap().contains("\"S\":\"s\""), "{answer}");
            continue;
        }
        assert_eq!(engine::lines(answer), *expected, "{cells:?}");
    }
}

/// Nobody swallows the answer: no `catch`, no `finally`, no loop around them; and nothing after it is heard.
#[test]
fn an_answer_cannot_be_swallowed() {
    let programs = [
        "final_answer(1)",
        "try { final_answer(1) } catch (e) { log('caught') }\nlog('after')",
        "try { final_answer(1) } catch { log('caught') }\nlog('after')",
        "try { final_answer(1) } catch ({ message }) { log('caught', message) }\nlog('after')",
        "for (;;) { try { final_answer(1) } catch { continue } }",
        "while (true) { try { final_answer(1) } finally { continue } }\nlog('after')",
        "const f = () => { try { final_answer(1) } finally { return 5 } }\nf()\nlog('after')",
        "l: { try { final_answer(1) } finally { break l } }\nlog('after')",
        "switch (1) { case 1: try { final_answer(1) } finally { break } }\nlog('after')",
        "function g() { try { try { final_answer(1) } catch { return 1 } } catch { return 2 } finally { if (true) return 3 } }\ng()\nlog('after')",
        "try { await (async () => { final_answer(1) })() } catch { log('caught') }\nlog('after')",
        "try { final_answer(1) } finally { try { throw 1 } catch { log('inner') } }\nlog('after')",
        "try { [1].map(() => final_answer(1)) } catch (e) { try { log('x') } catch {} }",
        "class A { static { try { final_answer(1) } catch { } } }\nlog('after')",
        "function* g() { try { final_answer(1) } finally { return 2 } }\n[...g()]\nlog('after')",
    ];
    let jobs: Vec<Value> =
        programs.iter().map(|source| json!({"kind": "answer", "prepared": prepared(source, Mode::Cell)})).collect();
    for (answer, source) in engine::run(&jobs).iter().zip(programs) {
        let lines = engine::lines(answer);
        assert_eq!(lines.first().map(String::as_str), Some("\"answer\" 1"), "{source}: {lines:?}");
        assert!(lines.iter().skip(1).all(|line| line.starts_with("threw ")), "{source}: {lines:?}");
    }
}

/// The value of a text given to `eval` is what it always was.
#[test]
fn dynamic_text_keeps_its_value() {
    let scripts = [
        ("1 + 1", "value 2"),
        ("", "value undefined"),
        ("var x = 1", "value undefined"),
        ("let n = 0; while (n < 3) n++", "value 2"),
        ("for (const x of [1, 2]) x * 2", "value 4"),
        ("1; for (const x of []) x", "value undefined"),
        ("if (0) 1; else 2", "value 2"),
        ("(function anonymous(a,b\n) {\nreturn a + b\n})(1, 2)", "value 3"),
        ("const n: number = 4; n as any", "value 4"),
        ("typeof this", "value \"object\""),
        ("(function () { return typeof this })()", "value \"undefined\""),
    ];
    let jobs: Vec<Value> = scripts
        .iter()
        .map(|(source, _)| json!({"kind": "script", "prepared": prepared(source, Mode::Dynamic)}))
        .collect();
    for (answer, (source, expected)) in engine::run(&jobs).iter().zip(scripts) {
        assert_eq!(engine::lines(answer), [expected], "{source}");
    }
}

/// What a module exports.
#[test]
fn modules_export_what_they_say() {
    let modules: &[(&str, &[&str])] = &[
        ("export const a = 1, { b } = { b: 2 }\nexport default a + b", &["a 1", "b 2", "default 3"]),
        (
            "export default function main() { return 1 }\nexport { main as m }",
            &["default function main", "m function main"],
        ),
        ("export default class {}", &["default function "]),
        (
            "import d, { map as m } from 'lodash'\nimport * as all from 'lodash'\nexport { m, d }\nexport const twice = m([1], x => x * 2), same = all.map === m",
            &["d \"lodash\"", "m function map", "same true", "twice [2]"],
        ),
        (
            "export * from 'lodash'\nexport * as ns from 'lodash'\nexport { default as name } from 'lodash'",
            &["map function map", "name \"lodash\"", "ns {\"default\":\"lodash\",\"map\":\"function map\"}"],
        ),
        ("exports.a = 1; module.exports.b = 2", &["a 1", "b 2", "default {\"a\":1,\"b\":2}"]),
        ("module.exports = class Thing {}", &["default function Thing"]),
        ("module.exports = 5; return", &["default 5"]),
        (
            "(function (root, factory) { if (typeof define === 'function') define(factory); else if (typeof exports === 'object') module.exports = factory(); else root.T = factory() })(this, function () { return { n: 1 } })",
            &["default {\"n\":1}", "n 1"],
        ),
        (
            "const { default: name } = require('fs'); module.exports = [name, typeof require(`fs`).map]",
            &["0 \"fs\"", "1 \"function\"", "default [\"fs\",\"function\"]"],
        ),
        (
            "function factory(exports, m) { exports.two = m.map([1], x => x * 2) } factory(exports, require('lodash'))",
            &["default {\"two\":[2]}", "two [2]"],
        ),
        (
            "exports.n = (() => { const require = x => x; return require('own') })()",
            &["default {\"n\":\"own\"}", "n \"own\""],
        ),
        (
            "const name = 'f' + 's'; require(name)",
            &["threw Error: Cannot require fs: only names written as a literal can be required; import() takes others"],
        ),
        (
            "twice()\nimport { map as m, default as d } from 'lodash'\nfunction twice() { return [{ m, d }.d, m([1], x => x)] }\nexport const all = twice(), Object = 1",
            &["Object 1", "all [\"lodash\",[1]]"],
        ),
        (
            "let n: number = 1\nexport enum E { A = 2 }\nexport abstract class K { constructor(readonly x = n) {} }\nexport const k = E.A",
            &["E {\"2\":\"A\",\"A\":2}", "K function K", "k 2"],
        ),
        (
            "Set.prototype.toJSON = function () { return [...this] }\nexport const mine = new Set([1]), theirs = 'toJSON' in globalThis.Set.prototype, is = mine instanceof globalThis.Set",
            &["is true", "mine [1]", "theirs false"],
        ),
        (
            "Map.prototype['n'] = 2; Map.prototype.m = 3; exports.sum = new Map().n + new Map().m; exports.left = 'n' in globalThis.Map.prototype",
            &["default {\"sum\":5,\"left\":false}", "left false", "sum 5"],
        ),
        ("export let later\nfunction set() { later = 3 }\nset()", &["later 3"]),
    ];
    let jobs: Vec<Value> = modules
        .iter()
        .map(|(source, _)| json!({"kind": "module", "prepared": prepared(source, Mode::Module)}))
        .collect();
    for (answer, (source, expected)) in engine::run(&jobs).iter().zip(modules) {
        assert_eq!(engine::lines(answer), *expected, "{source}");
    }
}
