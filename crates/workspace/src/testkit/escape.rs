//! The escape suite: one table of tries to read or write outside of a workspace, for the room itself and for every door.
//!
//! A door says what it can do with a path; the suite gives it every path that leads out, and a folder that somebody
//! swaps for a symlink while it works. None may succeed: no answer holds a secret of the outside, nothing out there
//! changes.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use rustix::fs::{CWD, RenameFlags, renameat_with};

/// What the files outside hold.
pub const SECRET: &str = "TOP-SECRET-CONTENT";

/// The code with which doors refuse a path.
pub const INVALID_PATH: &str = "invalid_path";

/// Paths that lead out of the [`Stage`]'s workspace, by their text or by a symlink.
pub const PATHS: &[&str] = &[
    "..",
    "../outside/secret.txt",
    "sub/../../outside/secret.txt",
    "./../outside/secret.txt",
    "sub/deep/../../../outside/secret.txt",
    "sub/./.././../outside/secret.txt",
    "/etc/passwd",
    "/workspace/../etc/passwd",
    "/workspace/../../outside/secret.txt",
    "//etc/passwd",
    "/proc/self/root/etc/passwd",
    "/workspacex",
    "a.txt\0.png",
    "\0",
    "out-abs/secret.txt",
    "out-rel/secret.txt",
    "out-rel/deep/secret.txt",
    "out-winding/secret.txt",
    "out-chain/secret.txt",
    "up/outside/secret.txt",
    "up/workspace/a.txt",
    "sub/out-two-up/secret.txt",
    "slash/etc/passwd",
    "proc-cwd/a.txt",
    "loop-a/x",
    "out-rel/new.txt",
    "out-abs/new/deep.txt",
    "out-rel/../outside/secret.txt/../../../outside/secret.txt",
];

/// Paths whose last name is a symlink that leads out. Whoever writes there either refuses or replaces the link.
pub const LINKS: &[&str] =
    &["sub/deep/secret", "secret-abs", "secret-rel", "secret-chain", "proc-root", "zero", "loop-a", "dangling-out"];

/// Paths that lead out as models and people write them; to others they are odd names.
pub const MODELS_PATHS: &[&str] = &["@/etc/passwd", "@../outside/secret.txt", "\u{a0}/../../outside/secret.txt"];

/// What a door answered to one call: the call's name, and what it said or the code of its refusal.
pub type Answered = (&'static str, Result<String, String>);

/// What must come of a try.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expect {
    /// It is refused as [`INVALID_PATH`].
    Refused,
    /// It may succeed, as long as it stays inside.
    Inside,
}

/// `outside/` holds secrets, `workspace/` holds files and every kind of way out.
#[derive(Debug)]
pub struct Stage {
    dir: tempfile::TempDir,
    before: Vec<(String, String)>,
}

impl Stage {
    /// Sets it up.
    #[expect(clippy::new_without_default, reason = "it makes files")]
    pub fn new() -> Self {
        let mut stage = Self { dir: tempfile::tempdir().unwrap(), before: Vec::new() };
        let (out, ws) = (stage.outside(), stage.workspace());
        for folder in [&out, &ws, &out.join("deep"), &ws.join("sub/deep"), &ws.join("real")] {
            fs::create_dir_all(folder).unwrap();
        }
        for file in [out.join("secret.txt"), out.join("deep/secret.txt"), out.join("a.txt")] {
            fs::write(file, format!("{SECRET}\n")).unwrap();
        }
        for file in [ws.join("a.txt"), ws.join("sub/a.txt"), ws.join("real/a.txt")] {
            fs::write(file, "inside\n").unwrap();
        }
        let absolute = |name: &str| out.join(name).display().to_string();
        for (name, target) in [
            ("out-abs", out.display().to_string().as_str()),
            ("out-rel", "../outside"),
            ("up", ".."),
            ("out-winding", "sub/../../outside"),
            ("out-chain", "out-rel"),
            ("secret-abs", &absolute("secret.txt")),
            ("secret-rel", "../outside/secret.txt"),
            ("secret-chain", "secret-rel"),
            ("proc-root", "/proc/self/root/etc/passwd"),
            ("proc-cwd", "/proc/self/cwd"),
            ("zero", "/dev/zero"),
            ("slash", "/"),
            ("loop-a", "loop-b"),
            ("loop-b", "loop-a"),
            ("dangling-out", &absolute("not-there-yet.txt")),
            ("sub/out-two-up", "../../outside"),
            ("sub/deep/secret", "../../../outside/secret.txt"),
        ] {
            symlink(target, ws.join(name)).unwrap();
        }
        stage.before = stage.outside_now();
        stage
    }

    /// The folder with the secrets.
    pub fn outside(&self) -> PathBuf {
        self.dir.path().join("outside")
    }

    /// The folder that is opened.
    pub fn workspace(&self) -> PathBuf {
        self.dir.path().join("workspace")
    }

    /// Gives every path to the door, which does all it can with each.
    pub fn check(&self, door: &str, paths: &[&str], expect: Expect, mut ask: impl FnMut(&str) -> Vec<Answered>) {
        for path in paths {
            for (call, answer) in ask(path) {
                let told = format!("{door}: {call} of {path:?}: {answer:?}");
                assert!(!told.contains(SECRET), "the secret is told by {told}");
                if expect == Expect::Refused {
                    assert_eq!(answer.err().as_deref(), Some(INVALID_PATH), "{told}");
                }
            }
        }
        self.assert_untouched(door);
    }

    /// While another thread swaps the folder `real` for the symlink `swap` to the outside and back, the door is asked
    /// again and again. Every answer is about the inside.
    pub fn race(&self, door: &str, mut ask: impl FnMut() -> Vec<Answered>) {
        let (ws, out) = (self.workspace(), self.outside());
        for target in [Path::new("../outside"), out.as_path()] {
            symlink(target, ws.join("swap")).unwrap();
            let done = AtomicBool::new(false);
            let swaps = AtomicU64::new(0);
            let exchange = || renameat_with(CWD, ws.join("real"), CWD, ws.join("swap"), RenameFlags::EXCHANGE);
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    while !done.load(Ordering::Relaxed) {
                        exchange().unwrap();
                        swaps.fetch_add(1, Ordering::Relaxed);
                    }
                });
                let _stop = StopOnDrop(&done);
                let (mut inside, mut rounds) = (0, 0);
                // Until both sides have had their turns: the racer has swapped, and calls have come through.
                while rounds < 60 || swaps.load(Ordering::Relaxed) < 500 || inside == 0 && rounds < 20_000 {
                    rounds += 1;
                    for (call, answer) in ask() {
                        let told = format!("{door}: {call} beside a racer: {answer:?}");
                        assert!(!told.contains(SECRET), "the secret is told by {told}");
                        assert!(answer.is_err() || !told.contains("secret.txt"), "a name is told by {told}");
                        inside += usize::from(answer.is_ok());
                    }
                }
                assert!(inside > 0, "{door}: no call came through");
            });
            if ws.join("real").is_symlink() {
                exchange().unwrap();
            }
            fs::remove_file(ws.join("swap")).unwrap();
            self.assert_untouched(door);
        }
    }

    /// Nothing outside has been changed, made or removed.
    pub fn assert_untouched(&self, door: &str) {
        assert_eq!(self.outside_now(), self.before, "{door} changed what is outside");
    }

    /// Everything outside, by path and content.
    fn outside_now(&self) -> Vec<(String, String)> {
        let mut files = Vec::new();
        let mut folders = vec![self.outside()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path.clone());
                    files.push((path.display().to_string(), String::new()));
                } else {
                    files.push((path.display().to_string(), fs::read_to_string(&path).unwrap()));
                }
            }
        }
        files.sort();
        files
    }
}

/// A failed assertion must not leave the racer running.
struct StopOnDrop<'a>(&'a AtomicBool);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
