//! One request and its answer on a connection made for it and closed after it.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};

use cove_network::STEP;
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Body as _, Bytes, Incoming};
use hyper::client::conn::http1;
use hyper::header::{ACCEPT, ACCEPT_ENCODING, CONNECTION, HOST, HeaderValue, USER_AGENT};
use hyper::http::response::Parts;
use hyper::{Method, Request, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::SemaphorePermit;
use url::{Host, Position};

use super::ask::Ask;
use super::budget::BudgetShare;
use super::{Failed, Fetcher};

/// The longest head of an answer.
const MAX_HEAD_BYTES: usize = 256 << 10;

/// The most headers in it.
const MAX_HEADERS: usize = 256;

/// Who asks, unless the guest says otherwise.
const OUR_NAME: &str = concat!("cove/", env!("CARGO_PKG_VERSION"));

/// The connection's own work. It is polled together with whatever waits for it, never in a task of its own: dropping the
/// request drops the connection.
type Work = Pin<Box<dyn Future<Output = ()> + Send>>;

trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// An answer whose head is here and whose body is not.
pub(super) struct Exchange<'a> {
    head: Parts,
    body: Incoming,
    work: Option<Work>,
    _connection: SemaphorePermit<'a>,
}

/// A whole answer.
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) status_text: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Option<Vec<u8>>,
}

/// Connects, asks, and waits for the answer's head.
pub(super) async fn start<'a>(ask: &Ask, fetcher: &'a Fetcher) -> Result<Exchange<'a>, Failed> {
    let permit = fetcher.outside.connections.acquire().await.map_err(|_| "the engine is closed".to_owned())?;
    let host = match ask.url.host() {
        Some(Host::Domain(name)) => name.to_owned(),
        Some(Host::Ipv4(address)) => address.to_string(),
        Some(Host::Ipv6(address)) => address.to_string(),
        None => return Err(format!("{} names no host", ask.url).into()),
    };
    let port = ask.url.port_or_known_default().ok_or_else(|| format!("{} names no port", ask.url))?;
    let stream = fetcher.network.connect(&host, port).await.map_err(|error| fetcher.no_way(&error))?;
    // Small requests, each on a connection of its own: nothing is gained by waiting for more to send.
    let _ = stream.socket().set_nodelay(true);
    let stream: Box<dyn Stream> = match ask.url.scheme() {
        "https" => {
            let secured = tokio::time::timeout(STEP, fetcher.outside.tls.connect(&host, stream)).await;
            Box::new(secured.map_err(|_| format!("no secure connection to {host}: it does not answer"))??)
        }
        _ => Box::new(stream),
    };
    let broken = |error: hyper::Error| format!("{host}:{port} sent an invalid HTTP response: {error}");
    let (mut sender, connection) = http1::Builder::new()
        .max_buf_size(MAX_HEAD_BYTES)
        .max_headers(MAX_HEADERS)
        .handshake::<_, Full<Bytes>>(TokioIo::new(stream))
        .await
        .map_err(broken)?;
    let mut work: Option<Work> = Some(Box::pin(async move {
        // What goes wrong here is told to whoever waits for the answer.
        let _ = connection.await;
    }));
    let request = written(ask)?;
    let response = together(&mut work, sender.send_request(request)).await.map_err(broken)?;
    if response.status() == StatusCode::SWITCHING_PROTOCOLS {
        return Err(format!("{host}:{port} tried to switch to another protocol than HTTP").into());
    }
    let (head, body) = response.into_parts();
    Ok(Exchange { head, body, work, _connection: permit })
}

impl Exchange<'_> {
    pub(super) fn head(&self) -> &Parts {
        &self.head
    }

    /// Reads the body, as far as it may go.
    pub(super) async fn finish(mut self, max_bytes: u64, mut share: BudgetShare) -> Result<Reply, String> {
        let too_long =
            || format!("the response's body has more than {max_bytes} bytes, which is the limit of this session");
        if self.body.size_hint().lower() > max_bytes {
            return Err(too_long());
        }
        let has_body = !matches!(self.head.status.as_u16(), 204 | 205 | 304);
        let mut bytes = Vec::new();
        while let Some(frame) = together(&mut self.work, self.body.frame()).await {
            let frame = frame.map_err(|error| format!("the response's body was cut off: {error}"))?;
            // Trailers are not for guests.
            let Ok(chunk) = frame.into_data() else { continue };
            if share.bytes() + chunk.len() as u64 > max_bytes {
                return Err(too_long());
            }
            if !share.grow(chunk.len() as u64) {
                return Err("too many large responses at once; await some of them first".to_owned());
            }
            bytes.extend_from_slice(&chunk);
        }
        let reason = self.head.extensions.get::<hyper::ext::ReasonPhrase>().map(|reason| latin1(reason.as_bytes()));
        let status_text = reason.unwrap_or_else(|| self.head.status.canonical_reason().unwrap_or_default().to_owned());
        let headers = &self.head.headers;
        let headers = headers.iter().map(|(name, value)| (name.as_str().to_owned(), latin1(value.as_bytes())));
        Ok(Reply {
            status: self.head.status.as_u16(),
            status_text,
            headers: headers.collect(),
            body: has_body.then_some(bytes),
        })
    }
}

/// The request with the headers that are ours.
fn written(ask: &Ask) -> Result<Request<Full<Bytes>>, String> {
    let mut request = Request::new(Full::new(ask.body.clone()));
    // Only the path: the host is in its header, as servers expect it.
    let target = &ask.url[Position::BeforePath..Position::AfterQuery];
    *request.uri_mut() = target.parse().map_err(|error| format!("{} cannot be requested: {error}", ask.url))?;
    *request.method_mut() = ask.method.clone();
    let headers = request.headers_mut();
    *headers = ask.headers.clone();
    let host = HeaderValue::from_str(&ask.url[Position::BeforeHost..Position::AfterPort]);
    headers.insert(HOST, host.map_err(|_| format!("{} names no host", ask.url))?);
    headers.insert(CONNECTION, HeaderValue::from_static("close"));
    // The body comes as it is: what unpacks a small answer into a large one is not run in the host.
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    headers.entry(ACCEPT).or_insert(HeaderValue::from_static("*/*"));
    headers.entry(USER_AGENT).or_insert(HeaderValue::from_static(OUR_NAME));
    if ask.body.is_empty() && [Method::POST, Method::PUT, Method::PATCH].contains(&ask.method) {
        headers.insert(hyper::header::CONTENT_LENGTH, HeaderValue::from_static("0"));
    }
    Ok(request)
}

/// Headers are bytes; as in browsers, one byte is one character.
fn latin1(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| char::from(*byte)).collect()
}

/// Waits for something that comes over a connection, and does the connection's work meanwhile.
async fn together<T>(work: &mut Option<Work>, wanted: impl Future<Output = T>) -> T {
    let mut wanted = pin!(wanted);
    poll_fn(|context| {
        if let Some(running) = work
            && running.as_mut().poll(context).is_ready()
        {
            *work = None;
        }
        wanted.as_mut().poll(context)
    })
    .await
}
