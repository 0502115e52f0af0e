//! What passes between the three processes: the owner's order, the supervisor's word to the init, the init's report.

use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
    recvmsg, sendmsg,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::blocked::WallFailure;
use super::report::{EffectiveWalls, Survey};
use super::{CellLimits, CellMount, CellNetwork, Limit};

/// An order holds an environment and a few paths.
const MAX_MESSAGE_BYTES: usize = 4 << 20;

/// The owner's order.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Spec {
    /// Without symlinks.
    pub(super) workspace: String,
    pub(super) mounts: Vec<CellMount>,
    pub(super) hostname: String,
    pub(super) env: Vec<(String, String)>,
    pub(super) limits: CellLimits,
    pub(super) network: CellNetwork,
    pub(super) control_groups: bool,
    /// The processors that guests have where no control group deals out their time; empty: all.
    pub(super) processors: Vec<usize>,
    pub(super) own_layers: bool,
    /// The proxy's socket on the host.
    pub(super) egress: Option<String>,
    /// When it ends, unless that is renewed; by the machine's uptime.
    pub(super) lease_until_ms: Option<u64>,
    /// Whom the guest is outside.
    pub(super) uid: u32,
    pub(super) gid: u32,
}

/// The supervisor's word, once the control groups stand.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct StartSignal {
    pub(super) init_pid: u32,
    pub(super) cgroups: Vec<String>,
    pub(super) memory_bytes: Option<Limit<u64>>,
    pub(super) cpus: Option<Limit<f64>>,
    pub(super) processes: Option<Limit<u64>>,
    pub(super) survey: Survey,
    /// Whether three files of the group that counts memory come along, for the ledger: behind the network, before the doors
    /// of groups.
    pub(super) ledger: bool,
    /// Whether nothing may start before the watch has opened its eyes.
    pub(super) wait_for_watch: bool,
}

/// The init's report, or what went wrong.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Report {
    Ready(Box<EffectiveWalls>),
    Failed(WallFailure),
}

/// Hands descriptors over, with one byte. At most a network, the ledger's three, and a door for each of three controllers.
pub(super) fn send_descriptors(to: &UnixStream, given: &[BorrowedFd<'_>]) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(7))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !given.is_empty() && !control.push(SendAncillaryMessage::ScmRights(given)) {
        return Err(io::Error::other("too many descriptors to hand over"));
    }
    sendmsg(to, &[IoSlice::new(b"d")], &mut control, SendFlags::NOSIGNAL)?;
    Ok(())
}

/// Takes those that were handed over; none when the other has gone instead.
pub(super) fn receive_descriptors(from: &UnixStream) -> io::Result<Vec<OwnedFd>> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(7))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0];
    recvmsg(from, &mut [IoSliceMut::new(&mut byte)], &mut control, RecvFlags::CMSG_CLOEXEC)?;
    let mut taken = Vec::new();
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(rights) = message {
            taken.extend(rights);
        }
    }
    Ok(taken)
}

/// Writes one message: its length, then JSON.
pub(super) fn send(mut to: impl Write, message: &impl Serialize) -> io::Result<()> {
    let body = serde_json::to_vec(message)?;
    let length = u32::try_from(body.len()).map_err(|_| io::Error::other("a message is too long"))?;
    to.write_all(&[&length.to_be_bytes()[..], &body].concat())
}

/// Reads one message.
pub(super) fn receive<T: DeserializeOwned>(mut from: impl Read) -> io::Result<T> {
    let mut length = [0; 4];
    from.read_exact(&mut length)?;
    let length = u32::from_be_bytes(length) as usize;
    if length > MAX_MESSAGE_BYTES {
        return Err(io::Error::other("a message is too long"));
    }
    let mut body = vec![0; length];
    from.read_exact(&mut body)?;
    Ok(serde_json::from_slice(&body)?)
}
