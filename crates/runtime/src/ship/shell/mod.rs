//! `/shell/…`: commands in `bash`, waited for or left running.

mod run;

pub(super) use run::{TimedOut, reason};

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use cove_core::Deadline;
use cove_runtime_api::{Call, ProcessInfo, ProcessList, ShellAnswer, ShellRequest, WorkingFolder, time_limit};
use cove_workspace::{RelPath, WORKSPACE_MOUNT};

use super::ShipState;
use super::answer_lines::as_lines;
use super::error::{ApiError, Body};
use super::fs::workspace::rel_path;
use super::processes::{Jobs, Launch};
use crate::process::Live;

/// The routes of this part.
pub(crate) fn routes() -> Router<ShipState> {
    Router::new()
        .route(ShellRequest::PATH, post(exec))
        .route("/shell/processes", get(list))
        .route("/shell/processes/{id}", get(show).delete(kill))
        .route("/shell/processes/{id}/kill", post(kill))
        .route("/shell/cwd", get(cwd))
}

/// A command, checked.
#[derive(Debug)]
pub(crate) struct ShellCommand {
    command: String,
    cwd: RelPath,
    env: Vec<(String, String)>,
    /// `None` for a background command that asked for no limit.
    deadline: Option<Deadline>,
    /// Who hears its output while it runs.
    live: Option<Live>,
}

impl ShellCommand {
    fn parse(request: ShellRequest, profile: &[(String, String)]) -> Result<Self, ApiError> {
        if request.command.contains('\0') {
            return Err(ApiError::validation("`command` holds a NUL character"));
        }
        let deadline = match request.timeout {
            None if request.background => None,
            given => Some(Deadline::after(time_limit(given)?)),
        };
        let env = environment(profile, request.env.unwrap_or_default())?;
        let cwd = rel_path(request.cwd.as_deref().filter(|cwd| !cwd.is_empty()).unwrap_or("."))?;
        Ok(Self { command: request.command, cwd, env, deadline, live: None })
    }
}

/// The profile's environment with more in it.
pub(super) fn environment(
    profile: &[(String, String)],
    more: BTreeMap<String, String>,
) -> Result<Vec<(String, String)>, ApiError> {
    let mut env = profile.to_vec();
    for (name, value) in more {
        if name.is_empty() || name.contains(['=', '\0']) || value.contains('\0') {
            return Err(ApiError::validation(format!("invalid environment variable {name:?}")));
        }
        env.retain(|(other, _)| *other != name);
        env.push((name, value));
    }
    Ok(env)
}

/// Reads a time-out in seconds.
pub(crate) fn timeout(given: Option<f64>) -> Result<std::time::Duration, ApiError> {
    Ok(time_limit(given)?)
}

async fn exec(State(state): State<ShipState>, Body(request): Body<ShellRequest>) -> Result<Response, ApiError> {
    let (background, stream, cwd) = (request.background, request.stream, request.cwd.clone());
    let mut order = ShellCommand::parse(request, &state.env)?;
    let answer: ShellAnswer = match (background, stream) {
        (true, _) => {
            let launch = Launch::command(&state, order.command, cwd, order.env, order.deadline, &order.cwd)?;
            let job = Jobs::start(&state, launch).await?;
            ShellAnswer { success: true, pid: job.pid, process_id: Some(job.id.clone()), ..ShellAnswer::default() }
        }
        (false, false) => run::run(&state, order).await?,
        (false, true) => {
            let live = order.live.insert(Live::default()).clone();
            return Ok(as_lines(live, async move { run::run(&state, order).await }));
        }
    };
    Ok(Json(answer).into_response())
}

async fn list(State(state): State<ShipState>) -> Json<ProcessList> {
    Json(ProcessList { processes: state.jobs.list() })
}

async fn show(State(state): State<ShipState>, Path(id): Path<String>) -> Result<Json<ProcessInfo>, ApiError> {
    state.jobs.show(&id).map(Json)
}

/// The body means nothing; it is read so that a client that sends one is not cut off in the middle of it.
async fn kill(
    State(state): State<ShipState>,
    Path(id): Path<String>,
    _body: Bytes,
) -> Result<Json<ProcessInfo>, ApiError> {
    let jobs = Arc::clone(&state.jobs);
    jobs.kill(&id).await.map(Json)
}

async fn cwd() -> Json<WorkingFolder> {
    Json(WorkingFolder { cwd: WORKSPACE_MOUNT.to_owned() })
}
