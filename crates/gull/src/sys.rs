//! The only unsafe room: what agent-browser's processes do between `fork` and `exec`.
//!
//! Nothing in the closure allocates, locks or reads what other threads write; everything it needs is computed before
//! the fork. Whatever fails ends the child, never the parent.

#![allow(unsafe_code)]

use std::io;
use std::os::fd::RawFd;

use tokio::process::Command;

/// What such a small program never needs more of: open files, and bytes in one file (a long recording).
const OPEN_FILES: u64 = 256;
const FILE_BYTES: u64 = 1 << 30;

/// What the child becomes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ChildSetup {
    /// User and group to become, if the parent is root.
    pub(crate) become_id: Option<u32>,
    /// A Landlock ruleset to live under, if there is one.
    pub(crate) ruleset: Option<RawFd>,
    /// Whether it must not start any process or thread.
    pub(crate) alone: bool,
    /// The parent, to see whether it is still there.
    pub(crate) parent: u32,
}

/// Arranges for `command`'s child to stand alone: a session of its own, an unprivileged user, its walls, no inherited
/// descriptors, and death with the thread that made it.
pub(crate) fn prepare_child(command: &mut Command, setup: ChildSetup) {
    // SAFETY: the closure makes only async-signal-safe system calls on values it owns (see the module's words).
    unsafe {
        command.pre_exec(move || become_child(setup));
    }
}

fn become_child(setup: ChildSetup) -> io::Result<()> {
    // SAFETY: plain system calls with scalar arguments or pointers to locals that outlive the call; this runs in the
    // single-threaded child between fork and exec.
    unsafe {
        check(libc::setsid())?;
        libc::umask(0o077);
        libc::syscall(libc::SYS_close_range, 3u32, u32::MAX, 4u32);
        for (resource, most) in
            [(libc::RLIMIT_CORE, 0), (libc::RLIMIT_NOFILE, OPEN_FILES), (libc::RLIMIT_FSIZE, FILE_BYTES)]
        {
            check(libc::setrlimit(resource, &libc::rlimit { rlim_cur: most, rlim_max: most }))?;
        }
        // As root the walls go up without this promise, but nothing here has a use for new privileges.
        check(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))?;
        if let Some(ruleset) = setup.ruleset
            && libc::syscall(libc::SYS_landlock_restrict_self, ruleset, 0u32) != 0
        {
            return Err(io::Error::last_os_error());
        }
        if let Some(id) = setup.become_id {
            check(libc::setgroups(0, std::ptr::null()))?;
            check(libc::setresgid(id, id, id))?;
            check(libc::setresuid(id, id, id))?;
        }
        // After the change of user, which would count the processes of the new one.
        if setup.alone {
            check(libc::setrlimit(libc::RLIMIT_NPROC, &libc::rlimit { rlim_cur: 0, rlim_max: 0 }))?;
        }
        // After the change of user, which clears it.
        check(libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL))?;
        if libc::getppid() != setup.parent.cast_signed() {
            return Err(io::Error::from_raw_os_error(libc::ESRCH));
        }
    }
    Ok(())
}

fn check(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}
