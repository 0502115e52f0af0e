//! Hosts that no profile may open: read into one form, so that the same host written in two ways is the same.
//!
//! An entry that could match nothing is refused: it would look like a wall and be none.

use std::net::IpAddr;

/// An entry of a list of hosts.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Host {
    /// `*`
    Any,
    /// `example.com`
    Name(String),
    /// `*.example.com`: every name below.
    Below(String),
    /// `10.0.0.5`, `10.0.0.0/8`: an address, with how many of its first bits count.
    Net(IpAddr, u8),
}

impl Host {
    fn parse(entry: &str) -> Option<Self> {
        let entry = entry.trim();
        if let Some((address, bits)) = entry.split_once('/') {
            let (address, bits) = (address.parse::<IpAddr>().ok()?, bits.parse::<u8>().ok()?);
            return (bits <= width(address)).then_some(Self::Net(address, bits));
        }
        let (host, _) = cove_network::split_port(entry);
        let host = host.trim_end_matches('.').to_ascii_lowercase();
        if let Ok(address) = host.parse::<IpAddr>() {
            let address = address.to_canonical();
            return Some(Self::Net(address, width(address)));
        }
        let plain = |name: &str| {
            let part = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
            !name.is_empty() && name.split('.').all(|label| !label.is_empty() && label.chars().all(part))
        };
        match (host.as_str(), host.strip_prefix("*.")) {
            ("*", _) => Some(Self::Any),
            (_, Some(below)) if plain(below) => Some(Self::Below(format!(".{below}"))),
            (name, None) if plain(name) => Some(Self::Name(host)),
            _ => None,
        }
    }

    /// Whether something is named by both.
    fn meets(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Any, _) | (_, Self::Any) => true,
            (Self::Name(a), Self::Name(b)) => a == b,
            (Self::Below(end), Self::Name(name)) | (Self::Name(name), Self::Below(end)) => name.ends_with(end.as_str()),
            (Self::Below(a), Self::Below(b)) => a.ends_with(b.as_str()) || b.ends_with(a.as_str()),
            (Self::Net(a, some), Self::Net(b, others)) => {
                let shift = width(*a) - (*some).min(*others);
                width(*a) == width(*b) && bits(*a).checked_shr(shift.into()) == bits(*b).checked_shr(shift.into())
            }
            (Self::Net(..), _) | (_, Self::Net(..)) => false,
        }
    }
}

fn width(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

fn bits(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => u32::from(address).into(),
        IpAddr::V6(address) => u128::from(address),
    }
}

/// Whether an entry that opens hosts and one that closes some have a host in common. An entry that opens nothing, because
/// it cannot be read, has none.
pub(crate) fn overlaps(open: &str, closed: &str) -> bool {
    matches!((Host::parse(open), Host::parse(closed)), (Some(open), Some(closed)) if open.meets(&closed))
}

/// Refuses an entry that would close nothing.
pub(crate) fn check_closed(entry: &str) -> Result<(), String> {
    match Host::parse(entry) {
        Some(_) => Ok(()),
        None => Err(format!(
            "invalid host {entry:?}: write a host (example.com), a wildcard (*.example.com), an address or a \
             network (10.0.0.0/8)"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_host_is_the_same_however_it_is_written() {
        for (open, closed) in [
            ("evil.org", "evil.org"),
            ("evil.org.", "evil.org"),
            ("evil.org", "evil.org."),
            ("EVIL.org", "evil.ORG."),
            (" evil.org ", "evil.org"),
            ("evil.org:443", "evil.org"),
            ("evil.org.:443", "evil.org."),
            ("*.evil.org", "a.evil.org"),
            ("*.evil.org.", "A.evil.org"),
            ("a.evil.org", "*.evil.org."),
            ("*.org", "*.evil.org"),
            ("*", "evil.org"),
            ("evil.org", "*"),
            ("169.254.169.254", "169.254.169.254"),
            ("169.254.169.254:80", "169.254.0.0/16"),
            ("[::ffff:169.254.169.254]:80", "169.254.169.254"),
            ("[fd00::1]:80", "fd00::1"),
            ("fd00:0::1", "fd00::/8"),
            ("10.1.2.3", "0.0.0.0/0"),
        ] {
            assert!(overlaps(open, closed), "{open} opens what {closed} closes");
        }
        for (open, closed) in [
            ("evil.org", "*.evil.org"),
            ("notevil.org", "evil.org"),
            ("sub.evil.org", "evil.org"),
            ("evil.org.example", "evil.org"),
            ("10.1.2.3", "11.0.0.0/8"),
            ("10.1.2.3", "a.b"),
            ("", "evil.org"),
            ("*evil", "evil.org"),
        ] {
            assert!(!overlaps(open, closed), "{open} opens nothing that {closed} closes");
        }
    }

    #[test]
    fn what_closes_nothing_is_refused() {
        for entry in
            ["", " ", ".", "https://evil.org", "evil.org/path", "*evil.org", "a..b", "10.0.0.0/33", "a b", "**"]
        {
            assert!(check_closed(entry).is_err(), "{entry:?}");
        }
        for entry in [
            "evil.org",
            "evil.org.",
            "*.evil.org",
            "10.0.0.0/8",
            "fd00::/8",
            "::1",
            "[::1]:80",
            "*",
            "xn--a.b",
            "münchen.de",
        ] {
            assert!(check_closed(entry).is_ok(), "{entry:?}");
        }
    }
}
