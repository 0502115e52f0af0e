//! The client of a runtime, over a socket file or TCP.
//!
//! Connections are kept and used again. Every wait has a deadline, every body a limit.

mod connection;
mod endpoint;
mod follow;
mod live;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use cove_core::Deadline;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use serde_json::Value;

use crate::bounds::{MAX_ANSWER_BYTES, MAX_REFUSAL_BYTES};
use crate::files::DOWNLOAD_PATH;
use crate::{Call, Refusal};
use endpoint::Connector;

pub use connection::Connection;
pub use endpoint::{Endpoint, until_it_answers, until_it_listens};
pub use follow::Frames;

const JSON: &str = "application/json";

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// Nobody takes connections: the runtime is gone, and what was asked was surely not begun.
    #[error("the runtime takes no connections: {0}")]
    NoConnection(String),
    /// The connection broke: the runtime is gone, and nobody knows how far it came.
    #[error("the runtime cannot be reached: {0}")]
    Unreachable(String),
    /// No answer in time.
    #[error("the runtime did not answer within {0:?}")]
    Timeout(Duration),
    /// What came back is no answer.
    #[error("the runtime's answer cannot be read: {0}")]
    Unreadable(String),
    /// The runtime refused.
    #[error(transparent)]
    Refused(#[from] Refusal),
}

impl CallError {
    fn unreachable(error: impl std::fmt::Display) -> Self {
        Self::Unreachable(error.to_string())
    }

    fn unreadable(error: impl std::fmt::Display) -> Self {
        Self::Unreadable(error.to_string())
    }
}

/// Speaks to one runtime.
#[derive(Debug, Clone)]
pub struct RuntimeClient {
    connector: Connector,
    http: Client<Connector, Full<Bytes>>,
}

impl RuntimeClient {
    /// A client for this endpoint; connects when it is used.
    pub fn new(endpoint: impl Into<Endpoint>) -> Self {
        let connector = Connector(Arc::new(endpoint.into()));
        let http = Client::builder(TokioExecutor::new()).pool_max_idle_per_host(4).build(connector.clone());
        Self { connector, http }
    }

    /// Asks, and reads the answer.
    pub async fn call<C: Call>(&self, request: &C, deadline: Deadline) -> Result<C::Answer, CallError> {
        let body = match C::METHOD {
            Method::GET => Bytes::new(),
            _ => serde_json::to_vec(request).map_err(CallError::unreadable)?.into(),
        };
        let (status, bytes) = by(deadline, self.whole(C::METHOD, C::PATH, body)).await?;
        if !status.is_success() {
            return Err(Refusal::read(status.as_u16(), &bytes).into());
        }
        serde_json::from_slice(&bytes).map_err(CallError::unreadable)
    }

    /// Asks with any JSON and reads any JSON, also of a refusal: for whoever looks at the wire itself.
    pub async fn json(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
        deadline: impl Into<Deadline>,
    ) -> Result<(StatusCode, Value), CallError> {
        let body = body.map(|body| Bytes::from(body.to_string())).unwrap_or_default();
        let (status, bytes) = by(deadline.into(), self.whole(method, path, body)).await?;
        Ok((status, serde_json::from_slice(&bytes).map_err(CallError::unreadable)?))
    }

    /// Asks for a file. The answer's body is its bytes; nobody limits how long they take.
    pub async fn download(&self, path: &str, deadline: Deadline) -> Result<Response<Incoming>, CallError> {
        by(deadline, async {
            let address = format!("{DOWNLOAD_PATH}?path={}", escaped(path));
            let answer = self.send(Method::GET, &address, JSON, Bytes::new()).await?;
            if answer.status().is_success() { Ok(answer) } else { Err(refusal(answer).await) }
        })
        .await
    }

    /// A connection of its own, for a body that is streamed or a terminal.
    pub async fn connect(&self) -> Result<Connection, CallError> {
        let opened = self.connector.open().await;
        opened.map(Connection::new).map_err(|error| CallError::NoConnection(error.to_string()))
    }

    async fn whole(&self, method: Method, path: &str, body: Bytes) -> Result<(StatusCode, Bytes), CallError> {
        let answer = self.send(method, path, JSON, body).await?;
        let status = answer.status();
        let read = Limited::new(answer.into_body(), MAX_ANSWER_BYTES).collect().await;
        Ok((status, read.map_err(CallError::unreachable)?.to_bytes()))
    }

    /// Sends any body and returns the answer unread.
    pub async fn send(
        &self,
        method: Method,
        path: &str,
        content_type: &str,
        body: Bytes,
    ) -> Result<Response<Incoming>, CallError> {
        let request = Request::builder()
            .method(method)
            .uri(format!("http://runtime{path}"))
            .header("content-type", content_type)
            .body(Full::new(body))
            .map_err(CallError::unreadable)?;
        self.http.request(request).await.map_err(|error| {
            let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}")).unwrap_or_default();
            let told = format!("{error}{cause}");
            if error.is_connect() { CallError::NoConnection(told) } else { CallError::Unreachable(told) }
        })
    }
}

/// Waits for an answer, and no longer.
async fn by<T>(deadline: Deadline, answer: impl Future<Output = Result<T, CallError>>) -> Result<T, CallError> {
    let late = |_| CallError::Timeout(deadline.budget());
    tokio::time::timeout_at(deadline.at().into(), answer).await.map_err(late)?
}

/// Reads a refusal whose answer would have been a stream.
async fn refusal(answer: Response<Incoming>) -> CallError {
    let status = answer.status().as_u16();
    let read = Limited::new(answer.into_body(), MAX_REFUSAL_BYTES).collect().await;
    Refusal::read(status, &read.map(http_body_util::Collected::to_bytes).unwrap_or_default()).into()
}

/// A query's value.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' | b'/' => out.push(char::from(byte)),
            other => out.push_str(&format!("%{other:02X}")),
        }
    }
    out
}
