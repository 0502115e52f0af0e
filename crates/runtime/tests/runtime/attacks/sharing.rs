//! Guests that look for what they have in common with the machine and with neighbours: inodes to watch and to lock, files
//! of `/proc` that say what others do, caches to time.

use std::fs::File;
use std::os::fd::AsFd;

use cove_cell::{CellLimits, CellMount, WallState};
use rustix::fs::{FlockOperation, flock};
use serde_json::json;

use crate::hosts::{Host, on_every_host};
use crate::support::{Sandbox, sandbox, sandbox_with, until};

/// What a guest can name and others use: programs, libraries, certificates, this very program, devices.
const NAMES: &[&str] = &[
    "/usr",
    "/usr/bin",
    "/usr/bin/perl",
    "/usr/bin/env",
    "/usr/lib",
    "/bin/bash",
    "/etc/ssl/certs",
    "/etc/alternatives",
    "/etc/passwd",
    "/etc/ld.so.cache",
    "/var/lib/cove/cove",
    "/mnt/extra",
    "/mnt/extra/file",
    "/dev",
    "/dev/null",
    "/dev/zero",
    "/dev/urandom",
    "/proc/version",
    "/proc/filesystems",
    "/",
    "/tmp",
];

/// Watches and locks all of them, says so, and tells what it saw once it is asked to.
const SPY: &str = r#"
import ctypes, fcntl, os, struct, sys, time
libc = ctypes.CDLL(None, use_errno=True)
names = sys.argv[1].split(',')
watch, marks = libc.inotify_init1(0o4000), {}
locked, files = [], []
for name in names:
    mark = libc.inotify_add_watch(watch, name.encode(), 0xfff)
    if mark >= 0: marks[mark] = name
    try:
        fd = os.open(name, os.O_RDONLY); files.append(fd)
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB); locked.append(name)
    except OSError as error: print('no lock', name, error)
    try: fcntl.fcntl(fd, 37, struct.pack('hhqqi4x', 0, 0, 0, 0, 0)) # a shared lock of the open file
    except OSError: pass
print('watched', len(marks), 'locked', len(locked), flush=True)
time.sleep(.2) # for what we did ourselves: nothing says that all of it has been reported
try: os.read(watch, 1 << 20)
except OSError: pass
open('ready', 'w').close()
while not os.path.exists('go'): time.sleep(.02)
try: seen = os.read(watch, 1 << 20)
except OSError: seen = b''
while seen:
    mark, mask, _, length = struct.unpack_from('iIII', seen)
    print('BREACH', marks.get(mark), hex(mask), seen[16:16 + length].rstrip(b'\0').decode())
    seen = seen[16 + length:]
print('held')
"#;

struct Extra(tempfile::TempDir);

impl Extra {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::set_permissions(folder.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        std::fs::write(folder.path().join("file"), "x").unwrap();
        Self(folder)
    }

    fn mount(&self) -> CellMount {
        CellMount { host: self.0.path().to_owned(), inside: "/mnt/extra".into() }
    }

    /// Where the machine has what a guest calls so.
    fn on_host(&self, name: &str) -> std::path::PathBuf {
        match name.strip_prefix("/mnt/extra") {
            Some(rest) => format!("{}{rest}", self.0.path().display()).into(),
            None if name == "/var/lib/cove/cove" => {
                std::env::var_os(crate::support::SHIP).unwrap_or_else(|| env!("CARGO_BIN_EXE_cove-ship").into()).into()
            }
            None => name.into(),
        }
    }
}

/// Everything that others do in the ordinary course of things.
async fn others_go_on(extra: &Extra, neighbour: &Sandbox) {
    for name in NAMES.iter().filter(|name| !name.starts_with("/tmp")) {
        let Ok(mut file) = File::open(extra.on_host(name)) else { continue };
        let mut some = [0; 16];
        let _ = std::io::Read::read(&mut file, &mut some);
        let _ = std::fs::read_dir(extra.on_host(name)).map(Iterator::count);
    }
    neighbour.out("ls / /usr/bin /etc/ssl/certs /mnt/extra >/dev/null; /usr/bin/env true; perl -e 1; cat /mnt/extra/file /proc/version > /dev/null; head -c 1 /dev/urandom > /dev/null").await;
    neighbour.python("import json, ssl").await;
}

/// Finding 4: a guest must see nothing of what others open, and hold nobody up.
#[tokio::test]
async fn nobody_is_watched_or_held_up() {
    on_every_host("attacks::sharing::nobody_is_watched_or_held_up", async |host| {
        let extra = Extra::new();
        let spy = host.sandbox_with(|options| options.mounts.push(extra.mount())).await;
        let neighbour = host.sandbox_with(|options| options.mounts.push(extra.mount())).await;
        let own_devices =
            spy.cell.walls().walls.iter().any(|wall| wall.name == "own-devices" && wall.state == WallState::Active);
        assert_eq!(own_devices, host != Host::Ordinary, "{:?}", spy.cell.walls().walls);
        spy.ok("/fs/write_file", json!({"path": "spy.py", "content": SPY})).await;
        let command = format!("exec python3 spy.py {}", NAMES.join(","));
        let started = spy.ok("/shell/exec", json!({"command": command, "background": true})).await;
        until("the spy is ready", async || spy.cargo.path().join("ready").exists()).await;
        others_go_on(&extra, &neighbour).await;
        // Devices of an ordinary user's sandbox are the machine's: see THREAT_MODEL.md.
        for name in NAMES.iter().filter(|name| own_devices || !name.starts_with("/dev/")) {
            let Ok(file) = File::open(extra.on_host(name)) else { continue };
            let taken = flock(file.as_fd(), FlockOperation::NonBlockingLockExclusive);
            assert!(taken.is_ok(), "{host:?}: the machine is held up at {name}");
            let try_it = format!("flock -n {name} true && echo free");
            assert_eq!(
                neighbour.shell(&try_it).await["stdout"],
                "free\n",
                "{host:?}: the neighbour is held up at {name}"
            );
        }
        std::fs::write(spy.cargo.path().join("go"), "").unwrap();
        let id = started["process_id"].as_str().unwrap();
        let path = format!("/shell/processes/{id}");
        until("the spy has ended", async || spy.get(&path).await.1["status"] != "running").await;
        let told = spy.get(&path).await.1;
        let told = told["stdout"].as_str().unwrap_or_else(|| panic!("{told}"));
        assert!(told.contains("held") && !told.contains("BREACH"), "{host:?}: {told}");
        // It did try: as root everything can be watched and locked, and it is of no use.
        assert!(!own_devices || told.contains(&format!("watched {}", NAMES.len())), "{host:?}: {told}");
    })
    .await;
}

/// Where the kernel gives no layers, watches and locks are refused, and the report says so.
#[tokio::test]
async fn without_layers_watches_are_refused_and_it_is_said() {
    let guest = sandbox_with(|options| options.own_layers = false).await;
    let wall = guest.cell.walls().walls.iter().find(|wall| wall.name == "own-layers").unwrap().clone();
    assert_eq!(wall.state, WallState::Missing);
    assert!(wall.detail.contains("refused") && wall.detail.contains("/usr"), "{wall:?}");
    guest.ok("/fs/write_file", json!({"path": "try.py", "content": include_str!("../try.py")})).await;
    for code in ["call(254, libc.inotify_init1(0), b'/usr/bin', 0xfff)", "call(73, os.open('/usr/bin/perl', 0), 2)"] {
        let answer =
            guest.ok("/shell/exec", json!({"command": "python3 try.py \"$CODE\"", "env": {"CODE": code}})).await;
        assert!(answer["stdout"].as_str().unwrap().contains("held"), "{code}: {answer}");
    }
    assert_eq!(guest.out("perl -e 'print 6 * 7'; tail -f --pid=1 /dev/null & sleep 0.1; kill %1").await, "42");
}

/// What says which files of the machine are in use, or throws them out of memory, or lends their pages.
const CALLS: &[(&str, &str)] = &[
    ("which pages are in memory", "call(27, 0, 4096, (ctypes.c_char * 1)())"),
    ("how much of a file is in memory", "call(451, 0, 0, 0, 0)"),
    (
        "read only what is in memory",
        "f = os.open('/usr/bin/perl', 0); b = ctypes.create_string_buffer(16); v = (ctypes.c_void_p * 2)(ctypes.addressof(b), 16)\nr = libc.syscall(327, f, v, 1, 0, 0, 8); say(r != -1, r)",
    ),
    ("throw a system file out of memory", "call(221, os.open('/usr/bin/perl', 0), 0, 0, 4)"),
    (
        "page out a mapping",
        "libc.mmap.restype = ctypes.c_void_p; m = libc.mmap(None, 4096, 1, 1, os.open('/usr/bin/perl', 0), ctypes.c_long(0)); call(28, m, 4096, 21)",
    ),
    ("a lease on a system file", "call(72, os.open('/usr/bin/perl', 0), 1024, 0)"),
    ("a lease on a file that Ship reads", "f = os.open('/workspace/x', 66); call(72, f, 1024, 1)"),
    (
        "a lock that belongs to no process, which every sandbox could see",
        "import fcntl, struct; f = os.open('/workspace/x', 66); fails(lambda: fcntl.fcntl(f, 37, struct.pack('hhqqi4x', 1, 0, 0, 0, 0)))",
    ),
    (
        "the same, waited for",
        "import fcntl, struct; f = os.open('/workspace/x', 66); fails(lambda: fcntl.fcntl(f, 38, struct.pack('hhqqi4x', 1, 0, 0, 0, 0)))",
    ),
    ("the old kind of watch", "call(72, os.open('/usr/bin', 0), 1026, 0x3f)"),
    ("watch whole mounts", "call(300, 0, 0)"),
    ("splice a system file", "p, q = os.pipe(); call(275, os.open('/usr/bin/perl', 0), 0, q, 0, 4096, 0)"),
    ("tee", "a, b = os.pipe(); c, d = os.pipe(); os.write(b, b'x'); call(276, a, d, 1, 0)"),
    ("lend memory to a pipe", "p, q = os.pipe(); call(278, q, (ctypes.c_long * 2)(0, 0), 1, 0)"),
    ("write to a system file's inode", "unwritable('/usr/bin/perl')"),
    ("change the uptime", "unwritable('/proc/uptime')"),
    ("change the uptime's mode", "fails(lambda: os.chmod('/proc/uptime', 0o777))"),
    ("change the processors", "fails(lambda: os.chmod('/proc/cpuinfo', 0o777))"),
    ("replace a device", "fails(lambda: os.unlink('/dev/null'))"),
    ("a new device", "fails(lambda: os.mknod('/dev/x', 0o20666, os.makedev(1, 1)))"),
];

/// Files about the machine; whatever else a kernel has is empty as well.
const CLOSED: &[&str] = &[
    "cmdline",
    "config.gz",
    "diskstats",
    "interrupts",
    "softirqs",
    "zoneinfo",
    "buddyinfo",
    "slabinfo",
    "pagetypeinfo",
    "schedstat",
    "partitions",
    "devices",
    "modules",
    "locks",
    "kallsyms",
    "keys",
    "key-users",
    "iomem",
    "ioports",
    "crypto",
    "consoles",
    "timer_list",
    "vmallocinfo",
    "misc",
    "mtrr",
    "dma",
    "kcore",
    "kmsg",
    "kpagecount",
    "version_signature",
    "sys/fs/file-nr",
    "sys/fs/inode-nr",
    "sys/fs/dentry-state",
    "sys/kernel/pty/nr",
    "pressure/cpu",
    "pressure/io",
    "pressure/memory",
    "fs/ext4",
    "bus/pci/devices",
    "irq/0/spurious",
    "driver/rtc",
    "acpi/wakeup",
];

/// Somebody on the machine with a lock of an open file, which belongs to no process: the kernel lists it everywhere.
#[allow(clippy::disallowed_methods, reason = "a test's child, killed when the test ends")]
fn lock_of_an_open_file() -> Killed {
    let code = "import fcntl, struct, sys, tempfile\nf = tempfile.TemporaryFile()\nfcntl.fcntl(f, 37, struct.pack('hhqqi4x', 1, 0, 0, 0, 0))\nprint('locked', flush=True)\nsys.stdin.read()";
    let mut command = std::process::Command::new("python3");
    command.args(["-c", code]).stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
    let mut holder = Killed(command.spawn().unwrap());
    let mut word = [0; 7];
    std::io::Read::read_exact(holder.0.stdout.as_mut().unwrap(), &mut word).unwrap();
    // The kernel lists locks page by page: while others come and go, one look may miss any of them.
    assert!((0..100).any(|_| std::fs::read_to_string("/proc/locks").unwrap().contains("OFDLCK")));
    holder
}

/// A program that ends with the test.
struct Killed(std::process::Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[tokio::test]
async fn caches_leases_and_the_machines_figures_are_closed() {
    let _lock = lock_of_an_open_file();
    on_every_host("attacks::sharing::caches_leases_and_the_machines_figures_are_closed", async |host| {
        let guest = host.sandbox_with(|_| {}).await;
        guest.ok("/fs/write_file", json!({"path": "try.py", "content": include_str!("../try.py")})).await;
        guest.ok("/fs/write_file", json!({"path": "x", "content": "x"})).await;
        let closed = CLOSED.iter().map(|name| (*name, format!("unreadable('/proc/{name}')")));
        let mut wrong = Vec::new();
        for (name, code) in CALLS.iter().map(|(name, code)| (*name, (*code).to_owned())).chain(closed) {
            let command = json!({"command": "python3 try.py \"$CODE\" 2>&1", "env": {"CODE": code}});
            let answer = guest.ok("/shell/exec", command).await;
            let said = answer["stdout"].as_str().unwrap();
            if !said.contains("held") || said.contains("BREACH") {
                wrong.push(format!("{name}: {said}"));
            }
        }
        assert!(wrong.is_empty(), "{host:?}:\n{}", wrong.join("\n"));
    })
    .await;
}

/// What programs read says the same before and after others have been busy, except how late it is.
#[tokio::test]
async fn what_proc_says_does_not_change_with_others() {
    on_every_host("attacks::sharing::what_proc_says_does_not_change_with_others", async |host| {
        let (guest, neighbour) = (host.sandbox_with(|_| {}).await, host.sandbox_with(|_| {}).await);
        let read = "cd /proc; for f in *; do case $f in [0-9]*|self|thread-self|net|mounts|uptime|tty|sysvipc) ;; *) test -f $f && { echo \"== $f\"; cat $f; } ;; esac; done 2>/dev/null; cut -d' ' -f2 uptime; cat sys/fs/file-nr sys/fs/inode-nr";
        let before = guest.out(read).await;
        assert!(before.contains("== cpuinfo") && before.contains("MemTotal") && before.contains("0.00 0.00 0.00 1/1 1"));
        neighbour.out("for i in $(seq 50); do perl -e '$x = \"x\" x 1000000' & done; wait; head -c 50M /dev/zero > f; sync").await;
        assert_eq!(guest.out(read).await, before, "{host:?}");
    })
    .await;
}

/// The tools that people and agents use to look at a machine work on these files.
#[tokio::test]
async fn tools_that_read_proc_still_work() {
    let guest = sandbox_with(|options| options.limits.memory_bytes = 512 << 20).await;
    assert_eq!(guest.out("free -m | awk '/Mem:/ {print $2}'").await, "512");
    assert!(guest.out("nproc").await.parse::<usize>().unwrap() >= 1);
    assert_eq!(guest.out("grep -c ^processor /proc/cpuinfo").await, guest.out("grep -c '^cpu[0-9]' /proc/stat").await);
    for tool in ["uptime", "top -bn1", "vmstat", "ps aux", "df -h", "mount", "w -h"] {
        let answer = guest.shell(&format!("command -v {tool} >/dev/null || exit 0; {tool}")).await;
        assert_eq!(answer["return_code"], 0, "{tool}: {answer}");
    }
    // On a kernel without modules there is nothing to list.
    guest.out("[ ! -e /proc/modules ] || ! command -v lsmod >/dev/null || lsmod").await;
    // A process that has just begun has begun just now.
    let age: i64 = guest.out("sleep 0.2; ps -o etimes= -p $$").await.trim().parse().unwrap();
    assert!((0..60).contains(&age), "{age}");
    let begun = guest.out("date -d \"$(ps -o lstart= -p $$)\" +%s").await.parse::<i64>().unwrap();
    let now = guest.out("date +%s").await.parse::<i64>().unwrap();
    assert!((now - begun).abs() < 60, "{begun} {now}");
    let up = "import time; a = float(open('/proc/uptime').read().split()[0]); print(abs(a - time.clock_gettime(time.CLOCK_BOOTTIME)) < 30)";
    assert_eq!(guest.python(up).await["stdout"], "True\n");
    let gone = "until [ \"$(cat /proc/uptime)\" != \"$first\" ]; do sleep 0.1; done; echo later";
    assert_eq!(guest.out(&format!("first=$(cat /proc/uptime); {gone}")).await, "later");
}

/// Copying does not need what is refused.
#[tokio::test]
async fn copying_works_without_splice() {
    let guest = sandbox().await;
    guest.out("head -c 5M /dev/urandom > a && mkdir -p t/s && cp a t/s/b && ln -s s/b t/l").await;
    for copy in [
        "cp a c",
        "cp --reflink=auto --sparse=always a c",
        "cat a > c",
        "cat a | cat > c",
        "dd if=a of=c bs=1M status=none",
        "tee c < a > /dev/null",
        "cp -a t u && mv u/s/b c && rm -r u",
        "tar c t | tar x -C /tmp && cp /tmp/t/s/b c && rm -r /tmp/t",
        "tar cz t > t.gz && tar xzf t.gz -C /tmp && cp /tmp/t/l c && rm -r /tmp/t t.gz",
        "python3 -c \"import shutil; shutil.copyfile('a', 'c')\"",
        "python3 -c \"import shutil; shutil.copy2('a', '/tmp/c'); shutil.move('/tmp/c', 'c')\"",
        "python3 -c \"import shutil; shutil.copytree('t', 'u'); shutil.copy('u/s/b', 'c'); shutil.rmtree('u')\"",
        "python3 -c \"import os; s = os.open('a', 0); d = os.open('c', 65); os.sendfile(d, s, 0, 5 << 20)\"",
        "python3 -c \"import os; d = os.open('c', 65); os.posix_fallocate(d, 0, 5 << 20); os.write(d, open('a', 'rb').read())\"",
        "perl -MFile::Copy -e 'copy(\"a\", \"c\") or die'",
        "git init -q r && cp a r/f && cd r && git -c user.name=x -c user.email=x@x add f && git -c user.name=x -c user.email=x@x commit -qm x && cd .. && git clone -q r r2 && mv r2/f c && rm -rf r r2",
        "python3 -c \"import zipfile; zipfile.ZipFile('z', 'w').write('a'); zipfile.ZipFile('z').extract('a', '/tmp')\" && cp /tmp/a c && rm z /tmp/a",
        "python3 -c \"import http.server\" && (python3 -m http.server 7001 >/dev/null 2>&1 & for i in $(seq 100); do curl -sf 127.0.0.1:7001/a -o c && break; sleep 0.05; done; kill $!)",
    ] {
        let answer = guest.shell(&format!("set -e; {copy}; cmp a c; rm -f c")).await;
        assert_eq!(answer["return_code"], 0, "{copy}: {answer}");
    }
}

/// A package is installed from a file, as pip does it.
#[tokio::test]
async fn packages_are_installed_without_splice() {
    let guest = crate::support::rich_sandbox().await;
    let code = r#"
import zipfile, subprocess, sys
with zipfile.ZipFile('tiny-1-py3-none-any.whl', 'w') as z:
    z.writestr('tiny.py', 'x = 42\n')
    z.writestr('tiny-1.dist-info/METADATA', 'Metadata-Version: 2.1\nName: tiny\nVersion: 1\n')
    z.writestr('tiny-1.dist-info/WHEEL', 'Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n')
    z.writestr('tiny-1.dist-info/RECORD', 'tiny.py,,\n')
subprocess.run([sys.executable, '-m', 'pip', 'install', '-q', '--no-index', '--target', 'lib', 'tiny-1-py3-none-any.whl'], check=True)
sys.path.insert(0, 'lib'); import tiny; print(tiny.x)
"#;
    let answer = guest.ok("/ipython/exec", json!({"code": code, "timeout": 60})).await;
    assert!(answer["stdout"].as_str().unwrap().ends_with("42\n"), "{answer}");
}

/// Where no control group deals out processor time, guests have whole processors, and cannot take others.
#[tokio::test]
async fn processors_are_shared_out() {
    on_every_host("attacks::sharing::processors_are_shared_out", async |host| {
        let limits = CellLimits { cpus: 0.5, ..CellLimits::default() };
        let guest = host.sandbox_with(|options| options.limits = limits).await;
        let cpus = guest.cell.walls().limits.cpus.clone().expect("processors have no limit");
        if host == Host::Groups {
            assert_eq!((cpus.value, cpus.by.is_cgroup()), (0.5, true), "{cpus:?}");
            return;
        }
        assert_eq!((cpus.value, cpus.by.as_str()), (1.0, "affinity"), "{host:?}");
        let own = "import os; print(len(os.sched_getaffinity(0)))";
        assert_eq!(guest.out(&format!("python3 -c '{own}'")).await, "1", "{host:?}");
        assert_eq!(guest.python(own).await["stdout"], "1\n", "{host:?}");
        let more = "import os\ntry: os.sched_setaffinity(0, range(1024)); print('BREACH')\nexcept OSError as e: print(e.errno)";
        assert_eq!(guest.python(more).await["stdout"], "1\n", "{host:?}");
        // A crowd of them stands back, and none can step forward.
        assert_eq!(guest.out("nice; nice -n -5 nice 2>/dev/null").await, "10\n10", "{host:?}");
        // A neighbour has another one, where there is one.
        let other = host.sandbox_with(|options| options.limits.cpus = 0.5).await;
        let which = "import os; print(*os.sched_getaffinity(0))";
        let (first, second) = (guest.python(which).await, other.python(which).await);
        let alone = std::thread::available_parallelism().unwrap().get() == 1;
        assert!(alone || first["stdout"] != second["stdout"], "{host:?}: {first} {second}");
    })
    .await;
}
