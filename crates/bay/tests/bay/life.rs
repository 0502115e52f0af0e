//! A sandbox from its making to its end.

use cove_api::{CreateSandbox, ErrorCode, ExtendTtl, SandboxQuery, SandboxStatus};
use cove_bay::Owner;

use crate::support::{alive, below, harbour, harbour_with};

#[tokio::test]
async fn a_sandbox_lives_and_ends() {
    let harbour = harbour().await;
    let made = harbour.create().await;
    assert_eq!((made.status, made.idle_expires_at, &made.containers), (SandboxStatus::Idle, None, &None));
    assert_eq!(harbour.out(&made.id, "echo hello; pwd; id -un").await, "hello\n/workspace\nshipyard");
    let ready = harbour.info(&made.id).await;
    assert_eq!(ready.status, SandboxStatus::Ready);
    assert!(ready.idle_expires_at.is_some());
    let containers = ready.containers.unwrap();
    assert_eq!((containers.len(), containers[0].healthy), (1, Some(true)));
    assert!(containers[0].version.is_some() && containers[0].capabilities.contains(&"python".to_owned()));

    let first = harbour.python(&made.id, "x = 20\nprint('said')\nx + 1").await;
    assert!(first.success && first.output.contains("said") && first.output.contains("21"), "{first:?}");
    assert!(harbour.python(&made.id, "x * 2").await.output.contains("40"));
    let wrong = harbour.python(&made.id, "1/0").await;
    assert!(!wrong.success && wrong.error.as_deref().is_some_and(|e| e.contains("ZeroDivisionError")), "{wrong:?}");
    let failed = harbour.shell(&made.id, "echo out; echo err >&2; exit 3").await.unwrap();
    assert_eq!((failed.success, failed.exit_code, failed.output.trim()), (false, Some(3), "out"));
    assert!(failed.error.unwrap().contains("err"));

    // The cargo outlives the session, the session's processes do not outlive `stop`.
    harbour.out(&made.id, "echo kept > kept.txt").await;
    let before = below(std::process::id());
    assert!(before.len() >= 3, "{before:?}");
    harbour.bay.stop_sandbox(&harbour.owner, &made.id).await.unwrap();
    assert!(!before.iter().any(|pid| alive(*pid)));
    assert_eq!(harbour.info(&made.id).await.status, SandboxStatus::Idle);
    harbour.bay.stop_sandbox(&harbour.owner, &made.id).await.unwrap();
    assert_eq!(harbour.out(&made.id, "cat kept.txt").await, "kept");
    assert!(!harbour.python(&made.id, "x").await.success, "a new session remembers nothing");

    // What it uses is counted for those who ask, and only then.
    let usage = async |usage| {
        let query = SandboxQuery { usage, ..SandboxQuery::default() };
        harbour.bay.list_sandboxes(&harbour.owner, query).await.unwrap().items.remove(0).usage
    };
    let held = "held = bytearray(b'x') * (64 << 20); sum(range(10**7))";
    assert!(harbour.python(&made.id, held).await.success);
    let used = usage(true).await.unwrap();
    assert!(used.memory_bytes > 64 << 20 && used.cpu_ms > 0, "{used:?}");
    assert_eq!(usage(false).await, None);

    // Whose it is not, for him it is not there.
    let other = Owner::new("other");
    let hidden = harbour.bay.sandbox(&other, &made.id).await.unwrap_err();
    assert_eq!(hidden.code, ErrorCode::NotFound);
    assert_eq!(harbour.bay.list_sandboxes(&other, SandboxQuery::default()).await.unwrap().items.len(), 0);
    assert_eq!(harbour.bay.list_sandboxes(&harbour.owner, SandboxQuery::default()).await.unwrap().items.len(), 1);

    let folder = harbour.dir.path().join("data/cargos").join(&made.cargo_id);
    assert!(folder.exists());
    harbour.bay.delete_sandbox(&harbour.owner, &made.id).await.unwrap();
    harbour.bay.delete_sandbox(&harbour.owner, &made.id).await.unwrap();
    assert!(!folder.exists());
    assert_eq!(harbour.shell(&made.id, "true").await.unwrap_err().code, ErrorCode::NotFound);
    harbour.close().await;
}

#[tokio::test]
async fn what_has_expired_is_refused_at_once() {
    let harbour = harbour().await;
    let wish = CreateSandbox { ttl: Some(1), ..CreateSandbox::default() };
    let made = harbour.bay.create_sandbox(&harbour.owner, wish, None).await.unwrap();
    let more = harbour.bay.extend_ttl(&harbour.owner, &made.id, ExtendTtl { extend_by: 1 }, None).await.unwrap();
    assert!(more.expires_at > made.expires_at);
    // What goes on in the background does not outlive the sandbox, though no collector comes here.
    harbour.out(&made.id, "(while sleep 0.1; do :; done) >/dev/null 2>&1 & true").await;
    let everybody = below(std::process::id());
    crate::support::until("its end has come", || async {
        harbour.info(&made.id).await.status == SandboxStatus::Expired
    })
    .await;
    let code = |error: cove_api::BayError| error.code;
    assert_eq!(code(harbour.shell(&made.id, "true").await.unwrap_err()), ErrorCode::SandboxExpired);
    let (bay, owner) = (&harbour.bay, &harbour.owner);
    assert_eq!(code(bay.read_file(owner, &made.id, "x").await.unwrap_err()), ErrorCode::SandboxExpired);
    assert_eq!(code(bay.keepalive(owner, &made.id).await.unwrap_err()), ErrorCode::SandboxExpired);
    assert_eq!(code(bay.stop_sandbox(owner, &made.id).await.unwrap_err()), ErrorCode::SandboxExpired);
    let late = bay.extend_ttl(owner, &made.id, ExtendTtl { extend_by: 60 }, None).await;
    assert_eq!(code(late.unwrap_err()), ErrorCode::SandboxExpired);
    assert_eq!(code(bay.list_artifacts(owner, &made.id).await.unwrap_err()), ErrorCode::SandboxExpired);
    assert_eq!(code(bay.events(owner, &made.id, None).await.map(|_| ()).unwrap_err()), ErrorCode::SandboxExpired);
    let trace = bay.browser_trace(owner, &made.id, "blob:blob-000000000000").await;
    assert_eq!(code(trace.unwrap_err()), ErrorCode::SandboxExpired);
    crate::support::until("nothing runs in it", || async { !everybody.iter().any(|pid| alive(*pid)) }).await;
    let endless = harbour.create().await;
    let late = bay.extend_ttl(owner, &endless.id, ExtendTtl { extend_by: 60 }, None).await;
    assert_eq!(code(late.unwrap_err()), ErrorCode::SandboxTtlInfinite);
    bay.delete_sandbox(owner, &made.id).await.unwrap();
    harbour.close().await;
}

/// A call that its sandbox's end overtakes is told so.
#[tokio::test]
async fn a_call_ends_with_its_sandbox() {
    let harbour = harbour().await;
    let (bay, owner) = (&harbour.bay, &harbour.owner);
    let wish = || CreateSandbox { ttl: Some(2), ..CreateSandbox::default() };
    let (one, two) = (bay.create_sandbox(owner, wish(), None).await, bay.create_sandbox(owner, wish(), None).await);
    let (one, two) = (one.unwrap().id, two.unwrap().id);
    let forever = "for (;;) await new Promise((go) => setTimeout(go, 50))";
    let forever = serde_json::json!({ "code": forever, "timeout": 60, "session": true });
    let forever: cove_api::JavaScriptExecRequest = serde_json::from_value(forever).unwrap();
    let (shell, code) = tokio::join!(harbour.shell(&one, "sleep 60"), bay.exec_javascript(owner, &two, forever));
    assert_eq!(shell.unwrap_err().code, ErrorCode::SandboxExpired);
    match code {
        Err(error) => assert_eq!(error.code, ErrorCode::SandboxExpired),
        Ok(done) => panic!("it was not ended: {done:?}"),
    }
    harbour.close().await;
}

/// A Python environment of the host's can be had inside, a profile's words reach programs, and a Bay that is dropped
/// without a word takes its cells along.
#[tokio::test]
async fn a_profile_has_its_python_and_its_words() {
    let harbour = harbour_with(|config| {
        let tools = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.tools/venv");
        config.driver.local.python = Some(tools);
        let env = [("GREETING".to_owned(), cove_config::EnvValue("a:b=c d".to_owned()))];
        config.profiles = vec![cove_config::ProfileConfig {
            id: "words".to_owned(),
            env: env.into_iter().collect(),
            ..cove_config::ProfileConfig::default()
        }];
    })
    .await;
    let id = harbour.create_of("words").await.id;
    assert_eq!(harbour.out(&id, "echo \"$GREETING\"; which python3").await, "a:b=c d\n/opt/python/bin/python3");
    let seen = harbour.python(&id, "import os, numpy\nprint(os.environ['GREETING'], numpy.arange(3).sum())").await;
    assert_eq!(seen.output.trim(), "a:b=c d 3", "{seen:?}");
    let all = below(std::process::id());
    // The folder goes last: while somebody is dying in it, it cannot.
    let crate::support::Harbour { bay, dir, .. } = harbour;
    drop(bay);
    crate::support::until("everybody has gone", || async { !all.iter().any(|pid| alive(*pid)) }).await;
    crate::support::until("the runtime directory is gone", || async {
        std::fs::read_dir(dir.path().join("run")).unwrap().count() == 0
    })
    .await;
}
