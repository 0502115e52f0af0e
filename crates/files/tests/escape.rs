//! Tries to read or write outside of the workspace; none may succeed, with either resolver.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use cove_files::{FileTool, Resolver, Stop, Workspace};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde_json::{Value, json};

const SECRET: &str = "TOP-SECRET-CONTENT";

struct Stage {
    dir: tempfile::TempDir,
}

impl Stage {
    /// `outside/` holds secrets, `workspace/` holds files and every kind of way out.
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let stage = Self { dir };
        let (out, ws) = (stage.outside(), stage.workspace());
        for folder in [&out, &ws, &out.join("deep"), &ws.join("sub/deep"), &ws.join("real")] {
            std::fs::create_dir_all(folder).unwrap();
        }
        for file in [out.join("secret.txt"), out.join("deep/secret.txt"), out.join("a.txt")] {
            std::fs::write(file, format!("{SECRET}\n")).unwrap();
        }
        for file in [ws.join("a.txt"), ws.join("sub/a.txt"), ws.join("real/a.txt")] {
            std::fs::write(file, "inside\n").unwrap();
        }
        let link = |target: &Path, name: &str| symlink(target, ws.join(name)).unwrap();
        link(&out, "out-abs");
        link(Path::new("../outside"), "out-rel");
        link(Path::new(".."), "up");
        link(Path::new("sub/../../outside"), "out-winding");
        link(Path::new("out-rel"), "out-chain");
        link(&out.join("secret.txt"), "secret-abs");
        link(Path::new("../outside/secret.txt"), "secret-rel");
        link(Path::new("secret-rel"), "secret-chain");
        link(Path::new("/proc/self/root/etc/passwd"), "proc-root");
        link(Path::new("/proc/self/cwd"), "proc-cwd");
        link(Path::new("/dev/zero"), "zero");
        link(Path::new("/"), "slash");
        link(Path::new("loop-b"), "loop-a");
        link(Path::new("loop-a"), "loop-b");
        link(&out.join("not-there-yet.txt"), "dangling-out");
        symlink("../../outside", ws.join("sub/out-two-up")).unwrap();
        symlink("../../../outside/secret.txt", ws.join("sub/deep/secret")).unwrap();
        stage
    }

    fn outside(&self) -> std::path::PathBuf {
        self.dir.path().join("outside")
    }

    fn workspace(&self) -> std::path::PathBuf {
        self.dir.path().join("workspace")
    }

    fn open(&self, resolver: Resolver) -> Workspace {
        Workspace::open(self.workspace()).unwrap().with_resolver(resolver)
    }

    /// Everything outside, by path and content: it must never change.
    fn outside_now(&self) -> Vec<(String, String)> {
        let mut files = Vec::new();
        let mut folders = vec![self.outside()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    files.push((path.display().to_string(), std::fs::read_to_string(&path).unwrap()));
                }
            }
        }
        files.sort();
        files
    }
}

fn call(workspace: &Workspace, tool: &str, args: Value) -> Result<String, &'static str> {
    let tool = FileTool::from_name(tool).unwrap();
    workspace.call(tool, args, &Stop::default()).map(|r| r.to_json().to_string()).map_err(|error| {
        assert!(!error.message.contains(SECRET), "the error tells the secret: {error}");
        error.code
    })
}

/// Paths that must not be reached, each tried with every tool that takes a path.
const PATHS: &[&str] = &[
    "..",
    "../outside/secret.txt",
    "sub/../../outside/secret.txt",
    "./../outside/secret.txt",
    "sub/deep/../../../outside/secret.txt",
    "/etc/passwd",
    "/workspace/../etc/passwd",
    "/workspace/../../outside/secret.txt",
    "//etc/passwd",
    "@/etc/passwd",
    "@../outside/secret.txt",
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
    "sub/deep/secret",
    "secret-abs",
    "secret-rel",
    "secret-chain",
    "proc-root",
    "proc-cwd/a.txt",
    "zero",
    "slash/etc/passwd",
    "loop-a",
    "loop-a/x",
    "dangling-out",
    "out-rel/new.txt",
    "out-abs/new/deep.txt",
    "\u{a0}/../../outside/secret.txt",
    "sub/./.././../outside/secret.txt",
    "out-rel/../outside/secret.txt/../../../outside/secret.txt",
];

#[test]
fn no_path_leads_out() {
    assert!(PATHS.len() + 10 >= 40);
    for resolver in [Resolver::Kernel, Resolver::Steps] {
        let stage = Stage::new();
        let before = stage.outside_now();
        let workspace = stage.open(resolver);
        for path in PATHS {
            for (tool, args) in [
                ("read", json!({"path": path})),
                ("write", json!({"path": path, "content": "overwritten"})),
                ("edit", json!({"path": path, "oldText": SECRET, "newText": "overwritten"})),
                ("edit", json!({"path": path, "edits": [{"oldText": "root", "newText": "toor"}]})),
                ("grep", json!({"pattern": ".", "path": path})),
                ("find", json!({"pattern": "*", "path": path})),
                ("ls", json!({"path": path})),
            ] {
                let result = call(&workspace, tool, args.clone());
                assert_eq!(result.clone().err(), Some("invalid_path"), "{resolver:?} {tool}({args}): {result:?}");
            }
        }
        assert_eq!(stage.outside_now(), before, "{resolver:?}");
    }
}

/// Searching everything does not search what symlinks point to, and lists them as what they are.
#[test]
fn searches_do_not_follow_symlinks() {
    for resolver in [Resolver::Kernel, Resolver::Steps] {
        let stage = Stage::new();
        let workspace = stage.open(resolver);
        assert!(call(&workspace, "grep", json!({"pattern": SECRET})).unwrap().contains("No matches found"));
        let found = call(&workspace, "find", json!({"pattern": "*secret*"})).unwrap();
        assert!(!found.contains("outside") && !found.contains("secret.txt"), "{found}");
        let listed = call(&workspace, "ls", json!({})).unwrap();
        assert!(listed.contains("out-abs\\n") && !listed.contains("out-abs/"), "{listed}");
        // A .gitignore from outside decides nothing inside, not even by its effects.
        std::fs::write(stage.outside().join("rules"), "a.txt\n").unwrap();
        symlink(stage.outside().join("rules"), stage.workspace().join(".gitignore")).unwrap();
        assert!(call(&workspace, "find", json!({"pattern": "a.txt"})).unwrap().contains("real/a.txt"));
    }
}

/// Symlinks that stay inside are followed, for reading and for writing.
#[test]
fn symlinks_inside_work() {
    for resolver in [Resolver::Kernel, Resolver::Steps] {
        let stage = Stage::new();
        let ws = stage.workspace();
        symlink("real", ws.join("good")).unwrap();
        symlink("../real/a.txt", ws.join("sub/good.txt")).unwrap();
        symlink("../sub/good.txt", ws.join("real/chain.txt")).unwrap();
        symlink("real/new.txt", ws.join("dangling")).unwrap();
        let workspace = stage.open(resolver);
        for path in ["good/a.txt", "sub/good.txt", "real/chain.txt", "good/chain.txt"] {
            let read = call(&workspace, "read", json!({"path": path}));
            assert!(read.as_ref().is_ok_and(|text| text.contains("inside")), "{resolver:?} {path}: {read:?}");
        }
        call(&workspace, "edit", json!({"path": "good/chain.txt", "oldText": "inside", "newText": "edited"})).unwrap();
        assert_eq!(std::fs::read_to_string(ws.join("real/a.txt")).unwrap(), "edited\n");
        assert!(ws.join("sub/good.txt").is_symlink() && ws.join("real/chain.txt").is_symlink());
        call(&workspace, "write", json!({"path": "dangling", "content": "made"})).unwrap();
        assert_eq!(std::fs::read_to_string(ws.join("real/new.txt")).unwrap(), "made");
        assert!(call(&workspace, "ls", json!({})).unwrap().contains("good/"));
        assert!(
            call(&workspace, "grep", json!({"pattern": "edited", "path": "good"})).unwrap().contains("good/a.txt:1")
        );
    }
}

/// While another thread swaps a folder for a symlink to the outside and back, every tool works inside or not at all.
#[test]
fn a_symlink_swapping_racer_gains_nothing() {
    for (resolver, target) in [
        (Resolver::Kernel, "../outside"),
        (Resolver::Kernel, "<absolute>"),
        (Resolver::Steps, "../outside"),
        (Resolver::Steps, "<absolute>"),
    ] {
        let stage = Stage::new();
        let before = stage.outside_now();
        let (ws, out) = (stage.workspace(), stage.outside());
        symlink(if target == "<absolute>" { out.as_path() } else { Path::new(target) }, ws.join("swap")).unwrap();
        let workspace = stage.open(resolver);
        let done = AtomicBool::new(false);
        let swaps = AtomicU64::new(0);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    renameat_with(CWD, ws.join("real"), CWD, ws.join("swap"), RenameFlags::EXCHANGE).unwrap();
                    swaps.fetch_add(1, Ordering::Relaxed);
                }
            });
            let mut inside = 0;
            let mut rounds = 0;
            // Until both sides have had their turns: the racer has swapped, and calls have come through.
            while rounds < 60 || swaps.load(Ordering::Relaxed) < 500 || inside == 0 && rounds < 20_000 {
                rounds += 1;
                for (tool, args) in [
                    ("read", json!({"path": "real/a.txt"})),
                    ("read", json!({"path": "real/secret.txt"})),
                    ("write", json!({"path": "real/a.txt", "content": "inside\n"})),
                    ("write", json!({"path": "real/new/b.txt", "content": "inside\n"})),
                    ("edit", json!({"path": "real/a.txt", "oldText": "inside", "newText": "inside "})),
                    ("edit", json!({"path": "real/secret.txt", "oldText": SECRET, "newText": "gone"})),
                    ("grep", json!({"pattern": SECRET})),
                    ("grep", json!({"pattern": ".", "path": "real"})),
                    ("find", json!({"pattern": "*secret.txt"})),
                    ("find", json!({"pattern": "*", "path": "swap"})),
                    ("ls", json!({"path": "real"})),
                ] {
                    if let Ok(text) = call(&workspace, tool, args.clone()) {
                        assert!(!text.contains(SECRET), "{resolver:?} {tool}({args}) told the secret: {text}");
                        assert!(!text.contains("secret.txt"), "{resolver:?} {tool}({args}) told a name: {text}");
                        inside += 1;
                    }
                }
            }
            done.store(true, Ordering::Relaxed);
            assert!(inside > 0, "no call came through");
        });
        assert_eq!(stage.outside_now(), before, "{resolver:?} {target}");
    }
}

/// The workspace is the folder that was opened, not whatever has its name later.
#[test]
fn a_workspace_that_is_moved_away_stays_itself() {
    let stage = Stage::new();
    let workspace = stage.open(Resolver::Kernel);
    std::fs::rename(stage.workspace(), stage.dir.path().join("moved")).unwrap();
    symlink(stage.outside(), stage.workspace()).unwrap();
    assert!(call(&workspace, "read", json!({"path": "a.txt"})).unwrap().contains("inside"));
    call(&workspace, "write", json!({"path": "a.txt", "content": "still inside"})).unwrap();
    assert_eq!(std::fs::read_to_string(stage.outside().join("a.txt")).unwrap(), format!("{SECRET}\n"));
}
