//! Namespaces of a process's own: other users, processes, networks and names are not in them.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;

use rustix::fs::{Mode, OFlags, openat};
use rustix::net::{AddressFamily, SocketType, socket};

pub use rustix::thread::UnshareFlags;

use crate::sys;

/// Leaves some of the namespaces that this process shares with others. Only for a process with a single thread.
pub fn unshare(flags: UnshareFlags) -> io::Result<()> {
    sys::unshare(flags)
}

/// A pair of ids: whom somebody is inside of a user namespace, and whom outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OneUser {
    /// User and group inside.
    pub inside: u32,
    /// The user outside.
    pub uid: u32,
    /// The group outside.
    pub gid: u32,
}

/// Makes this the only user of the user namespace that was just entered. `proc` is `/proc` as it is outside: the one
/// inside may be read-only, or not be there.
pub fn map_one_user(proc: impl AsFd, OneUser { inside, uid, gid }: OneUser) -> io::Result<()> {
    let proc = proc.as_fd();
    write_below(proc, "self/setgroups", "deny")?;
    write_below(proc, "self/gid_map", &format!("{inside} {gid} 1"))?;
    write_below(proc, "self/uid_map", &format!("{inside} {uid} 1"))
}

/// Writes a file below `/proc`.
pub fn write_below(proc: impl AsFd, path: &str, text: &str) -> io::Result<()> {
    let file = openat(proc, path, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
    File::from(file).write_all(text.as_bytes())
}

/// Opens `/proc`, to be written below when there is none any more.
pub fn open_proc() -> io::Result<std::os::fd::OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(rustix::fs::open("/proc", flags, Mode::empty())?)
}

/// Switches on the loopback interface of this network namespace.
pub fn raise_loopback() -> io::Result<()> {
    let socket = socket(AddressFamily::INET, SocketType::DGRAM, None)?;
    sys::raise_loopback(socket.as_fd())
}
