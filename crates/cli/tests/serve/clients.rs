//! Clients of others against `cove serve`: a package from PyPI that speaks this interface, and schemathesis on the document.

use std::path::Path;
use std::process::Command;

use crate::{Ground, KEY, project};

/// Runs a program of the clients' own environment against a server; all of its output if it fails.
fn run(program: &str, args: &[&str], url: &str, place: &Path) {
    let folder = project().join(".tools/venv-clients/bin");
    assert!(folder.is_dir(), "there are no clients here: run scripts/setup");
    let done = Command::new(folder.join(program))
        .args(args)
        .current_dir(place)
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
    let tests = project().join("tests/python/test_sdk.py");
    run("pytest", &["-q", "-p", "no:cacheprovider", tests.to_str().unwrap()], &served.url, ground.folder.path());
    served.close();
}

/// What must hold of every answer.
const CHECKS: &str = "not_a_server_error,status_code_conformance,content_type_conformance,response_headers_conformance,\
                      response_schema_conformance,unsupported_method,ignored_auth";

#[test]
fn schemathesis_finds_no_server_error_and_no_undocumented_answer() {
    let ground = Ground::new("warm_pool:\n  enabled: false");
    let served = ground.serve("data", &[]);
    let document = format!("{}/openapi.json", served.url);
    let key = format!("Authorization: Bearer {KEY}");
    // Links in the document lead it from what one answer gives to what another call asks for.
    let phases = "examples,coverage,fuzzing,stateful";
    let bounded = ["--phases", phases, "-n", "4", "--max-time", "40", "--seed", "1", "--request-timeout", "60"];
    // A stream of events has no end to wait for; it has tests of its own.
    let left_out = ["--exclude-operation-id", "stream_events"];
    // It keeps what a failing case needs in the folder where it runs: that is the test's own.
    let args =
        [&["--config-file", "/dev/null", "run", &document, "-H", &key, "--checks", CHECKS][..], &bounded, &left_out]
            .concat();
    run("st", &args, &served.url, ground.folder.path());
    let log = ground.log();
    assert!(!log.contains("panicked"), "{log}");
    served.close();
}
