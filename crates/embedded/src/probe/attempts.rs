//! The list: each line one thing that must not be possible, and three controls that must.

use libc::c_long;

use crate::font_store::CAPACITY_BYTES;
use crate::sys::raw_call;

/// What an attempt should come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Expected {
    /// Refused or killed.
    Fails,
    /// Refused or killed, and refused also where seccomp is left out: other walls stand behind it.
    FailsTwice,
    /// A control: if this failed, the others would prove nothing.
    Succeeds,
}

/// One attempt.
pub(super) struct Attempt {
    pub(super) name: &'static str,
    pub(super) expected: Expected,
    pub(super) act: fn() -> Result<c_long, i32>,
}

fn text(text: &'static std::ffi::CStr) -> c_long {
    text.as_ptr() as c_long
}

/// Opens a connection, as far as it comes.
fn connect_to(address: [u8; 4]) -> Result<c_long, i32> {
    let raw = |number, arguments: [c_long; 3]| raw_call(number, [arguments[0], arguments[1], arguments[2], 0, 0, 0]);
    let socket = raw(libc::SYS_socket, [libc::AF_INET.into(), libc::SOCK_STREAM.into(), 0])?;
    let target = libc::sockaddr_in {
        sin_family: libc::AF_INET as libc::sa_family_t,
        sin_port: 80_u16.to_be(),
        sin_addr: libc::in_addr { s_addr: u32::from_ne_bytes(address) },
        sin_zero: [0; 8],
    };
    raw(libc::SYS_connect, [socket, &raw const target as c_long, size_of_val(&target) as c_long])
}

/// Looks for the descriptor of a sealed file among all that could be open.
fn sealed_descriptor() -> Result<c_long, i32> {
    let seals = |number| raw_call(libc::SYS_fcntl, [number, libc::F_GET_SEALS.into(), 0, 0, 0, 0]);
    (0..1024).find_map(|number| seals(number).ok()).ok_or(libc::EBADF)
}

/// Where the font store is mapped.
fn fonts() -> usize {
    crate::sys::font_memory::address()
}

/// The last page of the font store, which the host has not written.
fn beyond_fonts() -> usize {
    fonts() + CAPACITY_BYTES as usize - 4096
}

macro_rules! attempts {
    ($($expected:ident $name:literal: $call:ident($($argument:expr),*);)*) => {
        &[$(Attempt {
            name: $name,
            expected: Expected::$expected,
            act: || {
                let given: &[c_long] = &[$($argument as c_long),*];
                let mut arguments: [c_long; 6] = [0; 6];
                arguments[..given.len()].copy_from_slice(given);
                raw_call(libc::$call, arguments)
            },
        },)*]
    };
}

const HERE: c_long = libc::AT_FDCWD as c_long;

/// 4 GiB: more than a child with a limit of 64 MiB may ever map.
const TOO_MUCH: c_long = 4 << 30;

const READ_WRITE: i32 = libc::PROT_READ | libc::PROT_WRITE;
const READ_EXEC: i32 = libc::PROT_READ | libc::PROT_EXEC;
const PRIVATE: i32 = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;

/// Attempts that take more than one call.
pub(super) const COMPOUND: &[Attempt] = &[
    Attempt { name: "connect to loopback", expected: Expected::FailsTwice, act: || connect_to([127, 0, 0, 1]) },
    Attempt { name: "a descriptor of the fonts", expected: Expected::FailsTwice, act: sealed_descriptor },
    Attempt { name: "connect to the internet", expected: Expected::FailsTwice, act: || connect_to([192, 0, 2, 1]) },
];

pub(super) const ATTEMPTS: &[Attempt] = attempts! {
    Succeeds "control: getpid": SYS_getpid();
    Succeeds "control: map a page": SYS_mmap(0, 4096, READ_WRITE, PRIVATE, -1, 0);
    Succeeds "control: read the fonts": SYS_write(2, fonts(), 1);

    FailsTwice "open /etc/passwd": SYS_openat(HERE, text(c"/etc/passwd"), libc::O_RDONLY);
    FailsTwice "open /": SYS_openat(HERE, text(c"/"), libc::O_RDONLY | libc::O_DIRECTORY);
    FailsTwice "open /proc/self/maps": SYS_openat(HERE, text(c"/proc/self/maps"), libc::O_RDONLY);
    Fails "open /proc/1/environ": SYS_openat(HERE, text(c"/proc/1/environ"), libc::O_RDONLY);
    FailsTwice "open /dev/mem": SYS_openat(HERE, text(c"/dev/mem"), libc::O_RDWR);
    FailsTwice "create a file": SYS_openat(HERE, text(c"/tmp/cove-probe"), libc::O_CREAT | libc::O_WRONLY, 0o600);
    FailsTwice "make a folder": SYS_mkdirat(HERE, text(c"/cove-probe"), 0o700);
    FailsTwice "delete a file": SYS_unlinkat(HERE, text(c"/cove-probe"), 0);
    FailsTwice "rename a file": SYS_renameat2(HERE, text(c"/a"), HERE, text(c"/b"), 0);
    FailsTwice "look at a file": SYS_newfstatat(HERE, text(c"/etc/passwd"), 0, 0);
    Fails "read a link": SYS_readlinkat(HERE, text(c"/proc/self/exe"), 0, 0);
    FailsTwice "change the root": SYS_chroot(text(c"/"));
    Fails "change the folder": SYS_chdir(text(c"/"));
    Fails "make memory with a name": SYS_memfd_create(text(c"probe"), 0);
    Fails "open by handle": SYS_open_by_handle_at(HERE, 0, 0);

    Fails "internet socket": SYS_socket(libc::AF_INET, libc::SOCK_STREAM, 0);
    Fails "internet v6 socket": SYS_socket(libc::AF_INET6, libc::SOCK_DGRAM, 0);
    Fails "unix socket": SYS_socket(libc::AF_UNIX, libc::SOCK_STREAM, 0);
    Fails "netlink socket": SYS_socket(libc::AF_NETLINK, libc::SOCK_RAW, 0);
    Fails "packet socket": SYS_socket(libc::AF_PACKET, libc::SOCK_RAW, 0);
    Fails "vsock socket": SYS_socket(libc::AF_VSOCK, libc::SOCK_STREAM, 0);
    Fails "socket pair": SYS_socketpair(libc::AF_UNIX, libc::SOCK_STREAM, 0, 0);
    Fails "connect": SYS_connect(3, 0, 0);
    Fails "bind": SYS_bind(3, 0, 0);
    Fails "listen": SYS_listen(3, 1);
    Fails "send a descriptor": SYS_sendmsg(3, 0, 0);
    Fails "receive a descriptor": SYS_recvmsg(3, 0, 0);

    FailsTwice "fork": SYS_clone(libc::SIGCHLD, 0, 0, 0, 0);
    Fails "clone3": SYS_clone3(0, 0);
    Fails "thread": SYS_clone(libc::CLONE_VM | libc::CLONE_THREAD | libc::CLONE_SIGHAND, 0, 0, 0, 0);
    FailsTwice "exec": SYS_execve(text(c"/bin/sh"), 0, 0);
    Fails "exec at": SYS_execveat(HERE, text(c"/bin/sh"), 0, 0, 0);
    FailsTwice "trace the parent": SYS_ptrace(libc::PTRACE_ATTACH, 1, 0, 0);
    Fails "read the parent's memory": SYS_process_vm_readv(1, 0, 0, 0, 0, 0);
    Fails "write the parent's memory": SYS_process_vm_writev(1, 0, 0, 0, 0, 0);
    Fails "kill the parent": SYS_kill(1, libc::SIGKILL);
    Fails "kill everybody": SYS_kill(-1, 0);
    Fails "signal another process": SYS_tgkill(1, 1, 0);
    Fails "open another process": SYS_pidfd_open(1, 0);
    Fails "signal by descriptor": SYS_pidfd_send_signal(3, 0, 0, 0);
    Fails "take a descriptor": SYS_pidfd_getfd(3, 0, 0);
    Fails "wait for a process": SYS_wait4(-1, 0, libc::WNOHANG, 0);

    FailsTwice "become root": SYS_setuid(0);
    FailsTwice "become another group": SYS_setgid(0);
    Fails "set groups": SYS_setgroups(0, 0);
    Fails "take capabilities": SYS_capset(0, 0);
    Fails "new user namespace": SYS_unshare(libc::CLONE_NEWUSER);
    FailsTwice "new network namespace": SYS_unshare(libc::CLONE_NEWNET);
    Fails "enter a namespace": SYS_setns(3, 0);
    FailsTwice "mount": SYS_mount(text(c"none"), text(c"/"), text(c"tmpfs"), 0, 0);
    FailsTwice "unmount": SYS_umount2(text(c"/"), libc::MNT_DETACH);
    FailsTwice "pivot the root": SYS_pivot_root(text(c"/"), text(c"/"));
    Fails "become dumpable": SYS_prctl(libc::PR_SET_DUMPABLE, 1, 0, 0, 0);
    Fails "survive the parent": SYS_prctl(libc::PR_SET_PDEATHSIG, 0, 0, 0, 0);
    Fails "another filter": SYS_seccomp(libc::SECCOMP_GET_ACTION_AVAIL, 0, 0);
    Fails "Landlock": SYS_landlock_create_ruleset(0, 0, 1);

    Fails "io_uring": SYS_io_uring_setup(1, 0);
    Fails "perf": SYS_perf_event_open(0, 0, -1, -1, 0);
    Fails "bpf": SYS_bpf(0, 0, 0);
    Fails "userfaultfd": SYS_userfaultfd(0);
    Fails "kernel keys": SYS_keyctl(0, 0, 0, 0, 0);
    Fails "shared memory": SYS_shmget(0, 4096, 0o600);
    Fails "message queue": SYS_msgget(0, 0o600);
    Fails "watch files": SYS_inotify_init1(0);
    Fails "kernel module": SYS_init_module(0, 0, 0);
    Fails "kernel log": SYS_syslog(2, 0, 0);
    FailsTwice "the machine's name": SYS_sethostname(0, 0);
    Fails "the machine's name, reading": SYS_uname(0);
    Fails "the clock": SYS_clock_settime(0, 0);
    Fails "personality": SYS_personality(0xffff_ffff_u32);
    Fails "terminal": SYS_ioctl(0, libc::TIOCSTI, 0);
    Fails "scheduling": SYS_sched_setscheduler(0, 0, 0);

    Fails "executable memory": SYS_mmap(0, 4096, READ_EXEC, PRIVATE, -1, 0);
    Fails "make memory executable": SYS_mprotect(0, 4096, READ_EXEC);
    FailsTwice "lock memory": SYS_mlock(0, 4096);
    FailsTwice "memory over the limit": SYS_mmap(0, TOO_MUCH, READ_WRITE, PRIVATE, -1, 0);
    FailsTwice "memory over the limit, reserved": SYS_mmap(0, TOO_MUCH, libc::PROT_NONE, PRIVATE, -1, 0);
    Fails "memory to share": SYS_mmap(0, 4096, READ_WRITE, libc::MAP_SHARED | libc::MAP_ANONYMOUS, -1, 0);

    FailsTwice "write to the fonts": SYS_getrandom(fonts(), 16, 0);
    FailsTwice "make the fonts writable": SYS_mprotect(fonts(), 4096, READ_WRITE);
    Fails "make the fonts executable": SYS_mprotect(fonts(), 4096, READ_EXEC);
    FailsTwice "punch a hole into the fonts": SYS_madvise(fonts(), 4096, libc::MADV_REMOVE);
    FailsTwice "read beyond the fonts": SYS_write(2, beyond_fonts(), 1);

    Fails "signals of a socket to another": SYS_fcntl(3, libc::F_SETOWN, 1);
    Fails "signals of a socket to another, by kind": SYS_fcntl(3, F_SETOWN_EX, (&raw const ANOTHER) as usize);
    Fails "which signal a socket sends": SYS_fcntl(3, F_SETSIG, libc::SIGKILL);
    Fails "a larger pipe": SYS_fcntl(2, libc::F_SETPIPE_SZ, 1 << 20);
    Fails "a larger pipe, the other end": SYS_fcntl(4, libc::F_SETPIPE_SZ, 1 << 20);
    Fails "watch a folder": SYS_fcntl(3, libc::F_NOTIFY, 1);
    Fails "a lease": SYS_fcntl(3, libc::F_SETLEASE, libc::F_RDLCK);
    Fails "a lock": SYS_fcntl(2, libc::F_OFD_SETLK, 0);
    Fails "a larger socket buffer": SYS_setsockopt(3, libc::SOL_SOCKET, libc::SO_SNDBUF, (&raw const WIDE) as usize, 4);
    Fails "a timer": SYS_timer_create(0, 0, 0);
    Fails "a timer as a descriptor": SYS_timerfd_create(0, 0);
    Fails "an event descriptor": SYS_eventfd2(0, 0);
    Fails "an epoll descriptor": SYS_epoll_create1(0);
    Fails "a pipe": SYS_pipe2(0, 0);
    Fails "pages of a file": SYS_mincore(fonts(), 4096, 0);
    Fails "splice": SYS_splice(2, 0, 4, 0, 1, 0);
    Fails "vmsplice": SYS_vmsplice(2, 0, 0, 0);
    Fails "queue a signal": SYS_rt_sigqueueinfo(1, libc::SIGUSR1, 0);
    Fails "a queue of messages": SYS_mq_open(text(c"/q"), libc::O_CREAT, 0o600, 0);
    Fails "a set of semaphores": SYS_semget(0, 1, 0o600);

    Fails "limits of another process": SYS_prlimit64(1, libc::RLIMIT_NOFILE, 0, 0);
    FailsTwice "raise the own limit": SYS_prlimit64(0, libc::RLIMIT_NOFILE, (&raw const WIDE) as usize, 0);
};

const F_SETSIG: c_long = 10;
const F_SETOWN_EX: c_long = 15;

/// The first process, as the owner of a descriptor: kind and number.
static ANOTHER: [i32; 2] = [1, 1];

/// More descriptors than any limit allows.
static WIDE: libc::rlimit = libc::rlimit { rlim_cur: 1 << 20, rlim_max: 1 << 20 };
