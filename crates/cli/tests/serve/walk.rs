//! README and the documents as a stranger follows them: every shell block, one after the other, in an empty folder with a
//! private home; examples of JavaScript and JSON, each alone.

use std::collections::BTreeSet;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use cove_testkit::processes::below;

use crate::project;

/// Why a block of a document is not run, as the line before it says: `<!-- not run: Docker is needed -->`. Any other reason
/// fails the test.
const NOT_RUN: [&str; 5] = [
    "it goes on until it is stopped",
    "a clone of the repository is needed",
    "an account is needed",
    "Docker is needed",
    "Kubernetes is needed",
];

/// What examples of JavaScript find as `input`.
const INPUT: &str = r#"{"words": ["tide", "quay"]}"#;

/// What is between the fences of a document.
struct Block {
    language: String,
    text: String,
    /// What the line before says, if it is a remark.
    not_run: Option<String>,
}

fn all_blocks(page: &Path) -> Vec<Block> {
    let text = std::fs::read_to_string(page).unwrap();
    let (mut blocks, mut open, mut before) = (Vec::new(), None::<Block>, "");
    for line in text.lines() {
        match (&mut open, line.trim_start().strip_prefix("```")) {
            (None, Some(language)) => {
                let remark = before.trim().strip_prefix("<!-- not run: ").and_then(|rest| rest.strip_suffix(" -->"));
                let not_run = remark.map(str::to_owned);
                open = Some(Block { language: language.to_owned(), text: String::new(), not_run });
            }
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (Some(block), None) => block.text = format!("{}{line}\n", block.text),
            (None, None) => {}
        }
        before = line;
    }
    assert!(open.is_none(), "{}: a block does not end", page.display());
    blocks
}

/// The blocks marked `sh`, in their order. What cannot be run here (`bash`) is marked otherwise.
fn blocks(name: &str) -> Vec<String> {
    let all = all_blocks(&project().join(name)).into_iter();
    all.filter(|block| block.language == "sh" && block.not_run.is_none()).map(|block| block.text).collect()
}

/// The commands of all blocks, those that are not run here among them.
fn commands(name: &str) -> Vec<String> {
    let all: Vec<String> = all_blocks(&project().join(name)).into_iter().map(|block| block.text).collect();
    all.join("\n").lines().map(|line| line.split("  # ").next().unwrap().trim_end().to_owned()).collect()
}

/// Where a page leads to, but for itself in another language.
fn links(name: &str, translation: &str) -> BTreeSet<String> {
    let text = std::fs::read_to_string(project().join(name)).unwrap();
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    targets.filter(|target| *target != translation).map(str::to_owned).collect()
}

/// What `cove setup` would bring, brought before: the tests fetch nothing themselves.
fn set_up(data: &Path) {
    std::fs::create_dir_all(data).unwrap();
    let tools = project().join(".tools").canonicalize().unwrap();
    let packages = std::fs::read_to_string(tools.join("venv/.packages")).unwrap_or_default();
    assert!(packages.contains("pandas"), "the Python environment is not complete; run scripts/setup");
    symlink(tools.join("agent-browser"), data.join("agent-browser")).unwrap();
    symlink(tools.join("venv"), data.join("python")).unwrap();
}

/// Somebody's home on this machine, which nobody else can enter, and an empty folder in it.
struct Stranger {
    top: tempfile::TempDir,
    home: PathBuf,
    empty: PathBuf,
}

impl Stranger {
    fn new() -> Self {
        let top = tempfile::Builder::new().prefix("cove").tempdir().unwrap();
        std::fs::set_permissions(top.path(), std::fs::Permissions::from_mode(0o711)).unwrap();
        let (home, bin, tmp) = (top.path().join("home"), top.path().join("bin"), top.path().join("t"));
        // As root's home is: nobody else can enter.
        std::fs::DirBuilder::new().mode(0o700).create(&home).unwrap();
        std::fs::DirBuilder::new().mode(0o711).create(&tmp).unwrap();
        let empty = home.join("empty");
        for folder in [&bin, &empty] {
            std::fs::create_dir(folder).unwrap();
        }
        symlink(env!("CARGO_BIN_EXE_cove"), bin.join("cove")).unwrap();
        set_up(&home.join(".local/share/cove"));
        Self { top, home, empty }
    }

    /// Runs blocks in one shell; what they started in the background is ended after the last.
    fn walk(&self, blocks: &[String]) -> std::process::Output {
        let end = "jobs=$(jobs -p); [ -z \"$jobs\" ] || kill $jobs; wait";
        let script = format!("set -eu\ntrap '{end}' EXIT\n{}", blocks.join("\n"));
        Command::new("bash")
            .args(["-c", &script])
            .env_clear()
            .env("HOME", &self.home)
            .env("TMPDIR", self.top.path().join("t"))
            .env("PATH", format!("{}:/usr/bin:/bin", self.top.path().join("bin").display()))
            // Other tests have servers of their own; this one is found by the note that it leaves.
            .env("BAY_SERVER__PORT", "0")
            .current_dir(&self.empty)
            .stdin(Stdio::null())
            .output()
            .unwrap()
    }
}

/// What pages say, for those that print something worth a look.
const SAID: [(&str, &[&str]); 9] = [
    ("api.md", &["45"]),
    ("backup.md", &["kept"]),
    ("browse.md", &["My shop", "[ref=e2]", "Screenshot saved", "Hello"]),
    ("files.md", &["notes.md:1: TODO", "2500"]),
    ("hardening.md", &["every wall is active"]),
    ("install.md", &["every wall is active", "agent-browser"]),
    ("page.md", &["http://127.0.0.1:"]),
    ("run.md", &["{\"sum\":6}"]),
    ("server.md", &["42", "from a file", "Screenshot saved"]),
];

#[test]
fn every_block_of_the_documents_works_in_an_empty_folder() {
    let mut ran = 0;
    let pages = ["docs", "docs/deploy"].map(|folder| std::fs::read_dir(project().join(folder)).unwrap());
    for entry in pages.into_iter().flatten() {
        let page = entry.unwrap().path();
        if page.extension().is_none_or(|extension| extension != "md") {
            continue;
        }
        let name = page.file_name().unwrap().to_str().unwrap().to_owned();
        let mut shell = Vec::new();
        for block in all_blocks(&page) {
            if let Some(reason) = &block.not_run {
                assert!(NOT_RUN.contains(&reason.as_str()), "{name}: {reason:?} is no reason not to run a block");
                continue;
            }
            match block.language.as_str() {
                "sh" => shell.push(block.text),
                "js" => runs_as_javascript(&name, &block.text),
                "json" => drop(serde_json::from_str::<serde_json::Value>(&block.text).expect(&name)),
                // The SDKs' suites run these, the configuration's tests, the tests of documentation; the last are only shown.
                "python" | "ts" | "yaml" | "rust,no_run" | "text" | "console" | "toml" => continue,
                other => panic!("{name}: nobody runs blocks of {other:?}"),
            }
            ran += 1;
        }
        if shell.is_empty() {
            continue;
        }
        let walked = Stranger::new().walk(&shell);
        let (out, err) = (String::from_utf8_lossy(&walked.stdout), String::from_utf8_lossy(&walked.stderr));
        assert!(walked.status.success(), "{name}: {}\n{out}\n{err}", walked.status);
        for word in SAID.iter().filter(|(page, _)| *page == name).flat_map(|(_, words)| *words) {
            assert!(out.contains(word), "{name}: {word}\n{out}\n{err}");
        }
        assert_eq!(below(std::process::id()), Vec::<u32>::new(), "{name}");
    }
    assert!(ran > 10, "only {ran} blocks were run");
}

/// An example of JavaScript, with a workspace.
fn runs_as_javascript(page: &str, code: &str) {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [("code.js", code), ("data.csv", "a,b\n1,2\n"), ("big.log", &"line\n".repeat(2_500))] {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_cove"));
    command.args(["run", "code.js", "--workspace", ".", "--input", INPUT]).current_dir(folder.path());
    let output = command.output().unwrap();
    assert!(output.status.success(), "{page}: {code}\n{output:?}");
}

#[test]
fn every_block_of_the_readme_works_in_an_empty_folder() {
    let stranger = Stranger::new();
    let walked = stranger.walk(&blocks("README.md"));
    let empty = &stranger.empty;
    let (out, err) = (String::from_utf8_lossy(&walked.stdout), String::from_utf8_lossy(&walked.stderr));
    assert!(walked.status.success(), "{}\n{out}\n{err}", walked.status);
    for said in ["[20,40]", "\"drawn\"", "Screenshot saved", "(1280, 720)", "[ref=e1]"] {
        assert!(out.contains(said), "{said}\n{out}\n{err}");
    }
    assert!(!err.contains("warning: browser") && !err.contains("warning: python"), "{err}");
    let is_png = |path: &Path| std::fs::read(path).is_ok_and(|bytes| bytes.starts_with(b"\x89PNG"));
    assert!(is_png(&empty.join("page.png")) && is_png(&empty.join("workspace/button.png")), "{out}\n{err}");
    let pictures = std::fs::read_dir(empty.join("artifacts")).unwrap().flatten();
    assert_eq!(pictures.filter(|entry| is_png(&entry.path())).count(), 1, "{out}\n{err}");
    assert_eq!(below(std::process::id()), Vec::<u32>::new());
}

#[test]
fn both_readmes_say_the_same() {
    assert!(!commands("README.md").is_empty());
    assert_eq!(commands("README.md"), commands("README.zh-CN.md"));
    assert_eq!(links("README.md", "README.zh-CN.md"), links("README.zh-CN.md", "README.md"));
}
