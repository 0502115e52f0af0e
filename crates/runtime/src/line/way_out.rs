//! Guests who want out are joined with connections on which Bay waits: nothing in the Pod connects to anywhere.

use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use cove_runtime_api::line::GUEST_CAME;
use tokio::io::{AsyncWriteExt as _, copy_bidirectional};
use tokio::net::{TcpStream, UnixListener};
use tokio::sync::{Mutex, mpsc};
use tokio::task::JoinHandle;

/// Connections on which Bay may wait at the same time.
const WAITING: usize = 64;

/// How long a guest waits for Bay.
const BAY_LIMIT: Duration = Duration::from_secs(10);

/// Guests who may wait at the same time.
const GUESTS: usize = 128;

/// Joins guests and Bay until it is dropped.
#[derive(Debug)]
pub(super) struct WayOut {
    waiting: mpsc::Sender<TcpStream>,
    task: JoinHandle<()>,
}

impl WayOut {
    /// Opens the guests' socket.
    pub(super) fn open(socket: &Path) -> io::Result<Self> {
        // One that was started again finds its own.
        let _ = std::fs::remove_file(socket);
        let listener = UnixListener::bind(socket)?;
        std::fs::set_permissions(socket, std::fs::Permissions::from_mode(0o666))?;
        let (waiting, offered) = mpsc::channel(WAITING);
        Ok(Self { waiting, task: tokio::spawn(take_guests(listener, Arc::new(Mutex::new(offered)))) })
    }

    /// Bay waits on this connection. One too many is closed.
    pub(super) fn offer(&self, bay: TcpStream) {
        let _ = self.waiting.try_send(bay);
    }
}

impl Drop for WayOut {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn take_guests(listener: UnixListener, offered: Arc<Mutex<mpsc::Receiver<TcpStream>>>) {
    let seats = Arc::new(tokio::sync::Semaphore::new(GUESTS));
    loop {
        let Ok(seat) = Arc::clone(&seats).acquire_owned().await else { return };
        let Ok((mut guest, _)) = listener.accept().await else {
            tokio::time::sleep(super::REST).await;
            continue;
        };
        let offered = Arc::clone(&offered);
        tokio::spawn(async move {
            if let Ok(Some(mut bay)) = tokio::time::timeout(BAY_LIMIT, next_alive(&offered)).await
                && bay.write_all(GUEST_CAME).await.is_ok()
            {
                let _ = copy_bidirectional(&mut guest, &mut bay).await;
            }
            drop(seat);
        });
    }
}

/// The next connection whose other end is still there: Bay says nothing on one before it is told to.
async fn next_alive(offered: &Mutex<mpsc::Receiver<TcpStream>>) -> Option<TcpStream> {
    loop {
        let bay = offered.lock().await.recv().await?;
        let silent = bay.try_read(&mut [0]);
        if silent.is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock) {
            return Some(bay);
        }
    }
}
