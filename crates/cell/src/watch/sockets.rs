//! What waits in the sockets of a sandbox, as the kernel's own listing (`sock_diag`) tells it.
//!
//! Where that listing is not built in, each socket counts as full.

use std::fs;
use std::os::fd::OwnedFd;

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

/// Lengths of `unix_diag_msg` and `inet_diag_msg`, after which attributes follow.
const UNIX_HEAD: usize = 16;
const INET_HEAD: usize = 72;

/// Read at once; the kernel fills up to 32 KiB.
const BLOCK_BYTES: usize = 64 << 10;

/// The sockets of this thread's network namespace.
#[derive(Debug)]
pub(super) struct Sockets {
    diag: Option<OwnedFd>,
    /// What one socket holds at most where it is not told: twice the default, for the last message may be as large.
    each_bytes: u64,
}

impl Sockets {
    /// The thread must be in the sandbox's namespace, and stay there.
    pub(super) fn open() -> Self {
        let kind = (AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC);
        let diag = socket_with(kind.0, kind.1, kind.2, Some(netlink::SOCK_DIAG)).ok();
        let default = fs::read_to_string("/proc/sys/net/core/wmem_default").ok();
        let default = default.and_then(|text| text.trim().parse().ok()).unwrap_or(212_992_u64);
        let mut sockets = Self { diag, each_bytes: 2 * default };
        if sockets.told().is_none() {
            sockets.diag = None;
        }
        sockets
    }

    /// What waits in all of them, netlink included.
    pub(super) fn bytes(&self) -> u64 {
        let told = self.told().unwrap_or_else(|| self.count() * self.each_bytes);
        told + self.netlink_bytes()
    }

    /// What waits in netlink sockets; no control group is charged for it.
    #[allow(clippy::unused_self, reason = "only the thread that has entered may ask")]
    pub(super) fn netlink_bytes(&self) -> u64 {
        // `sk Eth Pid Groups Rmem Wmem …`
        let listed = fs::read_to_string("/proc/thread-self/net/netlink").unwrap_or_default();
        listed.lines().skip(1).filter_map(|line| line.split_ascii_whitespace().nth(4)?.parse::<u64>().ok()).sum()
    }

    fn count(&self) -> u64 {
        let listed = fs::read_to_string("/proc/thread-self/net/sockstat").unwrap_or_default();
        let used = listed.lines().find_map(|line| line.strip_prefix("sockets: used "));
        used.and_then(|number| number.trim().parse().ok()).unwrap_or(0)
    }

    /// The kernel's own listing; `None` where it has none.
    fn told(&self) -> Option<u64> {
        let diag = self.diag.as_ref()?;
        let mut sum = list(diag, &unix_request(), UNIX_HEAD, UNIX_MEMORY)?;
        for family in [libc::AF_INET, libc::AF_INET6] {
            for protocol in [libc::IPPROTO_TCP, libc::IPPROTO_UDP] {
                sum += list(diag, &inet_request(family as u8, protocol as u8), INET_HEAD, INET_MEMORY)?;
            }
        }
        Some(sum)
    }
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

fn list(diag: &OwnedFd, request: &[u8], head: usize, attribute: u16) -> Option<u64> {
    send(diag, request, SendFlags::empty()).ok()?;
    let mut block = vec![0; BLOCK_BYTES];
    let mut sum = 0;
    loop {
        let (length, _) = recv(diag, block.as_mut_slice(), RecvFlags::empty()).ok()?;
        let mut rest = &block[..length];
        while let Some((kind, body, next)) = split(rest) {
            match kind {
                DONE => return Some(sum),
                ERROR => return None,
                _ => sum += memory(body.get(head..).unwrap_or(&[]), attribute),
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

/// What one socket holds: `rmem_alloc + wmem_alloc or wmem_queued + fwd_alloc`, of its nine numbers.
fn memory(mut attributes: &[u8], wanted: u16) -> u64 {
    while let Some(head) = attributes.get(..4) {
        let (length, kind) = (u16::from_ne_bytes([head[0], head[1]]) as usize, u16::from_ne_bytes([head[2], head[3]]));
        let Some(value) = attributes.get(4..length.max(4)) else { return 0 };
        if kind == wanted {
            let number = |place: usize| {
                value.get(place * 4..place * 4 + 4).and_then(|four| four.try_into().ok()).map_or(0, u32::from_ne_bytes)
            };
            // What was sent and not yet read is with the sender (local sockets) or queued (TCP), never both.
            return [number(0), number(2).max(number(5)), number(4)].map(u64::from).iter().sum();
        }
        attributes = attributes.get(length.max(4).next_multiple_of(4)..).unwrap_or(&[]);
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sockets_memory_is_found_among_its_attributes() {
        let mut attributes = Vec::new();
        for (kind, numbers) in [(1_u16, vec![9_u32]), (UNIX_MEMORY, vec![10, 1, 200, 1, 3000, 150, 0, 0, 0])] {
            attributes.extend(u16::try_from(4 + numbers.len() * 4).unwrap().to_ne_bytes());
            attributes.extend(kind.to_ne_bytes());
            numbers.iter().for_each(|number| attributes.extend(number.to_ne_bytes()));
        }
        assert_eq!(memory(&attributes, UNIX_MEMORY), 3210);
        assert_eq!(memory(&attributes, 99), 0);
        assert_eq!(memory(&[7, 0], UNIX_MEMORY), 0);
    }
}
