//! A WebSocket between a caller and a runtime.
//!
//! What is said on it is between the two; here the caller is let in, with the same key as everywhere, counted as a stream of
//! its owner, and bytes are carried.

use std::future::Future;
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::Response;
use cove_api::ErrorCode;
use cove_bay::{BayResult, Owner, RuntimeSocket};
use hyper_util::rt::TokioIo;

use crate::app::App;
use crate::failure::{Failure, Reply};

/// How long whoever was told to go on may take to do so.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// Answers the handshake of `request` with what `opening` gives for its key, and carries bytes from then on.
pub(super) async fn carry<F>(
    app: App,
    owner: &Owner,
    mut request: Request,
    opening: impl FnOnce(HeaderValue) -> F,
) -> Reply<Response>
where
    F: Future<Output = BayResult<RuntimeSocket>>,
{
    if !is_websocket(request.headers()) {
        let message = "this endpoint is a WebSocket: send `Connection: Upgrade` and `Upgrade: websocket`";
        return Err(Failure::with_status(StatusCode::UPGRADE_REQUIRED, ErrorCode::ValidationError, message));
    }
    let no_key = || Failure::new(ErrorCode::ValidationError, "the handshake has no `Sec-WebSocket-Key`");
    let key = request.headers().get(header::SEC_WEBSOCKET_KEY).cloned().ok_or_else(no_key)?;
    let kept = app.streams.take(owner)?;
    let upgrade = hyper::upgrade::on(&mut request);
    let socket = app.run(0, opening(key)).await?;
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    for name in [header::CONNECTION, header::UPGRADE, header::SEC_WEBSOCKET_ACCEPT] {
        if let Some(value) = socket.headers.get(&name) {
            response.headers_mut().insert(name, value.clone());
        }
    }
    response.extensions_mut().insert(kept);
    let closing = app.closing.clone();
    tokio::spawn(async move {
        match tokio::time::timeout(HANDSHAKE, upgrade).await {
            Ok(Ok(caller)) => socket.carry(TokioIo::new(caller), closing.cancelled()).await,
            _ => tracing::debug!("the client disconnected before its WebSocket opened"),
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
