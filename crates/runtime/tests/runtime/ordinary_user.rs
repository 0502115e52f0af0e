//! The walls without root: an ordinary user gets the same ones, except what only root can give.

use cove_cell::{LimitedBy, WallState};
use serde_json::json;

use crate::hosts::{SOMEBODY, programs};
use crate::support::{SHIP, again_at, sandbox, sandbox_with};

const ROLE: &str = "COVE_TEST_ORDINARY";

#[tokio::test]
async fn an_ordinary_user_gets_walls_too() {
    if rustix::process::geteuid().is_root() {
        let programs = programs();
        let mut other = again_at(&programs.test, "ordinary_user::an_ordinary_user_gets_walls_too", |command| {
            command.env(ROLE, "1").env(SHIP, &programs.ship).current_dir("/").uid(SOMEBODY).gid(SOMEBODY);
        });
        let line = other.line_with("WALLS ").await;
        assert!(other.child.wait().await.unwrap().success());
        println!("{line}");
        return;
    }
    let sandbox = sandbox_with(|options| options.limits.memory_bytes = 256 << 20).await;
    assert_eq!(sandbox.out("id -un; pwd; echo x > f; stat -c %U f").await, "shipyard\n/workspace\nshipyard");
    assert_eq!(sandbox.python("6 * 7").await["stdout"], "42\n");
    let walls = sandbox.cell.walls();
    println!("\nWALLS {}", serde_json::to_string(walls).unwrap());
    for wall in &walls.walls {
        let needs_root = wall.name.starts_with("cgroup-") || wall.name == "own-devices";
        assert!(needs_root || wall.state == WallState::Active, "{wall:?}");
    }
    // Where no group counts, the watchdog looks.
    let limits = &walls.limits;
    if limits.memory_bytes.as_ref().is_some_and(|limit| limit.by == LimitedBy::Watchdog) {
        let eater = "python3 -c \"import time\nb = [bytearray(1 << 20) for _ in range(200)]\ntime.sleep(60)\"";
        let both = format!("{eater} & {eater} & wait -n; echo $?");
        let answer = sandbox.ok("/shell/exec", json!({"command": both, "timeout": 30})).await;
        assert_eq!(answer["stdout"], "137\n", "{answer}");
        // Copies that share their memory use it once: four times 100 MB are not 400.
        let sharers = "python3 -c \"import os, time\nb = b'x' * (100 << 20)\nos.fork(); os.fork()\ntime.sleep(1)\"";
        assert_eq!(sandbox.shell(sharers).await["return_code"], 0);
    }
    assert_eq!(limits.processes.as_ref().unwrap().value, 256);
    for held in [
        "cat /etc/shadow",
        "mount -t tmpfs none /tmp",
        "unshare -U true",
        "touch /usr/x",
        "kill -9 1 && ls /proc/2000000",
        "python3 -c 'import socket; socket.create_connection((\"1.1.1.1\", 443), 1)'",
    ] {
        assert_ne!(sandbox.shell(held).await["return_code"], 0, "{held}");
    }
    assert_eq!(sandbox.out("echo alive").await, "alive");
}

/// The same user twice: two sandboxes do not see each other.
#[tokio::test]
async fn sandboxes_of_one_user_are_strangers() {
    let (one, two) = tokio::join!(sandbox(), sandbox());
    one.ok("/shell/exec", json!({"command": "exec -a findme sleep 999", "background": true})).await;
    assert_eq!(two.out("ps -eo args | grep -c '[f]indme' || true").await, "0");
    assert_eq!(one.out("ps -eo args | grep -c '[f]indme' || true").await, "1");
    assert_ne!(one.cargo.path(), two.cargo.path());
    one.out("python3 -m http.server 7000 >/dev/null 2>&1 & for i in $(seq 100); do curl -s 127.0.0.1:7000 >/dev/null && break; sleep 0.05; done").await;
    let reach = "import socket; socket.create_connection(('127.0.0.1', 7000), 1)";
    assert_eq!(one.python(reach).await["success"], true);
    assert_eq!(two.python(reach).await["error_name"], "ConnectionRefusedError");
}
