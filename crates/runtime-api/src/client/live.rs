//! Answers that come line by line: what was written while something ran, then how it ended.

use bytes::Bytes;
use cove_api::OutputChunk;
use cove_core::{Deadline, LogLine};
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use hyper::{Method, Response, StatusCode};
use serde_json::Value;

use super::{CallError, JSON, RuntimeClient, by, refusal};
use crate::Call;
use crate::bounds::MAX_ANSWER_BYTES;
use crate::live::LiveFrame;

impl RuntimeClient {
    /// Asks, hears what is written meanwhile, and reads the answer. The request must ask for a stream.
    pub async fn call_live<C: Call>(
        &self,
        request: &C,
        deadline: Deadline,
        heard: impl Fn(OutputChunk),
    ) -> Result<C::Answer, CallError> {
        let body = serde_json::to_vec(request).map_err(CallError::unreadable)?.into();
        by(deadline, async {
            let answer = self.send(C::METHOD, C::PATH, JSON, body).await?;
            if !answer.status().is_success() {
                return Err(refusal(answer).await);
            }
            each_line(answer, |line| {
                Ok(match serde_json::from_slice(line).map_err(CallError::unreadable)? {
                    LiveFrame::Output(chunk) => {
                        heard(chunk);
                        None
                    }
                    LiveFrame::Answer(answer) => Some(answer),
                    LiveFrame::Refused(late) => return Err(CallError::Refused(late.into())),
                })
            })
            .await
        })
        .await
    }

    /// Runs JavaScript as `/javascript/exec` does, and hears console lines while they are written.
    pub async fn javascript(
        &self,
        body: &Value,
        deadline: impl Into<Deadline>,
        mut heard: impl FnMut(LogLine),
    ) -> Result<(StatusCode, Value), CallError> {
        let mut body = body.clone();
        if let Some(body) = body.as_object_mut() {
            body.insert("stream".to_owned(), true.into());
        }
        by(deadline.into(), async {
            let answer = self.send(Method::POST, "/javascript/exec", JSON, Bytes::from(body.to_string())).await?;
            let status = answer.status();
            if !status.is_success() {
                let read = Limited::new(answer.into_body(), MAX_ANSWER_BYTES).collect().await;
                let read = read.map_err(CallError::unreachable)?.to_bytes();
                return Ok((status, serde_json::from_slice(&read).map_err(CallError::unreadable)?));
            }
            let ended = each_line(answer, |line| {
                let mut line: Value = serde_json::from_slice(line).map_err(CallError::unreadable)?;
                if line["answer"].is_object() {
                    return Ok(Some(line["answer"].take()));
                }
                if let Ok(line) = serde_json::from_value(line["log"].take()) {
                    heard(line);
                }
                Ok(None)
            });
            Ok((status, ended.await?))
        })
        .await
    }
}

/// Reads line by line until one of them is the end.
async fn each_line<T>(
    answer: Response<Incoming>,
    mut read: impl FnMut(&[u8]) -> Result<Option<T>, CallError>,
) -> Result<T, CallError> {
    let mut body = Limited::new(answer.into_body(), MAX_ANSWER_BYTES);
    let mut kept = Vec::new();
    // Up to here there is no end of a line: a long one is not searched again with each of its parts.
    let mut searched = 0;
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(CallError::unreachable)?;
        kept.extend_from_slice(frame.data_ref().map(AsRef::as_ref).unwrap_or_default());
        while let Some(end) = kept[searched..].iter().position(|byte| *byte == b'\n') {
            let end = searched + end;
            if let Some(ended) = read(&kept[..end])? {
                return Ok(ended);
            }
            kept.drain(..=end);
            searched = 0;
        }
        searched = kept.len();
    }
    Err(CallError::unreachable("the connection closed before the end of the answer"))
}
