//! The one folder with `unsafe`: what the walls ask of the kernel and what no safe crate offers.
//!
//! Each function does one thing and says why it is sound. Nothing here decides anything, nothing here allocates unless it
//! takes a path: most of it runs right after a fork.
#![allow(unsafe_code)]

mod shared;
pub mod spawn;

pub use shared::SharedPage;

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::thread::UnshareFlags;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

fn checked(result: libc::c_long) -> io::Result<libc::c_long> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// A copy of this process; zero in the copy, the copy's id in the original.
#[expect(clippy::disallowed_methods, reason = "this file forks processes")]
pub(crate) fn fork() -> io::Result<libc::c_long> {
    // SAFETY: callers have one thread, so the copy holds no lock that another thread had taken.
    checked(unsafe { libc::fork() }.into())
}

/// A copy of this process whose parent is *our* parent.
pub(crate) fn fork_sibling() -> io::Result<libc::c_long> {
    let flags = libc::c_long::from(libc::CLONE_PARENT | libc::SIGCHLD);
    let none: libc::c_long = 0;
    // SAFETY: like `fork`: one thread, no shared memory (no CLONE_VM), and the child keeps its own copy of the stack.
    checked(unsafe { libc::syscall(libc::SYS_clone, flags, none, none, none, none) })
}

/// How long a process has run on processors, all of its threads together, in nanoseconds.
pub(crate) fn run_time(pid: u32) -> io::Result<u64> {
    /// The clock of a process, not of a thread, by the scheduler's own count.
    const SCHEDULED: libc::clockid_t = 2;
    let clock = (!pid.cast_signed() << 3) | SCHEDULED;
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the kernel writes one timespec to where a whole one is.
    checked(unsafe { libc::clock_gettime(clock, &raw mut time) }.into())?;
    Ok(time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs())
}

/// Ends the process at once.
pub(crate) fn exit_now(code: i32) -> ! {
    // SAFETY: _exit does not return and touches no memory of ours.
    unsafe { libc::_exit(code) }
}

/// Runs `prepare` in the child of `command`, between fork and exec.
#[expect(clippy::disallowed_methods, reason = "this file prepares children")]
pub(crate) fn before_exec(command: &mut Command, prepare: impl FnMut() -> io::Result<()> + Send + Sync + 'static) {
    // SAFETY: the one caller is `child`, whose closure makes only system calls, on values that were made before the fork:
    // it neither allocates nor locks nor reads what other threads write.
    unsafe {
        command.pre_exec(prepare);
    }
}

/// Takes ownership of a descriptor by its number; `None` when nothing is open there.
pub(crate) fn adopt(number: RawFd) -> Option<OwnedFd> {
    // SAFETY: F_GETFD reads a flag and touches no memory.
    if unsafe { libc::fcntl(number, libc::F_GETFD) } < 0 {
        return None;
    }
    // SAFETY: it is open, and callers adopt each number once.
    Some(unsafe { OwnedFd::from_raw_fd(number) })
}

/// Makes `number` a second name for `descriptor`; what was open there is closed.
pub(crate) fn place(descriptor: BorrowedFd<'_>, number: RawFd) -> io::Result<()> {
    // SAFETY: dup2 touches no memory; callers own `number`, or have moved what was there elsewhere.
    checked(unsafe { libc::dup2(descriptor.as_raw_fd(), number) }.into()).map(drop)
}

/// Does to every descriptor from `first` on what the flags say.
pub(crate) fn close_range(first: RawFd, flags: libc::c_uint) -> io::Result<()> {
    let (first, last) = (libc::c_long::from(first), libc::c_long::from(u32::MAX));
    // SAFETY: called right after a start or a fork, when nobody in this process holds a descriptor above `first`.
    checked(unsafe { libc::syscall(libc::SYS_close_range, first, last, libc::c_long::from(flags)) }).map(drop)
}

/// Leaves some of the namespaces that this process shares with others.
pub(crate) fn unshare(flags: UnshareFlags) -> io::Result<()> {
    // SAFETY: only CLONE_FILES is a danger to other threads, and callers have one thread.
    unsafe { rustix::thread::unshare_unsafe(flags) }.map_err(Into::into)
}

/// Empties the environment and settles the time zone, which the C library otherwise reads from a file later on.
pub(crate) fn forget_environment() {
    // SAFETY: callers have one thread, so nobody reads the environment meanwhile; the texts are NUL-terminated.
    unsafe {
        libc::clearenv();
        libc::setenv(c"TZ".as_ptr(), c"UTC0".as_ptr(), 1);
        let (now, mut broken_down) = (0, std::mem::zeroed::<libc::tm>());
        libc::localtime_r(&raw const now, &raw mut broken_down);
        libc::clearenv();
    }
}

/// Unblocks every signal and gives these their default action; broken pipes are ignored.
pub(crate) fn reset_signals(signals: impl IntoIterator<Item = i32>) {
    // SAFETY: plain calls with an initialised set; SIG_DFL and SIG_IGN run no code of ours.
    unsafe {
        let mut set = std::mem::zeroed::<libc::sigset_t>();
        libc::sigemptyset(&raw mut set);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const set, std::ptr::null_mut());
        for signal in signals {
            libc::signal(signal, libc::SIG_DFL);
        }
        libc::signal(libc::SIGPIPE, libc::SIG_IGN);
    }
}

/// The version of Landlock that the kernel has; an error where it has none.
pub(crate) fn landlock_version() -> io::Result<libc::c_long> {
    let (none, version): (libc::c_long, libc::c_long) = (0, 1);
    // SAFETY: with this flag the call takes no structure and only says a number.
    checked(unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, none, none, version) })
}

/// Puts this thread, and everybody whom it starts from now on, under a Landlock ruleset.
pub(crate) fn restrict_self(ruleset: BorrowedFd<'_>) -> io::Result<()> {
    let (ruleset, flags) = (libc::c_long::from(ruleset.as_raw_fd()), 0 as libc::c_long);
    // SAFETY: two numbers; no memory is touched.
    checked(unsafe { libc::syscall(libc::SYS_landlock_restrict_self, ruleset, flags) }).map(drop)
}

/// The kernel's `struct mount_attr`.
#[repr(C)]
struct MountAttributes {
    set: u64,
    clear: u64,
    propagation: u64,
    userns_fd: u64,
}

/// Sets attributes on a mount, and with `recursive` on all mounts below it. Kernels before 5.12 answer `ENOSYS`.
pub(crate) fn set_mount_attributes(path: &CStr, set: u64, recursive: bool) -> io::Result<()> {
    const AT_RECURSIVE: libc::c_long = 0x8000;
    let attributes = MountAttributes { set, clear: 0, propagation: 0, userns_fd: 0 };
    // SAFETY: the path is NUL-terminated, the structure has the kernel's layout and outlives the call.
    checked(unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            libc::c_long::from(libc::AT_FDCWD),
            path.as_ptr(),
            if recursive { AT_RECURSIVE } else { 0 },
            &raw const attributes,
            size_of::<MountAttributes>(),
        )
    })
    .map(drop)
}

/// Switches on the loopback interface, by a socket of this network namespace.
pub(crate) fn raise_loopback(socket: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: all-zero is a valid ifreq; the name is shorter than its field.
    let mut request = unsafe { std::mem::zeroed::<libc::ifreq>() };
    for (to, from) in request.ifr_name.iter_mut().zip(b"lo") {
        *to = libc::c_char::from_ne_bytes([*from]);
    }
    request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short;
    // SAFETY: the request outlives the call and is of the type that SIOCSIFFLAGS reads.
    checked(unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS as _, &raw const request) }.into()).map(drop)
}

/// Registers a borrowed descriptor with the runtime, to be told when it can be read.
pub(crate) fn watch(descriptor: BorrowedFd<'_>) -> io::Result<AsyncFd<BorrowedFd<'_>>> {
    // SAFETY: a borrowed descriptor is open, and stays the same one, until the borrow ends; the watch ends before that.
    unsafe { AsyncFd::register_with_interest(descriptor, Interest::READABLE) }.map_err(Into::into)
}

/// Registers a descriptor with the runtime, to be read and written.
pub(crate) fn watch_owned(descriptor: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    // SAFETY: the result owns the descriptor, so it stays open and the same for as long as it is registered.
    unsafe { AsyncFd::register(descriptor) }.map_err(Into::into)
}

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
pub fn run_soon() {
    if !take_turns(BETTER_NICE, SHORT_TURN_NS) {
        take_short_turns();
    }
}

/// This thread, and whom it starts, asks for short turns, in its present place: it serves others, who wait.
pub fn take_short_turns() {
    take_turns(own_nice(), SHORT_TURN_NS);
}

/// This process has more to do than it usually has: its turns stay short, its place is everybody's. [`run_soon`] undoes it.
pub fn stand_in_line() {
    take_turns(0, SHORT_TURN_NS);
}

/// This thread, and whom it starts, runs like any other program, and no sooner than with this priority.
pub fn take_usual_turns(nice: i32) {
    take_turns(own_nice().max(nice), 0);
}

/// Only root has a better place to give.
const BETTER_NICE: i32 = -10;

/// The shortest turn there is.
const SHORT_TURN_NS: u64 = 100_000;

fn own_nice() -> i32 {
    rustix::process::getpriority_process(None).unwrap_or(0)
}

/// Whether the kernel gives them. No time: the usual turns. Who was started to run only when nobody else does, or the like, stays so.
fn take_turns(nice: i32, turn_ns: u64) -> bool {
    // SAFETY: asks for a number.
    if unsafe { libc::sched_getscheduler(0) } != libc::SCHED_OTHER {
        return true;
    }
    let size = size_of::<SchedulingAttributes>();
    let attributes = SchedulingAttributes {
        size: u32::try_from(size).unwrap_or(0),
        policy: libc::SCHED_OTHER.cast_unsigned(),
        flags: 0,
        nice,
        priority: 0,
        runtime_ns: turn_ns,
        deadline_ns: 0,
        period_ns: 0,
    };
    // SAFETY: the structure has the kernel's layout and its own size, and outlives the call.
    let result =
        unsafe { libc::syscall(libc::SYS_sched_setattr, 0 as libc::c_long, &raw const attributes, 0 as libc::c_long) };
    result == 0
}
