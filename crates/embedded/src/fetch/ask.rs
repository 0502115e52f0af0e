//! A request as the world sends it, read once into what can be sent.
//!
//! The world checks what a program may write; none of that is believed here, because a world may have been taken over.

use cove_core::bytes_from_json;
use hyper::Method;
use hyper::body::Bytes;
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use serde::Deserialize;
use serde_json::Value;
use url::Url;

/// The longest body of one request.
const MAX_BODY_BYTES: usize = 16 << 20;

/// All headers of one request together; servers refuse more anyway.
const MAX_HEADER_BYTES: usize = 64 << 10;

/// The longest address.
const MAX_URL_BYTES: usize = 64 << 10;

/// Headers that belong to the connection and not to a guest: who is asked, how long the body is, what else is spoken.
/// As in browsers they are left out without a word.
const OURS: &[&str] = &[
    "accept-encoding",
    "connection",
    "content-length",
    "expect",
    "host",
    "http2-settings",
    "keep-alive",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "via",
];

/// What is done with a redirect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Redirects {
    #[default]
    Follow,
    Error,
    Manual,
}

#[derive(Deserialize)]
struct Written {
    url: String,
    method: String,
    #[serde(default)]
    headers: Vec<(String, String)>,
    #[serde(default)]
    body: Value,
    #[serde(default)]
    redirect: Redirects,
    #[serde(default)]
    number: u64,
}

/// A request that can be sent.
#[derive(Debug, Clone)]
pub(super) struct Ask {
    pub(super) url: Url,
    pub(super) method: Method,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
    pub(super) redirects: Redirects,
    /// By which the world gives it up.
    pub(super) number: u64,
}

impl Ask {
    pub(super) fn read(args: Vec<Value>) -> Result<Self, String> {
        let first = args.into_iter().next().unwrap_or_default();
        let written: Written =
            serde_json::from_value(first).map_err(|error| format!("the request cannot be read: {error}"))?;
        let method = Method::from_bytes(written.method.as_bytes())
            .ok()
            .filter(|method| !["CONNECT", "TRACE", "TRACK"].contains(&method.as_str().to_ascii_uppercase().as_str()))
            .ok_or_else(|| format!("the method {:?} cannot be used", written.method))?;
        let body = match &written.body {
            Value::Null => Bytes::new(),
            bytes => bytes_from_json(bytes).ok_or("the request's body is not bytes")?.into(),
        };
        if body.len() > MAX_BODY_BYTES {
            return Err(format!("the request's body has {} bytes; the most is {MAX_BODY_BYTES}", body.len()));
        }
        let headers = read_headers(&written.headers)?;
        let url = read_url(&written.url)?;
        Ok(Self { url, method, headers, body, redirects: written.redirect, number: written.number })
    }
}

/// An address that may be asked at all; whether the policy opens it is a later question.
pub(super) fn read_url(text: &str) -> Result<Url, String> {
    if text.len() > MAX_URL_BYTES {
        return Err(format!("the address has {} bytes; the most is {MAX_URL_BYTES}", text.len()));
    }
    let url = Url::parse(text).map_err(|error| format!("{text:?} is not a valid URL: {error}"))?;
    checked(url)
}

/// Refuses what is not asked by HTTP, and secrets in an address.
pub(super) fn checked(url: Url) -> Result<Url, String> {
    if !matches!(url.scheme(), "http" | "https") {
        return Err(format!("only http: and https: addresses can be fetched, not {}:", url.scheme()));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("an address with a name and a password cannot be fetched; send an Authorization header".to_owned());
    }
    Ok(url)
}

fn read_headers(written: &[(String, String)]) -> Result<HeaderMap, String> {
    let mut headers = HeaderMap::new();
    let mut bytes = 0;
    for (name, value) in written {
        bytes += name.len() + value.len() + 4;
        if bytes > MAX_HEADER_BYTES {
            return Err(format!("the request's headers have more than {MAX_HEADER_BYTES} bytes"));
        }
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| format!("{name:?} is not a header name"))?;
        if OURS.contains(&name.as_str()) || name.as_str().starts_with("proxy-") {
            continue;
        }
        // Headers are bytes; as in browsers, one character is one byte.
        let value: Option<Vec<u8>> = value.chars().map(|letter| u8::try_from(letter).ok()).collect();
        let value = value.and_then(|value| HeaderValue::from_bytes(&value).ok());
        let value = value.ok_or_else(|| format!("the value of the header {name} cannot be sent"))?;
        headers.append(name, value);
    }
    Ok(headers)
}
