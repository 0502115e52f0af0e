//! Pages that spin, commands that wait for ever, processes that are killed: each answer comes in time, the next works.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod site;

use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use site::{Place, processes_of};

/// What a loaded machine may add to the second that the contract gives.
const LOADED: Duration = Duration::from_secs(4);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stuck_page_costs_itself_only() {
    let place = Place::new().await;
    let bay = place.serve("sandbox-trouble").await;
    let play = format!("open {}", place.url("/play"));
    bay.ok(&play).await;
    for (stuck, note) in [
        ("eval 'while(true){}'", "replaced by a blank one"),
        ("eval 'new Promise(() => {})'", "the page is still there"),
        ("wait 60000", "the page is still there"),
    ] {
        let began = Instant::now();
        let answer = bay.exec_for(stuck, 1.5).await;
        assert_eq!(answer.exit_code, -1, "{stuck}: {answer:?}");
        assert!(
            answer.stderr.contains("Command timed out after 1.5s") && answer.stderr.contains(note),
            "{stuck}: {answer:?}"
        );
        assert!(began.elapsed() < Duration::from_millis(2500) + LOADED, "{stuck}: {:?}", began.elapsed());
        assert!(bay.ok(&play).await.contains("Play"), "after {stuck}");
        assert!(bay.ok("snapshot -i").await.contains("Greet"), "after {stuck}");
    }
    // A page beside the stuck one stays.
    bay.ok(&format!("tab new {}", place.url("/second"))).await;
    let answer = bay.exec_for("eval 'for(;;);'", 1.5).await;
    assert!(answer.exit_code == -1 && answer.stderr.contains("its tab was closed"), "{answer:?}");
    let tabs = bay.ok("tab").await;
    assert!(tabs.contains("/play") && !tabs.contains("/second"), "{tabs}");

    // Whoever waits behind a long command waits no longer than its own time.
    let (long, short) = tokio::join!(bay.exec_for("wait 2500", 30.0), async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        bay.exec_for("get url", 1.0).await
    });
    assert_eq!((long.exit_code, short.exit_code), (0, -1), "{short:?}");
    assert!(short.stderr.contains("an earlier command was still running"), "{short:?}");
    let batch = json!({ "commands": ["get url", "wait 60000", "get url"], "timeout": 2, "stop_on_error": false });
    let (_, batch) = bay.post("/exec_batch", &batch).await;
    assert_eq!((batch["completed_steps"].as_u64(), batch["success"].as_bool()), (Some(1), Some(false)), "{batch}");

    // The daemon is killed: the next command has a new one, on the same page.
    bay.ok(&play).await;
    let room = bay.gull().room();
    let pid: i32 = std::fs::read_to_string(room.join("s/sandbox-trouble.pid")).unwrap().trim().parse().unwrap();
    kill_process(Pid::from_raw(pid).unwrap(), Signal::KILL).unwrap();
    let answer = bay.exec("get url").await;
    assert_eq!(answer.exit_code, 0, "{answer:?}");
    assert!(answer.stdout.contains("/play") && answer.stderr.contains("take a new snapshot"), "{answer:?}");

    // The browser is killed while a command runs: it is said at once, not at the deadline.
    let browser = bay.gull().browser_pid().await.unwrap();
    let began = Instant::now();
    let (lost, ()) = tokio::join!(bay.exec_for("wait 30000", 40.0), async {
        tokio::time::sleep(Duration::from_millis(500)).await;
        kill_process(Pid::from_raw(browser.cast_signed()).unwrap(), Signal::KILL).unwrap();
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
    assert_eq!(processes_of(place.temp.path()), Vec::<String>::new());
    assert_eq!(std::fs::read_dir(place.temp.path()).unwrap().count(), 0, "a folder was left");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_browser_that_nobody_uses_is_ended() {
    let place = Place::new().await;
    let mut options = place.options("sandbox-idle");
    options.idle_timeout = Some(Duration::from_millis(500));
    let gull = cove_gull::Gull::start(options).await.unwrap();
    assert_eq!(gull.exec("open about:blank", Duration::from_secs(60)).await.exit_code, 0);
    let until = Instant::now() + Duration::from_secs(20);
    while gull.browser_pid().await.is_some() {
        assert!(Instant::now() < until, "the browser is still there");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(gull.exec("get url", Duration::from_secs(60)).await.exit_code, 0);
    // Dropped instead of closed: the same end.
    tokio::task::spawn_blocking(move || drop(gull)).await.unwrap();
    assert_eq!(processes_of(place.temp.path()), Vec::<String>::new());
    assert_eq!(std::fs::read_dir(place.temp.path()).unwrap().count(), 0, "a folder was left");
}
