//! Landlock around the browser and around agent-browser: what they may open, and which ports they may speak to.
//!
//! The processes that a page reaches first after it has broken out of its renderer (the browser itself, its network and
//! graphics) have no sandbox of their own: what they may open is decided here. And agent-browser, which fetches addresses
//! by itself and would open a port to watch the browser through, may connect to one port (ours) and bind none.
//!
//! On kernels without Landlock (or without its network half) the rest stands alone; `/meta` says which walls are up.

use std::os::fd::OwnedFd;
use std::path::Path;

use cove_walls::Ruleset;
use cove_walls::landlock_rules::{AccessFs, LandlockRules, every_right, read_rights};

/// Programs, libraries and fonts.
const SYSTEM: &[&str] = &[
    "/usr",
    "/lib",
    "/lib64",
    "/lib32",
    "/bin",
    "/sbin",
    "/nix/store",
    "/snap",
    "/run/fonts",
    "/var/cache/fontconfig",
    "/etc/alternatives",
];

/// Settings that are read: found by taking everything away and giving back what was missed. No name of a user or host is
/// among them, and of `/sys` nothing at all.
const SETTINGS: &[&str] = &["/etc/fonts", "/etc/ld.so.cache", "/etc/localtime", "/etc/timezone"];

const DEVICES: &[&str] = &["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/// The browser's own sandbox reads and writes below its processes' numbers, which nobody knows before they are there.
/// Those of others tell their names and command lines, and no more: the kernel asks Landlock before it shows memory,
/// environment or descriptors of a process outside.
const PROCESSES: &str = "/proc";

/// Memory that the browser's processes share; what others have there is neither listed nor, by its owner, open.
const SHARED_MEMORY: &str = "/dev/shm";

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
pub(crate) fn ruleset(reach: &Reach<'_>) -> Option<Ruleset> {
    let (all, read) = (every_right(), read_rights());
    let look = AccessFs::ReadFile | AccessFs::ReadDir;
    let write = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::Truncate;
    let shared = write | AccessFs::MakeReg | AccessFs::RemoveFile;
    let system = SYSTEM.iter().map(Path::new).chain(reach.read.iter().copied()).map(|path| (path, read));
    let settings = SETTINGS.iter().map(|path| (Path::new(path), look));
    let devices = DEVICES.iter().map(|path| (Path::new(path), write));
    let kernel = [(Path::new(PROCESSES), write | AccessFs::ReadDir), (Path::new(SHARED_MEMORY), shared)];
    let own = reach.write.iter().map(|path| (*path, all));
    let mut rules = LandlockRules::default().without_files().without_network();
    for (path, rights) in system.chain(settings).chain(devices).chain(kernel).chain(own) {
        rules = rules.allow(path, rights);
    }
    if let Some(folder) = reach.write_opened {
        rules = rules.allow_opened(folder, all);
    }
    if let Some(port) = reach.port {
        rules = rules.allow_port(port);
    }
    rules.ruleset()
}
