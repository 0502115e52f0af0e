//! What a child of ours does between `fork` and `exec`: the only such set-up there is.
//!
//! Everything that it needs is made before the fork. In the child nothing is allocated, no lock is taken and nothing is
//! read that other threads write; whatever fails ends the child, never the parent.

use std::ffi::CString;
use std::io;
use std::os::fd::{OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::Command;

use rustix::fs::Mode;
use rustix::mount::mount_bind;
use rustix::process::{setpgid, setsid, umask};
use rustix::thread::UnshareFlags;

use crate::landlock_rules::Ruleset;
use crate::limits::{Resource, lower};
use crate::{descriptors, identity, mounts, process, sys};

/// The first number above the three standard descriptors.
const FIRST: RawFd = 3;

/// Files of a child that keeps to itself are its own.
const PRIVATE: Mode = Mode::from_raw_mode(0o077);

/// Whom a child belongs together with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Group {
    /// A session of its own, and files that nobody else reads: no terminal, no signal from one.
    #[default]
    Session,
    /// A process group of its own in our session: a terminal's Ctrl-C is not for it.
    Process,
}

/// How a child stands before it becomes its program. It always dies with the thread that made it, and inherits no
/// descriptors but the standard three and those that are named here.
#[derive(Debug, Default)]
pub struct ChildSetup {
    /// Its group.
    pub group: Group,
    /// Descriptors that it gets beside the standard three: as number 3, 4, and so on.
    pub descriptors: Vec<OwnedFd>,
    /// Its resource limits and those of all that it starts; only lowered, never raised.
    pub limits: Vec<(Resource, u64)>,
    /// Folders that it alone sees in other places.
    pub mounts: Vec<BindMount>,
    /// Whether no program that it executes may gain privileges. An ordinary user needs it for a ruleset.
    pub no_new_privileges: bool,
    /// Landlock rules to live under.
    pub ruleset: Option<Ruleset>,
    /// User and group to become, if we are root.
    pub become_id: Option<u32>,
    /// Whether it must not start any process or thread.
    pub alone: bool,
}

/// A folder, and the path under which a child sees it.
#[derive(Debug)]
pub struct BindMount {
    from: CString,
    to: CString,
}

impl BindMount {
    /// By its path, which is looked up in the child's own mount namespace: the kernel mounts nothing that was opened in
    /// another.
    pub fn new(from: &Path, to: &Path) -> io::Result<Self> {
        Ok(Self { from: CString::new(from.as_os_str().as_bytes())?, to: CString::new(to.as_os_str().as_bytes())? })
    }

    /// All of them, in a mount namespace of its own, from which nothing spreads: it goes with the last of its processes.
    fn mount_all(all: &[Self]) -> io::Result<()> {
        sys::unshare(UnshareFlags::NEWNS)?;
        mounts::make_private()?;
        all.iter().try_for_each(|one| Ok(mount_bind(one.from.as_c_str(), one.to.as_c_str())?))
    }
}

impl ChildSetup {
    /// Arranges it for the children of `command`. They must be made on a thread that lives as long as they may.
    pub fn apply(mut self, command: &mut Command) -> io::Result<()> {
        // Away from the low numbers, which any of them may occupy.
        for descriptor in &mut self.descriptors {
            *descriptor = descriptors::duplicate_high(&*descriptor)?;
        }
        let parent = std::process::id().cast_signed();
        sys::before_exec(command, move || self.become_child(parent));
        Ok(())
    }

    fn become_child(&self, parent: i32) -> io::Result<()> {
        // We may have short ones.
        sys::take_usual_turns(0);
        match self.group {
            Group::Session => {
                setsid()?;
                umask(PRIVATE);
            }
            Group::Process => setpgid(None, None)?,
        }
        let mut next = FIRST;
        for descriptor in &self.descriptors {
            descriptors::place(descriptor, next)?;
            next += 1;
        }
        // Best effort on old kernels: our own descriptors are all close-on-exec already.
        let _ = descriptors::keep_from_exec(next);
        for (resource, most) in &self.limits {
            lower(*resource, *most)?;
        }
        if !self.mounts.is_empty() {
            BindMount::mount_all(&self.mounts)?;
        }
        if self.no_new_privileges {
            identity::set_no_new_privileges()?;
        }
        if let Some(ruleset) = &self.ruleset {
            ruleset.put_on()?;
        }
        if let Some(id) = self.become_id {
            identity::become_user(id, id)?;
        }
        // After the change of user, which would count the processes of the new one.
        if self.alone {
            lower(Resource::Nproc, 0)?;
        }
        // After the change of user, which clears it.
        process::die_with_parent(parent)
    }
}

#[cfg(test)]
mod tests {
    use std::process::Stdio;

    use super::*;

    #[expect(clippy::disallowed_methods, reason = "the children are waited for below")]
    fn said(setup: ChildSetup, script: &str) -> String {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]).stdin(Stdio::null()).stderr(Stdio::null());
        setup.apply(&mut command).unwrap();
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    }

    #[test]
    fn a_child_has_what_is_named_and_nothing_else() {
        let (first, _first) = io::pipe().unwrap();
        let (second, _second) = io::pipe().unwrap();
        // Inherited by mistake: the child must not have it.
        let stray = rustix::io::fcntl_dupfd_cloexec(&first, 40).unwrap();
        rustix::io::fcntl_setfd(&stray, rustix::io::FdFlags::empty()).unwrap();
        let setup = ChildSetup { descriptors: vec![first.into(), second.into()], ..ChildSetup::default() };
        let seen = said(setup, "ls /proc/$$/fd; :");
        assert_eq!(seen.lines().collect::<Vec<_>>(), ["0", "1", "2", "3", "4"]);
    }

    #[test]
    fn a_child_stands_alone() {
        let limits = vec![(Resource::Core, 0), (Resource::Nofile, 64)];
        let setup = ChildSetup { limits, no_new_privileges: true, ..ChildSetup::default() };
        let seen =
            said(setup, "ulimit -c; ulimit -n; umask; grep NoNewPrivs /proc/self/status; cat /proc/$$/stat; echo $$");
        let lines: Vec<&str> = seen.lines().collect();
        assert_eq!(lines[..4], ["0", "64", "0077", "NoNewPrivs:\t1"]);
        // `pid (name) state parent group session`: it leads both.
        let fields: Vec<&str> = lines[4].rsplit_once(')').unwrap().1.split_ascii_whitespace().collect();
        assert_eq!(fields[2..4], [lines[5], lines[5]]);
        let group = said(ChildSetup { group: Group::Process, ..ChildSetup::default() }, "cat /proc/$$/stat; echo $$");
        let lines: Vec<&str> = group.lines().collect();
        let fields: Vec<&str> = lines[0].rsplit_once(')').unwrap().1.split_ascii_whitespace().collect();
        assert!(fields[2] == lines[1] && fields[3] != lines[1], "{group}");
    }
}
