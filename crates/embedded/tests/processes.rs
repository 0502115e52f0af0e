//! Processes: none is left behind, none is leaked, and the death of one is nobody else's.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]
#![allow(clippy::disallowed_methods)] // a host that is killed must be a process of its own

mod stage;

use std::io::{BufRead, BufReader};
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};
use std::time::Duration;

use cove_core::{Engine, FaultKind, SessionFate, SessionOptions};
use cove_testkit::processes::{below, stat, status_bytes};
use cove_testkit::{until_blocking, until_some};
use rustix::process::{Signal, pidfd_send_signal};
use stage::{PATIENCE_MS, body, descriptors, ended, engine, hold, options, session, value};

/// The tests below start this very test as a host of its own, with other code to run.
const CODE: &str = "COVE_TEST_HOST_CODE";

#[tokio::test]
async fn a_host_with_three_sessions() {
    let code = std::env::var(CODE).unwrap_or_else(|_| "return 1".into());
    let engine = engine();
    let mut sessions = Vec::new();
    for _ in 0..3 {
        sessions.push(session(&engine).await);
    }
    println!("\nopen");
    let request = body(&code, PATIENCE_MS);
    let runs = sessions.iter_mut().map(|session| session.run(&request));
    for report in futures_util::future::join_all(runs).await {
        assert_eq!(report.result.unwrap().value, 1);
    }
}

/// A host that is killed leaves nothing: not the zygote, not a spare, not a session that spins.
#[test]
fn a_killed_host_leaves_no_process() {
    let mut host = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "a_host_with_three_sessions", "--nocapture"])
        .env(CODE, "while (true) {}")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let lines = BufReader::new(host.stdout.take().unwrap()).lines();
    assert!(lines.map_while(Result::ok).any(|line| line == "open"));
    // Three sessions and the spares are forked by now or in a moment; whatever is there is held by descriptor.
    let mut held = Vec::new();
    until_blocking("there are a zygote and three sessions", || {
        held = below(host.id()).into_iter().filter_map(hold).collect();
        held.len() >= 4
    });
    host.kill().unwrap();
    host.wait().unwrap();
    for process in &held {
        assert!(ended(process), "a process outlives its host");
    }
}

/// The zygote's death ends its sessions, each with a fault; the next session has another zygote.
#[tokio::test]
async fn a_killed_zygote_is_replaced() {
    let engine = engine();
    let mut session = session(&engine).await;
    // The zygote is our only child and so stands first; spares may be forked below it at any moment.
    let zygote = below(std::process::id())[0];
    let request = body("while (true) {}", PATIENCE_MS);
    let run = session.run(&request);
    let kill = async {
        busiest().await;
        pidfd_send_signal(hold(zygote).unwrap(), Signal::KILL).unwrap();
    };
    let (report, ()) = tokio::join!(run, kill);
    let fault = report.result.unwrap_err();
    assert_eq!((fault.kind, report.fate), (FaultKind::EngineLost, SessionFate::Lost));
    assert_eq!(fault.message, "the worker was killed together with its zygote");
    for n in 0..20 {
        assert_eq!(value(&engine, &format!("return {n}")).await, n);
    }
}

/// A child that dies on its own says what it died of, and only its session ends.
#[tokio::test]
async fn a_killed_child_is_one_lost_session() {
    let engine = engine();
    let (mut one, mut other) = (session(&engine).await, session(&engine).await);
    let request = body("while (true) {}", PATIENCE_MS);
    let run = one.run(&request);
    let kill = async {
        let spinning = busiest().await;
        pidfd_send_signal(hold(spinning).unwrap(), Signal::TERM).unwrap();
    };
    let (report, ()) = tokio::join!(run, kill);
    let fault = report.result.unwrap_err();
    assert_eq!(fault.kind, FaultKind::EngineLost);
    assert_eq!(fault.message, "the worker died (signal 15)");
    assert_eq!(other.run(&body("return 'fine'", PATIENCE_MS)).await.result.unwrap().value, "fine");
}

/// The session that spins: of the processes below this one the busiest, once one has used a good deal of processor time.
async fn busiest() -> u32 {
    until_some("a session spins", async || {
        let used = below(std::process::id()).into_iter().filter_map(|pid| Some((stat(pid)?.ticks, pid)));
        used.max().filter(|(ticks, _)| *ticks >= 10).map(|(_, pid)| pid)
    })
    .await
}

/// Closing waits until the process is gone; dropping kills it; an engine that is dropped takes everything along.
#[tokio::test]
async fn nothing_is_left_of_a_session_or_an_engine() {
    let engine = engine();
    let open = session(&engine).await;
    let closed = session(&engine).await;
    closed.close().await.unwrap();
    drop(open);
    let held: Vec<OwnedFd> = below(std::process::id()).into_iter().filter_map(hold).collect();
    assert!(!held.is_empty());
    drop(engine);
    for process in &held {
        assert!(ended(process));
    }
}

/// Ten thousand fresh runs: as many descriptors, processes and bytes afterwards as before.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_runs_leak_nothing() {
    let engine = std::sync::Arc::new(engine());
    let round = |runs: usize| {
        let engine = std::sync::Arc::clone(&engine);
        async move {
            let workers = (0..4).map(|_| {
                let engine = std::sync::Arc::clone(&engine);
                tokio::spawn(async move {
                    for n in 0..runs / 4 {
                        let mut session = engine.open(SessionOptions::one_shot()).await.unwrap();
                        let report = session.run(&body(&format!("return {n}"), PATIENCE_MS)).await;
                        assert_eq!(report.result.unwrap().value, n);
                    }
                })
            });
            for worker in futures_util::future::join_all(workers).await {
                worker.unwrap();
            }
        }
    };
    round(400).await;
    let (open, memory) = (settled_descriptors().await, resident_bytes());
    round(10_000).await;
    let open_after = settled_descriptors().await;
    let most = 1 + options().spare_children;
    settled_processes().await;
    // Two descriptors per spare, and the number of spares is not always the same.
    assert!(open_after <= open + 2 * most, "{open} descriptors before, {open_after} after");
    let grown = resident_bytes().saturating_sub(memory);
    assert!(grown < 16 << 20, "the host has grown by {grown} bytes");
}

/// The number of our descriptors once no session is left.
async fn settled_descriptors() -> usize {
    settled_processes().await;
    descriptors()
}

/// The number of our processes once the killed ones are reaped: the zygote and at most the spares.
async fn settled_processes() -> usize {
    let most = 1 + options().spare_children;
    until_some("only a zygote and its spares are left", async || {
        Some(below(std::process::id()).len()).filter(|count| *count <= most)
    })
    .await
}

fn resident_bytes() -> u64 {
    status_bytes(std::process::id(), "VmRSS").unwrap()
}

/// Two hundred sessions at once, each with its own state.
#[tokio::test]
async fn two_hundred_sessions_are_open_at_once() {
    let engine = engine();
    let mut sessions = Vec::new();
    for n in 0..200 {
        let mut session = engine.open(SessionOptions::executor()).await.unwrap();
        session.run(&stage::cell(&format!("const own = {n}"))).await.result.unwrap();
        sessions.push(session);
    }
    for (n, session) in sessions.iter_mut().enumerate() {
        assert_eq!(session.run(&stage::cell("own")).await.result.unwrap().value, n);
    }
    for session in sessions {
        session.close().await.unwrap();
    }
}

/// A full house makes the next one wait, and lets it in when somebody leaves.
#[tokio::test]
async fn a_full_engine_makes_the_next_session_wait() {
    let engine = cove_embedded::EmbeddedEngine::new(cove_embedded::EmbeddedOptions { max_sessions: 1, ..options() });
    assert_eq!(engine.max_sessions(), 1);
    let first = session(&engine).await;
    let mut second = std::pin::pin!(engine.open(SessionOptions::one_shot()));
    let waiting = tokio::time::timeout(Duration::from_millis(50), second.as_mut()).await;
    assert!(waiting.is_err(), "there was no place");
    first.close().await.unwrap();
    second.await.unwrap().close().await.unwrap();
}
