//! Starting the worker: which program, and with nothing but one socket.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};

use crate::probe::Behind;
use crate::shelf;
use crate::worker::{MANY_ARGUMENT, PROBE_ARGUMENT, WORKER_ARGUMENT, can_be_worker};

/// What the stand-alone worker is called.
const WORKER_NAME: &str = "cove-worker";

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
        // Not the path: the file may have been replaced since, the running program has not.
        return Ok("/proc/self/exe".into());
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

/// Starts the worker. Its standard input is the control socket, whose other end is returned, and its standard output the
/// fonts' shelf, if there is one; it inherits nothing else.
///
/// `for_many`: it is worth a few milliseconds to make the runs that follow cheaper.
pub(crate) fn start(program: &Path, for_many: bool) -> io::Result<(OwnedFd, Child)> {
    start_as(program, if for_many { &[WORKER_ARGUMENT, MANY_ARGUMENT] } else { &[WORKER_ARGUMENT] })
}

/// Starts it as a probe of its own walls.
pub(crate) fn start_probe(program: &Path, behind: Behind) -> io::Result<(OwnedFd, Child)> {
    start_as(program, &[PROBE_ARGUMENT, behind.argument()])
}

#[expect(clippy::disallowed_methods, reason = "this room owns the worker: it ends with its control socket")]
fn start_as(program: &Path, arguments: &[&str]) -> io::Result<(OwnedFd, Child)> {
    let (ours, theirs) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
    let process = Command::new(program)
        .arg0(WORKER_NAME)
        .args(arguments)
        .env_clear()
        .stdin(Stdio::from(theirs))
        .stdout(shelf::for_worker().map_or_else(Stdio::null, Stdio::from))
        .stderr(Stdio::null())
        .spawn()?;
    Ok((ours, process))
}
