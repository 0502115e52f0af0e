//! Pages that spin and commands that wait for ever: each answer comes in time, and the next command works.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod site;

use std::time::{Duration, Instant};

use cove_testkit::until;
use serde_json::json;
use site::{Place, runs};

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
    bay.server.close().await;
}

/// Whoever waits behind a long command waits no longer than its own time.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_long_command_costs_no_other_its_time() {
    let place = Place::new().await;
    let bay = place.serve("sandbox-queue").await;
    bay.ok(&format!("open {}", place.url("/play"))).await;
    let (long, short) = tokio::join!(bay.exec_for("wait 2500", 30.0), async {
        until("the long command runs", async || runs(std::process::id(), "2500")).await;
        bay.exec_for("get url", 1.0).await
    });
    assert_eq!((long.exit_code, short.exit_code), (0, -1), "{short:?}");
    assert!(short.stderr.contains("an earlier command was still running"), "{short:?}");
    let batch = json!({ "commands": ["get url", "wait 60000", "get url"], "timeout": 2, "stop_on_error": false });
    let (_, batch) = bay.post("/exec_batch", &batch).await;
    assert_eq!((batch["completed_steps"].as_u64(), batch["success"].as_bool()), (Some(1), Some(false)), "{batch}");
    bay.server.close().await;
}
