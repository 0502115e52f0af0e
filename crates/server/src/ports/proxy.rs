//! One request to a program in a sandbox, and its answer.
//!
//! Each has a connection of its own, and is written anew from what was understood of it: lengths, hosts and what is about
//! connections cannot mean one thing here and another there. Bodies flow through without being kept.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::Response;
use cove_api::{ErrorCode, SandboxId};
use cove_bay::{Owner, PortConnection};
use hyper::body::{Frame, Incoming, SizeHint};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::io::AsyncWriteExt as _;
use tokio::task::AbortHandle;
use tokio_util::sync::WaitForCancellationFutureOwned;

use super::deadline::{HEAD, SentBody};
use super::headers::{FromGuest, for_guest, on_our_origin, on_own_origin, without_our_cookies};
use super::is_ours;
use crate::app::App;
use crate::failure::{Failure, Reply};
use crate::limits;
use crate::routes::websocket::is_websocket;

/// How long whoever was told to go on may take to do so.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// How long the end may take to be told.
const FAREWELL: Duration = Duration::from_secs(1);

/// A request to a port.
pub(super) struct PortCall {
    /// Whose sandbox it is.
    pub(super) owner: Owner,
    /// The sandbox.
    pub(super) id: SandboxId,
    /// The port.
    pub(super) port: u16,
    /// Path and query, as the program gets them.
    pub(super) target: String,
    /// How the caller came.
    pub(super) door: Door,
}

/// How a caller came to a port.
pub(super) enum Door {
    /// With a key, below this path of our origin.
    Api {
        /// Without a slash at its end.
        prefix: String,
    },
    /// On the port's own origin.
    Own {
        /// As the caller named it.
        host: HeaderValue,
        /// `http` or `https`.
        scheme: &'static str,
    },
}

/// Passes a request on and gives the answer.
pub(super) async fn pass(app: &App, call: PortCall, mut request: Request) -> Reply<Response> {
    if matches!(*request.method(), Method::CONNECT | Method::TRACE) {
        let message = format!("method {} is not passed on to a program in a sandbox", request.method());
        return Err(Failure::with_status(StatusCode::METHOD_NOT_ALLOWED, ErrorCode::ValidationError, message));
    }
    let websocket = *request.method() == Method::GET && is_websocket(request.headers());
    let upgrade = websocket.then(|| hyper::upgrade::on(&mut request));
    // Other streams are counted when it is seen that they are streams.
    let kept = if websocket { Some(app.streams.take(&call.owner)?) } else { None };
    let connection = app.run(0, app.bay.open_port(&call.owner, &call.id, call.port)).await?;
    let (parts, body) = request.into_parts();
    let mut sent = Request::new(());
    *sent.method_mut() = parts.method;
    *sent.uri_mut() = call.target.parse().map_err(|_| Failure::new(ErrorCode::NotFound, "invalid path"))?;
    *sent.headers_mut() = headers_of(&call, parts.headers, websocket)?;
    let (body, all_sent) = SentBody::new(body, app.options.body_read);
    let (mut sender, carried) = shake(connection).await?;
    let answering = sender.send_request(sent.map(|()| body));
    let late = async {
        all_sent.notified().await;
        tokio::time::sleep(HEAD).await;
    };
    let answer = tokio::select! {
        answer = answering => answer.map_err(|error| broken(&error, call.port))?,
        () = late => {
            let message = format!("the program on port {} did not answer within {} s", call.port, HEAD.as_secs());
            return Err(Failure::new(ErrorCode::Timeout, message));
        }
    };
    let mut response = Response::new(Body::empty());
    *response.status_mut() = answer.status();
    response.headers_mut().clone_from(answer.headers());
    match &call.door {
        Door::Api { prefix } => on_our_origin(response.headers_mut(), call.port, prefix),
        Door::Own { .. } => {
            on_own_origin(response.headers_mut(), call.port);
            response.extensions_mut().insert(FromGuest);
        }
    }
    if answer.status() == StatusCode::SWITCHING_PROTOCOLS {
        let Some(caller) = upgrade else { return Err(odd(call.port)) };
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("upgrade"));
        response.headers_mut().insert(header::UPGRADE, HeaderValue::from_static("websocket"));
        response.headers_mut().remove(header::CONTENT_LENGTH);
        if let Some(kept) = kept {
            response.extensions_mut().insert(kept);
        }
        let closing = app.closing.clone();
        tokio::spawn(async move {
            // Its connection ends with this task.
            let _carried = carried;
            let both = async { tokio::join!(caller, hyper::upgrade::on(answer)) };
            let Ok((Ok(caller), Ok(guest))) = tokio::time::timeout(HANDSHAKE, both).await else { return };
            let (mut from_caller, mut to_caller) = tokio::io::split(TokioIo::new(caller));
            let (mut from_guest, mut to_guest) = tokio::io::split(TokioIo::new(guest));
            // The end of either side is the end of both. How long nobody may say anything is the connection's own affair.
            tokio::select! {
                _ = tokio::io::copy(&mut from_caller, &mut to_guest) => {}
                _ = tokio::io::copy(&mut from_guest, &mut to_caller) => {}
                () = closing.cancelled() => {}
            }
            let _ = tokio::time::timeout(FAREWELL, to_caller.shutdown()).await;
        });
        return Ok(response);
    }
    let events = response.headers().get(header::CONTENT_TYPE);
    let events = events.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"));
    let closing = events.then(|| Box::pin(app.closing.clone().cancelled_owned()));
    *response.body_mut() = Body::new(GuestBody { inner: answer.into_body(), closing, _carried: carried });
    Ok(response)
}

/// The headers that the program gets.
fn headers_of(call: &PortCall, mut headers: HeaderMap, websocket: bool) -> Reply<HeaderMap> {
    for_guest(&mut headers);
    let wrong = |_| Failure::new(ErrorCode::InternalError, "a header could not be written");
    let local = HeaderValue::try_from(format!("localhost:{}", call.port)).map_err(wrong)?;
    match &call.door {
        Door::Api { prefix } => {
            let ours: Vec<_> = headers.keys().filter(|name| is_ours(name)).cloned().collect();
            for name in ours {
                headers.remove(name);
            }
            headers.remove(header::COOKIE);
            headers.insert(header::HOST, local);
            headers.insert("x-forwarded-prefix", HeaderValue::try_from(prefix).map_err(wrong)?);
        }
        Door::Own { host, scheme } => {
            without_our_cookies(&mut headers);
            headers.insert(header::HOST, host.clone());
            headers.insert("x-forwarded-host", host.clone());
            headers.insert("x-forwarded-proto", HeaderValue::from_static(scheme));
        }
    }
    if websocket {
        headers.insert(header::CONNECTION, HeaderValue::from_static("upgrade"));
        headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
    }
    Ok(headers)
}

/// Ends the task behind a connection, and the connection with it.
struct Carried(AbortHandle);

impl Drop for Carried {
    fn drop(&mut self) {
        self.0.abort();
    }
}

async fn shake(connection: PortConnection) -> Reply<(http1::SendRequest<SentBody>, Carried)> {
    let mut builder = http1::Builder::new();
    builder.max_headers(limits::MAX_HEADERS * 2).max_header_size(limits::MAX_HEADER_BYTES).max_buf_size(64 << 10);
    let shaken = builder.handshake(TokioIo::new(connection)).await;
    let (sender, connection) =
        shaken.map_err(|_| Failure::new(ErrorCode::InternalError, "the connection to the port broke"))?;
    let carried = Carried(tokio::spawn(connection.with_upgrades()).abort_handle());
    Ok((sender, carried))
}

/// A program that breaks off, or says what is no HTTP.
fn broken(error: &hyper::Error, port: u16) -> Failure {
    tracing::debug!(%error, "a program on a port did not answer as a server does");
    match std::error::Error::source(error).and_then(|cause| cause.downcast_ref::<std::io::Error>()) {
        Some(cause) if cause.kind() == std::io::ErrorKind::TimedOut => {
            Failure::new(ErrorCode::Timeout, format!("nothing moved on the connection to port {port} for too long"))
        }
        _ if error.is_user() => Failure::with_status(
            StatusCode::REQUEST_TIMEOUT,
            ErrorCode::Timeout,
            "the body did not arrive, or not in time",
        ),
        _ => odd(port),
    }
}

fn odd(port: u16) -> Failure {
    let message = format!("the program on port {port} did not answer as an HTTP server does");
    Failure::new(ErrorCode::PortClosed, message).with("port", port)
}

/// A program's answer on its way out; its connection ends with it.
struct GuestBody {
    inner: Incoming,
    /// A stream of events ends when the server does.
    closing: Option<Pin<Box<WaitForCancellationFutureOwned>>>,
    _carried: Carried,
}

impl HttpBody for GuestBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        match Pin::new(&mut self.inner).poll_frame(context) {
            // Trailers would be headers that nobody has looked at.
            Poll::Ready(Some(Ok(frame))) if frame.is_trailers() => Poll::Ready(None),
            Poll::Ready(frame) => Poll::Ready(frame),
            Poll::Pending => match &mut self.closing {
                Some(closing) => closing.as_mut().poll(context).map(|()| None),
                None => Poll::Pending,
            },
        }
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}
