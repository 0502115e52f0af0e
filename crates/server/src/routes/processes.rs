//! `/sandboxes/{id}/processes`: programs that run on by themselves; and a folder that is watched. Both are told as streams.

use std::convert::Infallible;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::sse::{Event as SseEvent, KeepAlive, Sse};
use axum::{Extension, Json};
use cove_api::{
    CreateProcess, ErrorCode, ProcessFrame, ProcessInfo, ProcessInput, ProcessList, ProcessQuery, ProcessSignal,
    SandboxId, TerminalSize, WatchFrame, WatchQuery,
};
use cove_bay::{FolderWatch, RunningProcess};
use futures_util::{Stream, stream};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;
use crate::caller::Caller;
use crate::extract::{Asked, Named, Sent};
use crate::failure::{Failure, Reply};
use crate::limits;
use crate::shares::Kept;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::default()
        .routes(routes!(start_process, list_processes))
        .routes(routes!(get_process))
        .routes(routes!(follow_process))
        .routes(routes!(write_process))
        .routes(routes!(signal_process))
        .routes(routes!(resize_process))
        .routes(routes!(watch_folder))
}

/// An event of a process's stream.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only its schema is used: the stream is written as it comes")]
struct SentProcessEvent {
    /// With output: where it ends, in bytes of all that the process has written.
    id: Option<String>,
    /// `process`, `output`, `ended`; or `error` with the body of an error, after which nothing comes.
    event: String,
    /// The event as JSON: its kind, and what belongs to it.
    #[schema(value_type = String, content_media_type = "application/json")]
    data: ProcessFrame,
}

/// An event of a watched folder's stream.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only its schema is used: the stream is written as it comes")]
struct SentWatchEvent {
    /// `watching`, `event`, `lost`, `gone`; or `error` with the body of an error, after which nothing comes.
    event: String,
    /// The event as JSON: its kind, and what belongs to it.
    #[schema(value_type = String, content_media_type = "application/json")]
    data: WatchFrame,
}

/// Start a process
///
/// A program that runs on by itself: a server, a watcher, a long job. It ends with the sandbox's session at the latest, and
/// at most 64 run at once.
#[utoipa::path(post, path = "/sandboxes/{id}/processes", tag = "processes", request_body = CreateProcess,
    responses((status = 201, body = ProcessInfo, description = "It runs")))]
async fn start_process(
    State(app): State<App>,
    Caller(owner): Caller,
    Named(id): Named<SandboxId>,
    Sent(wish): Sent<CreateProcess>,
) -> Reply<(StatusCode, Json<ProcessInfo>)> {
    let started = app.ask(app.bay.create_process(&owner, &id, wish)).await?;
    Ok((StatusCode::CREATED, Json(started)))
}

/// List processes
///
/// Those that were started here and are remembered, also some that have ended. Starts nothing: a sandbox that does not run
/// has none.
#[utoipa::path(get, path = "/sandboxes/{id}/processes", tag = "processes",
    responses((status = 200, body = ProcessList, description = "The processes, the oldest first")))]
async fn list_processes(
    State(app): State<App>,
    Caller(owner): Caller,
    Named(id): Named<SandboxId>,
) -> Reply<Json<ProcessList>> {
    app.ask(app.bay.processes(&owner, &id)).await.map(Json)
}

/// Get a process
///
/// With what it has written: the beginning and the end, where that is much.
#[utoipa::path(get, path = "/sandboxes/{id}/processes/{process_id}", tag = "processes",
    responses((status = 200, body = ProcessInfo, description = "The process")))]
async fn get_process(
    State(app): State<App>,
    Caller(owner): Caller,
    Named((id, process_id)): Named<(SandboxId, String)>,
) -> Reply<Json<ProcessInfo>> {
    app.ask(app.bay.process(&owner, &id, &process_id)).await.map(Json)
}

/// Follow a process
///
/// A stream of server-sent events until the process has ended: first `process`, then `output`, at last `ended`. Comments keep
/// a quiet stream open. Whoever leaves, leaves the process running; a client that reconnects continues where it was.
#[utoipa::path(get, path = "/sandboxes/{id}/processes/{process_id}/follow", tag = "processes",
    params(ProcessQuery, ("Last-Event-ID" = Option<u64>, Header, description = "After so many bytes of its output")),
    responses((status = 200, body = SentProcessEvent, content_type = "text/event-stream", description = "What happens")))]
async fn follow_process(
    State(app): State<App>,
    Caller(owner): Caller,
    Named((id, process_id)): Named<(SandboxId, String)>,
    Asked(query): Asked<ProcessQuery>,
    headers: HeaderMap,
) -> Reply<(Extension<Kept>, Sse<impl Stream<Item = Result<SseEvent, Infallible>> + use<>>)> {
    let kept = app.streams.take(&owner)?;
    let from = match headers.get("last-event-id") {
        Some(value) => Some(value.to_str().ok().and_then(|text| text.parse().ok()).ok_or_else(|| {
            Failure::new(ErrorCode::ValidationError, "`Last-Event-ID` must be the id of an event of this stream")
        })?),
        None => query.from,
    };
    let process = app.ask(app.bay.follow_process(&owner, &id, &process_id, from)).await?;
    Ok((Extension(kept), kept_open(process_events(process))))
}

/// Write to a process
///
/// To its standard input, where it was started with `input`, or to its terminal.
#[utoipa::path(post, path = "/sandboxes/{id}/processes/{process_id}/input", tag = "processes",
    request_body = ProcessInput, responses((status = 200, body = ProcessInfo, description = "It is written")))]
async fn write_process(
    State(app): State<App>,
    Caller(owner): Caller,
    Named((id, process_id)): Named<(SandboxId, String)>,
    Sent(input): Sent<ProcessInput>,
) -> Reply<Json<ProcessInfo>> {
    app.ask(app.bay.write_process(&owner, &id, &process_id, input)).await.map(Json)
}

/// Send a signal to a process
///
/// With 9 it is ended with everything that it has started, and has ended when this answers. One that has ended stays as it
/// is.
#[utoipa::path(post, path = "/sandboxes/{id}/processes/{process_id}/signal", tag = "processes",
    request_body = ProcessSignal, responses((status = 200, body = ProcessInfo, description = "It is sent")))]
async fn signal_process(
    State(app): State<App>,
    Caller(owner): Caller,
    Named((id, process_id)): Named<(SandboxId, String)>,
    Sent(wish): Sent<ProcessSignal>,
) -> Reply<Json<ProcessInfo>> {
    app.ask(app.bay.signal_process(&owner, &id, &process_id, wish.signal)).await.map(Json)
}

/// Resize a process's terminal
#[utoipa::path(post, path = "/sandboxes/{id}/processes/{process_id}/resize", tag = "processes",
    request_body = TerminalSize, responses((status = 200, body = ProcessInfo, description = "It has this size")))]
async fn resize_process(
    State(app): State<App>,
    Caller(owner): Caller,
    Named((id, process_id)): Named<(SandboxId, String)>,
    Sent(size): Sent<TerminalSize>,
) -> Reply<Json<ProcessInfo>> {
    app.ask(app.bay.resize_process(&owner, &id, &process_id, size)).await.map(Json)
}

/// Watch a folder
///
/// A stream of server-sent events: first `watching`, from which on nothing is missed, then an `event` for each change.
/// `lost` says how many were lost because too many came at once; `gone` ends the stream: the folder is no longer there.
#[utoipa::path(get, path = "/sandboxes/{id}/filesystem/watch", tag = "files", params(WatchQuery),
    responses((status = 200, body = SentWatchEvent, content_type = "text/event-stream", description = "What changes")))]
async fn watch_folder(
    State(app): State<App>,
    Caller(owner): Caller,
    Named(id): Named<SandboxId>,
    Asked(query): Asked<WatchQuery>,
) -> Reply<(Extension<Kept>, Sse<impl Stream<Item = Result<SseEvent, Infallible>> + use<>>)> {
    let kept = app.streams.take(&owner)?;
    let watch = app.ask(app.bay.watch_folder(&owner, &id, &query.path, query.recursive)).await?;
    Ok((Extension(kept), kept_open(watch_events(watch))))
}

fn kept_open<S: Stream<Item = Result<SseEvent, Infallible>> + Send + 'static>(
    events: S,
) -> Sse<impl Stream<Item = Result<SseEvent, Infallible>> + Send + use<S>> {
    Sse::new(events).keep_alive(KeepAlive::new().interval(limits::EVENT_KEEP_ALIVE))
}

fn process_events(process: RunningProcess) -> impl Stream<Item = Result<SseEvent, Infallible>> + Send {
    stream::unfold(Some(process), |process| async move {
        let mut process = process?;
        loop {
            let (event, is_last) = match process.next().await {
                Ok(ProcessFrame::Alive) => continue,
                Ok(frame) => {
                    let event = match &frame {
                        ProcessFrame::Process(_) | ProcessFrame::Alive => named("process", &frame),
                        ProcessFrame::Output(chunk) => named("output", &frame).id(chunk.end.to_string()),
                        ProcessFrame::Ended(_) => named("ended", &frame),
                    };
                    (event, matches!(frame, ProcessFrame::Ended(_)))
                }
                Err(error) => (named("error", &error.body("")), true),
            };
            return Some((Ok(event), (!is_last).then_some(process)));
        }
    })
}

fn watch_events(watch: FolderWatch) -> impl Stream<Item = Result<SseEvent, Infallible>> + Send {
    // Bay has heard by now that the watch has begun.
    let first = stream::iter([Ok(named("watching", &WatchFrame::Watching {}))]);
    let rest = stream::unfold(Some(watch), |watch| async move {
        let mut watch = watch?;
        loop {
            let (event, is_last) = match watch.next().await {
                Ok(WatchFrame::Alive {} | WatchFrame::Watching {}) => continue,
                Ok(frame @ WatchFrame::Event(_)) => (named("event", &frame), false),
                Ok(frame @ WatchFrame::Lost(_)) => (named("lost", &frame), false),
                Ok(frame @ WatchFrame::Gone {}) => (named("gone", &frame), true),
                Err(error) => (named("error", &error.body("")), true),
            };
            return Some((Ok(event), (!is_last).then_some(watch)));
        }
    });
    futures_util::StreamExt::chain(first, rest)
}

fn named(name: &str, value: &impl serde::Serialize) -> SseEvent {
    // Strings, numbers and lists of them always serialise.
    SseEvent::default().event(name).data(serde_json::to_string(value).unwrap_or_default())
}
