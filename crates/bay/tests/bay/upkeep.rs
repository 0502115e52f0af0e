//! The collector, and what is left of a Bay that was killed.

use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;
use std::time::{Duration, SystemTime};

use cove_api::{CreateSandbox, ErrorCode, SandboxId, SandboxStatus};
use cove_bay::{Bay, Owner};
use cove_config::ProfileConfig;
use tokio::io::{AsyncBufReadExt, BufReader};

use crate::once::named;
use crate::support::{Harbour, PATIENCE, alive, below, config, harbour, harbour_with, until};

#[tokio::test]
async fn idle_sessions_end_and_only_named_tasks_run() {
    let harbour = harbour_with(|config| {
        config.profiles =
            vec![ProfileConfig { id: "short".to_owned(), idle_timeout: Some(1), ..ProfileConfig::default() }];
    })
    .await;
    let wish = CreateSandbox { ttl: Some(2), profile: "short".to_owned(), ..CreateSandbox::default() };
    let mortal = harbour.bay.create_sandbox(&harbour.owner, wish, None).await.unwrap();
    let id = harbour.create_of("short").await.id;
    harbour.out(&id, "echo kept > kept.txt").await;
    assert_eq!(harbour.bay.run_gc(named("idle_session")).await.unwrap().total_cleaned, 0);
    let idle = harbour.info(&id).await.idle_expires_at.unwrap();
    until("it was idle for long enough", || async { cove_api::Moment::now() > idle }).await;
    // A keepalive moves the end; a busy session is not idle.
    harbour.bay.keepalive(&harbour.owner, &id).await.unwrap();
    assert_eq!(harbour.bay.run_gc(named("idle_session")).await.unwrap().total_cleaned, 0);
    let running = harbour.shell(&id, "echo > begun; until [ -e enough ]; do sleep 0.02; done; echo done");
    let workspace = harbour.dir.path().join("data/cargos").join(&harbour.info(&id).await.cargo_id);
    let collecting = async {
        until("it runs", || async { workspace.join("begun").exists() }).await;
        let idle = harbour.info(&id).await.idle_expires_at.unwrap();
        until("it would be idle by now", || async { cove_api::Moment::now() > idle }).await;
        let cleaned = harbour.bay.run_gc(named("idle_session")).await.unwrap().total_cleaned;
        let enough = cove_api::WriteFile { path: "enough".to_owned(), content: String::new() };
        harbour.bay.write_file(&harbour.owner, &id, enough).await.unwrap();
        cleaned
    };
    let (ran, cleaned) = tokio::join!(running, collecting);
    assert_eq!((ran.unwrap().output.trim(), cleaned), ("done", 0));

    until("its end has come", || async {
        harbour.bay.run_gc(named("idle_session")).await.unwrap();
        harbour.info(&id).await.status == SandboxStatus::Idle
    })
    .await;
    assert_eq!(below(std::process::id()), Vec::<u32>::new());
    assert_eq!(harbour.out(&id, "cat kept.txt").await, "kept");

    // The other one has expired by now; a task that was not named has not touched it.
    until("it has expired", || async { harbour.info(&mortal.id).await.status == SandboxStatus::Expired }).await;
    let report = harbour.bay.run_gc(named("expired_sandbox")).await.unwrap();
    assert_eq!((report.results.len(), report.total_cleaned), (1, 1), "{report:?}");
    let gone = harbour.bay.sandbox(&harbour.owner, &mortal.id).await.unwrap_err();
    assert_eq!(gone.code, ErrorCode::NotFound);
    let status = harbour.bay.gc_status().await.unwrap();
    assert_eq!((status.enabled, status.last_report), (false, Some(report)));
    let unknown = harbour.bay.run_gc(named("everything")).await.unwrap_err();
    assert_eq!(unknown.code, ErrorCode::ValidationError);
    harbour.close().await;
}

#[tokio::test]
async fn folders_that_nobody_knows_are_removed_when_they_are_old() {
    let harbour = harbour().await;
    let made = harbour.create().await;
    let root = harbour.dir.path().join("data/cargos");
    let (old, young) = (root.join("ws-00000000000a"), root.join("ws-00000000000b"));
    for folder in [&old, &young] {
        std::fs::create_dir_all(folder.join("full/of/things")).unwrap();
        std::fs::set_permissions(folder.join("full"), std::fs::Permissions::from_mode(0o000)).unwrap();
    }
    let hour_ago = SystemTime::now() - Duration::from_secs(3600);
    for folder in [&old, &root.join(&made.cargo_id)] {
        std::fs::File::open(folder).unwrap().set_modified(hour_ago).unwrap();
    }
    let report = harbour.bay.run_gc(named("orphan_cargo")).await.unwrap();
    assert_eq!(report.total_cleaned, 1, "{report:?}");
    assert!(!old.exists() && young.exists() && root.join(&made.cargo_id).exists());
    // Or an ordinary user could not remove it.
    std::fs::set_permissions(young.join("full"), std::fs::Permissions::from_mode(0o755)).unwrap();
    harbour.close().await;
}

/// A Bay with work in it is killed outright; nobody tells anybody but the kernel.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[allow(clippy::disallowed_methods, reason = "a test's child, killed when the test ends")]
async fn a_killed_bay_leaves_nothing_and_the_next_goes_on() {
    const ROLE: &str = "COVE_TEST_BAY";
    let owner = Owner::new("default");
    if let Some(dir) = std::env::var_os(ROLE) {
        let bay = Bay::open(config(std::path::Path::new(&dir))).await.unwrap();
        let harbour = Harbour { bay, owner: owner.clone(), dir: tempfile::tempdir_in(&dir).unwrap() };
        let id = harbour.create_of("browser-python").await.id;
        harbour.out(&id, "echo kept > kept.txt; (setsid sleep 900 > /dev/null 2>&1 &)").await;
        harbour.python(&id, "import subprocess; subprocess.Popen(['sleep', '901'])").await;
        let open = crate::browser::command("open 'data:text/html,<title>T</title>'");
        let opened = harbour.bay.exec_browser(&harbour.owner, &id, open).await.unwrap();
        assert!(opened.success, "{opened:?}");
        println!("\nBAY {id}");
        std::future::pending::<()>().await;
    }
    let dir = tempfile::Builder::new().prefix("bay").tempdir().unwrap();
    let mut command = tokio::process::Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "upkeep::a_killed_bay_leaves_nothing_and_the_next_goes_on", "--nocapture"]);
    let mut child = command.env(ROLE, dir.path()).stdout(Stdio::piped()).kill_on_drop(true).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let id = tokio::time::timeout(PATIENCE, async {
        while let Some(line) = lines.next_line().await.unwrap() {
            if let Some(id) = line.strip_prefix("BAY ") {
                return id.parse::<SandboxId>().unwrap();
            }
        }
        panic!("the other has ended too soon");
    });
    let id = id.await.unwrap();
    let all = below(child.id().unwrap());
    assert!(all.len() > 12, "{all:?}");
    child.start_kill().unwrap();
    child.wait().await.unwrap();
    until("everybody has gone", || async { !all.iter().any(|pid| alive(*pid)) }).await;
    let run = dir.path().join("run");
    assert_eq!(std::fs::read_dir(&run).unwrap().count(), 1, "its runtime directory is left");

    let bay = Bay::open(config(dir.path())).await.unwrap();
    let harbour = Harbour { bay, owner, dir };
    assert_eq!(std::fs::read_dir(&run).unwrap().count(), 1, "only the new one's");
    // At once, not when a heartbeat is over.
    assert_eq!(harbour.info(&id).await.status, SandboxStatus::Idle);
    assert_eq!(harbour.out(&id, "cat kept.txt").await, "kept");
    harbour.bay.delete_sandbox(&harbour.owner, &id).await.unwrap();
    harbour.close().await;
}

/// Two Bays on the same records: a session lives in one of them, the other says where, and takes over when that one ends.
#[tokio::test]
async fn two_bays_share_their_sandboxes_and_no_session() {
    let server = cove_testkit::Postgres::start();
    let first = harbour_with(|config| {
        config.server.advertise_url = Some("http://first:8114".to_owned());
        config.database.url = Some(cove_config::Secret::new(server.url()));
    })
    .await;
    let refused = Bay::open(config(first.dir.path())).await.map(|_| ()).unwrap_err().to_string();
    assert!(refused.contains("in use by another Cove"), "each needs a folder of its own: {refused}");
    let mut other = config(first.dir.path());
    other.database.url = Some(cove_config::Secret::new(first.bay.config().database_url().unwrap()));
    other.cargo.root_path = Some(first.bay.config().cargo_root().unwrap());
    other.data_dir = Some(first.dir.path().join("second"));
    let second = Bay::open(other).await.unwrap();
    let owner = first.owner.clone();
    let id = first.create().await.id;
    assert_eq!(second.session_elsewhere(&owner, &id).await.unwrap(), None, "nobody has it yet");
    first.out(&id, "echo kept > kept.txt").await;
    let home = second.session_elsewhere(&owner, &id).await.unwrap();
    assert_eq!(home.map(|home| home.url).as_deref(), Some("http://first:8114"));
    assert_eq!(first.bay.session_elsewhere(&owner, &id).await.unwrap(), None);
    let seen = second.sandbox(&owner, &id).await.unwrap();
    assert_eq!((seen.status, seen.containers.unwrap()[0].healthy), (SandboxStatus::Ready, None));
    let refused = second.exec_shell(&owner, &id, crate::support::shell("true")).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::SessionNotReady);
    assert!(refused.details["retry_after_ms"].as_u64().is_some_and(|ms| ms > 0));
    // Both ask for a sandbox that nobody has: one of them starts it.
    let other = first.create().await.id;
    let both = tokio::join!(
        first.shell(&other, "cut -d' ' -f22 /proc/1/stat"),
        second.exec_shell(&owner, &other, crate::support::shell("cut -d' ' -f22 /proc/1/stat"))
    );
    assert_eq!(u8::from(both.0.is_ok()) + u8::from(both.1.is_ok()), 1, "{both:?}");

    first.bay.close(Duration::from_secs(5)).await;
    let done = second.exec_shell(&owner, &id, crate::support::shell("cat kept.txt")).await.unwrap();
    assert_eq!(done.output.trim(), "kept");
    second.close(Duration::from_secs(5)).await;
    drop(server);
    assert_eq!(below(std::process::id()), Vec::<u32>::new());
}

/// A database that is a file has one Bay at a time, wherever their folders are.
#[tokio::test]
async fn a_second_bay_on_one_file_is_refused() {
    let first = harbour().await;
    let mut other = config(first.dir.path());
    other.database.url = Some(cove_config::Secret::new(first.bay.config().database_url().unwrap()));
    other.data_dir = Some(first.dir.path().join("second"));
    let refused = Bay::open(other.clone()).await.map(|_| ()).unwrap_err().to_string();
    assert!(refused.contains("in use by another Cove"), "{refused}");
    first.bay.close(Duration::from_secs(5)).await;
    Bay::open(other).await.unwrap().close(Duration::from_secs(5)).await;
}
