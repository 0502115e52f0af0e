//! A kernel that says it has an older Landlock: the call that asks for the version is answered by the test, every other one
//! by the kernel.
#![allow(unsafe_code, reason = "nothing else hands a process's calls to another")]

use std::io;
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};

use cove_walls::identity::set_no_new_privileges;

/// Where the number of a call is in what a filter sees, and the third argument: the flags.
const NUMBER: u32 = 0;
const FLAGS: u32 = 32;

/// The flag that asks for the version.
const VERSION: u32 = 1;

/// Does something in a thread for which Landlock has this version, and for whomever that thread starts.
pub(crate) fn with_landlock<T: Send>(version: i64, work: impl FnOnce() -> T + Send) -> T {
    let (send, listener) = std::sync::mpsc::channel();
    std::thread::scope(|scope| {
        let done = scope.spawn(move || {
            set_no_new_privileges().unwrap();
            send.send(put_on()).unwrap();
            work()
        });
        let listener = listener.recv().unwrap();
        while answer(&listener, version) {}
        done.join().unwrap()
    })
}

/// Puts a filter on this thread that asks the owner of the listener.
fn put_on() -> OwnedFd {
    let load = |from| instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, from);
    let unless_equal = |value, skip| instruction(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, skip, value);
    let end = |action| instruction(libc::BPF_RET | libc::BPF_K, 0, action);
    let mut filter = [
        load(NUMBER),
        unless_equal(u32::try_from(libc::SYS_landlock_create_ruleset).unwrap(), 3),
        load(FLAGS),
        unless_equal(VERSION, 1),
        end(libc::SECCOMP_RET_USER_NOTIF),
        end(libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog { len: u16::try_from(filter.len()).unwrap(), filter: filter.as_mut_ptr() };
    let (mode, flags) = (libc::SECCOMP_SET_MODE_FILTER, libc::SECCOMP_FILTER_FLAG_NEW_LISTENER);
    // SAFETY: the program and its instructions live until the call returns, and the kernel keeps a copy.
    let made = unsafe { libc::syscall(libc::SYS_seccomp, libc::c_ulong::from(mode), flags, &raw const program) };
    assert!(made >= 0, "{}", io::Error::last_os_error());
    // SAFETY: the call has made this descriptor, and nobody else has it.
    unsafe { OwnedFd::from_raw_fd(i32::try_from(made).unwrap()) }
}

fn instruction(code: u32, skip: u8, value: u32) -> libc::sock_filter {
    libc::sock_filter { code: u16::try_from(code).unwrap(), jt: 0, jf: skip, k: value }
}

/// Answers one question; `false`: nobody is left who could ask.
fn answer(listener: &OwnedFd, version: i64) -> bool {
    let mut ready = libc::pollfd { fd: listener.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    // SAFETY: one structure, and it is ours.
    let polled = unsafe { libc::poll(&raw mut ready, 1, -1) };
    assert!(polled == 1, "{}", io::Error::last_os_error());
    if ready.revents & libc::POLLIN == 0 {
        return false;
    }
    // SAFETY: plain numbers, for which zero is a value; the kernel wants them to be zero.
    let mut asked: libc::seccomp_notif = unsafe { std::mem::zeroed() };
    // SAFETY: the kernel writes a question into this structure.
    if unsafe { libc::ioctl(listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_RECV, &raw mut asked) } != 0 {
        // Whoever asked is gone.
        return true;
    }
    let mut said = libc::seccomp_notif_resp { id: asked.id, val: version, error: 0, flags: 0 };
    // SAFETY: the kernel reads this structure. It fails where whoever asked is gone.
    unsafe { libc::ioctl(listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_SEND, &raw mut said) };
    true
}
