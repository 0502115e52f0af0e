//! `/ipython/exec` against the clock.

use std::time::{Duration, Instant};

use hyper::Method;
use serde_json::json;

use crate::support::{Sandbox, sandbox, sandbox_with, until};

/// Where an interrupt is enough the variables stay; where it is not, Python is replaced and says so.
#[tokio::test]
async fn cells_end_at_their_time() {
    every_cell_ends_at_its_time(sandbox().await).await;
}

/// The same for an interpreter that is a copy of a zygote.
#[tokio::test]
async fn cells_of_a_copy_end_at_their_time() {
    let preload = |options: &mut cove_cell::CellOptions| {
        options.args = ["--preload", "json"].map(str::to_owned).to_vec();
    };
    every_cell_ends_at_its_time(sandbox_with(preload).await).await;
}

async fn every_cell_ends_at_its_time(sandbox: Sandbox) {
    for (code, lost) in [
        ("while True: pass", false),
        ("import time; time.sleep(100)", false),
        ("import subprocess; subprocess.run(['sleep', '100'])", false),
        ("while True: print('y' * 1000)", false),
        ("import threading; threading.Event().wait()", false),
        ("try:\n    while True: pass\nfinally: print('cleaned')", false),
        ("while True:\n    try:\n        for n in range(10 ** 9): n * n\n    except BaseException: pass", true),
        ("import signal; signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])\nwhile True: pass", true),
        ("sum(range(10 ** 13))", true),
        ("x = 10 ** 10 ** 9", false),
        ("import os, signal; os.kill(os.getpid(), signal.SIGSTOP)", true),
    ] {
        sandbox.python("kept = 1").await;
        let begin = Instant::now();
        let body = json!({"code": format!("print('before', flush=True)\n{code}"), "timeout": 0.4});
        let answer = sandbox.ok("/ipython/exec", body).await;
        assert!(begin.elapsed() < Duration::from_secs(15), "{code} took {:?}", begin.elapsed());
        assert_eq!((&answer["success"], &answer["timed_out"]), (&json!(false), &json!(true)), "{code}: {answer}");
        assert_eq!(
            (&answer["state_lost"], &answer["error_name"]),
            (&json!(lost), &json!("TimeoutError")),
            "{code}: {answer}"
        );
        let error = answer["ending"].as_str().unwrap();
        assert!(error.contains("timed out after 0.4s"), "{code}: {error}");
        assert!(error.contains(if lost { "variables are lost" } else { "variables are kept" }), "{code}: {error}");
        assert!(answer["output"]["text"].as_str().unwrap().starts_with("before\n"), "{code}: {answer}");
        let answer = sandbox.python("'kept' in globals()").await;
        assert_eq!(answer["stdout"], if lost { "False\n" } else { "True\n" }, "{code}: {answer}");
    }
    assert_eq!(sandbox.out("ps -eo args | grep -c '[s]leep 100' || true").await, "0");
}

#[tokio::test]
async fn a_cell_that_waits_too_long_for_its_turn_is_not_started() {
    let sandbox = sandbox().await;
    sandbox.python("ran = False").await;
    let long = sandbox.python("import time; time.sleep(1)");
    let waiting = async {
        until("it runs", || async { sandbox.get("/ipython/kernel/status").await.1["status"] == "busy" }).await;
        sandbox.ok("/ipython/exec", json!({"code": "ran = True", "timeout": 0.2})).await
    };
    let (_, answer) = tokio::join!(long, waiting);
    assert_eq!((&answer["timed_out"], &answer["state_lost"]), (&json!(true), &json!(false)), "{answer}");
    assert!(answer["ending"].as_str().unwrap().contains("not started"), "{answer}");
    assert_eq!(sandbox.python("ran").await["stdout"], "False\n");
}

/// A restart does not wait for the cell that made it necessary.
#[tokio::test]
async fn a_restart_ends_the_running_cell() {
    let sandbox = sandbox().await;
    sandbox.ok("/ipython/kernel/restart", json!({})).await;
    sandbox.python("x = 1").await;
    let begin = Instant::now();
    let body = json!({"code": "while True: pass", "timeout": 300});
    let restart = async {
        until("it runs", || async { sandbox.get("/ipython/kernel/status").await.1["status"] == "busy" }).await;
        sandbox.ok("/ipython/kernel/restart", json!({})).await
    };
    let (answer, _) = tokio::join!(sandbox.ok("/ipython/exec", body), restart);
    assert_eq!((&answer["error_name"], &answer["state_lost"]), (&json!("KernelRestarted"), &json!(true)), "{answer}");
    assert!(begin.elapsed() < Duration::from_secs(30));
    assert_eq!(sandbox.python("'x' in globals()").await["stdout"], "False\n");
}

#[tokio::test]
async fn a_client_that_goes_away_interrupts_its_cell() {
    let sandbox = sandbox().await;
    sandbox.python("x = 1").await;
    let body = json!({"code": "while True: pass", "timeout": 600});
    let gone = sandbox.ship.json(Method::POST, "/ipython/exec", Some(&body), Duration::from_millis(300)).await;
    assert!(gone.is_err());
    until("the kernel is idle", || async { sandbox.get("/ipython/kernel/status").await.1["status"] == "idle" }).await;
    assert_eq!(sandbox.python("x").await["stdout"], "1\n");
}
