//! Other Bays on the same records: the secret that they share, and their addresses, which no guest may reach.

use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use cove_api::Moment;
use cove_network::{Reserved, split_port};

use crate::{Bay, StartError};
use cove_config::Secret;
use cove_store::{Store, StoreResult};

/// The secret's name among the records.
const SECRET: &str = "peers";

/// A Bay's name is resolved within this time, or tried again with the next heartbeat.
const RESOLVE: Duration = Duration::from_secs(2);

/// The Bay that has a sandbox's session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionHome {
    /// Its name among the others.
    pub instance_id: String,
    /// Where it is.
    pub url: String,
}

/// What this Bay knows of the others.
#[derive(Debug)]
pub(crate) struct Peers {
    secret: Secret,
    /// Where Bays are: no guest of this process reaches them.
    reserved: Reserved,
    places: Mutex<PeerAddresses>,
}

#[derive(Debug, Default)]
struct PeerAddresses {
    own: Vec<SocketAddr>,
    others: Vec<SocketAddr>,
}

impl Peers {
    /// Takes the secret from the records, or makes it.
    pub(crate) async fn join(store: &Store) -> Result<Self, StartError> {
        let failed = |error: &dyn std::fmt::Display| StartError(error.to_string());
        let mut chance = [0; 32];
        getrandom::fill(&mut chance).map_err(|error| failed(&error))?;
        let proposed: String = chance.iter().map(|byte| format!("{byte:02x}")).collect();
        let secret = store.shared_secret(SECRET, &proposed, Moment::now()).await.map_err(|error| failed(&error))?;
        Ok(Self { secret: Secret::new(secret), reserved: Reserved::new(), places: Mutex::default() })
    }

    /// What only Bays of these records know.
    pub(crate) fn secret(&self) -> &Secret {
        &self.secret
    }
}

impl Bay {
    /// By what the Bays of these records know one another. Never printed.
    pub fn peer_secret(&self) -> &[u8] {
        self.inner.peers.secret().reveal().as_bytes()
    }

    /// Says where this Bay is served: whatever a profile opens, none of its guests gets there through its own network.
    pub fn listens_on(&self, address: SocketAddr) {
        self.reserve(|places| places.own.push(address));
    }

    /// Looks where the other Bays are: there, too, no guest gets.
    pub(crate) async fn look_at_peers(&self) -> StoreResult<()> {
        let mut others = Vec::new();
        for url in self.inner.store.live_addresses(self.alive_since()).await? {
            let Some((host, port)) = place(&url) else { continue };
            match tokio::time::timeout(RESOLVE, tokio::net::lookup_host((host, port))).await {
                Ok(Ok(found)) => others.extend(found),
                _ => tracing::debug!(%url, "the address of another Bay could not be resolved"),
            }
        }
        others.sort_unstable();
        others.dedup();
        self.reserve(|places| places.others = others);
        Ok(())
    }

    /// Where this Bay is served, once it is.
    pub(crate) fn own_address(&self) -> Option<SocketAddr> {
        self.inner.peers.places.lock().unwrap_or_else(PoisonError::into_inner).own.first().copied()
    }

    fn reserve(&self, change: impl FnOnce(&mut PeerAddresses)) {
        let mut places = self.inner.peers.places.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut places);
        let all = [places.own.as_slice(), &places.others].concat();
        self.inner.driver.reserve(&all);
        self.inner.peers.reserved.set(all);
    }
}

/// Host and port of a Bay's address.
fn place(url: &str) -> Option<(&str, u16)> {
    let (scheme, rest) = url.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let (host, port) = split_port(authority.rsplit_once('@').map_or(authority, |(_, host)| host));
    let usual = if scheme.eq_ignore_ascii_case("https") { 443 } else { 80 };
    (!host.is_empty()).then(|| (host, port.unwrap_or(usual)))
}

#[cfg(test)]
mod tests {
    use super::place;

    #[test]
    fn an_address_has_a_host_and_a_port() {
        assert_eq!(place("http://10.0.0.5:8114"), Some(("10.0.0.5", 8114)));
        assert_eq!(place("https://bay.example/base?x"), Some(("bay.example", 443)));
        assert_eq!(place("http://u:p@[::1]:9/"), Some(("::1", 9)));
        assert_eq!(place("http://bay"), Some(("bay", 80)));
        for wrong in ["", "bay:8114", "http://", "http:///x"] {
            assert_eq!(place(wrong), None, "{wrong}");
        }
    }
}
