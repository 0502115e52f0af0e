//! What the tests share: an engine with a real browser, short ways to run code, and a look at what is left behind.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use cove_chrome::{ChromeEngine, ChromeOptions, find_browser};
use cove_core::{
    Engine, Fault, FaultKind, Finished, RunReport, RunRequest, RunShape, Session, SessionOptions, ToolSet, ToolSpec,
};
use cove_testkit::PATIENCE;
use cove_testkit::processes::{self, alive};
use serde_json::Value;

/// One engine with a folder of its own, so that what it leaves behind can be seen.
pub struct World {
    pub engine: ChromeEngine,
    pub folder: tempfile::TempDir,
}

/// Starts an engine; without a browser the test fails and says what to do.
pub fn world(pool_size: usize) -> World {
    world_with(ChromeOptions { pool_size, ..patient() })
}

/// Options for a machine on which starting a browser may take long.
pub fn patient() -> ChromeOptions {
    ChromeOptions { open_timeout: PATIENCE, launch_timeout: PATIENCE, ..ChromeOptions::default() }
}

pub fn world_with(options: ChromeOptions) -> World {
    if let Err(error) = find_browser(None) {
        panic!("these tests need a browser ({error}); run scripts/setup");
    }
    let folder = tempfile::Builder::new().prefix("cove-test-").tempdir().unwrap();
    // The browser runs as another user when the tests run as root.
    fs::set_permissions(folder.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let options = ChromeOptions { temp_dir: folder.path().to_owned(), ..options };
    World { engine: ChromeEngine::new(options), folder }
}

impl World {
    pub async fn open(&self, options: SessionOptions) -> Box<dyn Session> {
        self.engine.open(options).await.unwrap()
    }

    /// One run in a world of its own.
    pub async fn report(&self, code: &str) -> RunReport {
        self.report_within(code, body(code).timeout_ms).await
    }

    pub async fn report_within(&self, code: &str, timeout_ms: u64) -> RunReport {
        let mut session = self.open(SessionOptions::one_shot()).await;
        session.run(&RunRequest { timeout_ms, ..body(code) }).await
    }

    pub async fn value(&self, code: &str) -> Value {
        finished(self.report(code).await, code).value
    }

    pub async fn fault(&self, code: &str) -> Fault {
        failed(self.report(code).await, code)
    }

    /// The browser goes on as if nothing had happened.
    pub async fn still_works(&self, after: &str) {
        assert_eq!(self.value("return 6 * 7").await, 42, "after {after}");
    }

    /// Ends the engine and looks for what it left.
    pub async fn end(self) {
        let processes: BTreeSet<u32> = self.engine.pid().map(group).unwrap_or_default();
        self.engine.close().await;
        let left: Vec<u32> = processes.into_iter().filter(|pid| alive(*pid)).collect();
        assert!(left.is_empty(), "processes were left: {left:?}");
        let folders: Vec<PathBuf> =
            fs::read_dir(self.folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert!(folders.is_empty(), "folders were left: {folders:?}");
    }
}

pub fn body(code: &str) -> RunRequest {
    RunRequest { timeout_ms: 60_000, ..RunRequest::new(code) }
}

pub fn cell(code: &str) -> RunRequest {
    RunRequest { shape: RunShape::Cell, max_operations: Some(50_000), ..body(code) }
}

pub fn finished(report: RunReport, code: &str) -> Finished {
    match report.result {
        Ok(finished) => finished,
        Err(fault) => panic!("{code}\nfailed: {fault:?}"),
    }
}

pub fn failed(report: RunReport, code: &str) -> Fault {
    match report.result {
        Err(fault) => fault,
        Ok(finished) => panic!("{code}\ngave {finished:?}"),
    }
}

pub fn is(fault: &Fault, kind: FaultKind, part: &str) {
    assert!(fault.kind == kind && fault.message.contains(part), "wanted {kind:?} {part:?}, got {fault:?}");
}

pub fn tools(list: Vec<ToolSpec>) -> ToolSet {
    ToolSet::new(list).unwrap()
}

/// All processes of a group, the browser's and its children's.
pub fn group(leader: u32) -> BTreeSet<u32> {
    processes::all().into_iter().filter(|pid| processes::stat(*pid).is_some_and(|stat| stat.group == leader)).collect()
}

/// Renderers of a browser.
pub fn renderers(leader: u32) -> BTreeSet<u32> {
    let is_renderer = |pid: &u32| processes::command_line(*pid).contains("--type=renderer");
    group(leader).into_iter().filter(|pid| alive(*pid)).filter(is_renderer).collect()
}
