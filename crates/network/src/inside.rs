//! The programs of a sandbox, as its own browser reaches them: `localhost` is the sandbox, although the browser is not in its
//! network.
//!
//! What a policy names comes first: a profile that opens `localhost` means this machine's. For all others `localhost` leads
//! into the sandbox and nowhere else, so it opens nothing of the network.

use std::fmt;
use std::future::Future;
use std::io;
use std::net::IpAddr;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::UnixStream;

/// The answer of a proxy; what begins after it is the program's.
const MAX_ANSWER_BYTES: usize = 1 << 10;

/// A connection of any kind.
pub trait ByteStream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> ByteStream for T {}

/// A connection that is being opened.
pub type Opening = Pin<Box<dyn Future<Output = io::Result<Box<dyn ByteStream>>> + Send>>;

/// Opens connections to the ports of one sandbox.
#[derive(Clone)]
pub struct SandboxPorts(Arc<dyn Fn(u16) -> Opening + Send + Sync>);

impl fmt::Debug for SandboxPorts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SandboxPorts").finish_non_exhaustive()
    }
}

impl SandboxPorts {
    /// By this.
    pub fn new(open: impl Fn(u16) -> Opening + Send + Sync + 'static) -> Self {
        Self(Arc::new(open))
    }

    /// Through the socket of a proxy that knows the way.
    pub fn through(socket: PathBuf) -> Self {
        Self::new(move |port| {
            let socket = socket.clone();
            Box::pin(async move { Ok(Box::new(ask(socket, port).await?) as Box<dyn ByteStream>) })
        })
    }

    /// A connection to this port.
    pub(crate) async fn connect(&self, port: u16) -> io::Result<Box<dyn ByteStream>> {
        (self.0)(port).await
    }
}

/// Whether a host is the machine that asks, whatever machine that is.
pub fn is_loopback_name(host: &str) -> bool {
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    let address = host.parse::<IpAddr>().is_ok_and(|address| address.to_canonical().is_loopback());
    address || host == "localhost" || host.ends_with(".localhost")
}

async fn ask(socket: PathBuf, port: u16) -> io::Result<UnixStream> {
    let mut proxy = UnixStream::connect(socket).await?;
    proxy.write_all(format!("CONNECT localhost:{port} HTTP/1.1\r\n\r\n").as_bytes()).await?;
    let mut answer = Vec::new();
    // Byte by byte: what follows the answer is not ours to read.
    while !answer.ends_with(b"\r\n\r\n") && answer.len() < MAX_ANSWER_BYTES {
        answer.push(proxy.read_u8().await?);
    }
    if answer.starts_with(b"HTTP/1.1 200 ") {
        return Ok(proxy);
    }
    Err(io::ErrorKind::ConnectionRefused.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LiveNetwork, converse};
    use cove_core::NetworkPolicy;
    use tokio::net::UnixListener;

    #[test]
    fn only_names_of_the_machine_itself_lead_inside() {
        for host in ["localhost", "LocalHost.", "a.localhost", "127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"] {
            assert!(is_loopback_name(host), "{host}");
        }
        for host in ["", "localhost.example", "alocalhost", "0.0.0.0", "10.0.0.1", "example.com", "169.254.169.254"] {
            assert!(!is_loopback_name(host), "{host}");
        }
    }

    /// Through one proxy and another: what is named, what is inside, and what is neither.
    #[tokio::test]
    async fn localhost_leads_inside_and_nothing_else_does() {
        let folder = std::env::temp_dir().join(format!("cove-inside-{}", std::process::id()));
        let _ = std::fs::remove_file(&folder);
        let listener = UnixListener::bind(&folder).unwrap();
        tokio::spawn(async move {
            let inside = SandboxPorts::new(|port| {
                Box::pin(async move {
                    if port != 3000 {
                        return Err(io::ErrorKind::ConnectionRefused.into());
                    }
                    let (near, mut far) = tokio::io::duplex(64);
                    tokio::spawn(async move { far.write_all(b"the program").await });
                    Ok(Box::new(near) as Box<dyn ByteStream>)
                })
            });
            let closed = LiveNetwork::new(&NetworkPolicy::default());
            while let Ok((client, _)) = listener.accept().await {
                let _ = converse(client, &closed, Some(&inside)).await;
            }
        });
        let ask = async |host: &str| {
            let (near, mut far) = tokio::io::duplex(1 << 10);
            let inside = SandboxPorts::through(folder.clone());
            let closed = LiveNetwork::new(&NetworkPolicy::default());
            let conversing = tokio::spawn(async move { converse(near, &closed, Some(&inside)).await });
            far.write_all(format!("CONNECT {host} HTTP/1.1\r\n\r\n").as_bytes()).await.unwrap();
            let mut said = String::new();
            far.read_to_string(&mut said).await.unwrap();
            drop(far);
            let _ = conversing.await;
            said
        };
        assert!(ask("localhost:3000").await.ends_with("\r\n\r\nthe program"));
        assert!(ask("127.0.0.1:3000").await.ends_with("\r\n\r\nthe program"));
        assert!(ask("localhost:3001").await.starts_with("HTTP/1.1 502 "));
        assert!(ask("example.com:443").await.starts_with("HTTP/1.1 403 "));
        std::fs::remove_file(&folder).unwrap();
    }
}
