//! Clients of others against `cove serve`: a package from PyPI that speaks this interface, and schemathesis on the document.

use std::process::Command;

use crate::{Ground, KEY, project};

/// Runs a program of the clients' own environment against a server; all of its output if it fails.
fn run(program: &str, args: &[&str], url: &str) {
    let folder = project().join(".tools/venv-clients/bin");
    assert!(folder.is_dir(), "there are no clients here: run scripts/setup");
    let done = Command::new(folder.join(program))
        .args(args)
        .current_dir(project().join("tests/python"))
        .env("BAY_ENDPOINT", url)
        .env("BAY_TOKEN", KEY)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .unwrap();
    let (out, err) = (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    assert!(done.status.success(), "{program} {args:?}\n{out}\n{err}");
}

#[test]
fn a_client_written_for_another_bay_works_unchanged() {
    let ground = Ground::new("");
    let served = ground.serve("data", &[]);
    run("pytest", &["-q", "-p", "no:cacheprovider", "test_sdk.py"], &served.url);
    served.close();
}

#[test]
fn schemathesis_finds_no_server_error_and_no_undocumented_answer() {
    let ground = Ground::new("warm_pool:\n  enabled: false");
    let served = ground.serve("data", &[]);
    run("pytest", &["-q", "-p", "no:cacheprovider", "test_document.py"], &served.url);
    let log = ground.log();
    assert!(!log.contains("panicked"), "{log}");
    served.close();
}
