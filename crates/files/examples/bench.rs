//! Figures of the file tools, beside `rg` and `fd` on the same tree in the same run.
//!
//! `cargo run --release -p cove-files --example bench [FILES]` prints one line per figure; a tool that is not
//! installed is said to be missing. Everything is made in a temporary folder and removed.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout)]

use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use cove_files::{EditArgs, FindArgs, GrepArgs, ReadArgs, Workspace};

const ROUNDS: usize = 7;

fn main() {
    let files: usize = std::env::args().nth(1).map_or(100_000, |count| count.parse().expect("a number of files"));
    let dir = tempfile::tempdir().unwrap();
    big_file(dir.path());
    edits(dir.path());
    let tree = dir.path().join("tree");
    plant(&tree, files);
    searches(&tree, files);
}

/// The least of several rounds: the machine's other work only ever adds.
fn least(mut work: impl FnMut()) -> Duration {
    (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            work();
            start.elapsed()
        })
        .min()
        .unwrap()
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

/// The first 2000 lines of a gigabyte of real text.
fn big_file(dir: &Path) {
    let path = dir.join("big.log");
    let mut file = std::io::BufWriter::new(std::fs::File::create(&path).unwrap());
    let (mut written, mut n) = (0_u64, 0_u64);
    while written < 1 << 30 {
        n += 1;
        let line = format!("{n:010} a line\n");
        file.write_all(line.as_bytes()).unwrap();
        written += line.len() as u64;
    }
    file.into_inner().unwrap();
    let workspace = Workspace::open(dir).unwrap();
    let args = ReadArgs { path: "big.log".into(), ..Default::default() };
    let before = peak_memory();
    let first = Instant::now();
    let text = workspace.read(args.clone()).unwrap();
    let first = first.elapsed();
    let memory = peak_memory() - before;
    assert!(text.first_text().contains("Showing lines 1-2000 of more than"), "{}", &text.first_text()[47_000..]);
    let time = least(|| drop(workspace.read(args.clone()).unwrap()));
    let mib = f64::from(u32::try_from(memory >> 10).unwrap()) / 1024.0;
    println!("read, 2000 lines of 1 GB: {:.2} ms (first {:.2} ms), {mib:.1} MiB more memory", ms(time), ms(first));
    std::fs::remove_file(path).unwrap();
}

fn edits(dir: &Path) {
    const EDITS: u32 = 20_000;
    let lines: String = (0..50).map(|n| format!("    let value_{n} = {n};\n")).collect();
    std::fs::write(dir.join("small.rs"), lines).unwrap();
    let workspace = Workspace::open(dir).unwrap();
    let start = Instant::now();
    for n in 0..EDITS {
        let (old, new) =
            if n % 2 == 0 { ("value_25 = 25", "value_25 = 26") } else { ("value_25 = 26", "value_25 = 25") };
        workspace.edit(EditArgs::one("small.rs", old, new)).unwrap();
    }
    println!("edit, 1.2 KB file: {:.0} edits/s", f64::from(EDITS) / start.elapsed().as_secs_f64());
}

fn plant(tree: &Path, files: usize) {
    for n in 0..files {
        let folder = tree.join(format!("dir-{:02}/sub-{:03}", n % 40, n / 40 % 25));
        if n < 1000 {
            std::fs::create_dir_all(&folder).unwrap();
        }
        let rare = n % (files / 50).max(1) == 0;
        let name = format!("file-{n:06}{}.txt", if rare { "-rare" } else { "" });
        let mut text = "a line of text that nobody looks for, with some words\n".repeat(20);
        if rare {
            text.push_str("here is the needle\n");
        }
        std::fs::write(folder.join(name), text).unwrap();
    }
}

fn searches(tree: &Path, files: usize) {
    let workspace = Workspace::open(tree).unwrap();
    let grep = GrepArgs { pattern: "the n[e]+dle".into(), ..Default::default() };
    let find = FindArgs { pattern: "*-rare.txt".into(), ..Default::default() };
    assert_eq!(workspace.grep(grep.clone()).unwrap().first_text().lines().count(), 50);
    assert_eq!(workspace.find(find.clone()).unwrap().first_text().lines().count(), 50);
    let ours = least(|| drop(workspace.grep(grep.clone()).unwrap()));
    let theirs = run(tree, &["rg"], &["--hidden", "--no-require-git", "-n", "the n[e]+dle"]);
    compare("grep", files, ours, theirs, "rg");
    let ours = least(|| drop(workspace.find(find.clone()).unwrap()));
    let theirs = run(tree, &["fd", "fdfind"], &["--hidden", "--glob", "*-rare.txt"]);
    compare("find", files, ours, theirs, "fd");
}

fn compare(tool: &str, files: usize, ours: Duration, theirs: Option<Duration>, name: &str) {
    match theirs {
        Some(theirs) => {
            let ratio = ours.as_secs_f64() / theirs.as_secs_f64();
            println!("{tool}, {files} files: {:.1} ms, {name} {:.1} ms, ratio {ratio:.2}", ms(ours), ms(theirs));
        }
        None => println!("{tool}, {files} files: {:.1} ms, {name} is not installed", ms(ours)),
    }
}

/// The least time of a program, under the first of its names that there is.
#[expect(clippy::disallowed_methods, reason = "a bench compares with other programs; `output` waits for each to end")]
fn run(dir: &Path, names: &[&str], args: &[&str]) -> Option<Duration> {
    let run = |name: &str| std::process::Command::new(name).args(args).current_dir(dir).output();
    let name = names.iter().find(|name| run(name).is_ok())?;
    Some(least(|| {
        let output = run(name).unwrap();
        assert_eq!(output.stdout.split(|byte| *byte == b'\n').count(), 51, "{name} found something else");
    }))
}

/// The most memory this process has used so far.
fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1024
}
