//! Probes: what code that has broken out of the engine would try, tried from inside, behind the very same walls.
//!
//! Each attempt runs in a child made exactly like a session's child. A wall is proven when the attempt is refused or
//! ends the child. `cove doctor` and the tests use this; guest code never comes near it.

use std::fmt;
use std::path::Path;
use std::time::Duration;

use cove_core::EngineError;
use cove_walls::fork::{Forked, exit_now, fork};
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::process::{WaitOptions, WaitStatus};
use serde::{Deserialize, Serialize};

use crate::worker::{session_process, start};
use crate::{control, font_store, launch, walls};

mod attempts;

use attempts::{ATTEMPTS, COMPOUND, Expected};

/// All attempts together take some hundred milliseconds.
const PATIENCE: Duration = Duration::from_secs(60);

/// The exit code of a child whose walls could not be put up.
const UNWALLED: i32 = 255;

/// How an attempt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// It worked. For everything but the controls this is a hole.
    Succeeded,
    /// The kernel refused it, with this error number.
    Refused(i32),
    /// The kernel ended the process, with this signal.
    Killed(i32),
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Succeeded => f.write_str("succeeded"),
            Self::Refused(errno) => {
                write!(f, "refused ({})", std::io::Error::from_raw_os_error(*errno))
            }
            Self::Killed(signal) => write!(f, "killed (signal {signal})"),
        }
    }
}

/// One attempt and its end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Probed {
    /// What was tried.
    pub name: String,
    /// How it ended.
    pub outcome: Outcome,
    /// Whether that is as it should be.
    pub held: bool,
}

/// Behind which walls to try.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Behind {
    /// All of them.
    All,
    /// All but seccomp, which otherwise stops most attempts before they reach another wall. Only what those other walls
    /// hold by themselves is tried.
    AllButSeccomp,
}

impl Behind {
    pub(crate) const fn argument(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::AllButSeccomp => "all-but-seccomp",
        }
    }
}

/// Tries everything behind the walls of this machine. Blocks for some hundred milliseconds.
pub fn probe_walls(worker_program: Option<&Path>, behind: Behind) -> Result<Vec<Probed>, EngineError> {
    let unavailable = |error: &dyn fmt::Display| EngineError::Unavailable(error.to_string());
    let program = launch::find(worker_program).map_err(|error| unavailable(&error))?;
    // So that there is something to read.
    font_store::add(&b"fonts"[..], 5);
    let (control, mut first) = launch::start_probe(&program, behind).map_err(|error| unavailable(&error))?;
    set_socket_timeout(&control, Timeout::Recv, Some(PATIENCE)).map_err(|error| unavailable(&error))?;
    let mut probed = Vec::new();
    let outcome = loop {
        match control::receive(&control) {
            Ok(Some((bytes, _))) => match serde_json::from_slice(&bytes) {
                Ok(one) => probed.push(one),
                Err(error) => break Err(unavailable(&error)),
            },
            Ok(None) => break Ok(()),
            Err(error) => break Err(unavailable(&error)),
        }
    };
    drop(control);
    let _ = first.kill();
    let _ = first.wait();
    outcome.map(|()| probed)
}

/// The worker's side: puts up the walls, then tries, one child per attempt.
pub(crate) fn main(argument: Option<&str>) -> ! {
    let behind = if argument == Some(Behind::AllButSeccomp.argument()) { Behind::AllButSeccomp } else { Behind::All };
    let Some(mut walled) = start::wall_in(behind) else { exit_now(2) };
    for attempt in ATTEMPTS.iter().chain(COMPOUND) {
        if behind == Behind::AllButSeccomp && attempt.expected == Expected::Fails {
            continue;
        }
        let Ok(Forked::Parent(pid)) = fork().inspect(|side| {
            if matches!(side, Forked::Child) {
                let ended = match session_process::settle(&walled.control, &mut walled.shared) {
                    Some(_inbox) => {
                        let _ = walls::cap_memory(walled.shared.base_bytes, 64 << 20);
                        (attempt.act)().err().unwrap_or(0)
                    }
                    None => UNWALLED,
                };
                exit_now(ended);
            }
        }) else {
            exit_now(1)
        };
        let status = rustix::process::waitpid(Some(pid), WaitOptions::empty());
        let outcome = status.ok().flatten().and_then(|(_, status)| outcome_of(status));
        let Some(outcome) = outcome else { exit_now(1) };
        let held = (outcome == Outcome::Succeeded) == (attempt.expected == Expected::Succeeds);
        let probed = Probed { name: attempt.name.to_owned(), outcome, held };
        let sent = serde_json::to_vec(&probed).ok().and_then(|bytes| control::send(&walled.control, &bytes, &[]).ok());
        if sent.is_none() {
            exit_now(1);
        }
    }
    exit_now(0)
}

fn outcome_of(status: WaitStatus) -> Option<Outcome> {
    match (status.terminating_signal(), status.exit_status()) {
        (Some(signal), _) => Some(Outcome::Killed(signal)),
        (_, Some(0)) => Some(Outcome::Succeeded),
        (_, Some(UNWALLED) | None) => None,
        (_, Some(errno)) => Some(Outcome::Refused(errno)),
    }
}
