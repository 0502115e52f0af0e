//! Connections: taken, bounded, served, and let go in peace.
//!
//! Own loop around hyper, because the usual one has no limit on heads, connections and slow clients.

use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use cove_bay::Bay;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpSocket};
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::app::App;
use crate::caller::Peer;
use crate::connections::{self, Connections};
use crate::phase::Phase;
use crate::stream::CountedStream;
use crate::{ServerOptions, early_refusal, limits, metrics, routes};

/// How long to rest when the system has no descriptor for one more connection.
const OUT_OF_DESCRIPTORS: Duration = Duration::from_millis(50);

/// How long callers whose calls were ended with the server may take for the answer that says so.
const LAST_ANSWERS: Duration = Duration::from_secs(2);

/// Connections that the kernel keeps until they are taken.
const BACKLOG: u32 = 1_024;

/// Why a server could not start.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// Somebody listens there already.
    #[error(
        "{0} is in use already; choose another port with --port (0 takes a free one), or stop the program that \
         listens there"
    )]
    Busy(SocketAddr),
    /// The address cannot be listened on.
    #[error("cannot listen on {0}: {1}; --host must be an address of this machine: 127.0.0.1, or 0.0.0.0 for all")]
    Io(SocketAddr, io::Error),
    /// There are too few descriptors to serve anybody.
    #[error(
        "this process may open {0} files, and a server needs at least {min}; raise the limit (`ulimit -n 4096`, \
         `LimitNOFILE=` of a service), then start again", min = limits::MIN_DESCRIPTORS
    )]
    Descriptors(usize),
}

/// Begins to listen, without answering yet: who comes waits.
pub async fn bind(wanted: SocketAddr) -> Result<TcpListener, ListenError> {
    let descriptors = limits::descriptors();
    if descriptors < limits::MIN_DESCRIPTORS {
        return Err(ListenError::Descriptors(descriptors));
    }
    listener(wanted).map_err(|error| match error.kind() {
        io::ErrorKind::AddrInUse => ListenError::Busy(wanted),
        _ => ListenError::Io(wanted, error),
    })
}

/// What it takes has buffers of a fixed size: a socket inherits them from the one that listens.
fn listener(wanted: SocketAddr) -> io::Result<TcpListener> {
    let socket = if wanted.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    // A server that starts again finds its address free.
    socket.set_reuseaddr(true)?;
    socket.set_send_buffer_size(limits::SOCKET_BUFFER_BYTES)?;
    socket.set_recv_buffer_size(limits::SOCKET_BUFFER_BYTES)?;
    socket.bind(wanted)?;
    socket.listen(BACKLOG)
}

/// A server that runs.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    closing: CancellationToken,
    /// Takes connections; what it leaves are those that are still answered.
    task: JoinHandle<TaskTracker>,
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
    pub fn on(listener: TcpListener, bay: Bay, mut options: ServerOptions) -> Result<Self, ListenError> {
        let address = listener.local_addr().map_err(|error| ListenError::Io(options.listen, error))?;
        bay.listens_on(address);
        metrics::recorder();
        let closing = CancellationToken::new();
        let grace = options.grace;
        options.max_connections = connections::limit_by_descriptors(options.max_connections);
        let connections = Connections::new(options.max_connections, options.max_connections_per_address);
        let accepting = AcceptOptions { connections, head_read: options.head_read, write_stall: options.write_stall };
        let router = routes::router(App::new(bay.clone(), options, closing.clone()));
        let task = tokio::spawn(accept(listener, router, closing.clone(), accepting));
        Ok(Self { address, closing, task, bay, grace })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Takes nothing new, lets what runs come to its end within the grace, then closes Bay. Whoever follows a sandbox is told
    /// first; whoever still waits for a call gets an answer that says why there is no result.
    pub async fn close(self) {
        let until = Instant::now() + self.grace;
        self.bay.tell_that_it_ends();
        self.closing.cancel();
        let Ok(answering) = self.task.await else {
            tracing::error!("the listener ended in a panic");
            return self.bay.close(self.grace).await;
        };
        let in_time = tokio::time::timeout_at(until, answering.wait()).await.is_ok();
        self.bay.close(until.saturating_duration_since(Instant::now())).await;
        if !in_time && tokio::time::timeout(LAST_ANSWERS, answering.wait()).await.is_err() {
            tracing::warn!("some callers did not take the answer that the server ends");
        }
    }
}

/// What the loop that takes connections is told.
struct AcceptOptions {
    connections: Arc<Connections>,
    head_read: Duration,
    write_stall: Duration,
}

async fn accept(
    listener: TcpListener,
    router: Router,
    closing: CancellationToken,
    accepting: AcceptOptions,
) -> TaskTracker {
    let tasks = TaskTracker::new();
    let AcceptOptions { connections, head_read, write_stall } = accepting;
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(head_read)
        .max_headers(limits::MAX_HEADERS)
        .max_header_size(limits::MAX_HEADER_BYTES)
        .max_buf_size(limits::MAX_HEADER_BYTES);
    let mut upkeep = tokio::time::interval(Duration::from_secs(5));
    loop {
        let (stream, peer) = tokio::select! {
            () = closing.cancelled() => break,
            _ = upkeep.tick() => {
                if let Some(recorder) = metrics::recorder() {
                    recorder.run_upkeep();
                }
                continue;
            }
            taken = listener.accept() => match taken {
                Ok(taken) => taken,
                Err(error) => {
                    tracing::warn!(%error, "a connection could not be taken");
                    // An idle connection holds a descriptor that is needed now.
                    connections.close_some_idle();
                    tokio::time::sleep(OUT_OF_DESCRIPTORS).await;
                    continue;
                }
            },
        };
        let slot = tokio::select! {
            () = closing.cancelled() => break,
            slot = connections.enter(peer.ip()) => slot,
        };
        let Some(slot) = slot else {
            // Written without waiting: nothing is held for a connection that has no slot.
            let _ = stream.try_write(&early_refusal::too_many_connections());
            continue;
        };
        // Small answers go at once: a client that waits for one has nothing else to send.
        let _ = stream.set_nodelay(true);
        let (phase, close) = (slot.phase.clone(), slot.close.clone());
        let connection =
            serve(&builder, CountedStream::new(stream, slot, write_stall), peer, router.clone(), phase.clone());
        let closing = closing.clone();
        tasks.spawn(async move {
            let mut connection = pin!(connection);
            let ended = tokio::select! {
                ended = connection.as_mut() => ended,
                () = close.cancelled() => {
                    // Nothing is lost with one that rests, or that does not take its answer; a request that has just
                    // come is still answered.
                    if phase.is_idle() || phase.stuck_for().is_some() {
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
        });
    }
    drop(listener);
    tasks.close();
    tasks
}

/// One connection.
fn serve(
    builder: &http1::Builder,
    stream: CountedStream,
    peer: SocketAddr,
    router: Router,
    phase: Phase,
) -> http1::UpgradeableConnection<
    TokioIo<CountedStream>,
    impl hyper::service::Service<
        hyper::Request<Incoming>,
        Response = axum::response::Response,
        Error = std::convert::Infallible,
        Future: Send,
    > + use<>,
> {
    let service = hyper::service::service_fn(move |mut request: hyper::Request<Incoming>| {
        request.extensions_mut().insert(Peer(peer));
        let (mut router, phase) = (router.clone(), phase.clone());
        let request: Request = request.map(|body| phase.begin(body));
        async move {
            use tower_service::Service as _;
            Router::call(&mut router, request).await.map(|response| phase.watch(response))
        }
    });
    builder.serve_connection(TokioIo::new(stream), service).with_upgrades()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the kernel takes for a peer that does not read is bounded, and does not grow.
    #[tokio::test]
    async fn the_kernel_holds_little_for_who_does_not_read() {
        let listener = bind(SocketAddr::from(([127, 0, 0, 1], 0))).await.unwrap();
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_recv_buffer_size(4_096).unwrap();
        let connecting = socket.connect(listener.local_addr().unwrap());
        let (connected, taken) = tokio::join!(connecting, listener.accept());
        let (_peer, stream) = (connected.unwrap(), taken.unwrap().0);
        let block = [0; 64 << 10];
        let mut sum = 0;
        // A moment without room is no end: the peer's kernel may still be taking some.
        while tokio::time::timeout(Duration::from_millis(300), stream.writable()).await.is_ok() {
            sum += stream.try_write(&block).unwrap_or_default();
            assert!(sum < 1 << 20, "the kernel took {sum} bytes");
        }
    }
}
