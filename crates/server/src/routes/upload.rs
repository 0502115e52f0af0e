//! A file on its way in: a form of two fields, streamed.
//!
//! The path should come first: then the file flows straight into the workspace. Where it comes last, the file waits in a
//! nameless temporary file, because nobody knows yet where it goes.

use std::io;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::BodyDataStream;
use axum::extract::Request;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use cove_api::{ErrorCode, UploadResult};
use cove_bay::{Answer, ByteStream, Owner};
use futures_util::{Stream, StreamExt as _};
use tokio::io::{AsyncSeekExt as _, AsyncWriteExt as _};
use tokio::time::Instant;
use tokio_util::io::ReaderStream;

use crate::app::App;
use crate::extract::too_large;
use crate::failure::{Failure, Reply};
use crate::limits;
use crate::schema::Problems;

pub(super) async fn upload(app: &App, owner: &Owner, id: &str, request: Request) -> Result<UploadResult, Response> {
    let (head, body) = request.into_parts();
    let body = Sent(Arc::new(Mutex::new(body.into_data_stream())));
    let done = take(app, owner, id, &head.headers, body.clone()).await;
    if done.is_err() {
        body.drain().await;
    }
    done
}

/// The request's body, of which something may be left when the answer is known.
#[derive(Clone)]
struct Sent(Arc<Mutex<BodyDataStream>>);

impl Sent {
    /// Reads on for a little after a refusal: a client that still writes would see a broken connection, not the reason.
    async fn drain(mut self) {
        let read = async {
            let mut left = limits::DRAINED_BYTES;
            while let Some(Ok(chunk)) = self.next().await {
                left = left.saturating_sub(chunk.len());
                if left == 0 {
                    break;
                }
            }
        };
        let _ = tokio::time::timeout(limits::DRAINED, read).await;
    }
}

impl Stream for Sent {
    type Item = Result<bytes::Bytes, axum::Error>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).poll_next_unpin(context)
    }
}

async fn take(app: &App, owner: &Owner, id: &str, headers: &HeaderMap, body: Sent) -> Result<UploadResult, Response> {
    let (most, pause) = (app.options.max_upload_bytes, app.options.body_read);
    let mut form = open(headers, body, most)?;
    let mut path = None;
    let mut waiting: Option<tokio::fs::File> = None;
    let over = Arc::new(AtomicBool::new(false));
    while let Some(field) = next(&mut form, most, pause).await? {
        match field.name() {
            Some("path") => {
                path = Some(text(field, most, pause).await?);
                if let (Some(path), Some(file)) = (&path, waiting.take()) {
                    return send(app, owner, id, path, Box::pin(ReaderStream::new(file)), &over).await;
                }
            }
            Some("file") => match &path {
                Some(path) => return send(app, owner, id, path, paced(field, over.clone(), pause), &over).await,
                None => waiting = Some(keep(paced(field, over.clone(), pause), &over, most, pause).await?),
            },
            // A field that nobody asked for is nobody's problem.
            _ => {}
        }
    }
    let mut problems = Problems::at("body");
    if path.is_none() {
        problems.add(Some("path"), "missing", "this field is required");
    }
    if waiting.is_none() {
        problems.add(Some("file"), "missing", "this field is required");
    }
    Err(problems.into_response())
}

fn open(headers: &HeaderMap, body: Sent, most: u64) -> Result<multer::Multipart<'static>, Response> {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let Some(boundary) = kind.and_then(|kind| multer::parse_boundary(kind).ok()) else {
        let mut problems = Problems::at("body");
        problems.add(None, "content_type", "the body must be `multipart/form-data` with a boundary");
        return Err(problems.into_response());
    };
    let limit = multer::SizeLimit::new()
        .whole_stream(most.saturating_add(limits::MAX_FORM_BYTES))
        .for_field("file", most)
        .for_field("path", limits::MAX_FIELD_BYTES);
    let constraints = multer::Constraints::new().size_limit(limit);
    Ok(multer::Multipart::with_constraints(body, boundary, constraints))
}

async fn next(
    form: &mut multer::Multipart<'static>,
    most: u64,
    pause: Duration,
) -> Result<Option<multer::Field<'static>>, Response> {
    match tokio::time::timeout(pause, form.next_field()).await {
        Ok(Ok(field)) => Ok(field),
        Ok(Err(error)) => Err(broken(&error, most)),
        Err(_) => Err(late(pause).into_response()),
    }
}

async fn text(field: multer::Field<'static>, most: u64, pause: Duration) -> Result<String, Response> {
    match tokio::time::timeout(pause, field.text()).await {
        Ok(Ok(text)) => Ok(text),
        Ok(Err(error)) => Err(broken(&error, most)),
        Err(_) => Err(late(pause).into_response()),
    }
}

fn broken(error: &multer::Error, most: u64) -> Response {
    if is_over(error) {
        return too_large(most).into_response();
    }
    let mut problems = Problems::at("body");
    problems.add(None, "form_invalid", format!("not a form: {error}"));
    problems.into_response()
}

fn is_over(error: &multer::Error) -> bool {
    matches!(error, multer::Error::StreamSizeExceeded { .. } | multer::Error::FieldSizeExceeded { .. })
}

fn late(pause: Duration) -> Failure {
    let message = format!("the upload stood still for {} s", pause.as_secs_f64());
    Failure::with_status(axum::http::StatusCode::REQUEST_TIMEOUT, ErrorCode::Timeout, message)
}

/// The file's bytes; a pause that is too long, or too many of them, end the stream with an error.
fn paced(field: multer::Field<'static>, over: Arc<AtomicBool>, pause: Duration) -> ByteStream {
    let stream = futures_util::stream::unfold(Some(field), move |field| {
        let over = over.clone();
        async move {
            let mut field = field?;
            match tokio::time::timeout(pause, field.chunk()).await {
                Ok(Ok(Some(chunk))) => Some((Ok(chunk), Some(field))),
                Ok(Ok(None)) => None,
                Ok(Err(error)) => {
                    over.store(is_over(&error), Ordering::Relaxed);
                    Some((Err(io::Error::other(error)), None))
                }
                Err(_) => Some((Err(io::ErrorKind::TimedOut.into()), None)),
            }
        }
    });
    Box::pin(stream)
}

async fn keep(
    mut stream: impl Stream<Item = io::Result<bytes::Bytes>> + Unpin,
    over: &AtomicBool,
    most: u64,
    pause: Duration,
) -> Result<tokio::fs::File, Response> {
    let work = async {
        let file = tokio::task::spawn_blocking(tempfile::tempfile).await.map_err(io::Error::other)??;
        let mut file = tokio::fs::File::from_std(file);
        while let Some(chunk) = stream.next().await {
            file.write_all(&chunk?).await?;
        }
        file.flush().await?;
        file.rewind().await?;
        Ok::<_, io::Error>(file)
    };
    work.await.map_err(|error| match error.kind() {
        _ if over.load(Ordering::Relaxed) => too_large(most).into_response(),
        io::ErrorKind::TimedOut => late(pause).into_response(),
        _ => {
            tracing::warn!(%error, "an upload could not be kept");
            Failure::new(ErrorCode::InternalError, "the file could not be kept").into_response()
        }
    })
}

async fn send(
    app: &App,
    owner: &Owner,
    id: &str,
    path: &str,
    bytes: ByteStream,
    over: &AtomicBool,
) -> Result<UploadResult, Response> {
    let pulse = Pulse::default();
    let beats = pulse.clone();
    let bytes: ByteStream = Box::pin(bytes.inspect(move |_| beats.beat()));
    let done = pulse.watch(app.options.verb, app.bay.upload(owner, id, path, bytes)).await;
    done.map_err(|failure| {
        if over.load(Ordering::Relaxed) {
            return too_large(app.options.max_upload_bytes).into_response();
        }
        failure.into_response()
    })
}

/// When something last went on. A file may take as long as it takes; that nothing at all goes on may not.
#[derive(Clone)]
struct Pulse(Arc<Mutex<Instant>>);

impl Default for Pulse {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(Instant::now())))
    }
}

impl Pulse {
    fn beat(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    /// Lets work go on for as long as it does; a pause of `limit` ends it.
    async fn watch<T>(&self, limit: Duration, work: impl Future<Output = Answer<T>>) -> Reply<T> {
        let mut work = pin!(work);
        loop {
            let due = *self.0.lock().unwrap_or_else(PoisonError::into_inner) + limit;
            tokio::select! {
                done = work.as_mut() => return done.map_err(Failure::from),
                () = tokio::time::sleep_until(due) => {}
            }
            if *self.0.lock().unwrap_or_else(PoisonError::into_inner) + limit <= due {
                let message = format!("nothing of the upload was taken for {} s", limit.as_secs_f64());
                return Err(Failure::new(ErrorCode::Timeout, message));
            }
        }
    }
}
