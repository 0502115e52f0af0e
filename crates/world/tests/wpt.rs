//! Web-platform tests that need no document, as far as a package carries their data: those of `url` (addresses and their
//! setters) and of `urlpattern`. What fails is in `wpt/failures.txt`; that list may only shrink.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs, clippy::result_large_err)]

mod host;

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
        .args(["metadata", "--offline", "--format-version", "1", "--manifest-path"])
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"))
        .output()
        .unwrap();
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
    assert!(url.0 > 800 && setters.0 > 200 && pattern.0 > 300, "{} {} {}", url.0, setters.0, pattern.0);
    let failed: BTreeSet<String> = [url.1, setters.1, pattern.1].concat().into_iter().collect();
    if let Ok(file) = std::env::var("COVE_WRITE_FAILURES") {
        std::fs::write(file, failed.iter().cloned().collect::<Vec<_>>().join("\n")).unwrap();
    }
    let list = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/wpt/failures.txt")).unwrap();
    let known: BTreeSet<String> =
        list.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).map(str::to_owned).collect();
    let new: Vec<_> = failed.difference(&known).collect();
    assert!(new.is_empty(), "{} fail that did not: {new:#?}", new.len());
    let gone: Vec<_> = known.difference(&failed).collect();
    assert!(gone.is_empty(), "these pass now; take them off the list: {gone:#?}");
}
