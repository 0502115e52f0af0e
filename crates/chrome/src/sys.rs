//! The only unsafe room: what a child does between `fork` and `exec`, and the wait for a borrowed descriptor.
//!
//! Nothing in the closure allocates, locks or reads what other threads write; everything it needs is computed before
//! the fork. Whatever fails ends the child, never the parent.

#![allow(unsafe_code)]

use std::ffi::CString;
use std::io;
use std::os::fd::{AsFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::process::Command;

/// What the child becomes before it turns into the browser.
#[derive(Debug)]
pub(crate) struct ChildSetup {
    /// Where the browser reads commands; becomes descriptor 3.
    pub(crate) commands: RawFd,
    /// Where the browser writes answers; becomes descriptor 4.
    pub(crate) answers: RawFd,
    /// User and group to become, if the parent is root.
    pub(crate) become_id: Option<u32>,
    /// Private writable memory of any one process, in bytes: inherited by every process of the browser.
    pub(crate) data_limit_bytes: u64,
    /// The largest file that any of them may write.
    pub(crate) file_limit_bytes: Option<u64>,
    /// A folder that only this browser sees.
    pub(crate) mount: Option<Mount>,
    /// A Landlock ruleset to live under, if there is one.
    pub(crate) ruleset: Option<RawFd>,
    /// The parent, to see whether it is still there.
    pub(crate) parent: u32,
}

/// An opened folder, and the path under which the child sees it.
#[derive(Debug)]
pub(crate) struct Mount {
    from: CString,
    to: CString,
}

impl Mount {
    /// By its path, which is looked up in the browser's own mount namespace: the kernel mounts nothing that was opened in
    /// another.
    pub(crate) fn new(from: &Path, to: &Path) -> io::Result<Self> {
        Ok(Self { from: CString::new(from.as_os_str().as_bytes())?, to: CString::new(to.as_os_str().as_bytes())? })
    }
}

/// Arranges for `command`'s child to stand alone: a session of its own, an unprivileged user, its limits, its two
/// descriptors and no others, and death with its parent.
pub(crate) fn prepare_child(command: &mut Command, setup: ChildSetup) {
    // SAFETY: the closure makes only async-signal-safe system calls on values it owns (see the module's words).
    unsafe {
        command.pre_exec(move || become_browser(&setup));
    }
}

fn become_browser(setup: &ChildSetup) -> io::Result<()> {
    // SAFETY: plain system calls with scalar arguments or pointers to what outlives the call; this runs in the
    // single-threaded child between fork and exec.
    unsafe {
        check(libc::setsid())?;
        libc::umask(0o077);
        // First away from 3 and 4, which either descriptor may occupy, then to their places.
        let commands = check(libc::fcntl(setup.commands, libc::F_DUPFD_CLOEXEC, 16))?;
        let answers = check(libc::fcntl(setup.answers, libc::F_DUPFD_CLOEXEC, 16))?;
        check(libc::dup2(commands, 3))?;
        check(libc::dup2(answers, 4))?;
        // Best effort on old kernels: our own descriptors are all close-on-exec already.
        libc::syscall(libc::SYS_close_range, 5u32, u32::MAX, 4u32);
        limit(libc::RLIMIT_CORE, 0)?;
        limit(libc::RLIMIT_DATA, setup.data_limit_bytes)?;
        if let Some(bytes) = setup.file_limit_bytes {
            limit(libc::RLIMIT_FSIZE, bytes)?;
        }
        if let Some(Mount { from, to }) = &setup.mount {
            // In a mount namespace of its own, from which nothing spreads: it goes with the last of its processes.
            check(libc::unshare(libc::CLONE_NEWNS))?;
            let none = std::ptr::null();
            check(libc::mount(none, c"/".as_ptr(), none, libc::MS_REC | libc::MS_PRIVATE, none.cast()))?;
            check(libc::mount(from.as_ptr(), to.as_ptr(), none, libc::MS_BIND, none.cast()))?;
        }
        if let Some(ruleset) = setup.ruleset {
            // An ordinary user may only give up rights that it promises never to win back.
            if setup.become_id.is_none() {
                check(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))?;
            }
            if libc::syscall(libc::SYS_landlock_restrict_self, ruleset, 0u32) != 0 {
                return Err(io::Error::last_os_error());
            }
        }
        if let Some(id) = setup.become_id {
            check(libc::setgroups(0, std::ptr::null()))?;
            check(libc::setresgid(id, id, id))?;
            check(libc::setresuid(id, id, id))?;
        }
        // After the change of user, which clears it.
        check(libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL))?;
        if libc::getppid() != setup.parent.cast_signed() {
            return Err(io::Error::from_raw_os_error(libc::ESRCH));
        }
    }
    Ok(())
}

/// Waits until `descriptor` can be read: for a process, until it is gone.
pub(crate) async fn wait_until_readable(descriptor: &OwnedFd) -> io::Result<()> {
    // SAFETY: the registration borrows the descriptor and ends before the borrow does, so it cannot be closed meanwhile.
    let registered = unsafe { AsyncFd::register_with_interest(descriptor.as_fd(), Interest::READABLE) };
    let ready = registered.map_err(io::Error::from)?;
    ready.readable().await.map(drop)
}

fn limit(resource: libc::__rlimit_resource_t, most: u64) -> io::Result<()> {
    // SAFETY: both pointers are to a local that outlives the calls.
    unsafe {
        let mut current = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        check(libc::getrlimit(resource, &raw mut current))?;
        let most = most.min(current.rlim_max);
        check(libc::setrlimit(resource, &libc::rlimit { rlim_cur: most, rlim_max: most }))?;
    }
    Ok(())
}

fn check(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}
