//! The way out of one sandbox as it is now: what it may reach, which may change while it runs, and a log of its connections.
//!
//! Whoever carries connections out asks here for each of them. A change counts at once, also for connections that are
//! open: each is looked at again, by its host, its port and the address that it really goes to, and closed if it would not
//! be opened any more. What a change may open is bounded by the policy that the network was made with.

use std::collections::VecDeque;
use std::fmt;
use std::future::Future;
use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::SystemTime;

use cove_core::{NetworkPolicy, SessionOptions};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::watch;

use crate::{AddressRule, ConnectError, connect};

/// Connections that the log of one sandbox holds; the oldest make room.
const MAX_LOGGED: usize = 1_000;

/// The longest name of a host that is logged whole: no longer one exists.
const MAX_HOST_CHARS: usize = 253;

/// The way out of one container of a sandbox. Cheap to clone; all clones are one.
#[derive(Clone)]
pub struct LiveNetwork(Arc<Shared>);

struct Shared {
    /// What it was made with: no change opens more.
    policy: NetworkPolicy,
    now: watch::Sender<Arc<Opened>>,
    log: ConnectionLog,
}

/// What is open at one moment.
#[derive(Debug)]
struct Opened {
    rule: AddressRule,
    hosts: Vec<String>,
}

impl LiveNetwork {
    /// As a policy says, with a log of its own.
    pub fn new(policy: &NetworkPolicy) -> Self {
        Self::logged(policy, ConnectionLog::default())
    }

    /// The same with a log that others may share.
    pub fn logged(policy: &NetworkPolicy, log: ConnectionLog) -> Self {
        let now = watch::channel(Arc::new(as_written(policy))).0;
        Self(Arc::new(Shared { policy: policy.clone(), now, log }))
    }

    /// A session's: the one that it is given, or one of its own.
    pub fn of_session(options: &SessionOptions) -> Self {
        let given = options.live_network.as_ref().and_then(|given| given.downcast_ref::<Self>());
        given.cloned().unwrap_or_else(|| Self::new(&options.network))
    }

    /// From now on only these hosts, as far as the policy lets them be asked for; `None`: what the policy opens by itself.
    pub fn open_only(&self, hosts: Option<&[String]>) {
        let policy = &self.0.policy;
        let opened = match hosts {
            None => as_written(policy),
            Some(hosts) => {
                let hosts: Vec<String> =
                    hosts.iter().filter(|host| AddressRule::may_open(policy, host).is_ok()).cloned().collect();
                Opened { rule: AddressRule::only(policy, &hosts), hosts }
            }
        };
        self.0.now.send_if_modified(|now| {
            let is_new = now.rule != opened.rule;
            *now = Arc::new(opened);
            is_new
        });
    }

    /// The hosts that are open now, as they were written.
    pub fn hosts(&self) -> Vec<String> {
        self.0.now.borrow().hosts.clone()
    }

    /// Whether a host may be asked for by this name now.
    pub fn allows_host(&self, host: &str, port: u16) -> bool {
        self.0.now.borrow().rule.allows_host(host, port)
    }

    /// Whether the two are one.
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Its log.
    pub fn log(&self) -> &ConnectionLog {
        &self.0.log
    }

    /// Connects to a host, if it is open; the connection ends when it no longer is.
    pub async fn connect(&self, host: &str, port: u16) -> Result<LiveStream, ConnectError> {
        let mut changes = self.0.now.subscribe();
        let opened = Arc::clone(&changes.borrow_and_update());
        let stream = match connect(host, port, &opened.rule).await {
            Ok(stream) => stream,
            Err(error) => {
                let verdict = if error.is_refusal() { Verdict::Refused } else { Verdict::Unreachable };
                self.0.log.note(host, port, verdict);
                return Err(error);
            }
        };
        let noted = self.0.log.note(host, port, Verdict::Open);
        let address = stream.peer_addr().map(|address| address.ip()).ok();
        let (name, entry, log) = (host.to_owned(), Arc::clone(&noted), self.0.log.clone());
        let gone = Box::pin(async move {
            while changes.changed().await.is_ok() {
                let opened = Arc::clone(&changes.borrow_and_update());
                if !still_open(&opened.rule, &name, port, address) {
                    log.end(&entry, Verdict::Closed);
                    return;
                }
            }
            // Whoever could change it is gone, and so will be whoever carries the connection.
            std::future::pending::<()>().await;
        });
        Ok(LiveStream { stream, noted, log: self.0.log.clone(), gone })
    }
}

impl fmt::Debug for LiveNetwork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LiveNetwork").field("hosts", &self.hosts()).finish_non_exhaustive()
    }
}

fn as_written(policy: &NetworkPolicy) -> Opened {
    Opened { rule: AddressRule::new(policy), hosts: policy.allow_hosts.clone() }
}

/// Whether a connection would be opened now that is open already.
fn still_open(rule: &AddressRule, host: &str, port: u16, address: Option<IpAddr>) -> bool {
    rule.allows_host(host, port) && address.is_some_and(|address| rule.allows_address(address, port))
}

/// What became of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It was made, and is open.
    Open,
    /// It was made, and has ended.
    Ended,
    /// It was made, and closed when the policy changed.
    Closed,
    /// The policy does not open it.
    Refused,
    /// The policy opens it, and nobody answers there.
    Unreachable,
}

impl Verdict {
    const ALL: [Self; 5] = [Self::Open, Self::Ended, Self::Closed, Self::Refused, Self::Unreachable];
}

/// One connection that was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Connection {
    /// The host, as it was asked for.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// When.
    pub at: SystemTime,
    /// Bytes that the sandbox has sent.
    pub up: u64,
    /// Bytes that it has got.
    pub down: u64,
    /// What became of it.
    pub verdict: Verdict,
}

/// Hears of each connection that was refused or closed.
pub type RefusalSink = Arc<dyn Fn(&Connection) + Send + Sync>;

/// The last connections of a sandbox.
#[derive(Clone, Default)]
pub struct ConnectionLog(Arc<Log>);

#[derive(Default)]
struct Log {
    entries: Mutex<VecDeque<Arc<Noted>>>,
    refused: Option<RefusalSink>,
}

struct Noted {
    host: String,
    port: u16,
    at: SystemTime,
    up: AtomicU64,
    down: AtomicU64,
    verdict: AtomicU8,
}

impl ConnectionLog {
    /// Tells of refusals.
    pub fn telling(refused: RefusalSink) -> Self {
        Self(Arc::new(Log { entries: Mutex::default(), refused: Some(refused) }))
    }

    /// The connections, the newest first.
    pub fn list(&self) -> Vec<Connection> {
        self.entries().iter().rev().map(|noted| noted.connection()).collect()
    }

    fn entries(&self) -> MutexGuard<'_, VecDeque<Arc<Noted>>> {
        self.0.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, host: &str, port: u16, verdict: Verdict) -> Arc<Noted> {
        let noted = Arc::new(Noted {
            host: host.chars().take(MAX_HOST_CHARS).collect(),
            port,
            at: SystemTime::now(),
            up: AtomicU64::new(0),
            down: AtomicU64::new(0),
            verdict: AtomicU8::new(verdict as u8),
        });
        let mut entries = self.entries();
        if entries.len() >= MAX_LOGGED {
            entries.pop_front();
        }
        entries.push_back(Arc::clone(&noted));
        drop(entries);
        self.tell(&noted);
        noted
    }

    fn end(&self, noted: &Noted, verdict: Verdict) {
        noted.verdict.store(verdict as u8, Ordering::Relaxed);
        self.tell(noted);
    }

    fn tell(&self, noted: &Noted) {
        if let Some(refused) = &self.0.refused
            && matches!(noted.verdict(), Verdict::Refused | Verdict::Closed)
        {
            refused(&noted.connection());
        }
    }
}

impl fmt::Debug for ConnectionLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConnectionLog").field("entries", &self.entries().len()).finish_non_exhaustive()
    }
}

impl Noted {
    fn verdict(&self) -> Verdict {
        let number = usize::from(self.verdict.load(Ordering::Relaxed));
        Verdict::ALL.get(number).copied().unwrap_or(Verdict::Refused)
    }

    fn connection(&self) -> Connection {
        Connection {
            host: self.host.clone(),
            port: self.port,
            at: self.at,
            up: self.up.load(Ordering::Relaxed),
            down: self.down.load(Ordering::Relaxed),
            verdict: self.verdict(),
        }
    }
}

/// A connection that is counted, and that fails once its host is no longer open.
pub struct LiveStream {
    stream: TcpStream,
    noted: Arc<Noted>,
    log: ConnectionLog,
    gone: Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl LiveStream {
    /// The connection itself, for its options.
    pub fn socket(&self) -> &TcpStream {
        &self.stream
    }

    fn check(&mut self, context: &mut Context<'_>) -> io::Result<()> {
        let closed =
            || io::Error::new(io::ErrorKind::ConnectionAborted, "the network policy no longer opens this host");
        if self.noted.verdict() == Verdict::Closed || self.gone.as_mut().poll(context).is_ready() {
            return Err(closed());
        }
        Ok(())
    }
}

impl fmt::Debug for LiveStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LiveStream").field("connection", &self.noted.connection()).finish_non_exhaustive()
    }
}

impl Drop for LiveStream {
    fn drop(&mut self) {
        if self.noted.verdict() == Verdict::Open {
            self.log.end(&self.noted, Verdict::Ended);
        }
    }
}

fn add(to: &AtomicU64, bytes: usize) {
    to.fetch_add(bytes as u64, Ordering::Relaxed);
}

impl AsyncRead for LiveStream {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.check(context)?;
        let before = into.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, into);
        add(&self.noted.down, into.filled().len() - before);
        read
    }
}

impl AsyncWrite for LiveStream {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.check(context)?;
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        if let Poll::Ready(Ok(written)) = written {
            add(&self.noted.up, written);
        }
        written
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;

    use super::*;

    fn all(hosts: &[&str]) -> Vec<String> {
        hosts.iter().map(|host| (*host).to_owned()).collect()
    }

    /// A server that gives back what it gets, and a network that opens it by two names.
    async fn stage(may_allow: &[&str]) -> (LiveNetwork, u16) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                tokio::spawn(async move {
                    let (mut from, mut to) = stream.split();
                    let _ = tokio::io::copy(&mut from, &mut to).await;
                });
            }
        });
        let policy = NetworkPolicy {
            allow_hosts: all(&["localhost", "127.0.0.1"]),
            allow_private: all(&["127.0.0.1"]),
            may_allow: all(may_allow),
        };
        (LiveNetwork::new(&policy), port)
    }

    async fn echoed(stream: &mut LiveStream) -> io::Result<()> {
        stream.write_all(b"abc").await?;
        let mut back = [0; 3];
        stream.read_exact(&mut back).await?;
        assert_eq!(&back, b"abc");
        Ok(())
    }

    #[tokio::test]
    async fn a_change_counts_at_once_for_open_connections_too() {
        let (network, port) = stage(&[]).await;
        let mut kept = network.connect("127.0.0.1", port).await.unwrap();
        let mut closed = network.connect("localhost", port).await.unwrap();
        echoed(&mut closed).await.unwrap();
        network.open_only(Some(&all(&["127.0.0.1"])));
        // One that waits for something to read hears of it.
        let error = closed.read(&mut [0; 1]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::ConnectionAborted);
        assert!(echoed(&mut closed).await.is_err(), "and stays closed");
        echoed(&mut kept).await.unwrap();
        assert!(matches!(network.connect("localhost", port).await, Err(ConnectError::NotNamed(..))));
        drop(kept);
        let log = network.log().list();
        let told: Vec<_> = log.iter().map(|one| (one.host.as_str(), one.verdict, one.up, one.down)).collect();
        let expected = [
            ("localhost", Verdict::Refused, 0, 0),
            ("localhost", Verdict::Closed, 3, 3),
            ("127.0.0.1", Verdict::Ended, 3, 3),
        ];
        assert_eq!(told, expected);
        network.open_only(None);
        echoed(&mut network.connect("localhost", port).await.unwrap()).await.unwrap();
        network.open_only(Some(&[]));
        assert!(network.connect("127.0.0.1", port).await.is_err(), "private addresses are closed with the rest");
    }

    #[tokio::test]
    async fn a_waiting_reader_is_woken_by_the_change() {
        let (network, port) = stage(&[]).await;
        let mut stream = network.connect("localhost", port).await.unwrap();
        let reading = tokio::spawn(async move { stream.read(&mut [0; 1]).await.map_err(|error| error.kind()) });
        tokio::task::yield_now().await;
        network.open_only(Some(&[]));
        assert_eq!(reading.await.unwrap(), Err(io::ErrorKind::ConnectionAborted));
    }

    #[tokio::test]
    async fn refusals_are_told_and_the_log_is_bounded() {
        let told = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&told);
        let log = ConnectionLog::telling(Arc::new(move |one: &Connection| heard.lock().unwrap().push(one.clone())));
        let network = LiveNetwork::logged(&NetworkPolicy::default(), log);
        for number in 0..MAX_LOGGED + 10 {
            assert!(network.connect(&format!("host{number}"), 443).await.is_err());
        }
        assert_eq!((network.log().list().len(), told.lock().unwrap().len()), (MAX_LOGGED, MAX_LOGGED + 10));
        assert_eq!(network.log().list()[0].host, format!("host{}", MAX_LOGGED + 9));
    }
}
