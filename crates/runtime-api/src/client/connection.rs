//! A connection of its own: for a file on its way in, and for a terminal.

use hyper::body::{Body, Incoming};
use hyper::header::{self, HeaderMap, HeaderValue};
use hyper::http::request::Builder;
use hyper::upgrade::Upgraded;
use hyper::{Method, Request, Response, StatusCode};
use tokio::task::AbortHandle;

use super::endpoint::Stream;
use super::{CallError, refusal};
use crate::files::{UPLOAD_PATH, Uploaded};
use crate::ports::{PORT_PROTOCOL, PortTarget};
use crate::term;
use crate::view::ViewMode;
use cove_api::TerminalSize;

/// A connection that carries one request.
#[derive(Debug)]
pub struct Connection(Stream);

/// Ends the task behind a connection.
struct Carried(AbortHandle);

impl Drop for Carried {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Connection {
    pub(super) fn new(stream: Stream) -> Self {
        Self(stream)
    }

    /// Sends a multipart form with a file. Whoever makes the form limits how long it takes.
    pub async fn upload<B>(self, content_type: &str, form: B) -> Result<Uploaded, CallError>
    where
        B: Body<Data = bytes::Bytes> + Send + 'static,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let request =
            Request::builder().method(Method::POST).uri(UPLOAD_PATH).header(header::CONTENT_TYPE, content_type);
        let (answer, _carried) = self.send(request, form).await?;
        if !answer.status().is_success() {
            return Err(refusal(answer).await);
        }
        let read = http_body_util::Limited::new(answer.into_body(), crate::bounds::MAX_REFUSAL_BYTES);
        let read = http_body_util::BodyExt::collect(read).await.map_err(CallError::unreachable)?;
        serde_json::from_slice(&read.to_bytes()).map_err(CallError::unreadable)
    }

    /// Opens a terminal; `key` is the WebSocket handshake's. What the runtime answered to that,
    /// and the line to the terminal.
    pub async fn terminal(self, size: TerminalSize, key: &HeaderValue) -> Result<(HeaderMap, Upgraded), CallError> {
        self.upgrade(&term::address(size), key).await
    }

    /// Watches a browser; as for a terminal.
    pub async fn view(self, mode: ViewMode, key: &HeaderValue) -> Result<(HeaderMap, Upgraded), CallError> {
        self.upgrade(&mode.address(), key).await
    }

    /// Opens a connection to a port inside; every byte from here on is the program's that listens there.
    pub async fn port(self, target: PortTarget) -> Result<Upgraded, CallError> {
        self.become_other(PORT_PROTOCOL, &target.address(), |request| request).await.map(|(_, opened)| opened)
    }

    async fn upgrade(self, address: &str, key: &HeaderValue) -> Result<(HeaderMap, Upgraded), CallError> {
        let websocket = |request: Builder| {
            request.header(header::SEC_WEBSOCKET_VERSION, "13").header(header::SEC_WEBSOCKET_KEY, key)
        };
        self.become_other("websocket", address, websocket).await
    }

    async fn become_other(
        self,
        protocol: &str,
        address: &str,
        complete: impl FnOnce(Builder) -> Builder,
    ) -> Result<(HeaderMap, Upgraded), CallError> {
        let request = Request::builder()
            .method(Method::GET)
            .uri(address)
            .header(header::CONNECTION, "upgrade")
            .header(header::UPGRADE, protocol);
        let request = complete(request);
        let (answer, _carried) = self.send(request, http_body_util::Empty::<bytes::Bytes>::new()).await?;
        if answer.status() != StatusCode::SWITCHING_PROTOCOLS {
            return Err(refusal(answer).await);
        }
        let headers = answer.headers().clone();
        Ok((headers, hyper::upgrade::on(answer).await.map_err(CallError::unreachable)?))
    }

    async fn send<B>(self, request: Builder, body: B) -> Result<(Response<Incoming>, Carried), CallError>
    where
        B: Body + Send + 'static,
        B::Data: Send,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let request = request.header(header::HOST, "runtime").body(body).map_err(CallError::unreadable)?;
        let shaken = hyper::client::conn::http1::handshake(self.0).await;
        let (mut sender, connection) = shaken.map_err(CallError::unreachable)?;
        let carried = Carried(tokio::spawn(connection.with_upgrades()).abort_handle());
        Ok((sender.send_request(request).await.map_err(CallError::unreachable)?, carried))
    }
}
