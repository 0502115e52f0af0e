//! From the first instruction to the point where all walls stand and no guest is there yet.

use std::os::fd::{IntoRawFd, OwnedFd};

use cove_walls::descriptors::{adopt, close_from, place};
use cove_walls::fork::{Forked, exit_now, forget_environment, fork_sibling, reset_signals};
use rustix::fs::Mode;

use crate::probe::Behind;
use crate::sys;
use crate::walls::{self, Shared, Survey, WallName, WallReport};

/// What the starting program may have set otherwise. Those of crashes stay: the standard library tells a full stack apart.
const SIGNALS: [i32; 6] = [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGTERM, libc::SIGCHLD, libc::SIGALRM];

/// The control socket's number from here on: the first one above the three standard ones.
const CONTROL: i32 = 3;

/// A process with everything behind it.
pub(crate) struct Walled {
    /// The line to the host.
    pub(crate) control: OwnedFd,
    /// What stands.
    pub(crate) report: WallReport,
    /// What the children need to finish.
    pub(crate) shared: Shared,
    /// Readable when a child has ended.
    pub(crate) child_ends: OwnedFd,
}

/// Puts up everything that can stand before a world is built. `None`: this process was not started by a host.
pub(crate) fn wall_in(behind: Behind) -> Option<Walled> {
    reset_signals(SIGNALS);
    let control = take_control()?;
    let mut survey = Survey::default();
    survey.note(WallName::NoDescriptors, close_from(CONTROL + 1).map(|()| "all but the host's line"));
    forget_environment();
    let empty = std::env::vars_os().next().is_none();
    survey.note(WallName::NoEnvironment, if empty { Ok("empty") } else { Err("not empty") });
    // A session of our own: Ctrl-C at the host's terminal is for the host, who then ends us in order.
    let _ = rustix::process::setsid();
    let _ = rustix::process::umask(Mode::from_raw_mode(0o777));
    let _ = rustix::process::chdir("/");

    let left = walls::leave_what_is_shared(&mut survey);
    if left.pid_namespace {
        match fork_sibling() {
            Ok(Forked::Parent(_)) => exit_now(0),
            Ok(Forked::Child) => {}
            Err(error) => survey.contradict(WallName::PidNamespace, error.to_string()),
        }
    }
    let child_ends = sys::child_ends().ok()?;
    let shared = walls::close_in(&mut survey, &left, behind);
    Some(Walled { control, report: walls::finish(survey), shared, child_ends })
}

/// Moves the control socket from standard input to its own number and maps the font store, which is the standard output;
/// the standard three are `/dev/null` from then on.
fn take_control() -> Option<OwnedFd> {
    let input = adopt(0)?;
    rustix::net::sockopt::socket_type(&input).ok()?;
    place(&input, CONTROL).ok()?;
    let fonts = adopt(1)?;
    // Without it fonts travel as bytes.
    let _ = sys::font_memory::map(&fonts);
    let null = adopt(2)?;
    place(&null, input.into_raw_fd()).ok()?;
    place(&null, fonts.into_raw_fd()).ok()?;
    let _ = null.into_raw_fd();
    adopt(CONTROL)
}
