//! `/e2b`: the door for E2B's clients, behind the same keys.
//!
//! They send a key as `X-API-KEY`, and a sandbox's own token with its traffic. A signed address of a file comes without
//! `/e2b`, because their SDKs replace the whole path of the address that they were given: it is taken at `/files`.

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse as _, Response};
use axum::routing;
use cove_bay::Owner;
use cove_e2b::{Admission, E2bDoor, Refused};

use crate::app::App;
use crate::caller::{self, Known};
use crate::extract;
use crate::failure::Failure;
use crate::keys::Identity;
use crate::shares::BodyMemory;

/// A call's body at most; files and streamed input are not read here.
const MAX_BODY_BYTES: usize = 32 << 20;

const API_KEY: HeaderName = HeaderName::from_static("x-api-key");

/// Where files are taken and given, below `/e2b` and, by signed addresses, without it.
const FILES: &str = "/files";

/// Input that comes as its client has it.
const STREAMED_INPUT: &str = "/process.Process/StreamInput";

pub(super) fn routes(app: &App) -> Router<App> {
    let door = E2bDoor::new(app.bay.clone());
    let inner = door.router();
    let signed = inner.clone();
    Router::new()
        .nest_service("/e2b", inner)
        .route(FILES, routing::get_service(signed.clone()).post_service(signed))
        .route_layer(from_fn_with_state(app.clone(), within))
        .route_layer(from_fn_with_state(app.clone(), caller::admit))
        .route_layer(from_fn_with_state(door, known))
}

/// Learns who calls from what only these clients send, so that the gate behind it finds a key, or knows already; and gives
/// the gate's refusals the form that these clients read.
async fn known(State(door): State<E2bDoor>, mut request: Request, next: Next) -> Response {
    // By its address alone a file is reached only with a signature.
    if request.uri().path() == FILES && !request.uri().query().unwrap_or_default().contains("signature=") {
        return Failure::new(cove_api::ErrorCode::NotFound, "there is no endpoint at /files").into_response();
    }
    match door.admission(&mut request).await {
        Admission::ByToken(owner, _) => {
            request.extensions_mut().insert(Known(Identity::of_token(owner)));
        }
        Admission::Refused(refused) => return refused.into_response(),
        Admission::ByKey => key_of(request.headers_mut()),
    }
    let response = next.run(request).await;
    match response.extensions().get::<Failure>() {
        Some(failure) => {
            let status = response.status();
            let refused = Refused { status, message: failure.message().to_owned(), word: Some(failure.code()) };
            let mut told = refused.into_response();
            told.headers_mut().extend(
                [header::RETRY_AFTER, header::WWW_AUTHENTICATE]
                    .into_iter()
                    .filter_map(|name| Some((name.clone(), response.headers().get(name)?.clone()))),
            );
            told
        }
        None => response,
    }
}

/// Their key, as everybody else sends it. Basic authorization is the name of a user inside a sandbox, and no key.
fn key_of(headers: &mut HeaderMap) {
    if let Some(key) = headers.get(API_KEY) {
        let key = unwrapped(key.as_bytes()).unwrap_or_else(|| key.as_bytes().to_vec());
        if let Ok(value) = HeaderValue::from_bytes(&[b"Bearer ", &*key].concat()) {
            headers.insert(header::AUTHORIZATION, value);
        }
    }
}

/// Some of their clients send no key that is not `e2b_` and hexadecimal digits: then these are the letters of ours.
fn unwrapped(key: &[u8]) -> Option<Vec<u8>> {
    let digits = std::str::from_utf8(key.strip_prefix(b"e2b_")?).ok()?;
    if digits.is_empty() || !digits.is_ascii() || digits.len() % 2 != 0 {
        return None;
    }
    let pairs = (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16));
    // Digits that are a key by themselves are no letters.
    pairs.collect::<Result<Vec<u8>, _>>().ok().filter(|bytes| bytes.iter().all(u8::is_ascii_graphic))
}

/// Reads a call before anybody works on it, within its size and time; says whose it is.
async fn within(State(app): State<App>, request: Request, next: Next) -> Response {
    let (mut parts, body) = request.into_parts();
    let Some(owner): Option<Owner> = parts.extensions.get::<Identity>().map(|identity| identity.owner.clone()) else {
        return Failure::with_status(StatusCode::UNAUTHORIZED, cove_api::ErrorCode::Unauthorized, "no key")
            .into_response();
    };
    parts.extensions.insert(owner);
    let path = parts.uri.path();
    if parts.method == Method::GET || path.ends_with(FILES) || path.ends_with(STREAMED_INPUT) {
        return next.run(Request::from_parts(parts, body)).await;
    }
    let memory = parts.extensions.get::<BodyMemory>();
    match extract::whole(&parts.headers, memory, body, MAX_BODY_BYTES, &app.options).await {
        Ok(bytes) => next.run(Request::from_parts(parts, Body::from(bytes))).await,
        Err(failure) => failure.into_response(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_may_come_as_hexadecimal_digits() {
        let digits: String = b"sk-bay-1".iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(unwrapped(format!("e2b_{digits}").as_bytes()).as_deref(), Some(&b"sk-bay-1"[..]));
        for other in ["sk-bay-1", "e2b_", "e2b_0", "e2b_zz", "e2b_0000000000000000", "e2b_+1+1"] {
            assert_eq!(unwrapped(other.as_bytes()), None, "{other}");
        }
    }
}
