//! Sandboxes, tried by making one: a command runs in it, and its walls are looked at from inside.

use std::time::Duration;

use cove_cell::{Blocker, CellError, CellOptions, LocalCell, Wall};
use cove_core::Deadline;
use cove_runtime_api::{RuntimeClient, ShellRequest};
use serde::Serialize;

/// For a sandbox to start, run a command and end. It takes a few hundredths of a second; a cold disk on a loaded machine
/// takes longer.
const TRIAL: Duration = Duration::from_secs(10);

/// What there is of sandboxes.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Sandboxes {
    /// Whether one was made, and a command ran in it.
    pub(crate) runs: bool,
    /// Its walls; none where it could not be made.
    pub(crate) walls: Vec<Wall>,
    /// Whether it is the kernel that holds sandboxes to their memory, as `cove serve` would find it.
    pub(crate) memory_is_enforced: bool,
    /// What stands in the way, where that is known.
    pub(crate) blocker: Option<Blocker>,
    pub(crate) problem: Option<String>,
    pub(crate) next_step: Option<String>,
}

impl Sandboxes {
    /// The walls that are not there.
    pub(crate) fn missing(&self) -> impl Iterator<Item = &Wall> {
        self.walls.iter().filter(|wall| wall.is_missing())
    }
}

pub(crate) async fn sandboxes() -> Sandboxes {
    let memory_is_enforced = cove_cgroup::counts_memory();
    let tried = tokio::time::timeout(TRIAL, trial()).await;
    let none = Sandboxes { memory_is_enforced, ..Sandboxes::default() };
    match tried {
        Ok(Ok(walls)) => Sandboxes { runs: true, walls, ..none },
        Ok(Err(Trouble::Walls { problem, blocker })) => {
            let next_step = blocker.as_ref().map(Blocker::fix);
            Sandboxes { problem: Some(problem), blocker, next_step, ..none }
        }
        Ok(Err(Trouble::Other(problem))) => Sandboxes { problem: Some(problem), ..none },
        Err(_) => Sandboxes { problem: Some(format!("none ran a command within {} s", TRIAL.as_secs())), ..none },
    }
}

/// Why there is no sandbox.
enum Trouble {
    Walls { problem: String, blocker: Option<Blocker> },
    Other(String),
}

impl From<CellError> for Trouble {
    fn from(error: CellError) -> Self {
        match error {
            CellError::Walls(failure) => {
                let why = failure.blocker.as_ref().map_or(String::new(), |blocker| format!("; {blocker}"));
                Self::Walls { problem: failure.what + &why, blocker: failure.blocker }
            }
            other => Self::Other(other.to_string()),
        }
    }
}

async fn trial() -> Result<Vec<Wall>, Trouble> {
    let other = |error: &dyn std::fmt::Display| Trouble::Other(error.to_string());
    // Where `cove serve` has its sockets: the place is part of the trial.
    let sockets = cove_config::Config::default().runtime_root().map_err(|error| other(&error))?;
    let folder = tempfile::tempdir_in(sockets).map_err(|error| other(&error))?;
    let (workspace, sockets) = (folder.path().join("workspace"), folder.path().join("sockets"));
    for place in [&workspace, &sockets] {
        std::fs::create_dir(place).map_err(|error| other(&error))?;
    }
    let program = std::env::current_exe().map_err(|error| other(&error))?;
    let mut options = CellOptions::new(program, workspace, sockets);
    options.args = vec!["ship".to_owned()];
    let cell = LocalCell::start(options).await?;
    let walls = cell.walls().walls.clone();
    let request = ShellRequest { command: "echo $((6 * 7)) > file && cat file".to_owned(), ..ShellRequest::default() };
    let answer = RuntimeClient::new(cell.socket()).call(&request, Deadline::after(TRIAL)).await;
    let ended = cell.kill().await;
    match answer {
        Ok(answer) if answer.stdout.trim() == "42" => ended.map(|()| walls).map_err(|error| other(&error)),
        Ok(answer) => Err(Trouble::Other(format!("a trial command failed: {}{}", answer.stdout, answer.stderr))),
        Err(error) => Err(other(&error)),
    }
}
