//! Over HTTP: a service for `/mcp`, without sessions, for whoever the server in front has let in.
//!
//! A call is one POST and its answer one stream; a client that closes the stream ends the call. Clients of older
//! revisions end a call with a notification in a POST of its own, which without sessions belongs to nothing: it is matched
//! by owner, client and number, and ignored where that is not clear. Calls that the server in front hands on to another
//! Bay are in the same list ([`McpService::passing`]).
//!
//! Against pages that reach for a server on the reader's own machine: the name in `Host` must be one of ours, and a page
//! (`Origin`) must be one that was named.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use cove_bay::{Bay, Owner};
use cove_core::shorten_word;
use http::request::Parts;
use http::{Method, Request, Response, StatusCode, header};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full, Limited};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::server::OwnerSource;
use crate::{CoveMcp, McpOptions, ToolSet};

/// One request's body at most: `upload_file` carries base64.
const MAX_BODY_BYTES: usize = 8 << 20;

/// A notification is short; longer bodies are not looked into.
const MAX_NOTE_BYTES: usize = 4 << 10;

/// Says whom a request is from, once the server in front has checked its key.
pub type OwnerOf = Arc<dyn Fn(&Parts) -> Option<Owner> + Send + Sync>;

type Body = BoxBody<Bytes, Infallible>;

/// The service. Cheap to clone; all clones are one.
#[derive(Clone)]
pub struct McpService {
    server: CoveMcp,
    owner_of: OwnerOf,
    inner: StreamableHttpService<CoveMcp, NeverSessionManager>,
}

impl std::fmt::Debug for McpService {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("McpService").finish_non_exhaustive()
    }
}

/// A service for `/mcp`.
///
/// `hosts`: names by which it may be called (`None`: any; only for servers that listen beyond this machine).
/// `origins`: pages that may call it. `closing`: ends everything.
pub fn service(
    bay: Bay,
    options: McpOptions,
    owner_of: OwnerOf,
    hosts: Option<Vec<String>>,
    origins: Vec<String>,
    closing: CancellationToken,
) -> McpService {
    let server = CoveMcp::with(bay, OwnerSource::Request(Arc::clone(&owner_of)), options);
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_max_request_body_bytes(MAX_BODY_BYTES)
        .with_allowed_origins(origins)
        .enforce_origin_validation()
        .with_cancellation_token(closing);
    let config = match hosts {
        Some(hosts) => config.with_allowed_hosts(hosts),
        None => config.disable_allowed_hosts(),
    };
    let made = server.clone();
    let sessions = Arc::new(NeverSessionManager::default());
    let inner = StreamableHttpService::new(move || Ok(made.clone()), sessions, config);
    McpService { server, owner_of, inner }
}

/// What a client calls itself; part of what tells two clients of one owner apart.
pub(crate) fn agent(parts: &Parts) -> String {
    let agent = parts.headers.get(header::USER_AGENT).and_then(|value| value.to_str().ok());
    agent.unwrap_or_default().to_owned()
}

/// The sets of tools that an address asks for (`?tools=core,files`); `Err`: a name that is none.
pub(crate) fn wished_tools(parts: &Parts) -> Option<Result<Vec<ToolSet>, String>> {
    let query = parts.uri.query()?;
    let wish = query.split('&').find_map(|pair| pair.strip_prefix("tools="))?;
    let wish = percent_encoding::percent_decode_str(wish).decode_utf8_lossy();
    Some(wish.split(',').map(|name| ToolSet::parse(name).ok_or_else(|| shorten_word(name))).collect())
}

/// A call that is forwarded to another Bay.
pub struct Passing {
    _entry: crate::server::Entry,
    /// Its client wants it ended.
    pub ended: CancellationToken,
}

impl std::fmt::Debug for Passing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Passing").finish_non_exhaustive()
    }
}

impl McpService {
    /// Notes that a call is forwarded, so that a client that ends it by its number is heard here too. Keep it as long as
    /// the call goes on.
    pub fn passing(&self, parts: &Parts, request_id: &Value) -> Option<Passing> {
        let owner = (self.owner_of)(parts)?;
        let (entry, ended) = self.server.watch(&owner, &agent(parts), number(request_id)?);
        Some(Passing { _entry: entry, ended })
    }

    async fn handle<B>(mut self, request: Request<B>) -> Response<Body>
    where
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let (parts, body) = request.into_parts();
        let Ok(body) = Limited::new(body, MAX_BODY_BYTES).collect().await else {
            return plain(StatusCode::PAYLOAD_TOO_LARGE, "the body is too large or was interrupted");
        };
        let body = body.to_bytes();
        if parts.method == Method::POST
            && let Some((code, why)) = no_message(&body)
        {
            return refused(code, &why);
        }
        if parts.method == Method::POST
            && let Some(request_id) = cancelled_request(&body)
            && let Some(owner) = (self.owner_of)(&parts)
        {
            self.server.cancel(&owner, &agent(&parts), &request_id);
        }
        use tower_service::Service as _;
        match self.inner.call(Request::from_parts(parts, Full::new(body))).await {
            Ok(response) => response,
            Err(never) => match never {},
        }
    }
}

/// Why a body is no message: the protocol's code, and words. Whether it is one of the protocol's is for others to say.
fn no_message(body: &[u8]) -> Option<(i32, String)> {
    let read: Result<&serde_json::value::RawValue, _> = serde_json::from_slice(body);
    match read {
        Err(error) => Some((-32700, format!("the body is not JSON: {error}"))),
        Ok(value) if value.get().starts_with('[') => {
            Some((-32600, "send one message per request: batches are not supported".to_owned()))
        }
        Ok(_) => None,
    }
}

/// A refusal in the protocol's own form.
fn refused(code: i32, message: &str) -> Response<Body> {
    let answer = json!({"jsonrpc": "2.0", "id": null, "error": {"code": code, "message": message}});
    let mut response = Response::new(Full::new(Bytes::from(answer.to_string())).boxed());
    *response.status_mut() = StatusCode::BAD_REQUEST;
    response.headers_mut().insert(header::CONTENT_TYPE, header::HeaderValue::from_static("application/json"));
    response
}

/// The number of the request that a note wants to end, if it is such a note.
fn cancelled_request(body: &[u8]) -> Option<String> {
    if body.len() > MAX_NOTE_BYTES {
        return None;
    }
    let note: Value = serde_json::from_slice(body).ok()?;
    if note.get("method")?.as_str()? != "notifications/cancelled" {
        return None;
    }
    number(note.get("params")?.get("requestId")?)
}

/// A request's number as text.
fn number(id: &Value) -> Option<String> {
    match id {
        Value::String(id) => Some(id.clone()),
        Value::Number(id) => Some(id.to_string()),
        _ => None,
    }
}

fn plain(status: StatusCode, text: &'static str) -> Response<Body> {
    let mut response = Response::new(Full::new(Bytes::from_static(text.as_bytes())).boxed());
    *response.status_mut() = status;
    response
}

impl<B> tower_service::Service<Request<B>> for McpService
where
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let service = self.clone();
        Box::pin(async move { Ok(service.handle(request).await) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_may_ask_for_tools() {
        let check = |address: &str| {
            let (parts, ()) = Request::builder().uri(address).body(()).unwrap().into_parts();
            wished_tools(&parts)
        };
        assert_eq!(check("/mcp"), None);
        assert_eq!(check("/mcp?x=1"), None);
        assert_eq!(check("/mcp?x=1&tools=core%2Cskills"), Some(Ok(vec![ToolSet::Core, ToolSet::Skills])));
        assert_eq!(check("/mcp?tools=core,all"), Some(Ok(vec![ToolSet::Core, ToolSet::All])));
        assert_eq!(check("/mcp?tools=everything"), Some(Err("everything".to_owned())));
    }

    #[test]
    fn what_is_no_message_is_told_so() {
        let check = |body: &str| no_message(body.as_bytes()).map(|(code, _)| code);
        for (body, expected) in [
            ("", Some(-32700)),
            ("garbage", Some(-32700)),
            ("{", Some(-32700)),
            (" [{}]", Some(-32600)),
            ("{}", None),
            (r#" {"jsonrpc":"2.0","id":1,"method":"ping"}"#, None),
        ] {
            assert_eq!(check(body), expected, "{body}");
        }
    }

    #[test]
    fn only_a_note_of_cancellation_is_one() {
        let check = |body: &str| cancelled_request(body.as_bytes());
        let note = |id: &str| {
            format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#)
        };
        assert_eq!(check(&note("7")), Some("7".to_owned()));
        assert_eq!(check(&note("\"a\"")), Some("a".to_owned()));
        for other in ["", "[]", r#"{"method":"tools/call","params":{"requestId":7}}"#, &note("null")] {
            assert_eq!(check(other), None, "{other}");
        }
    }
}
