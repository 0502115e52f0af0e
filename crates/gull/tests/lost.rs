//! Processes that are killed, browsers that are closed or that nobody uses: the next command has new ones, and nothing is
//! left behind.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod site;

use std::time::{Duration, Instant};

use cove_testkit::processes::{alive, kill};
use cove_testkit::until;
use site::{Place, processes_of, runs};

/// Nothing of a Gull that has ended is left.
fn nothing_is_left(place: &Place) {
    assert_eq!(processes_of(place.temp.path()), Vec::<String>::new());
    assert_eq!(std::fs::read_dir(place.temp.path()).unwrap().count(), 0, "a folder was left");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_killed_is_replaced() {
    let place = Place::new().await;
    let bay = place.serve("sandbox-lost").await;
    let play = format!("open {}", place.url("/play"));
    // The daemon is killed: the next command has a new one, on the same page.
    bay.ok(&play).await;
    let room = bay.gull().private_folder();
    let pid: u32 = std::fs::read_to_string(room.join("s/sandbox-lost.pid")).unwrap().trim().parse().unwrap();
    kill(pid);
    // One that is still ending could take a command and not answer it.
    until("the daemon is gone", async || !alive(pid)).await;
    let answer = bay.exec("get url").await;
    assert_eq!(answer.exit_code, 0, "{answer:?}");
    assert!(answer.stdout.contains("/play") && answer.stderr.contains("take a new snapshot"), "{answer:?}");

    // The browser is killed while a command runs: it is said at once, not at the deadline.
    let browser = bay.gull().browser_pid().await.unwrap();
    let began = Instant::now();
    let (lost, ()) = tokio::join!(bay.exec_for("wait 30000", 40.0), async {
        until("the command runs", async || runs(std::process::id(), "30000")).await;
        kill(browser);
    });
    assert!(lost.exit_code == 1 && lost.stderr.contains("the browser ended while"), "{lost:?}");
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    assert!(bay.ok(&play).await.contains("Play"));

    // Closed by command, started by the next one, without a note.
    bay.ok("close").await;
    assert_eq!(bay.get("/health").await.1["browser_active"], false);
    let answer = bay.exec("get url").await;
    assert_eq!((answer.exit_code, answer.stderr.as_str()), (0, ""), "{answer:?}");
    bay.server.close().await;
    nothing_is_left(&place);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_browser_that_nobody_uses_is_ended() {
    let place = Place::new().await;
    let mut options = place.options("sandbox-idle");
    options.idle_timeout = Some(Duration::from_millis(500));
    let gull = cove_gull::Gull::start(options).await.unwrap();
    assert_eq!(gull.exec("open about:blank", Duration::from_secs(60)).await.exit_code, 0);
    until("the browser is gone", async || gull.browser_pid().await.is_none()).await;
    assert_eq!(gull.exec("get url", Duration::from_secs(60)).await.exit_code, 0);
    // Dropped instead of closed: the same end.
    tokio::task::spawn_blocking(move || drop(gull)).await.unwrap();
    nothing_is_left(&place);
}
