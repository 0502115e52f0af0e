//! Kinds of hosts: an attack must be held on a machine that counts memory for us and on one that does not.
//!
//! Root can have control groups or be told to do without; an ordinary user has none unless somebody gave him some
//! (`scripts/test-cgroup2` does). One test runs its attack on each kind that this machine can make, and says which it could
//! not make.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use cove_cell::CellOptions;

use crate::support::{PATIENCE, SHIP, Sandbox, again_at, sandbox_with};

/// Set in the process that plays the ordinary user.
const ROLE: &str = "COVE_TEST_HOST";

/// Somebody who is nobody on any machine.
pub(crate) const SOMEBODY: u32 = 1_400_000_001;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Host {
    /// A control group counts memory: root's, or one that an ordinary user was given.
    Groups,
    /// Root, told to make no control groups.
    NoGroups,
    /// An ordinary user, without control groups.
    Ordinary,
}

/// Whether a group that counts memory can be made here, after room was made in one that was given to us.
pub(crate) fn counts_memory() -> bool {
    let root = rustix::process::geteuid().is_root();
    (root || cove_cgroup::settle()) && cove_cgroup::counts_memory()
}

impl Host {
    /// A sandbox on this kind of host; `change` may change what it is.
    pub(crate) async fn sandbox_with(self, change: impl FnOnce(&mut CellOptions)) -> Sandbox {
        let sandbox = sandbox_with(|options| {
            options.control_groups = self == Self::Groups;
            change(options);
        })
        .await;
        let by = sandbox.cell.walls().limits.memory_bytes.as_ref().map(|limit| limit.by);
        assert_eq!(
            by.is_some_and(cove_cell::LimitedBy::is_cgroup),
            self == Self::Groups,
            "{self:?}: memory is held by {by:?}"
        );
        sandbox
    }
}

/// Runs an attack on every kind of host that this machine can make. `test` is the test's whole name, for the process
/// that plays the ordinary user.
pub(crate) async fn on_every_host(test: &str, attack: impl AsyncFn(Host)) {
    if std::env::var_os(ROLE).is_some() || !rustix::process::geteuid().is_root() {
        if counts_memory() {
            println!("{test}: as an ordinary user, with control groups that he was given");
            attack(Host::Groups).await;
        }
        println!("{test}: as an ordinary user");
        return attack(Host::Ordinary).await;
    }
    if counts_memory() {
        println!("{test}: as root, with control groups");
        attack(Host::Groups).await;
    } else {
        println!("{test}: NOT TRIED with control groups: none that counts memory can be made here");
    }
    println!("{test}: as root, without control groups");
    attack(Host::NoGroups).await;
    as_somebody(test).await;
}

/// Runs this very test again, as an ordinary user.
pub(crate) async fn as_somebody(test: &str) {
    let programs = programs();
    let mut other = again_at(&programs.test, test, |command| {
        command.env(ROLE, "ordinary").env(SHIP, &programs.ship).current_dir("/").uid(SOMEBODY).gid(SOMEBODY);
        command.stdout(std::process::Stdio::inherit());
    });
    let ended = tokio::time::timeout(PATIENCE * 3, other.child.wait()).await;
    assert!(ended.expect("it takes too long").unwrap().success(), "{test} failed as an ordinary user");
}

/// Copies where everybody can start them: the build folder may be root's alone.
pub(crate) struct Programs {
    _folder: tempfile::TempDir,
    pub(crate) ship: PathBuf,
    pub(crate) test: PathBuf,
}

pub(crate) fn programs() -> Programs {
    let folder = tempfile::tempdir().unwrap();
    std::fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
    let place = |program: &Path| {
        let copy = folder.path().join(program.file_name().unwrap());
        std::fs::copy(program, &copy).unwrap();
        copy
    };
    let ship = place(Path::new(env!("CARGO_BIN_EXE_cove-ship")));
    let test = place(&std::env::current_exe().unwrap());
    Programs { _folder: folder, ship, test }
}
