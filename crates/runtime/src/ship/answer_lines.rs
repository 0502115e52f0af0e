//! An answer line by line: what is written while something runs, then how it ended.

use std::convert::Infallible;

use axum::body::{Body, Bytes};
use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use cove_core::BoxFuture;
use cove_runtime_api::{LateRefusal, LiveFrame, OutputChunk};
use serde::Serialize;

use super::error::ApiError;
use crate::process::Live;

/// The work, and whether it goes on.
struct Lines<A> {
    live: Live,
    work: Option<BoxFuture<'static, Result<A, ApiError>>>,
}

/// A response that tells what `live` hears until `work` has ended, and then its end. When nobody reads it any more, the
/// work is dropped, as that of any call is.
pub(super) fn as_lines<A: Serialize + Send + 'static>(
    live: Live,
    work: impl Future<Output = Result<A, ApiError>> + Send + 'static,
) -> Response {
    let lines = Lines { live, work: Some(Box::pin(work)) };
    let lines = futures_util::stream::unfold(lines, |mut lines| async move {
        let work = lines.work.as_mut()?;
        let text = tokio::select! {
            biased;
            ended = work => {
                lines.work = None;
                let last = match ended {
                    Ok(answer) => LiveFrame::Answer(answer),
                    Err(error) => LiveFrame::Refused(LateRefusal::from(error.refusal())),
                };
                written::<A>(lines.live.take(true)) + &line(&last)
            }
            chunks = lines.live.next() => written::<A>(chunks),
        };
        Some((Ok::<_, Infallible>(Bytes::from(text)), lines))
    });
    ([(header::CONTENT_TYPE, "application/x-ndjson")], Body::from_stream(lines)).into_response()
}

fn written<A: Serialize>(chunks: Vec<OutputChunk>) -> String {
    chunks.into_iter().map(|chunk| line(&LiveFrame::<A>::Output(chunk))).collect()
}

fn line<A: Serialize>(frame: &LiveFrame<A>) -> String {
    // Answers are strings, numbers and lists of them, which always serialise.
    let mut text = serde_json::to_string(frame).unwrap_or_default();
    text.push('\n');
    text
}
