//! Which addresses and hosts a policy opens.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use cove_core::NetworkPolicy;

use crate::is_loopback_name;

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
    /// Whether a private address must stand among the hosts to be asked for by itself.
    only_hosts: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum HostRule {
    Exactly(String),
    Below(String),
    /// Of those that may be asked for: every one that is not private.
    Any,
}

/// Why a host cannot be opened while a sandbox runs.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotToBeOpened {
    /// It is none.
    #[error("{0:?} is no host: write `example.com`, `*.example.com` or `example.com:443`")]
    NotAHost(String),
    /// It is this machine or its neighbourhood.
    #[error("{0:?} is a private address, which nobody can ask for")]
    Private(String),
    /// The profile does not let it be asked for.
    #[error("the profile does not let {0:?} be opened")]
    NotInProfile(String),
}

impl HostRule {
    fn matches(&self, host: &str) -> bool {
        match self {
            Self::Exactly(name) => *name == host,
            Self::Below(suffix) => host.len() > suffix.len() && host.ends_with(suffix),
            Self::Any => host.parse().map_or_else(|_| !is_loopback_name(host), |address| !is_private(address)),
        }
    }

    /// Whether it can be a host: nothing that a URL or a header would read as something else.
    fn is_writable(&self) -> bool {
        let (Self::Exactly(name) | Self::Below(name)) = self else { return true };
        let is_part = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '-' | '_');
        name.len() <= 254 && (name.chars().all(is_part) || name.parse::<IpAddr>().is_ok())
    }

    /// Whether everything that another one opens is opened by this one, too.
    fn covers(&self, other: &Self) -> bool {
        match other {
            Self::Exactly(name) => self.matches(name),
            Self::Below(suffix) => match self {
                Self::Any => true,
                Self::Below(own) => suffix.ends_with(own),
                Self::Exactly(_) => false,
            },
            Self::Any => *self == Self::Any,
        }
    }
}

/// A host as it is written, and its port; `None` for what is none.
fn host_rule(entry: &str) -> Option<(HostRule, Option<u16>)> {
    let (host, port) = split_port(entry.trim());
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    match host.strip_prefix("*.") {
        Some(below) if !below.is_empty() && !below.contains('*') => Some((HostRule::Below(format!(".{below}")), port)),
        _ if host.is_empty() || host.contains('*') => None,
        _ => Some((HostRule::Exactly(host), port)),
    }
}

fn host_rules(entries: &[String]) -> impl Iterator<Item = (HostRule, Option<u16>)> + '_ {
    entries.iter().filter_map(|entry| host_rule(entry))
}

/// The same for what may be asked for, where `*` is every host.
fn wide_rules(entries: &[String]) -> impl Iterator<Item = (HostRule, Option<u16>)> + '_ {
    entries.iter().filter_map(|entry| match split_port(entry.trim()) {
        ("*", port) => Some((HostRule::Any, port)),
        _ => host_rule(entry),
    })
}

impl AddressRule {
    /// Reads a policy; entries that cannot be read open nothing.
    pub fn new(policy: &NetworkPolicy) -> Self {
        let private = policy.allow_private.iter().filter_map(|entry| {
            let (host, port) = split_port(entry.trim());
            Some((host.parse().ok()?, port))
        });
        Self { hosts: host_rules(&policy.allow_hosts).collect(), private: private.collect(), only_hosts: false }
    }

    /// These hosts in place of the policy's own. Who may open them is asked by [`may_open`](Self::may_open).
    pub fn only(policy: &NetworkPolicy, hosts: &[String]) -> Self {
        Self { hosts: host_rules(hosts).collect(), only_hosts: true, ..Self::new(policy) }
    }

    /// Everything that the policy opens or lets be opened later: for those who look at a host before somebody else decides.
    pub fn widest(policy: &NetworkPolicy) -> Self {
        let hosts = wide_rules(&policy.allow_hosts).chain(wide_rules(&policy.may_allow)).collect();
        Self { hosts, ..Self::new(policy) }
    }

    /// Whether a host may be opened while a sandbox with this policy runs.
    pub fn may_open(policy: &NetworkPolicy, entry: &str) -> Result<(), NotToBeOpened> {
        let Some((host, port)) = host_rule(entry).filter(|(host, _)| host.is_writable()) else {
            return Err(NotToBeOpened::NotAHost(entry.chars().take(80).collect()));
        };
        let named = host_rules(&policy.allow_hosts).chain(host_rules(&policy.allow_private));
        let mut bounds = named.chain(wide_rules(&policy.may_allow));
        if bounds.any(|(bound, only)| bound.covers(&host) && (only.is_none() || only == port)) {
            return Ok(());
        }
        Err(match &host {
            HostRule::Exactly(name) if is_loopback_name(name) || name.parse().is_ok_and(is_private) => {
                NotToBeOpened::Private(entry.to_owned())
            }
            _ => NotToBeOpened::NotInProfile(entry.to_owned()),
        })
    }

    /// Whether a host may be asked for by this name at all.
    pub fn allows_host(&self, host: &str, port: u16) -> bool {
        let host = host.trim_end_matches('.').to_ascii_lowercase();
        let named = self.hosts.iter().any(|(rule, only)| only.is_none_or(|only| only == port) && rule.matches(&host));
        named || (!self.only_hosts && host.parse().is_ok_and(|address| self.names_private(address, port)))
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
            ..NetworkPolicy::default()
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

    /// What an owner may open under a policy, and what only its operator can.
    #[test]
    fn an_owner_opens_what_the_profile_lets_be_opened() {
        let all = |hosts: &[&str]| hosts.iter().map(|host| (*host).to_owned()).collect::<Vec<_>>();
        let policy = NetworkPolicy {
            allow_hosts: all(&["a.org", "*.b.org", "c.org:443"]),
            allow_private: all(&["10.0.0.5:80"]),
            may_allow: all(&["d.org", "*.e.org"]),
        };
        let wide = NetworkPolicy { may_allow: all(&["*"]), ..policy.clone() };
        let (ok, private, other, none) = ("ok", "private", "profile", "host");
        for (entry, narrow, anything) in [
            ("a.org", ok, ok),
            ("A.ORG.", ok, ok),
            ("a.org:443", ok, ok),
            ("x.a.org", other, ok),
            ("b.org", other, ok),
            ("x.b.org", ok, ok),
            ("*.b.org", ok, ok),
            ("*.x.b.org", ok, ok),
            ("*.org", other, ok),
            ("*.xb.org", other, ok),
            ("c.org", other, ok),
            ("c.org:443", ok, ok),
            ("c.org:80", other, ok),
            ("d.org", ok, ok),
            ("x.e.org:8443", ok, ok),
            ("10.0.0.5:80", ok, ok),
            ("10.0.0.5", private, private),
            ("10.0.0.6:80", private, private),
            ("127.0.0.1", private, private),
            ("169.254.169.254", private, private),
            ("[::1]:80", private, private),
            ("[fd00::1]", private, private),
            ("[::ffff:10.0.0.1]", private, private),
            ("localhost", private, private),
            ("localhost:80", private, private),
            ("1.1.1.1", other, ok),
            ("*", none, none),
            ("*.*.org", none, none),
            ("", none, none),
            ("a.org/path", none, none),
            ("user@a.org", none, none),
            ("http://a.org", none, none),
            ("a b", none, none),
        ] {
            for (policy, expected) in [(&policy, narrow), (&wide, anything)] {
                let told = match AddressRule::may_open(policy, entry) {
                    Ok(()) => ok,
                    Err(NotToBeOpened::Private(_)) => private,
                    Err(NotToBeOpened::NotInProfile(_)) => other,
                    Err(NotToBeOpened::NotAHost(_)) => none,
                };
                assert_eq!(told, expected, "{entry} under {:?}", policy.may_allow);
            }
        }
        let only = AddressRule::only(&policy, &all(&["d.org"]));
        assert!(only.allows_host("d.org", 443) && !only.allows_host("a.org", 443) && !only.allows_host("10.0.0.5", 80));
        assert!(AddressRule::only(&policy, &all(&["10.0.0.5:80"])).allows_host("10.0.0.5", 80));
        let widest = AddressRule::widest(&wide);
        assert!(widest.allows_host("anything.example", 1) && !widest.allows_host("127.0.0.1", 80));
    }
}
