//! The one place with `unsafe`: what Ship and the walls ask of the kernel and what no safe crate offers.
//!
//! Each function does one thing and says why it is sound. Nothing here decides anything.
#![allow(unsafe_code)]

mod shared;
pub(crate) mod spawn;

pub(crate) use shared::SharedPage;

use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

/// The kernel's `struct sched_attr`, as long as it was at first.
#[repr(C)]
struct SchedulingAttributes {
    size: u32,
    policy: u32,
    flags: u64,
    nice: i32,
    priority: u32,
    runtime_ns: u64,
    deadline_ns: u64,
    period_ns: u64,
}

/// This process works little and must not wait long for it: it asks for short turns, which come sooner (Linux 6.12), and
/// for a better place where it may. Nothing is lost where the kernel says no.
pub(crate) fn run_soon() {
    const SHORTEST_NS: u64 = 100_000;
    for nice in [-10, 0] {
        let size = size_of::<SchedulingAttributes>();
        let attributes = SchedulingAttributes {
            size: u32::try_from(size).unwrap_or(0),
            policy: 0,
            flags: 0,
            nice,
            priority: 0,
            runtime_ns: SHORTEST_NS,
            deadline_ns: 0,
            period_ns: 0,
        };
        // SAFETY: the structure has the kernel's layout and its own size, and outlives the call.
        let result = unsafe {
            libc::syscall(libc::SYS_sched_setattr, 0 as libc::c_long, &raw const attributes, 0 as libc::c_long)
        };
        if result == 0 {
            return;
        }
    }
}

/// Makes a copy of this process; `None` in the copy, the copy's id in the original.
///
/// Only for a process with a single thread: the copy would hold the locks of threads that it does not have.
pub(crate) fn fork() -> io::Result<Option<rustix::process::Pid>> {
    // SAFETY: callers have one thread (`cell::enter` runs first thing in main), so no lock is held by anyone else.
    let result = unsafe { libc::fork() };
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(rustix::process::Pid::from_raw(result))
}

/// Ends the process at once: no destructors, no exit handlers.
pub(crate) fn exit_now(code: i32) -> ! {
    // SAFETY: _exit does not return and touches no memory of ours.
    unsafe { libc::_exit(code) }
}

/// Takes ownership of a descriptor that this process was started with; `None` when nothing is open there.
pub(crate) fn adopt(number: RawFd) -> Option<OwnedFd> {
    // SAFETY: F_GETFD reads a flag and touches no memory.
    if unsafe { libc::fcntl(number, libc::F_GETFD) } < 0 {
        return None;
    }
    // SAFETY: it is open, and callers adopt each number once.
    Some(unsafe { OwnedFd::from_raw_fd(number) })
}

/// A second name for a descriptor that the caller only borrows, above the three standard ones and closed on exec.
pub(crate) fn duplicate_high(descriptor: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    // SAFETY: fcntl touches no memory; the result is new and ours alone.
    let number = unsafe { libc::fcntl(descriptor.as_raw_fd(), libc::F_DUPFD_CLOEXEC, 10) };
    if number < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: as above.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}

/// Puts `/dev/null` in the place of one of the three standard descriptors.
pub(crate) fn silence(null: BorrowedFd<'_>, number: RawFd) -> io::Result<()> {
    // SAFETY: dup2 touches no memory; the callers have moved what was there elsewhere.
    if unsafe { libc::dup2(null.as_raw_fd(), number) } < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Closes every descriptor from `first` on.
pub(crate) fn close_from(first: RawFd) -> io::Result<()> {
    let (first, last) = (libc::c_long::from(first), libc::c_long::from(u32::MAX));
    // SAFETY: called right after a start, when nobody in this process holds a descriptor above `first`.
    let result = unsafe { libc::syscall(libc::SYS_close_range, first, last, 0 as libc::c_long) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Leaves some of the namespaces that this process shares with others.
pub(crate) fn unshare(flags: rustix::thread::UnshareFlags) -> io::Result<()> {
    // SAFETY: only CLONE_FILES is a danger to other threads, and callers have one thread.
    unsafe { rustix::thread::unshare_unsafe(flags) }.map_err(Into::into)
}

/// Undoes what the starting program may have set: nothing blocked, everything at its default, broken pipes ignored.
pub(crate) fn reset_signals() {
    // SAFETY: plain calls with an initialised set; SIG_DFL and SIG_IGN run no code of ours.
    unsafe {
        let mut set = std::mem::zeroed::<libc::sigset_t>();
        libc::sigemptyset(&raw mut set);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const set, std::ptr::null_mut());
        for signal in 1..32 {
            libc::signal(signal, libc::SIG_DFL);
        }
        libc::signal(libc::SIGPIPE, libc::SIG_IGN);
    }
}

/// The kernel's `struct mount_attr`.
#[repr(C)]
struct MountAttributes {
    set: u64,
    clear: u64,
    propagation: u64,
    userns_fd: u64,
}

/// What a mount may not be used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MountBars(pub(crate) u64);

impl MountBars {
    pub(crate) const READ_ONLY: Self = Self(0x1);
    pub(crate) const NO_SETUID: Self = Self(0x2);
    pub(crate) const NO_DEVICES: Self = Self(0x4);
    pub(crate) const NO_PROGRAMS: Self = Self(0x8);

    pub(crate) const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// Sets bars on a mount and on all mounts below it. Needs Linux 5.12; older kernels answer `ENOSYS`.
pub(crate) fn bar_mount(path: &str, bars: MountBars, recursive: bool) -> io::Result<()> {
    const AT_RECURSIVE: libc::c_long = 0x8000;
    let path = CString::new(path)?;
    let attributes = MountAttributes { set: bars.0, clear: 0, propagation: 0, userns_fd: 0 };
    // SAFETY: the path is NUL-terminated, the structure has the kernel's layout and outlives the call.
    let result = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            libc::c_long::from(libc::AT_FDCWD),
            path.as_ptr(),
            if recursive { AT_RECURSIVE } else { 0 },
            &raw const attributes,
            size_of::<MountAttributes>(),
        )
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Switches on the loopback interface of this network namespace.
pub(crate) fn raise_loopback() -> io::Result<()> {
    let socket = rustix::net::socket(rustix::net::AddressFamily::INET, rustix::net::SocketType::DGRAM, None)?;
    // SAFETY: all-zero is a valid ifreq; the name is shorter than its field.
    let mut request = unsafe { std::mem::zeroed::<libc::ifreq>() };
    for (to, from) in request.ifr_name.iter_mut().zip(b"lo") {
        *to = from.cast_signed();
    }
    request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short;
    // SAFETY: the request outlives the call and is of the type that SIOCSIFFLAGS reads.
    let result = unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS as _, &raw const request) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Whether this kernel has Landlock.
pub(crate) fn has_landlock() -> bool {
    let (none, version): (libc::c_long, libc::c_long) = (0, 1);
    // SAFETY: with this flag the call takes no structure and only says a number.
    unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, none, none, version) > 0 }
}

/// Registers a descriptor with the runtime.
pub(crate) fn watch(descriptor: OwnedFd) -> io::Result<tokio::io::unix::AsyncFd<OwnedFd>> {
    // SAFETY: the result owns the descriptor, so it stays open and the same for as long as it is registered.
    unsafe { tokio::io::unix::AsyncFd::register(descriptor) }.map_err(Into::into)
}
