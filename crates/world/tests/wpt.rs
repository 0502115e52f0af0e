//! Web-platform tests that need no document, as far as a package carries their data: those of addresses and their setters
//! (`url`), of their patterns (`urlpattern`), of `data:` addresses and of base64 (`data-url`). What fails is in `wpt/failures.txt`; that list may only shrink.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs, clippy::result_large_err)]

mod host;
#[path = "wpt/streams.rs"]
mod streams;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;

use host::Guest;
use serde_json::Value;

/// A file in the source of a crate that this one is built with.
#[expect(clippy::disallowed_methods, reason = "one short-lived cargo that this function waits for")]
fn of_crate(name: &str, path: &str) -> Value {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let asked = Command::new(cargo)
        // The crates of other systems need not be on this machine.
        .args(["metadata", "--offline", "--filter-platform", &format!("{}-unknown-linux-gnu", std::env::consts::ARCH)])
        .args(["--format-version", "1", "--manifest-path"])
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"))
        .output()
        .unwrap();
    assert!(asked.status.success(), "{}", String::from_utf8_lossy(&asked.stderr));
    let metadata: Value = serde_json::from_slice(&asked.stdout).unwrap();
    let mut packages = metadata["packages"].as_array().unwrap().iter();
    let manifest = packages.rfind(|package| package["name"] == name).unwrap()["manifest_path"].as_str().unwrap();
    let file = PathBuf::from(manifest).parent().unwrap().join(path);
    serde_json::from_slice(&std::fs::read(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))).unwrap()
}

/// How many cases there are, and the names of those that fail.
fn failures(program: &str, input: Value) -> (u64, Vec<String>) {
    let answer = Guest::new().with_input(program, input).unwrap();
    let failed = answer[1].as_array().unwrap().iter().map(|name| name.as_str().unwrap().to_owned()).collect();
    (answer[0].as_u64().unwrap(), failed)
}

#[test]
fn the_failures_are_those_of_the_list() {
    let url = failures(include_str!("wpt/url.js"), of_crate("url", "tests/urltestdata.json"));
    let setters = failures(include_str!("wpt/setters.js"), of_crate("url", "tests/setters_tests.json"));
    let pattern =
        failures(include_str!("wpt/pattern.js"), of_crate("urlpattern", "src/testdata/urlpatterntestdata.json"));
    let base64 = failures(include_str!("wpt/base64.js"), of_crate("data-url", "tests/base64.json"));
    let data = failures(include_str!("wpt/data.js"), of_crate("data-url", "tests/data-urls.json"));
    let counts = [url.0, setters.0, pattern.0, base64.0, data.0];
    assert!(counts.iter().zip([800, 200, 300, 70, 70]).all(|(count, least)| *count > least), "{counts:?}");
    let failed: BTreeSet<String> = [url.1, setters.1, pattern.1, base64.1, data.1].concat().into_iter().collect();
    if let Ok(file) = std::env::var("COVE_WRITE_FAILURES") {
        std::fs::write(file, failed.iter().cloned().collect::<Vec<_>>().join("\n")).unwrap();
    }
    hold(&failed, include_str!("wpt/failures.txt"));
}

/// What fails is exactly what the list says.
fn hold(failed: &BTreeSet<String>, list: &str) {
    let known: BTreeSet<String> =
        list.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).map(str::to_owned).collect();
    let new: Vec<_> = failed.difference(&known).collect();
    assert!(new.is_empty(), "{} fail that did not: {new:#?}", new.len());
    let gone: Vec<_> = known.difference(failed).collect();
    assert!(gone.is_empty(), "these pass now; take them off the list: {gone:#?}");
}

/// Whatever is written as a pattern or an address: it is one, or a `TypeError`.
#[test]
fn no_text_breaks_patterns_and_addresses() {
    let code = "let seed = 7; const next = (n) => (seed = (seed * 48271) % 2147483647) % n;
        const signs = [...':{}()*?+\\\\/[].@#%&|-^$ \\t\\n', ':a', ':b', '(x)', '{y}?', 'http://', 'file:', 'data:', 'C|', '..', 'é', '🚲', 'h', '80', '\\ud800', '%zz', '(?=a)', '[^'];
        const text = () => Array.from({ length: next(9) }, () => signs[next(signs.length)]).join('');
        const PARTS = ['protocol', 'username', 'password', 'hostname', 'port', 'pathname', 'search', 'hash', 'baseURL'];
        const some = () => next(2) ? text() : Object.fromEntries(PARTS.filter(() => next(4) === 0).map((part) => [part, text()]));
        const count = { made: 0, matched: 0, addresses: 0 }, odd = [];
        for (let i = 0; i < 1500; i++) {
          const given = [some(), ...(next(3) ? [] : [text()])], asked = [some(), ...(next(3) ? [] : ['http://h/a'])];
          try { const pattern = new URLPattern(...given); count.made++; if (pattern.exec(...asked)) count.matched++ }
          catch (error) { if (!(error instanceof TypeError)) odd.push([given, asked, error.name]) }
          try { const url = new URL(text(), next(2) ? 'file:///C:/a/b' : undefined); for (const part of PARTS.slice(0, 8)) url[part] = text(); if (new URL(url.href).href !== url.href) odd.push(url.href); count.addresses++ }
          catch (error) { if (!(error instanceof TypeError)) odd.push(error.name) }
        }
        return [count, odd]";
    let answer = Guest::new().body(code).unwrap();
    let count = |name: &str| answer[0][name].as_u64().unwrap();
    assert_eq!(answer[1], serde_json::json!([]));
    assert!(count("made") > 100 && count("matched") > 5 && count("addresses") > 100, "{answer}");
}
