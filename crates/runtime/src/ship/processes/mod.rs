//! `/processes/…`: programs that run on by themselves.
//!
//! All of them end with Ship. Nobody has to read what one writes, and nobody can stop one by not reading it.

mod input;
mod jobs;
mod launch;
mod running;

pub(crate) use jobs::Jobs;
pub(crate) use launch::Launch;

use std::convert::Infallible;
use std::sync::Arc;

use axum::body::{Body as HttpBody, Bytes};
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use axum::{Json, Router};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cove_runtime_api::{
    Call, FollowProcess, PROCESS_HEARTBEAT, ProcessChunk, ProcessFrame, ProcessInfo, ResizeProcess, ShowProcess,
    SignalProcess, StartProcess, WriteProcess,
};
use rustix::process::Signal;

use super::ShipState;
use super::error::{ApiError, Body};
use crate::process::{Follower, Piece};
use jobs::Job;

/// The routes of this part.
pub(crate) fn routes() -> Router<ShipState> {
    Router::new()
        .route(StartProcess::PATH, post(start))
        .route(FollowProcess::PATH, post(follow))
        .route(WriteProcess::PATH, post(write))
        .route(SignalProcess::PATH, post(signal))
        .route(ResizeProcess::PATH, post(resize))
        .route(ShowProcess::PATH, post(show))
}

async fn start(State(state): State<ShipState>, Body(request): Body<StartProcess>) -> Result<Response, ApiError> {
    let follow = request.follow;
    let launch = Launch::program(&state, request)?;
    if !follow {
        let job = Jobs::start(&state, launch).await?;
        return Ok(Json(job.summary()).into_response());
    }
    let (job, follower) = Jobs::start_followed(&state, launch, |job| job.transcript.follow(Some(0))).await?;
    Ok(frames(job, follower))
}

async fn follow(State(state): State<ShipState>, Body(request): Body<FollowProcess>) -> Result<Response, ApiError> {
    let job = state.jobs.find(&request.process_id)?;
    let follower = job.transcript.follow(request.from);
    Ok(frames(job, follower))
}

async fn write(
    State(state): State<ShipState>,
    Body(request): Body<WriteProcess>,
) -> Result<Json<ProcessInfo>, ApiError> {
    let job = state.jobs.find(&request.process_id)?;
    let bytes = STANDARD.decode(&request.data).map_err(|_| ApiError::validation("`data` is not base64"))?;
    let Some(input) = &job.input else {
        return Err(ApiError::conflict("the process was started without a standard input; start it with `input`"));
    };
    input.put(&bytes, request.end).await?;
    Ok(Json(job.summary()))
}

async fn signal(
    State(state): State<ShipState>,
    Body(request): Body<SignalProcess>,
) -> Result<Json<ProcessInfo>, ApiError> {
    let job = state.jobs.find(&request.process_id)?;
    let wrong = || ApiError::validation(format!("unknown signal {}; signals are 1 to 31", request.signal));
    let signal = Signal::from_named_raw(request.signal).ok_or_else(wrong)?;
    job.signal(signal).await?;
    Ok(Json(job.summary()))
}

async fn resize(
    State(state): State<ShipState>,
    Body(request): Body<ResizeProcess>,
) -> Result<Json<ProcessInfo>, ApiError> {
    let job = state.jobs.find(&request.process_id)?;
    let missing = || ApiError::conflict("the process was not started in a terminal");
    job.terminal.as_ref().ok_or_else(missing)?.resize(request.size.cols, request.size.rows);
    Ok(Json(job.summary()))
}

async fn show(State(state): State<ShipState>, Body(request): Body<ShowProcess>) -> Result<Json<ProcessInfo>, ApiError> {
    state.jobs.show(&request.process_id).map(Json)
}

/// Where a stream of frames is.
enum Told {
    Nothing,
    Begin,
    End,
}

/// Everything that a follower hears, line by line, then how the process ended.
fn frames(job: Arc<Job>, follower: Follower) -> Response {
    let lines = futures_util::stream::unfold((job, follower, Told::Nothing), |(job, mut follower, told)| async move {
        let (frame, told) = match told {
            Told::Nothing => (ProcessFrame::Process(job.summary()), Told::Begin),
            Told::Begin => match tokio::time::timeout(PROCESS_HEARTBEAT, follower.next()).await {
                Err(_) => (ProcessFrame::Alive, Told::Begin),
                Ok(Some(piece)) => (ProcessFrame::Output(chunk(&piece)), Told::Begin),
                Ok(None) => (ProcessFrame::Ended(job.summary()), Told::End),
            },
            Told::End => return None,
        };
        // Strings, numbers and lists of them always serialise.
        let mut line = serde_json::to_string(&frame).unwrap_or_default();
        line.push('\n');
        Some((Ok::<_, Infallible>(Bytes::from(line)), (job, follower, told)))
    });
    ([(header::CONTENT_TYPE, "application/x-ndjson")], HttpBody::from_stream(lines)).into_response()
}

fn chunk(piece: &Piece) -> ProcessChunk {
    let Piece { stream, bytes, end, dropped } = piece;
    ProcessChunk { stream: *stream, data: STANDARD.encode(bytes), end: *end, dropped: *dropped }
}
