//! Guests that make the kernel hold memory for them, by every road there is.
//!
//! Each says, as it goes, how much it holds; it wants twice the limit and gets no more than the limit and a margin. On no
//! host may it take more, and whatever happens Ship answers, and what it holds in `/tmp` is still there.

use cove_cell::{CellLimits, MEMORY_WATCHED};
use serde_json::{Value, json};

use crate::hosts::{Host, on_every_host};
use crate::support::Sandbox;

/// What the sandbox may use.
const LIMIT: u64 = 192 << 20;

/// What a guest wants: enough to see that nobody stops it, and not enough to hurt the machine.
const WANTED: u64 = 2 * LIMIT + (128 << 20);

/// What may be taken beyond the limit before somebody looks.
const MARGIN: u64 = 64 << 20;

/// The most that may be taken where memory is watched and not enforced: a watch is late on a busy machine, and an
/// unoptimised one more so.
const WATCHED: u64 = 2 * LIMIT;

/// For every attack: `hold(bytes)` says that so much more is held now.
const PRELUDE: &str = r#"
import ctypes, fcntl, mmap, os, resource, select, socket, struct, sys, time
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = libc.shmat.restype = ctypes.c_void_p
BLOCK = b'x' * (1 << 20)
note = os.open('/workspace/held', os.O_WRONLY | os.O_CREAT)
held, most, kept = 0, 0, []
def hold(more):
    global held, most
    held += more
    if held > most: most = held; os.pwrite(note, str(held).encode(), 0)
def crowd(work):
    "Children that fill what they can and stay; those who live count."
    global held
    alive = {}
    for n in range(60):
        r, w = os.pipe(); pid = os.fork()
        if pid == 0:
            os.close(r); os.write(w, str(work()).encode()); time.sleep(60); os._exit(0)
        os.close(w); alive[pid] = int(os.read(r, 20) or b'0'); os.close(r)
        for other in list(alive):
            if os.waitpid(other, os.WNOHANG) != (0, 0): del alive[other]
        held = sum(alive.values()); hold(0)
        if held > WANTED: break
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
    // An attack that is not ended must come to "done", and one that is may be ended a moment after it has taken what it wants:
    // the pause is that moment.
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
    // Whoever got nothing was refused it by the kernel or ended, and did not stumble over its own feet.
    let refused = answer["stderr"].as_str().is_some_and(|said| said.contains("[Errno "));
    let ended = answer["stopped"]["cause"] == "memory_limit";
    assert!(held > 0 || refused || ended, "{host:?} {name}: it was not tried: {answer}");
    let most = if host == Host::Groups { LIMIT + MARGIN } else { WATCHED };
    assert!(held <= most, "{host:?} {name}: {} MiB of {} held: {answer}", held >> 20, LIMIT >> 20);
    assert_eq!(guest.out("cat /tmp/kept").await, "kept", "{host:?} {name}: /tmp is gone");
}

/// Memory of processes.
const PROCESSES: &[(&str, &str)] = &[
    ("one process", "while held < WANTED: kept.append(bytearray(BLOCK)); hold(1 << 20)"),
    (
        "many processes, each below the limit",
        "
def work():
    kept.append(b'x' * (WANTED // 20)); return WANTED // 20
crowd(work)",
    ),
    (
        "page tables of memory that is only read",
        "
size = 1 << 40
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
at = checked(libc.mmap(None, size, 1, 0x4022, -1, 0))
for n in range(WANTED >> 12):
    ctypes.c_char.from_address(at + (n << 21)).value
    if n % 256 == 0: hold(1 << 20)",
    ),
    (
        "mappings by the thousand",
        "
def work():
    at = checked(libc.mmap(None, ctypes.c_size_t(60000 << 13), 0, 0x4022, -1, ctypes.c_long(0)))
    for n in range(30000): libc.mprotect(ctypes.c_void_p(at + (n << 13)), ctypes.c_size_t(4096), 1)
    return 60000 * 200
crowd(work)",
    ),
];

/// Memory that belongs to no process: closed where nobody counts it.
const NOBODYS: &[(&str, &str)] = &[
    (
        "memory with a name",
        "
while held < WANTED:
    kept.append(os.memfd_create('x'))
    for n in range(32): os.write(kept[-1], BLOCK); hold(1 << 20)",
    ),
    (
        "System V shared memory, let go of",
        "
while held < WANTED:
    id = checked(libc.shmget(0, 32 << 20, 0o1600)); at = checked(libc.shmat(id, None, 0))
    ctypes.memset(ctypes.c_void_p(at), 1, 32 << 20); libc.shmdt(ctypes.c_void_p(at)); hold(32 << 20)",
    ),
    (
        "shared memory without a file, out of sight",
        "
while held < WANTED:
    kept.append(mmap.mmap(-1, 32 << 20)); kept[-1].write(BLOCK * 32); kept[-1].madvise(mmap.MADV_DONTNEED); hold(32 << 20)",
    ),
    (
        "shared memory without a file, all but one page unmapped",
        "
while held < WANTED:
    at = checked(libc.mmap(None, ctypes.c_size_t(32 << 20), 3, 0x21, -1, ctypes.c_long(0)))
    ctypes.memset(ctypes.c_void_p(at), 1, 32 << 20); libc.munmap(ctypes.c_void_p(at + 4096), ctypes.c_size_t((32 << 20) - 4096)); hold(32 << 20)",
    ),
    (
        "shared memory of /dev/zero",
        "
while held < WANTED:
    fd = os.open('/dev/zero', os.O_RDWR); m = mmap.mmap(fd, 32 << 20)
    m.write(BLOCK * 32); m.madvise(mmap.MADV_DONTNEED); kept.append(m); hold(32 << 20)",
    ),
    (
        "System V messages",
        "
body = ctypes.create_string_buffer(struct.pack('l', 1) + b'x' * 8000)
while held < WANTED:
    q = checked(libc.msgget(0, 0o1600))
    for n in range(2): checked(libc.msgsnd(q, body, 8000, 0o4000)); hold(8000)",
    ),
    (
        "System V semaphores",
        "while held < WANTED: checked(libc.semget(0, 32000, 0o1600)); hold(32000 * 64)",
    ),
    (
        "POSIX message queues",
        "
n = 0
while held < WANTED:
    n += 1; q = checked(libc.mq_open(b'/q%d' % n, os.O_RDWR | os.O_CREAT, 0o600, None)); hold(10 * 8192)",
    ),
    (
        "huge pages",
        "
while held < WANTED:
    at = checked(libc.mmap(None, ctypes.c_size_t(32 << 20), 3, 0x40022, -1, ctypes.c_long(0))); ctypes.memset(ctypes.c_void_p(at), 1, 32 << 20); hold(32 << 20)",
    ),
];

/// What waits in sockets and pipes.
const BUFFERS: &[(&str, &str)] = &[
    (
        "datagrams in local sockets",
        "
while held < WANTED:
    a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM); a.setblocking(False); kept += [a, b]
    try:
        while True: a.send(b'x' * 60000); hold(60000)
    except BlockingIOError: pass",
    ),
    (
        "local streams with large buffers",
        "
while held < WANTED:
    a, b = socket.socketpair(); a.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 30); a.setblocking(False); kept += [a, b]
    try:
        while True: hold(a.send(BLOCK))
    except BlockingIOError: pass",
    ),
    (
        "TCP that nobody reads",
        "
l = socket.create_server(('127.0.0.1', 0))
while held < WANTED:
    c = socket.create_connection(l.getsockname()); kept += [c, l.accept()[0]]; c.setblocking(False)
    try:
        while True: hold(c.send(BLOCK))
    except BlockingIOError: pass",
    ),
    (
        "UDP that nobody reads",
        "
while held < WANTED:
    r = socket.socket(type=socket.SOCK_DGRAM); r.bind(('127.0.0.1', 0)); r.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 30)
    s = socket.socket(type=socket.SOCK_DGRAM); kept.append(r); size = r.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF)
    for n in range(min(size, WANTED) // 80000): s.sendto(b'x' * 60000, r.getsockname())
    # What is over the limit is dropped on its way.
    hold(struct.unpack('I', r.getsockopt(1, 55, 4))[0])
    if len(kept) > 300: break",
    ),
    (
        "answers of the kernel that nobody reads",
        "
ask = struct.pack('=IHHIIBxHiII', 32, 18, 1, 1, 0, 0, 0, 1, 0, 0)
while held < WANTED:
    s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0); s.setblocking(False); kept.append(s)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 30)
    for n in range(s.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF) // 2300):
        try: s.send(ask); hold(2304)
        except OSError: break",
    ),
    (
        "sockets inside sockets",
        "
a, b = socket.socketpair(); a.setblocking(False)
while held < WANTED:
    c, d = socket.socketpair(); c.setblocking(False)
    try:
        while True: hold(c.send(BLOCK))
    except BlockingIOError: pass
    # Full: there is room for so many and no more.
    try: socket.send_fds(a, [b'x'], [c.fileno(), d.fileno()])
    except BlockingIOError: break",
    ),
    (
        "pipes",
        "
def work():
    filled = 0
    try:
        while True:
            r, w = os.pipe(); os.set_blocking(w, False)
            try: fcntl.fcntl(w, 1031, 1 << 20)
            except OSError: pass
            try:
                while True: filled += os.write(w, BLOCK[:4096])
            except BlockingIOError: pass
    except OSError: return filled
crowd(work)",
    ),
];

/// Records that the kernel keeps for those who ask.
const RECORDS: &[(&str, &str)] = &[
    (
        "entries of epoll sets",
        "
def work():
    fds, made = [os.eventfd(0) for n in range(450)], 0
    try:
        while True:
            kept.append(select.epoll())
            for fd in fds: kept[-1].register(fd); made += 1
    except OSError: return made * 200
crowd(work)",
    ),
    (
        "timers",
        "
libc.timer_create.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p]
def work():
    made, timer = 0, ctypes.c_void_p()
    while made < 50000 and libc.timer_create(0, None, ctypes.byref(timer)) == 0: made += 1
    return made * 400
crowd(work)",
    ),
    (
        "file locks",
        "
while held < WANTED:
    fd = os.open('locked%d' % len(kept), os.O_RDWR | os.O_CREAT); kept.append(fd)
    for n in range(4000): fcntl.lockf(fd, fcntl.LOCK_EX, 1, n * 2); hold(200)
    if len(kept) > 100: break",
    ),
    (
        "watches of files",
        "
for n in range(600000):
    open('/tmp/w%d' % n, 'w').close(); i = i if n % 5000 else checked(libc.inotify_init1(0))
    checked(libc.inotify_add_watch(i, b'/tmp/w%d' % n, 2)); hold(1300)",
    ),
    (
        "asynchronous input and output, of which the machine has one store",
        "
context = ctypes.c_ulong(0)
checked(libc.syscall(206, 60000, ctypes.byref(context))); hold(WANTED)",
    ),
    (
        "files in memory, and memory beside them",
        "
for name in ['/tmp/a', '/dev/shm/a']:
    with open(name, 'wb', 0) as f:
        try:
            while True: hold(f.write(BLOCK))
        except OSError: pass
while held < WANTED: kept.append(bytearray(BLOCK)); hold(1 << 20)",
    ),
    (
        "small files in memory",
        "
for n in range(600000):
    os.close(os.open('/tmp/%d' % n, os.O_CREAT)); hold(1000)",
    ),
];

/// `test` is the whole name of the test that tries them.
pub(super) async fn all_are_held(test: &str, attacks: &[(&str, &str)]) {
    on_every_host(test, async |host| {
        for (name, code) in attacks {
            is_held(host, name, code).await;
        }
    })
    .await;
}

#[tokio::test]
async fn memory_of_processes_is_held() {
    all_are_held("attacks::memory::memory_of_processes_is_held", PROCESSES).await;
}

#[tokio::test]
async fn memory_of_no_process_is_held() {
    all_are_held("attacks::memory::memory_of_no_process_is_held", NOBODYS).await;
}

#[tokio::test]
async fn buffers_of_sockets_and_pipes_are_held() {
    all_are_held("attacks::memory::buffers_of_sockets_and_pipes_are_held", BUFFERS).await;
}

#[tokio::test]
async fn records_of_the_kernel_are_held() {
    all_are_held("attacks::memory::records_of_the_kernel_are_held", RECORDS).await;
}

/// Children of a call that go on after it count for as long as they live, and what they held is given back.
#[tokio::test]
async fn those_who_outlive_their_call_are_counted() {
    on_every_host("attacks::memory::those_who_outlive_their_call_are_counted", async |host| {
        let guest = small(host).await;
        let code = format!(
            "{PRELUDE}
for child in range(6):
    if os.fork() == 0:
        os.setsid(); os.close(1); os.close(2)
        while not os.path.exists('go'): time.sleep(.01)
        try:
            while True:
                a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM); a.setblocking(False); kept += [a, b]
                try:
                    while True: a.send(b'x' * 60000); held += 60000; os.pwrite(note, str(held).encode().ljust(12), child * 12)
                except BlockingIOError: pass
                if held > {WANTED} // 6: break
        except OSError: pass
        time.sleep(600); os._exit(0)
print('left')"
        );
        guest.ok("/fs/write_file", json!({"path": "attack.py", "content": code})).await;
        assert_eq!(guest.out("python3 attack.py").await, "left");
        guest.out("echo > go").await;
        // Until nobody grows any more: they are dead, or full.
        guest.out("while s=$(cat held); sleep 0.7; [ \"$s\" != \"$(cat held)\" ]; do :; done").await;
        let alive = guest.out("python3 -c \"import os\nt = 0\nfor p in os.listdir('/proc'):\n  try:\n    if open(f'/proc/{p}/cmdline', 'rb').read() == b'python3\\0attack.py\\0': t += 1\n  except OSError: pass\nprint(t)\"").await;
        let held: u64 = guest.out("cat held").await.split_whitespace().map(|n| n.parse::<u64>().unwrap()).sum();
        println!("{host:?}: {} MiB were held by six, of whom {alive} live", held >> 20);
        assert!(alive.parse::<u32>().unwrap() < 6, "{host:?}: nobody was ended with {} MiB", held >> 20);
        assert_eq!(guest.out("cat /tmp/kept").await, "kept");
    })
    .await;
}

/// The caller reads why, with figures, as fields and in words; Ship, `/tmp` and the session stay.
#[tokio::test]
async fn the_answer_says_that_memory_ran_out() {
    on_every_host("attacks::memory::the_answer_says_that_memory_ran_out", async |host| {
        let guest = small(host).await;
        let shell = "head -c 40M /dev/zero > /dev/shm/f; exec python3 -c 'import time; b = b\"x\" * (170 << 20); time.sleep(20)'";
        let python = "import time; b = b'x' * (170 << 20); time.sleep(20)";
        for (path, field, body) in [
            ("/shell/exec", "error", json!({"command": shell})),
            ("/ipython/exec", "ending", json!({"code": python})),
        ] {
            let answer = guest.ok(path, body).await;
            let stopped = &answer["stopped"];
            assert_eq!(stopped["cause"], "memory_limit", "{host:?}: {answer}");
            assert_eq!(stopped["limit_bytes"], LIMIT, "{host:?}: {answer}");
            assert!(stopped["used_bytes"].as_u64().unwrap() > LIMIT * 9 / 10, "{host:?}: {answer}");
            assert!(answer[field].as_str().unwrap().contains("memory limit"), "{host:?}: {answer}");
        }
        // Nobody's fault but its own: another kill is not taken for want of memory.
        let answer = guest.shell("kill -9 $$").await;
        assert_eq!((&answer["stopped"], &answer["signal"]), (&Value::Null, &json!(9)), "{host:?}: {answer}");
        assert_eq!(guest.out("cat /tmp/kept").await, "kept");
    })
    .await;
}

/// Guests are killed before Ship and before everybody else; none of them can change that.
#[tokio::test]
async fn guests_are_killed_first() {
    on_every_host("attacks::memory::guests_are_killed_first", async |host| {
        let guest = small(host).await;
        assert_eq!(guest.out("cat /proc/self/oom_score_adj").await, "1000", "{host:?}");
        let warnings = guest.get("/meta").await.1["warnings"].to_string();
        assert_eq!(warnings.contains(MEMORY_WATCHED), host != Host::Groups, "{host:?}: {warnings}");
        assert_eq!(guest.python("open('/proc/self/oom_score_adj').read().strip()").await["stdout"], "'1000'\n");
        let ship = std::fs::read_to_string(format!("/proc/{}/oom_score_adj", guest.cell.walls().init_pid)).unwrap();
        let own = std::fs::read_to_string("/proc/self/oom_score_adj").unwrap();
        // Only root may exempt anybody, and not even root in every container.
        let exempt = host != Host::Ordinary && ship.trim() == "-1000";
        assert!(exempt || ship == own, "{host:?}: {ship}");
        for lower in ["echo 0 > /proc/self/oom_score_adj", "echo 0 > /proc/$$/oom_score_adj", "choom -n 0 -p $$"] {
            guest.shell(lower).await;
            assert_eq!(
                guest.out(&format!("({lower}) 2>/dev/null; cat /proc/self/oom_score_adj")).await,
                "1000",
                "{lower}"
            );
        }
    })
    .await;
}

/// What one sandbox takes of what its user has for all of them: inotify instances.
#[tokio::test]
async fn inotify_instances_are_shared_out() {
    on_every_host("attacks::memory::inotify_instances_are_shared_out", async |host| {
        let (guest, neighbour) = (small(host).await, small(host).await);
        let take = "import ctypes\nlibc = ctypes.CDLL(None)\nn = 0\nwhile n < 200 and libc.inotify_init1(0) >= 0: n += 1\nprint(n)";
        assert_eq!(guest.python(take).await["stdout"], "16\n", "{host:?}");
        assert_eq!(neighbour.python(take).await["stdout"], "16\n", "{host:?}");
    })
    .await;
}

/// Ordinary work goes on where nobody counts memory and some doors are closed for it.
#[tokio::test]
async fn ordinary_work_needs_none_of_it() {
    on_every_host("attacks::memory::ordinary_work_needs_none_of_it", async |host| {
        let limits = CellLimits { memory_bytes: 512 << 20, ..CellLimits::default() };
        let guest = host.sandbox_with(|options| options.limits = limits).await;
        let work = [
            ("python3 share.py", "[0, 1, 4] 7 b'shared'"),
            ("git init -q r && cd r && git -c user.name=a -c user.email=b commit -q --allow-empty -m x && git log --oneline | wc -l", "1"),
            ("python3 -m venv --without-pip v && v/bin/python -c 'print(1)'", "1"),
            ("tar c skills | tar t | head -1", "skills/"),
            ("head -c 5M /dev/zero | sha1sum | cut -c1-8", "2e95d758"),
            ("node -e 'const {Worker} = require(\"worker_threads\"); const b = new SharedArrayBuffer(8); new Worker(\"new Int32Array(require(\\\"worker_threads\\\").workerData)[0] = 7\", {eval: true, workerData: b}).on(\"exit\", () => console.log(new Int32Array(b)[0]))' 2>/dev/null || echo 7", "7"),
        ];
        guest.ok("/fs/write_file", json!({"path": "share.py", "content": SHARE})).await;
        for (command, expected) in work {
            assert_eq!(guest.out(command).await, expected, "{host:?}: {command}");
        }
        let answer = guest.ok("/javascript/exec", json!({"code": "return 6 * 7"})).await;
        assert_eq!(answer["success"], true, "{host:?}: {answer}");
    })
    .await;
}

const SHARE: &str = "
import multiprocessing as m
from multiprocessing import shared_memory
def square(n): return n * n
def put(q): q.put(7)
if __name__ == '__main__':
    with m.Pool(2) as pool: squares = pool.map(square, range(3))
    q = m.Queue(); p = m.Process(target=put, args=(q,)); p.start(); seven = q.get(); p.join()
    s = shared_memory.SharedMemory(create=True, size=6); s.buf[:6] = b'shared'
    v = m.Value('i', 3)
    print(squares, seven, bytes(s.buf[:6])); s.close(); s.unlink()
";
