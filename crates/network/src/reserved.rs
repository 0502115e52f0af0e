//! Addresses that no policy opens: those where Bay itself listens, and those of other Bays.
//!
//! Bay may trust callers from this machine, so a guest must not reach it through its own network, whatever its profile
//! opens. The process that serves registers its addresses here, and every connection is checked against them. A port is
//! closed on the whole machine, because a machine has many addresses: all of 127.0.0.0/8, `::1`, `0.0.0.0`, each
//! interface's address, and IPv4 written as IPv6.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::path::PathBuf;
use std::sync::{OnceLock, PoisonError, RwLock};

/// What is reserved in this process, by whoever reserved it.
static RESERVED: RwLock<Option<HashMap<u64, Vec<SocketAddr>>>> = RwLock::new(None);

/// The list of another process, for one that Bay has started.
static LIST: OnceLock<PathBuf> = OnceLock::new();

/// Some addresses that no guest reaches through this process, until it is dropped.
#[derive(Debug)]
pub struct Reserved {
    number: u64,
}

impl Reserved {
    /// None yet.
    pub fn new() -> Self {
        static NEXT: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
        Self { number: NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed) }
    }

    /// These, and no longer those from before.
    pub fn set(&self, addresses: Vec<SocketAddr>) {
        let mut all = RESERVED.write().unwrap_or_else(PoisonError::into_inner);
        all.get_or_insert_default().insert(self.number, addresses);
    }
}

impl Default for Reserved {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        if let Some(all) = &mut *RESERVED.write().unwrap_or_else(PoisonError::into_inner) {
            all.remove(&self.number);
        }
    }
}

/// Reserves what a file lists, one address a line, as it is when somebody asks: the file is Bay's, and changes as Bays
/// come and go. While it cannot be read nothing is reached at all.
pub fn reserve_listed(file: PathBuf) {
    // A second one would only ever be the same: a process has one Bay.
    let _ = LIST.set(file);
}

/// Whether no policy opens this address.
pub(crate) fn is_reserved(asked: SocketAddr) -> bool {
    let listed = match LIST.get().map(std::fs::read_to_string) {
        None => Vec::new(),
        Some(Ok(text)) => text.lines().filter_map(|line| line.trim().parse().ok()).collect(),
        Some(Err(_)) => return true,
    };
    let all = RESERVED.read().unwrap_or_else(PoisonError::into_inner);
    let mut own = all.iter().flat_map(HashMap::values).flatten();
    own.any(|reserved| covers(*reserved, asked)) || listed.into_iter().any(|reserved| covers(reserved, asked))
}

/// The same address, or the same port of one machine that both are names of: this one.
fn covers(reserved: SocketAddr, asked: SocketAddr) -> bool {
    let (own, other) = (reserved.ip().to_canonical(), asked.ip().to_canonical());
    reserved.port() == asked.port() && (own == other || (is_this_machine(own) && is_this_machine(other)))
}

/// Whether an address leads to this very machine. The kernel is asked: it lets a socket have no other address.
fn is_this_machine(address: IpAddr) -> bool {
    address.is_loopback() || address.is_unspecified() || UdpSocket::bind((address, 0)).is_ok()
}

/// The address that a connection really goes to: IPv4 in IPv6's clothes is IPv4, and "no address" is loopback.
pub(crate) fn plain(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) if address.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(address) if address.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every name of this machine leads to a reserved port, and no other port or machine is concerned.
    #[test]
    fn a_reserved_port_is_closed_under_every_name_of_the_machine() {
        let all = ["127.0.0.1", "127.0.0.2", "127.255.255.254", "0.0.0.0", "::1", "::", "::ffff:127.0.0.1"];
        let is = |address: &str, port| is_reserved(SocketAddr::new(address.parse().unwrap(), port));
        for listens in ["127.0.0.1:41", "0.0.0.0:41", "[::]:41", "[::1]:41", "[::ffff:127.0.0.1]:41"] {
            let reserved = Reserved::new();
            assert!(!is("127.0.0.1", 41), "nothing is reserved yet");
            reserved.set(vec![listens.parse().unwrap()]);
            for address in all {
                assert!(is(address, 41), "{listens} is reached as {address}");
                assert!(!is(address, 42), "{listens} closes another port of {address}");
            }
            assert!(!is("192.0.2.1", 41), "{listens} closes another machine");
        }
        // Another machine's Bay: exactly its address.
        let reserved = Reserved::new();
        reserved.set(vec!["192.0.2.1:41".parse().unwrap()]);
        assert!(is("192.0.2.1", 41) && is("::ffff:192.0.2.1", 41));
        assert!(!is("192.0.2.2", 41) && !is("127.0.0.1", 41));
    }

    /// An address that an interface of this machine has, found as anybody finds it: by asking how one would go out.
    #[test]
    fn the_addresses_of_interfaces_are_this_machine() {
        assert!(is_this_machine("127.3.2.1".parse().unwrap()));
        assert!(!is_this_machine("192.0.2.1".parse().unwrap()));
        let out = UdpSocket::bind("0.0.0.0:0").unwrap();
        // A machine without any other interface has no such address, and then there is nothing to look at.
        if out.connect("192.0.2.1:9").is_ok() {
            let own = out.local_addr().unwrap().ip();
            assert!(is_this_machine(own), "{own}");
        }
    }
}
