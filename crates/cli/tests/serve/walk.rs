//! README as a stranger follows it: every shell block, one after the other, in an empty folder with a private home.

use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _, symlink};
use std::path::Path;
use std::process::{Command, Stdio};

use cove_testkit::processes::below;

use crate::project;

/// The blocks marked `sh`, in their order. What cannot be run here (`bash`) is marked otherwise.
fn blocks(name: &str) -> Vec<String> {
    let text = std::fs::read_to_string(project().join(name)).unwrap();
    let parts = text.split("\n```sh\n").skip(1);
    parts.map(|part| part.split("\n```").next().unwrap().to_owned()).collect()
}

/// The commands of the blocks alone.
fn commands(name: &str) -> Vec<String> {
    let all = blocks(name).join("\n");
    all.lines().map(|line| line.split("  # ").next().unwrap().trim_end().to_owned()).collect()
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

#[test]
fn every_block_of_the_readme_works_in_an_empty_folder() {
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
    let script = format!("set -eu\n{}\nkill %1\nwait\n", blocks("README.md").join("\n"));
    let walked = Command::new("bash")
        .args(["-c", &script])
        .env_clear()
        .env("HOME", &home)
        .env("TMPDIR", &tmp)
        .env("PATH", format!("{}:/usr/bin:/bin", bin.display()))
        // Other tests have servers of their own; this one is found by the note that it leaves.
        .env("BAY_SERVER__PORT", "0")
        .current_dir(&empty)
        .stdin(Stdio::null())
        .output()
        .unwrap();
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
}
