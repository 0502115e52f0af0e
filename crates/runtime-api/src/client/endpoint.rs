//! Where a runtime listens, and connections to it.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::Uri;
use hyper::rt::ReadBufCursor;
use hyper_util::client::legacy::connect::{Connected, Connection};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpStream, UnixStream};

use crate::line::{Line, LineUse};

/// Between two tries of a socket that nobody listens on yet.
const TRY_EVERY: Duration = Duration::from_millis(5);

/// Where a runtime listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Endpoint {
    /// A socket file.
    Unix(PathBuf),
    /// An address.
    Tcp(SocketAddr),
    /// The line into a Pod.
    Line(Line),
}

impl From<PathBuf> for Endpoint {
    fn from(path: PathBuf) -> Self {
        Self::Unix(path)
    }
}

impl From<&Path> for Endpoint {
    fn from(path: &Path) -> Self {
        Self::Unix(path.to_owned())
    }
}

impl From<&PathBuf> for Endpoint {
    fn from(path: &PathBuf) -> Self {
        Self::Unix(path.clone())
    }
}

impl From<SocketAddr> for Endpoint {
    fn from(address: SocketAddr) -> Self {
        Self::Tcp(address)
    }
}

impl From<Line> for Endpoint {
    fn from(line: Line) -> Self {
        Self::Line(line)
    }
}

impl std::fmt::Display for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unix(path) => write!(f, "{}", path.display()),
            Self::Tcp(address) => write!(f, "{address}"),
            Self::Line(line) => write!(f, "the Pod at {}", line.address),
        }
    }
}

/// Opens connections to one endpoint, whatever the address says.
#[derive(Debug, Clone)]
pub(super) struct Connector(pub(super) Arc<Endpoint>);

impl Connector {
    pub(super) async fn open(&self) -> io::Result<Stream> {
        Ok(match self.0.as_ref() {
            Endpoint::Unix(path) => Stream::Unix(TokioIo::new(UnixStream::connect(path).await?)),
            Endpoint::Tcp(address) => {
                let stream = TcpStream::connect(address).await?;
                // Requests are small and answered one at a time.
                stream.set_nodelay(true)?;
                Stream::Tcp(TokioIo::new(stream))
            }
            Endpoint::Line(line) => Stream::Tcp(TokioIo::new(line.open(LineUse::Runtime).await?)),
        })
    }
}

impl tower_service::Service<Uri> for Connector {
    type Response = Stream;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Stream>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Uri) -> Self::Future {
        let connector = self.clone();
        Box::pin(async move { connector.open().await })
    }
}

/// A connection, in the form that the HTTP client wants.
#[derive(Debug)]
pub(super) enum Stream {
    Unix(TokioIo<UnixStream>),
    Tcp(TokioIo<TcpStream>),
}

impl Connection for Stream {
    fn connected(&self) -> Connected {
        Connected::new()
    }
}

impl hyper::rt::Read for Stream {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: ReadBufCursor<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Unix(stream) => Pin::new(stream).poll_read(context, buffer),
            Self::Tcp(stream) => Pin::new(stream).poll_read(context, buffer),
        }
    }
}

impl hyper::rt::Write for Stream {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Unix(stream) => Pin::new(stream).poll_write(context, bytes),
            Self::Tcp(stream) => Pin::new(stream).poll_write(context, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Unix(stream) => Pin::new(stream).poll_flush(context),
            Self::Tcp(stream) => Pin::new(stream).poll_flush(context),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Unix(stream) => Pin::new(stream).poll_shutdown(context),
            Self::Tcp(stream) => Pin::new(stream).poll_shutdown(context),
        }
    }
}

/// Waits until somebody takes connections at this socket. Who waits also watches the program behind it, and the clock.
pub async fn until_it_listens(socket: &Path) {
    until_it_answers(TRY_EVERY, || UnixStream::connect(socket)).await;
}

/// Waits until something answers: a program does not say when it is ready, so it is tried again and again. Who waits also
/// watches the program behind it, and the clock.
pub async fn until_it_answers<T, E, F: Future<Output = Result<T, E>>>(every: Duration, attempt: impl Fn() -> F) -> T {
    loop {
        match attempt().await {
            Ok(answer) => return answer,
            Err(_) => tokio::time::sleep(every).await,
        }
    }
}
