//! The gate: who calls, and whether they may.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::extract::{FromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, StatusCode, Version, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use cove_api::{ErrorCode, SandboxStatus};
use cove_bay::Owner;
use cove_network::is_guest;

use crate::app::App;
use crate::failure::Failure;
use crate::forward::{Forwarded, seal};
use crate::keys::{Identity, KeyRefusal};
use crate::page;
use crate::shares::{BodyMemory, Kept};

/// Where a connection comes from; the listener notes it with each request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Peer(pub(crate) SocketAddr);

/// Who calls, where a door has found it out by itself; in the request's extensions.
#[derive(Debug, Clone)]
pub(crate) struct Known(pub(crate) Identity);

/// Whoever calls.
#[derive(Debug, Clone)]
pub(crate) struct Caller(pub(crate) Owner);

/// Whoever calls. One who may only look at a sandbox finds it running: looking starts nothing.
#[derive(Debug, Clone)]
pub(crate) struct Looker(pub(crate) Owner);

/// Whoever calls, and may do what concerns all owners.
#[derive(Debug)]
pub(crate) struct Admin;

/// Lets in who has a key.
pub(crate) async fn admit(State(app): State<App>, mut request: Request, next: Next) -> Response {
    let forwarded = match seal::take_off(&app, &mut request) {
        Ok(forwarded) => forwarded,
        Err(failure) => return failure.into_response(),
    };
    let identity = match identify(&app, &request, forwarded) {
        Ok(identity) => identity,
        Err(failure) => return failure.into_response(),
    };
    if let Some(forwarded) = forwarded {
        request.extensions_mut().insert(forwarded);
    }
    tracing::Span::current().record("owner", identity.owner.as_str());
    let slot = match app.slots.take(&identity.owner) {
        Ok(slot) => slot,
        Err(failure) => return failure.into_response(),
    };
    let (owner, is_get) = (identity.owner.clone(), request.method() == Method::GET);
    // Until the work is done: what was read from the body may be held for as long.
    let memory = BodyMemory(Arc::new(app.bodies.none(&owner)));
    request.extensions_mut().insert(memory.clone());
    request.extensions_mut().insert(identity);
    let mut response = next.run(request).await;
    drop(memory);
    if response.extensions().get::<Kept>().is_none() {
        // A stream that another Bay has opened; those of this one have asked for their place before.
        let stays = (is_get && is_stream(&response)) || is_calls_stream(&response);
        let kept = if stays { app.streams.take(&owner) } else { Ok(slot) };
        match kept {
            Ok(kept) => response.extensions_mut().insert(kept),
            Err(failure) => return failure.into_response(),
        };
    }
    response
}

/// Whether an answer is one that stays open.
pub(crate) fn is_stream(response: &Response) -> bool {
    let kind = response.headers().get(header::CONTENT_TYPE);
    response.status() == StatusCode::SWITCHING_PROTOCOLS
        || kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"))
}

/// Whether an answer is a stream of a process: it may last as long as that.
fn is_calls_stream(response: &Response) -> bool {
    let kind = response.headers().get(header::CONTENT_TYPE);
    kind.is_some_and(|kind| kind.as_bytes().starts_with(b"application/connect+"))
}

/// Lets in who has a key, and whoever is on this very machine: for metrics that are nobody's secret there.
pub(crate) async fn admit_local(State(app): State<App>, request: Request, next: Next) -> Response {
    if !is_local(&request)
        && let Err(failure) = identify(&app, &request, None)
    {
        return failure.into_response();
    }
    next.run(request).await
}

fn identify(app: &App, request: &Request, forwarded: Option<Forwarded>) -> Result<Identity, Failure> {
    if let Some(Known(identity)) = request.extensions().get() {
        return Ok(identity.clone());
    }
    let headers = request.headers();
    let Some(value) = headers.get(header::AUTHORIZATION) else {
        if let Some(found) = page::identify(app, request, forwarded.is_some()) {
            return may_do(request, found.map_err(refused)?);
        }
        // Forwarded: the Bay that it came to first has checked where it comes from.
        if app.options.allow_anonymous && (forwarded.is_some() || (is_local(request) && is_no_page(headers))) {
            return Ok(Identity::anonymous());
        }
        return Err(Failure::new(ErrorCode::Unauthorized, "missing API key: send `Authorization: Bearer <key>`"));
    };
    // Whoever stands in front of us may have looked at the other one.
    if headers.get_all(header::AUTHORIZATION).iter().nth(1).is_some() {
        return Err(Failure::new(ErrorCode::Unauthorized, "more than one `Authorization` header"));
    }
    let key = value.to_str().ok().and_then(|text| {
        let (scheme, key) = text.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then(|| key.trim())
    });
    let Some(key) = key else {
        return Err(Failure::new(ErrorCode::Unauthorized, "`Authorization` must be `Bearer <key>`"));
    };
    // Forwarded: the Bay that it came to first has counted it.
    let found = if forwarded.is_some() { app.keys.find(key) } else { app.keys.admit(key) };
    found.map_err(refused)
}

fn refused(turned: KeyRefusal) -> Failure {
    match turned {
        KeyRefusal::Unknown => Failure::new(ErrorCode::Unauthorized, "invalid API key"),
        KeyRefusal::TooOften(wait) => {
            let ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX).max(1);
            Failure::new(ErrorCode::QuotaExceeded, "rate limit exceeded").with("retry_after_ms", ms)
        }
    }
}

/// Whoever came by a shared link may look at its sandbox, and do nothing else.
fn may_do(request: &Request, identity: Identity) -> Result<Identity, Failure> {
    match &identity.only {
        Some(sandbox) if !page::only_reads(request, sandbox) => {
            Err(Failure::new(ErrorCode::Forbidden, format!("this link may only look at {sandbox}")))
        }
        _ => Ok(identity),
    }
}

/// What proxies write into the requests that they pass on, besides everything that begins with `x-forwarded`.
const PROXIES_SAY: [&str; 14] = [
    "cf-connecting-ip",
    "client-ip",
    "fastly-client-ip",
    "forwarded",
    "proxy-authorization",
    "proxy-connection",
    "true-client-ip",
    "via",
    "x-client-ip",
    "x-cluster-client-ip",
    "x-envoy-external-address",
    "x-original-forwarded-for",
    "x-real-ip",
    "x-remote-ip",
];

/// From this very machine: from its loopback, not by a guest's way out, and not through a proxy that happens to run on it.
///
/// A proxy need not say that it is one, so a request must also look as one that was meant for this very server: HTTP/1.1
/// (1.0 is what proxies speak that were told nothing else), with a path and no more as its target, and with one of this
/// machine's own names in `Host`: a foreign name that points here is how web pages get around the check of their origin.
pub(crate) fn is_local(request: &Request) -> bool {
    let headers = request.headers();
    let proxied = headers.keys().any(|name| is_proxys(name.as_str()));
    let peer = request.extensions().get::<Peer>().map(|peer| peer.0);
    let near = peer.is_some_and(|peer| peer.ip().to_canonical().is_loopback() && !is_guest(peer));
    let direct = request.version() == Version::HTTP_11 && request.uri().authority().is_none();
    let mut hosts = headers.get_all(header::HOST).iter();
    let named = hosts.next().is_some_and(|host| is_own_name(host.to_str().unwrap_or_default()));
    near && direct && !proxied && named && hosts.next().is_none()
}

/// Whether a header is one that proxies write.
pub(crate) fn is_proxys(name: &str) -> bool {
    name.starts_with("x-forwarded") || PROXIES_SAY.contains(&name)
}

/// `localhost`, or an address of loopback, with or without a port.
fn is_own_name(host: &str) -> bool {
    let name = host.rsplit_once(':').map_or(host, |(name, port)| if port.ends_with(']') { host } else { name });
    let address = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
    name.eq_ignore_ascii_case("localhost")
        || address.parse::<IpAddr>().is_ok_and(|address| address.to_canonical().is_loopback())
}

/// A browser on this machine calls from it, whichever page asks it to: a page needs a key, also one from an origin that
/// may call.
fn is_no_page(headers: &HeaderMap) -> bool {
    let site = headers.get("sec-fetch-site");
    !headers.contains_key(header::ORIGIN) && site.is_none_or(|site| matches!(site.as_bytes(), b"same-origin" | b"none"))
}

fn identity(parts: &Parts) -> Result<&Identity, Failure> {
    // Every route that asks for a caller is behind the gate; should one ever not be, it is closed.
    parts
        .extensions
        .get::<Identity>()
        .ok_or_else(|| Failure::new(ErrorCode::Unauthorized, "this request needs an API key"))
}

impl<S: Send + Sync> FromRequestParts<S> for Caller {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Failure> {
        identity(parts).map(|identity| Self(identity.owner.clone()))
    }
}

impl FromRequestParts<App> for Looker {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Failure> {
        let Identity { owner, only, .. } = identity(parts)?.clone();
        if let Some(id) = only
            && app.ask(app.bay.sandbox(&owner, &id)).await?.status != SandboxStatus::Ready
        {
            let message = "this sandbox does not run, and a link that may only look starts nothing";
            return Err(Failure::new(ErrorCode::Conflict, message));
        }
        Ok(Self(owner))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Admin {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Failure> {
        if identity(parts)?.admin {
            return Ok(Self);
        }
        Err(Failure::new(ErrorCode::Forbidden, "this API key may not use endpoints that concern all owners"))
    }
}
