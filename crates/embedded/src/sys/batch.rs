//! Console lines on their way to the host, and the two signals that see to it that none is lost.
//!
//! A child writes many lines and may then spin for ever. One system call per line would be slow, a plain buffer would
//! be lost with the kill; so lines are gathered here and an alarm, 2 ms after the first one, sends them even while guest
//! code runs. The same holds for last words: when the process aborts, what it wrote to its standard error goes to the host.
//!
//! The handlers run between two instructions of the main code, on the same thread. They touch only what stands below,
//! only when `busy` is false, and call nothing but `send`, `read` and `_exit`.

use std::cell::UnsafeCell;
use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering, compiler_fence};

use cove_walls::fork::exit_now;
use rustix::net::SendFlags;

use crate::wire::{DyingCause, FromChild, HEADER_BYTES, header};

/// The child's socket: placed under this number right after the fork.
pub(crate) const SOCKET: i32 = 3;

/// The read end of the child's own standard error.
pub(crate) const LAST_WORDS: i32 = 4;

/// Large enough that 10,000 lines cost some hundred system calls, small enough to live in every child.
const CAPACITY: usize = 8 << 10;

/// How long a line may wait. Short against any deadline, long against a system call.
const LINGER_MICROSECONDS: u32 = 2_000;

struct Batch {
    /// The main code is writing to the socket or changing the buffer.
    busy: AtomicBool,
    /// The alarm came while it was.
    due: AtomicBool,
    /// Bytes gathered, without the room for the frame's header.
    length: AtomicUsize,
    bytes: UnsafeCell<[u8; HEADER_BYTES + CAPACITY]>,
}

// SAFETY: the worker has one thread; main code and handlers take turns by `busy`.
unsafe impl Sync for Batch {}

static BATCH: Batch = Batch {
    busy: AtomicBool::new(false),
    due: AtomicBool::new(false),
    length: AtomicUsize::new(0),
    bytes: UnsafeCell::new([0; HEADER_BYTES + CAPACITY]),
};

/// Prepares a child: lines are sent on the alarm, last words on an abort.
pub(crate) fn install() {
    super::on_signal(libc::SIGALRM, on_alarm);
    super::on_signal(libc::SIGABRT, on_abort);
}

/// Adds one console line, already encoded.
pub(crate) fn add(parts: [&[u8]; 2]) {
    let needed = parts[0].len() + parts[1].len();
    if BATCH.length.load(Ordering::Relaxed) + needed > CAPACITY {
        flush();
    }
    if needed > CAPACITY {
        return send_frame(FromChild::Logs, &[parts[0], parts[1]]);
    }
    BATCH.busy.store(true, Ordering::Relaxed);
    compiler_fence(Ordering::SeqCst);
    let start = BATCH.length.load(Ordering::Relaxed);
    // SAFETY: `busy` keeps the handlers away; `start + needed <= CAPACITY` was seen to above.
    let room = unsafe { &mut (&mut *BATCH.bytes.get())[HEADER_BYTES + start..HEADER_BYTES + start + needed] };
    room[..parts[0].len()].copy_from_slice(parts[0]);
    room[parts[0].len()..].copy_from_slice(parts[1]);
    BATCH.length.store(start + needed, Ordering::Relaxed);
    if start == 0 {
        super::alarm_in(LINGER_MICROSECONDS);
    }
    rest();
}

/// Sends the gathered lines now.
pub(crate) fn flush() {
    BATCH.busy.store(true, Ordering::Relaxed);
    compiler_fence(Ordering::SeqCst);
    send_lines();
    BATCH.due.store(false, Ordering::Relaxed);
    compiler_fence(Ordering::SeqCst);
    BATCH.busy.store(false, Ordering::Relaxed);
}

/// Sends the gathered lines and then one frame, whose payload is given in parts.
pub(crate) fn send_frame(kind: FromChild, parts: &[&[u8]]) {
    BATCH.busy.store(true, Ordering::Relaxed);
    compiler_fence(Ordering::SeqCst);
    send_lines();
    let length: usize = parts.iter().map(|part| part.len()).sum();
    // Small frames go in one call: one call is one wake-up of the host.
    if length <= 4096 {
        let mut whole = [0; HEADER_BYTES + 4096];
        whole[..HEADER_BYTES].copy_from_slice(&header(kind as u8, length));
        let mut at = HEADER_BYTES;
        for part in parts {
            whole[at..at + part.len()].copy_from_slice(part);
            at += part.len();
        }
        send_all(&whole[..at]);
    } else {
        send_all(&header(kind as u8, length));
        for part in parts {
            send_all(part);
        }
    }
    rest();
}

/// Ends a busy stretch, and does what the alarm could not do meanwhile.
fn rest() {
    compiler_fence(Ordering::SeqCst);
    BATCH.busy.store(false, Ordering::Relaxed);
    if BATCH.due.load(Ordering::Relaxed) {
        flush();
    }
}

/// Sends the gathered lines as one frame. `busy` is set, or a handler calls.
fn send_lines() {
    let length = BATCH.length.load(Ordering::Relaxed);
    if length == 0 {
        return;
    }
    // SAFETY: either `busy` keeps the handlers away, or a handler runs and the main code stands still outside of it.
    let bytes = unsafe { &mut *BATCH.bytes.get() };
    bytes[..HEADER_BYTES].copy_from_slice(&header(FromChild::Logs as u8, length));
    send_all(&bytes[..HEADER_BYTES + length]);
    BATCH.length.store(0, Ordering::Relaxed);
}

/// Writes everything, or ends the process: without its host a child has nothing left to do.
fn send_all(mut bytes: &[u8]) {
    // SAFETY: the socket is open from before the first call until the process ends.
    let socket = unsafe { BorrowedFd::borrow_raw(SOCKET) };
    while !bytes.is_empty() {
        match rustix::net::send(socket, bytes, SendFlags::NOSIGNAL) {
            Ok(sent) => bytes = &bytes[sent..],
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => exit_now(0),
        }
    }
}

extern "C" fn on_alarm(_: i32) {
    if BATCH.busy.load(Ordering::Relaxed) {
        BATCH.due.store(true, Ordering::Relaxed);
    } else {
        send_lines();
    }
}

/// How the standard library begins when an allocation has failed, before it aborts. It has no stable hook for that
/// moment, so this is the one place that knows its words; everybody else has a [`DyingCause`].
const ALLOCATION_FAILED: &[u8] = b"memory allocation of ";

/// Tells the host what the abort was about, then ends.
///
/// In the middle of a frame nothing is said: the host would take it for a part of that frame.
extern "C" fn on_abort(_: i32) {
    if !BATCH.busy.swap(true, Ordering::Relaxed) {
        send_lines();
        let mut words = [0; 512];
        // SAFETY: the read end of our own standard error is open, and not blocking.
        let own = unsafe { BorrowedFd::borrow_raw(LAST_WORDS) };
        let length = rustix::io::read(own, &mut words[..]).unwrap_or(0);
        let cause = match words[..length].starts_with(ALLOCATION_FAILED) {
            true => DyingCause::OutOfMemory,
            false => DyingCause::Abort,
        };
        send_all(&header(FromChild::Dying as u8, length + 1));
        send_all(&[cause as u8]);
        send_all(&words[..length]);
    }
    exit_now(ABORTED);
}

/// The exit code of a child that has aborted.
pub(crate) const ABORTED: i32 = 134;
