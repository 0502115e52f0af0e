//! `cove line`: the container of a Pod that has its network, and with it Bay's connections.
//!
//! The runtime beside it has left the Pod's network and can be reached by a socket file only. This joins the two: what comes from Bay
//! goes to the runtime's socket, a guest who wants out comes to the socket of the way out and is handed a connection on which Bay
//! waits, and Bay's signs of life become the file that the runtime looks at. It also weighs the workspace, where no guest can make it
//! wait or lie. No guest has its processes or its memory within reach; it decides nothing, and runs nothing of a guest.

mod command;
mod way_out;

use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cove_files::{Pace, Weight, most_entries, outgrown, weigh};
use cove_runtime_api::OwnerLease;
use cove_runtime_api::line::{LineUse, OUTGROWN, greeted, take};
use rustix::fs::{Mode, OFlags};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{Notify, Semaphore};

pub use command::command;
use way_out::WayOut;

/// What is in the folder that both containers see: the runtime's socket, the socket of the way out, and Bay's signs of life.
const RUNTIME_SOCKET: &str = "runtime.sock";
const WAY_OUT_SOCKET: &str = "egress.sock";
const SIGNS: &str = "signs";

/// Connections that have not shown a key yet.
const STRANGERS: usize = 64;

/// How long somebody may take to show it.
const GREETING_LIMIT: Duration = Duration::from_secs(5);

/// How long Bay may take from the start of the line to its first sign of life.
const START_LIMIT: Duration = Duration::from_secs(60);

/// So many signs fit into the longest silence.
const SIGNS_IN_SILENCE: u32 = 6;

/// After a failure to take a connection: there will be no room for it at once.
const REST: Duration = Duration::from_millis(50);

/// What the line of a Pod is told.
#[derive(Debug, Clone)]
struct LineOptions {
    /// Where Bay connects.
    listen: SocketAddr,
    /// What its key is known by.
    key_fingerprint: String,
    /// The folder that the runtime sees, too.
    folder: PathBuf,
    /// The whole volume of the cargo.
    volume: PathBuf,
    /// So long without a sign of life, and it ends, as the runtime does.
    outlive_seconds: u64,
}

/// Serves until the Pod is asked to end, or Bay has been silent for too long.
async fn serve(options: LineOptions) -> io::Result<()> {
    // It is process 1 of its container: without this nobody would hear the signal, and the Pod would take all its time to end.
    let mut asked_to_end = signal(SignalKind::terminate())?;
    let listener = TcpListener::bind(options.listen).await?;
    let lease: OwnerLease = format!("{}:{}", options.outlive_seconds, options.folder.join(SIGNS).display())
        .parse()
        .map_err(io::Error::other)?;
    let way_out = WayOut::open(&options.folder.join(WAY_OUT_SOCKET))?;
    let line = Arc::new(Served { way_out, held: Notify::new(), options });
    line.sign(0)?;
    let own_signs = async {
        line.sign_until_held().await?;
        std::future::pending().await
    };
    tokio::select! {
        () = line.take_connections(listener) => Ok(()),
        () = lease.over() => Ok(()),
        _ = asked_to_end.recv() => Ok(()),
        failed = own_signs => failed,
    }
}

/// The line of one Pod.
struct Served {
    options: LineOptions,
    way_out: WayOut,
    /// Bay has begun to give signs of life.
    held: Notify,
}

impl Served {
    async fn take_connections(self: &Arc<Self>, listener: TcpListener) {
        let strangers = Arc::new(Semaphore::new(STRANGERS));
        loop {
            let Ok(seat) = Arc::clone(&strangers).acquire_owned().await else { return };
            let Ok((mut stream, _)) = listener.accept().await else {
                tokio::time::sleep(REST).await;
                continue;
            };
            let line = Arc::clone(self);
            tokio::spawn(async move {
                let _ = stream.set_nodelay(true);
                let greeting = greeted(&mut stream, &line.options.key_fingerprint);
                let Ok(Some(wanted)) = tokio::time::timeout(GREETING_LIMIT, greeting).await else { return };
                drop(seat);
                let _ = line.attend(stream, wanted).await;
            });
        }
    }

    /// Bay cannot give signs of life before it knows where the Pod is: until it does, and for so long at most, it counts as alive.
    async fn sign_until_held(&self) -> io::Result<()> {
        let every = Duration::from_secs(self.options.outlive_seconds) / SIGNS_IN_SILENCE;
        let (began, mut number) = (Instant::now(), 0);
        while began.elapsed() < START_LIMIT {
            tokio::select! {
                () = self.held.notified() => return Ok(()),
                () = tokio::time::sleep(every) => {}
            }
            number += 1;
            self.sign(number)?;
        }
        Ok(())
    }

    async fn attend(&self, mut stream: TcpStream, wanted: LineUse) -> io::Result<()> {
        match wanted {
            LineUse::Runtime => {
                // Only then is it taken: who is told so knows that the runtime is there.
                let mut runtime = UnixStream::connect(self.options.folder.join(RUNTIME_SOCKET)).await?;
                take(&mut stream).await?;
                copy_bidirectional(&mut stream, &mut runtime).await?;
                Ok(())
            }
            LineUse::WayOut => {
                take(&mut stream).await?;
                self.way_out.offer(stream);
                Ok(())
            }
            LineUse::Hold { limit_bytes } => {
                take(&mut stream).await?;
                self.held.notify_one();
                self.hold(stream, limit_bytes).await
            }
            LineUse::Weigh { limit_bytes } => {
                take(&mut stream).await?;
                let folder = self.open_volume()?;
                let weighed = tokio::task::spawn_blocking(move || weighed(&folder, limit_bytes));
                let weight = weighed.await.map_err(io::Error::other)?;
                stream.write_all(&serde_json::to_vec(&weight)?).await
            }
        }
    }

    /// Passes Bay's signs of life on, and tells it when the workspace has outgrown its limit.
    async fn hold(&self, stream: TcpStream, limit_bytes: u64) -> io::Result<()> {
        let (mut signs, mut told) = stream.into_split();
        let full = async {
            if limit_bytes == 0 {
                return std::future::pending().await;
            }
            let folder = self.open_volume()?;
            let again = folder.try_clone()?;
            let folder_of = Arc::new(again);
            let weigh = move || weighed(&folder_of, limit_bytes).at_least();
            outgrown(Pace::new(folder, limit_bytes), limit_bytes, weigh).await;
            told.write_all(OUTGROWN).await?;
            std::future::pending::<io::Result<()>>().await
        };
        let pass_on = async {
            let mut number = 0_u64;
            while signs.read(&mut [0; 64]).await? > 0 {
                number += 1;
                self.sign(number)?;
            }
            Ok(())
        };
        tokio::select! {
            ended = full => ended,
            ended = pass_on => ended,
        }
    }

    /// Writes that Bay lives: something else than the last time, whole or not at all.
    fn sign(&self, number: u64) -> io::Result<()> {
        use std::time::{SystemTime, UNIX_EPOCH};
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_micros();
        let half = self.options.folder.join("signs.new");
        std::fs::write(&half, format!("{now} {number}\n"))?;
        std::fs::rename(half, self.options.folder.join(SIGNS))
    }

    fn open_volume(&self) -> io::Result<OwnedFd> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(rustix::fs::open(&self.options.volume, flags, Mode::empty())?)
    }
}

fn weighed(folder: &OwnedFd, limit_bytes: u64) -> Weight {
    weigh(folder, most_entries(limit_bytes), || true)
}

#[cfg(test)]
mod tests {
    use cove_testkit::{PATIENCE, until};
    use rustix::process::{Signal, getpid, kill_process};

    use super::*;

    #[tokio::test]
    async fn it_ends_when_the_pod_is_asked_to() {
        let folder = tempfile::tempdir().unwrap();
        let options = LineOptions {
            listen: "127.0.0.1:0".parse().unwrap(),
            key_fingerprint: String::new(),
            folder: folder.path().to_owned(),
            volume: folder.path().to_owned(),
            outlive_seconds: 600,
        };
        let serving = tokio::spawn(serve(options));
        until("it serves", async || folder.path().join(SIGNS).exists()).await;
        kill_process(getpid(), Signal::TERM).unwrap();
        tokio::time::timeout(PATIENCE, serving).await.expect("it heard nothing").unwrap().unwrap();
    }
}
