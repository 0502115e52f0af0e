//! What is around every request: its id, its span, its metrics, the shape of its errors, and a net under panics.

use std::panic::AssertUnwindSafe;
use std::time::Instant;

use axum::body::Body;
use axum::extract::{MatchedPath, Request};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use cove_api::ErrorCode;
use futures_util::FutureExt as _;
use tracing::Instrument as _;

use crate::failure::Failure;
use crate::ports::FromGuest;
use crate::{limits, metrics};

/// The request's id, on its way in and out.
pub(crate) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Around every request, whatever becomes of it.
pub(crate) async fn envelope(mut request: Request, next: Next) -> Response {
    let began = Instant::now();
    let id = request_id(request.headers());
    // So that a Bay to which the request is forwarded knows it by the same id.
    request.headers_mut().insert(REQUEST_ID, id.clone());
    let method = request.method().clone();
    let route = request.extensions().get::<MatchedPath>().map_or("none", MatchedPath::as_str).to_owned();
    let span = tracing::info_span!(
        "request",
        id = id.to_str().unwrap_or_default(),
        %method,
        route,
        owner = tracing::field::Empty,
        status = tracing::field::Empty,
    );
    let _counted = metrics::InFlight::begin();
    let mut response = match odd(&request) {
        Some(failure) => failure.into_response(),
        None => {
            let done = AssertUnwindSafe(next.run(request)).catch_unwind().instrument(span.clone()).await;
            done.unwrap_or_else(|_| {
                // What panicked has told the log itself; its words are not for the caller.
                Failure::new(ErrorCode::InternalError, "internal server error").into_response()
            })
        }
    };
    let status = response.status().as_u16();
    let took = began.elapsed();
    span.record("status", status);
    metrics::request(&method, &route, status, took);
    span.in_scope(|| {
        let ms = took.as_secs_f64() * 1e3;
        match response.extensions().get::<Failure>() {
            Some(failure) if status >= 500 => tracing::warn!(ms, code = %failure.code(), "{}", failure.message()),
            Some(failure) => tracing::info!(ms, code = %failure.code(), "refused"),
            None => tracing::info!(ms, "done"),
        }
    });
    if let Some(failure) = response.extensions_mut().remove::<Failure>() {
        write_error(&mut response, &failure, id.to_str().unwrap_or_default());
    }
    let guests = response.extensions().get::<FromGuest>().is_some();
    let headers = response.headers_mut();
    headers.insert(REQUEST_ID, id);
    if !guests {
        headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    }
    response
}

/// What no handler can make sense of, whichever it is for: a request that names two hosts, which whoever stands in front
/// may have read otherwise, and a body that is packed, which nobody here unpacks.
fn odd(request: &Request) -> Option<Failure> {
    let refused = |message: &str| Some(Failure::new(ErrorCode::ValidationError, message));
    let headers = request.headers();
    let mut hosts = headers.get_all(header::HOST).iter();
    let host = hosts.next();
    if hosts.next().is_some() {
        return refused("more than one `Host` header");
    }
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~:[]%".contains(byte);
    if host.is_some_and(|host| !host.as_bytes().iter().all(plain)) {
        return refused("invalid `Host` header");
    }
    if let (Some(host), Some(named)) = (host, request.uri().authority())
        && !named.as_str().as_bytes().eq_ignore_ascii_case(host.as_bytes())
    {
        return refused("`Host` and the request URI name different hosts");
    }
    let mut packed = headers.get_all(header::CONTENT_ENCODING).iter();
    // This door unpacks by itself what its clients pack; at `/files` it takes what comes with a signature.
    let path = request.uri().path();
    if !(path.starts_with("/e2b/") || path == "/files")
        && packed.any(|name| !name.as_bytes().eq_ignore_ascii_case(b"identity"))
    {
        let message = "compressed bodies are not supported: leave out `Content-Encoding`";
        return Some(Failure::with_status(StatusCode::UNSUPPORTED_MEDIA_TYPE, ErrorCode::ValidationError, message));
    }
    None
}

fn write_error(response: &mut Response, failure: &Failure, id: &str) {
    metrics::error(failure.code());
    // A body of strings and JSON values always serialises.
    let text = serde_json::to_vec(&failure.body(id)).unwrap_or_default();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.remove(header::CONTENT_LENGTH);
    *response.body_mut() = Body::from(text);
}

/// The caller's own id, if it is one line of plain characters; else a new one.
fn request_id(headers: &HeaderMap) -> HeaderValue {
    let sane = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.:/+=@".contains(byte);
    if let Some(value) = headers.get(&REQUEST_ID)
        && (1..=limits::MAX_REQUEST_ID_BYTES).contains(&value.len())
        && value.as_bytes().iter().all(sane)
    {
        return value.clone();
    }
    HeaderValue::try_from(new_request_id()).unwrap_or(HeaderValue::from_static("req-0"))
}

/// A new id.
pub(crate) fn new_request_id() -> String {
    let chance = (getrandom::u64().unwrap_or_default(), getrandom::u64().unwrap_or_default());
    format!("req-{:016x}{:016x}", chance.0, chance.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_echoed_only_if_it_is_plain() {
        let check = |given: &str, echoed: bool| {
            let mut headers = HeaderMap::new();
            headers.insert(REQUEST_ID, HeaderValue::from_bytes(given.as_bytes()).unwrap());
            assert_eq!(request_id(&headers).as_bytes() == given.as_bytes(), echoed, "{given}");
        };
        check("abc-1", true);
        check("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", true);
        check("", false);
        check("a b", false);
        check("<script>", false);
        check(&"x".repeat(129), false);
        assert!(request_id(&HeaderMap::new()).to_str().unwrap().starts_with("req-"));
    }
}
