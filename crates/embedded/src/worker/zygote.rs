//! The zygote: holds one hardened world, forks children from it, and never runs guest code itself.
//!
//! It waits for two things only, the host's word and the end of a child, and never for one particular child. When the
//! host is gone it ends, and with it, by its PID namespace or by the parent-death signal, every child.

use std::collections::HashMap;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use cove_walls::fork::{Forked, exit_now, fork};
use cove_world::World;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use rustix::process::{Pid, PidfdFlags, WaitOptions, pidfd_open};

use super::start::{self, Walled};
use super::{MANY_ARGUMENT, session_process};
use crate::control::{self, Fork, Notice};
use crate::probe::Behind;
use crate::sys::{code, heap};
use crate::walls::deepen_stack;

/// The most children that one command may ask for; the host never asks for so many.
const MAX_FORKS: u32 = 4096;

/// When children are asked for at a higher rate than one in this time, there is no time to lose: they do not rehearse,
/// because what a rehearsal saves the run it costs the machine.
const CALM: Duration = Duration::from_millis(1);

/// Numbers children. Process ids are used again, these are not.
static NEXT: AtomicU64 = AtomicU64::new(1);

pub(super) fn main() -> ! {
    let many = std::env::args_os().any(|argument| argument == MANY_ARGUMENT);
    let mut handed_on = None;
    if many {
        // Where it cannot be done, every child is a little slower.
        let _ = code::in_large_pages();
        handed_on = code::HandedOn::prepare();
    }
    deepen_stack();
    let Some(mut walled) = start::wall_in(Behind::All) else { exit_now(2) };
    let mut world = match World::new() {
        Ok(world) => world,
        Err(error) => {
            let _ = control::send(&walled.control, &Notice::Failed(error.to_string()).encode(), &[]);
            exit_now(1)
        }
    };
    if many {
        if let Some(handed_on) = &handed_on {
            handed_on.forget_use();
        }
        session_process::rehearse(&mut world);
        let edge = heap::close_gaps();
        // Behind the edge lie what the world keeps ready for its children, and then what they ask for themselves.
        world.close_gaps();
        walled.shared.fresh = edge.and_then(heap::fresh);
    }
    if say_ready(&walled).is_none() {
        exit_now(1);
    }
    serve(&mut walled, &mut world);
    exit_now(0)
}

fn say_ready(walled: &Walled) -> Option<()> {
    let own = pidfd_open(rustix::process::getpid(), PidfdFlags::empty()).ok()?;
    let report = serde_json::to_vec(&walled.report).ok()?;
    control::send(&walled.control, &Notice::Ready(report).encode(), &[own.as_fd()]).ok()
}

/// Serves until the host is gone.
fn serve(walled: &mut Walled, world: &mut World) {
    let mut living = HashMap::new();
    let mut calm_again: Option<Instant> = None;
    loop {
        let mut ready = [PollFd::new(&walled.control, PollFlags::IN), PollFd::new(&walled.child_ends, PollFlags::IN)];
        if poll(&mut ready, None).is_err_and(|error| error != rustix::io::Errno::INTR) {
            return;
        }
        let [control, ends] = ready.map(|polled| !polled.revents().is_empty());
        if ends {
            reap(walled, &mut living);
        }
        if control {
            let Ok(Some((bytes, _))) = control::receive(&walled.control) else { return };
            let Some(Fork(count)) = Fork::decode(&bytes) else { return };
            let now = Instant::now();
            let calm = calm_again.replace(now + CALM * count.min(MAX_FORKS)).is_none_or(|then| now >= then);
            for _ in 0..count.min(MAX_FORKS) {
                if let Err(error) = fork_child(walled, world, &mut living, calm) {
                    let notice = Notice::ForkFailed(error.to_string());
                    if control::send(&walled.control, &notice.encode(), &[]).is_err() {
                        return;
                    }
                }
            }
        }
    }
}

/// Forks one child and hands its socket and its process over to the host.
fn fork_child(
    walled: &mut Walled,
    world: &mut World,
    living: &mut HashMap<Pid, u64>,
    calm: bool,
) -> std::io::Result<()> {
    let (ours, theirs) = socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    match fork()? {
        Forked::Child => session_process::live(world, &theirs, &mut walled.shared, calm),
        Forked::Parent(pid) => {
            drop(theirs);
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            living.insert(pid, number);
            let process = pidfd_open(pid, PidfdFlags::empty())?;
            announce(&walled.control, number, &ours, &process);
            Ok(())
        }
    }
}

fn announce(control: &OwnedFd, number: u64, socket: &OwnedFd, process: &OwnedFd) {
    // If the host is gone, the next look at the control socket says so.
    let _ = control::send(control, &Notice::Forked(number).encode(), &[socket.as_fd(), process.as_fd()]);
}

/// Takes note of every child that has ended. What the host ended itself (SIGKILL) or what ended well it need not hear.
fn reap(walled: &Walled, living: &mut HashMap<Pid, u64>) {
    // The signals that have gathered say only "some child"; reading them makes room for the next.
    let mut signals = [0; 1024];
    let _ = rustix::io::read(&walled.child_ends, &mut signals[..]);
    while let Ok(Some((pid, status))) = rustix::process::wait(WaitOptions::NOHANG) {
        let number = living.remove(&pid);
        let expected = status.exit_status() == Some(0) || status.terminating_signal() == Some(libc::SIGKILL);
        if let (Some(number), false) = (number, expected) {
            let _ = control::send(&walled.control, &Notice::Died(number, status.as_raw()).encode(), &[]);
        }
    }
}
