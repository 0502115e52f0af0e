//! Machines with fewer walls: what is missing is said, strict refuses, everything else works, and nothing is left behind.
//!
//! Such a machine is made here by starting the worker through a script that takes something away first. Where not even
//! that is possible the machine is such a one by itself, and the worker is started as it is.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]
#![allow(clippy::disallowed_methods)] // a host that is killed must be a process of its own

mod stage;

use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use cove_core::{Engine, EngineError, FaultKind, SessionOptions};
use cove_embedded::{EmbeddedEngine, EmbeddedOptions, WallName, WallPolicy, WallState};
use cove_testkit::processes::below;
use cove_testkit::until_blocking;
use stage::{PATIENCE_MS, body, ended, hold, once, options, session, value};
use tempfile::TempDir;

const WORKER: &str = env!("CARGO_BIN_EXE_cove-worker");

/// No user namespaces; root's other namespaces remain possible.
const NO_USER_NAMESPACE: &str = "exec";

/// No namespaces at all: no privilege to make one either.
const NO_NAMESPACE: &str = "exec setpriv --bounding-set -all --inh-caps -all --no-new-privs";

/// A program that starts the worker with less.
fn lesser_worker(folder: &TempDir, how: &str) -> PathBuf {
    let path = folder.path().join("worker");
    let inner = format!("echo 0 > /proc/sys/user/max_user_namespaces && {how} {WORKER} \"$@\"");
    let script = format!(
        "#!/bin/sh\nPATH=/usr/bin:/bin:/usr/sbin:/sbin\nexport PATH\nexec unshare -Ur sh -c '{inner}' worker \"$@\"\n"
    );
    std::fs::write(&path, script).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    let works = Command::new("unshare").args(["-Ur", "setpriv", "--no-new-privs", "true"]).status();
    if works.is_ok_and(|status| status.success()) { path } else { WORKER.into() }
}

fn with(worker: &Path, profile: WallPolicy) -> EmbeddedEngine {
    EmbeddedEngine::new(EmbeddedOptions { worker_program: Some(worker.into()), profile, ..options() })
}

#[tokio::test]
async fn what_is_missing_is_said_and_the_rest_works() {
    for (how, missing) in [
        (NO_USER_NAMESPACE, &[WallName::UserNamespace][..]),
        (NO_NAMESPACE, &[WallName::UserNamespace, WallName::PidNamespace, WallName::NetworkNamespace]),
    ] {
        let folder = TempDir::new().unwrap();
        let worker = lesser_worker(&folder, how);
        let engine = with(&worker, WallPolicy::Standard);
        let report = engine.walls().await.unwrap();
        for name in missing {
            assert_eq!(report.get(*name).unwrap().state, WallState::Missing, "{name}");
        }
        assert_eq!(report.get(WallName::Seccomp).unwrap().state, WallState::Active);
        assert_eq!(value(&engine, "return 6 * 7").await, 42);
        let runaway = once(&engine, body("while (true) {}", 100)).await;
        assert_eq!(runaway.result.unwrap_err().kind, FaultKind::Timeout);
        assert_eq!(value(&engine, "return 'well'").await, "well");

        let refused = with(&worker, WallPolicy::Strict).open(SessionOptions::one_shot()).await.err().unwrap();
        let EngineError::Unavailable(why) = refused else { panic!("{refused:?}") };
        assert!(missing.iter().all(|name| why.contains(name.as_str())), "{why}");
    }
}

/// The test below starts this very test as a host of its own, with another worker and other code.
const ROLE: &str = "COVE_TEST_HOST_WORKER";

#[tokio::test]
async fn a_host_with_one_session() {
    let given = std::env::var_os(ROLE);
    let code = if given.is_some() { "while (true) {}" } else { "return 1" };
    let engine = with(given.as_deref().map_or(Path::new(WORKER), Path::new), WallPolicy::Standard);
    let mut session = session(&engine).await;
    println!("\nopen");
    assert_eq!(session.run(&body(code, PATIENCE_MS)).await.result.unwrap().value, 1);
}

/// Where no PID namespace ends the children with the zygote, the parent-death signal does.
#[test]
fn a_killed_host_leaves_no_process_without_namespaces_either() {
    let folder = TempDir::new().unwrap();
    let mut host = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "a_host_with_one_session", "--nocapture"])
        .env(ROLE, lesser_worker(&folder, NO_NAMESPACE))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let lines = BufReader::new(host.stdout.take().unwrap()).lines();
    assert!(lines.map_while(Result::ok).any(|line| line == "open"));
    let mut held = Vec::new();
    until_blocking("there are a zygote and a session", || {
        held = below(host.id()).into_iter().filter_map(hold).collect();
        held.len() >= 2
    });
    host.kill().unwrap();
    host.wait().unwrap();
    for process in &held {
        assert!(ended(process), "a process outlives its host");
    }
}
