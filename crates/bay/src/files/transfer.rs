//! Bytes in and out, streamed: a file of any size costs a block of memory, and is counted as it comes.

use std::io;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::Bytes;
use cove_api::{BayError, ErrorCode};
use cove_runtime_api::CallError;
use futures_util::{Stream, StreamExt, stream};
use http_body_util::{BodyExt, StreamBody};
use hyper::body::Frame;

use super::{ByteStream, Download, LatePath, full};
use crate::router::{Admitted, Route, broken};
use crate::sandboxes::invalid;
use crate::session::LiveContainer;
use crate::{Bay, BayResult};

/// How long a piece may keep us waiting.
const STALL: Duration = Duration::from_secs(60);

/// What an upload may hold: what is left in the cargo, and what one file may have.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    pub(super) room: u64,
    pub(super) most: u64,
}

/// Where an upload goes.
pub(super) enum Destination {
    /// To this path.
    Known(String),
    /// To a path that is told after the file.
    Later(LatePath),
}

const FINE: u8 = 0;
const NO_ROOM: u8 = 1;
const TOO_LARGE: u8 = 2;
const BROKEN: u8 = 3;

impl Bay {
    /// Sends a file into the sandbox; where it lies, and how large it was.
    pub(super) async fn send_upload(
        &self,
        call: &Admitted,
        route: &mut Route,
        to: Destination,
        bytes: ByteStream,
        bounds: Bounds,
    ) -> BayResult<(String, u64)> {
        let connected = self.ask(call, route, |container| async move { container.client.connect().await });
        let connection = connected.await?;
        let mut random = [0; 16];
        getrandom::fill(&mut random).map_err(|error| BayError::new(ErrorCode::InternalError, error.to_string()))?;
        let boundary = format!("cove-{:032x}", u128::from_ne_bytes(random));
        let (verdict, size) = (Arc::new(AtomicU8::new(FINE)), Arc::new(AtomicU64::new(0)));
        let named = Arc::new(OnceLock::new());
        let bytes = counted(bytes, bounds, Arc::clone(&verdict), Arc::clone(&size));
        let body = form(&boundary, to, bytes, Arc::clone(&named));
        let kind = format!("multipart/form-data; boundary={boundary}");
        let answered = connection.upload(&kind, StreamBody::new(body.map(|piece| piece.map(Frame::data)))).await;
        let used = route.session.cargo_limit_bytes.saturating_sub(bounds.room);
        match verdict.load(Ordering::SeqCst) {
            NO_ROOM => return Err(full(route.session.cargo_limit_bytes, used)),
            TOO_LARGE => return Err(invalid(format!("the file has more than {} bytes", bounds.most))),
            BROKEN => return Err(invalid("the upload was interrupted")),
            _ => {}
        }
        let path = match named.get() {
            Some(Ok(path)) => path.clone(),
            Some(Err(error)) => return Err(BayError::clone(error)),
            None => String::new(),
        };
        match answered {
            Ok(_) => Ok((path, size.load(Ordering::SeqCst))),
            Err(refused @ CallError::Refused(_)) => Err(broken(&refused)),
            Err(error) => Err(self.ended(route).await?.unwrap_or_else(|| broken(&error))),
        }
    }

    /// A file out of the sandbox, as it comes.
    pub(super) async fn fetch(&self, call: &Admitted, mut route: Route, path: &str) -> BayResult<Download> {
        let asked =
            |container: Arc<LiveContainer>| async move { container.client.download(path, call.work_deadline()).await };
        let answer = self.ask(call, &mut route, asked).await?;
        let length = answer.headers().get("content-length").and_then(|value| value.to_str().ok()?.parse().ok());
        let name = path.rsplit('/').next().unwrap_or_default().to_owned();
        // The route goes along: while somebody reads, the session is in use.
        let bytes = stream::unfold((answer.into_body(), route), |(mut body, route)| async move {
            loop {
                let frame = match tokio::time::timeout(STALL, body.frame()).await {
                    Ok(frame) => frame?,
                    Err(_) => return Some((Err(io::Error::from(io::ErrorKind::TimedOut)), (body, route))),
                };
                match frame {
                    Ok(frame) => match frame.into_data() {
                        Ok(data) => return Some((Ok(data), (body, route))),
                        Err(_) => continue,
                    },
                    Err(error) => return Some((Err(io::Error::other(error)), (body, route))),
                }
            }
        });
        Ok(Download { name, size: length, bytes: Box::pin(bytes) })
    }
}

/// The multipart form around a file. The path stands where it is known: before the file, or after it. What became of it
/// is told in `named`; a path that is none breaks the form off, and the runtime keeps nothing of it.
fn form<S: Stream<Item = io::Result<Bytes>> + Send>(
    boundary: &str,
    to: Destination,
    bytes: S,
    named: Arc<OnceLock<BayResult<String>>>,
) -> impl Stream<Item = io::Result<Bytes>> + Send + use<S> {
    let start = format!("--{boundary}\r\nContent-Disposition: form-data; name=");
    let file = format!("{start}\"file\"; filename=\"upload\"\r\nContent-Type: application/octet-stream\r\n\r\n");
    let path = move |path: &str| format!("{start}\"file_path\"\r\n\r\n{path}\r\n");
    let (before, later) = match to {
        Destination::Known(known) => {
            let text = path(&known);
            let _ = named.set(Ok(known));
            (text, None)
        }
        Destination::Later(later) => (String::new(), Some(later)),
    };
    let after = async move {
        let Some(later) = later else { return Ok(Bytes::from_static(b"\r\n")) };
        let found = match later.await {
            Some(found) => super::relative(&found),
            None => Err(invalid("the form has no path for its file")),
        };
        let text = found.as_ref().map(|found| format!("\r\n{}", path(found)));
        let text = text.map(Bytes::from).map_err(|_| io::Error::other("the file has no path"));
        let _ = named.set(found);
        text
    };
    let one = |text: String| stream::iter([Ok(Bytes::from(text))]);
    one(before + &file).chain(bytes).chain(stream::once(after)).chain(one(format!("--{boundary}--\r\n")))
}

/// The pieces, until one is too much: then the form breaks off, and the runtime keeps nothing of it.
fn counted(
    bytes: ByteStream,
    bounds: Bounds,
    verdict: Arc<AtomicU8>,
    size: Arc<AtomicU64>,
) -> impl Stream<Item = io::Result<Bytes>> + Send {
    stream::unfold((bytes, false), move |(mut bytes, over)| {
        let (verdict, size) = (Arc::clone(&verdict), Arc::clone(&size));
        async move {
            if over {
                return None;
            }
            let stop = |why: u8| {
                verdict.store(why, Ordering::SeqCst);
                Err(io::Error::other("the upload is stopped"))
            };
            let piece = match tokio::time::timeout(STALL, bytes.next()).await {
                Ok(None) => return None,
                Ok(Some(Ok(piece))) => piece,
                Ok(Some(Err(_))) | Err(_) => return Some((stop(BROKEN), (bytes, true))),
            };
            let sum = size.fetch_add(piece.len() as u64, Ordering::SeqCst) + piece.len() as u64;
            if sum > bounds.most {
                return Some((stop(TOO_LARGE), (bytes, true)));
            }
            if sum > bounds.room {
                return Some((stop(NO_ROOM), (bytes, true)));
            }
            Some((Ok(piece), (bytes, false)))
        }
    })
}
