//! Whether a request comes from our own page.
//!
//! A browser sends the cookie with whatever asks for it: a form or a picture of another page on this machine (another port
//! is the same site), a link to a guest's file. So the cookie alone means nothing. The page sets a header that no form, link,
//! picture or frame can set, and that a script of another origin may not; where the browser says where a request comes from,
//! that must fit as well. A WebSocket can carry no header of ours, but it always says its origin.

use axum::http::{HeaderMap, HeaderName, header};

use crate::routes::websocket::is_websocket;

/// What the page sends with every request.
const FROM_PAGE: HeaderName = HeaderName::from_static("x-cove-page");

/// Whether a request comes from our own page.
pub(super) fn is_own(headers: &HeaderMap) -> bool {
    let says = |name: &HeaderName| headers.get(name).map(|value| value.to_str().unwrap_or_default());
    let host = says(&header::HOST).unwrap_or_default();
    let origin = says(&header::ORIGIN);
    let origin_fits = origin.is_none_or(|origin| {
        let name = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
        !host.is_empty() && name.is_some_and(|name| name.eq_ignore_ascii_case(host))
    });
    let site_fits = says(&HeaderName::from_static("sec-fetch-site")).is_none_or(|site| site == "same-origin");
    let marked = if is_websocket(headers) { origin.is_some() } else { headers.contains_key(FROM_PAGE) };
    origin_fits && site_fits && marked
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_page_itself_may_use_its_cookie() {
        let check = |lines: &[(&'static str, &'static str)], own: bool| {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, "localhost:8114".parse().unwrap());
            for (name, value) in lines {
                headers.insert(HeaderName::from_static(name), value.parse().unwrap());
            }
            assert_eq!(is_own(&headers), own, "{lines:?}");
        };
        check(&[], false);
        check(&[("sec-fetch-site", "same-origin")], false);
        check(&[("x-cove-page", "1")], true);
        check(&[("x-cove-page", "1"), ("sec-fetch-site", "same-origin")], true);
        check(&[("x-cove-page", "1"), ("sec-fetch-site", "same-site")], false);
        check(&[("x-cove-page", "1"), ("sec-fetch-site", "cross-site")], false);
        check(&[("x-cove-page", "1"), ("sec-fetch-site", "none")], false);
        check(&[("x-cove-page", "1"), ("origin", "http://localhost:8114")], true);
        check(&[("x-cove-page", "1"), ("origin", "https://localhost:8114")], true);
        check(&[("x-cove-page", "1"), ("origin", "http://localhost:3000")], false);
        check(&[("x-cove-page", "1"), ("origin", "http://localhost:8114.evil.example")], false);
        check(&[("x-cove-page", "1"), ("origin", "null")], false);
        let websocket = [("connection", "Upgrade"), ("upgrade", "websocket")];
        let with = |more: &[(&'static str, &'static str)]| [&websocket[..], more].concat();
        check(&with(&[]), false);
        check(&with(&[("x-cove-page", "1")]), false);
        check(&with(&[("origin", "http://localhost:8114")]), true);
        check(&with(&[("origin", "http://localhost:8114"), ("sec-fetch-site", "same-site")]), false);
        check(&with(&[("origin", "http://evil.example")]), false);
        check(&with(&[("origin", "null")]), false);
    }
}
