//! seccomp: a list of what the engine needs; everything else ends the process.
//!
//! Three filters lie on top of each other, and the strictest word counts. The first answers `EPERM` where a library may
//! innocently ask (files). The second is the list. The third, put on by each child, takes away what only the zygote needs;
//! it is short, because a child is made for every run.

use cove_walls::seccomp::{Action, Argument, Calls, Filter, SeccompError};
use libc::c_long;

use super::{Survey, WallName};

/// Allowed without looking at the arguments: memory, time, and talking on descriptors that are already open.
const ALLOWED: &[c_long] = &[
    libc::SYS_read,
    libc::SYS_write,
    libc::SYS_writev,
    libc::SYS_recvfrom,
    libc::SYS_sendto,
    libc::SYS_recvmsg,
    libc::SYS_sendmsg,
    libc::SYS_ppoll,
    libc::SYS_close,
    libc::SYS_close_range,
    libc::SYS_dup3,
    libc::SYS_pipe2,
    libc::SYS_fstat,
    libc::SYS_pidfd_open,
    libc::SYS_wait4,
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_getpid,
    libc::SYS_getppid,
    libc::SYS_gettid,
    libc::SYS_getuid,
    libc::SYS_geteuid,
    libc::SYS_getgid,
    libc::SYS_getegid,
    libc::SYS_tgkill,
    // How musl's `abort` signals.
    #[cfg(target_env = "musl")]
    libc::SYS_tkill,
    libc::SYS_brk,
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_madvise,
    libc::SYS_futex,
    libc::SYS_getrandom,
    libc::SYS_clock_gettime,
    libc::SYS_clock_getres,
    libc::SYS_clock_nanosleep,
    libc::SYS_gettimeofday,
    libc::SYS_nanosleep,
    libc::SYS_setitimer,
    libc::SYS_sched_yield,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sigaltstack,
    libc::SYS_restart_syscall,
    libc::SYS_set_robust_list,
    libc::SYS_set_tid_address,
    libc::SYS_rseq,
    libc::SYS_seccomp,
];

#[cfg(target_arch = "x86_64")]
const ALLOWED_HERE: &[c_long] = &[
    libc::SYS_poll,
    libc::SYS_dup2,
    #[cfg(target_env = "musl")]
    libc::SYS_fork,
];
#[cfg(not(target_arch = "x86_64"))]
const ALLOWED_HERE: &[c_long] = &[];

/// Answered with `EPERM`: what a C library may ask in passing (a time zone, a locale, the size of memory) and can do without.
const REFUSED: &[c_long] = &[
    libc::SYS_openat,
    libc::SYS_newfstatat,
    libc::SYS_statx,
    libc::SYS_faccessat,
    libc::SYS_faccessat2,
    libc::SYS_readlinkat,
    libc::SYS_getcwd,
    libc::SYS_getdents64,
    libc::SYS_ioctl,
    libc::SYS_lseek,
    libc::SYS_uname,
    libc::SYS_sysinfo,
    libc::SYS_sched_getaffinity,
    libc::SYS_getrusage,
];

#[cfg(target_arch = "x86_64")]
const REFUSED_HERE: &[c_long] =
    &[libc::SYS_open, libc::SYS_stat, libc::SYS_lstat, libc::SYS_access, libc::SYS_readlink, libc::SYS_time];
#[cfg(not(target_arch = "x86_64"))]
const REFUSED_HERE: &[c_long] = &[];

/// What the zygote needs and no child does.
const ZYGOTE_ONLY: &[c_long] = &[
    libc::SYS_clone,
    #[cfg(all(target_arch = "x86_64", target_env = "musl"))]
    libc::SYS_fork,
    libc::SYS_socketpair,
    libc::SYS_sendmsg,
    libc::SYS_recvmsg,
    libc::SYS_pidfd_open,
    libc::SYS_wait4,
    libc::SYS_prctl,
    libc::SYS_seccomp,
    libc::SYS_pipe2,
];

/// Stands in the child's filter where its own process id belongs.
const OWN_PID: u32 = 0x5afe_c0de;

fn allow_list() -> Result<Filter, SeccompError> {
    let mut calls = Calls::of(&[ALLOWED, ALLOWED_HERE, REFUSED, REFUSED_HERE]);
    // Memory that can be executed is never needed: the engine interprets. Nor is memory to share, which the kernel would
    // not count as this process's data; the fonts' memory is mapped by now.
    let no_code = (2, Argument::without(libc::PROT_EXEC));
    calls.insert_when(libc::SYS_mmap, [vec![no_code, (3, Argument::without(libc::MAP_SHARED))]]);
    calls.insert_when(libc::SYS_mprotect, [vec![no_code]]);
    // A fork, and nothing that shares memory or makes namespaces: the low byte is the signal, the rest glibc's two flags.
    let fork_flags = libc::CLONE_CHILD_SETTID | libc::CLONE_CHILD_CLEARTID | 0xff;
    calls.insert_when_any(libc::SYS_clone, 0, [Argument::without(!fork_flags)]);
    calls.insert_when_any(libc::SYS_socketpair, 0, [Argument::is(libc::AF_UNIX)]);
    // Questions about a descriptor and its plain flags. Not who is signalled when it is ready, which could be a neighbour,
    // nor how much the kernel keeps for a pipe.
    let plain_commands = [libc::F_GETFD, libc::F_SETFD, libc::F_GETFL, libc::F_SETFL, libc::F_DUPFD_CLOEXEC];
    calls.insert_when_any(libc::SYS_fcntl, 1, plain_commands.map(Argument::is));
    // One's own limits, which can only be lowered.
    calls.insert_when_any(libc::SYS_prlimit64, 0, [Argument::Is(0)]);
    let options = [libc::PR_SET_PDEATHSIG, libc::PR_SET_NO_NEW_PRIVS, libc::PR_SET_NAME];
    calls.insert_when_any(libc::SYS_prctl, 0, options.map(Argument::is));
    calls.compile(Action::Allow, Action::Kill)
}

/// The filter that a child puts on last.
pub(crate) struct ChildFilter(Filter);

impl ChildFilter {
    fn compile() -> Result<Self, SeccompError> {
        let mut calls = Calls::of(&[ZYGOTE_ONLY]);
        // A child may signal itself (an abort does) and nobody else.
        calls.insert_when_any(libc::SYS_tgkill, 0, [Argument::IsNot(OWN_PID)]);
        #[cfg(target_env = "musl")]
        calls.insert_when_any(libc::SYS_tkill, 0, [Argument::IsNot(OWN_PID)]);
        calls.compile(Action::Kill, Action::Allow).map(Self)
    }

    /// Writes the child's own process id into the filter and puts it on.
    pub(crate) fn put_on(&mut self) -> Result<(), SeccompError> {
        self.0.fill_in(OWN_PID, rustix::process::getpid().as_raw_nonzero().get().unsigned_abs());
        self.0.put_on()
    }
}

/// Puts on the zygote's two filters and prepares the children's.
pub(super) fn put_on(survey: &mut Survey) -> Option<ChildFilter> {
    let outcome = (|| {
        let child = ChildFilter::compile()?;
        let list = allow_list()?;
        Calls::of(&[REFUSED, REFUSED_HERE]).compile(Action::Fail(libc::EPERM), Action::Allow)?.put_on()?;
        list.put_on()?;
        Ok::<_, SeccompError>((child, list.instructions()))
    })();
    match outcome {
        Ok((child, length)) => {
            survey.note(WallName::Seccomp, Ok::<_, String>(format!("an allow-list of {length} instructions")));
            Some(child)
        }
        Err(error) => {
            survey.note(WallName::Seccomp, Err::<String, _>(error));
            None
        }
    }
}
