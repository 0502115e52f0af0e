//! `/mcp`: the same verbs as tools for agents, behind the same gate.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::{Json, Router};
use cove_api::{ErrorCode, SandboxId};
use cove_mcp::McpService;
use futures_util::StreamExt as _;
use serde_json::{Value, json};

use crate::app::App;
use crate::envelope::REQUEST_ID;
use crate::failure::Failure;
use crate::forward::ForwardError;
use crate::keys::Identity;
use crate::shares::BodyMemory;
use crate::{caller, extract, forward};

/// A call's body at most; the service itself has the same limit.
const MAX_BODY_BYTES: usize = 8 << 20;

/// What a refusal in plain words may hold.
const MAX_WORDS_BYTES: usize = 4 << 10;
/// A tool's time-out where its call names none, in seconds; no tool has a longer one.
const USUAL_SECS: u64 = 60;

/// The protocol leaves these numbers to servers: that the Bay with the session did not answer.
const NO_ANSWER: i32 = -32_001;

/// Names by which a server on this machine is called.
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

pub(super) fn routes(app: &App) -> Router<App> {
    let owner_of: cove_mcp::OwnerOf =
        Arc::new(|parts| parts.extensions.get::<Identity>().map(|identity| identity.owner.clone()));
    // One that listens beyond this machine is called by names that it does not know; there the key alone decides.
    let hosts = app.options.listen.ip().is_loopback().then(|| LOOPBACK.map(str::to_owned).to_vec());
    let service = cove_mcp::service(
        app.bay.clone(),
        app.options.mcp.clone(),
        owner_of,
        hosts,
        app.options.cors_origins.iter().map(|origin| with_port(origin)).collect(),
        app.closing.child_token(),
    );
    let state = (app.clone(), service.clone());
    Router::new()
        .route_service("/mcp", service)
        .route_layer(from_fn_with_state(state, forward_if_elsewhere))
        .route_layer(from_fn_with_state(app.clone(), arrived))
        .route_layer(from_fn_with_state(app.clone(), caller::admit))
}

/// Reads a call before anybody works on it, within its size and time; what the service refuses in plain words gets the
/// shape of every other refusal.
async fn arrived(State(app): State<App>, request: Request, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    let memory = parts.extensions.get::<BodyMemory>();
    let whole = extract::whole(&parts.headers, memory, body, MAX_BODY_BYTES, &app.options).await;
    match whole.and_then(|bytes| extract::weigh_values(memory, &bytes).map(|()| bytes)) {
        Ok(bytes) => shaped(next.run(Request::from_parts(parts, Body::from(bytes))).await).await,
        Err(failure) => failure.into_response(),
    }
}

async fn shaped(response: Response) -> Response {
    let status = response.status();
    let kind = response.headers().get(header::CONTENT_TYPE).map(HeaderValue::as_bytes);
    let has_shape = kind.is_some_and(|kind| kind.starts_with(b"application/json") || kind.starts_with(b"text/event"))
        || response.extensions().get::<Failure>().is_some();
    if has_shape || !(status.is_client_error() || status.is_server_error()) {
        return response;
    }
    let (parts, body) = response.into_parts();
    let said = axum::body::to_bytes(body, MAX_WORDS_BYTES).await.unwrap_or_default();
    let said = String::from_utf8_lossy(&said);
    let said = if said.is_empty() { status.canonical_reason().unwrap_or("refused") } else { &*said };
    let code = match status {
        StatusCode::FORBIDDEN => ErrorCode::Forbidden,
        _ if status.is_server_error() => ErrorCode::InternalError,
        _ => ErrorCode::ValidationError,
    };
    let mut response = Failure::with_status(status, code, said).into_response();
    response.headers_mut().extend(parts.headers.get(header::ALLOW).map(|allow| (header::ALLOW, allow.clone())));
    response
}

/// Passes a call on to the Bay where its sandbox's session lives; the sandbox is one of the tool's arguments.
async fn forward_if_elsewhere(
    State((app, service)): State<(App, McpService)>,
    request: Request,
    next: Next,
) -> Response {
    let forwarded = request.extensions().get::<forward::Forwarded>().is_some();
    if app.alone || request.method() != Method::POST || forwarded {
        return next.run(request).await;
    }
    let (parts, body) = request.into_parts();
    // It has been read, and weighed, before.
    let whole = extract::whole(&parts.headers, None, body, MAX_BODY_BYTES, &app.options).await;
    let bytes = match whole {
        Ok(bytes) => bytes,
        Err(failure) => return failure.into_response(),
    };
    let here = |parts, bytes| next.run(Request::from_parts(parts, Body::from(bytes)));
    let call: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    let owner = parts.extensions.get::<Identity>().map(|identity| identity.owner.clone());
    let (Some(id), Some(owner)) = (sandbox_id(&call), owner) else { return here(parts, bytes).await };
    // Whatever is wrong with the sandbox, the tool says it better.
    let Ok(Some(home)) = app.ask(app.bay.session_elsewhere(&owner, &id)).await else { return here(parts, bytes).await };
    let passing = service.passing(&parts, &call["id"]);
    let ended = passing.as_ref().map(|passing| passing.ended.clone()).unwrap_or_default();
    let own_secs = cove_mcp::timeout_of(&call["params"]).map_or(USUAL_SECS, |own| own.as_secs() + 1);
    let request = Request::from_parts(parts.clone(), Body::from(bytes.clone()));
    let passed = forward::forward(&app, &home, request, Some(own_secs));
    let answer = tokio::select! {
        answer = passed => answer,
        () = ended.cancelled() => return StatusCode::NO_CONTENT.into_response(),
    };
    match answer {
        // Whoever leaves the stream, or ends the call by its number, ends it there: the connection is closed.
        Ok(answer) => answer.map(|body| {
            let until = ended.cancelled_owned();
            Body::from_stream(body.into_data_stream().take_until(until).map(move |piece| {
                // On the list as long as the stream is there.
                let _ = &passing;
                piece
            }))
        }),
        // That Bay cannot be reached. This one says so as a tool does, or goes on with the sandbox if that one is gone.
        Err(ForwardError::NotBegun) => here(parts, bytes).await,
        // What may have begun there is not begun here as well.
        Err(lost) => unanswered(&parts.headers, &call["id"], &lost.failure(false)),
    }
}

/// An origin with its port, also where that is the usual one of its scheme: the service takes one without for all ports.
fn with_port(origin: &str) -> String {
    let (scheme, name) = origin.split_once("://").unwrap_or(("https", origin));
    let has_port = name.rsplit_once(':').is_some_and(|(_, port)| port.bytes().all(|byte| byte.is_ascii_digit()));
    match (has_port, scheme) {
        (true, _) => origin.to_owned(),
        (false, "http") => format!("{origin}:80"),
        (false, _) => format!("{origin}:443"),
    }
}

/// As the protocol tells that a call has no answer.
fn unanswered(headers: &HeaderMap, id: &Value, failure: &Failure) -> Response {
    let request_id = headers.get(REQUEST_ID).and_then(|id| id.to_str().ok()).unwrap_or_default();
    let body = failure.body(request_id);
    let error = json!({ "code": NO_ANSWER, "message": failure.message(), "data": body.error });
    Json(json!({ "jsonrpc": "2.0", "id": id, "error": error })).into_response()
}

fn sandbox_id(call: &Value) -> Option<SandboxId> {
    let params = call.get("params")?;
    let id = match params.get("uri").and_then(Value::as_str) {
        Some(uri) => uri.strip_prefix("cove://sandboxes/")?.split('/').next()?,
        None => params.get("arguments")?.get("sandbox_id")?.as_str()?,
    };
    id.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::{sandbox_id, with_port};

    #[test]
    fn an_origin_is_one_port() {
        for (origin, one) in [
            ("https://app.example", "https://app.example:443"),
            ("http://localhost", "http://localhost:80"),
            ("http://[::1]", "http://[::1]:80"),
            ("http://localhost:3000", "http://localhost:3000"),
        ] {
            assert_eq!(with_port(origin), one);
        }
    }

    #[test]
    fn the_sandbox_is_found_in_a_call_or_in_an_address() {
        let id = "sandbox-0123456789ab";
        let call = format!(r#"{{"method":"tools/call","params":{{"name":"ls","arguments":{{"sandbox_id":"{id}"}}}}}}"#);
        let read = format!(r#"{{"method":"resources/read","params":{{"uri":"cove://sandboxes/{id}/files/a"}}}}"#);
        for body in [call, read] {
            assert_eq!(sandbox_id(&serde_json::from_str(&body).unwrap()).as_deref(), Some(id), "{body}");
        }
        for body in
            ["0", "{}", r#"{"params":{"arguments":{"sandbox_id":"../x"}}}"#, r#"{"params":{"uri":"file:///x"}}"#]
        {
            assert_eq!(sandbox_id(&serde_json::from_str(body).unwrap()), None, "{body}");
        }
    }
}
