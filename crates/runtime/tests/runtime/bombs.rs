//! Guests that want everything: processes, memory, disk, processors. They get their share, the neighbour keeps his.

use std::time::{Duration, Instant};

use cove_cell::CellLimits;
use serde_json::json;

use crate::support::{Sandbox, sandbox, sandbox_with};

async fn small() -> Sandbox {
    sandbox_with(|options| {
        options.limits = CellLimits {
            memory_bytes: 256 << 20,
            processes: 40,
            tmp_bytes: 16 << 20,
            workspace_bytes: Some(8 << 20),
            ..CellLimits::default()
        };
    })
    .await
}

/// The neighbour answers as if nothing were the matter; generous, for the machine is ours alone only in theory.
async fn answers_quickly(neighbour: &Sandbox) {
    let begin = Instant::now();
    assert_eq!(neighbour.out("echo fine").await, "fine");
    assert!(begin.elapsed() < Duration::from_secs(10), "{:?}", begin.elapsed());
}

#[tokio::test]
async fn fork_bombs_end_with_their_command() {
    let (guest, neighbour) = tokio::join!(small(), sandbox());
    for bomb in [
        ":(){ :|:& };:; sleep 100",
        "while true; do bash -c 'while true; do sleep 100 & done' & done",
        "python3 -c \"import os\nwhile True:\n  try: os.fork()\n  except OSError: pass\"",
        "python3 -c \"import os,time\nwhile True:\n  try:\n    if os.fork() == 0: os.setsid()\n  except OSError: time.sleep(.01)\"",
        "python3 -c \"import threading,time\nwhile True:\n  try: threading.Thread(target=time.sleep, args=(99,)).start()\n  except RuntimeError: time.sleep(.1)\"",
    ] {
        let exploding = guest.ok("/shell/exec", json!({"command": bomb, "timeout": 1}));
        let (answer, ()) = tokio::join!(exploding, answers_quickly(&neighbour));
        assert_eq!(answer["timed_out"], true, "{bomb}: {answer}");
        assert_eq!(
            guest.out("echo alive; ls /proc | grep -c '^[0-9]*$' | awk '$1 < 12 {print \"few\"}'").await,
            "alive\nfew",
            "{bomb}"
        );
    }
    // While all processes are used up, Ship still reads files.
    let full = "for i in $(seq 60); do sleep 100 & done; echo full; sleep 100";
    guest.ok("/shell/exec", json!({"command": full, "background": true})).await;
    let body = json!({"path": "skills/python-sandbox/SKILL.md"});
    assert!(guest.ok("/fs/read_file", body).await["size"].as_u64().unwrap() > 100);
}

#[tokio::test]
async fn memory_has_an_end() {
    let (guest, neighbour) = tokio::join!(small(), sandbox());
    guest.python("kept = 1").await;
    for eater in [
        "python3 -c \"b = []\nwhile True: b.append(bytearray(1 << 20))\"",
        "python3 -c \"import mmap\nm = [mmap.mmap(-1, 1 << 24) for _ in range(64)]\nfor x in m: x.write(b'x' * (1 << 24))\"",
        "head -c 1G /dev/zero | tail",
    ] {
        let answer = guest.ok("/shell/exec", json!({"command": eater, "timeout": 20})).await;
        assert_eq!((&answer["success"], &answer["timed_out"]), (&json!(false), &json!(false)), "{eater}: {answer}");
        assert_eq!(guest.out("echo alive").await, "alive", "{eater}");
        answers_quickly(&neighbour).await;
    }
    let answer = guest
        .ok("/ipython/exec", json!({"code": "b = []\nwhile True: b.append(bytearray(1 << 20))", "timeout": 20}))
        .await;
    assert_eq!(answer["success"], false, "{answer}");
    let lost = answer["state_lost"] == true;
    // Either the kernel killed it or Python ran out by itself; both are told.
    assert!(
        lost && answer["ending"].as_str().unwrap().contains("memory") || answer["error_name"] == "MemoryError",
        "{answer}"
    );
    assert_eq!(guest.python("1 + 1").await["stdout"], "2\n");
}

#[tokio::test]
async fn temporary_files_and_single_files_have_an_end() {
    let guest = small().await;
    for (command, words) in [
        ("head -c 20M /dev/zero > /tmp/x", "No space left"),
        ("head -c 70M /dev/zero > /dev/shm/x", "No space left"),
        ("head -c 9M /dev/zero > big", "File size limit"),
        // The shell's own doing: a program for each of thousands of files takes longer than a loaded machine gives.
        ("i=0; while : > /dev/shm/$i; do i=$((i + 1)); done; (exit 1)", "No space left"),
    ] {
        let answer = guest.shell(&format!("{command}; echo $?; rm -rf /tmp/x /dev/shm/x big")).await;
        let text = format!("{}{}", answer["stdout"], answer["stderr"]);
        // A file as large as the workspace may be ended by whoever looks first: the kernel or the watch over the workspace.
        let ended = answer["signal"] == 25 || text.contains("153") || answer["stopped"]["cause"] == "disk_limit";
        assert!(text.contains(words) || ended, "{command}: {answer}");
    }
    let answer = guest.post("/fs/write_file", json!({"path": "big", "content": "x".repeat(9 << 20)})).await;
    assert_eq!((answer.0.as_u16(), &answer.1["error"]["code"]), (429, &json!("quota_exceeded")), "{answer:?}");
    assert_eq!(guest.out("ls -A | xargs").await, "skills");
}

/// Many files that fit one by one do not fit together; making room is always possible.
#[tokio::test]
async fn the_workspace_has_an_end() {
    let guest = small().await;
    let fill = "i=0; while head -c 1M /dev/urandom > f$i; do i=$((i + 1)); sleep 0.01; done";
    let answer = guest.ok("/shell/exec", json!({"command": fill, "timeout": 20})).await;
    assert_eq!((&answer["timed_out"], &answer["signal"]), (&json!(false), &json!(9)), "{answer}");
    let used: u64 = guest.out("du -sm . | cut -f1").await.parse().unwrap();
    assert!((8..200).contains(&used), "{used} MiB");
    assert_eq!(guest.out("rm f* && ls").await, "skills");
    assert_eq!(guest.out("head -c 1M /dev/zero > ok && ls").await, "ok\nskills");
}

#[tokio::test]
async fn processors_are_shared_as_told() {
    let guest = sandbox_with(|options| options.limits.cpus = 0.2).await;
    let limit = guest.cell.walls().limits.cpus.clone();
    let burn = "python3 -c \"import time, os
t = time.time()
while time.time() - t < 1.5: pass
print(sum(os.times()[:2]))\"";
    let used: f64 = guest.out(burn).await.parse().unwrap();
    match limit {
        // A fifth of 1.5 s, and generous with it.
        Some(limit) if (limit.value - 0.2).abs() < 0.01 => assert!(used < 0.75, "{used} s by {}", limit.by),
        // Without control groups guests have whole processors.
        Some(limit) => assert_eq!((limit.value, limit.by.as_str()), (1.0, "affinity"), "not the limit asked for"),
        None => {}
    }
}
