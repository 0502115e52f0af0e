//! The line into a Pod: one port, behind which are the runtime's socket, the guests' way out, and Bay's signs of life.
//!
//! A Pod's port can be reached by every other Pod of a cluster whose network enforces no policy. So a connection begins with one line
//! that names a key and what is wanted; whoever has no key is told nothing. Only the key's fingerprint is inside the Pod: whoever
//! reads the Pod's description, or everything in the Pod, cannot open its line.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use sha2::{Digest as _, Sha256};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// The first word of a connection.
const WORD: &str = "cove-line/1";

/// What the other side answers first.
const TAKEN: &[u8] = b"ok\n";

/// What is said when a guest comes to a connection that waits for one.
pub const GUEST_CAME: &[u8] = b"go\n";

/// What is said when the workspace has outgrown its limit.
pub const OUTGROWN: &[u8] = b"full\n";

/// More than a first line has.
const MAX_FIRST: usize = 160;

/// How long opening a line may take: a node that is gone does not refuse, it is silent.
const OPEN_LIMIT: Duration = Duration::from_secs(5);

/// What opens the line of one Pod.
#[derive(Clone, PartialEq, Eq)]
pub struct LineKey(String);

impl LineKey {
    /// From bytes that nobody can guess.
    pub fn new(bytes: &[u8]) -> Self {
        Self(hex(bytes))
    }

    /// What the Pod knows it by; the key cannot be found from it.
    pub fn fingerprint(&self) -> String {
        fingerprint(&self.0)
    }
}

impl fmt::Debug for LineKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LineKey(…)")
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn fingerprint(key: &str) -> String {
    hex(&Sha256::digest(key.as_bytes()))
}

/// What a connection is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineUse {
    /// What comes next is for the runtime.
    Runtime,
    /// It waits for a guest who wants to get out.
    WayOut,
    /// Each byte on it is a sign of life; it hears when the workspace outgrows so many bytes (0: it may have any size).
    Hold {
        /// What the workspace may hold.
        limit_bytes: u64,
    },
    /// It is told, as one line of JSON, what the workspace weighs.
    Weigh {
        /// What the workspace may hold: how far is counted follows from it.
        limit_bytes: u64,
    },
}

impl fmt::Display for LineUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Runtime => f.write_str("runtime"),
            Self::WayOut => f.write_str("way-out"),
            Self::Hold { limit_bytes } => write!(f, "hold {limit_bytes}"),
            Self::Weigh { limit_bytes } => write!(f, "weigh {limit_bytes}"),
        }
    }
}

impl LineUse {
    fn read(text: &str) -> Option<Self> {
        Some(match text.split_once(' ') {
            None if text == "runtime" => Self::Runtime,
            None if text == "way-out" => Self::WayOut,
            Some(("hold", limit)) => Self::Hold { limit_bytes: limit.parse().ok()? },
            Some(("weigh", limit)) => Self::Weigh { limit_bytes: limit.parse().ok()? },
            _ => return None,
        })
    }
}

/// The line of one Pod.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Where the Pod is.
    pub address: SocketAddr,
    /// What opens it.
    pub key: LineKey,
}

impl Line {
    /// Opens a connection for this use.
    pub async fn open(&self, wanted: LineUse) -> io::Result<TcpStream> {
        let opening = async {
            let mut stream = TcpStream::connect(self.address).await?;
            // Requests are small and answered one at a time.
            stream.set_nodelay(true)?;
            stream.write_all(format!("{WORD} {} {wanted}\n", self.key.0).as_bytes()).await?;
            let mut answer = [0; TAKEN.len()];
            let refused = || io::Error::new(io::ErrorKind::ConnectionRefused, "the Pod did not take the connection");
            stream.read_exact(&mut answer).await.map_err(|_| refused())?;
            if answer == TAKEN { Ok(stream) } else { Err(refused()) }
        };
        tokio::time::timeout(OPEN_LIMIT, opening).await.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))?
    }

    /// What the workspace weighs, as the Pod writes it.
    pub async fn weigh(&self, limit_bytes: u64, limit: Duration) -> io::Result<String> {
        let asked = async {
            let stream = self.open(LineUse::Weigh { limit_bytes }).await?;
            let mut text = String::new();
            stream.take(1024).read_to_string(&mut text).await?;
            Ok(text)
        };
        tokio::time::timeout(limit, asked).await.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))?
    }
}

/// Reads what a connection is for; none where it has not the key, or says something else. Reads not one byte more.
pub async fn greeted(stream: &mut TcpStream, key_fingerprint: &str) -> Option<LineUse> {
    let mut first = Vec::new();
    loop {
        match stream.read_u8().await.ok()? {
            b'\n' => break,
            byte => first.push(byte),
        }
        if first.len() > MAX_FIRST {
            return None;
        }
    }
    let text = String::from_utf8(first).ok()?;
    let (key, wanted) = text.strip_prefix(WORD)?.strip_prefix(' ')?.split_once(' ')?;
    // What is compared are fingerprints: how long it takes says nothing of the key.
    (fingerprint(key) == key_fingerprint).then(|| LineUse::read(wanted))?
}

/// Says that a connection is taken.
pub async fn take(stream: &mut TcpStream) -> io::Result<()> {
    stream.write_all(TAKEN).await
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use tokio::net::TcpListener;

    use super::*;

    #[tokio::test]
    async fn only_who_has_the_key_is_answered() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let key = LineKey::new(b"a key");
        let fingerprint = key.fingerprint();
        assert!(!format!("{key:?}{fingerprint}").contains(&key.0));
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                match greeted(&mut stream, &fingerprint).await {
                    Some(LineUse::Weigh { limit_bytes }) => {
                        take(&mut stream).await.unwrap();
                        stream.write_all(format!("{limit_bytes}").as_bytes()).await.unwrap();
                    }
                    Some(_) => take(&mut stream).await.unwrap(),
                    None => {}
                }
            }
        });
        let line = Line { address, key };
        assert_eq!(line.weigh(7, OPEN_LIMIT).await.unwrap(), "7");
        for wanted in [LineUse::Runtime, LineUse::WayOut, LineUse::Hold { limit_bytes: 0 }] {
            line.open(wanted).await.unwrap();
        }
        let other = Line { key: LineKey::new(b"another"), ..line.clone() };
        assert_eq!(other.open(LineUse::Runtime).await.unwrap_err().kind(), io::ErrorKind::ConnectionRefused);
        for wrong in ["\n", "GET / HTTP/1.1\r\n\r\n", "cove-line/1\n", &"x".repeat(500), "cove-line/1 k hold -1\n"] {
            let mut stream = TcpStream::connect(address).await.unwrap();
            stream.write_all(wrong.as_bytes()).await.unwrap();
            let mut answer = Vec::new();
            let _ = stream.read_to_end(&mut answer).await;
            assert_eq!(answer, b"", "{wrong:?}");
        }
    }
}
