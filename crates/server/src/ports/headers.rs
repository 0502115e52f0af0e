//! Headers on their way to a guest and back.
//!
//! A guest is told nothing that lets it act for its visitor: no key, no cookie of ours. It gets no say over anybody's origin
//! but its own: no cookie for a whole domain, nothing that clears what a browser keeps, no other server for our name.

use axum::http::uri::Scheme;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Uri, header};

use crate::caller::is_proxys;

/// An answer that a guest wrote, on its own origin: it is passed on as it is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FromGuest;

/// What begins the name of each cookie of ours.
const OUR_COOKIES: &str = "cove-";

/// About one connection, not about the message. Upgrades are written anew where there is one.
const HOP_BY_HOP: [&str; 11] = [
    "connection",
    "expect",
    "http2-settings",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// What no guest says about any origin: it would clear what belongs to a whole domain, or name another server for it.
const NEVER: [&str; 5] =
    ["alt-svc", "clear-site-data", "public-key-pins", "public-key-pins-report-only", "strict-transport-security"];

/// What a guest says about its own origin, and must not say about ours.
const NOT_OF_OURS: [&str; 13] = [
    "access-control-allow-credentials",
    "access-control-allow-headers",
    "access-control-allow-methods",
    "access-control-allow-origin",
    "access-control-allow-private-network",
    "access-control-expose-headers",
    "nel",
    "refresh",
    "report-to",
    "reporting-endpoints",
    "service-worker-allowed",
    "set-cookie",
    "www-authenticate",
];

/// Takes out what is about this connection only, also what `Connection` names.
pub(super) fn end_to_end(headers: &mut HeaderMap) {
    let named = headers.get_all(header::CONNECTION).iter().filter_map(|value| value.to_str().ok());
    let named: Vec<HeaderName> =
        named.flat_map(|names| names.split(',')).filter_map(|name| name.trim().parse().ok()).collect();
    for name in named {
        headers.remove(name);
    }
    for name in HOP_BY_HOP {
        headers.remove(name);
    }
}

/// A request on its way to a guest: without what is between the caller and us, or what proxies have added.
pub(super) fn for_guest(headers: &mut HeaderMap) {
    end_to_end(headers);
    // Written anew from the body that really comes.
    headers.remove(header::CONTENT_LENGTH);
    let gone: Vec<HeaderName> = headers.keys().filter(|name| is_proxys(name.as_str())).cloned().collect();
    for name in gone {
        headers.remove(name);
    }
}

/// The cookies of a request without ours.
pub(super) fn without_our_cookies(headers: &mut HeaderMap) {
    let kept: Vec<String> = cookies(headers)
        .filter(|(name, _)| !name.starts_with(OUR_COOKIES))
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    headers.remove(header::COOKIE);
    if let Ok(kept) = HeaderValue::try_from(kept.join("; "))
        && !kept.is_empty()
    {
        headers.insert(header::COOKIE, kept);
    }
}

/// The cookies of a request.
pub(super) fn cookies(headers: &HeaderMap) -> impl Iterator<Item = (&str, &str)> {
    let lines = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='))
}

/// An answer on its guest's own origin.
pub(super) fn on_own_origin(headers: &mut HeaderMap, port: u16) {
    from_guest(headers);
    let set: Vec<HeaderValue> = headers.get_all(header::SET_COOKIE).iter().filter_map(of_this_host).collect();
    headers.remove(header::SET_COOKIE);
    for cookie in set {
        headers.append(header::SET_COOKIE, cookie);
    }
    moved(headers, port, "");
}

/// An answer on our origin: data, whatever it says of itself.
pub(super) fn on_our_origin(headers: &mut HeaderMap, port: u16, prefix: &str) {
    from_guest(headers);
    for name in NOT_OF_OURS {
        headers.remove(name);
    }
    headers.remove("content-security-policy-report-only");
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static("sandbox; default-src 'none'"));
    headers.insert(header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    headers.insert("cross-origin-resource-policy", HeaderValue::from_static("same-origin"));
    moved(headers, port, prefix);
}

fn from_guest(headers: &mut HeaderMap) {
    end_to_end(headers);
    for name in NEVER {
        headers.remove(name);
    }
}

/// A cookie of a guest, for the host that it comes from alone. None for one with a name like ours.
fn of_this_host(cookie: &HeaderValue) -> Option<HeaderValue> {
    // In bytes: a value need not be text.
    let parts: Vec<&[u8]> = cookie.as_bytes().split(|byte| *byte == b';').collect();
    let name = parts.first()?.split(|byte| *byte == b'=').next()?.trim_ascii();
    if name.get(..OUR_COOKIES.len()).is_some_and(|start| start.eq_ignore_ascii_case(OUR_COOKIES.as_bytes())) {
        return None;
    }
    let is_domain = |part: &[u8]| {
        let name = part.split(|byte| *byte == b'=').next().unwrap_or_default();
        name.trim_ascii().eq_ignore_ascii_case(b"domain")
    };
    let (first, attributes) = parts.split_first()?;
    let kept = attributes.iter().filter(|part| !is_domain(part));
    let line = kept.fold(first.to_vec(), |mut line, part| {
        line.push(b';');
        line.extend_from_slice(part);
        line
    });
    HeaderValue::from_bytes(&line).ok()
}

/// A redirect within the program leads to where the caller finds it: it may know itself by the name that it has inside.
fn moved(headers: &mut HeaderMap, port: u16, prefix: &str) {
    let Some(to) = headers.get(header::LOCATION).and_then(|to| to.to_str().ok()) else { return };
    let inside = to.parse::<Uri>().ok().filter(|uri| {
        let is_here = matches!(uri.host(), Some("localhost" | "127.0.0.1" | "[::1]"));
        is_here && uri.scheme() == Some(&Scheme::HTTP) && uri.port_u16().unwrap_or(80) == port
    });
    let path = match &inside {
        Some(uri) => uri.path_and_query().map_or("/", |path| path.as_str()),
        None if to.starts_with('/') && !to.starts_with("//") && !to.starts_with("/\\") => to,
        None => return,
    };
    if let Ok(to) = HeaderValue::try_from(format!("{prefix}{path}")) {
        headers.insert(header::LOCATION, to);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(lines: &[(&'static str, &'static str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        headers
    }

    #[test]
    fn a_guest_learns_nothing_of_the_way() {
        let mut sent = headers(&[
            ("connection", "close, X-Secret"),
            ("x-secret", "1"),
            ("te", "trailers"),
            ("transfer-encoding", "chunked"),
            ("content-length", "7"),
            ("upgrade", "h2c"),
            ("http2-settings", "x"),
            ("x-forwarded-for", "10.0.0.1"),
            ("via", "1.1 a"),
            ("accept", "*/*"),
            ("cookie", "a=1; cove-session-8114=secret;cove-port=t"),
            ("cookie", "b=2"),
        ]);
        for_guest(&mut sent);
        without_our_cookies(&mut sent);
        assert_eq!(sent, headers(&[("accept", "*/*"), ("cookie", "a=1; b=2")]));
        let mut none = headers(&[("cookie", "cove-port=t")]);
        without_our_cookies(&mut none);
        assert!(none.is_empty());
    }

    #[test]
    fn cookies_are_the_hosts_own() {
        let check = |given: &'static str, kept: Option<&'static str>| {
            let mut answer = headers(&[("set-cookie", given)]);
            on_own_origin(&mut answer, 80);
            assert_eq!(answer.get(header::SET_COOKIE).map(|value| value.to_str().unwrap()), kept, "{given}");
        };
        check("a=b; Path=/; HttpOnly", Some("a=b; Path=/; HttpOnly"));
        check("a=b; Domain=localhost; Path=/", Some("a=b; Path=/"));
        check("a=b;DOMAIN = .localhost", Some("a=b"));
        check("a=b; domain", Some("a=b"));
        check("domain=b; x=domain", Some("domain=b; x=domain"));
        check("cove-session-8114=forged; Path=/", None);
        check(" Cove-Port=forged", None);
        check("a", Some("a"));
    }

    #[test]
    fn a_guest_says_nothing_about_our_origin() {
        let lines = [
            ("set-cookie", "a=b"),
            ("clear-site-data", "\"*\""),
            ("alt-svc", "h3=\":443\""),
            ("strict-transport-security", "max-age=1"),
            ("access-control-allow-origin", "*"),
            ("service-worker-allowed", "/"),
            ("content-security-policy", "default-src *"),
            ("connection", "x-mine"),
            ("x-mine", "1"),
            ("x-yours", "2"),
        ];
        let mut answer = headers(&lines);
        on_our_origin(&mut answer, 80, "/p");
        let names: Vec<&str> = answer.keys().map(HeaderName::as_str).collect();
        assert_eq!(answer["content-security-policy"], "sandbox; default-src 'none'");
        assert_eq!(names.len(), 4, "{names:?}");
        assert_eq!(answer["x-yours"], "2");
        let mut answer = headers(&lines);
        on_own_origin(&mut answer, 80);
        assert_eq!((answer.len(), answer["content-security-policy"].to_str().unwrap()), (5, "default-src *"));
    }

    #[test]
    fn redirects_lead_to_where_the_caller_is() {
        let check = |to: &'static str, ours: &str, own: &str| {
            let mut answer = headers(&[("location", to)]);
            moved(&mut answer, 3000, "/v1/p");
            assert_eq!(answer[header::LOCATION], ours, "{to}");
            let mut answer = headers(&[("location", to)]);
            moved(&mut answer, 3000, "");
            assert_eq!(answer[header::LOCATION], own, "{to}");
        };
        check("/login?x", "/v1/p/login?x", "/login?x");
        check("login", "login", "login");
        check("http://localhost:3000/a", "/v1/p/a", "/a");
        check("http://127.0.0.1:3000", "/v1/p/", "/");
        check("http://localhost:3001/a", "http://localhost:3001/a", "http://localhost:3001/a");
        check("//evil.example/", "//evil.example/", "//evil.example/");
        check("https://example.com/", "https://example.com/", "https://example.com/");
    }
}
