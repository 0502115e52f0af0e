//! Who connects: the browser's own user, or another user of this machine.
//!
//! A proxy on the loopback is open to every process of the machine. A password would have to be typed by the browser for
//! every kind of request; the kernel knows the user of a connection anyway.

use std::fs;
use std::net::SocketAddr;

/// The user who holds the other end of a loopback connection, from the kernel's own table.
pub(super) fn user_of(peer: SocketAddr, own: SocketAddr) -> Option<u32> {
    find(&fs::read_to_string("/proc/net/tcp").ok()?, peer, own)
}

fn find(table: &str, peer: SocketAddr, own: SocketAddr) -> Option<u32> {
    let (peer, own) = (written(peer)?, written(own)?);
    table.lines().skip(1).find_map(|line| {
        let mut fields = line.split_ascii_whitespace().skip(1);
        let here = fields.next()? == peer && fields.next()? == own;
        here.then(|| fields.nth(4)?.parse().ok()).flatten()
    })
}

/// An address as the table has it: hexadecimal, the bytes of IPv4 in the machine's own order.
fn written(address: SocketAddr) -> Option<String> {
    let SocketAddr::V4(address) = address else { return None };
    Some(format!("{:08X}:{:04X}", u32::from_ne_bytes(address.ip().octets()), address.port()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn a_connection_has_its_user() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (server, peer) = listener.accept().unwrap();
        assert_eq!(peer, client.local_addr().unwrap());
        assert_eq!(user_of(peer, server.local_addr().unwrap()), Some(rustix::process::geteuid().as_raw()));
        assert_eq!(user_of("127.0.0.1:1".parse().unwrap(), server.local_addr().unwrap()), None);
    }
}
