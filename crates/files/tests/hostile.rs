//! Files and trees made to keep us busy or to fill us up, and several writers at once.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use cove_core::ToolCall;
use cove_files::{
    EditArgs, FileError, FileErrorCode, FindArgs, GrepArgs, LsArgs, ReadArgs, Stop, ToolResult, Workspace, WriteArgs,
    tool_specs,
};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::json;

fn read(workspace: &Workspace, path: &str) -> Result<ToolResult, FileError> {
    workspace.read(ReadArgs { path: path.into(), ..Default::default() })
}

fn fifo(path: &Path) {
    mknodat(CWD, path, FileType::Fifo, Mode::from_raw_mode(0o644), 0).unwrap();
}

/// The most memory this process has used so far, in bytes.
fn peak_memory() -> u64 {
    cove_testkit::processes::status_bytes(std::process::id(), "VmHWM").unwrap()
}

#[test]
fn the_first_lines_of_a_gigabyte() {
    let dir = tempfile::tempdir().unwrap();
    let workspace = Workspace::open(dir.path()).unwrap();
    let lines: String = (1..=3000).map(|n| format!("Line {n}\n")).collect();
    std::fs::write(dir.path().join("big.log"), lines).unwrap();
    std::fs::OpenOptions::new().write(true).open(dir.path().join("big.log")).unwrap().set_len(1 << 30).unwrap();
    std::fs::write(dir.path().join("line.txt"), "x".repeat(70_000)).unwrap();
    std::fs::OpenOptions::new().write(true).open(dir.path().join("line.txt")).unwrap().set_len(1 << 30).unwrap();

    let before = peak_memory();
    let start = Instant::now();
    let result = read(&workspace, "big.log").unwrap();
    let text = result.first_text();
    assert!(text.starts_with("Line 1\n") && text.contains("\nLine 2000\n\n"), "{}", &text[text.len() - 200..]);
    assert!(
        text.ends_with("[Showing lines 1-2000 of more than 3000 in a file of 1024.0MB. Use offset=2001 to continue.]"),
        "{}",
        &text[text.len() - 200..]
    );
    assert_eq!(result.details.as_ref().unwrap()["truncation"]["totalLines"], json!(null));
    let text = read(&workspace, "line.txt").unwrap();
    assert!(text.first_text().starts_with("[Line 1 is more than 16."), "{}", text.first_text());
    let grep = GrepArgs { pattern: "Line 2999".into(), ..Default::default() };
    assert_eq!(workspace.grep(grep).unwrap().first_text(), "No matches found");
    assert_eq!(workspace.edit(EditArgs::one("big.log", "a", "b")).unwrap_err().code, FileErrorCode::FileTooLarge);
    assert!(start.elapsed() < Duration::from_secs(20), "took {:?}", start.elapsed());
    assert!(peak_memory() - before < 64 << 20, "used {} bytes", peak_memory() - before);
}

#[test]
fn a_line_in_the_depth_of_a_big_file_is_found() {
    let dir = tempfile::tempdir().unwrap();
    let workspace = Workspace::open(dir.path()).unwrap();
    let lines: String = (1..=400_000).map(|n| format!("Line {n}\n")).collect();
    std::fs::write(dir.path().join("big.log"), lines).unwrap();
    let args = |offset, limit| ReadArgs { path: "big.log".into(), offset: Some(offset), limit };
    let found = workspace.read(args(399_999, None)).unwrap();
    assert_eq!(found.first_text(), "Line 399999\nLine 400000\n");
    let found = workspace.read(args(200_000, Some(2))).unwrap();
    assert_eq!(
        found.first_text(),
        "Line 200000\nLine 200001\n\n[200000 more lines in file. Use offset=200002 to continue.]"
    );
    let error = workspace.read(args(400_002, None)).unwrap_err();
    assert_eq!(error.code, FileErrorCode::OffsetBeyondEnd);
    assert!(error.message.starts_with("Offset 400002 is beyond end of file (400001 lines total)"), "{error}");
}

#[test]
fn what_is_no_file_is_refused_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let workspace = Workspace::open(dir.path()).unwrap();
    std::fs::create_dir(dir.path().join("folder")).unwrap();
    fifo(&dir.path().join("pipe"));
    fifo(&dir.path().join(".gitignore"));
    fifo(&dir.path().join("folder/.gitignore"));
    std::os::unix::fs::symlink("/dev/zero", dir.path().join("zero")).unwrap();
    std::os::unix::fs::symlink("pipe", dir.path().join("to-pipe")).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(dir.path().join("socket")).unwrap();
    std::fs::write(dir.path().join("folder/file.txt"), "needle\n").unwrap();
    for path in ["pipe", "to-pipe", "socket", "folder", "."] {
        for result in [
            read(&workspace, path),
            workspace.edit(EditArgs::one(path, "a", "b")),
            workspace.grep(GrepArgs { pattern: "x".into(), path: Some("pipe".into()), ..Default::default() }),
        ] {
            assert_eq!(result.unwrap_err().code, FileErrorCode::NotAFile, "{path}");
        }
        let written = workspace.write(WriteArgs { path: path.into(), content: "x".into() });
        let code = written.unwrap_err().code;
        assert!(code == FileErrorCode::NotAFile || path == "." && code == FileErrorCode::InvalidPath, "{path}: {code}");
    }
    assert_eq!(read(&workspace, "zero").unwrap_err().code, FileErrorCode::InvalidPath);
    assert_eq!(read(&workspace, "folder/file.txt/x").unwrap_err().code, FileErrorCode::NotADirectory);
    // A search passes by all of them.
    let grep = workspace.grep(GrepArgs { pattern: "needle".into(), ..Default::default() }).unwrap();
    assert_eq!(grep.first_text(), "folder/file.txt:1: needle");
    let found = workspace.find(FindArgs { pattern: "*".into(), ..Default::default() }).unwrap();
    assert!(found.first_text().contains("pipe") && found.first_text().contains("zero"), "{}", found.first_text());
}

#[test]
fn a_file_that_grows_does_not_keep_us_reading() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("growing.log");
    std::fs::write(&path, "first line\n").unwrap();
    let workspace = Workspace::open(dir.path()).unwrap();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut file = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
            let block = "another line of the log\n".repeat(1000);
            let mut written = 0;
            while !done.load(Ordering::Relaxed) && written < 64 << 20 {
                file.write_all(block.as_bytes()).unwrap();
                written += block.len();
            }
        });
        for _ in 0..20 {
            let text = read(&workspace, "growing.log").unwrap();
            assert!(text.first_text().starts_with("first line\n"));
            let grep = GrepArgs { pattern: "first".into(), ..Default::default() };
            assert!(workspace.grep(grep).unwrap().first_text().starts_with("growing.log:1: first line"));
        }
        done.store(true, Ordering::Relaxed);
    });
}

/// 20,000 files here; the bench has 100,000.
#[test]
fn a_folder_of_very_many_files() {
    let dir = tempfile::tempdir().unwrap();
    for n in 0..20_000 {
        std::fs::File::create(dir.path().join(format!("file-{n:05}.txt"))).unwrap();
    }
    std::fs::write(dir.path().join("file-19999.txt"), "needle").unwrap();
    let workspace = Workspace::open(dir.path()).unwrap();
    let listed = workspace.ls(LsArgs::default()).unwrap();
    let text = listed.first_text();
    assert!(text.starts_with("file-00000.txt\nfile-00001.txt\n"), "{}", &text[..100]);
    assert!(text.ends_with("file-00499.txt\n\n[500 entries limit reached. Use limit=1000 for more]"));
    let plain = text.find("\n\n[").unwrap();
    assert_eq!(listed.details.unwrap(), json!({"entryLimitReached": 500, "plainBytes": plain}));
    let found = workspace.find(FindArgs { pattern: "*.txt".into(), ..Default::default() }).unwrap();
    assert!(
        found
            .first_text()
            .ends_with("file-00999.txt\n\n[1000 results limit reached. Use limit=2000 for more, or refine pattern]")
    );
    let grep = workspace.grep(GrepArgs { pattern: "needle".into(), ..Default::default() }).unwrap();
    assert_eq!(grep.first_text(), "file-19999.txt:1: needle");
}

#[test]
fn a_deep_tree_and_odd_names() {
    let dir = tempfile::tempdir().unwrap();
    let deep = "d/".repeat(1500);
    std::fs::create_dir_all(dir.path().join(&deep)).unwrap();
    std::fs::write(dir.path().join(&deep).join("bottom.txt"), "needle").unwrap();
    let odd = std::ffi::OsStr::new("new\nline\u{1b}[31m.txt");
    std::fs::write(dir.path().join(odd), "needle").unwrap();
    let workspace = Workspace::open(dir.path()).unwrap();
    let found = workspace.find(FindArgs { pattern: "*.txt".into(), ..Default::default() }).unwrap();
    assert_eq!(found.first_text(), format!("{deep}bottom.txt\nnew\\nline\\u{{1b}}[31m.txt"));
    let grep = workspace.grep(GrepArgs { pattern: "needle".into(), ..Default::default() }).unwrap();
    assert!(grep.first_text().contains("d/bottom.txt:1: needle"));
}

#[test]
fn patterns_made_to_explode_are_refused_or_end() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("a.txt"), "a".repeat(100_000)).unwrap();
    let workspace = Workspace::open(dir.path()).unwrap();
    let grep = |pattern: &str| workspace.grep(GrepArgs { pattern: pattern.into(), ..Default::default() });
    for pattern in ["(", "[", "a{1000}{1000}{1000}", r"\w{5000}{5000}", "a\nb", "", r"(?P<x", &"(".repeat(40_000)] {
        assert_eq!(
            grep(pattern).unwrap_err().code,
            FileErrorCode::InvalidArgs,
            "{}",
            &pattern[..pattern.len().min(20)]
        );
    }
    for pattern in ["(a+)+$", "(a|a)*b", "(.*)*x", "(a?){50}a{50}"] {
        assert!(grep(pattern).is_ok(), "{pattern}");
    }
}

#[test]
fn a_long_line_is_said_to_be_unsearched() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("min.js"), "x".repeat(9 << 20)).unwrap();
    let workspace = Workspace::open(dir.path()).unwrap();
    let grep = workspace.grep(GrepArgs { pattern: "needle".into(), ..Default::default() }).unwrap();
    assert!(
        grep.first_text().starts_with("No matches found\n\n[1 files could not be searched"),
        "{}",
        grep.first_text()
    );
}

/// Readers see whole contents only; the last writer's stays.
#[test]
fn concurrent_writes_are_whole() {
    let dir = tempfile::tempdir().unwrap();
    let workspace = Workspace::open(dir.path()).unwrap();
    let content = |writer: u8| String::from(char::from(b'a' + writer)).repeat(50_000 + usize::from(writer));
    let whole = |bytes: &[u8]| bytes == content(bytes[0] - b'a').as_bytes();
    workspace.write(WriteArgs { path: "f".into(), content: content(0) }).unwrap();
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let (workspace, content) = (&workspace, content(writer));
            scope.spawn(move || {
                for _ in 0..40 {
                    workspace.write(WriteArgs { path: "f".into(), content: content.clone() }).unwrap();
                }
            });
        }
        for _ in 0..200 {
            assert!(whole(&std::fs::read(dir.path().join("f")).unwrap()));
            let listed = workspace.ls(LsArgs::default()).unwrap();
            assert_eq!(listed.first_text(), "f", "an unfinished file is seen");
        }
    });
    assert!(whole(&std::fs::read(dir.path().join("f")).unwrap()));
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
}

/// Edits of one file at the same time follow each other: none is lost, through any number of workspaces.
#[test]
fn concurrent_edits_are_all_made() {
    let dir = tempfile::tempdir().unwrap();
    let lines: String = (0..64).map(|n| format!("line {n:02} old\n")).collect();
    std::fs::write(dir.path().join("f"), lines).unwrap();
    std::thread::scope(|scope| {
        for part in 0..4 {
            let dir = dir.path();
            scope.spawn(move || {
                let workspace = Workspace::open(dir).unwrap();
                for n in (part * 16)..(part * 16 + 16) {
                    let args = EditArgs::one("f", format!("line {n:02} old"), format!("line {n:02} new"));
                    workspace.edit(args).unwrap();
                }
            });
        }
    });
    let expected: String = (0..64).map(|n| format!("line {n:02} new\n")).collect();
    assert_eq!(std::fs::read_to_string(dir.path().join("f")).unwrap(), expected);
}

/// A search stops when its time is over or its caller is gone, and says so.
#[test]
fn searches_stop_when_told_to() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("a.txt"), "needle").unwrap();
    let workspace = Arc::new(Workspace::open(dir.path()).unwrap());
    let over = Stop::after(Duration::ZERO);
    let found = workspace.find_until(&FindArgs { pattern: "*".into(), ..Default::default() }, &over).unwrap();
    assert_eq!(
        found.first_text(),
        "No files found matching pattern\n\n[The search was stopped before it had seen everything]"
    );
    let read = ReadArgs { path: "a.txt".into(), ..Default::default() };
    assert_eq!(workspace.read_until(&read, &over).unwrap_err().code, FileErrorCode::Timeout);
    // A dropped call cancels its work.
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let specs = tool_specs(Arc::clone(&workspace));
    runtime.block_on(async {
        drop(specs[0].tool.call(ToolCall { args: vec![json!({"path": "a.txt"})] }));
    });
    drop(runtime);
    drop(specs);
    assert_eq!(Arc::strong_count(&workspace), 1, "something still holds the workspace");
}
