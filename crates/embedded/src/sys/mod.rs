//! The one place with `unsafe`: what the worker asks of the kernel and what no safe crate offers.
//!
//! All but [`watch`] is called by the worker's processes only, which have a single thread. Each function does one thing
//! and says why it is sound.
#![allow(unsafe_code)]

pub(crate) mod batch;
pub(crate) mod code;
pub(crate) mod heap;
pub(crate) mod shelf;

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// Lets the host's runtime watch a descriptor for as long as it is borrowed.
pub(crate) fn watch(descriptor: BorrowedFd<'_>) -> io::Result<AsyncFd<BorrowedFd<'_>>> {
    // SAFETY: a borrowed descriptor is open, and stays the same one, until the borrow ends; the watch ends before that.
    unsafe { AsyncFd::register_with_interest(descriptor, Interest::READABLE) }.map_err(|error| error.into_parts().1)
}

/// Which side of a fork we are on.
pub(crate) enum Forked {
    /// The old process; holds the id of the new one.
    Parent(rustix::process::Pid),
    /// The new process.
    Child,
}

/// Makes a copy of this process.
pub(crate) fn fork() -> io::Result<Forked> {
    // SAFETY: the worker has one thread, so the copy holds no lock that another thread had taken.
    sorted(unsafe { libc::fork() }.into())
}

/// Makes a copy of this process whose parent is *our* parent, so that the host can wait for it itself.
///
/// Used once, to step into a new PID namespace without a process that only stands between.
pub(crate) fn fork_sibling() -> io::Result<Forked> {
    let flags = libc::c_long::from(libc::CLONE_PARENT | libc::SIGCHLD);
    let none: libc::c_long = 0;
    // SAFETY: like `fork`: one thread, no shared memory (no CLONE_VM), and the child keeps its own copy of the stack.
    sorted(unsafe { libc::syscall(libc::SYS_clone, flags, none, none, none, none) })
}

fn sorted(result: libc::c_long) -> io::Result<Forked> {
    match i32::try_from(result).ok().and_then(rustix::process::Pid::from_raw) {
        _ if result < 0 => Err(io::Error::last_os_error()),
        Some(pid) => Ok(Forked::Parent(pid)),
        None => Ok(Forked::Child),
    }
}

/// Closes every descriptor from `first` on.
pub(crate) fn close_from(first: RawFd) -> io::Result<()> {
    let first = libc::c_long::from(first);
    // SAFETY: called right after a start or a fork, when nobody holds a descriptor above `first` any more.
    let result =
        unsafe { libc::syscall(libc::SYS_close_range, first, libc::c_long::from(u32::MAX), 0 as libc::c_long) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Takes ownership of a descriptor that this process was started with or has placed there with [`place`].
///
/// `None` when nothing is open under that number.
pub(crate) fn adopt(number: RawFd) -> Option<OwnedFd> {
    // SAFETY: F_GETFD reads a flag and touches no memory.
    if unsafe { libc::fcntl(number, libc::F_GETFD) } < 0 {
        return None;
    }
    // SAFETY: it is open, and callers adopt each number once.
    Some(unsafe { OwnedFd::from_raw_fd(number) })
}

/// Makes `number` a second name for `descriptor`; what was open there is closed.
pub(crate) fn place(descriptor: &OwnedFd, number: RawFd) -> io::Result<()> {
    // SAFETY: dup2 touches no memory; the callers own `number` and use it through `adopt` afterwards.
    if unsafe { libc::dup2(descriptor.as_raw_fd(), number) } < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Leaves some of the namespaces that this process shares with others.
pub(crate) fn unshare(flags: rustix::thread::UnshareFlags) -> io::Result<()> {
    // SAFETY: only CLONE_FILES is a danger to other threads, and the worker has one thread.
    unsafe { rustix::thread::unshare_unsafe(flags) }.map_err(Into::into)
}

/// Empties the environment and settles the time zone, which the C library otherwise reads from a file later on.
pub(crate) fn forget_environment() {
    // SAFETY: the worker has one thread, so nobody reads the environment meanwhile; the texts are NUL-terminated.
    unsafe {
        libc::clearenv();
        libc::setenv(c"TZ".as_ptr(), c"UTC0".as_ptr(), 1);
        let (now, mut broken_down) = (0, std::mem::zeroed::<libc::tm>());
        libc::localtime_r(&raw const now, &raw mut broken_down);
        libc::clearenv();
    }
}

/// A descriptor that becomes readable when a child of this process has ended; the signal itself is blocked.
pub(crate) fn child_ends() -> io::Result<OwnedFd> {
    // SAFETY: the set is initialised by sigemptyset before it is read, and outlives the calls.
    let fd = unsafe {
        let mut set = std::mem::zeroed::<libc::sigset_t>();
        libc::sigemptyset(&raw mut set);
        libc::sigaddset(&raw mut set, libc::SIGCHLD);
        libc::sigprocmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut());
        libc::signalfd(-1, &raw const set, libc::SFD_NONBLOCK | libc::SFD_CLOEXEC)
    };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: signalfd has just made it, nobody else knows it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Undoes what the starting program may have set: nothing blocked, everything at its default, broken pipes ignored.
pub(crate) fn reset_signals() {
    // SAFETY: plain calls with an initialised set; SIG_DFL and SIG_IGN run no code of ours.
    unsafe {
        let mut set = std::mem::zeroed::<libc::sigset_t>();
        libc::sigemptyset(&raw mut set);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const set, std::ptr::null_mut());
        for signal in [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGTERM, libc::SIGCHLD, libc::SIGALRM] {
            libc::signal(signal, libc::SIG_DFL);
        }
        libc::signal(libc::SIGPIPE, libc::SIG_IGN);
    }
}

/// Runs `handler` on `signal`; interrupted calls are resumed where the kernel can.
///
/// `handler` must only do what a signal handler may (see [`batch`]).
pub(crate) fn on_signal(signal: i32, handler: extern "C" fn(i32)) {
    // SAFETY: the action is fully initialised; what the handlers of this crate do is listed in `batch`.
    unsafe {
        let mut action = std::mem::zeroed::<libc::sigaction>();
        action.sa_sigaction = handler as *const () as usize;
        action.sa_flags = libc::SA_RESTART;
        libc::sigemptyset(&raw mut action.sa_mask);
        libc::sigaction(signal, &raw const action, std::ptr::null_mut());
    }
}

/// Sends this process one SIGALRM after so many microseconds.
pub(crate) fn alarm_in(microseconds: u32) {
    let mut timer = libc::itimerval {
        it_interval: libc::timeval { tv_sec: 0, tv_usec: 0 },
        it_value: libc::timeval { tv_sec: 0, tv_usec: 0 },
    };
    timer.it_value.tv_usec = libc::suseconds_t::from(microseconds);
    // SAFETY: the value is initialised and only read.
    unsafe { libc::setitimer(libc::ITIMER_REAL, &raw const timer, std::ptr::null_mut()) };
}

/// Ends the process at once: no destructors, no exit handlers, nothing that belongs to the process it was forked from.
pub(crate) fn exit_now(code: i32) -> ! {
    // SAFETY: _exit does not return and touches no memory of ours.
    unsafe { libc::_exit(code) }
}

/// A system call by number, for the probes that try what must not be possible.
pub(crate) fn raw_call(number: libc::c_long, args: [libc::c_long; 6]) -> Result<libc::c_long, i32> {
    let [a, b, c, d, e, f] = args;
    // SAFETY: the probes pass addresses of live data or zero, and the calls they try either fail or end the process.
    let result = unsafe { libc::syscall(number, a, b, c, d, e, f) };
    if result == -1 { Err(io::Error::last_os_error().raw_os_error().unwrap_or(0)) } else { Ok(result) }
}
