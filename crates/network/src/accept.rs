//! Taking connections: the one loop that every listener of ours for guests runs.
//!
//! It takes no more at once than it has seats for. A connection that cannot be taken (out of descriptors, most likely) makes
//! it rest instead of trying again at once: on a runtime with one thread, everything else would stand still.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::is_guest;

/// After a connection that could not be taken: others must end first.
const REST: Duration = Duration::from_millis(100);

/// What connections come from.
pub trait Listener: Send + Sync {
    /// One connection.
    type Stream: AsyncRead + AsyncWrite + Unpin + Send + 'static;

    /// Waits for the next connection.
    fn next(&self) -> impl Future<Output = io::Result<Self::Stream>> + Send;

    /// Whether a connection comes from a guest whose own way out has led it here.
    fn is_guests(stream: &Self::Stream) -> bool;
}

impl Listener for TcpListener {
    type Stream = TcpStream;

    async fn next(&self) -> io::Result<TcpStream> {
        self.accept().await.map(|(stream, _)| stream)
    }

    fn is_guests(stream: &TcpStream) -> bool {
        stream.peer_addr().map_or(true, is_guest)
    }
}

impl Listener for UnixListener {
    type Stream = UnixStream;

    async fn next(&self) -> io::Result<UnixStream> {
        self.accept().await.map(|(stream, _)| stream)
    }

    fn is_guests(_: &UnixStream) -> bool {
        false
    }
}

/// Lets `serve` have each connection, at most `seats` at once; more of them wait. Goes on until it is dropped, and the
/// connections end with it.
pub async fn accept_each<L: Listener, F>(listener: L, seats: usize, serve: impl Fn(L::Stream) -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    let seats = Arc::new(Semaphore::new(seats));
    let mut connections = JoinSet::new();
    loop {
        let Ok(seat) = Arc::clone(&seats).acquire_owned().await else { return };
        while connections.try_join_next().is_some() {}
        match listener.next().await {
            Ok(stream) => {
                let served = serve(stream);
                connections.spawn(async move {
                    served.await;
                    drop(seat);
                });
            }
            Err(_) => tokio::time::sleep(REST).await,
        }
    }
}

/// Passes connections on to another socket, at most `seats` at once. Goes on until it is dropped, and the connections end
/// with it. A guest that another policy lets to loopback must not go on from here by this one.
pub async fn pass_on<L: Listener>(listener: L, seats: usize, socket: PathBuf) {
    accept_each(listener, seats, |mut client| {
        let socket = socket.clone();
        async move {
            if L::is_guests(&client) {
                return;
            }
            if let Ok(mut other) = UnixStream::connect(socket).await {
                let _ = copy_bidirectional(&mut client, &mut other).await;
            }
        }
    })
    .await;
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// A listener in a process that has no descriptor left: it fails at once, each time.
    struct Failing(Arc<AtomicUsize>);

    impl Listener for Failing {
        type Stream = UnixStream;

        async fn next(&self) -> io::Result<UnixStream> {
            self.0.fetch_add(1, Ordering::Relaxed);
            Err(io::Error::from_raw_os_error(24))
        }

        fn is_guests(_: &UnixStream) -> bool {
            false
        }
    }

    #[tokio::test]
    async fn a_listener_that_fails_is_asked_again_after_a_rest() {
        let asked = Arc::new(AtomicUsize::new(0));
        let serving = accept_each(Failing(asked.clone()), 1, |_| async {});
        assert!(tokio::time::timeout(2 * REST + REST / 2, serving).await.is_err());
        assert!((1..=3).contains(&asked.load(Ordering::Relaxed)), "{asked:?}");
    }

    #[tokio::test]
    async fn no_more_are_served_at_once_than_there_are_seats() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        let listener = UnixListener::bind(&path).unwrap();
        let (begun, mut began) = tokio::sync::mpsc::unbounded_channel();
        let serving = tokio::spawn(accept_each(listener, 1, move |mut stream| {
            let _ = begun.send(());
            async move {
                let _ = tokio::io::copy(&mut stream, &mut tokio::io::sink()).await;
            }
        }));
        let first = UnixStream::connect(&path).await.unwrap();
        let _second = UnixStream::connect(&path).await.unwrap();
        began.recv().await.unwrap();
        tokio::task::yield_now().await;
        assert!(began.try_recv().is_err(), "the second one was served beside the first");
        drop(first);
        began.recv().await.unwrap();
        serving.abort();
    }
}
