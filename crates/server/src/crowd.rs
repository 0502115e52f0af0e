//! Who is connected, and who gives way when the house is full.
//!
//! A connection costs a place and a descriptor whether it says something or not. When there is no place left, those give
//! way to the one that comes who do not take their answer, then those on which nothing has gone on for longest: so a
//! thousand silent connections keep nobody out. One whose request is being answered, and who takes the answer, never
//! gives way. One address has a share of the places. A connection counts until its socket is gone.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::phase::Phase;
use crate::{figures, limits};

/// The part of all places that is cleared when none is left: one of so many.
const AT_ONCE: usize = 64;

/// How soon somebody who waits for a place looks again: nobody tells that an answer is not being taken any more.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// How often one looks whose address has its share.
const LOOKS: usize = 10;

/// All connections.
#[derive(Debug)]
pub(crate) struct Crowd {
    most: usize,
    /// Of one address; none: as many as there are, if it is this machine's own, else half.
    of_address: Option<usize>,
    guests: Mutex<Guests>,
    left: Notify,
}

#[derive(Debug, Default)]
struct Guests {
    next: u64,
    here: HashMap<u64, Guest>,
    by_address: HashMap<IpAddr, usize>,
}

#[derive(Debug)]
struct Guest {
    address: IpAddr,
    phase: Phase,
    go: CancellationToken,
}

/// One connection's place, until it is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    crowd: Arc<Crowd>,
    number: u64,
    pub(crate) phase: Phase,
    /// Cancelled when it is to give way.
    pub(crate) go: CancellationToken,
}

/// Why somebody has no place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Full {
    /// All places are taken. Some give way and will be gone in a moment, or all are being answered.
    All,
    /// The address has its share, and one of its connections gives way.
    Leaving,
    /// The address has its share, and none of its connections gives way.
    Address,
}

/// How many connections there may be: no more than half of the descriptors that are left when Bay has its own; the other
/// half is for what they ask for.
pub(crate) fn fitting(most: usize) -> usize {
    let descriptors = limits::descriptors().saturating_sub(limits::OWN_DESCRIPTORS);
    most.min(descriptors / 2).max(1)
}

impl Crowd {
    /// For so many.
    pub(crate) fn new(most: usize, of_address: Option<usize>) -> Arc<Self> {
        Arc::new(Self { most, of_address, guests: Mutex::default(), left: Notify::new() })
    }

    /// A place for one that has come; none where its address has its share. Waits for those who give way to be gone.
    pub(crate) async fn enter(self: &Arc<Self>, address: IpAddr) -> Option<Place> {
        let mut looks = 0;
        loop {
            let left = self.left.notified();
            match self.try_enter(address) {
                Ok(place) => return Some(place),
                Err(Full::Address) => return None,
                // Everybody else who comes waits behind this one.
                Err(Full::Leaving) if looks >= LOOKS => return None,
                Err(Full::Leaving | Full::All) => {
                    let _ = tokio::time::timeout(LOOK_AGAIN, left).await;
                    looks += 1;
                }
            }
        }
    }

    /// Lets a few go: somebody else needs their descriptors.
    pub(crate) fn make_way(&self) {
        self.guests().dismiss(self.some(), None);
    }

    fn some(&self) -> usize {
        (self.most / AT_ONCE).max(1)
    }

    fn share(&self, address: IpAddr) -> usize {
        let usual = if address.is_loopback() { self.most } else { (self.most / 2).max(1) };
        self.of_address.unwrap_or(usual).min(self.most)
    }

    fn try_enter(self: &Arc<Self>, address: IpAddr) -> Result<Place, Full> {
        let address = network(address);
        let mut guests = self.guests();
        let of_address = guests.by_address.get(&address).copied().unwrap_or_default();
        if guests.here.len() >= self.most {
            // A few at once: a look at all of them for each that comes would be work that strangers can order.
            guests.dismiss(self.some(), None);
            return Err(Full::All);
        }
        if of_address >= self.share(address) {
            let leaving = guests.dismiss(1, Some(address));
            return Err(if leaving { Full::Leaving } else { Full::Address });
        }
        let (phase, go) = (Phase::new(), CancellationToken::new());
        let number = guests.next;
        guests.next += 1;
        guests.here.insert(number, Guest { address, phase: phase.clone(), go: go.clone() });
        guests.by_address.insert(address, of_address + 1);
        figures::connections(guests.here.len());
        Ok(Place { crowd: Arc::clone(self), number, phase, go })
    }

    fn guests(&self) -> MutexGuard<'_, Guests> {
        self.guests.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Guests {
    /// Tells some to go, of one address or of all: first who does not take its answer, the longest first; then who
    /// rests, the longest first. Whether anybody is going. Each keeps its place until it is gone.
    fn dismiss(&mut self, some: usize, address: Option<IpAddr>) -> bool {
        let theirs = self.here.values().filter(|guest| address.is_none_or(|address| guest.address == address));
        // One that was told to go when a request had just come is answered first: it is not one of those who leave.
        let ready = theirs.filter_map(|guest| Some((rank(&guest.phase)?, guest)));
        let (gone, mut order): (Vec<_>, Vec<_>) = ready.partition(|(_, guest)| guest.go.is_cancelled());
        let some = some.saturating_sub(gone.len());
        if order.len() > some && some > 0 {
            order.select_nth_unstable_by_key(some, |(rank, _)| *rank);
        }
        order.truncate(some);
        order.iter().for_each(|(_, guest)| guest.go.cancel());
        !order.is_empty() || !gone.is_empty()
    }
}

/// Who gives way before whom: the lowest first.
fn rank(phase: &Phase) -> Option<(bool, u64)> {
    let stuck = phase.stuck_for().filter(|stuck| *stuck >= limits::TAKES_NOTHING);
    match stuck {
        Some(stuck) => Some((false, u64::MAX - u64::try_from(stuck.as_millis()).unwrap_or(u64::MAX))),
        None => phase.resting_since().map(|since| (true, since)),
    }
}

/// Whom an address stands for: a single one of IPv4, a whole network of IPv6, where one has as many as one likes.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) if !address.is_loopback() => {
            IpAddr::from((address.to_bits() & !u128::from(u64::MAX)).to_be_bytes())
        }
        other => other,
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut guests = self.crowd.guests();
        if let Some(guest) = guests.here.remove(&self.number) {
            let left = guests.by_address.get(&guest.address).copied().unwrap_or_default().saturating_sub(1);
            if left == 0 {
                guests.by_address.remove(&guest.address);
            } else {
                guests.by_address.insert(guest.address, left);
            }
        }
        figures::connections(guests.here.len());
        drop(guests);
        self.crowd.left.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

    #[tokio::test]
    async fn who_rests_longest_gives_way_and_counts_until_it_is_gone() {
        let crowd = Crowd::new(2, None);
        let (first, second) = (crowd.enter(HERE).await.unwrap(), crowd.enter(HERE).await.unwrap());
        first.phase.busy();
        assert_eq!(crowd.try_enter(HERE).unwrap_err(), Full::All);
        assert!(!first.go.is_cancelled() && second.go.is_cancelled());
        assert_eq!(crowd.try_enter(HERE).unwrap_err(), Full::All, "it is not gone yet");
        drop(second);
        let third = crowd.enter(HERE).await.unwrap();
        third.phase.busy();
        assert_eq!(crowd.try_enter(HERE).unwrap_err(), Full::All, "all are being answered");
        assert!(!first.go.is_cancelled() && !third.go.is_cancelled());
        let waiting = tokio::spawn({
            let crowd = Arc::clone(&crowd);
            async move { crowd.enter(HERE).await }
        });
        drop(first);
        assert!(waiting.await.unwrap().is_some() && !third.go.is_cancelled());
    }

    #[tokio::test]
    async fn an_address_has_its_share_and_gives_way_to_itself_alone() {
        let crowd = Crowd::new(4, Some(2));
        let (there, elsewhere): (IpAddr, IpAddr) = ("2001:db8::1".parse().unwrap(), "2001:db8::2:1".parse().unwrap());
        let (own, first) = (crowd.enter(HERE).await.unwrap(), crowd.enter(there).await.unwrap());
        let second = crowd.enter(elsewhere).await.unwrap();
        assert_eq!(crowd.try_enter(there).unwrap_err(), Full::Leaving);
        assert!(first.go.is_cancelled() && !second.go.is_cancelled() && !own.go.is_cancelled());
        drop(first);
        let third = crowd.enter(there).await.unwrap();
        third.phase.busy();
        second.phase.busy();
        assert!(crowd.enter(elsewhere).await.is_none(), "of one network, and all at work");
        // Told to go, and at work again: nobody waits for it, and another one that rests goes.
        drop(third);
        let fourth = crowd.enter(there).await.unwrap();
        assert_eq!(crowd.try_enter(there).unwrap_err(), Full::Leaving);
        fourth.phase.busy();
        assert!(fourth.go.is_cancelled() && crowd.enter(there).await.is_none());
        assert!(crowd.enter(HERE).await.is_some());
    }

    #[test]
    fn without_a_word_a_foreign_address_has_half_and_this_machine_all() {
        let crowd = Crowd::new(10, None);
        assert_eq!((crowd.share(HERE), crowd.share("10.0.0.1".parse().unwrap())), (10, 5));
        assert_eq!(network("::ffff:10.0.0.1".parse().unwrap()), "10.0.0.1".parse::<IpAddr>().unwrap());
        assert_eq!(network("::1".parse().unwrap()), "::1".parse::<IpAddr>().unwrap());
    }
}
