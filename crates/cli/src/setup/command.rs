//! Running the system's own tools: heard, bounded in time, and ended with us.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use cove_core::end_lines;
use cove_workspace::is_program;

/// For a package manager on a slow line.
const PATIENCE: Duration = Duration::from_secs(30 * 60);

/// What is shown of what a tool that failed has said.
const TOLD_LINES: usize = 6;

/// Runs a tool to its end; the end of what it said is the error.
#[expect(clippy::disallowed_methods, reason = "the child is waited for, or ended by being dropped")]
pub(super) async fn run(program: &Path, args: &[impl AsRef<OsStr>]) -> Result<(), String> {
    let name = program.file_name().unwrap_or(program.as_os_str()).to_string_lossy().into_owned();
    let mut command = tokio::process::Command::new(program);
    // A password may be asked for on the terminal; standard output is for data, and there is none.
    command.args(args).stdout(Stdio::null()).stderr(Stdio::piped()).kill_on_drop(true);
    let child = command.spawn().map_err(|error| format!("{name} could not be started: {error}"))?;
    let ended = match tokio::time::timeout(PATIENCE, child.wait_with_output()).await {
        Ok(ended) => ended.map_err(|error| format!("{name}: {error}"))?,
        Err(_) => return Err(format!("{name} did not end within {} minutes", PATIENCE.as_secs() / 60)),
    };
    if ended.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&ended.stderr);
    Err(format!("{name} failed ({}): {}", ended.status, end_lines(&said, TOLD_LINES).join("\n    ")))
}

/// A program in `PATH`.
pub(super) fn in_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|path| path.is_absolute() && is_program(path))
}
