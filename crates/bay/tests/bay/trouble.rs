//! What dies is noticed and remade; what cannot start leaves nothing; what takes too long is told.

use std::sync::Arc;
use std::time::Duration;

use cove_api::{
    Barrier, CreateSandbox, ErrorCode, ExecType, HistoryQuery, JavaScriptExecRequest, RuntimeCause, SandboxStatus,
};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::support::{alive, below, harbour, harbour_with, shell, until};

fn kill(pid: u32) {
    let _ = kill_process(Pid::from_raw(pid.cast_signed()).unwrap(), Signal::KILL);
}

#[tokio::test]
async fn a_dead_container_is_remade_before_a_call_fails() {
    let harbour = harbour().await;
    let id = harbour.create().await.id;
    harbour.python(&id, "x = 1").await;
    harbour.out(&id, "echo kept > kept.txt").await;
    for round in 0..3 {
        let all = below(std::process::id());
        assert!(!all.is_empty());
        // The supervisor; the sandbox's first process; everybody.
        match round {
            0 => kill(all[0]),
            1 => kill(all[1]),
            _ => all.iter().for_each(|pid| kill(*pid)),
        }
        // At once, while it is dying: the call succeeds, or says that its runtime ended under it.
        match harbour.shell(&id, "cat kept.txt").await {
            Ok(done) => assert_eq!(done.output.trim(), "kept"),
            Err(error) => assert_eq!(error.code, ErrorCode::ShipError, "{error}"),
        }
        assert_eq!(harbour.out(&id, "cat kept.txt").await, "kept", "round {round}");
        assert!(!harbour.python(&id, "x").await.success);
        assert_eq!(harbour.info(&id).await.status, SandboxStatus::Ready);
        assert!(!all.iter().any(|pid| alive(*pid)), "round {round}");
        harbour.python(&id, "x = 1").await;
    }
    // Killed with nobody calling: the sandbox is idle, and says so.
    below(std::process::id()).into_iter().for_each(kill);
    until("its end is noticed", || async { harbour.info(&id).await.status == SandboxStatus::Idle }).await;
    assert_eq!(harbour.out(&id, "echo again").await, "again");

    // Killed in the middle of a command: that one fails, the next does not.
    let (bay, owner, name) = (harbour.bay.clone(), harbour.owner.clone(), id.clone());
    let running = tokio::spawn(async move { bay.exec_shell(&owner, &name, shell("echo > begun; sleep 60")).await });
    let begun = harbour.dir.path().join("data/cargos").join(&harbour.info(&id).await.cargo_id).join("begun");
    until("it runs", || async { begun.exists() }).await;
    below(std::process::id()).into_iter().for_each(kill);
    let broken = running.await.unwrap().unwrap_err();
    assert_eq!(broken.code, ErrorCode::ShipError, "{broken}");
    assert_eq!(harbour.out(&id, "echo again").await, "again");
    harbour.close().await;
}

/// Who works in a sandbox that somebody else ends is told that, and not that a runtime broke.
#[tokio::test]
async fn a_sandbox_that_is_stopped_or_deleted_under_a_call_says_so() {
    let harbour = harbour().await;
    for (deleted, code) in [(false, ErrorCode::Conflict), (true, ErrorCode::NotFound)] {
        let id = harbour.create().await.id;
        let (bay, owner, name) = (harbour.bay.clone(), harbour.owner.clone(), id.clone());
        let running = tokio::spawn(async move { bay.exec_shell(&owner, &name, shell("echo > begun; sleep 60")).await });
        let begun = harbour.dir.path().join("data/cargos").join(&harbour.info(&id).await.cargo_id).join("begun");
        until("it runs", || async { begun.exists() }).await;
        match deleted {
            false => harbour.bay.stop_sandbox(&harbour.owner, &id).await.unwrap(),
            true => harbour.bay.delete_sandbox(&harbour.owner, &id).await.unwrap(),
        }
        let told = running.await.unwrap().unwrap_err();
        assert_eq!(told.code, code, "{told}");
        if !deleted {
            assert_eq!(harbour.out(&id, "echo again").await, "again");
        }
    }
    harbour.close().await;
}

#[tokio::test]
async fn a_browser_that_cannot_start_takes_nothing_else_with_it() {
    let harbour =
        harbour_with(|config| config.driver.local.agent_browser = Some("/nowhere/agent-browser".into())).await;
    let made = harbour.create_of("browser-python").await;
    let id = made.id;
    let told = |warning: &String| warning.starts_with("browser: ") && warning.contains("/nowhere/agent-browser");
    assert!(made.warnings.iter().any(told), "{:?}", made.warnings);
    assert!(!harbour.create_of("python-default").await.warnings.iter().any(told));
    // Asked first for what it cannot do, it says why; and does all else.
    for _ in 0..2 {
        let open = crate::browser::command("open about:blank");
        let failed = harbour.bay.exec_browser(&harbour.owner, &id, open).await.unwrap_err();
        assert_eq!((failed.code, &failed.details["container"]), (ErrorCode::ShipError, &"gull".into()), "{failed}");
        assert!(failed.message.contains("/nowhere/agent-browser"), "{failed}");
        assert_eq!(failed.cause(), Some(RuntimeCause::NotStarted), "{failed}");
        assert_eq!(harbour.out(&id, "echo kept >> kept.txt; tail -n 1 kept.txt").await, "kept");
        assert!(harbour.python(&id, "x = 1").await.success);
    }
    let info = harbour.info(&id).await;
    let names: Vec<String> = info.containers.into_iter().flatten().map(|container| container.name).collect();
    assert_eq!((info.status, names), (SandboxStatus::Ready, vec!["ship".to_owned()]));
    harbour.bay.stop_sandbox(&harbour.owner, &id).await.unwrap();
    assert_eq!(harbour.info(&id).await.status, SandboxStatus::Idle);
    assert_eq!(below(std::process::id()), Vec::<u32>::new());
    harbour.close().await;
}

#[tokio::test]
async fn a_session_of_which_nothing_can_start_has_failed() {
    let harbour = harbour_with(|config| config.driver.local.program = Some("/nowhere/cove".into())).await;
    let id = harbour.create_of("browser-python").await.id;
    for _ in 0..2 {
        let failed = harbour.shell(&id, "true").await.unwrap_err();
        assert_eq!((failed.code, failed.cause()), (ErrorCode::ShipError, Some(RuntimeCause::NotStarted)), "{failed}");
        let info = harbour.info(&id).await;
        assert_eq!((info.status, info.containers), (SandboxStatus::Failed, None));
    }
    assert_eq!(below(std::process::id()), Vec::<u32>::new());
    harbour.close().await;
}

#[tokio::test]
async fn what_takes_too_long_is_a_result_with_words() {
    let harbour = harbour().await;
    let id = harbour.create().await.id;
    let mut request = shell("echo begun; sleep 60");
    request.timeout = 1;
    let late = harbour.bay.exec_shell(&harbour.owner, &id, request).await.unwrap();
    assert!(!late.success && late.output.contains("begun"), "{late:?}");
    assert!(late.error.as_deref().is_some_and(|error| error.contains("timed out after 1s")), "{late:?}");
    assert!(late.timed_out && late.stopped.is_none(), "{late:?}");
    let mut request = crate::support::python("import time\nprint('begun')\ntime.sleep(60)");
    request.timeout = 1;
    let late = harbour.bay.exec_python(&harbour.owner, &id, request).await.unwrap();
    assert!(!late.success && late.timed_out && late.error.is_some_and(|error| !error.trim().is_empty()));
    for timeout in [0, 301] {
        let mut request = shell("true");
        request.timeout = timeout;
        let refused = harbour.bay.exec_shell(&harbour.owner, &id, request).await.unwrap_err();
        assert_eq!(refused.code, ErrorCode::ValidationError);
    }
    // The history says what stood in the way; what failed by itself, whatever it wrote, is not among these.
    assert!(!harbour.shell(&id, "echo 'memory limit: not allowed' >&2; exit 1").await.unwrap().success);
    for (code, barrier) in [
        ("throw new Error('execution timed out')", None),
        ("for (;;);", Some(Barrier::TimeLimit)),
        ("let all = []; for (;;) all.push('x'.repeat(1 << 20) + all.length)", Some(Barrier::MemoryLimit)),
        ("import pad from 'left-pad'", Some(Barrier::NotAllowed)),
    ] {
        let request = json!({"code": code, "timeout": 5, "engine": "embedded"});
        let request: JavaScriptExecRequest = serde_json::from_value(request).unwrap();
        let done = harbour.bay.exec_javascript(&harbour.owner, &id, request).await.unwrap();
        let entry = harbour.bay.execution(&harbour.owner, &id, &done.execution_id.unwrap()).await.unwrap();
        assert_eq!((entry.success, entry.barrier), (false, barrier), "{code}: {:?}", entry.error);
    }
    let barred = HistoryQuery { barred: Some(true), ..HistoryQuery::default() };
    let entries = harbour.bay.history(&harbour.owner, &id, barred).await.unwrap().entries;
    let found: Vec<_> = entries.iter().rev().map(|entry| (entry.exec_type, entry.barrier.unwrap())).collect();
    let (python, command, javascript) = (ExecType::Python, ExecType::Shell, ExecType::JavaScript);
    assert_eq!(found[..2], [(command, Barrier::TimeLimit), (python, Barrier::TimeLimit)]);
    assert_eq!(found[2..].iter().map(|(kind, _)| *kind).collect::<Vec<_>>(), [javascript; 3]);
    harbour.close().await;
}

/// What happened is in fields of the answer, from the runtime to whoever asked: no caller has to search a sentence.
#[tokio::test]
async fn a_kill_is_told_with_its_signal_and_what_it_cost() {
    let harbour = harbour().await;
    let id = harbour.create().await.id;
    let killed = harbour.shell(&id, "kill -KILL $$").await.unwrap();
    assert_eq!((killed.success, killed.signal, killed.timed_out), (false, Some(9), false), "{killed:?}");
    let fine = harbour.shell(&id, "true").await.unwrap();
    assert_eq!((fine.success, fine.signal), (true, None), "{fine:?}");
    assert!(!harbour.python(&id, "x = 1").await.state_lost);
    let failed = harbour.python(&id, "1 / 0").await;
    assert!(!failed.success && !failed.state_lost && failed.signal.is_none(), "{failed:?}");
    let killed = harbour.python(&id, "import os\nos.kill(os.getpid(), 9)").await;
    assert_eq!((killed.success, killed.state_lost, killed.signal), (false, true, Some(9)), "{killed:?}");
    harbour.close().await;
}

#[tokio::test]
async fn a_runtime_that_does_not_answer_is_a_timeout() {
    let harbour = harbour_with(|config| config.limits.answer_grace_seconds = 1).await;
    let id = harbour.create().await.id;
    harbour.out(&id, "true").await;
    // Ship stands still: it is the sandbox's first process.
    let ship = below(std::process::id())[1];
    kill_process(Pid::from_raw(ship.cast_signed()).unwrap(), Signal::STOP).unwrap();
    let mut request = shell("true");
    request.timeout = 1;
    let late = harbour.bay.exec_shell(&harbour.owner, &id, request).await.unwrap_err();
    assert_eq!(late.code, ErrorCode::Timeout, "{late}");
    harbour.bay.stop_sandbox(&harbour.owner, &id).await.unwrap();
    assert!(!alive(ship));
    harbour.close().await;
}

#[tokio::test]
async fn what_a_profile_cannot_do_is_refused_before_anything_starts() {
    let harbour = harbour().await;
    let id = harbour.create_of("javascript").await.id;
    let refused = harbour.shell(&id, "true").await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::CapabilityNotSupported);
    assert_eq!(refused.details["capability"], "shell");
    assert_eq!(refused.details["available"], serde_json::json!(["javascript", "filesystem"]));
    assert_eq!((harbour.info(&id).await.status, below(std::process::id()).len()), (SandboxStatus::Idle, 0));
    let wish = CreateSandbox { profile: "nothing".to_owned(), ..CreateSandbox::default() };
    let unknown = harbour.bay.create_sandbox(&harbour.owner, wish, None).await.unwrap_err();
    assert_eq!(unknown.code, ErrorCode::ValidationError);
    let nobody = "sandbox-000000000000".parse().unwrap();
    assert_eq!(harbour.shell(&nobody, "true").await.unwrap_err().code, ErrorCode::NotFound);
    harbour.close().await;
}

/// Many callers at once, one session; and who comes while Bay closes is sent away, who runs may finish.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_start_for_all_and_a_close_that_waits() {
    let harbour = Arc::new(harbour().await);
    let id = harbour.create().await.id;
    let calls = (0..12).map(|_| harbour.shell(&id, "hostname; cut -d' ' -f22 /proc/1/stat"));
    let answers = futures_util::future::join_all(calls).await;
    let first = answers[0].as_ref().unwrap().output.clone();
    assert!(first.starts_with(id.as_str()), "{first}");
    assert!(answers.iter().all(|answer| answer.as_ref().unwrap().output == first), "{answers:?}");

    let (other, name) = (Arc::clone(&harbour), id.clone());
    let running = tokio::spawn(async move { other.shell(&name, "echo > begun; sleep 1; echo finished").await });
    let begun = harbour.dir.path().join("data/cargos").join(&harbour.info(&id).await.cargo_id).join("begun");
    until("it runs", || async { begun.exists() }).await;
    let bay = harbour.bay.clone();
    let closing = tokio::spawn(async move { bay.close(Duration::from_secs(20)).await });
    assert_eq!(running.await.unwrap().unwrap().output.trim(), "finished");
    closing.await.unwrap();
    assert!(harbour.bay.is_closing());
    let late = harbour.bay.create_sandbox(&harbour.owner, CreateSandbox::default(), None).await.unwrap_err();
    assert_eq!(late.code, ErrorCode::SessionNotReady);
    assert_eq!(below(std::process::id()), Vec::<u32>::new());
}

fn send(pids: &[u32], signal: Signal) {
    pids.iter().for_each(|pid| kill_process(Pid::from_raw(pid.cast_signed()).unwrap(), signal).unwrap());
}

/// A runtime that lives and does not answer is no runtime: nobody is told that it is ready, the call that waits for it is
/// told, and the next one has another.
#[tokio::test]
async fn a_runtime_that_stands_still_is_remade() {
    let harbour = harbour().await;
    let id = harbour.create().await.id;
    harbour.out(&id, "echo kept > kept.txt").await;
    let first = harbour.info(&id).await;
    assert_eq!((first.status, first.containers.unwrap()[0].healthy), (SandboxStatus::Ready, Some(true)));

    // A call is under way.
    let all = below(std::process::id());
    let (bay, owner, name) = (harbour.bay.clone(), harbour.owner.clone(), id.clone());
    let begun = harbour.dir.path().join("data/cargos").join(&first.cargo_id).join("begun");
    let running = tokio::spawn(async move { bay.exec_shell(&owner, &name, shell("echo > begun; sleep 60")).await });
    until("it runs", || async { begun.exists() }).await;
    send(&all[1..2], Signal::STOP);
    let begin = std::time::Instant::now();
    let wedged = running.await.unwrap().unwrap_err();
    assert_eq!((wedged.code, wedged.cause()), (ErrorCode::ShipError, Some(RuntimeCause::Silent)), "{wedged}");
    // Its own time-out is 30 s, and there are 15 s of grace for the answer.
    assert!(begin.elapsed() < Duration::from_secs(30), "{:?}", begin.elapsed());
    assert_eq!(harbour.out(&id, "cat kept.txt").await, "kept");
    assert!(!all.iter().any(|pid| alive(*pid)));

    // Nobody calls; somebody only looks. (A good look counts for a moment, so it is done again.)
    let all = below(std::process::id());
    send(&all[1..2], Signal::STOP);
    until("it is seen", || async {
        let seen = harbour.info(&id).await;
        let healthy = seen.containers.map(|containers| containers[0].healthy);
        seen.status == SandboxStatus::Failed && healthy == Some(Some(false)) || seen.status == SandboxStatus::Idle
    })
    .await;
    until("it has been ended", || async { !all.iter().any(|pid| alive(*pid)) }).await;
    assert_eq!(harbour.out(&id, "cat kept.txt").await, "kept");
    assert_eq!(harbour.info(&id).await.status, SandboxStatus::Ready);

    // Everybody at once, the supervisor included.
    let all = below(std::process::id());
    send(&all, Signal::STOP);
    until("the next call has another", || async {
        harbour.shell(&id, "cat kept.txt").await.is_ok_and(|done| done.output.trim() == "kept")
    })
    .await;
    assert!(!all.iter().any(|pid| alive(*pid)));
    harbour.close().await;
}
