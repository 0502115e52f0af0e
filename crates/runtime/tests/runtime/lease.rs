//! A cell with a lease: renewed it goes on, not renewed it ends by itself, and guests write nothing after that.

use std::time::{Duration, Instant};

use cove_cell::{CellOptions, LocalCell};
use cove_testkit::processes::{alive, below};
use serde_json::json;

use crate::support::{PATIENCE, sandbox_with};

#[tokio::test]
async fn a_cell_ends_with_its_lease_and_not_before() {
    let now = cove_cgroup::uptime_ms().unwrap();
    let began = Instant::now();
    let mut sandbox = sandbox_with(|options| options.lease_until_ms = Some(now + 2_000)).await;
    // Renewed, also by less than what it has: that takes nothing away.
    sandbox.cell.renew(now + 5_000);
    sandbox.cell.renew(now + 100);
    let command = "nohup sh -c 'while :; do echo x >> counter; sleep 0.01; done' >/dev/null 2>&1 &";
    let (status, said) = sandbox.post("/shell/exec", json!({ "command": command })).await;
    assert!(status.is_success(), "{said}");
    let all = below(sandbox.cell.walls().init_pid);
    tokio::time::timeout(PATIENCE, sandbox.cell.wait()).await.expect("it goes on for ever").unwrap();
    assert!(began.elapsed() >= Duration::from_millis(4_900), "it ended after {:?}", began.elapsed());
    let counter = sandbox.cargo.path().join("counter");
    assert!(!std::fs::read(&counter).unwrap().is_empty() && !all.is_empty(), "nothing ran");
    assert!(!all.iter().any(|pid| alive(*pid)), "a guest outlived its lease");
}

/// As a Bay starts it that was frozen just then: it is over before it has begun.
#[tokio::test]
async fn a_lease_that_is_over_starts_nothing_for_long() {
    let (cargo, sockets) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut options = CellOptions::new(env!("CARGO_BIN_EXE_cove-ship"), cargo.path(), sockets.path());
    options.lease_until_ms = Some(1);
    // Either its supervisor has ended everything before it could report, or it does so a moment later.
    if let Ok(mut cell) = LocalCell::start(options).await {
        tokio::time::timeout(PATIENCE, cell.wait()).await.expect("it goes on for ever").unwrap();
    }
}

#[tokio::test]
async fn a_cell_without_a_lease_goes_on() {
    let mut sandbox = sandbox_with(|_| {}).await;
    // Of no use, and no harm: nobody reads it.
    sandbox.cell.renew(1);
    assert!(tokio::time::timeout(Duration::from_millis(1_500), sandbox.cell.wait()).await.is_err());
    let (status, said) = sandbox.post("/shell/exec", json!({ "command": "echo here" })).await;
    assert!(status.is_success() && said.to_string().contains("here"), "{said}");
}
