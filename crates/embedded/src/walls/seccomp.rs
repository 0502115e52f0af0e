//! seccomp: a list of what the engine needs; everything else ends the process.
//!
//! Three filters lie on top of each other, and the strictest word counts. The first answers `EPERM` where a library may
//! innocently ask (files). The second is the list. The third, put on by each child, takes away what only the zygote needs;
//! it is short, because a child is made for every run.

use std::collections::BTreeMap;

use libc::c_long;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    apply_filter,
};

use super::{Survey, WallName};

type Rules = BTreeMap<i64, Vec<SeccompRule>>;
type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

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
const ALLOWED_HERE: &[c_long] = &[libc::SYS_poll, libc::SYS_dup2];
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

fn when(argument: u8, operator: SeccompCmpOp, value: u64) -> Outcome<SeccompRule> {
    let condition = SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value)?;
    Ok(SeccompRule::new(vec![condition])?)
}

fn compile(rules: Rules, otherwise: SeccompAction, matched: SeccompAction) -> Outcome<BpfProgram> {
    let arch = std::env::consts::ARCH.try_into()?;
    Ok(SeccompFilter::new(rules, otherwise, matched, arch)?.try_into()?)
}

fn plain(calls: &[&[c_long]]) -> Rules {
    calls.iter().flat_map(|calls| calls.iter()).map(|call| (*call, Vec::new())).collect()
}

fn allow_list() -> Outcome<BpfProgram> {
    let mut rules = plain(&[ALLOWED, ALLOWED_HERE, REFUSED, REFUSED_HERE]);
    let flag = |value: i32| u64::from(value.unsigned_abs());
    // Memory that can be executed is never needed: the engine interprets. Nor is memory to share, which the kernel would
    // not count as this process's data; the fonts' shelf is mapped by now.
    let none_of = |argument, bits| {
        SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::MaskedEq(flag(bits)), 0)
    };
    let private = SeccompRule::new(vec![none_of(2, libc::PROT_EXEC)?, none_of(3, libc::MAP_SHARED)?])?;
    rules.insert(libc::SYS_mmap, vec![private]);
    rules.insert(libc::SYS_mprotect, vec![SeccompRule::new(vec![none_of(2, libc::PROT_EXEC)?])?]);
    // A fork, and nothing that shares memory or makes namespaces: the low byte is the signal, the rest glibc's two flags.
    let fork_flags = libc::CLONE_CHILD_SETTID | libc::CLONE_CHILD_CLEARTID | 0xff;
    rules.insert(libc::SYS_clone, vec![when(0, SeccompCmpOp::MaskedEq(u64::from(!fork_flags as u32)), 0)?]);
    rules.insert(libc::SYS_socketpair, vec![when(0, SeccompCmpOp::Eq, flag(libc::AF_UNIX))?]);
    // Questions about a descriptor and its plain flags. Not who is signalled when it is ready, which could be a neighbour,
    // nor how much the kernel keeps for a pipe.
    let plain_commands = [libc::F_GETFD, libc::F_SETFD, libc::F_GETFL, libc::F_SETFL, libc::F_DUPFD_CLOEXEC];
    let plain_commands = plain_commands.map(|command| when(1, SeccompCmpOp::Eq, flag(command)));
    rules.insert(libc::SYS_fcntl, plain_commands.into_iter().collect::<Outcome<_>>()?);
    // One's own limits, which can only be lowered.
    rules.insert(libc::SYS_prlimit64, vec![when(0, SeccompCmpOp::Eq, 0)?]);
    let options = [libc::PR_SET_PDEATHSIG, libc::PR_SET_NO_NEW_PRIVS, libc::PR_SET_NAME];
    let options = options.map(|option| when(0, SeccompCmpOp::Eq, flag(option)));
    rules.insert(libc::SYS_prctl, options.into_iter().collect::<Outcome<_>>()?);
    compile(rules, SeccompAction::KillProcess, SeccompAction::Allow)
}

/// The filter that a child puts on last.
pub(crate) struct ChildFilter(BpfProgram);

impl ChildFilter {
    fn compile() -> Outcome<Self> {
        let mut rules = plain(&[ZYGOTE_ONLY]);
        // A child may signal itself (an abort does) and nobody else.
        rules.insert(libc::SYS_tgkill, vec![when(0, SeccompCmpOp::Ne, OWN_PID.into())?]);
        compile(rules, SeccompAction::Allow, SeccompAction::KillProcess).map(Self)
    }

    /// Writes the child's own process id into the filter and puts it on.
    pub(crate) fn put_on(&mut self) -> Outcome<()> {
        let own = rustix::process::getpid().as_raw_nonzero().get().unsigned_abs();
        for instruction in self.0.iter_mut().filter(|instruction| instruction.k == OWN_PID) {
            instruction.k = own;
        }
        Ok(apply_filter(&self.0)?)
    }
}

/// Puts on the zygote's two filters and prepares the children's.
pub(super) fn put_on(survey: &mut Survey) -> Option<ChildFilter> {
    let outcome = (|| {
        let child = ChildFilter::compile()?;
        let list = allow_list()?;
        let errno = SeccompAction::Errno(libc::EPERM.unsigned_abs());
        let refused = compile(plain(&[REFUSED, REFUSED_HERE]), SeccompAction::Allow, errno)?;
        apply_filter(&refused)?;
        apply_filter(&list)?;
        Outcome::Ok((child, list.len()))
    })();
    match outcome {
        Ok((child, length)) => {
            survey.note(WallName::Seccomp, Ok::<_, String>(format!("an allow-list of {length} instructions")));
            Some(child)
        }
        Err(error) => {
            survey.note(WallName::Seccomp, Err(error));
            None
        }
    }
}
