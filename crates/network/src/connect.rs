//! From a host's name to a connection, with a look at every address on the way.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use tokio::net::{TcpStream, lookup_host};
use tokio::time::timeout;

use crate::{AddressRule, mark, reserved};

/// For a name to resolve, for one connection to be made.
pub const STEP: Duration = Duration::from_secs(10);

/// Addresses of one name that are tried; a name with more is no better reached.
const MAX_TRIES: usize = 8;

/// Why there is no way to a host. The sentences are for guests: they say nothing of where a name leads.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConnectError {
    /// The policy does not name it.
    #[error("{0}:{1} is not on the list of opened hosts")]
    NotNamed(String, u16),
    /// The policy names it, but all its addresses are private and the policy does not name those.
    #[error("{0}:{1} resolves to a private address; private addresses must be allowed explicitly")]
    Private(String, u16),
    /// Cove itself is there, whatever the policy names.
    #[error("{0}:{1} is Cove's own address, which no policy opens")]
    Reserved(String, u16),
    /// It resolves to nothing.
    #[error("{0} has no address")]
    NoAddress(String),
    /// Nobody answers there.
    #[error("{0}:{1} cannot be reached")]
    Unreachable(String, u16),
}

impl ConnectError {
    /// Whether the policy forbids it, rather than the network.
    pub(crate) fn is_refusal(&self) -> bool {
        matches!(self, Self::NotNamed(..) | Self::Private(..) | Self::Reserved(..))
    }
}

/// Connects to the first allowed address of a host. The address that is looked at is the one that is connected to.
pub async fn connect(host: &str, port: u16, rule: &AddressRule) -> Result<TcpStream, ConnectError> {
    if !rule.allows_host(host, port) {
        return Err(ConnectError::NotNamed(host.to_owned(), port));
    }
    let found: Vec<SocketAddr> = match host.parse::<IpAddr>() {
        Ok(address) => vec![SocketAddr::new(address, port)],
        Err(_) => match timeout(STEP, lookup_host((host, port))).await {
            Ok(Ok(found)) => found.collect(),
            _ => return Err(ConnectError::NoAddress(host.to_owned())),
        },
    };
    if found.is_empty() {
        return Err(ConnectError::NoAddress(host.to_owned()));
    }
    let mut allowed: Vec<SocketAddr> =
        found.into_iter().filter(|address| rule.allows_address(address.ip(), port)).collect();
    if allowed.is_empty() {
        return Err(ConnectError::Private(host.to_owned(), port));
    }
    // As it will be connected to: the kernel takes an address in several forms for the same one.
    allowed.iter_mut().for_each(|address| address.set_ip(reserved::plain(address.ip())));
    allowed.retain(|address| !reserved::is_reserved(*address));
    if allowed.is_empty() {
        return Err(ConnectError::Reserved(host.to_owned(), port));
    }
    for address in allowed.into_iter().take(MAX_TRIES) {
        if let Ok(Ok(server)) = timeout(STEP, mark::connect(address)).await {
            return Ok(server);
        }
    }
    Err(ConnectError::Unreachable(host.to_owned(), port))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cove_core::NetworkPolicy;
    use tokio::net::TcpListener;

    /// What a policy opens and closes on the way to a server of this machine's own.
    #[tokio::test]
    async fn only_what_was_looked_at_is_connected_to() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let port = address.port();
        let rule = |hosts: &[&str], private: &[&str]| {
            let all = |list: &[&str]| list.iter().map(|entry| (*entry).to_owned()).collect();
            AddressRule::new(&NetworkPolicy {
                allow_hosts: all(hosts),
                allow_private: all(private),
                ..NetworkPolicy::default()
            })
        };
        let check = async |host: &str, rule: AddressRule| connect(host, port, &rule).await.map(drop);
        let by_name = "localhost".to_owned();
        let by_address = "127.0.0.1".to_owned();

        assert_eq!(check(&by_address, rule(&["127.0.0.1"], &["127.0.0.1"])).await, Ok(()));
        assert_eq!(check(&by_name, rule(&["localhost"], &["127.0.0.1"])).await, Ok(()));
        assert_eq!(check(&by_name, rule(&["localhost"], &[])).await, Err(ConnectError::Private(by_name.clone(), port)));
        assert_eq!(check(&by_address, rule(&["127.0.0.1"], &[])).await, Err(ConnectError::Private(by_address, port)));
        assert_eq!(check(&by_name, rule(&[], &["127.0.0.1"])).await, Err(ConnectError::NotNamed(by_name, port)));
        let nowhere = "nowhere.invalid".to_owned();
        assert_eq!(check(&nowhere, rule(&["*.invalid"], &[])).await, Err(ConnectError::NoAddress(nowhere)));

        // What is reserved is closed, whatever is named and however it is written.
        let reserved = crate::Reserved::new();
        reserved.set(vec![address]);
        let every = ["127.0.0.1", "127.0.0.2", "0.0.0.0", "::1", "::", "::ffff:127.0.0.1", "localhost"];
        for host in every {
            let found = check(host, rule(&every, &every)).await;
            assert_eq!(found, Err(ConnectError::Reserved(host.to_owned(), port)), "{host}");
        }
        drop(reserved);
        assert_eq!(check("0.0.0.0", rule(&every, &every)).await, Ok(()), "it is open again");
        drop(listener);
        let closed = check("127.0.0.1", rule(&["127.0.0.1"], &["127.0.0.1"])).await.unwrap_err();
        assert_eq!((closed.to_string(), closed.is_refusal()), (format!("127.0.0.1:{port} cannot be reached"), false));
    }
}
