//! Whichever process of a sandbox ends, the others follow, and nothing of it is left: no process, no mount, no group.

use std::collections::BTreeSet;
use std::path::Path;

use cove_testkit::processes::{alive, below, kill};
use serde_json::json;

use crate::support::{Sandbox, sandbox, until};

/// A process and everybody below it, as the host sees them.
fn tree(root: u32) -> Vec<u32> {
    std::iter::once(root).chain(below(root)).collect()
}

fn mounts() -> BTreeSet<String> {
    std::fs::read_to_string("/proc/self/mountinfo").unwrap().lines().map(str::to_owned).collect()
}

/// A sandbox with work in it: Python, a command, a daemon, a job.
async fn busy() -> Sandbox {
    let sandbox = sandbox().await;
    sandbox.python("import subprocess; child = subprocess.Popen(['sleep', '911'])").await;
    sandbox.out("(setsid sleep 912 > /dev/null 2>&1 &)").await;
    sandbox.ok("/shell/exec", json!({"command": "sleep 913 | sleep 914", "background": true})).await;
    until("all are there", || async { sandbox.out("ps -eo args | grep -c '^[s]leep 91'").await == "4" }).await;
    sandbox
}

/// Kill one process after the other, each in a fresh sandbox: when the sandbox is gone, so is everything.
#[tokio::test]
async fn the_end_of_any_process_leaves_nothing() {
    let before = mounts();
    let count = tree(busy().await.cell.pid().unwrap()).len();
    assert!(count >= 8, "{count}");
    for victim in 0..count {
        let sandbox = busy().await;
        let all = tree(sandbox.cell.pid().unwrap());
        let groups = sandbox.cell.walls().cgroups.clone();
        let socket = sandbox.cell.socket().to_owned();
        kill(all[victim.min(all.len() - 1)]);
        if victim < 2 {
            // The supervisor or the init: the rest follows by itself.
            until("everybody has followed", || async { !all.iter().skip(1).any(|pid| alive(*pid)) }).await;
        } else {
            assert_eq!(sandbox.out("echo alive").await, "alive", "process {victim} of {count}");
        }
        sandbox.cell.kill().await.unwrap();
        let left: Vec<_> = all.iter().filter(|pid| alive(**pid)).collect();
        assert!(left.is_empty(), "process {victim} of {count}: {left:?} are left");
        assert!(groups.iter().all(|group| !Path::new(group).exists()), "{groups:?}");
        assert!(!socket.exists());
    }
    assert_eq!(mounts(), before);
}

/// Dropping the owner's handle is enough.
#[tokio::test]
async fn dropping_the_handle_ends_everything() {
    let sandbox = busy().await;
    let all = tree(sandbox.cell.pid().unwrap());
    let groups = sandbox.cell.walls().cgroups.clone();
    drop(sandbox);
    until("everybody has gone", || async { !all.iter().any(|pid| alive(*pid)) }).await;
    until("the groups have gone", || async { !groups.iter().any(|group| Path::new(group).exists()) }).await;
}

/// The owner is killed outright; nobody tells the sandbox but the kernel.
#[tokio::test]
async fn a_killed_owner_leaves_nothing() {
    const ROLE: &str = "COVE_TEST_OWNER";
    if std::env::var_os(ROLE).is_some() {
        let sandbox = busy().await;
        let walls = sandbox.cell.walls();
        println!("\nOWNS {} {}", sandbox.cell.pid().unwrap(), walls.cgroups.join(" "));
        std::future::pending::<()>().await;
    }
    let mut owner = crate::support::again("lifetime::a_killed_owner_leaves_nothing", |command| {
        command.env(ROLE, "1");
    });
    let line = owner.line_with("OWNS ").await;
    let mut words = line.split_whitespace().skip(1);
    let all = tree(words.next().unwrap().parse().unwrap());
    assert!(all.len() >= 8);
    owner.child.start_kill().unwrap();
    owner.child.wait().await.unwrap();
    until("everybody has gone", || async { !all.iter().any(|pid| alive(*pid)) }).await;
    let groups: Vec<_> = words.collect();
    until("the groups have gone", || async { !groups.iter().any(|group| Path::new(group).exists()) }).await;
}

/// The cargo outlives its sandboxes: what one wrote, the next can read and change.
#[tokio::test]
async fn the_cargo_stays() {
    let first = sandbox().await;
    first.out("echo one > kept.txt; mkdir d; echo x > skills/python-sandbox/SKILL.md; mkdir skills/mine; echo m > skills/mine/SKILL.md").await;
    let Sandbox { cell, cargo, .. } = first;
    cell.kill().await.unwrap();
    let path = cargo.path().to_owned();
    let second = crate::support::sandbox_with(|options| options.workspace = path).await;
    assert_eq!(second.out("cat kept.txt; echo two >> kept.txt; touch d/new; cat skills/mine/SKILL.md").await, "one\nm");
    assert_eq!(second.out("sed -n 2p skills/python-sandbox/SKILL.md").await, "name: python-sandbox");
    second.cell.kill().await.unwrap();
    assert_eq!(std::fs::read_to_string(cargo.path().join("kept.txt")).unwrap(), "one\ntwo\n");
}

/// What cannot be is refused before anything starts.
#[tokio::test]
async fn impossible_cells_are_refused() {
    use cove_cell::{CellError, CellMount, CellOptions, LocalCell};
    let dir = tempfile::tempdir().unwrap();
    let good = || CellOptions::new(env!("CARGO_BIN_EXE_cove-ship"), dir.path(), dir.path());
    let mount = |inside: &str| CellMount { host: dir.path().to_owned(), inside: inside.into() };
    type Change<'a> = Box<dyn Fn(&mut CellOptions) + 'a>;
    let wrong: Vec<Change<'_>> = vec![
        Box::new(|options| options.workspace = "/nowhere/at/all".into()),
        Box::new(|options| options.limits.cpus = 0.0),
        Box::new(|options| options.limits.cpus = f64::NAN),
        Box::new(|options| options.limits.memory_bytes = 1),
        Box::new(|options| options.limits.processes = 1),
        Box::new(|options| options.hostname = "a b".to_owned()),
        Box::new(|options| options.env.push(("A=B".to_owned(), String::new()))),
        Box::new(|options| options.env.push(("A".to_owned(), "\0".to_owned()))),
        Box::new(move |options| options.mounts.push(mount("/workspace/x"))),
        Box::new(move |options| options.mounts.push(CellMount { host: "/etc".into(), inside: "x".into() })),
        Box::new(move |options| options.mounts.push(CellMount { host: "/etc".into(), inside: "/a/../proc".into() })),
    ];
    for (number, change) in wrong.iter().enumerate() {
        let mut options = good();
        change(&mut options);
        let refused = LocalCell::start(options).await;
        assert!(matches!(refused, Err(CellError::Options(_))), "{number}: {refused:?}");
    }
    let mut options = good();
    options.program = "/bin/false".into();
    assert!(matches!(LocalCell::start(options).await, Err(CellError::Walls(_))));
    options = good();
    options.program = "/nowhere".into();
    assert!(matches!(LocalCell::start(options).await, Err(CellError::Start(_))));
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0, "sockets are left behind");
}
