//! A process to start, checked before anything is started.

use std::os::fd::OwnedFd;
use std::time::Duration;

use cove_core::Deadline;
use cove_runtime_api::{StartProcess, TerminalSize, time_limit};
use cove_workspace::{RelPath, WORKSPACE_MOUNT};

use crate::ship::ShipState;
use crate::ship::error::ApiError;
use crate::ship::fs::workspace::rel_path;
use crate::ship::shell::environment;

/// The longest name of a process.
const MAX_NAME_CHARS: usize = 64;

/// Goes to a folder before the program starts, with the program's own rights.
const GO_AND_RUN: &str = "cd -- \"$1\" || exit 125\nshift\nexec \"$@\"";

/// A process to start, checked.
#[derive(Debug)]
pub(crate) struct Launch {
    pub(super) id: Option<String>,
    /// As it is shown.
    pub(super) command: String,
    pub(super) program: String,
    pub(super) args: Vec<String>,
    pub(super) env: Vec<(String, String)>,
    /// As it was given.
    pub(super) cwd: Option<String>,
    pub(super) folder: OwnedFd,
    pub(super) input: bool,
    pub(super) terminal: Option<TerminalSize>,
    pub(super) deadline: Option<Deadline>,
}

impl Launch {
    /// A command for `bash -lc`.
    pub(crate) fn command(
        state: &ShipState,
        command: String,
        cwd: Option<String>,
        env: Vec<(String, String)>,
        deadline: Option<Deadline>,
        folder: &RelPath,
    ) -> Result<Self, ApiError> {
        Ok(Self {
            id: None,
            program: "/bin/bash".to_owned(),
            args: vec!["-lc".to_owned(), command.clone()],
            command,
            env,
            cwd,
            folder: state.workspace.folder(folder)?,
            input: false,
            terminal: None,
            deadline,
        })
    }

    /// Any program.
    pub(super) fn program(state: &ShipState, request: StartProcess) -> Result<Self, ApiError> {
        let StartProcess { program, args, env, cwd, name, input, terminal, timeout, follow: _ } = request;
        if program.is_empty() || program.contains('\0') || args.iter().any(|arg| arg.contains('\0')) {
            return Err(ApiError::validation("the program has no name, or a NUL character in it"));
        }
        if let Some(name) = &name {
            check_name(name)?;
        }
        let deadline = timeout.map(|seconds| long_limit(seconds).map(Deadline::after)).transpose()?;
        let command = match (&*args, program.ends_with("bash") || program.ends_with("/sh")) {
            ([.., flag, command], true) if flag.starts_with('-') && flag.ends_with('c') => command.clone(),
            _ => std::iter::once(&program).chain(&args).cloned().collect::<Vec<_>>().join(" "),
        };
        let env = environment(&state.env, env)?;
        let cwd = cwd.filter(|cwd| !cwd.is_empty());
        let is_elsewhere = cwd
            .as_deref()
            .is_some_and(|cwd| cwd.starts_with('/') && !std::path::Path::new(cwd).starts_with(WORKSPACE_MOUNT));
        let (program, args, folder) = if is_elsewhere {
            // Ship opens nothing for guests that is not theirs: the program goes there by itself.
            let go = ["-c", GO_AND_RUN, "sh", cwd.as_deref().unwrap_or_default(), &program].map(str::to_owned);
            ("/bin/sh".to_owned(), go.into_iter().chain(args).collect(), rel_path(".")?)
        } else {
            (program, args, rel_path(cwd.as_deref().unwrap_or("."))?)
        };
        let folder = state.workspace.folder(&folder)?;
        Ok(Self { id: name, command, program, args, env, cwd, folder, input, terminal, deadline })
    }
}

/// A process may be given more time than anybody waits for one answer.
fn long_limit(seconds: f64) -> Result<Duration, ApiError> {
    match Duration::try_from_secs_f64(seconds) {
        Ok(limit) if limit > cove_runtime_api::MAX_TIMEOUT => Ok(limit.min(Duration::from_secs(30 * 24 * 3600))),
        _ => Ok(time_limit(Some(seconds))?),
    }
}

/// Neither a number nor anything that could be taken for a path or an option.
fn check_name(name: &str) -> Result<(), ApiError> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let begins = name.starts_with(|c: char| c.is_ascii_alphabetic());
    if begins && name.len() <= MAX_NAME_CHARS && name.chars().all(plain) {
        return Ok(());
    }
    Err(ApiError::validation(format!(
        "a process's name begins with a letter and has at most {MAX_NAME_CHARS} letters, digits, `-`, `_` and `.`"
    )))
}
