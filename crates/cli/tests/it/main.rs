//! The binary as people and scripts meet it: real processes, their output and how they end.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::disallowed_methods, missing_docs)]

mod bare;
mod browse;
mod browser;
mod docs;
mod doctor;
mod files;
mod looks;
mod matrix;
mod mcp;
mod older_landlock;
#[path = "../pty/mod.rs"]
mod pty;
mod repl;
mod run;
mod ship;
mod show;
#[path = "../../../gull/tests/site/mod.rs"]
mod site;
mod terminal;
mod workflow;

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// What a command left.
#[derive(Debug)]
struct Done {
    code: i32,
    out: String,
    err: String,
}

/// Runs `cove` in a folder with a text on standard input.
fn cove_in(folder: &Path, args: &[&str], input: &str) -> Done {
    cove_with(folder, &[], args, input)
}

/// The same with variables of the environment.
fn cove_with(folder: &Path, variables: &[(&str, &str)], args: &[&str], input: &str) -> Done {
    let mut child = Command::new(env!("CARGO_BIN_EXE_cove"))
        .args(args)
        .current_dir(folder)
        .env_remove("COVE_BROWSER")
        .env("XDG_STATE_HOME", folder)
        .envs(variables.iter().copied())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A command that refuses its arguments may be gone before it has read anything.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().unwrap();
    Done {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

fn cove(args: &[&str], input: &str) -> Done {
    let folder = tempfile::tempdir().unwrap();
    cove_in(folder.path(), args, input)
}
