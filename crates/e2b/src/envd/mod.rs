//! envd, as clients find it at port 49983 of a sandbox: processes, files, and whether it is there.

mod entries;
mod files;
mod filesystem;
mod multipart;
mod process;
mod watch;

use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use axum::routing::{any, get, post};
use axum::{Json, Router};
use serde_json::json;

use crate::connect;
use crate::door::E2bDoor;
use crate::refusal::Refused;

/// As which envd this one is taken: what clients may expect of it follows from the number.
pub(crate) const VERSION: &str = "0.6.4";

/// The largest unary message.
const MAX_BODY_BYTES: usize = 32 << 20;

/// Everything at that port.
pub(crate) fn router(door: E2bDoor) -> Router {
    Router::new()
        .route("/health", get(health))
        .route("/init", post(init))
        .route("/envs", get(envs))
        .route("/files", get(files::download).post(files::upload))
        .route("/process.Process/List", post(process::list))
        .route("/process.Process/Start", post(process::start))
        .route("/process.Process/Connect", post(process::connect))
        .route("/process.Process/Update", post(process::update))
        .route("/process.Process/SendInput", post(process::send_input))
        .route("/process.Process/StreamInput", post(process::stream_input))
        .route("/process.Process/SendSignal", post(process::send_signal))
        .route("/process.Process/CloseStdin", post(process::close_stdin))
        .route("/process.Process/{*rest}", any(unknown_call))
        .route("/filesystem.Filesystem/Stat", post(filesystem::stat))
        .route("/filesystem.Filesystem/ListDir", post(filesystem::list_dir))
        .route("/filesystem.Filesystem/MakeDir", post(filesystem::make_dir))
        .route("/filesystem.Filesystem/Move", post(filesystem::rename))
        .route("/filesystem.Filesystem/Remove", post(filesystem::remove))
        .route("/filesystem.Filesystem/WatchDir", post(watch::watch_dir))
        .route("/filesystem.Filesystem/CreateWatcher", post(watch::create))
        .route("/filesystem.Filesystem/GetWatcherEvents", post(watch::events))
        .route("/filesystem.Filesystem/RemoveWatcher", post(watch::remove))
        .route("/filesystem.Filesystem/{*rest}", any(unknown_call))
        .fallback(unknown)
        .layer(DefaultBodyLimit::max(MAX_BODY_BYTES))
        .with_state(door)
}

/// Whether the sandbox takes traffic.
async fn health(State(door): State<E2bDoor>, request: Request) -> Response {
    match door.guest(&request.into_parts().0).await {
        Ok(_) => StatusCode::NO_CONTENT.into_response(),
        Err(refused) => refused.into_response(),
    }
}

/// What a sandbox needs at its start it has had.
async fn init(State(door): State<E2bDoor>, request: Request) -> Response {
    health(State(door), request).await
}

async fn envs(State(door): State<E2bDoor>, request: Request) -> Response {
    match door.guest(&request.into_parts().0).await {
        Ok(guest) => Json(json!(guest.record.envs)).into_response(),
        Err(refused) => refused.into_response(),
    }
}

async fn unknown_call(request: Request) -> Response {
    let message = format!("there is no method {}", request.uri().path());
    connect::unary::<()>(Err(Refused::unsupported(message)))
}

async fn unknown(request: Request) -> Refused {
    Refused::unsupported(format!("envd here has no {} {}", request.method(), request.uri().path()))
}
