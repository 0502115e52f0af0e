//! What handlers take from a request: a body, a query, names in the path, an idempotency key.
//!
//! Own extractors, because what they refuse must have the contract's shape, and because a body has a deadline: who sends
//! one byte a minute holds nothing for long.

use axum::body::Body;
use axum::extract::{FromRequest, FromRequestParts, RawPathParams, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::{Bytes, BytesMut};
use cove_api::ErrorCode;
use cove_bay::IdempotencyKey;
use cove_core::shorten_word;
use futures_util::StreamExt as _;
use serde::de::DeserializeOwned;

use crate::app::App;
use crate::body_rate::BodyRate;
use crate::bounds::Bounded;
use crate::failure::Failure;
use crate::limits;
use crate::options::ServerOptions;
use crate::schema::{Problems, read_json, read_query};
use crate::shares::BodyMemory;

/// A JSON body that fits its schema.
#[derive(Debug)]
pub(crate) struct Sent<T>(pub(crate) T);

impl<T: DeserializeOwned + Bounded> FromRequest<App> for Sent<T> {
    type Rejection = Response;

    async fn from_request(request: Request, app: &App) -> Result<Self, Response> {
        let (parts, body) = request.into_parts();
        if !may_be_json(&parts.headers) {
            let mut problems = Problems::at("body");
            problems.add(None, "content_type", "the body must be `application/json` in UTF-8");
            return Err(problems.into_response());
        }
        let memory = parts.extensions.get::<BodyMemory>();
        let whole = whole(&parts.headers, memory, body, T::MAX_BYTES, &app.options).await;
        let bytes = whole.map_err(IntoResponse::into_response)?;
        if T::HOLDS_VALUES {
            weigh_values(memory, &bytes).map_err(IntoResponse::into_response)?;
        }
        let value: T = read_json(&bytes).map_err(refused::<T>)?;
        let mut problems = Problems::at("body");
        value.check(&mut problems);
        problems.verdict().map_err(IntoResponse::into_response)?;
        Ok(Self(value))
    }
}

/// What does not fit is 422, but for the words that a type wants refused as values.
fn refused<T: Bounded>(problems: Problems) -> Response {
    match problems.unknown_word(T::WORDS) {
        Some(sentence) => Failure::new(ErrorCode::ValidationError, sentence).into_response(),
        None => problems.into_response(),
    }
}

/// No type at all is taken for JSON; another one is not, nor two of them, nor one in other letters than UTF-8.
fn may_be_json(headers: &HeaderMap) -> bool {
    let mut values = headers.get_all(header::CONTENT_TYPE).iter();
    let Some(value) = values.next() else { return true };
    let text = value.to_str().unwrap_or_default().to_ascii_lowercase();
    let mut parts = text.split(';').map(str::trim);
    let essence = parts.next().unwrap_or_default();
    let json = essence == "application/json" || (essence.starts_with("application/") && essence.ends_with("+json"));
    let charset = parts.find_map(|part| part.strip_prefix("charset=")).map(|name| name.trim_matches('"'));
    json && values.next().is_none() && charset.is_none_or(|name| matches!(name, "utf-8" | "utf8" | "us-ascii"))
}

/// The whole body, within its size and time.
pub(crate) async fn whole(
    headers: &HeaderMap,
    memory: Option<&BodyMemory>,
    body: Body,
    most: usize,
    options: &ServerOptions,
) -> Result<Bytes, Failure> {
    if announced(headers).is_some_and(|bytes| bytes > most as u64) {
        return Err(too_large(most as u64));
    }
    let rate = BodyRate::json(options);
    let mut stream = body.into_data_stream();
    let mut bytes = BytesMut::new();
    while let Some(chunk) = rate.wait(stream.next()).await? {
        let chunk = chunk.map_err(|_| {
            Failure::new(ErrorCode::ValidationError, "the connection closed before the end of the body")
        })?;
        if bytes.len() + chunk.len() > most {
            return Err(too_large(most as u64));
        }
        rate.count(chunk.len());
        memory.map_or(Ok(()), |memory| memory.0.add(chunk.len()))?;
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes.freeze())
}

/// Takes what JSON of any form weighs once it is read, beyond its text.
pub(crate) fn weigh_values(memory: Option<&BodyMemory>, text: &[u8]) -> Result<(), Failure> {
    memory.map_or(Ok(()), |memory| memory.0.add(text.len().saturating_mul(limits::VALUE_WEIGHT - 1)))
}

/// How large the body says it is.
pub(crate) fn announced(headers: &HeaderMap) -> Option<u64> {
    headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse().ok())
}

/// 413
pub(crate) fn too_large(limit_bytes: u64) -> Failure {
    let message = format!("the body is larger than {limit_bytes} bytes");
    Failure::with_status(StatusCode::PAYLOAD_TOO_LARGE, ErrorCode::ValidationError, message)
        .with("limit_bytes", limit_bytes)
}

/// A query that fits its schema.
#[derive(Debug)]
pub(crate) struct Asked<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned + Bounded> FromRequestParts<S> for Asked<T> {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Response> {
        let value: T = read_query(parts.uri.query().unwrap_or_default()).map_err(refused::<T>)?;
        let mut problems = Problems::at("query");
        value.check(&mut problems);
        problems.verdict().map_err(IntoResponse::into_response)?;
        Ok(Self(value))
    }
}

/// Names in the path. Whether such a thing exists is Bay's to say; here they must have the form of an id, or be text.
#[derive(Debug)]
pub(crate) struct Named<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for Named<T> {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Failure> {
        match axum::extract::Path::<T>::from_request_parts(parts, state).await {
            Ok(axum::extract::Path(value)) => Ok(Self(value)),
            Err(rejection) => {
                let text = rejection.body_text();
                let why = text.strip_prefix("Invalid URL: ").unwrap_or(&text);
                let failure = Failure::new(ErrorCode::NotFound, format!("a name in this path is invalid: {why}"));
                let names = RawPathParams::from_request_parts(parts, state).await.ok();
                let id = names.and_then(|names| Some(names.iter().find(|(name, _)| *name == "id")?.1.to_owned()));
                Err(match id {
                    Some(id) => failure.with("id", shorten_word(&id)),
                    None => failure,
                })
            }
        }
    }
}

/// `Idempotency-Key`, if there is one.
#[derive(Debug)]
pub(crate) struct Once(pub(crate) Option<IdempotencyKey>);

impl<S: Send + Sync> FromRequestParts<S> for Once {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Failure> {
        let mut values = parts.headers.get_all("idempotency-key").iter();
        let Some(value) = values.next() else { return Ok(Self(None)) };
        if values.next().is_some() {
            return Err(Failure::new(ErrorCode::ValidationError, "there is more than one `Idempotency-Key`"));
        }
        // What is not text becomes what the key's own check refuses.
        let key = IdempotencyKey::parse(value.to_str().unwrap_or_default())?;
        Ok(Self(Some(key)))
    }
}
