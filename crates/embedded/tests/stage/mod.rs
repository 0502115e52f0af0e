//! What every test here needs: an engine with the real worker, and short ways to run code in it.
#![allow(dead_code)]

use std::os::fd::OwnedFd;

use cove_core::{Engine, Fault, RunReport, RunRequest, Session, SessionOptions};
use cove_embedded::{EmbeddedEngine, EmbeddedOptions};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use serde_json::Value;

/// Far longer than any run in a test should take, so that only a hang reaches it.
pub(crate) const PATIENCE_MS: u64 = 60_000;

pub(crate) fn options() -> EmbeddedOptions {
    EmbeddedOptions { worker_program: Some(env!("CARGO_BIN_EXE_cove-worker").into()), ..Default::default() }
}

pub(crate) fn engine() -> EmbeddedEngine {
    EmbeddedEngine::new(options())
}

pub(crate) fn body(code: &str, timeout_ms: u64) -> RunRequest {
    RunRequest { timeout_ms, ..RunRequest::new(code) }
}

pub(crate) fn cell(code: &str) -> RunRequest {
    RunRequest { timeout_ms: PATIENCE_MS, ..RunRequest::cell(code) }
}

pub(crate) async fn session(engine: &EmbeddedEngine) -> Box<dyn Session> {
    engine.open(SessionOptions::one_shot()).await.unwrap()
}

/// A fresh session, one run, and its end.
pub(crate) async fn once(engine: &EmbeddedEngine, request: RunRequest) -> RunReport {
    let mut session = session(engine).await;
    let report = session.run(&request).await;
    session.close().await.unwrap();
    report
}

pub(crate) async fn value(engine: &EmbeddedEngine, code: &str) -> Value {
    once(engine, body(code, PATIENCE_MS)).await.result.unwrap().value
}

pub(crate) async fn fault(engine: &EmbeddedEngine, code: &str, timeout_ms: u64) -> Fault {
    once(engine, body(code, timeout_ms)).await.result.unwrap_err()
}

/// The descriptors of this process.
pub(crate) fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

/// A process by descriptor; `None` when it has ended already.
pub(crate) fn hold(pid: u32) -> Option<OwnedFd> {
    pidfd_open(Pid::from_raw(pid.cast_signed())?, PidfdFlags::empty()).ok()
}

/// Waits until a process has ended.
pub(crate) fn ended(process: &OwnedFd) -> bool {
    let patience = Timespec { tv_sec: 20, tv_nsec: 0 };
    poll(&mut [PollFd::new(process, PollFlags::IN)], Some(&patience)).unwrap() == 1
}
