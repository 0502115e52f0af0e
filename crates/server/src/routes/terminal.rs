//! A terminal over a WebSocket: `GET /v1/sandboxes/{id}/terminal`.
//!
//! Beside the document, not in it: OpenAPI has no words for a WebSocket.

use axum::extract::{Request, State};
use axum::response::Response;
use cove_api::SandboxId;
use serde::Deserialize;

use super::websocket;
use crate::app::App;
use crate::bounds::Bounded;
use crate::caller::Caller;
use crate::extract::{Asked, Named};
use crate::failure::Reply;

/// How large it is.
#[derive(Debug, Deserialize)]
#[serde(default)]
pub(super) struct Size {
    cols: u16,
    rows: u16,
}

impl Default for Size {
    fn default() -> Self {
        Self { cols: 80, rows: 24 }
    }
}

impl Bounded for Size {}

/// Opens a terminal.
pub(super) async fn open(
    State(app): State<App>,
    Caller(owner): Caller,
    Named(id): Named<SandboxId>,
    Asked(size): Asked<Size>,
    request: Request,
) -> Reply<Response> {
    let bay = app.bay.clone();
    let opening = async |key| bay.open_terminal(&owner, &id, (size.cols, size.rows), &key).await;
    websocket::carry(app, &owner, request, opening).await
}
