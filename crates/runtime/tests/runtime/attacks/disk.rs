//! Guests that want more disk than their workspace may have, and ways to make it look smaller than it is.
//!
//! Each writes at full speed and says, as it goes, how much it has written; it wants five times the limit and gets no more
//! than the limit and a margin. Afterwards the workspace can be emptied, and written again.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use cove_cell::CellLimits;
use serde_json::{Value, json};

use crate::hosts::{Host, on_every_host};
use crate::support::{Lateness, Sandbox, sandbox_with, until};

/// What may be in the workspace.
const LIMIT: u64 = 64 << 20;

/// What may be written past it. The promise is half of it; this is an unoptimised build on what may be a busy machine.
const MARGIN: u64 = 128 << 20;

/// The same while others remove: what guests have written is asked for less often than what the file system has lost.
const HIDDEN_MARGIN: u64 = MARGIN + (64 << 20);

/// `put` writes one MiB and says so, on paper that is no disk; a child may say so as well.
const PRELUDE: &str = r#"
import ctypes, fcntl, mmap, os, resource, signal, socket, subprocess, sys, threading, time
libc = ctypes.CDLL(None, use_errno=True)
BLOCK = os.urandom(1 << 20)
WANTED = 320
note = os.open('/tmp/held', os.O_WRONLY | os.O_CREAT | os.O_APPEND)
kept = []
def said(): return os.fstat(note).st_size
def say(): os.write(note, b'x')
def put(fd):
    left = memoryview(BLOCK)
    while left: left = left[os.write(fd, left):]
    say()
def new(name): return os.open(name, os.O_RDWR | os.O_CREAT)
def fill(name, mib=16, keep=False):
    fd = new(name)
    for _ in range(mib): put(fd)
    if keep: kept.append(fd)
    else: os.close(fd)
"#;

/// What a guest does; each ends by itself once it has written all it wants.
const TRIES: &[(&str, &str)] = &[
    ("files that fit one by one", "while said() < WANTED: fill(f'f{said()}')"),
    (
        "a folder that cannot be listed",
        "os.mkdir('h'); os.chmod('h', 0o333)\nwhile said() < WANTED: fill(f'h/f{said()}')",
    ),
    (
        "folders that cannot even be entered, once they are full",
        "while said() < WANTED: d = f'd{said()}'; os.mkdir(d); fill(d + '/f'); os.chmod(d, 0)",
    ),
    (
        "a folder that can be listed and not searched",
        "while said() < WANTED: d = f'd{said()}'; os.mkdir(d); fill(d + '/f'); os.chmod(d, 0o444)",
    ),
    (
        "folders deeper than anybody walks",
        "for _ in range(600): os.mkdir('d'); os.chdir('d')\nwhile said() < WANTED: fill(f'f{said()}')",
    ),
    ("open files without a name", "while said() < WANTED: n = f'f{said()}'; fill(n, keep=True); os.unlink(n)"),
    (
        "open files that are removed before they are written",
        "while said() < WANTED:\n fd = new('f'); os.unlink('f'); kept.append(fd)\n for _ in range(16): put(fd)",
    ),
    (
        "files that never had a name",
        "while said() < WANTED:\n fd = os.open('.', os.O_TMPFILE | os.O_RDWR); kept.append(fd)\n for _ in range(16): put(fd)",
    ),
    (
        "mapped files without a name or a descriptor",
        // By hand: Python's own mapping keeps a descriptor.
        "libc.mmap.restype = ctypes.c_void_p\nwhile said() < WANTED:\n fd = new('f'); os.unlink('f')\n for _ in range(8): put(fd)\n kept.append(libc.mmap(None, 4096, 1, 1, fd, ctypes.c_long(0))); os.close(fd)",
    ),
    (
        "descriptors on their way through a socket",
        "a, b = socket.socketpair()\nwhile said() < WANTED:\n fd = new('f'); os.unlink('f')\n for _ in range(8): put(fd)\n socket.send_fds(a, [b'x'], [fd]); os.close(fd)",
    ),
    (
        "children whom nobody buries",
        "signal.signal(signal.SIGCHLD, signal.SIG_IGN)\nwhile said() < WANTED:\n if os.fork() == 0: fill(f'f{os.getpid()}', 4); os._exit(0)\n time.sleep(.005)",
    ),
    (
        "four at once",
        "for i in range(4):\n if os.fork() == 0:\n  while said() < WANTED: fill(f'f{i}-{said()}')\n  os._exit(0)\nfor _ in range(4): os.wait()",
    ),
    (
        "a writer that nobody may look into",
        "libc.prctl(4, 0, 0, 0, 0); libc.prctl(15, b'keeper', 0, 0, 0)\nwhile said() < WANTED: n = f'f{said()}'; fill(n, keep=True); os.unlink(n)",
    ),
    (
        "holes that are filled through memory",
        "while said() < WANTED:\n fd = new(f'f{said()}'); os.ftruncate(fd, 16 << 20); m = mmap.mmap(fd, 16 << 20)\n for i in range(16): m[i << 20:(i + 1) << 20] = BLOCK; say()\n m.close(); os.close(fd)",
    ),
    (
        "room that is only reserved",
        "while said() < WANTED:\n fd = new(f'f{said()}')\n if libc.fallocate(fd, 0, ctypes.c_long(0), ctypes.c_long(16 << 20)) != 0: raise OSError(ctypes.get_errno(), 'fallocate')\n for _ in range(16): say()\n os.close(fd)",
    ),
    (
        "room that is reserved beyond the end",
        "while said() < WANTED:\n fd = new(f'f{said()}')\n if libc.fallocate(fd, 1, ctypes.c_long(0), ctypes.c_long(16 << 20)) != 0: raise OSError(ctypes.get_errno(), 'fallocate')\n for _ in range(16): say()\n os.close(fd)",
    ),
    (
        "room that is reserved by another call",
        "import struct\nfd = new('f')\nwhile said() < WANTED:\n fcntl.ioctl(fd, 0x4030582a, struct.pack('hhqqiI4i', 0, 0, said() << 20, 16 << 20, 0, 0, 0, 0, 0, 0))\n for _ in range(16): say()",
    ),
    (
        "all the room there is, by one call",
        "import struct\nfd = new('f')\nfcntl.ioctl(fd, 0x40305839, struct.pack('hhqqiI4i', 0, 0, 0, WANTED << 20, 0, 0, 0, 0, 0, 0))\nfor _ in range(WANTED): say()",
    ),
    (
        "a program that nobody may read, and so nobody may look into",
        "if os.environ.get('AGAIN') is None:\n import shutil\n shutil.copy(os.path.realpath('/usr/bin/python3'), '/workspace/p'); os.chmod('/workspace/p', 0o111)\n os.execve('/workspace/p', ['p', '-c', os.environ['CODE']], {**os.environ, 'AGAIN': '1', 'PYTHONHOME': '/usr'})\nwhile said() < WANTED: n = f'f{said()}'; fill(n, keep=True); os.unlink(n)",
    ),
    (
        "copies of a program that nobody may look into, each for a moment",
        "if os.environ.get('AGAIN') is None:\n import shutil\n shutil.copy(os.path.realpath('/usr/bin/python3'), '/workspace/p'); os.chmod('/workspace/p', 0o111)\n os.execve('/workspace/p', ['p', '-c', os.environ['CODE']], {**os.environ, 'AGAIN': '1', 'PYTHONHOME': '/usr'})\nr, w = os.pipe()\nif os.fork() != 0: os.close(w); os.read(r, 1); sys.exit()\nwhile said() < WANTED:\n for _ in range(2): n = f'f{said()}'; fill(n, 1, keep=True); os.unlink(n)\n if os.fork() != 0: os._exit(0)",
    ),
    (
        "copies made by the kernel",
        "fill('a')\nwhile said() < WANTED:\n a, b = os.open('a', os.O_RDONLY), new(f'f{said()}')\n while os.copy_file_range(a, b, 1 << 20): say()\n os.close(a); os.close(b)",
    ),
    (
        "folders that move while they are counted",
        "def move():\n i = 0\n while True: os.rename(f'm{i}', f'm{i + 1}'); i += 1\nos.mkdir('m0'); os.mkdir('m0/s'); fd = os.open('m0/s', os.O_RDONLY)\nthreading.Thread(target=move, daemon=True).start()\nwhile said() < WANTED:\n f = os.open(f'f{said()}', os.O_RDWR | os.O_CREAT, dir_fd=fd)\n for _ in range(16): put(f)\n os.close(f)",
    ),
    (
        "a folder that is always where nobody looks",
        "def move():\n while True: os.rename('a/s', 'b/s'); os.rename('b/s', 'a/s')\nfor d in ('a', 'b', 'a/s'): os.mkdir(d)\nfd = os.open('a/s', os.O_RDONLY)\nthreading.Thread(target=move, daemon=True).start()\nwhile said() < WANTED:\n f = os.open(f'f{said()}', os.O_RDWR | os.O_CREAT, dir_fd=fd)\n for _ in range(4): put(f)\n os.close(f)",
    ),
    ("names that are no text", "while said() < WANTED: fill(b'\\xff\\n' + str(said()).encode())"),
];

async fn small(host: Host) -> Sandbox {
    let limits = CellLimits { workspace_bytes: Some(LIMIT), processes: 64, ..CellLimits::default() };
    host.sandbox_with(|options| options.limits = limits).await
}

/// Runs an attack; returns how much it has written, and the answer.
async fn attack(guest: &Sandbox, code: &str) -> (u64, Value) {
    // An attack that is not ended must come to "done", and one that is may be ended a moment after its last write: the pause
    // is that moment.
    let code = format!("{PRELUDE}{code}\ntime.sleep(2)\nprint('done')");
    let answer = guest
        .ok("/shell/exec", json!({"command": "exec python3 -c \"$CODE\"", "env": {"CODE": code}, "timeout": 40}))
        .await;
    // Where writers cannot be caught in the act everybody is ended, also who asks now.
    let held = std::cell::Cell::new(0);
    until("it can be asked how much was written", async || {
        let answer = guest.shell("stat -c %s /tmp/held 2>/dev/null || echo 0").await;
        held.set(answer["stdout"].as_str().unwrap_or_default().trim().parse::<u64>().unwrap_or(0));
        answer["return_code"] == 0
    })
    .await;
    (held.get() << 20, answer)
}

/// Emptied, and as good as new.
async fn can_be_emptied(guest: &Sandbox, name: &str) {
    until("it is empty", async || {
        let removed =
            guest.shell("chmod -R u+rwx . 2>/dev/null; rm -rf -- * && ls -A | grep -v skills; echo gone").await;
        removed["stdout"] == "gone\n"
    })
    .await;
    until("there is room again", async || {
        guest.post("/fs/write_file", json!({"path": "ok", "content": "x"})).await.0.is_success()
    })
    .await;
    assert_eq!(guest.out("head -c 1M /dev/urandom > more; cat ok").await, "x", "{name}");
}

async fn are_held(host: Host, tries: &[(&str, &str)], margin: u64) {
    for (name, code) in tries {
        let guest = small(host).await;
        let lateness = Lateness::look();
        let (held, answer) = attack(&guest, code).await;
        let late = lateness.worst();
        println!("{host:?} {name}: {} MiB written, {late:?} late, {}", held >> 20, answer["error"]);
        assert!(held <= LIMIT + margin, "{host:?} {name}: {} MiB of {} written: {answer}", held >> 20, LIMIT >> 20);
        assert_eq!(answer["timed_out"], false, "{host:?} {name}: {answer}");
        if held == 0 {
            assert_ne!(answer["return_code"], 0, "{host:?} {name}: it was neither refused nor ended: {answer}");
        } else {
            assert_eq!(answer["stopped"]["cause"], "disk_limit", "{host:?} {name}: {answer}");
            assert_eq!(answer["stopped"]["limit_bytes"], LIMIT, "{host:?} {name}: {answer}");
        }
        can_be_emptied(&guest, name).await;
    }
}

#[tokio::test]
async fn nobody_writes_more_than_the_limit() {
    let test = "attacks::disk::nobody_writes_more_than_the_limit";
    on_every_host(test, async |host| are_held(host, &TRIES[..TRIES.len() / 2], MARGIN).await).await;
}

#[tokio::test]
async fn nobody_writes_more_than_the_limit_by_other_roads() {
    let test = "attacks::disk::nobody_writes_more_than_the_limit_by_other_roads";
    on_every_host(test, async |host| are_held(host, &TRIES[TRIES.len() / 2..], MARGIN).await).await;
}

/// Where the kernel does not count what is written, the workspace is counted all the more. One kind of host is enough.
#[tokio::test]
async fn nobody_writes_more_than_the_limit_in_memory() {
    let memory = tempfile::tempdir_in("/dev/shm").unwrap();
    let limits = CellLimits { workspace_bytes: Some(LIMIT), ..CellLimits::default() };
    let guest = sandbox_with(|options| {
        options.limits = limits;
        options.workspace = memory.path().to_owned();
    })
    .await;
    // Nobody comes, goes or opens anything while it writes.
    let code =
        "fds = [new(f'f{i}') for i in range(20)]\nwhile said() < WANTED: put(fds[said() // 16]); time.sleep(.01)";
    let (held, answer) = attack(&guest, code).await;
    assert!(held <= LIMIT + MARGIN, "{} MiB of {} written: {answer}", held >> 20, LIMIT >> 20);
    assert_eq!(answer["stopped"]["cause"], "disk_limit", "{answer}");
}

/// Somebody else may be removing files meanwhile, so that the file system shows no loss at all.
#[tokio::test]
async fn nobody_hides_behind_others_who_remove() {
    on_every_host("attacks::disk::nobody_hides_behind_others_who_remove", async |host| {
        for name in ["files that fit one by one", "open files that are removed before they are written"] {
            let remover = Remover::start();
            let tries: Vec<_> = TRIES.iter().filter(|(tried, _)| *tried == name).copied().collect();
            are_held(host, &tries, HIDDEN_MARGIN).await;
            remover.stop();
        }
    })
    .await;
}

/// Gives the file system as much back as anybody takes from it.
struct Remover {
    go_on: Arc<AtomicBool>,
    thread: std::thread::JoinHandle<()>,
}

impl Remover {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut files: Vec<_> = (0..320).map(|i| folder.path().join(i.to_string())).collect();
        for path in &files {
            let file = std::fs::File::create(path).unwrap();
            rustix::fs::fallocate(&file, rustix::fs::FallocateFlags::empty(), 0, 1 << 20).unwrap();
        }
        let go_on = Arc::new(AtomicBool::new(true));
        let free = |path: &Path| rustix::fs::statvfs(path).map(|stat| stat.f_bfree * stat.f_frsize).unwrap();
        #[expect(clippy::disallowed_methods, reason = "nobody tells when a file system loses room")]
        let thread = std::thread::spawn({
            let (go_on, before) = (Arc::clone(&go_on), free(folder.path()));
            move || {
                while go_on.load(Ordering::Relaxed) {
                    match (free(folder.path()) < before).then(|| files.pop()).flatten() {
                        Some(path) => std::fs::remove_file(path).unwrap(),
                        None => std::thread::sleep(Duration::from_micros(300)),
                    }
                }
            }
        });
        Self { go_on, thread }
    }

    fn stop(self) {
        self.go_on.store(false, Ordering::Relaxed);
        self.thread.join().unwrap();
    }
}

/// Who does not write is left alone: only the writer goes, and Python keeps its variables.
#[tokio::test]
async fn only_writers_are_ended() {
    on_every_host("attacks::disk::only_writers_are_ended", async |host| {
        let guest = small(host).await;
        guest.python("kept = 1").await;
        let sleeper = guest.ok("/shell/exec", json!({"command": "sleep 999", "background": true})).await;
        let (_, answer) = attack(&guest, TRIES[0].1).await;
        assert_eq!(answer["stopped"]["cause"], "disk_limit", "{answer}");
        assert_eq!(guest.python("kept").await["stdout"], "1\n");
        let id = sleeper["process_id"].as_str().unwrap();
        assert_eq!(guest.get(&format!("/shell/processes/{id}")).await.1["status"], "running");
        // A cell that writes is told the same.
        guest.out("rm -f f*").await;
        let answer =
            guest.python("import os\nfor i in range(320): open(f'g{i}', 'wb').write(os.urandom(1 << 20))").await;
        assert_eq!(
            (&answer["stopped"]["cause"], &answer["state_lost"]),
            (&json!("disk_limit"), &json!(true)),
            "{answer}"
        );
        assert!(answer["ending"].as_str().unwrap().contains("disk limit"), "{answer}");
    })
    .await;
}

/// Whoever has ended and is not reaped yet is closed to an ordinary user's supervisor, and hides nothing: what somebody else
/// writes meanwhile is not counted as theirs.
#[tokio::test]
async fn the_dead_hide_nothing() {
    on_every_host("attacks::disk::the_dead_hide_nothing", async |host| {
        let guest = small(host).await;
        let code = "import os, time
for _ in range(30):
    if os.fork() == 0: os._exit(0)
open('/tmp/ready', 'w').close()
while True: open('small', 'w').write('x' * 4096); time.sleep(.01)";
        let command = json!({"command": "exec python3 -c \"$CODE\"", "env": {"CODE": code}, "background": true});
        let started = guest.ok("/shell/exec", command).await;
        until("they are dead", async || guest.shell("ls /tmp/ready").await["return_code"] == 0).await;
        // Twice the limit, by a stranger on the same file system.
        let mut stranger = tempfile::tempfile().unwrap();
        let at = format!("/shell/processes/{}", started["process_id"].as_str().unwrap());
        for _ in 0..32 {
            std::io::Write::write_all(&mut stranger, &vec![b'x'; 4 << 20]).unwrap();
            assert_eq!(guest.get(&at).await.1["status"], "running");
        }
        assert_eq!(guest.out("head -c 4096 /dev/urandom > more; echo written").await, "written");
        assert_eq!(guest.get(&at).await.1["status"], "running");
    })
    .await;
}

/// The file tools and uploads are no way around it.
#[tokio::test]
async fn files_that_ship_writes_count_too() {
    on_every_host("attacks::disk::files_that_ship_writes_count_too", async |host| {
        let guest = small(host).await;
        let content = "x".repeat(8 << 20);
        let mut refused = None;
        for i in 0..40 {
            let (status, answer) =
                guest.post("/fs/write_file", json!({"path": format!("f{i}"), "content": content})).await;
            if !status.is_success() {
                refused = Some((i, status.as_u16(), answer));
                break;
            }
        }
        let (files, status, answer) = refused.expect("everything was written");
        assert!((files * 8) << 20 <= LIMIT + MARGIN, "{files}: {answer}");
        assert_eq!((status, &answer["error"]["code"]), (429, &json!("quota_exceeded")), "{answer}");
        assert!(answer["error"]["message"].as_str().unwrap().contains("disk limit"), "{answer}");
        let body = json!({"tool": "write", "args": [{"path": "t", "content": "x"}]});
        assert_eq!(guest.post("/fs/tool", body).await.1["error"]["code"], "quota_exceeded");
        assert_eq!(
            guest
                .post("/fs/edit_file", json!({"path": "f0", "old_string": "x", "new_string": "y", "replace_all": true}))
                .await
                .0,
            429
        );
        // Reading and deleting go on.
        guest.ok("/fs/list_dir", json!({"path": "."})).await;
        guest.ok("/fs/delete_file", json!({"path": "f0"})).await;
        can_be_emptied(&guest, "files by Ship").await;
    })
    .await;
}

/// More files than there may be are over the limit, however small they are. On one kind of host only: making them takes long.
#[tokio::test]
async fn empty_files_can_be_too_many() {
    let limits = CellLimits { workspace_bytes: Some(LIMIT), ..CellLimits::default() };
    let guest = sandbox_with(|options| options.limits = limits).await;
    let code = "import os, time
for d in range(22):
    os.mkdir(f'd{d}'); f = os.open(f'd{d}', os.O_RDONLY)
    for i in range(1000): os.close(os.open(str(i), os.O_CREAT | os.O_WRONLY, dir_fd=f))
    os.close(f)
# Some more, for as long as nobody objects.
for i in range(100000): os.close(os.open(f'more{i}', os.O_CREAT | os.O_WRONLY)); time.sleep(.001)";
    let command = json!({"command": "exec python3 -c \"$CODE\"", "env": {"CODE": code}, "background": true});
    let id = guest.ok("/shell/exec", command).await["process_id"].as_str().unwrap().to_owned();
    let path = format!("/shell/processes/{id}");
    until("it is ended", async || guest.get(&path).await.1["status"] != "running").await;
    let answer = guest.get(&path).await.1;
    assert!(answer["error"].as_str().is_some_and(|error| error.contains("more files are in it")), "{answer}");
    can_be_emptied(&guest, "empty files").await;
}
