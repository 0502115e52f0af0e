//! Which addresses and hosts a policy opens.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use cove_core::NetworkPolicy;

/// Whether an address belongs to this machine, its neighbourhood or nobody: closed unless a policy names it.
pub fn is_private(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_private_v4(address),
        IpAddr::V6(address) => is_private_v6(address),
    }
}

fn is_private_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    address.is_loopback()
        || address.is_private()
        || address.is_link_local()
        || address.is_unspecified()
        || address.is_broadcast()
        || address.is_multicast()
        || address.is_documentation()
        || a == 0
        || a >= 240
        || (a == 100 && (64..128).contains(&b))
        || (a == 192 && b == 0 && c == 0)
        || (a == 198 && (b == 18 || b == 19))
}

fn is_private_v6(address: Ipv6Addr) -> bool {
    let segments = address.segments();
    let [first, second, ..] = segments;
    // Forms that carry an IPv4 address: what counts is where that one leads.
    let carried = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        is_private_v4(Ipv4Addr::new(a, b, c, d))
    };
    if let Some(mapped) = address.to_ipv4_mapped() {
        return is_private_v4(mapped);
    }
    match segments {
        [0, 0, 0, 0, 0, 0, ..] => true,
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => carried(high, low),
        [0x2002, high, low, ..] => carried(high, low),
        _ => {
            address.is_multicast()
                || (first & 0xfe00) == 0xfc00
                || (first & 0xffc0) == 0xfe80
                || (first & 0xffc0) == 0xfec0
                || (first == 0x2001 && second < 0x0200)
                || (first == 0x2001 && second == 0xdb8)
                || first == 0x64
                || first == 0x100
        }
    }
}

/// A policy, read once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddressRule {
    hosts: Vec<(HostRule, Option<u16>)>,
    private: Vec<(IpAddr, Option<u16>)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum HostRule {
    Exactly(String),
    Below(String),
}

impl AddressRule {
    /// Reads a policy; entries that cannot be read open nothing.
    pub fn new(policy: &NetworkPolicy) -> Self {
        let hosts = policy.allow_hosts.iter().filter_map(|entry| {
            let (host, port) = split_port(entry.trim());
            let host = host.trim_end_matches('.').to_ascii_lowercase();
            match host.strip_prefix("*.") {
                Some(below) if !below.is_empty() => Some((HostRule::Below(format!(".{below}")), port)),
                _ if host.is_empty() || host.contains('*') => None,
                _ => Some((HostRule::Exactly(host), port)),
            }
        });
        let private = policy.allow_private.iter().filter_map(|entry| {
            let (host, port) = split_port(entry.trim());
            Some((host.parse().ok()?, port))
        });
        Self { hosts: hosts.collect(), private: private.collect() }
    }

    /// Whether a host may be asked for by this name at all.
    pub fn allows_host(&self, host: &str, port: u16) -> bool {
        let host = host.trim_end_matches('.').to_ascii_lowercase();
        let named = self.hosts.iter().any(|(rule, only)| {
            only.is_none_or(|only| only == port)
                && match rule {
                    HostRule::Exactly(name) => *name == host,
                    HostRule::Below(suffix) => host.len() > suffix.len() && host.ends_with(suffix),
                }
        });
        named || host.parse().is_ok_and(|address| self.names_private(address, port))
    }

    /// Whether a connection to this very address may be made.
    pub(crate) fn allows_address(&self, address: IpAddr, port: u16) -> bool {
        !is_private(address) || self.names_private(address, port)
    }

    fn names_private(&self, address: IpAddr, port: u16) -> bool {
        self.private.iter().any(|(named, only)| *named == address && only.is_none_or(|only| only == port))
    }
}

/// `host`, `host:port`, `[address]:port` or a bare IPv6 address.
pub fn split_port(entry: &str) -> (&str, Option<u16>) {
    if let Some((address, rest)) = entry.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        return (address, rest.strip_prefix(':').and_then(|port| port.parse().ok()));
    }
    match entry.rsplit_once(':') {
        Some((host, port)) if !host.contains(':') && port.parse::<u16>().is_ok() => (host, port.parse().ok()),
        _ => (entry, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machines_own_neighbourhood_is_closed() {
        for address in [
            "127.0.0.1",
            "127.9.9.9",
            "0.0.0.0",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "198.18.0.1",
            "224.0.0.1",
            "255.255.255.255",
            "240.0.0.1",
            "192.0.0.8",
            "::1",
            "::",
            "fe80::1",
            "fc00::1",
            "fd12::1",
            "ff02::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "64:ff9b::7f00:1",
            "2002:7f00:1::",
            "2001::1",
            "2001:db8::1",
            "::127.0.0.1",
        ] {
            assert!(is_private(address.parse().unwrap()), "{address} is open");
        }
        for address in
            ["1.1.1.1", "93.184.216.34", "100.128.0.1", "2606:4700::1111", "64:ff9b::101:101", "2002:101:101::"]
        {
            assert!(!is_private(address.parse().unwrap()), "{address} is closed");
        }
    }

    #[test]
    fn hosts_are_open_by_name_and_port() {
        let rule = AddressRule::new(&NetworkPolicy {
            allow_hosts: ["Example.com", "*.wild.org", "one.net:8443", "*", ""].map(str::to_owned).to_vec(),
            allow_private: ["127.0.0.1:8080", "10.0.0.7", "[::1]:9"].map(str::to_owned).to_vec(),
        });
        for (host, port) in [
            ("example.com", 443),
            ("EXAMPLE.com.", 1),
            ("a.wild.org", 80),
            ("a.b.wild.org", 80),
            ("one.net", 8443),
            ("127.0.0.1", 8080),
            ("10.0.0.7", 5),
            ("::1", 9),
        ] {
            assert!(rule.allows_host(host, port), "{host}:{port} is closed");
        }
        for (host, port) in [
            ("sub.example.com", 443),
            ("wild.org", 80),
            ("notwild.org", 80),
            ("one.net", 443),
            ("127.0.0.1", 80),
            ("anything", 1),
            ("", 1),
            ("::1", 8),
        ] {
            assert!(!rule.allows_host(host, port), "{host}:{port} is open");
        }
        assert!(rule.allows_address("127.0.0.1".parse().unwrap(), 8080));
        assert!(!rule.allows_address("127.0.0.1".parse().unwrap(), 8081));
        assert!(!rule.allows_address("127.0.0.2".parse().unwrap(), 8080));
        assert!(rule.allows_address("1.1.1.1".parse().unwrap(), 8081));
    }
}
