//! Connections: taken, bounded, served, and let go in peace.
//!
//! Own loop around hyper, because the usual one has no limit on heads, connections and slow clients.

use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use cove_bay::Bay;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::app::App;
use crate::bare::{Phase, Spoken};
use crate::caller::Peer;
use crate::crowd::Crowd;
use crate::{ServerOptions, figures, limits, routes};

/// How long to rest when the system has no descriptor for one more connection.
const OUT_OF_DESCRIPTORS: Duration = Duration::from_millis(50);

/// Why a server could not start.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// Somebody listens there already.
    #[error("{0} is in use already; choose another port with --port (0 takes a free one), or stop who listens there")]
    Busy(SocketAddr),
    /// The address cannot be listened on.
    #[error("cannot listen on {0}: {1}; --host must be an address of this machine: 127.0.0.1, or 0.0.0.0 for all")]
    Io(SocketAddr, io::Error),
}

/// Begins to listen, without answering yet: who comes waits.
pub async fn bind(wanted: SocketAddr) -> Result<TcpListener, ListenError> {
    TcpListener::bind(wanted).await.map_err(|error| match error.kind() {
        io::ErrorKind::AddrInUse => ListenError::Busy(wanted),
        _ => ListenError::Io(wanted, error),
    })
}

/// A server that runs.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    closing: CancellationToken,
    task: JoinHandle<()>,
    bay: Bay,
    grace: Duration,
}

impl Server {
    /// Begins to listen and to serve.
    pub async fn start(bay: Bay, options: ServerOptions) -> Result<Self, ListenError> {
        let listener = bind(options.listen).await?;
        Self::on(listener, bay, options)
    }

    /// Begins to serve on a socket that listens already.
    pub fn on(listener: TcpListener, bay: Bay, options: ServerOptions) -> Result<Self, ListenError> {
        let address = listener.local_addr().map_err(|error| ListenError::Io(options.listen, error))?;
        figures::recorder();
        let closing = CancellationToken::new();
        let grace = options.grace;
        let (head_read, max_connections) = (options.head_read, options.max_connections);
        let router = routes::router(App::new(bay.clone(), options, closing.clone()));
        let task = tokio::spawn(accept(listener, router, closing.clone(), grace, head_read, max_connections));
        Ok(Self { address, closing, task, bay, grace })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Takes nothing new, lets what runs come to its end within the grace, then closes Bay.
    pub async fn close(self) {
        self.closing.cancel();
        if self.task.await.is_err() {
            tracing::error!("the listener ended in a panic");
        }
        self.bay.close(self.grace).await;
    }
}

async fn accept(
    listener: TcpListener,
    router: Router,
    closing: CancellationToken,
    grace: Duration,
    head_read: Duration,
    max_connections: usize,
) {
    let connections = TaskTracker::new();
    let crowd = Crowd::new(max_connections);
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(head_read)
        .max_headers(limits::MAX_HEADERS)
        .max_buf_size(limits::MAX_HEADER_BYTES);
    let mut upkeep = tokio::time::interval(Duration::from_secs(5));
    loop {
        let (stream, peer) = tokio::select! {
            () = closing.cancelled() => break,
            _ = upkeep.tick() => {
                if let Some(recorder) = figures::recorder() {
                    recorder.run_upkeep();
                }
                continue;
            }
            taken = listener.accept() => match taken {
                Ok(taken) => taken,
                Err(error) => {
                    tracing::warn!(%error, "a connection could not be taken");
                    tokio::time::sleep(OUT_OF_DESCRIPTORS).await;
                    continue;
                }
            },
        };
        let place = tokio::select! {
            () = closing.cancelled() => break,
            place = crowd.enter() => place,
        };
        let connection = serve(&builder, stream, peer, router.clone(), place.phase.clone());
        let closing = closing.clone();
        connections.spawn(async move {
            let mut connection = pin!(connection);
            let ended = tokio::select! {
                ended = connection.as_mut() => ended,
                () = place.go.cancelled() => {
                    // Nothing is lost with one that rests; a request that has just come is still answered.
                    if place.phase.resting_since().is_some() {
                        return;
                    }
                    connection.as_mut().graceful_shutdown();
                    connection.await
                }
                () = closing.cancelled() => {
                    // What is being answered is answered; then the connection ends.
                    connection.as_mut().graceful_shutdown();
                    connection.await
                }
            };
            // A connection that breaks is the client's affair.
            if let Err(error) = ended {
                tracing::debug!(%peer, %error, "a connection ended early");
            }
            drop(place);
        });
    }
    drop(listener);
    connections.close();
    if tokio::time::timeout(grace, connections.wait()).await.is_err() {
        tracing::warn!(grace_ms = u64::try_from(grace.as_millis()).unwrap_or(u64::MAX), "requests were cut off");
    }
}

/// One connection.
fn serve(
    builder: &http1::Builder,
    stream: TcpStream,
    peer: SocketAddr,
    router: Router,
    phase: Phase,
) -> http1::UpgradeableConnection<
    TokioIo<Spoken>,
    impl hyper::service::Service<
        hyper::Request<Incoming>,
        Response = axum::response::Response,
        Error = std::convert::Infallible,
        Future: Send,
    > + use<>,
> {
    // Small answers go at once: a client that waits for one has nothing else to send.
    let _ = stream.set_nodelay(true);
    let stream = Spoken::new(stream, phase.clone());
    let service = hyper::service::service_fn(move |mut request: hyper::Request<Incoming>| {
        phase.begin();
        request.extensions_mut().insert(Peer(peer));
        let (mut router, phase) = (router.clone(), phase.clone());
        async move {
            let request: Request = request.map(axum::body::Body::new);
            use tower_service::Service as _;
            Router::call(&mut router, request).await.map(|response| phase.watch(response))
        }
    });
    builder.serve_connection(TokioIo::new(stream), service).with_upgrades()
}
