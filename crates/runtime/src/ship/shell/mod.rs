//! `/shell/…`: commands in `bash`, waited for or left running.

mod background;
mod run;

pub(crate) use background::Jobs;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::routing::{get, post};
use axum::{Json, Router};
use cove_workspace::{RelPath, WORKSPACE_MOUNT};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::ShipState;
use super::error::{ApiError, Body};
use super::fs::workspace::rel_path;
use crate::cell::Stopped;

/// What a command gets when it does not ask.
const DEFAULT_TIMEOUT_S: f64 = 30.0;

/// The longest that anybody waits for an answer in one request.
const MAX_TIMEOUT_S: f64 = 3600.0;

/// The routes of this part.
pub(crate) fn routes() -> Router<ShipState> {
    Router::new()
        .route("/shell/exec", post(exec))
        .route("/shell/processes", get(list))
        .route("/shell/processes/{id}", get(show).delete(kill))
        .route("/shell/processes/{id}/kill", post(kill))
        .route("/shell/cwd", get(cwd))
}

#[derive(Debug, Deserialize)]
pub(crate) struct ExecRequest {
    command: String,
    cwd: Option<String>,
    env: Option<BTreeMap<String, String>>,
    timeout: Option<f64>,
    #[serde(default)]
    background: bool,
}

/// A command, checked.
#[derive(Debug)]
pub(crate) struct Order {
    command: String,
    cwd: RelPath,
    env: Vec<(String, String)>,
    /// `None` for a background command that asked for no limit.
    timeout: Option<Duration>,
}

impl Order {
    fn parse(request: ExecRequest, profile: &[(String, String)]) -> Result<Self, ApiError> {
        if request.command.contains('\0') {
            return Err(ApiError::validation("`command` holds a NUL character"));
        }
        let timeout = match request.timeout {
            None if request.background => None,
            given => Some(timeout(given)?),
        };
        let mut env = profile.to_vec();
        for (name, value) in request.env.unwrap_or_default() {
            if name.is_empty() || name.contains(['=', '\0']) || value.contains('\0') {
                return Err(ApiError::validation(format!("invalid environment variable {name:?}")));
            }
            env.retain(|(other, _)| *other != name);
            env.push((name, value));
        }
        let cwd = rel_path(request.cwd.as_deref().filter(|cwd| !cwd.is_empty()).unwrap_or("."))?;
        Ok(Self { command: request.command, cwd, env, timeout })
    }
}

/// Reads a time-out in seconds.
pub(crate) fn timeout(given: Option<f64>) -> Result<Duration, ApiError> {
    let seconds = given.unwrap_or(DEFAULT_TIMEOUT_S);
    if !(seconds > 0.0 && seconds <= MAX_TIMEOUT_S) {
        return Err(ApiError::validation(format!("`timeout` must be more than 0 and at most {MAX_TIMEOUT_S} seconds")));
    }
    Ok(Duration::from_secs_f64(seconds))
}

/// The answer to a command.
#[derive(Debug, Serialize)]
pub(crate) struct ExecAnswer {
    success: bool,
    return_code: i32,
    stdout: String,
    stderr: String,
    pid: Option<i32>,
    process_id: Option<String>,
    error: Option<String>,
    signal: Option<i32>,
    /// Why it was ended by force, where that is known.
    stopped: Option<Stopped>,
    timed_out: bool,
    truncated: bool,
    execution_time_ms: u64,
}

async fn exec(State(state): State<ShipState>, Body(request): Body<ExecRequest>) -> Result<Json<ExecAnswer>, ApiError> {
    let background = request.background;
    let order = Order::parse(request, &state.env)?;
    if background { Jobs::start(&state, order).await.map(Json) } else { run::run(&state, order).await.map(Json) }
}

async fn list(State(state): State<ShipState>) -> Json<Value> {
    Json(json!({"processes": state.jobs.list()}))
}

async fn show(State(state): State<ShipState>, Path(id): Path<String>) -> Result<Json<Value>, ApiError> {
    state.jobs.show(&id).map(Json)
}

/// The body means nothing; it is read so that a client that sends one is not cut off in the middle of it.
async fn kill(State(state): State<ShipState>, Path(id): Path<String>, _body: Bytes) -> Result<Json<Value>, ApiError> {
    let jobs = Arc::clone(&state.jobs);
    jobs.kill(&id).await.map(Json)
}

async fn cwd() -> Json<Value> {
    Json(json!({"cwd": WORKSPACE_MOUNT}))
}
