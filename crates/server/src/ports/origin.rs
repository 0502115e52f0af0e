//! A port's own origin: `{port}-{id}.localhost`, or a name of the configured domain.
//!
//! No request to such a host reaches our page or our interface, and none to another host reaches a port this way. Visitors
//! come by a link, which becomes a cookie of that host alone, or with a key. What another site makes a visitor's browser ask
//! for is refused, except for a plain visit.

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use cove_api::{BayError, ErrorCode, Moment, SandboxId};
use cove_bay::{OPEN_PATH, Owner, PortVisit};

use super::headers::{FromGuest, cookies};
use super::proxy::{self, Door, PortCall};
use crate::app::App;
use crate::caller::is_stream;
use crate::failure::{Failure, Reply};
use crate::forward::{self, Forwarded, seal};
use crate::shares::Kept;

/// The visitor's cookie: the secret of the link by which they came.
const COOKIE: &str = "cove-port";

/// What E2B's clients send with requests to a port.
const TRAFFIC_TOKEN: HeaderName = HeaderName::from_static("e2b-traffic-access-token");

/// The host that a visitor named, in a request that another Bay has forwarded.
const PORT_HOST: HeaderName = HeaderName::from_static("x-cove-port-host");

/// What is ours on a port's origin.
const OURS: &str = "/__cove/";

/// A forwarded request to a port may take so long to be answered, in seconds.
const FORWARD_SECS: u64 = 600;

/// A port that a host names.
#[derive(Debug, Clone, PartialEq, Eq)]
struct PortPlace {
    id: SandboxId,
    port: u16,
}

/// Answers what is for a port's own origin; all else goes on.
pub(crate) async fn divert(State(app): State<App>, mut request: Request, next: Next) -> Response {
    let forwarded = match arrived(&app, &mut request) {
        Ok(forwarded) => forwarded,
        Err(failure) => return failure.into_response(),
    };
    let Some(host) = request.headers().get(header::HOST).cloned() else { return next.run(request).await };
    match named(&app.bay.ports_url(), host.to_str().unwrap_or_default()) {
        None => next.run(request).await,
        Some(Err(())) => {
            Failure::new(ErrorCode::NotFound, "this host name does not belong to a sandbox's port").into_response()
        }
        Some(Ok(place)) => {
            answer(&app, place, host, forwarded, request).await.unwrap_or_else(IntoResponse::into_response)
        }
    }
}

/// Puts the host of a request that another Bay has forwarded back in its place.
fn arrived(app: &App, request: &mut Request) -> Reply<Option<Forwarded>> {
    if !request.headers().contains_key(PORT_HOST) {
        return Ok(None);
    }
    let forwarded = seal::take_off(app, request)?;
    let host = request.headers_mut().remove(PORT_HOST);
    // From anybody else it means nothing.
    if let (Some(_), Some(host)) = (forwarded, host) {
        request.headers_mut().insert(header::HOST, host);
    }
    Ok(forwarded)
}

/// The port that a host names; an error where it looks like one and is none.
fn named(template: &str, host: &str) -> Option<Result<PortPlace, ()>> {
    let domain = template.split_once("{port}-{id}.").map(|(_, rest)| rest.trim_end_matches('/'))?;
    let plain = |name: &str| name.rsplit_once(':').map_or(name, |(name, _)| name).to_ascii_lowercase();
    let (host, domain) = (plain(host), plain(domain));
    let label = host.strip_suffix(domain.as_str())?.strip_suffix('.')?;
    let (port, id) = label.split_once('-').filter(|(port, _)| port.bytes().all(|byte| byte.is_ascii_digit()))?;
    let port = port.parse().ok().filter(|port| *port > 0);
    Some(port.zip(id.parse().ok()).map(|(port, id)| PortPlace { id, port }).ok_or(()))
}

async fn answer(
    app: &App,
    place: PortPlace,
    host: HeaderValue,
    forwarded: Option<Forwarded>,
    mut request: Request,
) -> Reply<Response> {
    let secret = request.uri().path().strip_prefix(OPEN_PATH).map(str::to_owned);
    if let Some(secret) = secret {
        let visit = visit(app, &place, &secret).await?;
        return open(&secret, &visit, &request);
    }
    if request.uri().path().starts_with(OURS) {
        return Err(Failure::new(ErrorCode::NotFound, "only links to this port work here"));
    }
    let PortCaller { owner, by } = admit(app, &place, request.method(), request.headers()).await?;
    tracing::Span::current().record("owner", owner.as_str());
    let slot = app.slots.take(&owner)?;
    let mut response = match elsewhere(app, &owner, &place, forwarded).await? {
        Some(home) => {
            request.headers_mut().insert(PORT_HOST, host);
            let sent = forward::forward(app, &home, request, Some(FORWARD_SECS)).await;
            let mut response = sent.map_err(|lost| lost.failure(false))?;
            response.extensions_mut().insert(FromGuest);
            response
        }
        None => {
            // What it was admitted by is for us, and the program does not see it. Another Bay asks for it again.
            if let Some(by) = by {
                request.headers_mut().remove(by);
            }
            let target = request.uri().path_and_query().map_or_else(|| "/".to_owned(), ToString::to_string);
            let door = Door::Own { host, scheme: scheme(request.headers()) };
            let call = PortCall { owner: owner.clone(), id: place.id, port: place.port, target, door };
            proxy::pass(app, call, request).await?
        }
    };
    if response.extensions().get::<Kept>().is_none() {
        let kept = if is_stream(&response) { app.streams.take(&owner)? } else { slot };
        response.extensions_mut().insert(kept);
    }
    Ok(response)
}

async fn elsewhere(
    app: &App,
    owner: &Owner,
    place: &PortPlace,
    forwarded: Option<Forwarded>,
) -> Reply<Option<cove_bay::SessionHome>> {
    if app.alone || forwarded.is_some() {
        return Ok(None);
    }
    app.ask(app.bay.session_elsewhere(owner, &place.id)).await
}

/// Who a request acts for, and the header that said so, where that is for us alone. Cookies are sorted elsewhere.
struct PortCaller {
    owner: Owner,
    by: Option<HeaderName>,
}

/// Admits whoever brings a key, the sandbox's own token or a link.
async fn admit(app: &App, place: &PortPlace, method: &Method, headers: &HeaderMap) -> Reply<PortCaller> {
    let key = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let key = key.and_then(|text| text.split_once(' ')).filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
    if let Some(identity) = key.and_then(|(_, key)| app.keys.find(key.trim()).ok()) {
        return Ok(PortCaller { owner: identity.owner, by: Some(header::AUTHORIZATION) });
    }
    if let Some(token) = headers.get(TRAFFIC_TOKEN) {
        let token = token.to_str().unwrap_or_default();
        let owner = app.ask(traffic_owner(app, &place.id, token)).await?;
        return Ok(PortCaller { owner, by: Some(TRAFFIC_TOKEN) });
    }
    let secret = cookies(headers).find(|(name, _)| *name == COOKIE).map(|(_, secret)| secret.to_owned());
    let Some(secret) = secret else {
        let message = "this port needs a link; ask the sandbox's owner for one";
        return Err(Failure::new(ErrorCode::Unauthorized, message));
    };
    if !comes_from_here(method, headers) {
        let message = "requests from other sites are refused; open the port's address directly";
        return Err(Failure::new(ErrorCode::Forbidden, message));
    }
    Ok(PortCaller { owner: visit(app, place, &secret).await?.owner, by: None })
}

/// Whose sandbox it is that has this token, which E2B's clients are given with it.
async fn traffic_owner(app: &App, id: &SandboxId, token: &str) -> cove_bay::BayResult<Owner> {
    let owner = cove_e2b::traffic_owner(&app.bay, id, token).await?;
    owner.ok_or_else(|| BayError::new(ErrorCode::Unauthorized, "this traffic access token is not the sandbox's"))
}

/// The visit of whoever has this secret. A link ends with the key that made it.
async fn visit(app: &App, place: &PortPlace, secret: &str) -> Reply<PortVisit> {
    let visit = app.ask(app.bay.visit_port(&place.id, place.port, secret)).await?;
    let lives = match &visit.key_tag {
        Some(tag) => app.keys.admit_tag(tag, false).is_ok(),
        None => app.options.allow_anonymous,
    };
    if lives { Ok(visit) } else { Err(Failure::new(ErrorCode::NotFound, "the key that made this link is gone")) }
}

/// Whether the visitor's browser asks for one of this origin's own pages, or because the visitor has gone there. A browser
/// sends the cookie with more than that: another port of the same domain is the same site to it.
fn comes_from_here(method: &Method, headers: &HeaderMap) -> bool {
    let says = |name: &'static str| headers.get(name).map(|value| value.to_str().unwrap_or_default());
    let visits = matches!(*method, Method::GET | Method::HEAD)
        && says("sec-fetch-mode") == Some("navigate")
        && says("sec-fetch-dest").is_none_or(|kind| kind == "document");
    match says("sec-fetch-site") {
        Some("same-origin" | "none") => true,
        Some(_) => visits,
        // A browser that does not say it, or no browser.
        None => says("origin").is_none_or(|origin| {
            let name = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
            name.is_some_and(|name| says("host").is_some_and(|host| name.eq_ignore_ascii_case(host)))
        }),
    }
}

/// A link becomes a cookie, and the visitor is on the program's first page. The address that they see has no secret.
fn open(secret: &str, visit: &PortVisit, request: &Request) -> Reply<Response> {
    if *request.method() != Method::GET {
        let message = "a link is opened with GET";
        return Err(Failure::with_status(StatusCode::METHOD_NOT_ALLOWED, ErrorCode::ValidationError, message));
    }
    let left = ((visit.expires_at.micros() - Moment::now().micros()) / 1_000_000).max(1);
    let secure = if scheme(request.headers()) == "https" { "; Secure" } else { "" };
    let cookie = format!("{COOKIE}={secret}; Path=/; Max-Age={left}; HttpOnly; SameSite=Lax{secure}");
    let wrong = |_| Failure::new(ErrorCode::NotFound, "incomplete link: copy all of it");
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SEE_OTHER;
    let headers = response.headers_mut();
    headers.insert(header::SET_COOKIE, HeaderValue::try_from(cookie).map_err(wrong)?);
    headers.insert(header::LOCATION, HeaderValue::from_static("/"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    Ok(response)
}

fn scheme(headers: &HeaderMap) -> &'static str {
    if headers.get("x-forwarded-proto").is_some_and(|scheme| scheme.as_bytes() == b"https") { "https" } else { "http" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_ports_are_taken() {
        let usual = "http://{port}-{id}.localhost:8114/";
        let own = "https://{port}-{id}.ports.example.com/";
        let id: SandboxId = "sandbox-0123456789ab".parse().unwrap();
        let port = |port| Some(Ok(PortPlace { id: id.clone(), port }));
        assert_eq!(named(usual, "3000-sandbox-0123456789ab.localhost:8114"), port(3000));
        assert_eq!(named(usual, "3000-SANDBOX-0123456789AB.LocalHost"), port(3000));
        assert_eq!(named(own, "80-sandbox-0123456789ab.ports.example.com"), port(80));
        for host in
            ["localhost:8114", "127.0.0.1:8114", "", "page.localhost", "x-y.localhost", "evil.example", "[::1]:80"]
        {
            assert_eq!(named(usual, host), None, "{host}");
        }
        for host in [
            "3000-sandbox-0123456789ab.localhost.evil.example",
            "3000-sandbox-0123456789ab.evil-localhost",
            "3000-sandbox-0123456789ab.ports.example.com",
        ] {
            assert_eq!(named(usual, host), None, "{host}");
        }
        for host in ["0-sandbox-0123456789ab", "70000-sandbox-0123456789ab", "3000-sandbox-1", "3000-", "1-a.2-b"] {
            assert_eq!(named(usual, &format!("{host}.localhost")), Some(Err(())), "{host}");
        }
        assert_eq!(named(own, "80-sandbox-0123456789ab.localhost"), None);
    }

    #[test]
    fn another_site_may_only_lead_here() {
        let check = |method: &str, lines: &[(&'static str, &'static str)], here: bool| {
            let mut request = Request::builder().method(method).header("host", "1-a.localhost:8114");
            for (name, value) in lines {
                request = request.header(*name, *value);
            }
            let request = request.body(Body::empty()).unwrap();
            assert_eq!(comes_from_here(request.method(), request.headers()), here, "{method} {lines:?}");
        };
        let visit = [("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "document")];
        let frame = [("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "iframe")];
        check("GET", &visit, true);
        check("POST", &visit, false);
        check("GET", &frame, false);
        check("GET", &[("sec-fetch-site", "same-site"), ("sec-fetch-mode", "cors")], false);
        check("GET", &[("sec-fetch-site", "same-site"), ("sec-fetch-mode", "websocket")], false);
        check("POST", &[("sec-fetch-site", "same-origin"), ("origin", "http://1-a.localhost:8114")], true);
        check("GET", &[("sec-fetch-site", "none")], true);
        check("GET", &[], true);
        check("GET", &[("origin", "http://1-a.localhost:8114")], true);
        check("GET", &[("origin", "http://2-a.localhost:8114")], false);
        check("GET", &[("origin", "null")], false);
    }
}
