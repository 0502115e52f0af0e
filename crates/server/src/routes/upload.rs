//! A file on its way in: a form of two fields, streamed.
//!
//! Whose sandbox it is, and whether there is room, is known before anything of the file is read. The file flows straight
//! into the workspace, also where its path comes after it: then it lies there as a draft without a name until the path
//! is known. Nothing of it is kept here.

use std::io;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use cove_api::SandboxId;
use cove_api::{ErrorCode, UploadResult};
use cove_bay::{BayResult, ByteStream, LatePath, Owner};
use futures_util::StreamExt as _;
use tokio::time::Instant;

use crate::app::App;
use crate::body_rate::BodyRate;
use crate::extract::{announced, too_large};
use crate::failure::{Failure, Reply};
use crate::limits;
use crate::schema::Problems;

pub(super) async fn upload(
    app: &App,
    owner: &Owner,
    id: &SandboxId,
    request: Request,
) -> Result<UploadResult, Response> {
    app.ask(app.bay.may_upload(owner, id)).await.map_err(IntoResponse::into_response)?;
    let (head, body) = request.into_parts();
    let most = app.options.max_upload_bytes;
    if announced(&head.headers).is_some_and(|bytes| bytes > most.saturating_add(limits::MAX_FORM_BYTES)) {
        return Err(too_large(most).into_response());
    }
    let coming = Coming { rate: BodyRate::upload(&app.options), over: Arc::default(), most };
    let mut form = open(&head.headers, body, most)?;
    let mut path = None;
    while let Some(field) = coming.next(&mut form).await? {
        match (field.name(), &path) {
            (Some("path"), _) => path = Some(coming.text(field).await?),
            (Some("file"), Some(path)) => {
                return send(app, &coming, coming.file(field), |bytes| app.bay.upload(owner, id, path, bytes)).await;
            }
            (Some("file"), None) => {
                // The rest of the form can be read when the file has been.
                let missing = Arc::new(AtomicBool::new(false));
                let late = coming.path_after(form, Arc::clone(&missing));
                let sent =
                    send(app, &coming, coming.file(field), |bytes| app.bay.upload_named_last(owner, id, bytes, late))
                        .await;
                return if missing.load(Ordering::Relaxed) { Err(missing_fields(&["path"])) } else { sent };
            }
            // A field that nobody asked for is nobody's problem.
            _ => {}
        }
    }
    Err(missing_fields(if path.is_some() { &["file"] } else { &["path", "file"] }))
}

fn missing_fields(names: &[&str]) -> Response {
    let mut problems = Problems::at("body");
    for name in names {
        problems.add(Some(name), "missing", "this field is required");
    }
    problems.into_response()
}

fn open(headers: &HeaderMap, body: Body, most: u64) -> Result<multer::Multipart<'static>, Response> {
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
    Ok(multer::Multipart::with_constraints(body.into_data_stream(), boundary, constraints))
}

/// A form that is being read: how fast it must come, and how large its file may be.
#[derive(Clone)]
struct Coming {
    rate: BodyRate,
    over: Arc<AtomicBool>,
    most: u64,
}

impl Coming {
    async fn next(&self, form: &mut multer::Multipart<'static>) -> Result<Option<multer::Field<'static>>, Response> {
        match self.rate.wait(form.next_field()).await {
            Ok(Ok(field)) => Ok(field),
            Ok(Err(error)) => Err(self.broken(&error)),
            Err(late) => Err(Failure::from(late).into_response()),
        }
    }

    async fn text(&self, field: multer::Field<'static>) -> Result<String, Response> {
        match self.rate.wait(field.text()).await {
            Ok(Ok(text)) => Ok(text),
            Ok(Err(error)) => Err(self.broken(&error)),
            Err(late) => Err(Failure::from(late).into_response()),
        }
    }

    fn broken(&self, error: &multer::Error) -> Response {
        if is_over(error) {
            return too_large(self.most).into_response();
        }
        let mut problems = Problems::at("body");
        problems.add(None, "form_invalid", format!("not a form: {error}"));
        problems.into_response()
    }

    /// The file's bytes; one that comes too slowly, or is too large, ends the stream with an error.
    fn file(&self, field: multer::Field<'static>) -> ByteStream {
        let coming = self.clone();
        let stream = futures_util::stream::unfold(Some(field), move |field| {
            let coming = coming.clone();
            async move {
                let mut field = field?;
                match coming.rate.wait(field.chunk()).await {
                    Ok(Ok(Some(chunk))) => {
                        coming.rate.count(chunk.len());
                        Some((Ok(chunk), Some(field)))
                    }
                    Ok(Ok(None)) => None,
                    Ok(Err(error)) => {
                        coming.over.store(is_over(&error), Ordering::Relaxed);
                        Some((Err(io::Error::other(error)), None))
                    }
                    Err(_) => Some((Err(io::ErrorKind::TimedOut.into()), None)),
                }
            }
        });
        Box::pin(stream)
    }

    /// The path, from what follows the file.
    fn path_after(&self, mut form: multer::Multipart<'static>, missing: Arc<AtomicBool>) -> LatePath {
        let coming = self.clone();
        Box::pin(async move {
            while let Ok(Some(field)) = coming.next(&mut form).await {
                if field.name() == Some("path") {
                    return coming.text(field).await.ok();
                }
            }
            missing.store(coming.rate.late().is_none(), Ordering::Relaxed);
            None
        })
    }
}

fn is_over(error: &multer::Error) -> bool {
    matches!(error, multer::Error::StreamSizeExceeded { .. } | multer::Error::FieldSizeExceeded { .. })
}

async fn send<F: Future<Output = BayResult<UploadResult>>>(
    app: &App,
    coming: &Coming,
    bytes: ByteStream,
    take: impl FnOnce(ByteStream) -> F,
) -> Result<UploadResult, Response> {
    let activity = Activity::default();
    let beats = activity.clone();
    let bytes: ByteStream = Box::pin(bytes.inspect(move |_| beats.beat()));
    let done = activity.watch(app.options.verb, take(bytes)).await;
    done.map_err(|failure| match coming.rate.late() {
        _ if coming.over.load(Ordering::Relaxed) => too_large(coming.most).into_response(),
        Some(late) => Failure::from(late).into_response(),
        None => failure.into_response(),
    })
}

/// When something last went on. A file may take as long as it takes; that nothing at all goes on may not.
#[derive(Clone)]
struct Activity(Arc<Mutex<Instant>>);

impl Default for Activity {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(Instant::now())))
    }
}

impl Activity {
    fn beat(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    /// Lets work go on for as long as it does; a pause of `limit` ends it.
    async fn watch<T>(&self, limit: Duration, work: impl Future<Output = BayResult<T>>) -> Reply<T> {
        let mut work = pin!(work);
        loop {
            let due = *self.0.lock().unwrap_or_else(PoisonError::into_inner) + limit;
            tokio::select! {
                done = work.as_mut() => return done.map_err(Failure::from),
                () = tokio::time::sleep_until(due) => {}
            }
            if *self.0.lock().unwrap_or_else(PoisonError::into_inner) + limit <= due {
                let message = format!("the upload made no progress for {} s", limit.as_secs_f64());
                return Err(Failure::new(ErrorCode::Timeout, message));
            }
        }
    }
}
