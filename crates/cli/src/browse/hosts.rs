//! Which hosts a person has opened: those that were named, one way or the other, and nothing else.

use std::net::IpAddr;

use cove_core::NetworkPolicy;
use cove_gull::named_hosts;

/// The network that these commands ask for. Hosts that are listed are the whole list; without a list, a person who types
/// `open http://localhost:3000` has named that host and that port.
pub(super) fn wished(commands: &[String], hosts: &[String], private: &[String]) -> NetworkPolicy {
    let mut policy =
        NetworkPolicy { allow_hosts: hosts.to_vec(), allow_private: private.to_vec(), ..NetworkPolicy::default() };
    if !(hosts.is_empty() && private.is_empty()) {
        return policy;
    }
    for (host, port) in commands.iter().flat_map(|cmd| named_hosts(cmd)) {
        match host.parse::<IpAddr>() {
            Ok(IpAddr::V6(address)) => policy.allow_private.push(format!("[{address}]:{port}")),
            Ok(IpAddr::V4(address)) => policy.allow_private.push(format!("{address}:{port}")),
            Err(_) if host == "localhost" || host.ends_with(".localhost") => {
                policy.allow_hosts.push(format!("{host}:{port}"));
                policy.allow_private.extend([format!("127.0.0.1:{port}"), format!("[::1]:{port}")]);
            }
            // A site sends its visitors on to other ports and to names below its own.
            Err(_) => {
                let site = host.strip_prefix("www.").unwrap_or(&host);
                policy.allow_hosts.extend([site.to_owned(), format!("*.{site}")]);
            }
        }
    }
    // An address that is not private is a host like any other.
    let literal = policy.allow_private.clone();
    policy.allow_hosts.extend(literal);
    policy.allow_hosts.sort();
    policy.allow_hosts.dedup();
    policy.allow_private.dedup();
    policy
}

/// Adds what is new; whether anything was.
pub(super) fn widen(known: &mut NetworkPolicy, wished: &NetworkPolicy) -> bool {
    let before = known.allow_hosts.len() + known.allow_private.len();
    for (known, wished) in
        [(&mut known.allow_hosts, &wished.allow_hosts), (&mut known.allow_private, &wished.allow_private)]
    {
        let new: Vec<_> = wished.iter().filter(|entry| !known.contains(entry)).cloned().collect();
        known.extend(new);
    }
    known.allow_hosts.len() + known.allow_private.len() > before
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_is_what_is_opened() {
        let open = |commands: &[&str], hosts: &[&str]| {
            let owned = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
            wished(&owned(commands), &owned(hosts), &[])
        };
        let local = open(&["open http://localhost:3000", "snapshot -i"], &[]);
        assert_eq!(local.allow_private, ["127.0.0.1:3000", "[::1]:3000"]);
        assert!(local.allow_hosts.contains(&"localhost:3000".to_owned()));
        assert_eq!(open(&["open https://www.example.com/"], &[]).allow_hosts, ["*.example.com", "example.com"]);
        // A list is the whole list.
        assert_eq!(open(&["open http://localhost:3000"], &["example.com"]).allow_hosts, ["example.com"]);
        assert_eq!(open(&["snapshot -i"], &[]), NetworkPolicy::default());
        let mut known = local.clone();
        assert!(!widen(&mut known, &local));
        assert!(widen(&mut known, &open(&["open a.org"], &[])));
    }
}
