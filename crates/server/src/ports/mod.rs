//! Ports of sandboxes over HTTP: with a key below `/v1/sandboxes/{id}/ports/{port}/`, and for browsers on an origin of their own.
//!
//! What listens in a sandbox is a guest: its answers are never shown as ours. On our own origin they are data, which no
//! browser takes for a page, and everything in their headers that would speak for our origin is taken out. A page of a guest
//! is shown on `{port}-{id}.localhost`, which shares no cookie, no storage and no script with our page or with another port.

mod deadline;
mod headers;
mod origin;
mod proxy;

use axum::extract::{Request, State};
use axum::http::{HeaderName, Uri, header};
use axum::response::Response;
use cove_api::{ErrorCode, SandboxId};
use serde::Deserialize;

pub(crate) use headers::FromGuest;
pub(crate) use origin::divert;

use crate::app::App;
use crate::caller::Caller;
use crate::extract::Named;
use crate::failure::{Failure, Reply};
use proxy::{Door, PortCall};

/// The names in the path; what follows is the program's.
#[derive(Debug, Deserialize)]
pub(crate) struct PortPath {
    id: SandboxId,
    port: u16,
}

/// What a browser wants an answer for.
const FETCH_DEST: HeaderName = HeaderName::from_static("sec-fetch-dest");

/// `/v1/sandboxes/{id}/ports/{port}/…` with any method: the request is the program's that listens there.
pub(crate) async fn with_key(
    State(app): State<App>,
    Caller(owner): Caller,
    Named(PortPath { id, port }): Named<PortPath>,
    request: Request,
) -> Reply<Response> {
    // A script may read it as data. Whoever would show it, or run it, would do so as if it were ours.
    let shown =
        request.headers().get(FETCH_DEST).is_some_and(|kind| !matches!(kind.as_bytes(), b"empty" | b"websocket"));
    if shown {
        let message = format!("a browser opens this port at {}, by a link", app.bay.port_url(&id, port));
        return Err(Failure::new(ErrorCode::Forbidden, message));
    }
    let (prefix, target) = split(request.uri());
    let call = PortCall { owner, id, port, target, door: Door::Api { prefix } };
    proxy::pass(&app, call, request).await
}

/// The path up to the port, and what is the program's: the rest as it came, with its query.
fn split(uri: &Uri) -> (String, String) {
    let path = uri.path();
    // `/sandboxes/ID/ports/PORT`, perhaps below `/v1`.
    let names = if path.starts_with("/v1/") { 5 } else { 4 };
    let end = path.match_indices('/').nth(names).map_or(path.len(), |(at, _)| at);
    let (prefix, rest) = path.split_at(end);
    let rest = if rest.is_empty() { "/" } else { rest };
    let query = uri.query().map(|query| format!("?{query}")).unwrap_or_default();
    let prefix = prefix.strip_prefix("/v1").unwrap_or(prefix);
    (format!("/v1{prefix}"), format!("{rest}{query}"))
}

/// Whether a header is between the caller and us.
fn is_ours(name: &HeaderName) -> bool {
    *name == header::AUTHORIZATION || name.as_str().starts_with("x-cove-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_of_the_path_is_the_programs_as_it_came() {
        let check = |uri: &str, rest: &str| {
            let (prefix, target) = split(&uri.parse().unwrap());
            assert_eq!((prefix.as_str(), target.as_str()), ("/v1/sandboxes/a/ports/80", rest), "{uri}");
        };
        for version in ["", "/v1"] {
            check(&format!("{version}/sandboxes/a/ports/80"), "/");
            check(&format!("{version}/sandboxes/a/ports/80?x=1"), "/?x=1");
            check(&format!("{version}/sandboxes/a/ports/80/"), "/");
            check(&format!("{version}/sandboxes/a/ports/80//x/%2e%2E/y?/z"), "//x/%2e%2E/y?/z");
        }
    }
}
