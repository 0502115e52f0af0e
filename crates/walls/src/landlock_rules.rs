//! Landlock: which files, ports and processes are within reach, decided by a table.
//!
//! A [`LandlockRules`] takes rights away by the kind and gives some back for certain places. Older kernels enforce what they know
//! of it. It is put on at once, or handed to a child that will live under it (a [`Ruleset`]).

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::sync::Arc;

use landlock::{
    ABI, Access, AccessNet, CompatLevel, Compatible, LandlockStatus, NetPort, PathBeneath, PathFd, RulesetAttr,
    RulesetCreated, RulesetCreatedAttr, RulesetError, Scope,
};

pub use landlock::{AccessFs, BitFlags};

use crate::sys;

/// The newest interface that these rules were written for.
const KNOWN: ABI = ABI::V6;

/// Since which version there are rules of files, of ports, and of signals and abstract sockets.
pub const SINCE: Since = Since { files: ABI::V1 as i32, network: ABI::V4 as i32, scope: ABI::V6 as i32 };

/// Versions of Landlock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Since {
    /// Rules of files.
    pub files: i32,
    /// Rules of TCP ports.
    pub network: i32,
    /// Rules of signals and abstract sockets.
    pub scope: i32,
}

/// Rights to what is below a folder.
pub type Rights = BitFlags<AccessFs>;

/// Everything that can be done to files.
pub fn every_right() -> Rights {
    AccessFs::from_all(KNOWN)
}

/// To read files, to list folders, to execute programs.
pub fn read_rights() -> Rights {
    AccessFs::from_read(KNOWN)
}

/// What is taken away, and what is given back.
#[derive(Debug, Default)]
pub struct LandlockRules<'a> {
    files: bool,
    network: bool,
    scopes: BitFlags<Scope>,
    paths: Vec<(PathBuf, Rights)>,
    opened: Vec<(BorrowedFd<'a>, Rights)>,
    port: Option<u16>,
}

impl<'a> LandlockRules<'a> {
    /// Takes every right to files away.
    #[must_use]
    pub fn without_files(self) -> Self {
        Self { files: true, ..self }
    }

    /// Takes TCP away, in and out.
    #[must_use]
    pub fn without_network(self) -> Self {
        Self { network: true, ..self }
    }

    /// Takes signals to processes outside away.
    #[must_use]
    pub fn without_signals(self) -> Self {
        Self { scopes: self.scopes | Scope::Signal, ..self }
    }

    /// Takes signals and abstract sockets to processes outside away.
    #[must_use]
    pub fn without_others(self) -> Self {
        Self { scopes: Scope::from_all(KNOWN), ..self }
    }

    /// Gives rights back to a file, or to everything below a folder. One that this machine does not have needs no rule.
    #[must_use]
    pub fn allow(mut self, path: impl Into<PathBuf>, rights: Rights) -> Self {
        self.paths.push((path.into(), rights));
        self
    }

    /// Gives rights back to everything below an opened folder.
    #[must_use]
    pub fn allow_opened(mut self, folder: &'a impl AsFd, rights: Rights) -> Self {
        self.opened.push((folder.as_fd(), rights));
        self
    }

    /// Gives back the right to connect to one port.
    #[must_use]
    pub fn allow_port(self, port: u16) -> Self {
        Self { port: Some(port), ..self }
    }

    fn create(self) -> Result<RulesetCreated, RulesetError> {
        let mut ruleset = landlock::Ruleset::default().set_compatibility(CompatLevel::BestEffort);
        if self.files {
            ruleset = ruleset.handle_access(every_right())?;
        }
        if self.network {
            ruleset = ruleset.handle_access(AccessNet::from_all(KNOWN))?;
        }
        if !self.scopes.is_empty() {
            ruleset = ruleset.scope(self.scopes)?;
        }
        let mut created = ruleset.create()?;
        for (path, rights) in self.paths {
            let Ok(opened) = PathFd::new(&path) else { continue };
            created = created.add_rule(PathBeneath::new(opened, rights))?;
        }
        for (folder, rights) in self.opened {
            created = created.add_rule(PathBeneath::new(folder, rights))?;
        }
        if let Some(port) = self.port {
            created = created.add_rule(NetPort::new(port, AccessNet::ConnectTcp))?;
        }
        Ok(created)
    }

    /// Puts them on, for this thread and everybody whom it starts. Gives the version that the kernel has.
    pub fn put_on(self) -> Result<i32, String> {
        match self.create().and_then(RulesetCreated::restrict_self).map(|status| status.landlock) {
            Ok(LandlockStatus::Available { effective_abi, .. }) => Ok(effective_abi as i32),
            Ok(other) => Err(format!("Landlock is not there: {other:?}")),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Makes a ruleset of them for a child; `None` where the kernel has no Landlock.
    pub fn ruleset(self) -> Option<Ruleset> {
        self.create().ok().and_then(Option::<OwnedFd>::from).map(|opened| Ruleset(Arc::new(opened)))
    }
}

/// Rules that a child is put under before it becomes its program (see [`ChildSetup`](crate::ChildSetup)).
#[derive(Debug, Clone)]
pub struct Ruleset(Arc<OwnedFd>);

impl Ruleset {
    /// Puts it on. Needs `no_new_privs`, or the right to administer the system.
    pub(crate) fn put_on(&self) -> io::Result<()> {
        sys::restrict_self(self.0.as_fd())
    }
}

/// Whether this kernel has Landlock.
pub fn is_known() -> bool {
    version() > 0
}

/// Which version of Landlock this kernel has; 0: none.
pub fn version() -> i32 {
    sys::landlock_version().ok().and_then(|version| i32::try_from(version).ok()).unwrap_or(0)
}

/// Whether this kernel can keep signals among processes; why not.
pub fn can_keep_signals() -> Result<(), String> {
    let strict = landlock::Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    strict.scope(Scope::Signal).map(drop).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::thread;

    use super::*;

    /// Rules are their thread's own: a thread puts them on and tries.
    #[test]
    fn only_what_is_given_back_is_within_reach() {
        if !is_known() {
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        for name in ["open", "closed"] {
            fs::create_dir(folder.path().join(name)).unwrap();
            fs::write(folder.path().join(name).join("file"), name).unwrap();
        }
        let path = folder.path().to_owned();
        let tried = thread::spawn(move || {
            rustix::thread::set_no_new_privs(true).unwrap();
            let rules = LandlockRules::default().without_files().without_others();
            let rules = rules.allow(path.join("open"), read_rights()).allow(path.join("none"), every_right());
            assert!(rules.put_on().unwrap() >= SINCE.files);
            let read = |name: &str| fs::read_to_string(path.join(name).join("file")).ok();
            (read("open"), read("closed"), fs::write(path.join("open/file"), "").is_ok())
        });
        assert_eq!(tried.join().unwrap(), (Some("open".to_owned()), None, false));
    }
}
