//! Whether a response is a redirect, where it leads, and which headers may be sent there.

use hyper::header::{self, HeaderMap};
use hyper::{Method, StatusCode, http::response::Parts};

use super::ask::{Ask, Redirects, checked};

/// What to do with an answer's head.
#[derive(Debug)]
pub(super) enum Next {
    /// It is the answer.
    Answer,
    /// Ask this instead.
    Ask(Box<Ask>),
}

/// Headers that describe a body, and go with it.
const OF_THE_BODY: [header::HeaderName; 4] =
    [header::CONTENT_ENCODING, header::CONTENT_LANGUAGE, header::CONTENT_LOCATION, header::CONTENT_TYPE];

/// Headers that were meant for the host that was asked first, and no other.
const FOR_ONE_HOST: [header::HeaderName; 3] = [header::AUTHORIZATION, header::COOKIE, header::PROXY_AUTHORIZATION];

pub(super) fn next(ask: &Ask, head: &Parts) -> Result<Next, String> {
    let moved = matches!(head.status.as_u16(), 301 | 302 | 303 | 307 | 308);
    let Some(location) = head.headers.get(header::LOCATION).filter(|_| moved) else { return Ok(Next::Answer) };
    match ask.redirects {
        Redirects::Manual => return Ok(Next::Answer),
        Redirects::Error => return Err(format!("{} answers with a redirect, which the request forbids", ask.url)),
        Redirects::Follow => {}
    }
    let location = String::from_utf8_lossy(location.as_bytes());
    let url =
        ask.url.join(&location).map_err(|error| format!("the redirect to {location:?} is not a valid URL: {error}"))?;
    let mut next = Ask { url: checked(url)?, ..ask.clone() };
    let becomes_get = match head.status {
        StatusCode::SEE_OTHER => ask.method != Method::GET && ask.method != Method::HEAD,
        StatusCode::MOVED_PERMANENTLY | StatusCode::FOUND => ask.method == Method::POST,
        _ => false,
    };
    if becomes_get {
        next.method = Method::GET;
        next.body = Default::default();
        without(&mut next.headers, &OF_THE_BODY);
    }
    if next.url.origin() != ask.url.origin() {
        without(&mut next.headers, &FOR_ONE_HOST);
    }
    Ok(Next::Ask(Box::new(next)))
}

fn without(headers: &mut HeaderMap, names: &[header::HeaderName]) {
    for name in names {
        headers.remove(name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::Response;
    use serde_json::json;

    fn asked(method: &str, redirect: &str) -> Ask {
        let body = if method == "GET" { json!(null) } else { json!({"$bytes": "aGk="}) };
        let headers = json!([["authorization", "secret"], ["content-type", "text/plain"], ["x-own", "1"]]);
        let url = "https://a.example/x";
        Ask::read(vec![json!({"url": url, "method": method, "headers": headers, "body": body, "redirect": redirect})])
            .unwrap()
    }

    fn told(status: u16, location: &str) -> Parts {
        Response::builder().status(status).header("location", location).body(()).unwrap().into_parts().0
    }

    /// What is asked after each redirect: method, address, body, and which headers are still there.
    #[test]
    fn a_redirect_keeps_what_it_may() {
        let check =
            |method: &str, status: u16, location: &str| match next(&asked(method, "follow"), &told(status, location)) {
                Ok(Next::Ask(ask)) => {
                    let has = |name: &str| ask.headers.contains_key(name);
                    let kept = (has("authorization"), has("content-type"), has("x-own"));
                    format!("{} {} {} {kept:?}", ask.method, ask.url, ask.body.len())
                }
                Ok(Next::Answer) => "answer".to_owned(),
                Err(error) => error,
            };
        assert_eq!(check("GET", 302, "/y"), "GET https://a.example/y 0 (true, true, true)");
        assert_eq!(check("POST", 302, "y"), "GET https://a.example/y 0 (true, false, true)");
        assert_eq!(check("PUT", 302, "y"), "PUT https://a.example/y 2 (true, true, true)");
        assert_eq!(check("PUT", 303, "y"), "GET https://a.example/y 0 (true, false, true)");
        assert_eq!(check("POST", 307, "y"), "POST https://a.example/y 2 (true, true, true)");
        assert_eq!(check("GET", 308, "https://b.example/"), "GET https://b.example/ 0 (false, true, true)");
        assert_eq!(check("GET", 301, "http://a.example/"), "GET http://a.example/ 0 (false, true, true)");
        assert_eq!(check("GET", 304, "/y"), "answer");
        assert_eq!(check("GET", 200, "/y"), "answer");
        assert_eq!(
            check("GET", 302, "file:///etc/passwd"),
            "only http: and https: addresses can be fetched, not file:"
        );
        assert!(check("GET", 302, "https://me:pw@a.example/").contains("a name and a password"));
        assert!(check("GET", 302, "http://[").contains("is not a valid URL"));
        assert!(matches!(next(&asked("GET", "manual"), &told(302, "/y")), Ok(Next::Answer)));
        assert!(next(&asked("GET", "error"), &told(302, "/y")).unwrap_err().contains("forbids"));
    }
}
