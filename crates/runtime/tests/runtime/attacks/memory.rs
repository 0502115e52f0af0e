//! Guests that make the kernel hold memory for them, by every road there is.
//!
//! Each says, as it goes, how much it holds; it wants twice the limit and gets no more than the limit and a margin. On no
//! host may it take more, and whatever happens Ship answers, and what it holds in `/tmp` is still there.

use cove_runtime::cell::CellLimits;
use serde_json::{Value, json};

use crate::hosts::{Host, on_every_host};
use crate::support::Sandbox;

/// What the sandbox may use.
const LIMIT: u64 = 192 << 20;

/// What a guest wants: enough to see that nobody stops it, and not enough to hurt the machine.
const WANTED: u64 = 2 * LIMIT + (128 << 20);

/// What may be taken beyond the limit before somebody looks.
const MARGIN: u64 = 64 << 20;

/// For every attack: `hold(bytes)` says that so much more is held now.
const PRELUDE: &str = r#"
import ctypes, fcntl, mmap, os, resource, select, socket, struct, sys, time
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = libc.shmat.restype = ctypes.c_void_p
BLOCK = b'x' * (1 << 20)
note = os.open('/workspace/held', os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
held, kept = 0, []
def hold(more):
    global held
    held += more
    os.pwrite(note, str(held).encode(), 0)
def checked(result):
    if result in (-1, 2 ** 64 - 1): raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result
soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
"#;

pub(super) async fn small(host: Host) -> Sandbox {
    let limits = CellLimits { memory_bytes: LIMIT, processes: 64, tmp_bytes: 32 << 20, ..CellLimits::default() };
    let guest = host.sandbox_with(|options| options.limits = limits).await;
    guest.out("echo kept > /tmp/kept").await;
    guest
}

/// Runs an attack in Python; returns how much it said to hold, and the answer.
pub(super) async fn attack(guest: &Sandbox, code: &str) -> (u64, Value) {
    let code = format!("{PRELUDE}WANTED = {WANTED}\n{code}\ntime.sleep(1)\nprint('done')");
    guest.ok("/fs/write_file", json!({"path": "attack.py", "content": code})).await;
    guest.out("echo 0 > held").await;
    let answer = guest.ok("/shell/exec", json!({"command": "exec python3 attack.py", "timeout": 30})).await;
    let held = guest.out("cat held").await.parse().unwrap();
    (held, answer)
}

/// An attack that must not get more than the limit and a margin.
pub(super) async fn is_held(host: Host, name: &str, code: &str) {
    let guest = small(host).await;
    let (held, answer) = attack(&guest, code).await;
    println!("{host:?} {name}: {} MiB held, {}", held >> 20, answer["error"]);
    assert!(held <= LIMIT + MARGIN, "{host:?} {name}: {} MiB of {} held: {answer}", held >> 20, LIMIT >> 20);
    assert_eq!(guest.out("cat /tmp/kept").await, "kept", "{host:?} {name}: /tmp is gone");
}

/// Memory that a process maps.
#[tokio::test]
async fn mapped_memory_has_an_end() {
    on_every_host("attacks::memory::mapped_memory_has_an_end", async |host| {
        let code = "while held < WANTED: kept.append(bytearray(BLOCK)); hold(1 << 20)";
        is_held(host, "one process", code).await;
    })
    .await;
}
