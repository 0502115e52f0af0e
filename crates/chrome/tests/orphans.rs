//! A parent that is killed leaves no browser behind, and its folder is swept up by the next one.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    unreachable_pub,
    dead_code
)]

mod world;

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use cove_chrome::{ChromeEngine, ChromeOptions};
use cove_core::{Engine, SessionOptions};
use cove_testkit::processes::{alive, kill};
use cove_testkit::until;
use world::{body, group, world};

/// Set for the process that is to be killed: where it works.
const ROLE: &str = "COVE_CHROME_TEST_PARENT";

#[tokio::test]
async fn a_killed_parent_leaves_nothing() {
    if let Some(folder) = std::env::var_os(ROLE) {
        return be_the_parent(folder.into()).await;
    }
    let world = world(1);
    #[expect(clippy::disallowed_methods, reason = "the child is killed and waited for below")]
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "a_killed_parent_leaves_nothing", "--nocapture"])
        .env(ROLE, world.folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let pid: u32 =
        lines.map_while(Result::ok).find_map(|line| line.split("browser=").nth(1)?.trim().parse().ok()).unwrap();
    let processes = group(pid);
    assert!(processes.len() > 3, "{processes:?}");
    kill(child.id());
    child.wait().unwrap();
    until("the browser is gone with its parent", async || processes.iter().all(|pid| !alive(*pid))).await;
    assert_eq!(std::fs::read_dir(world.folder.path()).unwrap().count(), 1, "a dead parent removes nothing");
    world.still_works("the sweep").await;
    assert_eq!(std::fs::read_dir(world.folder.path()).unwrap().count(), 1, "the orphan's folder was not swept up");
    world.end().await;
}

/// Starts a browser with a spinning page, says its number, and waits to be killed.
async fn be_the_parent(folder: std::path::PathBuf) {
    let options = ChromeOptions { pool_size: 1, temp_dir: folder, ..ChromeOptions::default() };
    let engine = ChromeEngine::new(options);
    let mut session = engine.open(SessionOptions::one_shot()).await.unwrap();
    println!("\nbrowser={}", engine.pid().unwrap());
    let _ = session.run(&body("for (;;) {}")).await;
    std::future::pending::<()>().await;
}
