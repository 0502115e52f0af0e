//! Starts a program under a *keeper*: a process of ours that stands between Ship and the program and adopts all orphans
//! below it.
//!
//! Without it a program's grandchildren that fork twice or leave their session (`setsid`) would belong to process 1,
//! and nobody could say any more which command they came from. With it they stay below their keeper, so one walk down
//! the tree finds all of them. The keeper is this very process image, forked and never executed: it waits for children,
//! tells Ship how the program ended, and goes when its last child has gone.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

/// What the three standard descriptors of the program are.
pub(crate) struct StandardStreams {
    pub(crate) input: OwnedFd,
    pub(crate) output: OwnedFd,
    pub(crate) error: OwnedFd,
}

/// A program to start.
pub(crate) struct Start<'a> {
    pub(crate) program: &'a str,
    pub(crate) args: &'a [String],
    pub(crate) env: &'a [(String, String)],
    /// The opened working directory; a handle, so that nobody can swap what its name means.
    pub(crate) cwd: OwnedFd,
    pub(crate) streams: StandardStreams,
    /// Whether standard input is a terminal that the program is to control.
    pub(crate) terminal: bool,
    /// A descriptor that the program gets under its present number.
    pub(crate) inherit: Option<OwnedFd>,
    /// How many processes the program's user may have; `None`: as many as Ship.
    pub(crate) processes: Option<u64>,
}

/// A started program, as its keeper sees it.
#[derive(Debug)]
pub(crate) struct Started {
    /// The keeper's id.
    pub(crate) keeper: u32,
    /// Eight bytes when the program has started (its id) and eight when it has ended (its wait status); then the end.
    pub(crate) news: OwnedFd,
}

/// Who is killed first when memory runs out: any guest before Ship.
const OOM_SCORE: &[u8] = b"500";

/// Starts the program. Fails when it cannot be executed.
#[expect(clippy::disallowed_methods, reason = "this is the room that owns Ship's processes")]
pub(crate) fn start(start: Start<'_>) -> io::Result<Started> {
    let (news, tell) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
    let Start { program, args, env, cwd, streams, terminal, inherit, processes } = start;
    let mut command = Command::new(program);
    command.args(args).env_clear().envs(env.iter().map(|(name, value)| (name, value)));
    command.stdin(Stdio::from(streams.input)).stdout(Stdio::from(streams.output)).stderr(Stdio::from(streams.error));
    let (tell_fd, cwd_fd, inherit_fd) = (tell.as_raw_fd(), cwd.as_raw_fd(), inherit.as_ref().map(AsRawFd::as_raw_fd));
    // SAFETY: between fork and exec `divide` makes only system calls: no allocation, no locks, no Rust I/O.
    unsafe { command.pre_exec(move || divide(tell_fd, cwd_fd, inherit_fd, terminal, processes)) };
    let child = command.spawn()?;
    Ok(Started { keeper: child.id(), news })
}

/// In the forked child: becomes the keeper, and returns only in the grandchild that is to be the program.
fn divide(tell: RawFd, cwd: RawFd, inherit: Option<RawFd>, terminal: bool, processes: Option<u64>) -> io::Result<()> {
    let none: libc::c_long = 0;
    // SAFETY: plain system calls on numbers that are open here; the raw clone shares nothing (no CLONE_VM) and runs no
    // atfork handlers, so it is as safe after a fork as `fork` itself.
    unsafe {
        if libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0 || libc::fchdir(cwd) < 0 {
            return Err(io::Error::last_os_error());
        }
        let program =
            libc::syscall(libc::SYS_clone, libc::c_long::from(libc::SIGCHLD), none, none, none, none) as libc::pid_t;
        if program < 0 {
            return Err(io::Error::last_os_error());
        }
        if program > 0 {
            keep(program, tell);
        }
        libc::setsid();
        if terminal && libc::ioctl(0, libc::TIOCSCTTY, 0) < 0 {
            return Err(io::Error::last_os_error());
        }
        if let Some(most) = processes {
            let limit = libc::rlimit { rlim_cur: most, rlim_max: most };
            libc::setrlimit(libc::RLIMIT_NPROC, &raw const limit);
        }
        if let Some(number) = inherit {
            libc::fcntl(number, libc::F_SETFD, 0);
        }
        let score = libc::open(c"/proc/self/oom_score_adj".as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC);
        if score >= 0 {
            libc::write(score, OOM_SCORE.as_ptr().cast(), OOM_SCORE.len());
            libc::close(score);
        }
    }
    Ok(())
}

/// The keeper's whole life.
fn keep(program: libc::pid_t, tell: RawFd) -> ! {
    // SAFETY: only system calls on local memory; nothing returns into Rust code that belongs to the parent.
    unsafe {
        let mut all = std::mem::zeroed::<libc::sigset_t>();
        libc::sigfillset(&raw mut all);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const all, std::ptr::null_mut());
        libc::prctl(libc::PR_SET_NAME, c"keeper".as_ptr(), 0, 0, 0);
        // The program's pipes must end when the program's side ends, not when its keeper does.
        let number = libc::c_long::from(tell);
        if tell > 0 {
            libc::syscall(libc::SYS_close_range, 0 as libc::c_long, number - 1, 0 as libc::c_long);
        }
        libc::syscall(libc::SYS_close_range, number + 1, libc::c_long::from(u32::MAX), 0 as libc::c_long);
        let say = |word: i32, value: i32| {
            let message = [word, value];
            libc::write(tell, message.as_ptr().cast(), 8);
        };
        say(0, program);
        loop {
            let mut status = 0;
            let ended = libc::waitpid(-1, &raw mut status, 0);
            if ended == program {
                say(1, status);
            } else if ended < 0 && *libc::__errno_location() != libc::EINTR {
                libc::_exit(0);
            }
        }
    }
}

/// What a keeper says, in the order in which it says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum News {
    /// The keeper itself has this id. Only keepers that Ship has not started say so, and first.
    Keeper(i32),
    /// The program runs under this id.
    Started(i32),
    /// The program has ended with this wait status.
    Ended(i32),
}

impl News {
    /// Reads one message.
    pub(crate) fn read(message: [u8; 8]) -> Option<Self> {
        let [a, b, c, d, rest @ ..] = message;
        match i32::from_ne_bytes([a, b, c, d]) {
            0 => Some(Self::Started(i32::from_ne_bytes(rest))),
            1 => Some(Self::Ended(i32::from_ne_bytes(rest))),
            2 => Some(Self::Keeper(i32::from_ne_bytes(rest))),
            _ => None,
        }
    }
}

/// An empty standard input.
pub(crate) fn no_input() -> io::Result<OwnedFd> {
    Ok(File::open("/dev/null")?.into())
}

/// Reaps one child of this process if it has ended. `Ok(true)`: it is gone, now or before.
pub(crate) fn reap(pid: u32) -> bool {
    let mut status = 0;
    // SAFETY: waitpid writes one int.
    let result = unsafe { libc::waitpid(pid.cast_signed(), &raw mut status, libc::WNOHANG) };
    result != 0
}
