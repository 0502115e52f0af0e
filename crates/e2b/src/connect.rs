//! The Connect protocol, as far as E2B's clients speak it: JSON, unary calls, streams to the client, and one from it.
//!
//! A stream's messages each have five bytes before them: flags and a length. The last one has a flag of its own and says
//! whether it went well. The crates for it bring code generation, `tower` stacks and binary messages; these clients send
//! JSON alone, and what is left of the protocol is this file.

use std::convert::Infallible;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use bytes::{Buf as _, BufMut as _, BytesMut};
use futures_util::{Stream, StreamExt as _};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::refusal::Refused;

const UNARY: &str = "application/json";
const STREAM: &str = "application/connect+json";

/// The message is packed.
const COMPRESSED: u8 = 1;

/// The message is the last one.
const END: u8 = 2;

const HEADER_BYTES: usize = 5;

/// One message of a client; an input of a process is the largest.
const MAX_MESSAGE_BYTES: usize = 8 << 20;

/// How long a client may take for a message that it has begun, or for its next one.
const PATIENCE: Duration = Duration::from_secs(120);

/// Answers a unary call.
pub(crate) fn unary<T: Serialize>(answer: Result<T, Refused>) -> Response {
    match answer {
        Ok(answer) => axum::Json(answer).into_response(),
        Err(refused) => {
            let code = refused.connect_code();
            // The statuses that the protocol gives to its codes.
            let status = match code {
                "already_exists" => StatusCode::CONFLICT,
                "failed_precondition" => StatusCode::BAD_REQUEST,
                "deadline_exceeded" => StatusCode::GATEWAY_TIMEOUT,
                "unavailable" => StatusCode::SERVICE_UNAVAILABLE,
                _ => refused.status,
            };
            (status, axum::Json(refused.connect_body())).into_response()
        }
    }
}

/// Reads a unary call's message.
pub(crate) fn message<T: DeserializeOwned>(headers: &HeaderMap, body: &[u8]) -> Result<T, Refused> {
    speaks(headers, UNARY)?;
    read(body)
}

/// Reads the one message of a call that is answered by a stream.
pub(crate) fn only_message<T: DeserializeOwned>(headers: &HeaderMap, mut body: &[u8]) -> Result<T, Refused> {
    speaks(headers, STREAM)?;
    let broken = || Refused::invalid("not a Connect message: expected a five-byte header, then JSON");
    if body.len() < HEADER_BYTES {
        return Err(broken());
    }
    let (flags, length) = (body.get_u8(), body.get_u32() as usize);
    if flags & COMPRESSED != 0 || length != body.len() {
        return Err(broken());
    }
    read(body)
}

/// Reads messages as they come; `None`: there are no more.
pub(crate) struct Messages<S> {
    body: S,
    kept: BytesMut,
}

impl<S: Stream<Item = Result<Bytes, axum::Error>> + Unpin> Messages<S> {
    pub(crate) fn new(headers: &HeaderMap, body: S) -> Result<Self, Refused> {
        speaks(headers, STREAM)?;
        Ok(Self { body, kept: BytesMut::new() })
    }

    pub(crate) async fn next<T: DeserializeOwned>(&mut self) -> Result<Option<T>, Refused> {
        loop {
            if self.kept.len() >= HEADER_BYTES {
                let mut head = &self.kept[..HEADER_BYTES];
                let (flags, length) = (head.get_u8(), head.get_u32() as usize);
                if flags & COMPRESSED != 0 || length > MAX_MESSAGE_BYTES {
                    return Err(Refused::invalid("a message is compressed or longer than 8 MiB"));
                }
                if self.kept.len() >= HEADER_BYTES + length {
                    self.kept.advance(HEADER_BYTES);
                    let text = self.kept.split_to(length);
                    return if flags & END != 0 { Ok(None) } else { read(&text).map(Some) };
                }
            }
            let late = |_| Refused::new(StatusCode::REQUEST_TIMEOUT, "the next message did not come in time");
            match tokio::time::timeout(PATIENCE, self.body.next()).await.map_err(late)? {
                Some(Ok(bytes)) => self.kept.extend_from_slice(&bytes),
                Some(Err(_)) => return Err(Refused::invalid("the connection closed before the last message")),
                None if self.kept.is_empty() => return Ok(None),
                None => return Err(Refused::invalid("the last message is cut off")),
            }
        }
    }
}

/// The time that the client gives a call, if it does.
pub(crate) fn time_limit(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get("connect-timeout-ms")?.to_str().ok()?;
    text.parse().ok().filter(|ms| *ms > 0).map(Duration::from_millis)
}

/// How often the client wants to hear that a stream is alive.
pub(crate) fn keep_alive(headers: &HeaderMap) -> Duration {
    let text = headers.get("keepalive-ping-interval").and_then(|value| value.to_str().ok());
    Duration::from_secs(text.and_then(|text| text.parse().ok()).unwrap_or(50).clamp(1, 600))
}

/// Answers with a stream of messages; its last item may be a refusal.
pub(crate) fn stream(messages: impl Stream<Item = Result<Value, Refused>> + Send + 'static) -> Response {
    let ended = futures_util::stream::unfold((Box::pin(messages), false), |(mut messages, over)| async move {
        if over {
            return None;
        }
        let (flags, value, over) = match messages.next().await {
            Some(Ok(value)) => (0, value, false),
            Some(Err(refused)) => (END, json!({"error": refused.connect_body()}), true),
            None => (END, json!({}), true),
        };
        Some((Ok::<_, Infallible>(framed(flags, &value)), (messages, over)))
    });
    ([(header::CONTENT_TYPE, STREAM)], Body::from_stream(ended)).into_response()
}

/// A stream that ends with a refusal before anything else.
pub(crate) fn refused_stream(refused: Refused) -> Response {
    stream(futures_util::stream::iter([Err(refused)]))
}

/// One message after which the stream ends well.
pub(crate) fn stream_of_one(value: Value) -> Response {
    stream(futures_util::stream::iter([Ok(value)]))
}

fn framed(flags: u8, value: &Value) -> Bytes {
    let text = value.to_string();
    let mut out = BytesMut::with_capacity(HEADER_BYTES + text.len());
    out.put_u8(flags);
    out.put_u32(u32::try_from(text.len()).unwrap_or(u32::MAX));
    out.put_slice(text.as_bytes());
    out.freeze()
}

fn speaks(headers: &HeaderMap, wanted: &str) -> Result<(), Refused> {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if kind.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case(wanted) {
        return Ok(());
    }
    let message = format!("this call takes `{wanted}`, not {kind:?}: binary messages are not spoken here");
    Err(Refused::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, message))
}

fn read<T: DeserializeOwned>(text: &[u8]) -> Result<T, Refused> {
    let text = if text.is_empty() { b"{}" } else { text };
    serde_json::from_slice(text).map_err(|error| Refused::invalid(format!("the message cannot be read: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn messages_are_read_however_they_are_cut() {
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_TYPE, header::HeaderValue::from_static(STREAM));
        let all = [framed(0, &json!({"a": 1})), framed(0, &json!({"b": 2})), framed(END, &json!({}))].concat();
        for size in [1, 4, 7, all.len()] {
            let pieces: Vec<_> = all.chunks(size).map(|piece| Ok(Bytes::copy_from_slice(piece))).collect();
            let mut messages = Messages::new(&headers, futures_util::stream::iter(pieces)).unwrap();
            assert_eq!(messages.next::<Value>().await.unwrap(), Some(json!({"a": 1})));
            assert_eq!(messages.next::<Value>().await.unwrap(), Some(json!({"b": 2})));
            assert_eq!(messages.next::<Value>().await.unwrap(), None);
        }
        let short = futures_util::stream::iter([Ok(Bytes::from_static(b"\0\0\0\0\x09{"))]);
        assert!(Messages::new(&headers, short).unwrap().next::<Value>().await.is_err());
        assert!(only_message::<Value>(&headers, &framed(0, &json!({"a": 1}))).is_ok());
        assert!(only_message::<Value>(&headers, b"\x01\0\0\0\x02{}").is_err(), "packed");
    }
}
