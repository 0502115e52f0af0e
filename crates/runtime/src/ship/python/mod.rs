//! `/ipython/…`: Python that remembers.

mod interpreter;
mod kernel;
mod zygote;

pub(crate) use interpreter::Recipe;
pub(crate) use kernel::Kernel;

use axum::body::Bytes;
use axum::extract::State;
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::ShipState;
use super::error::{ApiError, Body};
use crate::cell::Stopped;

/// When IPython's shell runs the cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum IPythonUse {
    /// From the first cell that needs it on (magics, `!command`, `name?`, `get_ipython`), if it is installed: importing
    /// it takes ten times as long as starting Python.
    #[default]
    Auto,
    /// From the start, if it is installed.
    Always,
    /// Never.
    Never,
}

impl IPythonUse {
    fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Always => "always",
            Self::Never => "never",
        }
    }
}

/// The routes of this part.
pub(crate) fn routes() -> Router<ShipState> {
    Router::new()
        .route("/ipython/exec", post(exec))
        .route("/ipython/kernel_status", get(status))
        .route("/ipython/kernel/status", get(status))
        .route("/ipython/kernel/restart", post(restart))
        .route("/ipython/restart", post(restart))
}

#[derive(Debug, Deserialize)]
struct ExecRequest {
    code: String,
    timeout: Option<f64>,
    #[serde(default)]
    silent: bool,
}

/// The answer to a cell.
#[derive(Debug, Serialize)]
pub(crate) struct ExecAnswer {
    success: bool,
    execution_count: Option<u64>,
    output: Output,
    error: Option<String>,
    error_name: Option<String>,
    stdout: String,
    stderr: String,
    timed_out: bool,
    /// The signal that has ended the interpreter, where one has.
    signal: Option<i32>,
    /// Why the interpreter was ended by force, where that is known.
    stopped: Option<Stopped>,
    /// The interpreter had to be replaced: variables are gone.
    state_lost: bool,
    truncated: bool,
    execution_time_ms: u64,
}

#[derive(Debug, Default, Serialize)]
struct Output {
    text: String,
    images: Vec<Value>,
}

async fn exec(State(state): State<ShipState>, Body(request): Body<ExecRequest>) -> Result<Json<ExecAnswer>, ApiError> {
    let limit = super::shell::timeout(request.timeout)?;
    let mut answer = state.kernel.run(request.code, limit).await?;
    if request.silent {
        answer.output = Output::default();
        answer.stdout.clear();
        answer.stderr.clear();
    }
    Ok(Json(answer))
}

async fn status(State(state): State<ShipState>) -> Json<Value> {
    Json(state.kernel.status())
}

/// The body means nothing; it is read so that a client that sends one is not cut off in the middle of it.
async fn restart(State(state): State<ShipState>, _body: Bytes) -> Result<Json<Value>, ApiError> {
    state.kernel.restart().await?;
    Ok(Json(json!({"success": true, "message": "Kernel restarted; all variables are gone"})))
}
