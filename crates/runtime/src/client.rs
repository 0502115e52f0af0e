//! A client for a Ship behind a Unix socket.
//!
//! Connections are kept and used again. What a Ship answers comes from a guest's world and is not to be trusted: bodies
//! are bounded here, and callers check what is in them.

use std::future::Future;
use std::io;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use cove_core::{LogLine, ToolCall, ToolError, ToolSpec};
use cove_files::FileTool;
use http_body_util::{BodyExt, Full, Limited};
pub use hyper::Method;
use hyper::{Request, Response, StatusCode, Uri};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::{Connected, Connection};
use hyper_util::rt::{TokioExecutor, TokioIo};
use serde_json::Value;
use tokio::net::UnixStream;

/// No honest answer is larger: pictures are the largest part, and Ship bounds them.
const MAX_ANSWER_BYTES: usize = 96 << 20;

/// A tool gives up by itself before this.
const TOOL_LIMIT: Duration = Duration::from_secs(40);

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// Nobody takes connections: the runtime is gone, and what was asked was surely not begun.
    #[error("the runtime takes no connections: {0}")]
    Refused(String),
    /// The connection broke: the runtime is gone, and nobody knows how far it came.
    #[error("the runtime cannot be reached: {0}")]
    Unreachable(String),
    /// No answer in time.
    #[error("the runtime did not answer within {0:?}")]
    Timeout(Duration),
    /// What came back is no answer.
    #[error("the runtime's answer cannot be read: {0}")]
    Answer(String),
}

/// Speaks HTTP to one socket.
#[derive(Debug, Clone)]
pub struct ShipClient {
    http: Client<Connector, Full<Bytes>>,
}

impl ShipClient {
    /// A client for the socket at `path`; connects when it is used.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        let path: PathBuf = path.into();
        let connector = Connector { path: path.into() };
        Self { http: Client::builder(TokioExecutor::new()).pool_max_idle_per_host(4).build(connector) }
    }

    /// Asks with a JSON body (or none) and reads a JSON answer.
    pub async fn json(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
        limit: Duration,
    ) -> Result<(StatusCode, Value), ClientError> {
        let body = body.map(|body| Bytes::from(body.to_string())).unwrap_or_default();
        let whole = async {
            let answer = self.send(method, path, "application/json", body).await?;
            let status = answer.status();
            let limited = Limited::new(answer.into_body(), MAX_ANSWER_BYTES);
            let bytes =
                limited.collect().await.map_err(|error| ClientError::Unreachable(error.to_string()))?.to_bytes();
            let value = serde_json::from_slice(&bytes).map_err(|error| ClientError::Answer(error.to_string()))?;
            Ok((status, value))
        };
        tokio::time::timeout(limit, whole).await.map_err(|_| ClientError::Timeout(limit))?
    }

    /// Runs JavaScript as `/javascript/exec` does, and hears console lines while they are written.
    pub async fn javascript(
        &self,
        body: &Value,
        limit: Duration,
        mut heard: impl FnMut(LogLine),
    ) -> Result<(StatusCode, Value), ClientError> {
        let mut body = body.clone();
        if let Some(body) = body.as_object_mut() {
            body.insert("stream".to_owned(), true.into());
        }
        let unreadable = |error: serde_json::Error| ClientError::Answer(error.to_string());
        let whole = async {
            let answer =
                self.send(Method::POST, "/javascript/exec", "application/json", body.to_string().into()).await?;
            let status = answer.status();
            let mut body = Limited::new(answer.into_body(), MAX_ANSWER_BYTES);
            let mut kept = Vec::new();
            while let Some(frame) = body.frame().await {
                let frame = frame.map_err(|error| ClientError::Unreachable(error.to_string()))?;
                kept.extend_from_slice(frame.data_ref().map(AsRef::as_ref).unwrap_or_default());
                // A refusal is one object; everything else is one object per line.
                while status.is_success()
                    && let Some(end) = kept.iter().position(|byte| *byte == b'\n')
                {
                    let mut line: Value = serde_json::from_slice(&kept[..end]).map_err(unreadable)?;
                    kept.drain(..=end);
                    if line["answer"].is_object() {
                        return Ok((status, line["answer"].take()));
                    }
                    if let Ok(line) = serde_json::from_value(line["log"].take()) {
                        heard(line);
                    }
                }
            }
            if status.is_success() {
                return Err(ClientError::Unreachable("the answer broke off".to_owned()));
            }
            Ok((status, serde_json::from_slice(&kept).map_err(unreadable)?))
        };
        tokio::time::timeout(limit, whole).await.map_err(|_| ClientError::Timeout(limit))?
    }

    /// Sends any body and returns the answer unread, for streaming.
    pub async fn send(
        &self,
        method: Method,
        path: &str,
        content_type: &str,
        body: Bytes,
    ) -> Result<Response<hyper::body::Incoming>, ClientError> {
        let request = Request::builder()
            .method(method)
            .uri(format!("http://ship{path}"))
            .header("content-type", content_type)
            .body(Full::new(body))
            .map_err(|error| ClientError::Answer(error.to_string()))?;
        self.http.request(request).await.map_err(|error| {
            let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}")).unwrap_or_default();
            let told = format!("{error}{cause}");
            if error.is_connect() { ClientError::Refused(told) } else { ClientError::Unreachable(told) }
        })
    }
}

/// The file tools for a JavaScript session (`read`, `readTool`, `write`, …), run by this Ship inside its walls.
pub fn file_tools(ship: &ShipClient) -> Vec<ToolSpec> {
    let names = FileTool::ALL.into_iter().flat_map(|tool| [(tool, ""), (tool, "Tool")]);
    names
        .map(|(tool, ending)| {
            let ship = ship.clone();
            let mut spec = ToolSpec::new(format!("{}{ending}", tool.name()), move |call: ToolCall| {
                let ship = ship.clone();
                async move { ship.tool(tool, call).await }
            });
            spec.description = tool.description().to_owned();
            spec.schema = Some(tool.schema());
            spec
        })
        .collect()
}

impl ShipClient {
    async fn tool(&self, tool: FileTool, call: ToolCall) -> Result<Value, ToolError> {
        let body = serde_json::json!({"tool": tool.name(), "args": call.args});
        let answer = self.json(Method::POST, "/fs/tool", Some(&body), TOOL_LIMIT).await;
        let (status, mut answer) = answer.map_err(|error| ToolError::new(error.to_string()))?;
        if status.is_success() {
            return Ok(answer);
        }
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let error = answer["error"].take();
        let message = text(&error["message"]).unwrap_or_else(|| format!("{} failed", tool.name()));
        Err(ToolError { message, code: text(&error["code"]) })
    }
}

/// Opens connections to one socket, whatever the address says.
#[derive(Debug, Clone)]
struct Connector {
    path: Arc<Path>,
}

impl tower_service::Service<Uri> for Connector {
    type Response = Stream;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Stream>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Uri) -> Self::Future {
        let path = Arc::clone(&self.path);
        Box::pin(async move { Ok(Stream(TokioIo::new(UnixStream::connect(&path).await?))) })
    }
}

/// A connection, in the form that the HTTP client wants.
#[derive(Debug)]
struct Stream(TokioIo<UnixStream>);

impl Connection for Stream {
    fn connected(&self) -> Connected {
        Connected::new()
    }
}

impl hyper::rt::Read for Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: hyper::rt::ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, buffer)
    }
}

impl hyper::rt::Write for Stream {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}
