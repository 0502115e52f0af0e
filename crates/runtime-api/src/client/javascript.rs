//! Ship's `/javascript/exec`, whose console lines are heard while they are written.

use bytes::Bytes;
use cove_core::{Deadline, LogLine};
use http_body_util::{BodyExt, Limited};
use hyper::{Method, StatusCode};
use serde_json::Value;

use super::{CallError, JSON, RuntimeClient, by};
use crate::bounds::MAX_ANSWER_BYTES;

impl RuntimeClient {
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
            let mut body = Limited::new(answer.into_body(), MAX_ANSWER_BYTES);
            let mut kept = Vec::new();
            while let Some(frame) = body.frame().await {
                let frame = frame.map_err(CallError::unreachable)?;
                kept.extend_from_slice(frame.data_ref().map(AsRef::as_ref).unwrap_or_default());
                // A refusal is one object; everything else is one object per line.
                while status.is_success()
                    && let Some(end) = kept.iter().position(|byte| *byte == b'\n')
                {
                    let mut line: Value = serde_json::from_slice(&kept[..end]).map_err(CallError::unreadable)?;
                    kept.drain(..=end);
                    if line["answer"].is_object() {
                        return Ok((status, line["answer"].take()));
                    }
                    if let Ok(line) = serde_json::from_value(line["log"].take()) {
                        heard(line);
                    }
                }
            }
            if status.is_success() {
                return Err(CallError::unreachable("the answer broke off"));
            }
            Ok((status, serde_json::from_slice(&kept).map_err(CallError::unreadable)?))
        })
        .await
    }
}
