//! A sandbox's browser, live, over a WebSocket: `GET /v1/sandboxes/{id}/browser/view`.
//!
//! Beside the document, as the terminal is. Whoever came by a shared link may look; with `control=true` the caller may take
//! the browser over, which is as much as running commands in it.

use axum::extract::{Request, State};
use axum::response::Response;
use cove_api::{ErrorCode, SandboxId};
use serde::Deserialize;

use super::websocket;
use crate::app::App;
use crate::bounds::Bounded;
use crate::caller::Caller;
use crate::extract::{Asked, Named};
use crate::failure::{Failure, Reply};
use crate::keys::Identity;

/// What the watcher may do.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Mode {
    control: bool,
}

impl Bounded for Mode {}

/// Opens the view.
pub(super) async fn open(
    State(app): State<App>,
    Caller(owner): Caller,
    axum::Extension(identity): axum::Extension<Identity>,
    Named(id): Named<SandboxId>,
    Asked(mode): Asked<Mode>,
    request: Request,
) -> Reply<Response> {
    if mode.control && identity.only.is_some() {
        return Err(Failure::new(ErrorCode::Forbidden, format!("this link may only look at {id}")));
    }
    let bay = app.bay.clone();
    let opening = async |key| bay.open_view(&owner, &id, mode.control, &key).await;
    websocket::carry(app, &owner, request, opening).await
}
