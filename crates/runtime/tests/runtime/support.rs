//! A sandbox for a test: a cargo, a cell, a client; all of it gone when the test is.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use cove_cell::{CellMount, CellOptions, LocalCell};
use cove_runtime_api::RuntimeClient;
use cove_testkit::processes;
pub(crate) use cove_testkit::{PATIENCE, until};
use hyper::{Method, StatusCode};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};
use serde_json::{Value, json};
use tempfile::TempDir;

/// Names another place of the program that is a sandbox's first process.
pub(crate) const SHIP: &str = "COVE_TEST_SHIP";

pub(crate) struct Sandbox {
    pub(crate) cell: LocalCell,
    _gone: Gone,
    pub(crate) ship: RuntimeClient,
    pub(crate) cargo: TempDir,
    _sockets: TempDir,
}

/// Starts a sandbox; `change` may change what it is.
pub(crate) async fn sandbox_with(change: impl FnOnce(&mut CellOptions)) -> Sandbox {
    let cargo = tempfile::tempdir().unwrap();
    let sockets = tempfile::tempdir().unwrap();
    let program = std::env::var_os(SHIP).unwrap_or_else(|| env!("CARGO_BIN_EXE_cove-ship").into());
    let mut options = CellOptions::new(program, cargo.path(), sockets.path());
    change(&mut options);
    let cell = LocalCell::start(options).await.unwrap();
    let ship = RuntimeClient::new(cell.socket());
    let gone = Gone::of(&cell);
    Sandbox { cell, _gone: gone, ship, cargo, _sockets: sockets }
}

/// Waits, once the cell has been dropped, until its supervisor has ended everything: a test must not end before, or
/// whoever runs it sees processes that it has left.
struct Gone(rustix::fd::OwnedFd);

impl Gone {
    fn of(cell: &LocalCell) -> Self {
        let pid = cell.pid().and_then(|pid| Pid::from_raw(pid.cast_signed())).unwrap();
        Self(pidfd_open(pid, PidfdFlags::empty()).unwrap())
    }
}

impl Drop for Gone {
    fn drop(&mut self) {
        let limit = Timespec { tv_sec: 60, tv_nsec: 0 };
        let _ = poll(&mut [PollFd::new(&self.0, PollFlags::IN)], Some(&limit));
    }
}

pub(crate) async fn sandbox() -> Sandbox {
    sandbox_with(|_| {}).await
}

/// A sandbox whose Python has IPython, numpy, matplotlib and pillow.
pub(crate) async fn rich_sandbox() -> Sandbox {
    rich_sandbox_with(|_| {}).await
}

pub(crate) async fn rich_sandbox_with(change: impl FnOnce(&mut CellOptions)) -> Sandbox {
    let venv = venv();
    sandbox_with(|options| {
        change(options);
        options.mounts.push(CellMount { host: venv, inside: "/opt/python".into() });
        options.env.push(("PATH".to_owned(), "/opt/python/bin:/usr/local/bin:/usr/bin:/bin".to_owned()));
    })
    .await
}

fn venv() -> PathBuf {
    let venv = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.tools/venv");
    assert!(venv.join("bin/python3").exists(), "there is no Python environment: run scripts/setup");
    venv
}

impl Sandbox {
    pub(crate) async fn post(&self, path: &str, body: Value) -> (StatusCode, Value) {
        self.ship.json(Method::POST, path, Some(&body), PATIENCE).await.unwrap()
    }

    pub(crate) async fn get(&self, path: &str) -> (StatusCode, Value) {
        self.ship.json(Method::GET, path, None, PATIENCE).await.unwrap()
    }

    /// Posts what must succeed.
    pub(crate) async fn ok(&self, path: &str, body: Value) -> Value {
        let (status, answer) = self.post(path, body.clone()).await;
        assert_eq!(status, StatusCode::OK, "{path} {body}: {answer}");
        answer
    }

    /// Posts what must be refused; the refusal must have this status and code, and say something.
    pub(crate) async fn refused(&self, path: &str, body: Value, status: u16, code: &str) {
        let (got, answer) = self.post(path, body.clone()).await;
        assert_eq!((got.as_u16(), answer["error"]["code"].as_str()), (status, Some(code)), "{path} {body}: {answer}");
        assert!(answer["error"]["message"].as_str().is_some_and(|message| message.len() > 5), "{answer}");
        assert!(!answer["detail"].is_null(), "{answer}");
    }

    pub(crate) async fn shell(&self, command: &str) -> Value {
        self.ok("/shell/exec", json!({"command": command})).await
    }

    /// What a command prints; it must succeed.
    pub(crate) async fn out(&self, command: &str) -> String {
        let answer = self.shell(command).await;
        assert_eq!(answer["return_code"], 0, "{command}: {answer}");
        answer["stdout"].as_str().unwrap().trim_end().to_owned()
    }

    /// Sends a signal from outside to the processes of this sandbox whose command line has this word.
    pub(crate) fn signal(&self, word: &str, signal: Signal) {
        let space = |pid: u32| std::fs::read_link(format!("/proc/{pid}/ns/pid")).ok();
        let own = space(self.cell.walls().init_pid).unwrap();
        let mut found = 0;
        for pid in processes::all() {
            if space(pid).as_ref() == Some(&own) && processes::command_line(pid).contains(word) {
                kill_process(Pid::from_raw(pid.cast_signed()).unwrap(), signal).unwrap();
                found += 1;
            }
        }
        assert!(found > 0, "nobody has {word:?} on his command line");
    }

    pub(crate) async fn python(&self, code: &str) -> Value {
        self.ok("/ipython/exec", json!({"code": code})).await
    }
}

/// This very test binary once more, with one test in another role.
pub(crate) struct Again {
    pub(crate) child: tokio::process::Child,
    /// None where it prints where we do.
    lines: Option<tokio::io::Lines<tokio::io::BufReader<tokio::process::ChildStdout>>>,
}

pub(crate) fn again(test: &str, change: impl FnOnce(&mut tokio::process::Command)) -> Again {
    again_at(&std::env::current_exe().unwrap(), test, change)
}

#[allow(clippy::disallowed_methods, reason = "a test's child, killed when the test ends")]
pub(crate) fn again_at(program: &Path, test: &str, change: impl FnOnce(&mut tokio::process::Command)) -> Again {
    use tokio::io::AsyncBufReadExt;
    let mut command = tokio::process::Command::new(program);
    command.args(["--exact", test, "--nocapture", "--test-threads=1"]);
    command.stdout(std::process::Stdio::piped()).kill_on_drop(true);
    change(&mut command);
    let mut child = command.spawn().unwrap();
    let lines = child.stdout.take().map(|output| tokio::io::BufReader::new(output).lines());
    Again { child, lines }
}

impl Again {
    /// The first line that begins so.
    pub(crate) async fn line_with(&mut self, start: &str) -> String {
        let found = async {
            let lines = self.lines.as_mut().expect("its output is read");
            while let Some(line) = lines.next_line().await.unwrap() {
                if line.starts_with(start) {
                    return line;
                }
            }
            panic!("the other has ended without saying {start}");
        };
        tokio::time::timeout(PATIENCE, found).await.unwrap()
    }
}

/// Looks how late a timer of this process is at the worst: how long the machine makes everybody wait for a processor.
pub(crate) struct Lateness {
    worst_us: Arc<AtomicU64>,
    going: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Lateness {
    #[allow(clippy::disallowed_methods, reason = "how long a pause takes is what is measured")]
    pub(crate) fn look() -> Self {
        const PAUSE: Duration = Duration::from_millis(5);
        let (worst_us, going) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(true)));
        let (worst, goes_on) = (Arc::clone(&worst_us), Arc::clone(&going));
        let thread = std::thread::spawn(move || {
            while goes_on.load(Ordering::Relaxed) {
                let begin = Instant::now();
                std::thread::sleep(PAUSE);
                let late = begin.elapsed().saturating_sub(PAUSE);
                worst.fetch_max(u64::try_from(late.as_micros()).unwrap(), Ordering::Relaxed);
            }
        });
        Self { worst_us, going, thread }
    }

    pub(crate) fn worst(self) -> Duration {
        self.going.store(false, Ordering::Relaxed);
        self.thread.join().unwrap();
        Duration::from_micros(self.worst_us.load(Ordering::Relaxed))
    }
}
