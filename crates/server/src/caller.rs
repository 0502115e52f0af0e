//! The gate: who calls, and whether they may.

use std::net::{IpAddr, SocketAddr};

use axum::extract::{FromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use cove_api::ErrorCode;
use cove_bay::Owner;

use crate::app::App;
use crate::failure::Failure;
use crate::keys::{DEFAULT_OWNER, Identity, Turned};
use crate::shares::Kept;

/// Where a connection comes from; the listener notes it with each request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Peer(pub(crate) SocketAddr);

/// Whoever calls.
#[derive(Debug, Clone)]
pub(crate) struct Caller(pub(crate) Owner);

/// Whoever calls, and may do what concerns all owners.
#[derive(Debug)]
pub(crate) struct Admin;

/// Lets in who has a key.
pub(crate) async fn admit(State(app): State<App>, mut request: Request, next: Next) -> Response {
    let identity = match identify(&app, request.headers(), peer(&request)) {
        Ok(identity) => identity,
        Err(failure) => return failure.into_response(),
    };
    tracing::Span::current().record("owner", identity.owner.as_str());
    let slot = match app.slots.take(&identity.owner) {
        Ok(slot) => slot,
        Err(failure) => return failure.into_response(),
    };
    let (owner, is_get) = (identity.owner.clone(), request.method() == Method::GET);
    request.extensions_mut().insert(identity);
    let mut response = next.run(request).await;
    if response.extensions().get::<Kept>().is_none() {
        // A stream that another Bay has opened; those of this one have asked for their place before.
        let stays = is_get && is_stream(&response);
        match if stays { app.streams.take(&owner) } else { Ok(slot) } {
            Ok(kept) => response.extensions_mut().insert(kept),
            Err(failure) => return failure.into_response(),
        };
    }
    response
}

/// Whether an answer is one that stays open.
fn is_stream(response: &Response) -> bool {
    let kind = response.headers().get(header::CONTENT_TYPE);
    response.status() == StatusCode::SWITCHING_PROTOCOLS
        || kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"))
}

/// Lets in who has a key, and whoever is on this very machine: for figures that are nobody's secret there.
pub(crate) async fn admit_local(State(app): State<App>, request: Request, next: Next) -> Response {
    let own = is_local(request.headers(), peer(&request)) && names_this_machine(request.headers());
    if !own && let Err(failure) = identify(&app, request.headers(), None) {
        return failure.into_response();
    }
    next.run(request).await
}

fn peer(request: &Request) -> Option<SocketAddr> {
    request.extensions().get::<Peer>().map(|peer| peer.0)
}

fn identify(app: &App, headers: &HeaderMap, peer: Option<SocketAddr>) -> Result<Identity, Failure> {
    let Some(value) = headers.get(header::AUTHORIZATION) else {
        if app.options.allow_anonymous && is_local(headers, peer) && is_no_foreign_page(app, headers) {
            return Ok(Identity { owner: Owner::new(DEFAULT_OWNER), admin: true });
        }
        return Err(Failure::new(ErrorCode::Unauthorized, "this needs a key: `Authorization: Bearer <key>`"));
    };
    // Whoever stands in front of us may have looked at the other one.
    if headers.get_all(header::AUTHORIZATION).iter().nth(1).is_some() {
        return Err(Failure::new(ErrorCode::Unauthorized, "there is more than one `Authorization`"));
    }
    let key = value.to_str().ok().and_then(|text| {
        let (scheme, key) = text.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then(|| key.trim())
    });
    let Some(key) = key else {
        return Err(Failure::new(ErrorCode::Unauthorized, "`Authorization` must be `Bearer <key>`"));
    };
    app.keys.admit(key).map_err(|turned| match turned {
        Turned::Unknown => Failure::new(ErrorCode::Unauthorized, "this key is not known here"),
        Turned::TooOften(wait) => {
            let ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX).max(1);
            Failure::new(ErrorCode::QuotaExceeded, "this key comes too often").with("retry_after_ms", ms)
        }
    })
}

/// From this very machine, and not through a proxy that happens to run on it.
fn is_local(headers: &HeaderMap, peer: Option<SocketAddr>) -> bool {
    let proxied = ["forwarded", "x-forwarded-for", "x-real-ip", "via"].iter().any(|name| headers.contains_key(*name));
    !proxied && peer.is_some_and(|peer| peer.ip().to_canonical().is_loopback())
}

/// A browser on this machine calls from it, whichever page asks it to: without a key, a page must be one of ours, and the
/// name in `Host` must be this machine's (a foreign name that points here is how pages get around the first check).
fn is_no_foreign_page(app: &App, headers: &HeaderMap) -> bool {
    let text = |name: header::HeaderName| headers.get(name).map(|value| value.to_str().unwrap_or_default());
    let origin_fits =
        text(header::ORIGIN).is_none_or(|origin| app.options.cors_origins.iter().any(|own| own == origin));
    let site_fits =
        headers.get("sec-fetch-site").is_none_or(|site| matches!(site.as_bytes(), b"same-origin" | b"none"));
    origin_fits && site_fits && names_this_machine(headers)
}

/// Whether the name in `Host` is this machine's own. A page can have a name of its own point here, and then read what is
/// answered without a key.
fn names_this_machine(headers: &HeaderMap) -> bool {
    headers.get(header::HOST).and_then(|host| host.to_str().ok()).is_some_and(|host| {
        let name = host.rsplit_once(':').map_or(host, |(name, port)| if port.ends_with(']') { host } else { name });
        name.eq_ignore_ascii_case("localhost")
            || name.trim_matches(['[', ']']).parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
    })
}

fn identity(parts: &Parts) -> Result<&Identity, Failure> {
    // Every route that asks for a caller is behind the gate; should one ever not be, it is closed.
    parts.extensions.get::<Identity>().ok_or_else(|| Failure::new(ErrorCode::Unauthorized, "this needs a key"))
}

impl<S: Send + Sync> FromRequestParts<S> for Caller {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Failure> {
        identity(parts).map(|identity| Self(identity.owner.clone()))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Admin {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Failure> {
        if identity(parts)?.admin {
            return Ok(Self);
        }
        Err(Failure::new(ErrorCode::Forbidden, "this key may not do what concerns all owners"))
    }
}
