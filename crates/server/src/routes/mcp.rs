//! `/mcp`: the same verbs as tools for agents, behind the same gate.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::Method;
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use cove_api::{ErrorCode, IdKind};
use serde_json::Value;

use crate::app::App;
use crate::failure::Failure;
use crate::keys::Identity;
use crate::{away, caller};

/// A call's body at most; the service itself has the same limit.
const MAX_BODY_BYTES: usize = 8 << 20;

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
        app.options.cors_origins.clone(),
        app.closing.child_token(),
    );
    Router::new()
        .route_service("/mcp", service)
        .route_layer(from_fn_with_state(app.clone(), hand_on))
        .route_layer(from_fn_with_state(app.clone(), caller::admit))
}

/// Passes a call on to the Bay where its sandbox's session lives; the sandbox is one of the tool's arguments.
async fn hand_on(State(app): State<App>, request: Request, next: Next) -> Response {
    if request.method() != Method::POST || request.headers().contains_key(away::FORWARDED) {
        return next.run(request).await;
    }
    let (parts, body) = request.into_parts();
    let Ok(bytes) = axum::body::to_bytes(body, MAX_BODY_BYTES).await else {
        return Failure::new(ErrorCode::ValidationError, "the body is too large, or broke off").into_response();
    };
    let id = sandbox_id(&bytes);
    let owner = parts.extensions.get::<Identity>().map(|identity| identity.owner.clone());
    let request = Request::from_parts(parts, Body::from(bytes));
    let (Some(id), Some(owner)) = (id, owner) else { return next.run(request).await };
    match app.bay.home_elsewhere(&owner, &id).await {
        Ok(Some(base)) => away::pass(&app, &base, request).await.unwrap_or_else(IntoResponse::into_response),
        // Whatever is wrong with the sandbox, the tool says it better.
        Ok(None) | Err(_) => next.run(request).await,
    }
}

fn sandbox_id(body: &[u8]) -> Option<String> {
    let call: Value = serde_json::from_slice(body).ok()?;
    let params = call.get("params")?;
    let id = match params.get("uri").and_then(Value::as_str) {
        Some(uri) => uri.strip_prefix("cove://sandboxes/")?.split('/').next()?,
        None => params.get("arguments")?.get("sandbox_id")?.as_str()?,
    };
    IdKind::Sandbox.fits(id).then(|| id.to_owned())
}

#[cfg(test)]
mod tests {
    use super::sandbox_id;

    #[test]
    fn the_sandbox_is_found_in_a_call_or_in_an_address() {
        let id = "sandbox-0123456789ab";
        let call = format!(r#"{{"method":"tools/call","params":{{"name":"ls","arguments":{{"sandbox_id":"{id}"}}}}}}"#);
        let read = format!(r#"{{"method":"resources/read","params":{{"uri":"cove://sandboxes/{id}/files/a"}}}}"#);
        for body in [call, read] {
            assert_eq!(sandbox_id(body.as_bytes()).as_deref(), Some(id), "{body}");
        }
        for body in ["", "{}", r#"{"params":{"arguments":{"sandbox_id":"../x"}}}"#, r#"{"params":{"uri":"file:///x"}}"#]
        {
            assert_eq!(sandbox_id(body.as_bytes()), None, "{body}");
        }
    }
}
