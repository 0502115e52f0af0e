//! Every wall, proven from inside.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use std::path::Path;

use cove_core::{Engine, EngineError, SessionOptions};
use cove_embedded::probe::{Behind, Outcome, probe_walls};
use cove_embedded::{EmbeddedEngine, EmbeddedOptions, WallName, WallPolicy, WallState};

const WORKER: &str = env!("CARGO_BIN_EXE_cove-worker");

fn options() -> EmbeddedOptions {
    EmbeddedOptions { worker_program: Some(WORKER.into()), ..Default::default() }
}

/// What a guest that owns its process could try. Only the controls may succeed.
#[test]
fn every_attempt_from_inside_is_stopped() {
    check(Behind::All, 60);
}

/// The walls behind seccomp hold on their own, where this machine has them all.
#[tokio::test]
async fn the_walls_behind_seccomp_hold_without_it() {
    let report = EmbeddedEngine::new(options()).walls().await.unwrap();
    if report.missing().next().is_none() {
        check(Behind::AllButSeccomp, 25);
    }
}

fn check(behind: Behind, at_least: usize) {
    let probed = probe_walls(Some(Path::new(WORKER)), behind).unwrap();
    let (controls, attempts): (Vec<_>, Vec<_>) =
        probed.into_iter().partition(|probed| probed.name.starts_with("control"));
    assert_eq!(controls.len(), 3);
    for control in controls {
        assert_eq!(control.outcome, Outcome::Succeeded, "{}", control.name);
    }
    assert!(attempts.len() >= at_least, "only {} attempts were made", attempts.len());
    let holes: Vec<_> = attempts.iter().filter(|probed| !probed.held).collect();
    assert!(holes.is_empty(), "{holes:#?}");
}

/// The report has every wall, and seccomp, which every kernel of the last ten years has, stands.
#[tokio::test]
async fn the_report_names_every_wall() {
    let report = EmbeddedEngine::new(options()).walls().await.unwrap();
    assert_eq!(report.walls.iter().map(|wall| wall.name).collect::<Vec<_>>(), WallName::ALL);
    let always = [
        WallName::Seccomp,
        WallName::NoNewPrivileges,
        WallName::Capabilities,
        WallName::UnprivilegedUser,
        WallName::ResourceLimits,
        WallName::NotDumpable,
        WallName::NoDescriptors,
        WallName::NoEnvironment,
    ];
    for name in always {
        let wall = report.get(name).unwrap();
        assert_eq!(wall.state, WallState::Active, "{name}: {}", wall.detail);
    }
}

/// Strict means all: either every wall stands and it starts, or it says which one does not.
#[tokio::test]
async fn strict_starts_with_all_walls_or_not_at_all() {
    let missing: Vec<_> =
        EmbeddedEngine::new(options()).walls().await.unwrap().missing().map(|wall| wall.name).collect();
    let strict = EmbeddedEngine::new(EmbeddedOptions { profile: WallPolicy::Strict, ..options() });
    match strict.open(SessionOptions::executor()).await {
        Ok(session) => {
            assert_eq!(missing, []);
            session.close().await.unwrap();
        }
        Err(EngineError::Unavailable(why)) => {
            assert!(!missing.is_empty(), "{why}");
            assert!(missing.iter().all(|name| why.contains(name.as_str())), "{why}");
        }
        Err(other) => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_missing_worker_is_said_plainly() {
    let engine = EmbeddedEngine::new(EmbeddedOptions { worker_program: Some("/nowhere/cove".into()), ..options() });
    let error = engine.open(SessionOptions::executor()).await.err().unwrap();
    assert_eq!(error, EngineError::Unavailable("there is no worker program at /nowhere/cove".into()));
}
