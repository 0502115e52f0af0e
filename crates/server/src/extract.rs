//! What handlers take from a request: a body, a query, names in the path, an idempotency key.
//!
//! Own extractors, because what they refuse must have the contract's shape, and because a body has a deadline: who sends
//! one byte a minute holds nothing for long.

use axum::body::Body;
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::{Bytes, BytesMut};
use cove_api::ErrorCode;
use cove_bay::IdempotencyKey;
use futures_util::StreamExt as _;
use serde::de::DeserializeOwned;

use crate::bounds::Bounded;
use crate::failure::Failure;
use crate::limits;
use crate::schema::{Problems, read_json, read_query};

/// A JSON body that fits its schema.
#[derive(Debug)]
pub(crate) struct Sent<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned + Bounded> FromRequest<S> for Sent<T> {
    type Rejection = Response;

    async fn from_request(request: Request, _: &S) -> Result<Self, Response> {
        let (parts, body) = request.into_parts();
        if !may_be_json(&parts.headers) {
            let mut problems = Problems::at("body");
            problems.add(None, "content_type", "the body must be `application/json`");
            return Err(problems.into_response());
        }
        let bytes = whole(&parts.headers, body).await.map_err(IntoResponse::into_response)?;
        let value: T = read_json(&bytes).map_err(IntoResponse::into_response)?;
        let mut problems = Problems::at("body");
        value.check(&mut problems);
        problems.verdict().map_err(IntoResponse::into_response)?;
        Ok(Self(value))
    }
}

/// No type at all is taken for JSON; another one is not.
fn may_be_json(headers: &HeaderMap) -> bool {
    let Some(value) = headers.get(header::CONTENT_TYPE) else { return true };
    let essence = value.to_str().unwrap_or_default().split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    essence == "application/json" || (essence.starts_with("application/") && essence.ends_with("+json"))
}

/// The whole body, within its size and time.
async fn whole(headers: &HeaderMap, body: Body) -> Result<Bytes, Failure> {
    let announced = headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    if announced.is_some_and(|bytes| bytes > limits::MAX_JSON_BYTES as u64) {
        return Err(too_large(limits::MAX_JSON_BYTES as u64));
    }
    let read = async {
        let mut stream = body.into_data_stream();
        let mut bytes = BytesMut::new();
        while let Some(chunk) = stream.next().await {
            let chunk = chunk.map_err(|_| Failure::new(ErrorCode::ValidationError, "the body broke off"))?;
            if bytes.len() + chunk.len() > limits::MAX_JSON_BYTES {
                return Err(too_large(limits::MAX_JSON_BYTES as u64));
            }
            bytes.extend_from_slice(&chunk);
        }
        Ok(bytes.freeze())
    };
    match tokio::time::timeout(limits::BODY_READ, read).await {
        Ok(done) => done,
        Err(_) => Err(Failure::with_status(
            StatusCode::REQUEST_TIMEOUT,
            ErrorCode::Timeout,
            format!("the body did not arrive within {} s", limits::BODY_READ.as_secs()),
        )),
    }
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
    type Rejection = Problems;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problems> {
        let value: T = read_query(parts.uri.query().unwrap_or_default())?;
        let mut problems = Problems::at("query");
        value.check(&mut problems);
        problems.verdict()?;
        Ok(Self(value))
    }
}

/// Names in the path. Whether such a thing exists is Bay's to say; here they only must be text.
#[derive(Debug)]
pub(crate) struct Named<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for Named<T> {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Failure> {
        match axum::extract::Path::<T>::from_request_parts(parts, state).await {
            Ok(axum::extract::Path(value)) => Ok(Self(value)),
            Err(_) => Err(Failure::new(ErrorCode::NotFound, "no name in this path can be read")),
        }
    }
}

/// `Idempotency-Key`, if there is one.
#[derive(Debug)]
pub(crate) struct Once(pub(crate) Option<IdempotencyKey>);

impl<S: Send + Sync> FromRequestParts<S> for Once {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Failure> {
        let Some(value) = parts.headers.get("idempotency-key") else { return Ok(Self(None)) };
        // What is not text becomes what the key's own check refuses.
        let key = IdempotencyKey::parse(value.to_str().unwrap_or_default())?;
        Ok(Self(Some(key)))
    }
}
