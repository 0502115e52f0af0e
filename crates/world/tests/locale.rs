//! Languages and regions as a real Node has them: `Intl`, `toLocaleString` and its relatives, the order of words.
//!
//! Each program makes rows of a label and a text. Where the two differ for a known reason the label stands in
//! `tables/intl-differences.txt`; that list may only shrink.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs, clippy::result_large_err)]

mod host;

use std::collections::BTreeSet;

use cove_testkit::ask_node;
use host::Guest;
use serde_json::{Value, json};

type Rows = Vec<(String, Value)>;

fn in_node(program: &str) -> Rows {
    let script = "process.env.TZ = 'UTC'; const program = require('fs').readFileSync(0, 'utf8'); \
        process.stdout.write(JSON.stringify(new Function(program)()), () => process.exit(0))";
    serde_json::from_slice(&ask_node(script, program.as_bytes())).unwrap()
}

fn here(program: &str) -> Rows {
    let mut setup = host::setup();
    setup.limits.max_result_chars = 64 << 20;
    serde_json::from_value(Guest::with(&setup).body(program).unwrap()).unwrap()
}

/// The rows that differ, as lines: the label, what Node says, what is said here.
fn differing(program: &str, least: usize) -> Vec<(String, Value, Value)> {
    let (node, here) = (in_node(program), here(program));
    assert!(node.len() >= least && node.len() == here.len(), "{} {}", node.len(), here.len());
    let pairs = node.into_iter().zip(here);
    pairs
        .filter_map(|((label, node), (same, here))| {
            assert_eq!(label, same);
            (node != here).then_some((label, node, here))
        })
        .collect()
}

#[test]
fn numbers_dates_and_words_are_as_in_node() {
    let wrong = differing(include_str!("tables/locale.js"), 10_000);
    assert!(wrong.is_empty(), "{} differ: {:#?}", wrong.len(), &wrong[..wrong.len().min(10)]);
}

#[test]
fn intl_is_as_in_node_but_for_the_list() {
    let list =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/tables/intl-differences.txt")).unwrap();
    let known: BTreeSet<&str> = list.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    let wrong = differing(include_str!("tables/intl.js"), 15_000);
    if let Ok(file) = std::env::var("COVE_WRITE_DIFFERENCES") {
        let lines: Vec<_> = wrong.iter().map(|(label, node, here)| format!("{label}\t{node}\t{here}")).collect();
        std::fs::write(file, lines.join("\n")).unwrap();
    }
    let new: Vec<_> = wrong.iter().filter(|(label, ..)| !known.contains(label.as_str())).collect();
    assert!(
        new.is_empty(),
        "{} of {} differ and are not in the list: {:#?}",
        new.len(),
        wrong.len(),
        &new[..new.len().min(12)]
    );
    let labels: BTreeSet<&str> = wrong.iter().map(|(label, ..)| label.as_str()).collect();
    let gone: Vec<_> = known.difference(&labels).collect();
    assert!(gone.is_empty(), "these no longer differ; take them off the list: {gone:#?}");
}

/// A language or a calendar that others have is an error with advice, never a text in another one.
#[test]
fn what_is_missing_is_refused_with_advice() {
    let check = |code: &str| {
        let fault = Guest::new().body(code).unwrap_err();
        assert!(fault.message.starts_with("RangeError: "), "{code}: {}", fault.message);
        assert!(fault.message.contains("engine \"browser\""), "{code}: {}", fault.message);
    };
    check("return (5).toLocaleString('is-IS')");
    check("return new Date(0).toLocaleDateString('sw')");
    check("return new Intl.DateTimeFormat('he', { calendar: 'hebrew' }).format(0)");
    check("return new Intl.ListFormat('zu').format(['a'])");
}

/// Whatever is asked for, there is a text or an error that says why; never an end of the process.
#[test]
fn odd_requests_are_answered() {
    let code = include_str!("tables/odd.js");
    let answers = Guest::new().body(code).unwrap();
    let [made, refused] = [0, 1].map(|at| answers[at].as_u64().unwrap());
    assert!(made > 500 && refused > 500, "{made} made, {refused} refused");
    assert_eq!(answers[2], json!([]), "errors of another kind");
}

/// Formatters lie outside of the heap, so only so many are kept; programs may make as many as they like.
#[test]
fn many_formatters_cost_little() {
    let many = "const kept = []; for (let n = 0; n < 2000; n++) { const f = new Intl.NumberFormat('de', { minimumIntegerDigits: n % 20 + 1, \
        maximumFractionDigits: n % 90 }); f.format; kept.push(f) } return kept.map((f) => f.format(1.5)).length";
    let languages = "let n = 0; for (const tag of ['ar', 'bg', 'bn', 'ca', 'cs', 'da', 'de', 'el', 'en', 'es', 'et', 'fa', 'fi', 'fil', 'fr', 'he', 'hi', \
        'hr', 'hu', 'id', 'it', 'ja', 'ko', 'lt', 'lv', 'ms', 'nb', 'nl', 'pl', 'pt', 'ro', 'ru', 'sk', 'sl', 'sr', 'sv', 'ta', 'te', 'th', 'tr', \
        'uk', 'ur', 'vi', 'zh', 'zh-TW']) { for (const [kind, options] of [['NumberFormat', { style: 'currency', currency: 'EUR', currencyDisplay: \
        'name' }], ['DateTimeFormat', { dateStyle: 'full', timeStyle: 'full' }], ['RelativeTimeFormat'], ['ListFormat'], ['PluralRules'], ['Collator'], \
        ['DisplayNames', { type: 'language' }]]) { new Intl[kind](tag, options); n++ } } return n";
    let mut guest = Guest::new();
    let before = resident_kib();
    assert_eq!(guest.body(many).unwrap(), 2000);
    assert_eq!(guest.body(languages).unwrap(), 315);
    let grown = resident_kib().saturating_sub(before);
    assert!(grown < 48 << 10, "{grown} KiB more");
}

/// What a program can see of Intl is as frozen as the rest.
#[test]
fn it_is_frozen() {
    let code = "const seen = []; const walk = (x, path) => { if (x === null || typeof x !== 'object' && typeof x !== 'function' || \
        seen.includes(x)) return []; seen.push(x); const open = Object.isFrozen(x) ? [] : [path]; for (const key of Reflect.ownKeys(x)) { \
        const d = Object.getOwnPropertyDescriptor(x, key); for (const v of [d.value, d.get, d.set]) open.push(...walk(v, `${path}.${String(key)}`)) } \
        return open.concat(walk(Object.getPrototypeOf(x), `${path}.__proto__`)) }; return walk(Intl, 'Intl')";
    assert_eq!(Guest::new().body(code).unwrap(), json!([]));
}

fn resident_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}
