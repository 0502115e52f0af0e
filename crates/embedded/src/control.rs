//! What host and zygote say to each other: datagrams that keep their borders, with descriptors attached.
//!
//! The zygote runs no guest code and is trusted; still a message that does not decode ends it rather than the host.

use std::io::{IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
    recvmsg, sendmsg,
};

/// The longest message: a report on the walls.
const MAX_BYTES: usize = 16 << 10;

/// The most descriptors in one message.
const MAX_DESCRIPTORS: usize = 2;

/// The host's only command: fork so many children.
pub(crate) struct Fork(pub(crate) u32);

impl Fork {
    pub(crate) fn encode(&self) -> [u8; 4] {
        self.0.to_le_bytes()
    }

    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        Some(Self(u32::from_le_bytes(bytes.try_into().ok()?)))
    }
}

/// What the zygote tells its host.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Notice {
    /// Ready; JSON of the report on the walls. With a descriptor of the zygote's own process.
    Ready(Vec<u8>),
    /// It cannot start; says why.
    Failed(String),
    /// A child, by number. With its socket and a descriptor of its process.
    Forked(u64),
    /// No child could be made; says why.
    ForkFailed(String),
    /// A child has ended on its own: its number and its wait status.
    Died(u64, i32),
}

impl Notice {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let (kind, rest) = match self {
            Self::Ready(report) => (b'R', report.clone()),
            Self::Failed(why) => (b'F', why.clone().into_bytes()),
            Self::Forked(number) => (b'B', number.to_le_bytes().to_vec()),
            Self::ForkFailed(why) => (b'N', why.clone().into_bytes()),
            Self::Died(number, status) => (b'D', [&number.to_le_bytes()[..], &status.to_le_bytes()].concat()),
        };
        let mut bytes = vec![kind];
        bytes.extend(rest);
        bytes
    }

    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let (kind, rest) = bytes.split_first()?;
        Some(match kind {
            b'R' => Self::Ready(rest.to_vec()),
            b'F' => Self::Failed(String::from_utf8_lossy(rest).into_owned()),
            b'B' => Self::Forked(u64::from_le_bytes(rest.try_into().ok()?)),
            b'N' => Self::ForkFailed(String::from_utf8_lossy(rest).into_owned()),
            b'D' => {
                let (number, status) = rest.split_first_chunk()?;
                Self::Died(u64::from_le_bytes(*number), i32::from_le_bytes(status.try_into().ok()?))
            }
            _ => return None,
        })
    }
}

/// Sends one message.
pub(crate) fn send(socket: &OwnedFd, bytes: &[u8], descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !descriptors.is_empty() && !ancillary.push(SendAncillaryMessage::ScmRights(descriptors)) {
        return Err(io::Errno::INVAL);
    }
    io::retry_on_intr(|| sendmsg(socket, &[IoSlice::new(bytes)], &mut ancillary, SendFlags::NOSIGNAL)).map(drop)
}

/// Receives one message, waiting for it. `None`: the other side is gone.
pub(crate) fn receive(socket: impl AsFd) -> io::Result<Option<(Vec<u8>, Vec<OwnedFd>)>> {
    let mut bytes = vec![0; MAX_BYTES];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let received = io::retry_on_intr(|| {
        recvmsg(&socket, &mut [IoSliceMut::new(&mut bytes)], &mut ancillary, RecvFlags::CMSG_CLOEXEC)
    })?;
    let descriptors = ancillary.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(descriptors) => Some(descriptors),
        _ => None,
    });
    let descriptors: Vec<OwnedFd> = descriptors.flatten().collect();
    bytes.truncate(received.bytes);
    Ok((!bytes.is_empty()).then_some((bytes, descriptors)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};

    #[test]
    fn notices_travel_with_their_descriptors() {
        let (here, there) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None).unwrap();
        let notices = [
            Notice::Ready(b"{}".to_vec()),
            Notice::Failed("no".into()),
            Notice::Forked(7),
            Notice::ForkFailed("limit".into()),
            Notice::Died(7, -9),
        ];
        for notice in notices {
            send(&here, &notice.encode(), &[here.as_fd(), there.as_fd()]).unwrap();
            let (bytes, descriptors) = receive(&there).unwrap().unwrap();
            assert_eq!((Notice::decode(&bytes), descriptors.len()), (Some(notice), 2));
        }
        send(&here, &Fork(9).encode(), &[]).unwrap();
        let (bytes, descriptors) = receive(&there).unwrap().unwrap();
        assert_eq!((Fork::decode(&bytes).map(|fork| fork.0), descriptors.len()), (Some(9), 0));
        drop(here);
        assert!(receive(&there).unwrap().is_none());
        for noise in [&b""[..], b"B1", b"D12345678", b"?"] {
            assert_eq!(Notice::decode(noise), None, "{noise:?}");
        }
    }
}
