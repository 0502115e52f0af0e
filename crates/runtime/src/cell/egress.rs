//! The one way out of a cell whose profile has one: a proxy on the host that connects to named hosts only.
//!
//! The cell keeps its empty network namespace. Inside, Ship listens on its loopback and passes connections to this
//! proxy's socket; here names are resolved, looked at, and only what was looked at is connected to. So a guest that
//! ignores the proxy reaches nothing, and one that uses it reaches what the profile names.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use cove_chrome::AddressRule;
use cove_core::NetworkPolicy;
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpStream, UnixListener, UnixStream, lookup_host};
use tokio::sync::Semaphore;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::timeout;

/// Connections of one cell at the same time.
const MAX_CONNECTIONS: usize = 128;
/// A request's head.
const MAX_HEAD_BYTES: usize = 32 << 10;
/// For the head to arrive, for a name to resolve, for a connection to be made.
const STEP: Duration = Duration::from_secs(10);

/// A cell's proxy. Dropping it ends all its connections.
#[derive(Debug)]
pub(super) struct Egress {
    path: PathBuf,
    server: JoinHandle<()>,
}

impl Egress {
    /// Opens the proxy's socket in a folder that only the owner can reach.
    pub(super) fn open(policy: &NetworkPolicy, path: PathBuf) -> io::Result<Self> {
        let listener = UnixListener::bind(&path)?;
        // The guest is somebody else, and sees nothing of the folder but this socket.
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o666))?;
        let server = tokio::spawn(serve(listener, Arc::new(AddressRule::new(policy))));
        Ok(Self { path, server })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Egress {
    fn drop(&mut self) {
        self.server.abort();
        let _ = std::fs::remove_file(&self.path);
    }
}

async fn serve(listener: UnixListener, rule: Arc<AddressRule>) {
    let seats = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let mut connections = JoinSet::new();
    loop {
        let Ok(seat) = Arc::clone(&seats).acquire_owned().await else { return };
        while connections.try_join_next().is_some() {}
        match listener.accept().await {
            Ok((client, _)) => {
                let rule = Arc::clone(&rule);
                connections.spawn(async move {
                    let _ = serve_one(client, &rule).await;
                    drop(seat);
                });
            }
            // Out of descriptors, most likely: others must end first.
            Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
        }
    }
}

/// A refusal with a sentence: guests read it.
fn refusal(status: &str, text: &str) -> String {
    format!("HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{text}", text.len())
}

async fn serve_one(mut client: UnixStream, rule: &AddressRule) -> io::Result<()> {
    let Ok(Ok(Some((head, rest)))) = timeout(STEP, read_head(&mut client)).await else { return Ok(()) };
    let opened = match Request::read(&head) {
        None => Err(refusal("400 Bad Request", "this is a proxy: CONNECT host:port, or GET http://host/path\n")),
        Some(request) => connect(&request, rule).await.map(|server| (request, server)),
    };
    match opened {
        Ok((request, mut server)) => {
            match request.forward {
                None => client.write_all(b"HTTP/1.1 200 Connection Established\r\n\r\n").await?,
                Some(head) => server.write_all(head.as_bytes()).await?,
            }
            server.write_all(&rest).await?;
            copy_bidirectional(&mut client, &mut server).await.map(drop)
        }
        Err(refusal) => {
            client.write_all(refusal.as_bytes()).await?;
            client.shutdown().await
        }
    }
}

/// Connects to the first allowed address of a host. The address that is looked at is the one that is connected to.
async fn connect(request: &Request, rule: &AddressRule) -> Result<TcpStream, String> {
    let (host, port) = (request.host.as_str(), request.port);
    let forbidden = || refusal("403 Forbidden", &format!("{host}:{port} is not on the profile's list\n"));
    if !rule.allows_host(host, port) {
        return Err(forbidden());
    }
    let found: Vec<SocketAddr> = match host.parse::<IpAddr>() {
        Ok(address) => vec![SocketAddr::new(address, port)],
        Err(_) => match timeout(STEP, lookup_host((host, port))).await {
            Ok(Ok(found)) => found.collect(),
            _ => return Err(refusal("502 Bad Gateway", &format!("{host} has no address\n"))),
        },
    };
    let allowed: Vec<_> = found.into_iter().filter(|address| rule.allows_address(address.ip(), port)).collect();
    if allowed.is_empty() {
        return Err(forbidden());
    }
    for address in allowed {
        if let Ok(Ok(server)) = timeout(STEP, TcpStream::connect(address)).await {
            return Ok(server);
        }
    }
    Err(refusal("502 Bad Gateway", &format!("{host}:{port} cannot be reached\n")))
}

async fn read_head(client: &mut UnixStream) -> io::Result<Option<(String, Vec<u8>)>> {
    let mut bytes = Vec::new();
    loop {
        let before = bytes.len();
        if client.read_buf(&mut bytes).await? == 0 || before > MAX_HEAD_BYTES {
            return Ok(None);
        }
        if let Some(at) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            let rest = bytes.split_off(at + 4);
            return Ok(String::from_utf8(bytes).ok().map(|head| (head, rest)));
        }
    }
}

/// What a guest asks its proxy for.
#[derive(Debug, PartialEq, Eq)]
struct Request {
    host: String,
    port: u16,
    /// The head to send on; `None` for a tunnel.
    forward: Option<String>,
}

impl Request {
    /// Reads `CONNECT host:port` or `METHOD http://host[:port]/path`; anything else is not for a proxy.
    fn read(head: &str) -> Option<Self> {
        let (line, headers) = head.split_once("\r\n")?;
        let mut words = line.split(' ');
        let (method, target, version) = (words.next()?, words.next()?, words.next()?);
        if words.next().is_some() || !version.starts_with("HTTP/1.") {
            return None;
        }
        if method == "CONNECT" {
            let (host, port) = authority(target)?;
            return Some(Self { host, port: port?, forward: None });
        }
        let rest = target.strip_prefix("http://")?;
        let (place, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let (host, port) = authority(place)?;
        // One request per connection: the next one may be for another host, and must be looked at.
        let kept = headers.split("\r\n").filter(|line| {
            let name = line.split(':').next().unwrap_or_default().to_ascii_lowercase();
            !line.is_empty() && !name.starts_with("proxy-") && name != "connection" && name != "host"
        });
        let path = if path.is_empty() { "/" } else { path };
        let mut forward = format!("{method} {path} {version}\r\nHost: {place}\r\n");
        kept.for_each(|line| forward.extend([line, "\r\n"]));
        forward.push_str("Connection: close\r\n\r\n");
        Some(Self { host, port: port.unwrap_or(80), forward: Some(forward) })
    }
}

/// `host`, `host:port` or `[address]:port`.
fn authority(text: &str) -> Option<(String, Option<u16>)> {
    let (host, port) = match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((host, "")) => (host, None),
        Some((host, rest)) => (host, Some(rest.strip_prefix(':')?.parse().ok()?)),
        None => match text.split_once(':') {
            None => (text, None),
            Some((host, port)) => (host, Some(port.parse().ok()?)),
        },
    };
    (!host.is_empty() && !host.contains(['@', '/', '\\'])).then(|| (host.to_owned(), port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_proxy_requests_are_read() {
        let tunnel = Request::read("CONNECT example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
        assert_eq!((tunnel.host.as_str(), tunnel.port, tunnel.forward), ("example.com", 443, None));
        assert_eq!(Request::read("CONNECT [::1]:80 HTTP/1.1\r\n\r\n").unwrap().host, "::1");
        let plain = "GET http://a.org:81/x?y HTTP/1.1\r\nHost: other\r\nProxy-Connection: keep-alive\r\nA: b\r\n\r\n";
        assert_eq!(
            Request::read(plain).unwrap().forward.unwrap(),
            "GET /x?y HTTP/1.1\r\nHost: a.org:81\r\nA: b\r\nConnection: close\r\n\r\n"
        );
        for head in [
            "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
            "CONNECT example.com HTTP/1.1\r\n\r\n",
            "CONNECT a:99999 HTTP/1.1\r\n\r\n",
            "GET http://user@host/ HTTP/1.1\r\n\r\n",
            "GET ftp://a/ HTTP/1.1\r\n\r\n",
            "GET http://a/ b HTTP/1.1\r\n\r\n",
            "\r\n\r\n",
        ] {
            assert_eq!(Request::read(head), None, "{head:?} was taken");
        }
    }
}
