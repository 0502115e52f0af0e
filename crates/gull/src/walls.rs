//! Landlock around the browser and around agent-browser: what they may open, and which ports they may speak to.
//!
//! The browser's data lies where a guest can write. Without this wall a symlink planted there would be followed with
//! the rights of whoever runs the browser. And agent-browser, which fetches addresses by itself and would open a port
//! to watch the browser through, may connect to one port (ours) and bind none.
//!
//! On kernels without Landlock (or without its network half) the rest stands alone; `/meta` says which walls are up.

use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use landlock::{
    ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, NetPort, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreated, RulesetCreatedAttr, RulesetError,
};

/// The newest interface that this list was written for. Older kernels enforce what they know of it.
const KNOWN: ABI = ABI::V5;

/// What every program needs to start: libraries, settings, devices, and the kernel's view of itself.
const SYSTEM: &[&str] = &[
    "/usr",
    "/lib",
    "/lib64",
    "/lib32",
    "/bin",
    "/sbin",
    "/etc",
    "/opt",
    "/nix",
    "/proc",
    "/sys",
    "/dev",
    "/run/fonts",
    "/var/cache/fontconfig",
    "/var/lib/dbus",
    "/snap",
];

/// What is written beside own folders: `/dev/null` and shared memory, and a process's own settings below `/proc`.
const WRITABLE: &[&str] = &["/dev", "/proc"];

/// What a program may reach.
#[derive(Debug, Default)]
pub(crate) struct Reach<'a> {
    /// Folders that it may read, beside the system's.
    pub(crate) read: Vec<&'a Path>,
    /// Folders that it may change.
    pub(crate) write: Vec<&'a Path>,
    /// An opened folder that it may change.
    pub(crate) write_opened: Option<&'a OwnedFd>,
    /// The only port that it may connect to.
    pub(crate) port: Option<u16>,
}

/// Makes a ruleset; `None` where the kernel has no Landlock.
pub(crate) fn ruleset(reach: &Reach<'_>) -> Option<OwnedFd> {
    build(reach).ok().and_then(Option::<OwnedFd>::from)
}

fn build(reach: &Reach<'_>) -> Result<RulesetCreated, RulesetError> {
    let all = AccessFs::from_all(KNOWN);
    let read = AccessFs::from_read(KNOWN);
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(all)?
        .handle_access(AccessNet::from_all(KNOWN))?
        .create()?;
    for path in SYSTEM.iter().map(Path::new).chain(reach.read.iter().copied()) {
        // What this machine does not have needs no rule.
        if let Ok(fd) = PathFd::new(path) {
            rules = rules.add_rule(PathBeneath::new(fd, read))?;
        }
    }
    for path in WRITABLE.iter().map(Path::new).chain(reach.write.iter().copied()) {
        if let Ok(fd) = PathFd::new(path) {
            rules = rules.add_rule(PathBeneath::new(fd, all))?;
        }
    }
    if let Some(folder) = reach.write_opened {
        rules = rules.add_rule(PathBeneath::new(folder.as_fd(), all))?;
    }
    if let Some(port) = reach.port {
        rules = rules.add_rule(NetPort::new(port, AccessNet::ConnectTcp))?;
    }
    Ok(rules)
}
