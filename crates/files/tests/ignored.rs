//! `.gitignore` as git itself reads it: on trees and rules drawn by lot, `find` shows what `git ls-files` shows.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use cove_files::{FileTool, Stop, Workspace};
use serde_json::json;

/// Names that rules are about, some of them with characters that rules have a use for.
const NAMES: &[&str] = &[
    "a",
    "b",
    "c",
    "build",
    "src",
    "lib",
    "temp",
    "A",
    "a b",
    "[x]",
    "#h",
    "!n",
    "{a,b}",
    "foo.txt",
    "bar.log",
    "x.js",
    "y.md",
    ".hid",
    ".env",
    "data.json",
    "ü.txt",
];

const RULES: &[&str] = &[
    "*.log",
    "/build",
    "build/",
    "src/**",
    "**/foo.txt",
    "!foo.txt",
    "a/*",
    "!a/b",
    "*.js",
    "temp/",
    ".hid",
    "*",
    "!*/",
    "!*.md",
    "/a/b/",
    "a/**/c",
    "**/lib/**",
    "!src/",
    "?",
    "[ab]",
    "[!a]",
    "\\#h",
    "\\!n",
    "# comment",
    "",
    "  ",
    "a b",
    "a\\ b",
    "trailing  ",
    "*.txt ",
    "foo.*",
    "**",
    "/*",
    "!/src",
    "doc/**/x.js",
    "/.env",
    "\\[x\\]",
    "**/a",
    "a/",
    "b/**",
    "!b/**/y.md",
    "[a-c]",
    "*.{js,md}",
    "{a,b}",
    "ü*",
    "*/foo.txt",
    "data.json/",
    "!data.json",
    "/**/b",
    "a**",
    "**b",
    "**/",
    "!.gitignore",
];

/// Numbers drawn by lot, the same every time.
struct Lot(u64);

impl Lot {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % end
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len())]
    }
}

fn grow(lot: &mut Lot, folder: &Path, depth: usize) {
    for _ in 0..2 + lot.below(5) {
        let name = lot.one(NAMES);
        let path = folder.join(name);
        if path.exists() {
            continue;
        }
        if depth < 4 && !name.trim_start_matches('.').contains('.') && lot.below(10) < 6 {
            std::fs::create_dir(&path).unwrap();
            grow(lot, &path, depth + 1);
        } else {
            std::fs::write(&path, name).unwrap();
        }
    }
    if lot.below(if depth == 0 { 1 } else { 4 }) == 0 {
        let rules: Vec<&str> = (0..1 + lot.below(5)).map(|_| lot.one(RULES)).collect();
        std::fs::write(folder.join(".gitignore"), rules.join("\n") + ["", "\n", "\r\n"][lot.below(3)]).unwrap();
    }
}

#[expect(clippy::disallowed_methods, reason = "short-lived gits that this function waits for")]
fn git(folder: &Path, args: &[&str]) -> String {
    let mut git = Command::new("git");
    for variable in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_CEILING_DIRECTORIES"] {
        git.env_remove(variable);
    }
    let git = git.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1").current_dir(folder).args(args);
    let output = git.output().expect("git is on the path");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn find_leaves_out_what_git_ignores() {
    let mut lot = Lot(7);
    let mut shown = 0;
    for tree in 0..60 {
        let dir = tempfile::tempdir().unwrap();
        git(dir.path(), &["init", "-q", "."]);
        grow(&mut lot, dir.path(), 0);
        let listed = git(dir.path(), &["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
        let expected: BTreeSet<&str> = listed.split('\0').filter(|path| !path.is_empty()).collect();
        let workspace = Workspace::open(dir.path()).unwrap();
        let found =
            workspace.call(FileTool::Find, json!({"pattern": "**", "limit": 100_000}), &Stop::default()).unwrap();
        let text = found.first_text();
        let found: BTreeSet<&str> =
            text.lines().filter(|line| !line.ends_with('/') && *line != "No files found matching pattern").collect();
        assert_eq!(found, expected, "tree {tree}");
        shown += found.len();
    }
    assert!(shown > 300, "only {shown} files were compared");
}
