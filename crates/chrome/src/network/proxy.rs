//! The proxy behind a door: it resolves, looks, and connects to what it has looked at.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream, lookup_host};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::address::{AddressRule, split_port};
use super::peer::user_of;

/// Connections through one door at the same time.
const MAX_CONNECTIONS: usize = 256;
/// A request's head; browsers send about one kilobyte.
const MAX_HEAD_BYTES: usize = 64 << 10;
/// For the head to arrive, for a name to resolve, for a connection to be made.
const STEP: Duration = Duration::from_secs(10);

/// Serves one door until it is aborted; its connections end with it. Only `user` is served, if one is named.
pub(crate) async fn serve(listener: TcpListener, rule: AddressRule, user: Option<u32>) {
    let rule = Arc::new(rule);
    let seats = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let mut connections = JoinSet::new();
    loop {
        let Ok(seat) = seats.clone().acquire_owned().await else { return };
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((client, _)) => {
                    let rule = rule.clone();
                    connections.spawn(async move {
                        if user.is_none_or(|user| is_from(&client, user)) {
                            let _ = serve_one(client, &rule).await;
                        }
                        drop(seat);
                    });
                }
                // Out of descriptors, most likely: others must end first.
                Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
            },
            Some(_) = connections.join_next() => {}
        }
    }
}

/// Whether this user is at the other end.
fn is_from(client: &TcpStream, user: u32) -> bool {
    let ends = client.peer_addr().and_then(|peer| Ok((peer, client.local_addr()?)));
    ends.is_ok_and(|(peer, own)| user_of(peer, own) == Some(user))
}

/// Why a request goes no further; the text is for the page's developer tools, not for guest code.
enum Refusal {
    BadRequest,
    Forbidden,
    Unreachable,
}

impl Refusal {
    fn text(&self) -> &'static str {
        match self {
            Self::BadRequest => "HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
            Self::Forbidden => "HTTP/1.1 403 Forbidden\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
            Self::Unreachable => "HTTP/1.1 502 Bad Gateway\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
        }
    }
}

async fn serve_one(mut client: TcpStream, rule: &AddressRule) -> io::Result<()> {
    let Ok(Some((head, rest))) = timeout(STEP, read_head(&mut client)).await.unwrap_or(Ok(None)) else {
        return Ok(());
    };
    let opened = async {
        let request = Request::read(&head).ok_or(Refusal::BadRequest)?;
        let server = connect(&request.host, request.port, rule).await?;
        Ok::<_, Refusal>((request, server))
    };
    match opened.await {
        Ok((request, mut server)) => {
            match request.forward {
                None => client.write_all(b"HTTP/1.1 200 Connection Established\r\n\r\n").await?,
                Some(head) => server.write_all(head.as_bytes()).await?,
            }
            server.write_all(&rest).await?;
            copy_bidirectional(&mut client, &mut server).await.map(drop)
        }
        Err(refusal) => {
            client.write_all(refusal.text().as_bytes()).await?;
            client.shutdown().await
        }
    }
}

/// Connects to the first allowed address of a host. The address that is looked at is the one that is connected to.
async fn connect(host: &str, port: u16, rule: &AddressRule) -> Result<TcpStream, Refusal> {
    if !rule.allows_host(host, port) {
        return Err(Refusal::Forbidden);
    }
    let addresses: Vec<SocketAddr> = match host.parse::<IpAddr>() {
        Ok(address) => vec![SocketAddr::new(address, port)],
        Err(_) => match timeout(STEP, lookup_host((host, port))).await {
            Ok(Ok(found)) => found.collect(),
            _ => return Err(Refusal::Unreachable),
        },
    };
    let allowed: Vec<SocketAddr> =
        addresses.into_iter().filter(|address| rule.allows_address(address.ip(), port)).collect();
    if allowed.is_empty() {
        return Err(Refusal::Forbidden);
    }
    for address in allowed {
        if let Ok(Ok(server)) = timeout(STEP, TcpStream::connect(address)).await {
            return Ok(server);
        }
    }
    Err(Refusal::Unreachable)
}

/// The head of a request and what came after it; `None` when none came or it was too long.
async fn read_head(client: &mut TcpStream) -> io::Result<Option<(String, Vec<u8>)>> {
    let mut bytes = Vec::new();
    let mut chunk = [0; 4096];
    loop {
        let read = client.read(&mut chunk).await?;
        let fresh = chunk.get(..read).filter(|fresh| !fresh.is_empty() && bytes.len() < MAX_HEAD_BYTES);
        let Some(fresh) = fresh else { return Ok(None) };
        bytes.extend_from_slice(fresh);
        if let Some(at) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            let rest = bytes.split_off(at + 4);
            return Ok(String::from_utf8(bytes).ok().map(|head| (head, rest)));
        }
    }
}

/// What the browser asks its proxy for.
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
            let (host, port) = split_port(target);
            return Some(Self { host: host.to_owned(), port: port?, forward: None });
        }
        let rest = target.strip_prefix("http://")?;
        let (authority, path) = match rest.find('/') {
            Some(at) => rest.split_at(at),
            None => (rest, "/"),
        };
        let (host, port) = split_port(authority);
        if host.is_empty() || authority.contains('@') {
            return None;
        }
        // One request per connection: the next one may be for another host, and must be looked at.
        let kept = headers.split("\r\n").filter(|line| {
            let name = line.split(':').next().unwrap_or_default().to_ascii_lowercase();
            !line.is_empty() && !name.starts_with("proxy-") && name != "connection"
        });
        let mut forward = format!("{method} {path} {version}\r\n");
        for line in kept {
            forward.push_str(line);
            forward.push_str("\r\n");
        }
        forward.push_str("Connection: close\r\n\r\n");
        Some(Self { host: host.to_owned(), port: port.unwrap_or(80), forward: Some(forward) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_proxy_requests_are_read() {
        let tunnel = Request::read("CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n").unwrap();
        assert_eq!((tunnel.host.as_str(), tunnel.port, tunnel.forward), ("example.com", 443, None));
        let v6 = Request::read("CONNECT [::1]:80 HTTP/1.1\r\n\r\n").unwrap();
        assert_eq!((v6.host.as_str(), v6.port), ("::1", 80));
        let plain = Request::read(
            "GET http://a.org:81/x?y HTTP/1.1\r\nHost: a.org:81\r\nProxy-Connection: keep-alive\r\nA: b\r\n\r\n",
        );
        assert_eq!(
            plain.unwrap().forward.unwrap(),
            "GET /x?y HTTP/1.1\r\nHost: a.org:81\r\nA: b\r\nConnection: close\r\n\r\n"
        );
        for head in [
            "GET / HTTP/1.1\r\nHost: door0\r\n\r\n",
            "CONNECT example.com HTTP/1.1\r\n\r\n",
            "GET http://user@host/ HTTP/1.1\r\n\r\n",
            "GET ftp://a/ HTTP/1.1\r\n\r\n",
            "GET http://a/ b HTTP/1.1\r\n\r\n",
            "\r\n\r\n",
        ] {
            assert_eq!(Request::read(head), None, "{head:?} was taken");
        }
    }
}
