//! Starts a program without waiting for it.
//!
//! The standard library's way waits until the new process has executed its program, and a guest that stops the process
//! before that makes it wait for ever. Here nobody waits: the parent has the process's handle as soon as it exists, and
//! what goes wrong in the process is written to a pipe that the parent reads when it wants to know.

use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

/// What the three standard descriptors of the program are.
#[derive(Debug)]
pub struct StandardStreams {
    /// Number 0.
    pub input: OwnedFd,
    /// Number 1.
    pub output: OwnedFd,
    /// Number 2.
    pub error: OwnedFd,
}

/// What a program and everybody below it carries, so that they can be found: two hard limits that nobody needs and that
/// can only be lowered.
pub type Mark = [u64; 2];

/// A program to start.
#[derive(Debug)]
pub struct Start {
    /// A path, or a name that is looked for in the environment's `PATH`.
    pub program: String,
    /// Its arguments, without its own name.
    pub args: Vec<String>,
    /// Its whole environment.
    pub env: Vec<(String, String)>,
    /// The opened working directory; a handle, so that nobody can swap what its name means.
    pub cwd: OwnedFd,
    /// Its standard streams.
    pub streams: StandardStreams,
    /// Whether standard input is a terminal that the program is to control.
    pub terminal: bool,
    /// A descriptor that the program gets under its present number.
    pub inherit: Option<OwnedFd>,
    /// How many processes the program's user may have; `None`: as many as we.
    pub processes: Option<u64>,
}

/// A process that has been made.
#[derive(Debug)]
pub struct Spawned {
    /// Its number.
    pub pid: i32,
    /// Its handle: means this process, also when its number is another's by now.
    pub handle: OwnedFd,
    /// Four bytes if the program could not be executed, the system's number for why; then the end.
    pub trouble: OwnedFd,
}

/// Lowers our score of who is killed first, which was raised for the copy to inherit.
#[derive(Debug, Clone, Copy)]
pub struct Lower {
    /// The opened `oom_score_adj` of ours, which must stay open meanwhile.
    pub file: RawFd,
    /// What is written to it.
    pub text: [u8; 8],
    /// How much of that.
    pub length: usize,
}

/// Where programs are looked for when the environment does not say.
const USUAL_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// How the C library numbers limits.
#[cfg(target_env = "gnu")]
type LimitNumber = libc::__rlimit_resource_t;
#[cfg(not(target_env = "gnu"))]
type LimitNumber = libc::c_int;

/// The limits that hold the two halves of a mark; neither limits anything.
const MARK_LIMITS: [LimitNumber; 2] = [libc::RLIMIT_LOCKS, libc::RLIMIT_RTTIME];

/// Everything that the new process needs, made before there is one: it must not allocate.
struct Prepared {
    candidates: Vec<CString>,
    argv: Vec<*const libc::c_char>,
    envp: Vec<*const libc::c_char>,
    cwd: RawFd,
    streams: [RawFd; 3],
    terminal: bool,
    inherit: Option<RawFd>,
    processes: Option<u64>,
    mark: Option<Mark>,
    trouble: RawFd,
}

/// Makes a process that is to become the program, with this mark on it and on everybody below it.
pub fn spawn(start: Start, mark: Option<Mark>, lower: Option<Lower>) -> io::Result<Spawned> {
    let (trouble, told) =
        rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC | rustix::pipe::PipeFlags::NONBLOCK)?;
    let words = |words: Vec<String>| words.into_iter().map(CString::new).collect::<Result<Vec<_>, _>>();
    let candidates = words(candidates(&start.program, &start.env))?;
    let mut args = vec![start.program.clone()];
    args.extend(start.args);
    let args = words(args)?;
    let env = words(start.env.into_iter().map(|(name, value)| format!("{name}={value}")).collect())?;
    let pointers =
        |words: &[CString]| words.iter().map(|word| word.as_ptr()).chain([std::ptr::null()]).collect::<Vec<_>>();
    let prepared = Prepared {
        candidates,
        argv: pointers(&args),
        envp: pointers(&env),
        cwd: start.cwd.as_raw_fd(),
        streams: [&start.streams.input, &start.streams.output, &start.streams.error].map(AsRawFd::as_raw_fd),
        terminal: start.terminal,
        inherit: start.inherit.as_ref().map(AsRawFd::as_raw_fd),
        processes: start.processes,
        mark,
        trouble: told.as_raw_fd(),
    };
    let mut handle: libc::c_int = -1;
    let none: libc::c_long = 0;
    // SAFETY: the raw call shares no memory (no CLONE_VM) and runs no atfork handlers. The new process has one thread
    // and may find any lock taken, so it does nothing but system calls on memory that was prepared above, and ends.
    // `handle` outlives the call, which writes one int there in the parent.
    let pid = unsafe {
        let flags = libc::c_long::from(libc::SIGCHLD | libc::CLONE_PIDFD);
        let pid = libc::syscall(libc::SYS_clone, flags, none, &raw mut handle, none, none);
        // Both, and before anything else: as long as it is raised, we may be killed for the program's memory.
        if let Some(Lower { file, text, length }) = &lower {
            libc::pwrite(*file, text.as_ptr().cast(), *length, 0);
        }
        if pid == 0 {
            become_program(&prepared);
        }
        pid as libc::pid_t
    };
    if pid < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call has just made it, and it is nobody else's.
    Ok(Spawned { pid, handle: unsafe { OwnedFd::from_raw_fd(handle) }, trouble })
}

/// What to try to execute: the path as it is, or the name in each folder of the `PATH`.
fn candidates(program: &str, env: &[(String, String)]) -> Vec<String> {
    if program.contains('/') {
        return vec![program.to_owned()];
    }
    let path = env.iter().find(|(name, _)| name == "PATH").map_or(USUAL_PATH, |(_, path)| path);
    path.split(':').filter(|folder| !folder.is_empty()).map(|folder| format!("{folder}/{program}")).collect()
}

/// In the new process: becomes the program, or says why not and ends.
///
/// # Safety
/// Only in a process that was just made and has one thread; what `prepared` points to must be there.
unsafe fn become_program(prepared: &Prepared) -> ! {
    // SAFETY: as the caller promises; each call takes numbers, or memory that was prepared before.
    unsafe {
        let number = match arrange(prepared) {
            Ok(()) => {
                let mut number = libc::ENOENT;
                for candidate in &prepared.candidates {
                    libc::execve(candidate.as_ptr(), prepared.argv.as_ptr(), prepared.envp.as_ptr());
                    match *libc::__errno_location() {
                        libc::ENOENT | libc::ENOTDIR => {}
                        libc::EACCES => number = libc::EACCES,
                        other => {
                            number = other;
                            break;
                        }
                    }
                }
                number
            }
            Err(number) => number,
        };
        libc::write(prepared.trouble, (&raw const number).cast(), size_of::<libc::c_int>());
        libc::_exit(127)
    }
}

/// Everything between the start of the process and its program; the system's number for what went wrong.
///
/// # Safety
/// As for [`become_program`].
unsafe fn arrange(prepared: &Prepared) -> Result<(), libc::c_int> {
    // SAFETY: plain system calls on numbers that are open here and on local memory.
    unsafe {
        let check = |result: libc::c_int| if result < 0 { Err(*libc::__errno_location()) } else { Ok(()) };
        // The mark first: from here on every process below is known as this program's.
        if let Some(halves) = prepared.mark {
            for (resource, most) in MARK_LIMITS.into_iter().zip(halves) {
                check(libc::setrlimit(resource, &libc::rlimit { rlim_cur: most, rlim_max: most }))?;
            }
        }
        libc::setsid();
        for (from, to) in prepared.streams.into_iter().zip(0..) {
            check(libc::dup2(from, to))?;
        }
        if prepared.terminal {
            check(libc::ioctl(0, libc::TIOCSCTTY, 0))?;
        }
        check(libc::fchdir(prepared.cwd))?;
        if let Some(most) = prepared.processes {
            libc::setrlimit(libc::RLIMIT_NPROC, &libc::rlimit { rlim_cur: most, rlim_max: most });
        }
        if let Some(number) = prepared.inherit {
            check(libc::fcntl(number, libc::F_SETFD, 0))?;
        }
        // No handler of ours may run in here, and the program begins with none of our settings.
        for signal in 1..=64 {
            libc::signal(signal, libc::SIG_DFL);
        }
        let mut none = std::mem::zeroed::<libc::sigset_t>();
        libc::sigemptyset(&raw mut none);
        check(libc::sigprocmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut()))
    }
}

/// Blocks every signal for this thread: what it starts begins with all of them blocked and none of our handlers runs
/// there.
pub fn block_signals() {
    // SAFETY: plain calls with an initialised set; it concerns this thread alone.
    unsafe {
        let mut all = std::mem::zeroed::<libc::sigset_t>();
        libc::sigfillset(&raw mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, std::ptr::null_mut());
    }
}

/// The two hard limits of a process that hold its mark; `None`: it is gone, or somebody else's.
pub fn mark_of(pid: i32) -> Option<Mark> {
    let mut halves = [0; 2];
    for (half, resource) in halves.iter_mut().zip(MARK_LIMITS) {
        let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: nothing is set; the kernel writes one structure that outlives the call.
        let result = unsafe { libc::prlimit(pid, resource, std::ptr::null(), &raw mut limit) };
        if result < 0 {
            return None;
        }
        *half = limit.rlim_max;
    }
    Some(halves)
}

/// An empty standard input.
pub fn no_input() -> io::Result<OwnedFd> {
    Ok(File::open("/dev/null")?.into())
}

/// Whose end is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whose {
    /// Any child's.
    Any,
    /// This one's.
    Child(i32),
}

/// Takes one child away that has ended: its number and wait status. `None`: none has.
pub fn reap(whose: Whose) -> Option<(i32, i32)> {
    let mut status = 0;
    let pid = match whose {
        Whose::Any => -1,
        Whose::Child(pid) => pid,
    };
    // SAFETY: waitpid writes one int.
    let pid = unsafe { libc::waitpid(pid, &raw mut status, libc::WNOHANG) };
    (pid > 0).then_some((pid, status))
}

/// Whether a process is a child of this one, alive or waiting to be taken away.
pub fn is_child(pid: i32) -> bool {
    // SAFETY: all-zero is a valid siginfo_t, and the call writes one.
    unsafe {
        let mut about = std::mem::zeroed::<libc::siginfo_t>();
        let flags = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
        libc::waitid(libc::P_PID, pid.cast_unsigned(), &raw mut about, flags) == 0
    }
}
