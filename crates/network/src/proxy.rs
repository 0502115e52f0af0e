//! One connection of a filtering proxy: a request is read, its host looked at, and the way to it opened or refused.
//!
//! Who listens, where, and for whom is the callers' business (a loopback port for a browser, a socket file for a cell);
//! what a request may ask for is decided here, once.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, copy_bidirectional};
use tokio::time::timeout;

use crate::{ByteStream, ConnectError, LiveNetwork, STEP, SandboxPorts, is_loopback_name, split_port};

/// A request's head; browsers send about one kilobyte.
const MAX_HEAD_BYTES: usize = 64 << 10;

/// Serves one connection to its end, or until its host is no longer open. `inside`: the sandbox that `localhost` is, unless
/// the policy names it.
pub async fn converse<S>(mut client: S, network: &LiveNetwork, inside: Option<&SandboxPorts>) -> io::Result<()>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let Ok(Ok(Some((head, rest)))) = timeout(STEP, read_head(&mut client)).await else { return Ok(()) };
    let opened = match Request::read(&head) {
        None => Err(refusal("400 Bad Request", "this is a proxy: CONNECT host:port, or GET http://host/path")),
        Some(request) => match way_to(&request, network, inside).await {
            Ok(server) => Ok((request, server)),
            Err(no_way) if no_way.is_refusal() => Err(refusal("403 Forbidden", &no_way.to_string())),
            Err(no_way) => Err(refusal("502 Bad Gateway", &no_way.to_string())),
        },
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

/// A connection to whatever a request names.
async fn way_to(
    request: &Request,
    network: &LiveNetwork,
    inside: Option<&SandboxPorts>,
) -> Result<Box<dyn ByteStream>, ConnectError> {
    let (host, port) = (request.host.as_str(), request.port);
    if let Some(inside) = inside.filter(|_| is_loopback_name(host) && !network.allows_host(host, port)) {
        let opened = timeout(STEP, inside.connect(port)).await;
        return opened.ok().and_then(Result::ok).ok_or_else(|| ConnectError::Unreachable(host.to_owned(), port));
    }
    network.connect(host, port).await.map(|server| Box::new(server) as Box<dyn ByteStream>)
}

/// A refusal with a sentence: guests read it.
fn refusal(status: &str, text: &str) -> String {
    format!("HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{text}\n", text.len() + 1)
}

/// The head of a request and what came after it; `None` when none came or it was too long.
async fn read_head(client: &mut (impl AsyncRead + Unpin)) -> io::Result<Option<(String, Vec<u8>)>> {
    let mut bytes = Vec::new();
    loop {
        let before = bytes.len();
        if client.read_buf(&mut bytes).await? == 0 || before > MAX_HEAD_BYTES {
            return Ok(None);
        }
        let fresh = before.saturating_sub(3);
        let end = bytes.get(fresh..).and_then(|fresh| fresh.windows(4).position(|window| window == b"\r\n\r\n"));
        if let Some(at) = end {
            let rest = bytes.split_off(fresh + at + 4);
            return Ok(String::from_utf8(bytes).ok().map(|head| (head, rest)));
        }
    }
}

/// What a client asks its proxy for.
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
        // One request per connection: the next one may be for another host, and must be looked at. The host that is
        // named to the server is the one that was looked at.
        let kept = headers.split("\r\n").filter(|line| {
            let name = line.split(':').next().unwrap_or_default().to_ascii_lowercase();
            !line.is_empty() && !name.starts_with("proxy-") && name != "connection" && name != "host"
        });
        let path = if path.is_empty() { "/" } else { path };
        let mut forward = format!("{method} {path} {version}\r\nHost: {place}\r\n");
        kept.for_each(|line| forward.extend([line, "\r\n"]));
        // A proxy says that it is one: whoever is asked must not take the guest for somebody on this machine.
        forward.push_str("Via: 1.1 cove\r\nConnection: close\r\n\r\n");
        Some(Self { host, port: port.unwrap_or(80), forward: Some(forward) })
    }
}

/// `host`, `host:port` or `[address]:port`.
fn authority(text: &str) -> Option<(String, Option<u16>)> {
    let (host, port) = split_port(text);
    // What is left of a port that is none belongs to no host.
    let is_host =
        !host.is_empty() && !host.contains(['@', '/', '\\']) && (!host.contains(':') || text.starts_with('['));
    is_host.then(|| (host.to_owned(), port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_proxy_requests_are_read() {
        let tunnel = Request::read("CONNECT example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
        assert_eq!((tunnel.host.as_str(), tunnel.port, tunnel.forward), ("example.com", 443, None));
        let v6 = Request::read("CONNECT [::1]:80 HTTP/1.1\r\n\r\n").unwrap();
        assert_eq!((v6.host.as_str(), v6.port), ("::1", 80));
        let plain = "GET http://a.org:81/x?y HTTP/1.1\r\nHost: other\r\nProxy-Connection: keep-alive\r\nA: b\r\n\r\n";
        assert_eq!(
            Request::read(plain).unwrap().forward.unwrap(),
            "GET /x?y HTTP/1.1\r\nHost: a.org:81\r\nA: b\r\nVia: 1.1 cove\r\nConnection: close\r\n\r\n"
        );
        for head in [
            "GET / HTTP/1.1\r\nHost: door0\r\n\r\n",
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

    /// A head that comes in pieces, with the border in the middle of a piece.
    #[tokio::test]
    async fn a_head_may_come_in_pieces() {
        for cut in 1..20 {
            let (mut near, mut far) = tokio::io::duplex(64);
            let whole = b"GET / HTTP/1.1\r\n\r\nbody";
            let (first, second) = whole.split_at(cut);
            let (head, ()) = tokio::join!(
                async {
                    let read = read_head(&mut far).await.unwrap();
                    let (head, mut rest) = read.unwrap();
                    far.read_to_end(&mut rest).await.unwrap();
                    (head, rest)
                },
                async {
                    near.write_all(first).await.unwrap();
                    tokio::task::yield_now().await;
                    near.write_all(second).await.unwrap();
                    near.shutdown().await.unwrap();
                }
            );
            assert_eq!(head, ("GET / HTTP/1.1\r\n\r\n".to_owned(), b"body".to_vec()));
        }
    }
}
