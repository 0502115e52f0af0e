//! The one place with `unsafe`: what the worker asks of the kernel and what no safe crate offers.
//!
//! All of it is called by the worker's processes only, which have a single thread. Each function does one thing and says
//! why it is sound. What other processes of ours ask of the kernel, too, is in `cove-walls`.
#![allow(unsafe_code)]

pub(crate) mod batch;
pub(crate) mod code;
pub(crate) mod font_memory;
pub(crate) mod heap;

use std::io;
use std::os::fd::{FromRawFd, OwnedFd};

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
    let timer = libc::itimerval {
        it_interval: libc::timeval { tv_sec: 0, tv_usec: 0 },
        it_value: libc::timeval { tv_sec: 0, tv_usec: microseconds.into() },
    };
    // SAFETY: the value is initialised and only read.
    unsafe { libc::setitimer(libc::ITIMER_REAL, &raw const timer, std::ptr::null_mut()) };
}

/// A system call by number, for the probes that try what must not be possible.
pub(crate) fn raw_call(number: libc::c_long, args: [libc::c_long; 6]) -> Result<libc::c_long, i32> {
    let [a, b, c, d, e, f] = args;
    // SAFETY: the probes pass addresses of live data or zero, and the calls they try either fail or end the process.
    let result = unsafe { libc::syscall(number, a, b, c, d, e, f) };
    if result == -1 { Err(io::Error::last_os_error().raw_os_error().unwrap_or(0)) } else { Ok(result) }
}
