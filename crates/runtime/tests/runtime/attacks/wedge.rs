//! Guests that want Ship to stand still: whatever they stop, kill, hold or use up, every call is answered in its time, and
//! when they are gone everything works.

use std::time::{Duration, Instant};

use hyper::Method;
use serde_json::{Value, json};

use crate::hosts::{Host, on_every_host};
use crate::support::{Lateness, PATIENCE, Sandbox, until};

/// The promise.
const OVERTIME: Duration = Duration::from_secs(1);

/// A machine that makes this very process wait for a processor makes Ship wait, too, and each of those through whose hands
/// a call goes.
const HANDS: u32 = 4;

/// What every attack starts with.
const TOOLS: &str = r"
import ctypes, os, resource, signal, socket, sys, threading, time
libc = ctypes.CDLL(None, use_errno=True)
own = os.getpid()
end = time.time() + float(sys.argv[1] if len(sys.argv) > 1 else 30)
def send(number, pid):
    try: os.kill(pid, number)
    except OSError: pass
def last():
    pid = os.fork()
    if pid == 0: os._exit(0)
    os.waitpid(pid, 0)
    return pid
def others(): return [int(n) for n in os.listdir('/proc') if n.isdigit() and int(n) not in (1, own)]
";

/// Attacks that go on beside the calls of somebody else. Each is bounded in number and time.
const BESIDE: &[(&str, &str)] = &[
    (
        "stop the next four, by the last number in /proc/loadavg",
        "while time.time() < end:\n  n = int(open('/proc/loadavg').read().split()[-1])\n  for p in range(n + 1, n + 5):\n    if p != own: send(19, p)",
    ),
    (
        "stop the next ones, by a fork",
        "while time.time() < end:\n  n = last()\n  for _ in range(200):\n    for p in range(n + 1, n + 9): send(19, p)",
    ),
    ("stop everybody, by a look at /proc", "while time.time() < end:\n  for p in others(): send(19, p)"),
    (
        "stop every number there is",
        "while time.time() < end:\n  for p in range(2, 3000):\n    if p != own: send(19, p)",
    ),
    ("kill whoever comes", "while time.time() < end:\n  for p in others(): send(9, p)"),
    (
        "kill and stop everybody at once",
        "while time.time() < end:\n  signal.signal(18, signal.SIG_IGN)\n  libc.kill(-1, 19)\n  send(18, own)\n  time.sleep(.01)\n  [send(9, p) for p in others()]",
    ),
    ("bury Ship in signals", "while time.time() < end:\n  for n in range(1, 65): send(n, 1)"),
    ("bury Ship in queued signals", "while time.time() < end:\n  for n in (17, 34, 40, 64): libc.sigqueue(1, n, None)"),
    (
        "stop Ship's threads one by one",
        "while time.time() < end:\n  for t in range(1, 40):\n    if t != own: libc.syscall(234, 1, t, 19); libc.syscall(200, t, 19)",
    ),
    (
        "use up all processes",
        "for _ in range(400):\n  try:\n    if os.fork() == 0: time.sleep(max(0, end - time.time())); os._exit(0)\n  except OSError: break\ntime.sleep(max(0, end - time.time()))",
    ),
    (
        "a fork bomb that stops its neighbours",
        "while time.time() < end:\n  try: os.fork()\n  except OSError: pass\n  for p in range(os.getpid() - 20, os.getpid() + 20):\n    if p > 1 and p != os.getpid(): send(19, p)",
    ),
    (
        "busy everywhere",
        "for _ in range(60):\n  try:\n    if os.fork() == 0: break\n  except OSError: break\nwhile time.time() < end: pass",
    ),
    (
        "hold all connections of the inner port",
        "held = []\nwhile time.time() < end:\n  try:\n    s = socket.create_connection(('127.0.0.1', 8123), 1); held.append(s)\n    s.send(b'GET /health HTTP/1.1\\r\\n')\n  except OSError: time.sleep(.05)\n  if len(held) > 500: held.clear()",
    ),
    (
        "ask for health without an end",
        "import urllib.request\nwhile time.time() < end:\n  try: urllib.request.urlopen('http://127.0.0.1:8123/health', timeout=3).read()\n  except OSError: pass",
    ),
];

async fn put(sandbox: &Sandbox, name: &str, code: &str) {
    let content = format!("{TOOLS}{code}\n");
    sandbox.ok("/fs/write_file", json!({"path": name, "content": content})).await;
}

/// Asks, and insists on an answer in time, whatever it is.
async fn in_time(sandbox: &Sandbox, what: &str, path: &str, body: Value, timeout: Duration) -> Value {
    let (begin, lateness) = (Instant::now(), Lateness::look());
    let asked = sandbox.ship.json(Method::POST, path, Some(&body), PATIENCE).await;
    let took = begin.elapsed();
    let late = lateness.worst();
    let (_, answer) = asked.unwrap_or_else(|error| panic!("{what}: {path}: {error}"));
    println!("{what}: {path} after {took:?}; this machine is {late:?} late");
    assert!(took < timeout + OVERTIME + late * HANDS, "{what}: {path} took {took:?}: {answer}");
    answer
}

/// Everything works.
async fn well(sandbox: &Sandbox, what: &str) {
    until(&format!("everything works after: {what}"), || async {
        let (status, health) = sandbox.get("/health").await;
        status.is_success() && health["status"] == "healthy"
    })
    .await;
    assert_eq!(sandbox.out("echo fine | cat").await, "fine", "{what}");
    let python = sandbox.python("6 * 7").await;
    assert_eq!(python["stdout"], "42\n", "{what}: {python}");
    let javascript = sandbox.ok("/javascript/exec", json!({"code": "return 3"})).await;
    assert_eq!(javascript["data"]["result"], 3, "{what}: {javascript}");
}

#[tokio::test]
async fn calls_are_answered_in_time_beside_an_attack() {
    on_every_host("attacks::wedge::calls_are_answered_in_time_beside_an_attack", async |host| {
        let sandbox = small(host).await;
        sandbox.ok("/javascript/exec", json!({"code": "return 1"})).await;
        for (what, code) in BESIDE {
            put(&sandbox, "attack.py", code).await;
            let body = json!({"command": "exec python3 attack.py 60", "background": true});
            let job = sandbox.ok("/shell/exec", body).await["process_id"].as_str().unwrap().to_owned();
            let second = Duration::from_secs(1);
            for _ in 0..2 {
                let body = json!({"command": "echo hi | cat; sleep 0.2", "timeout": 1});
                in_time(&sandbox, what, "/shell/exec", body, second).await;
            }
            in_time(&sandbox, what, "/ipython/exec", json!({"code": "1 + 1", "timeout": 1}), second).await;
            let answer =
                in_time(&sandbox, what, "/javascript/exec", json!({"code": "return 1", "timeout": 1}), second).await;
            println!("{what}: {}", answer["data"]);
            let listed = in_time(&sandbox, what, "/fs/list_dir", json!({}), second).await;
            assert!(listed["files"].as_array().is_some_and(|files| !files.is_empty()), "{what}: {listed}");
            in_time(&sandbox, what, &format!("/shell/processes/{job}/kill"), json!({}), second).await;
            well(&sandbox, what).await;
            assert_eq!(sandbox.out("pgrep -fc '[a]ttack.py' || true").await, "0", "{what}: somebody is left");
        }
    })
    .await;
}

async fn small(host: Host) -> Sandbox {
    host.sandbox_with(|options| options.limits.processes = 100).await
}

/// Commands that want to outlive their time-out; `MARK` is the word by which what they leave is known.
const OUTLIVING: &[(&str, &str)] = &[
    ("a plain one", "sleep MARK"),
    ("in the background of a shell", "sleep MARK & sleep MARK & wait"),
    ("in sessions of their own", "setsid setsid sleep MARK & setsid -f sleep MARK; sleep MARK"),
    (
        "forked twice",
        "PY if os.fork() == 0:\n  os.setsid()\n  if os.fork() == 0: os.execvp('sleep', ['sleep', 'MARK'])\n  os._exit(0)\ntime.sleep(99)",
    ),
    ("stopped by itself", "PY if os.fork() == 0: os.execvp('sleep', ['sleep', 'MARK'])\nos.kill(own, 19)"),
    (
        "deaf",
        "PY for n in set(range(1, 65)) - {9, 19, 32, 33}: signal.signal(n, signal.SIG_IGN)\nos.spawnvp(os.P_NOWAIT, 'sleep', ['sleep', 'MARK'])\nwhile True: time.sleep(9)",
    ),
    (
        "a chain that forks and ends",
        "PY if os.fork(): time.sleep(99)\nos.spawnvp(os.P_NOWAIT, 'sleep', ['sleep', 'MARK'])\nfor _ in range(200000):\n  if os.fork(): os._exit(0)",
    ),
    (
        "many chains",
        "PY for _ in range(8):\n  if os.fork() == 0: break\nelse: time.sleep(99)\nos.spawnvp(os.P_NOWAIT, 'sleep', ['sleep', 'MARK'])\nfor _ in range(200000):\n  try:\n    if os.fork(): os._exit(0)\n  except OSError: pass",
    ),
    ("a fork bomb", ":(){ :|:& };:; sleep MARK & sleep MARK"),
    ("a fork bomb of programs", "while true; do sleep MARK & done"),
    (
        "its first thread ends, others fork",
        "PY def bomb():\n  while True:\n    try:\n      if os.fork() == 0: os.execvp('sleep', ['sleep', 'MARK'])\n    except OSError: time.sleep(.01)\nfor _ in range(3): threading.Thread(target=bomb).start()\nlibc.syscall(60, 0)",
    ),
    (
        "its mark lowered",
        "PY for kind in (10, 15):\n  if os.fork() == 0:\n    resource.setrlimit(kind, (0, 0)); os.setsid(); os.execvp('sleep', ['sleep', 'MARK'])\nresource.setrlimit(10, (5, 5)); resource.setrlimit(15, (5, 5))\nos.execvp('sleep', ['sleep', 'MARK'])",
    ),
    (
        "its mark lowered by one",
        "PY for kind in (10, 15):\n  if os.fork() == 0:\n    n = resource.getrlimit(kind)[1] - (1 << 20); resource.setrlimit(kind, (n, n)); os.setsid(); os.execvp('sleep', ['sleep', 'MARK'])\ntime.sleep(99)",
    ),
    (
        "in the middle of a start that does not end",
        "mkfifo pipe-MARK; PY import subprocess\nif os.fork() == 0:\n  os.posix_spawnp('sleep', ['sleep', '1'], os.environ, file_actions=[(os.POSIX_SPAWN_OPEN, 0, 'pipe-MARK', os.O_RDONLY, 0)])\nos.execvp('sleep', ['sleep', 'MARK'])",
    ),
    ("its output closed", "exec >&- 2>&-; sleep MARK & exec sleep MARK"),
    ("its output kept by others", "setsid -f sleep MARK; exec sleep MARK"),
    (
        "wakes up whom we stop",
        "PY for _ in range(20):\n  if os.fork() == 0:\n    while True:\n      for p in range(max(2, own - 30), own + 60): send(18, p)\nos.execvp('sleep', ['sleep', 'MARK'])",
    ),
];

#[tokio::test]
async fn nobody_outlives_a_time_out_that_says_so() {
    on_every_host("attacks::wedge::nobody_outlives_a_time_out_that_says_so", async |host| {
        let sandbox = small(host).await;
        // Somebody else's, in the background by the interface: it stays.
        sandbox.ok("/shell/exec", json!({"command": "exec sleep 777", "background": true})).await;
        for (number, (what, command)) in OUTLIVING.iter().enumerate() {
            let mark = (8000 + number).to_string();
            let command = command.replace("MARK", &mark);
            let command = match command.split_once("PY ") {
                None => command,
                Some((before, code)) => {
                    put(&sandbox, "attack.py", code).await;
                    format!("{before} exec python3 attack.py")
                }
            };
            let body = json!({"command": command, "timeout": 1});
            let answer = in_time(&sandbox, what, "/shell/exec", body, Duration::from_secs(1)).await;
            assert_eq!(answer["timed_out"], true, "{what}: {answer}");
            let said = answer["error"].as_str().unwrap();
            assert!(said.contains("whole process tree was ended"), "{what}: {said}");
            let left =
                sandbox.out(&format!("ps -eo pid,stat,args | grep -E '{mark}|[a]ttack' | grep -v grep || true")).await;
            assert_eq!(left, "", "{what}");
        }
        assert_eq!(sandbox.out("pgrep -fc '^sleep 777'").await, "1");
        well(&sandbox, "all of them").await;
    })
    .await;
}

/// What a guest may not do to Ship, whose user it has: each prints `held`.
const HELD: &[(&str, &str)] = &[
    ("no files", "libc.prlimit(1, 7, (ctypes.c_ulong * 2)(0, 0), None)"),
    ("no processor time", "libc.prlimit(1, 0, (ctypes.c_ulong * 2)(0, 0), None)"),
    ("no memory", "libc.prlimit(1, 9, (ctypes.c_ulong * 2)(0, 0), None)"),
    ("no processes", "libc.prlimit(1, 6, (ctypes.c_ulong * 2)(0, 0), None)"),
    ("no writing", "libc.prlimit(1, 1, (ctypes.c_ulong * 2)(0, 0), None)"),
    ("the lowest priority", "libc.setpriority(0, 1, 19)"),
    ("the lowest priority for all of its user", "libc.setpriority(2, 0, 19)"),
    ("idle", "libc.sched_setscheduler(1, 5, (ctypes.c_int * 1)(0))"),
    ("batch", "libc.sched_setscheduler(1, 3, (ctypes.c_int * 1)(0))"),
    ("one processor", "libc.sched_setaffinity(1, 8, (ctypes.c_ulong * 1)(1))"),
    ("idle by attributes", "libc.syscall(314, 1, (ctypes.c_uint * 12)(48, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0), 0)"),
    ("the disk last", "libc.syscall(251, 1, 1, 3 << 13)"),
    ("the disk last for all of its user", "libc.syscall(251, 3, 1000, 3 << 13)"),
    ("trace", "libc.ptrace(16, 1, 0, 0)"),
    (
        "another's limits",
        "pid = os.fork()\nif pid == 0: time.sleep(5)\nlibc.prlimit(pid, 7, (ctypes.c_ulong * 2)(0, 0), None)",
    ),
    ("a process group of its own", "libc.setpgid(1, 0)"),
    ("more than before", "libc.prlimit(0, 15, (ctypes.c_ulong * 2)(2**63, 2**63), None)"),
];

/// Ship's other threads, and what serves JavaScript, are as far away as Ship itself.
#[tokio::test]
async fn nothing_that_serves_calls_can_be_touched() {
    on_every_host("attacks::wedge::nothing_that_serves_calls_can_be_touched", async |host| {
        let sandbox = small(host).await;
        sandbox.ok("/javascript/exec", json!({"code": "globalThis.kept = 1; return 1", "session": true})).await;
        for (what, code) in HELD {
            let (before, call) = code.rsplit_once('\n').map_or(("", *code), |(before, call)| (before, call));
            put(&sandbox, "attack.py", &format!("{before}\nprint('held' if {call} == -1 else 'BREACH')")).await;
            assert_eq!(sandbox.out("exec python3 attack.py").await, "held", "{what}");
        }
        let threads = "threads = [int(t) for t in os.listdir('/proc/1/task')]\nprint(len(threads) > 5)\n\
            for t in threads:\n  for call in (libc.setpriority(0, t, 19), libc.sched_setscheduler(t, 5, (ctypes.c_int * 1)(0)), libc.sched_setaffinity(t, 8, (ctypes.c_ulong * 1)(1))):\n    if call != -1: print('BREACH', t)";
        put(&sandbox, "attack.py", threads).await;
        assert_eq!(sandbox.out("exec python3 attack.py").await, "True");
        let scoped = sandbox.cell.walls().walls.iter().any(|wall| wall.name == "signal-scope" && wall.detail.starts_with("guests can signal guests only"));
        assert!(scoped, "this kernel is too old (before Linux 6.12) to keep guests from the process that runs JavaScript");
        let room = "import subprocess\nrooms = subprocess.run(['pgrep', '-f', '__javas[c]ript|cove-w[o]rker'], capture_output=True, text=True).stdout.split()\nprint(len(rooms) > 1)\nfor pid in map(int, rooms):\n  for n in (9, 19, 15, 2):\n    try: os.kill(pid, n); print('BREACH', pid, n)\n    except PermissionError: pass\n  if libc.prlimit(pid, 0, (ctypes.c_ulong * 2)(0, 0), None) != -1: print('BREACH')";
        put(&sandbox, "attack.py", room).await;
        assert_eq!(sandbox.out("exec python3 attack.py").await, "True");
        let kept = sandbox.ok("/javascript/exec", json!({"code": "kept", "session": true})).await;
        assert_eq!(kept["data"]["result"], 1, "{kept}");
        // What one command leaves running, another one can end.
        assert_eq!(sandbox.out("sleep 4321 & echo left").await, "left");
        assert_eq!(sandbox.out("pkill -f '^sleep 4321' && echo ended").await, "ended");
        well(&sandbox, "all of it").await;
    })
    .await;
}

/// From inside there are `/health` and `/meta`, and nothing that does anything.
#[tokio::test]
async fn the_inner_port_does_nothing() {
    on_every_host("attacks::wedge::the_inner_port_does_nothing", async |host| {
        let sandbox = small(host).await;
        sandbox.python("kept = 1").await;
        let asked = r#"
import json, urllib.request as u
def ask(path, body=None):
    try: return u.urlopen(u.Request('http://127.0.0.1:8123' + path, body and json.dumps(body).encode()), timeout=20).status
    except u.HTTPError as error: return error.code
print([ask(p) for p in ('/health', '/meta')])
print({ask(p, {'command': 'true', 'code': '1', 'path': 'x', 'content': 'x'}) for p in ('/shell/exec', '/ipython/exec', '/ipython/kernel/restart', '/javascript/exec', '/javascript/reset', '/fs/write_file', '/fs/delete_file', '/fs/tool', '/fs/upload', '/upload', '/shell/processes/x/kill')})
print({ask(p) for p in ('/shell/processes', '/shell/cwd', '/fs/download?path=x', '/term/ws', '/ipython/kernel/status', '/')})
"#;
        put(&sandbox, "ask.py", asked).await;
        assert_eq!(sandbox.out("exec python3 ask.py").await, "[200, 200]\n{404}\n{404}");
        assert_eq!(sandbox.python("kept").await["stdout"], "1\n");
    })
    .await;
}

/// When nothing can be run, `/health` says so, and says it in time.
#[tokio::test]
async fn health_is_about_work() {
    let sandbox = crate::support::sandbox().await;
    assert_eq!(sandbox.get("/health").await.1["status"], "healthy");
    put(&sandbox, "attack.py", "while time.time() < end:\n  for p in others(): send(19, p)").await;
    let body = json!({"command": "exec python3 attack.py 60", "background": true});
    let job = sandbox.ok("/shell/exec", body).await["process_id"].as_str().unwrap().to_owned();
    // The attacker has to win against a program that ends at once, so it is asked until he has.
    until("nothing can be run any more", || async {
        let begin = Instant::now();
        let (status, health) = sandbox.get("/health").await;
        assert!(begin.elapsed() < Duration::from_secs(15), "{:?}", begin.elapsed());
        match status.as_u16() {
            200 => false,
            503 => {
                assert_eq!(health["status"], "unhealthy", "{health}");
                true
            }
            other => panic!("{other}: {health}"),
        }
    })
    .await;
    sandbox.ok(&format!("/shell/processes/{job}/kill"), json!({})).await;
    well(&sandbox, "everybody was stopped").await;
}
