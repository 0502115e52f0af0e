//! A terminal over a WebSocket: `GET /v1/sandboxes/{id}/terminal`.
//!
//! Beside the document, not in it: OpenAPI has no words for a WebSocket. What is said on it is between the caller and the
//! runtime; here the caller is let in, with the same key as everywhere, and bytes are carried.

use std::time::Duration;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::Response;
use cove_api::ErrorCode;
use cove_api::SandboxId;
use hyper_util::rt::TokioIo;
use serde::Deserialize;

use crate::app::App;
use crate::bounds::Bounded;
use crate::caller::Caller;
use crate::extract::{Asked, Named};
use crate::failure::{Failure, Reply};

/// How long whoever was told to go on may take to do so.
const HANDSHAKE: Duration = Duration::from_secs(10);

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
    mut request: Request,
) -> Reply<Response> {
    if !is_websocket(request.headers()) {
        let message = "this endpoint is a WebSocket: send `Connection: Upgrade` and `Upgrade: websocket`";
        return Err(Failure::with_status(StatusCode::UPGRADE_REQUIRED, ErrorCode::ValidationError, message));
    }
    let no_key = || Failure::new(ErrorCode::ValidationError, "the handshake has no `Sec-WebSocket-Key`");
    let key = request.headers().get(header::SEC_WEBSOCKET_KEY).cloned().ok_or_else(no_key)?;
    let kept = app.streams.take(&owner)?;
    let upgrade = hyper::upgrade::on(&mut request);
    let opening = app.bay.open_terminal(&owner, &id, (size.cols, size.rows), &key);
    let terminal = app.run(0, opening).await?;
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    for name in [header::CONNECTION, header::UPGRADE, header::SEC_WEBSOCKET_ACCEPT] {
        if let Some(value) = terminal.headers.get(&name) {
            response.headers_mut().insert(name, value.clone());
        }
    }
    response.extensions_mut().insert(kept);
    let closing = app.closing.clone();
    tokio::spawn(async move {
        match tokio::time::timeout(HANDSHAKE, upgrade).await {
            Ok(Ok(caller)) => terminal.carry(TokioIo::new(caller), closing.cancelled()).await,
            _ => tracing::debug!("the client disconnected before its terminal opened"),
        }
    });
    Ok(response)
}

/// Whether a request asks to become a WebSocket.
pub(crate) fn is_websocket(headers: &HeaderMap) -> bool {
    let says = |name: header::HeaderName, word: &str| {
        let all = headers.get_all(name);
        all.iter()
            .filter_map(|value| value.to_str().ok())
            .any(|text| text.split(',').any(|part| part.trim().eq_ignore_ascii_case(word)))
    };
    says(header::CONNECTION, "upgrade") && says(header::UPGRADE, "websocket")
}
