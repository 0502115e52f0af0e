//! The open connections: how many there may be, and which are closed when there are too many.
//!
//! A connection takes a slot and a descriptor even if it sends nothing. When no slot is left, connections are closed whose
//! client does not read its response, then those that have been idle longest, so that a thousand silent connections keep
//! nobody out. A connection whose request is being answered, and whose client reads the response, is never closed for
//! another. One address has a share of the slots. A connection counts until its socket is gone.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::phase::Phase;
use crate::{limits, metrics};

/// When no slot is left, one of so many connections is closed.
const CLOSED_PART: usize = 64;

/// How soon the next look follows while a new connection waits for a slot: no event says that a response is no longer
/// being read.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// How many looks a new connection gets whose address has used up its share.
const LOOKS: usize = 10;

/// All connections.
#[derive(Debug)]
pub(crate) struct Connections {
    most: usize,
    /// The most of one address. None: all of them for this machine's own addresses, half of them for others.
    of_address: Option<usize>,
    open: Mutex<OpenConnections>,
    closed: Notify,
}

#[derive(Debug, Default)]
struct OpenConnections {
    next: u64,
    by_number: HashMap<u64, OpenConnection>,
    by_address: HashMap<IpAddr, usize>,
}

#[derive(Debug)]
struct OpenConnection {
    address: IpAddr,
    phase: Phase,
    close: CancellationToken,
}

/// The slot of one connection, until it is dropped.
#[derive(Debug)]
pub(crate) struct ConnectionSlot {
    connections: Arc<Connections>,
    number: u64,
    pub(crate) phase: Phase,
    /// Cancelled when the connection is to be closed because others need its slot.
    pub(crate) close: CancellationToken,
}

/// Why there is no slot for a new connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Full {
    /// All slots are taken. Some connections are being closed, or all of them are being answered.
    All,
    /// The address has used up its share, and one of its connections is being closed.
    Closing,
    /// The address has used up its share, and none of its connections can be closed.
    Address,
}

/// How many connections there may be: at most half of the descriptors that Bay does not need itself. The other half is
/// for the work that the connections ask for.
pub(crate) fn limit_by_descriptors(most: usize) -> usize {
    let descriptors = limits::descriptors().saturating_sub(limits::OWN_DESCRIPTORS);
    most.min(descriptors / 2).max(1)
}

impl Connections {
    /// With so many slots.
    pub(crate) fn new(most: usize, of_address: Option<usize>) -> Arc<Self> {
        Arc::new(Self { most, of_address, open: Mutex::default(), closed: Notify::new() })
    }

    /// A slot for a new connection; none if its address has used up its share. Waits until connections that are being
    /// closed are gone.
    pub(crate) async fn enter(self: &Arc<Self>, address: IpAddr) -> Option<ConnectionSlot> {
        let mut looks = 0;
        loop {
            let closed = self.closed.notified();
            match self.try_enter(address) {
                Ok(slot) => return Some(slot),
                Err(Full::Address) => return None,
                // Every further connection waits behind this one.
                Err(Full::Closing) if looks >= LOOKS => return None,
                Err(Full::Closing | Full::All) => {
                    let _ = tokio::time::timeout(LOOK_AGAIN, closed).await;
                    looks += 1;
                }
            }
        }
    }

    /// Closes a few: their descriptors are needed elsewhere.
    pub(crate) fn close_some_idle(&self) {
        self.open().close_some(self.some(), None);
    }

    fn some(&self) -> usize {
        (self.most / CLOSED_PART).max(1)
    }

    fn share(&self, address: IpAddr) -> usize {
        let usual = if address.is_loopback() { self.most } else { (self.most / 2).max(1) };
        self.of_address.unwrap_or(usual).min(self.most)
    }

    fn try_enter(self: &Arc<Self>, address: IpAddr) -> Result<ConnectionSlot, Full> {
        let address = network(address);
        let mut open = self.open();
        let of_address = open.by_address.get(&address).copied().unwrap_or_default();
        if open.by_number.len() >= self.most {
            // Several at once: going through all connections for each new one is work that strangers could cause.
            open.close_some(self.some(), None);
            return Err(Full::All);
        }
        if of_address >= self.share(address) {
            let closing = open.close_some(1, Some(address));
            return Err(if closing { Full::Closing } else { Full::Address });
        }
        let (phase, close) = (Phase::new(), CancellationToken::new());
        let number = open.next;
        open.next += 1;
        open.by_number.insert(number, OpenConnection { address, phase: phase.clone(), close: close.clone() });
        open.by_address.insert(address, of_address + 1);
        metrics::connections(open.by_number.len());
        Ok(ConnectionSlot { connections: Arc::clone(self), number, phase, close })
    }

    fn open(&self) -> MutexGuard<'_, OpenConnections> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OpenConnections {
    /// Closes some, of one address or of all: first those whose client does not read its response, then those that are
    /// idle, the longest first in both. Says whether any is being closed. Each keeps its slot until it is gone.
    fn close_some(&mut self, some: usize, address: Option<IpAddr>) -> bool {
        let theirs = self.by_number.values().filter(|one| address.is_none_or(|address| one.address == address));
        // One that was to be closed just when its next request came is answered first: it is not being closed.
        let ready = theirs.filter_map(|one| Some((rank(&one.phase)?, one)));
        let (closing, mut order): (Vec<_>, Vec<_>) = ready.partition(|(_, one)| one.close.is_cancelled());
        let some = some.saturating_sub(closing.len());
        if order.len() > some && some > 0 {
            order.select_nth_unstable_by_key(some, |(rank, _)| *rank);
        }
        order.truncate(some);
        order.iter().for_each(|(_, one)| one.close.cancel());
        !order.is_empty() || !closing.is_empty()
    }
}

/// Which connection is closed before which: the lowest first.
fn rank(phase: &Phase) -> Option<(bool, u64)> {
    let stuck = phase.stuck_for().filter(|stuck| *stuck >= limits::TAKES_NOTHING);
    match stuck {
        Some(stuck) => Some((false, u64::MAX - u64::try_from(stuck.as_millis()).unwrap_or(u64::MAX))),
        None => phase.resting_since().map(|since| (true, since)),
    }
}

/// What counts as one address: a single one of IPv4, a whole network of IPv6, where a client has as many as it likes.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) if !address.is_loopback() => {
            IpAddr::from((address.to_bits() & !u128::from(u64::MAX)).to_be_bytes())
        }
        other => other,
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        let mut open = self.connections.open();
        if let Some(one) = open.by_number.remove(&self.number) {
            let left = open.by_address.get(&one.address).copied().unwrap_or_default().saturating_sub(1);
            if left == 0 {
                open.by_address.remove(&one.address);
            } else {
                open.by_address.insert(one.address, left);
            }
        }
        metrics::connections(open.by_number.len());
        drop(open);
        self.connections.closed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

    #[tokio::test]
    async fn the_longest_idle_is_closed_and_counts_until_it_is_gone() {
        let connections = Connections::new(2, None);
        let (first, second) = (connections.enter(HERE).await.unwrap(), connections.enter(HERE).await.unwrap());
        first.phase.busy();
        assert_eq!(connections.try_enter(HERE).unwrap_err(), Full::All);
        assert!(!first.close.is_cancelled() && second.close.is_cancelled());
        assert_eq!(connections.try_enter(HERE).unwrap_err(), Full::All, "it is not gone yet");
        drop(second);
        let third = connections.enter(HERE).await.unwrap();
        third.phase.busy();
        assert_eq!(connections.try_enter(HERE).unwrap_err(), Full::All, "all are being answered");
        assert!(!first.close.is_cancelled() && !third.close.is_cancelled());
        let waiting = tokio::spawn({
            let connections = Arc::clone(&connections);
            async move { connections.enter(HERE).await }
        });
        drop(first);
        assert!(waiting.await.unwrap().is_some() && !third.close.is_cancelled());
    }

    #[tokio::test]
    async fn an_address_has_its_share_and_closes_only_its_own() {
        let connections = Connections::new(4, Some(2));
        let (there, elsewhere): (IpAddr, IpAddr) = ("2001:db8::1".parse().unwrap(), "2001:db8::2:1".parse().unwrap());
        let (own, first) = (connections.enter(HERE).await.unwrap(), connections.enter(there).await.unwrap());
        let second = connections.enter(elsewhere).await.unwrap();
        assert_eq!(connections.try_enter(there).unwrap_err(), Full::Closing);
        assert!(first.close.is_cancelled() && !second.close.is_cancelled() && !own.close.is_cancelled());
        drop(first);
        let third = connections.enter(there).await.unwrap();
        third.phase.busy();
        second.phase.busy();
        assert!(connections.enter(elsewhere).await.is_none(), "of one network, and all at work");
        // To be closed, and at work again: it is not waited for, and another idle one is closed.
        drop(third);
        let fourth = connections.enter(there).await.unwrap();
        assert_eq!(connections.try_enter(there).unwrap_err(), Full::Closing);
        fourth.phase.busy();
        assert!(fourth.close.is_cancelled() && connections.enter(there).await.is_none());
        assert!(connections.enter(HERE).await.is_some());
    }

    #[test]
    fn by_default_a_foreign_address_has_half_and_this_machine_all() {
        let connections = Connections::new(10, None);
        assert_eq!((connections.share(HERE), connections.share("10.0.0.1".parse().unwrap())), (10, 5));
        assert_eq!(network("::ffff:10.0.0.1".parse().unwrap()), "10.0.0.1".parse::<IpAddr>().unwrap());
        assert_eq!(network("::1".parse().unwrap()), "::1".parse::<IpAddr>().unwrap());
    }
}
