//! Answers that last: what a process writes, or what happens in a folder, frame by frame.

use std::marker::PhantomData;

use cove_core::Deadline;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use serde::de::DeserializeOwned;

use super::{CallError, JSON, RuntimeClient, by, refusal};
use crate::Call;
use crate::process::{MAX_FRAME_BYTES, PROCESS_HEARTBEAT};

/// A stream of frames. Dropping it leaves what is followed as it is.
#[derive(Debug)]
pub struct Frames<F> {
    frames: PhantomData<fn() -> F>,
    body: Incoming,
    kept: Vec<u8>,
    searched: usize,
}

impl RuntimeClient {
    /// Asks for what is answered by frames; the deadline is for the beginning of the answer.
    pub async fn follow<C: Call, F>(&self, request: &C, deadline: Deadline) -> Result<Frames<F>, CallError> {
        let body = serde_json::to_vec(request).map_err(CallError::unreadable)?.into();
        by(deadline, async {
            let answer = self.send(C::METHOD, C::PATH, JSON, body).await?;
            if !answer.status().is_success() {
                return Err(refusal(answer).await);
            }
            Ok(Frames { frames: PhantomData, body: answer.into_body(), kept: Vec::new(), searched: 0 })
        })
        .await
    }
}

impl<F: DeserializeOwned> Frames<F> {
    /// The next frame. A runtime that says nothing for three heartbeats is gone. May be dropped and called again.
    pub async fn next(&mut self) -> Result<F, CallError> {
        loop {
            if let Some(end) = self.kept[self.searched..].iter().position(|byte| *byte == b'\n') {
                let end = self.searched + end;
                let frame = serde_json::from_slice(&self.kept[..end]).map_err(CallError::unreadable);
                self.kept.drain(..=end);
                self.searched = 0;
                return frame;
            }
            self.searched = self.kept.len();
            if self.kept.len() > MAX_FRAME_BYTES {
                return Err(CallError::unreadable("a line has no end"));
            }
            let silence = 3 * PROCESS_HEARTBEAT;
            let frame = tokio::time::timeout(silence, self.body.frame()).await;
            let frame = frame.map_err(|_| CallError::Timeout(silence))?;
            let frame =
                frame.ok_or_else(|| CallError::unreachable("the connection closed before the end of the stream"))?;
            let frame = frame.map_err(CallError::unreachable)?;
            self.kept.extend_from_slice(frame.data_ref().map(AsRef::as_ref).unwrap_or_default());
        }
    }
}
