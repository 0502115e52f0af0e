//! How a guest's connection to this machine's loopback can be told from all others.
//!
//! A process of Cove makes the connection for the guest, so to the server it comes from this machine. It is marked by
//! its source: over IPv4 one address of 127.0.0.0/8 that nothing else has a reason to use; over IPv6, which has only
//! one loopback address, a port that the kernel does not assign by itself. Bay, and every proxy of Cove, treats a
//! marked connection as a guest's.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicU16, Ordering};

use tokio::net::{TcpSocket, TcpStream};

/// Where guests' connections to 127.0.0.0/8 come from: 127 and "cov".
const GUEST: Ipv4Addr = Ipv4Addr::new(127, 99, 111, 118);

/// Ports that ordinary users may have.
const FIRST_PORT: u16 = 1024;

/// Ports that are tried for one connection; those that are taken are few.
const TRIES: usize = 32;

/// Whether the other end of a connection is a guest's.
pub fn is_guest(peer: SocketAddr) -> bool {
    match peer.ip().to_canonical() {
        IpAddr::V4(address) => address == GUEST,
        IpAddr::V6(address) => address.is_loopback() && !usual_ports().contains(&peer.port()),
    }
}

/// Connects for a guest.
pub(crate) async fn connect(to: SocketAddr) -> io::Result<TcpStream> {
    match to.ip() {
        IpAddr::V4(address) if address.is_loopback() => {
            let socket = TcpSocket::new_v4()?;
            socket.bind((GUEST, 0).into())?;
            socket.connect(to).await
        }
        IpAddr::V6(address) if address.is_loopback() => from_an_unusual_port(to).await,
        _ => TcpStream::connect(to).await,
    }
}

async fn from_an_unusual_port(to: SocketAddr) -> io::Result<TcpStream> {
    let mut last = io::Error::from(io::ErrorKind::AddrNotAvailable);
    for _ in 0..TRIES {
        let Some(port) = unusual_port() else { break };
        let socket = TcpSocket::new_v6()?;
        socket.set_reuseaddr(true)?;
        let bound = socket.bind((Ipv6Addr::LOCALHOST, port).into());
        match async { bound.map(|()| socket.connect(to))?.await }.await {
            Err(error) if matches!(error.kind(), io::ErrorKind::AddrInUse | io::ErrorKind::AddrNotAvailable) => {
                last = error;
            }
            done => return done,
        }
    }
    Err(last)
}

/// The next port that no program gets unless it asks for it; none on a machine that gives away all of them.
fn unusual_port() -> Option<u16> {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let usual = usual_ports();
    let above = usual.end().checked_add(1).map(|first| first..=u16::MAX);
    let below = (*usual.start() > FIRST_PORT).then(|| FIRST_PORT..=*usual.start() - 1);
    let ports = above.or(below)?;
    let count = ports.end() - ports.start() + 1;
    Some(ports.start() + NEXT.fetch_add(1, Ordering::Relaxed) % count)
}

/// The ports that the kernel chooses from where a program names none; Linux's own default where it does not say.
fn usual_ports() -> RangeInclusive<u16> {
    let text = std::fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").unwrap_or_default();
    let mut ends = text.split_whitespace().map_while(|end| end.parse().ok());
    match (ends.next(), ends.next()) {
        (Some(first), Some(last)) => first..=last,
        _ => 32_768..=60_999,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::net::TcpListener;

    /// Whoever listens can tell a guest's connection from anybody's, and so over both families.
    #[tokio::test]
    async fn a_guests_connection_is_known_by_where_it_comes_from() {
        for host in ["127.0.0.1:0", "[::1]:0"] {
            let listener = TcpListener::bind(host).await.unwrap();
            let address = listener.local_addr().unwrap();
            for _ in 0..40 {
                let (guest, taken) = tokio::join!(connect(address), listener.accept());
                let (_guest, (_, peer)) = (guest.unwrap(), taken.unwrap());
                assert!(is_guest(peer), "{peer}");
                let (other, taken) = tokio::join!(TcpStream::connect(address), listener.accept());
                let (_other, (_, peer)) = (other.unwrap(), taken.unwrap());
                assert!(!is_guest(peer), "{peer}");
            }
        }
        assert!(is_guest("[::ffff:127.99.111.118]:40000".parse().unwrap()));
        assert!(!is_guest("192.0.2.1:80".parse().unwrap()));
    }
}
