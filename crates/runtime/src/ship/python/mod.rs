//! `/ipython/…`: Python that remembers.

mod interpreter;
mod kernel;
mod kernels;
mod zygote;

pub(crate) use interpreter::Recipe;
pub(crate) use kernels::Kernels;

use axum::body::Bytes;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use cove_core::Deadline;
use cove_runtime_api::{
    Call, EndPython, KernelStatus, PythonAnswer, PythonOutput, PythonRequest, Restarted, time_limit,
};
use serde::{Deserialize, Serialize};

use super::ShipState;
use super::answer_lines::as_lines;
use super::error::{ApiError, Body};
use crate::process::Live;
use interpreter::Cell;

/// When IPython's shell runs the cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum IPythonUse {
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
        .route(PythonRequest::PATH, post(exec))
        .route(EndPython::PATH, post(end))
        .route("/ipython/kernel_status", get(status))
        .route("/ipython/kernel/status", get(status))
        .route("/ipython/kernel/restart", post(restart))
        .route("/ipython/restart", post(restart))
}

async fn exec(State(state): State<ShipState>, Body(request): Body<PythonRequest>) -> Result<Response, ApiError> {
    let deadline = Deadline::after(time_limit(request.timeout)?);
    if request.stream {
        let live = Live::default();
        let work = run(state, request, deadline, Some(live.clone()));
        return Ok(as_lines(live, work));
    }
    Ok(Json(run(state, request, deadline, None).await?).into_response())
}

async fn run(
    state: ShipState,
    request: PythonRequest,
    deadline: Deadline,
    live: Option<Live>,
) -> Result<PythonAnswer, ApiError> {
    let kernel = state.kernels.named(request.session.as_deref())?;
    let cell = Cell { code: request.code, env: request.env, value_apart: request.value_apart };
    let mut answer = kernel.run(cell, deadline, live).await?;
    if request.silent {
        answer.output = PythonOutput::default();
        answer.stdout.clear();
        answer.stderr.clear();
    }
    Ok(answer)
}

async fn status(State(state): State<ShipState>) -> Json<KernelStatus> {
    Json(state.kernels.usual().status())
}

/// The body means nothing; it is read so that a client that sends one is not cut off in the middle of it.
async fn restart(State(state): State<ShipState>, _body: Bytes) -> Result<Json<Restarted>, ApiError> {
    state.kernels.usual().restart().await?;
    Ok(Json(Restarted { success: true, message: "Kernel restarted; all variables are gone".to_owned() }))
}

/// Ends one of those with a name, or restarts the usual one.
async fn end(State(state): State<ShipState>, Body(request): Body<EndPython>) -> Result<Json<Restarted>, ApiError> {
    let message = match &request.session {
        None => {
            state.kernels.usual().restart().await?;
            "Kernel restarted; all variables are gone".to_owned()
        }
        Some(name) => {
            state.kernels.end(name).await?;
            format!("The interpreter {name} has ended; all its variables are gone")
        }
    };
    Ok(Json(Restarted { success: true, message }))
}
