//! One request on its way to another Bay and back.
//!
//! Its deadline is made once, from the call's own time-out and what the other Bay adds to that. The other Bay keeps the
//! same time and answers first; ours ends what is left of a call when it does not.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::Response;
use cove_api::ErrorCode;
use cove_bay::SessionHome;
use cove_core::Deadline;
use futures_util::{Stream, StreamExt as _, stream};
use hyper_util::rt::TokioIo;
use serde::Deserialize;

use super::peers::Peer;
use super::seal::{self, FORWARDED};
use crate::app::App;
use crate::envelope::REQUEST_ID;
use crate::failure::Failure;
use crate::routes::websocket::is_websocket;
use crate::shares::BodyMemory;
use crate::{extract, limits};

/// For the way there and back, beyond what the other Bay itself allows a call.
const MARGIN: Duration = Duration::from_secs(5);

/// The time-out of a call that names none: the longest that an operation has by default, in seconds.
const USUAL_SECS: u64 = 60;

/// The longest time-out that a call may name, in seconds.
pub(super) const MAX_SECS: u64 = 600;

/// How long both sides of a terminal may take to become one.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// Why there is no answer.
#[derive(Debug)]
pub(crate) enum ForwardError {
    /// The request itself cannot be sent on, and this says why.
    Refused(Box<Failure>),
    /// Nobody took it: nothing has begun.
    NotBegun,
    /// It was sent, and no answer came: nobody knows.
    Unanswered,
}

impl ForwardError {
    /// For the caller. Where a repetition cannot do the work twice, it is invited.
    pub(crate) fn failure(self, safe_to_repeat: bool) -> Failure {
        let (failure, begun) = match (self, safe_to_repeat) {
            (Self::Refused(failure), _) => return *failure,
            (Self::NotBegun, _) => {
                let message = "the server that runs this sandbox cannot be reached; nothing was started, try again";
                (Failure::new(ErrorCode::SessionNotReady, message).with("retry_after_ms", 1_000), false)
            }
            (Self::Unanswered, true) => {
                let message = "the server that runs this sandbox does not answer; try again";
                (Failure::new(ErrorCode::SessionNotReady, message).with("retry_after_ms", 1_000), true)
            }
            (Self::Unanswered, false) => {
                let message = "the server that runs this sandbox does not answer; the work may have started: \
                               check the sandbox's history before you repeat it";
                (Failure::new(ErrorCode::Timeout, message), true)
            }
        };
        failure.with("may_have_begun", begun)
    }
}

/// Whether a request may be repeated without doing its work twice.
pub(super) fn is_safe_to_repeat(request: &Request) -> bool {
    let path = request.uri().path().trim_end_matches('/');
    matches!(*request.method(), Method::GET | Method::HEAD | Method::PUT | Method::DELETE)
        || request.headers().contains_key("idempotency-key")
        || path.ends_with("/stop")
        || path.ends_with("/keepalive")
}

/// Forwards a request. `own_secs` is its time-out, where the caller has read it already.
pub(crate) async fn forward(
    app: &App,
    home: &SessionHome,
    mut request: Request,
    own_secs: Option<u64>,
) -> Result<Response, ForwardError> {
    let client = app.peers.client().ok_or(ForwardError::NotBegun)?;
    let base = home.url.trim_end_matches('/');
    let peer = app.peers.peer(client, base);
    if peer.is_silent() {
        return Err(ForwardError::NotBegun);
    }
    let caller = is_websocket(request.headers()).then(|| hyper::upgrade::on(&mut request));
    let (parts, body) = request.into_parts();
    let target = parts.uri.path_and_query().map_or("/", |target| target.as_str());
    // As it goes over the wire; what would be read there as another path than here is not sent at all.
    let url = reqwest::Url::parse(&format!("{base}{target}")).ok().filter(|_| !has_dots(parts.uri.path()));
    let url = url.ok_or_else(|| refused(Failure::new(ErrorCode::NotFound, "a name in this path is invalid")))?;
    let (body, own_secs) = match own_secs {
        Some(own) => (reqwest::Body::wrap_stream(body.into_data_stream()), Some(own)),
        None => readied(app, &parts, body).await?,
    };
    let mut headers = end_to_end(&parts.headers);
    headers.remove(header::HOST);
    headers.remove(FORWARDED);
    if caller.is_some() {
        headers.insert(header::CONNECTION, HeaderValue::from_static("upgrade"));
        headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
    }
    let sent = url.query().map_or_else(|| url.path().to_owned(), |query| format!("{}?{query}", url.path()));
    let seal = seal::write(app, &parts.method, &sent, &headers, &home.instance_id).ok_or(ForwardError::NotBegun)?;
    headers.insert(FORWARDED, seal);
    let theirs: Deadline = match own_secs {
        Some(own) => Deadline::after(Duration::from_secs(own.min(MAX_SECS))).backstop(app.options.beyond),
        None => app.options.verb.into(),
    };
    let sending = client.request(parts.method, url).headers(headers).body(body).send();
    let answer = tokio::select! {
        sent = sending => sent.map_err(|error| {
            tracing::warn!(%base, %error, "a request could not be forwarded");
            if error.is_connect() { ForwardError::NotBegun } else { ForwardError::Unanswered }
        })?,
        () = peer.silent() => return Err(ForwardError::Unanswered),
        () = tokio::time::sleep_until(theirs.backstop(MARGIN).at().into()) => return Err(ForwardError::Unanswered),
    };
    let mut response = Response::new(Body::empty());
    *response.status_mut() = answer.status();
    *response.headers_mut() = end_to_end(answer.headers());
    response.headers_mut().remove(REQUEST_ID);
    if let (StatusCode::SWITCHING_PROTOCOLS, Some(caller)) = (answer.status(), caller) {
        for name in [header::CONNECTION, header::UPGRADE] {
            response.headers_mut().extend(answer.headers().get(&name).map(|value| (name, value.clone())));
        }
        let closing = app.closing.clone();
        tokio::spawn(async move {
            let both = async { tokio::join!(caller, answer.upgrade()) };
            // Quiet, a long day and the session's end are looked after where the terminal is.
            let Ok((Ok(caller), Ok(mut there))) = tokio::time::timeout(HANDSHAKE, both).await else { return };
            let mut caller = TokioIo::new(caller);
            tokio::select! {
                _ = tokio::io::copy_bidirectional(&mut caller, &mut there) => {}
                () = peer.silent() => {}
                () = closing.cancelled() => {}
            }
        });
        return Ok(response);
    }
    let events = answer
        .headers()
        .get(header::CONTENT_TYPE)
        .is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"));
    // A stream of events may be quiet for as long as nothing happens; everything else goes on, or has broken off.
    let stall = (!events).then_some(app.options.body_read);
    *response.body_mut() = Body::from_stream(watched(Box::pin(answer.bytes_stream()), peer, stall));
    Ok(response)
}

fn refused(failure: Failure) -> ForwardError {
    ForwardError::Refused(Box::new(failure))
}

/// The body to send, and the call's own time-out. A file is passed on as it comes; anything else is small enough to be
/// read first, as the other Bay will.
async fn readied(app: &App, parts: &Parts, body: Body) -> Result<(reqwest::Body, Option<u64>), ForwardError> {
    #[derive(Deserialize)]
    struct Timed {
        timeout: Option<u64>,
    }
    let kind = parts.headers.get(header::CONTENT_TYPE).map(HeaderValue::as_bytes).unwrap_or_default();
    if kind.get(..10).is_some_and(|start| start.eq_ignore_ascii_case(b"multipart/")) {
        // Its time is bounded where it is written; here only by the other Bay's silence, and by this.
        return Ok((reqwest::Body::wrap_stream(body.into_data_stream()), Some(MAX_SECS)));
    }
    let memory = parts.extensions.get::<BodyMemory>();
    let whole = extract::whole(&parts.headers, memory, body, limits::MAX_JSON_BYTES, &app.options).await;
    let bytes = whole.map_err(refused)?;
    if bytes.is_empty() {
        return Ok((bytes.into(), None));
    }
    // What does not fit is refused there.
    let own = serde_json::from_slice::<Timed>(&bytes).ok().and_then(|timed| timed.timeout);
    Ok((bytes.into(), Some(own.unwrap_or(USUAL_SECS))))
}

/// Whether a segment of a path is `.` or `..`, also encoded: a client of HTTP would resolve it, and ask for something else.
fn has_dots(path: &str) -> bool {
    path.split('/').any(|segment| {
        let plain = segment.to_ascii_lowercase().replace("%2e", ".");
        plain == "." || plain == ".."
    })
}

/// A body that breaks off, and does not merely end, when the Bay that sends it is silent or stalls.
fn watched<E: std::error::Error + Send + Sync + 'static>(
    pieces: impl Stream<Item = Result<Bytes, E>> + Unpin + Send,
    peer: Arc<Peer>,
    stall: Option<Duration>,
) -> impl Stream<Item = io::Result<Bytes>> + Send {
    stream::unfold(Some((pieces, peer)), move |state| async move {
        let (mut pieces, peer) = state?;
        let stalled = async {
            match stall {
                Some(limit) => tokio::time::sleep(limit).await,
                None => std::future::pending().await,
            }
        };
        let piece = tokio::select! {
            biased;
            piece = pieces.next() => piece?.map_err(io::Error::other),
            () = peer.silent() => Err(io::Error::other("the server that sends this does not answer")),
            () = stalled => Err(io::Error::other("the server that sends this sends nothing more")),
        };
        let go_on = piece.is_ok().then_some((pieces, peer));
        Some((piece, go_on))
    })
}

/// Without the headers that are about one connection only.
fn end_to_end(headers: &HeaderMap) -> HeaderMap {
    let mut kept = headers.clone();
    for name in [header::CONNECTION, header::TRANSFER_ENCODING, header::TE, header::TRAILER, header::UPGRADE] {
        kept.remove(name);
    }
    kept.remove("keep-alive");
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_client_would_resolve_is_not_sent() {
        for path in ["/v1/a/..", "/v1/./a", "/a/%2e%2E/b", "/a/.%2e", "/%2e"] {
            assert!(has_dots(path), "{path}");
        }
        for path in ["/v1/sandboxes/x", "/a/...", "/a/%252e%252e/b", "/a/..b", "/"] {
            assert!(!has_dots(path), "{path}");
        }
    }

    #[test]
    fn a_repetition_is_invited_only_where_it_is_safe() {
        let check = |method: &str, path: &str, key: Option<&str>| {
            let mut request = Request::builder().method(method).uri(path);
            request = key.into_iter().fold(request, |request, key| request.header("idempotency-key", key));
            is_safe_to_repeat(&request.body(Body::empty()).unwrap())
        };
        assert!(check("GET", "/v1/sandboxes/x", None) && check("DELETE", "/v1/sandboxes/x", None));
        assert!(check("POST", "/v1/sandboxes/x/stop", None) && check("POST", "/v1/sandboxes/x/extend_ttl", Some("k")));
        assert!(
            !check("POST", "/v1/sandboxes/x/shell/exec", None) && !check("PATCH", "/v1/sandboxes/x/history/e", None)
        );
    }
}
