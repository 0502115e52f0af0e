//! The web-platform tests of streams, from the same package as test262: each file as the body of a function, with the part
//! of their harness that they use (`harness.js`). What fails is in `streams-failures.txt`; that list may only shrink.
//!
//! Left out is what needs other realms, workers or the collector, and the check of interfaces against their IDL.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::hold;
use crate::host::Guest;

const LEFT_OUT: &[&str] = &["transferable/", "idlharness", "garbage-collection", "owning-type"];

/// What a file writes before the name of another that it needs.
const NEEDS: &str = "// META: script=";

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}; run scripts/setup", path.display()))
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let entries =
        std::fs::read_dir(folder).unwrap_or_else(|_| panic!("{} is missing: run scripts/setup", folder.display()));
    for path in entries.map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            collect(&path, files);
        } else if path.to_string_lossy().ends_with(".any.js") {
            files.push(path);
        }
    }
}

#[test]
fn the_failures_of_streams_are_those_of_the_list() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.tools/wpt/streams");
    let mut files = Vec::new();
    collect(&root, &mut files);
    files.sort();
    let (mut count, mut failed) = (0, BTreeSet::new());
    for path in &files {
        let name = path.strip_prefix(&root).unwrap().to_string_lossy().into_owned();
        if LEFT_OUT.iter().any(|part| name.contains(part)) {
            continue;
        }
        let text = read(path);
        let needed = text
            .lines()
            .filter_map(|line| line.strip_prefix(NEEDS))
            .map(|other| read(&path.parent().unwrap().join(other.trim())) + "\n;\n");
        let needed: String = needed.collect();
        let code = format!("{}{needed}{{\n{text}\n}}\nreturn finished();", include_str!("harness.js"));
        let done = Guest::new().body(&code).unwrap_or_else(|fault| panic!("{name}: {fault:?}"));
        count += done["counted"].as_u64().unwrap();
        let tests = done["failed"].as_array().unwrap().iter();
        failed.extend(tests.map(|test| format!("{name}: {}", test[0].as_str().unwrap())));
    }
    assert!(count > 1_000, "{count} tests of streams");
    hold(&failed, include_str!("streams-failures.txt"));
}
