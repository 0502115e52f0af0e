//! What waits in the sockets of a sandbox, as the kernel's own listing (`sock_diag`) tells it.
//!
//! A local socket that was closed is in no list, and what it has sent waits on with whoever did not read it; a connection
//! that was reset before anybody accepted it is in none either. The kernel's number of all sockets has both: who is counted
//! and not listed counts as full, as each socket does where there is no listing at all.

use std::cell::Cell;
use std::fs;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink, recv, send, socket_with};

/// `SOCK_DIAG_BY_FAMILY`, and the two kinds of messages that end a listing.
const BY_FAMILY: u16 = 20;
const ERROR: u16 = 2;
const DONE: u16 = 3;

/// `NLM_F_REQUEST | NLM_F_DUMP`.
const LIST: u16 = 0x301;

/// The attributes with a socket's memory: `UNIX_DIAG_MEMINFO`, `INET_DIAG_SKMEMINFO`.
const UNIX_MEMORY: u16 = 5;
const INET_MEMORY: u16 = 7;

/// The sockets of a sandbox that has no more are not listed where a control group counts what they hold: it takes the
/// kernel long to look through all of the machine's connections.
const FEW: u64 = 16;

/// Whoever has very many sockets has them listed less often: so many times as long as it takes lies in between.
const LISTING_REST: u32 = 10;

/// One socket's record, and the short one of a connection that begins or has ended.
const SOCKET_BYTES: u64 = 4 << 10;
const SHORT_RECORD_BYTES: u64 = 256;

/// Read at once; the kernel fills up to 32 KiB.
const BLOCK_BYTES: usize = 64 << 10;

/// The sockets of this thread's network namespace.
#[derive(Debug)]
pub(super) struct Sockets {
    diag: Option<OwnedFd>,
    /// What one socket holds at most where it is not told: twice the default, for the last message may be as large.
    each_bytes: u64,
    last: Cell<LastListing>,
}

/// What nobody had accepted when that was last looked at.
#[derive(Debug, Clone, Copy)]
struct LastListing {
    at: Instant,
    took: Duration,
    bytes: u64,
}

impl Sockets {
    /// The thread must be in the sandbox's namespace, and stay there.
    pub(super) fn open() -> Self {
        let kind = (AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC);
        let diag = socket_with(kind.0, kind.1, kind.2, Some(netlink::SOCK_DIAG)).ok();
        let default = fs::read_to_string("/proc/sys/net/core/wmem_default").ok();
        let default = default.and_then(|text| text.trim().parse().ok()).unwrap_or(212_992_u64);
        let last = Cell::new(LastListing { at: Instant::now(), took: Duration::ZERO, bytes: 0 });
        let mut sockets = Self { diag, each_bytes: 2 * default, last };
        if sockets.told().is_none() {
            sockets.diag = None;
        }
        sockets
    }

    /// What waits in all of them, netlink included.
    pub(super) fn bytes(&self) -> u64 {
        let before = self.count();
        let Some(told) = self.told() else { return before * self.each_bytes + self.netlink_bytes() };
        told.bytes + self.unlisted(before, &told) * self.each_bytes + self.netlink_bytes()
    }

    /// What no control group is charged for: replies that wait in netlink sockets, and connections that nobody has accepted,
    /// with what was sent to them.
    pub(super) fn uncharged_bytes(&self) -> u64 {
        let before = self.count();
        if before <= FEW {
            return self.netlink_bytes();
        }
        if self.last.get().at.elapsed() >= self.last.get().took * LISTING_REST {
            let at = Instant::now();
            let bytes =
                self.told().map_or(0, |told| told.unaccepted_bytes + self.unlisted(before, &told) * SOCKET_BYTES);
            self.last.set(LastListing { at, took: at.elapsed(), bytes });
        }
        self.last.get().bytes + self.netlink_bytes()
    }

    /// How many sockets are in no list. There were so many before they were listed: whoever came or went meanwhile is not
    /// taken for one.
    fn unlisted(&self, before: u64, told: &Told) -> u64 {
        before.min(self.count()).saturating_sub(told.sockets + netlink_sockets())
    }

    #[allow(clippy::unused_self, reason = "only the thread that has entered may ask")]
    fn netlink_bytes(&self) -> u64 {
        netlink_column(4).sum()
    }

    fn count(&self) -> u64 {
        let listed = fs::read_to_string("/proc/thread-self/net/sockstat").unwrap_or_default();
        let used = listed.lines().find_map(|line| line.strip_prefix("sockets: used "));
        used.and_then(|number| number.trim().parse().ok()).unwrap_or(0)
    }

    /// The kernel's own listing; `None` where it has none.
    fn told(&self) -> Option<Told> {
        let diag = self.diag.as_ref()?;
        let mut told = Told::default();
        list(diag, &unix_request(), &UNIX, &mut told)?;
        for family in [libc::AF_INET, libc::AF_INET6] {
            for protocol in [libc::IPPROTO_TCP, libc::IPPROTO_UDP] {
                list(diag, &inet_request(family as u8, protocol as u8), &INET, &mut told)?;
            }
        }
        Some(told)
    }
}

/// What the listing says of all sockets.
#[derive(Debug, Default, PartialEq, Eq)]
struct Told {
    /// What waits in them, and the records of those that no descriptor leads to.
    bytes: u64,
    /// The part of it that is with connections that nobody has accepted.
    unaccepted_bytes: u64,
    /// How many there are, without those of which only a short record is left.
    sockets: u64,
}

/// How one kind of socket is told: the length of `unix_diag_msg` or `inet_diag_msg`, where its inode is in there, and
/// the attribute behind it with the socket's memory.
struct Form {
    head: usize,
    inode: usize,
    memory: u16,
    /// States of a connection that is nobody's because nobody has accepted it, and whose owner has not gone: `ESTABLISHED`
    /// and `CLOSE_WAIT`. For a local one the group of who has made it is charged.
    unaccepted: &'static [u8],
}

const UNIX: Form = Form { head: 16, inode: 4, memory: UNIX_MEMORY, unaccepted: &[] };
const INET: Form = Form { head: 72, inode: 68, memory: INET_MEMORY, unaccepted: &[1, 8] };

impl Told {
    /// Takes one socket in.
    fn add(&mut self, socket: &[u8], form: &Form) {
        let Some(held) = memory(socket.get(form.head..).unwrap_or(&[]), form.memory) else {
            self.bytes += SHORT_RECORD_BYTES;
            return;
        };
        self.sockets += 1;
        self.bytes += held;
        if socket.get(form.inode..form.inode + 4) == Some(&[0; 4]) {
            self.bytes += SOCKET_BYTES;
            if socket.get(1).is_some_and(|state| form.unaccepted.contains(state)) {
                self.unaccepted_bytes += held + SOCKET_BYTES;
            }
        }
    }
}

/// One number of every line about a netlink socket: `sk Eth Pid Groups Rmem Wmem …`
fn netlink_column(column: usize) -> impl Iterator<Item = u64> {
    let listed = fs::read_to_string("/proc/thread-self/net/netlink").unwrap_or_default();
    let numbers = listed.lines().skip(1).map(move |line| line.split_ascii_whitespace().nth(column)?.parse().ok());
    numbers.flatten().collect::<Vec<u64>>().into_iter()
}

/// Those of processes; the kernel's own have no number, and are in no sum of sockets.
fn netlink_sockets() -> u64 {
    netlink_column(2).filter(|number| *number != 0).count() as u64
}

/// A message: its head, then what is asked.
fn message(body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(16 + body.len()).unwrap_or(u32::MAX);
    let mut message = length.to_ne_bytes().to_vec();
    message.extend(BY_FAMILY.to_ne_bytes());
    message.extend(LIST.to_ne_bytes());
    message.extend([0; 8]);
    message.extend(body);
    message
}

/// `unix_diag_req`: every state, with memory.
fn unix_request() -> Vec<u8> {
    let show_memory: u32 = 0x20;
    let mut body = vec![libc::AF_UNIX as u8, 0, 0, 0];
    body.extend(u32::MAX.to_ne_bytes());
    body.extend([0; 4]);
    body.extend(show_memory.to_ne_bytes());
    body.extend([0; 8]);
    message(&body)
}

/// `inet_diag_req_v2`: every state, with memory.
fn inet_request(family: u8, protocol: u8) -> Vec<u8> {
    let mut body = vec![family, protocol, 1 << (INET_MEMORY - 1), 0];
    body.extend(u32::MAX.to_ne_bytes());
    body.extend([0; 48]);
    message(&body)
}

fn list(diag: &OwnedFd, request: &[u8], form: &Form, told: &mut Told) -> Option<()> {
    send(diag, request, SendFlags::empty()).ok()?;
    let mut block = vec![0; BLOCK_BYTES];
    loop {
        let (length, _) = recv(diag, block.as_mut_slice(), RecvFlags::empty()).ok()?;
        let mut rest = &block[..length];
        while let Some((kind, body, next)) = split(rest) {
            match kind {
                DONE => return Some(()),
                ERROR => return None,
                _ => told.add(body, form),
            }
            rest = next;
        }
    }
}

/// The first message of several.
fn split(messages: &[u8]) -> Option<(u16, &[u8], &[u8])> {
    let length = u32::from_ne_bytes(messages.get(..4)?.try_into().ok()?) as usize;
    let kind = u16::from_ne_bytes(messages.get(4..6)?.try_into().ok()?);
    let body = messages.get(16..length)?;
    Some((kind, body, messages.get(length.next_multiple_of(4)..).unwrap_or(&[])))
}

/// What one socket holds: `rmem_alloc + wmem_alloc or wmem_queued + fwd_alloc + optmem + backlog`, of its nine numbers.
/// `None` where there is only a short record.
fn memory(mut attributes: &[u8], wanted: u16) -> Option<u64> {
    while let Some(head) = attributes.get(..4) {
        let (length, kind) = (u16::from_ne_bytes([head[0], head[1]]) as usize, u16::from_ne_bytes([head[2], head[3]]));
        let value = attributes.get(4..length.max(4))?;
        if kind == wanted {
            let number = |place: usize| {
                value.get(place * 4..place * 4 + 4).and_then(|four| four.try_into().ok()).map_or(0, u32::from_ne_bytes)
            };
            // What was sent and not yet read is with the sender (local sockets) or queued (TCP), never both.
            let numbers = [number(0), number(2).max(number(5)), number(4), number(6), number(7)];
            return Some(numbers.map(u64::from).iter().sum());
        }
        attributes = attributes.get(length.max(4).next_multiple_of(4)..).unwrap_or(&[]);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attributes(memory: u16) -> Vec<u8> {
        let mut attributes = Vec::new();
        for (kind, numbers) in [(1_u16, vec![9_u32]), (memory, vec![10, 1, 200, 1, 3000, 150, 40_000, 500_000, 9])] {
            attributes.extend(u16::try_from(4 + numbers.len() * 4).unwrap().to_ne_bytes());
            attributes.extend(kind.to_ne_bytes());
            numbers.iter().for_each(|number| attributes.extend(number.to_ne_bytes()));
        }
        attributes
    }

    #[test]
    fn a_sockets_memory_is_found_among_its_attributes() {
        let attributes = attributes(UNIX_MEMORY);
        assert_eq!(memory(&attributes, UNIX_MEMORY), Some(543_210));
        assert_eq!(memory(&attributes, 99), None);
        assert_eq!(memory(&[7, 0], UNIX_MEMORY), None);
    }

    /// Whoever is somebody's is counted with its descriptor; who is nobody's has a record that counts here.
    #[test]
    fn sockets_of_nobody_count_with_their_records() {
        let mut told = Told::default();
        let socket = |inode: u8, attributes: Vec<u8>| [vec![1; 68], vec![inode; 4], attributes].concat();
        told.add(&socket(1, attributes(INET_MEMORY)), &INET);
        assert_eq!(told, Told { bytes: 543_210, unaccepted_bytes: 0, sockets: 1 });
        told.add(&socket(0, attributes(INET_MEMORY)), &INET);
        let (bytes, unaccepted_bytes) = (2 * 543_210 + SOCKET_BYTES, 543_210 + SOCKET_BYTES);
        assert_eq!(told, Told { bytes, unaccepted_bytes, sockets: 2 });
        // One whose owner has gone, and whose peer has not taken everything yet.
        let mut orphan = socket(0, attributes(INET_MEMORY));
        orphan[1] = 4;
        told.add(&orphan, &INET);
        let bytes = bytes + 543_210 + SOCKET_BYTES;
        assert_eq!(told, Told { bytes, unaccepted_bytes, sockets: 3 });
        // A connection that has ended, of which the kernel remembers the numbers.
        told.add(&socket(0, Vec::new()), &INET);
        assert_eq!(told, Told { bytes: bytes + SHORT_RECORD_BYTES, unaccepted_bytes, sockets: 3 });
    }
}
