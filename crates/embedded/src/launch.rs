//! Starting the worker: which program, and with nothing but one socket.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};

use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};

use crate::font_store;
use crate::probe::Behind;
use crate::worker::{MANY_ARGUMENT, PROBE_ARGUMENT, WORKER_ARGUMENT, can_be_worker};

/// What the stand-alone worker is called.
const WORKER_NAME: &str = "cove-worker";

/// This very program. Not its path: the file may have been replaced since, the running program has not.
const OWN_PROGRAM: &str = "/proc/self/exe";

/// Finds the program to start, or says where it was looked for.
pub(crate) fn find(explicit: Option<&Path>) -> Result<PathBuf, String> {
    if let Some(path) = explicit {
        return if path.is_file() {
            Ok(path.to_owned())
        } else {
            Err(format!("there is no worker program at {}", path.display()))
        };
    }
    if can_be_worker() {
        return Ok(OWN_PROGRAM.into());
    }
    let own = std::env::current_exe().unwrap_or_default();
    own.ancestors().skip(1).take(2).map(|folder| folder.join(WORKER_NAME)).find(|path| path.is_file()).ok_or_else(
        || {
            format!(
                "no worker program: this program does not call cove_embedded::worker::enter_if_asked(), \
             and there is no {WORKER_NAME} beside {}",
                own.display()
            )
        },
    )
}

/// The worker that was started before anybody had asked for it.
static EARLY: Mutex<Option<(OwnedFd, Child)>> = Mutex::new(None);

/// Starts this program's own worker now, for whoever asks for one first.
///
/// If nobody ever does, it ends with this process, whose end of the control socket closes then.
pub(crate) fn start_early() {
    if can_be_worker() {
        // Where it fails, it fails again when somebody asks, who is told why.
        let started = start_as(Path::new(OWN_PROGRAM), &[WORKER_ARGUMENT]).ok();
        *EARLY.lock().unwrap_or_else(PoisonError::into_inner) = started;
    }
}

/// Starts the worker. Its standard input is the control socket, whose other end is returned, and its standard output the
/// font store, if there is one; it inherits nothing else.
///
/// `for_many`: it is worth a few milliseconds to make the runs that follow cheaper.
pub(crate) fn start(program: &Path, for_many: bool) -> io::Result<(OwnedFd, Child)> {
    // Only for an engine that would start the very same.
    if !for_many && program == Path::new(OWN_PROGRAM) {
        let early = EARLY.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(early) = early {
            return Ok(early);
        }
    }
    start_as(program, if for_many { &[WORKER_ARGUMENT, MANY_ARGUMENT] } else { &[WORKER_ARGUMENT] })
}

/// Starts it as a probe of its own walls.
pub(crate) fn start_probe(program: &Path, behind: Behind) -> io::Result<(OwnedFd, Child)> {
    start_as(program, &[PROBE_ARGUMENT, behind.argument()])
}

#[expect(clippy::disallowed_methods, reason = "this file owns the worker: it ends with its control socket")]
fn start_as(program: &Path, arguments: &[&str]) -> io::Result<(OwnedFd, Child)> {
    let (ours, theirs) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
    let process = Command::new(program)
        .arg0(WORKER_NAME)
        .args(arguments)
        .env_clear()
        .stdin(Stdio::from(theirs))
        .stdout(font_store::for_worker().map_or_else(Stdio::null, Stdio::from))
        .stderr(Stdio::null())
        .spawn()?;
    Ok((ours, process))
}
