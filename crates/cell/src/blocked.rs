//! Why this machine does not let a wall be put up, and what would: for whoever reads the error of a sandbox that did not
//! start.

use std::fmt;
use std::fs;
use std::io;

use cove_walls::Status;
use serde::{Deserialize, Serialize};

use super::root::OLD;

/// What stands in the way of a wall.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Blocker {
    /// The machine has no more namespaces of a kind, or allows none.
    NamespaceLimit {
        /// The setting that limits them.
        setting: String,
    },
    /// AppArmor lets only programs with a profile of their own make user namespaces (Ubuntu).
    AppArmor,
    /// User namespaces are for root alone.
    RootOnly,
    /// Root, without the capability that lets root be a user of another user namespace.
    RootWithoutSetfcap,
    /// The root of this process is not that of its mount namespace: the kernel makes no user namespace then.
    Chroot,
    /// The container around this process.
    Container {
        /// Its filter of system calls refuses what a wall needs.
        filter: bool,
        /// It covers parts of `/proc`: the kernel mounts no other then.
        masked_proc: bool,
        /// Its AppArmor profile refuses mounts.
        app_armor: bool,
    },
}

impl Blocker {
    /// What to change.
    pub fn fix(&self) -> String {
        match self {
            Self::NamespaceLimit { setting } => format!("`sysctl -w {setting}=15000`"),
            Self::AppArmor => {
                "`cove setup apparmor` writes a profile for Cove; or `sysctl -w kernel.apparmor_restrict_unprivileged_userns=0`"
                    .to_owned()
            }
            Self::RootOnly => "`sysctl -w kernel.unprivileged_userns_clone=1`".to_owned(),
            Self::RootWithoutSetfcap => {
                "run Cove as another user (`docker run --user 1000 …`), or with that capability (`--cap-add SETFCAP`)".to_owned()
            }
            Self::Chroot => "use a container, or `pivot_root` in place of `chroot`".to_owned(),
            Self::Container { filter, masked_proc, app_armor } => container(*filter, *masked_proc, *app_armor),
        }
    }
}

impl fmt::Display for Blocker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NamespaceLimit { setting } => write!(f, "{setting} allows no more namespaces"),
            Self::AppArmor => f.write_str("AppArmor forbids user namespaces to programs without a profile"),
            Self::RootOnly => f.write_str("user namespaces are for root alone here"),
            Self::RootWithoutSetfcap => f.write_str("root without CAP_SETFCAP cannot be a user of a user namespace"),
            Self::Chroot => f.write_str("a user namespace cannot be made in a chroot"),
            Self::Container { filter, masked_proc, app_armor } => {
                let all = [
                    (*filter, "filters system calls that make namespaces and mounts"),
                    (*masked_proc, "covers parts of /proc"),
                    (*app_armor, "has an AppArmor profile that forbids mounts"),
                ];
                let all: Vec<_> = all.into_iter().filter_map(|(is_so, what)| is_so.then_some(what)).collect();
                write!(f, "the container around Cove {}", all.join(", and "))
            }
        }
    }
}

/// How a container is started that lets sandboxes be made in it.
fn container(filter: bool, masked_proc: bool, app_armor: bool) -> String {
    let options = [
        (filter, " --security-opt seccomp=cove-seccomp.json"),
        (masked_proc, " --security-opt systempaths=unconfined"),
        (app_armor, " --security-opt apparmor=unconfined"),
    ];
    let options: String = options.into_iter().filter_map(|(needed, option)| needed.then_some(option)).collect();
    let mut told = format!("`docker run{options} …`");
    if filter {
        told += "; `cove setup container-profile` prints cove-seccomp.json";
    }
    if masked_proc {
        told += "; with Podman `--security-opt unmask=ALL`, in Kubernetes `procMount: Unmasked` or a hostPath volume of \
                 /proc, anywhere a volume of it (`-v /proc:/run/proc`)";
    }
    told + "; no capability is needed"
}

/// A wall that could not be put up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{what}{}", .blocker.as_ref().map(|blocker| format!("; {blocker}: {}", blocker.fix())).unwrap_or_default())]
pub struct WallFailure {
    /// Which wall, and the kernel's error.
    pub what: String,
    /// What stands in its way, where that is known.
    pub blocker: Option<Blocker>,
}

impl From<&io::Error> for WallFailure {
    fn from(error: &io::Error) -> Self {
        let told = error.get_ref().and_then(|inner| inner.downcast_ref::<Self>());
        told.cloned().unwrap_or_else(|| Self { what: error.to_string(), blocker: None })
    }
}

/// Says which wall failed, and, where the kernel forbade it, what to change.
pub(super) fn wall<T>(name: &str, outcome: Result<T, impl Into<io::Error>>) -> io::Result<T> {
    outcome.map_err(|error| {
        let error = error.into();
        let blocker = blocker(name, &error, &machine);
        io::Error::new(error.kind(), WallFailure { what: format!("{name}: {error}"), blocker })
    })
}

/// What stands in the way; `None` where nothing is known. `machine` reads a file below the machine's `/proc`.
fn blocker(wall: &str, error: &io::Error, machine: &dyn Fn(&str) -> Option<String>) -> Option<Blocker> {
    let setting = |name: &str| machine(&format!("sys/kernel/{name}"))?.trim().parse::<u64>().ok();
    if error.raw_os_error() == Some(libc::ENOSPC) {
        return limiting(wall, machine).map(|setting| Blocker::NamespaceLimit { setting });
    }
    if error.kind() != io::ErrorKind::PermissionDenied {
        return None;
    }
    if setting("apparmor_restrict_unprivileged_userns") == Some(1) {
        return Some(Blocker::AppArmor);
    }
    if setting("unprivileged_userns_clone") == Some(0) {
        return Some(Blocker::RootOnly);
    }
    let mounts = machine("self/mountinfo").unwrap_or_default();
    let filter = machine("self/status").is_some_and(|text| Status::from(text.as_str()).field("Seccomp") == Some("2"));
    let masked_proc = mounts.lines().filter_map(|line| line.split(' ').nth(4)).any(is_mask);
    let profile = machine("self/attr/current").unwrap_or_default();
    let app_armor = profile.trim_matches(['\0', '\n']).ends_with("(enforce)");
    match wall {
        // Everything before it was allowed.
        "/proc" => masked_proc.then_some(Blocker::Container { filter: false, masked_proc, app_armor: false }),
        "user-map" => Some(Blocker::RootWithoutSetfcap),
        // Nothing else is left that refuses it to everybody.
        "user-namespace" if !filter && !app_armor => Some(Blocker::Chroot),
        _ => (filter || app_armor).then_some(Blocker::Container { filter, masked_proc, app_armor }),
    }
}

/// Which setting limits a kind of namespace. Several are made at once: then the first that allows none, or the most
/// usual one.
fn limiting(wall: &str, machine: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    let kinds: &[&str] = match wall {
        "user-namespace" => &["user"],
        "pid-namespace" => &["pid"],
        "network-namespace" => &["net"],
        "mount, IPC and UTS namespaces" => &["mnt", "ipc", "uts"],
        _ => return None,
    };
    let none =
        |kind: &&&str| machine(&format!("sys/user/max_{kind}_namespaces")).is_some_and(|text| text.trim() == "0");
    let kind = kinds.iter().find(none).or(kinds.first())?;
    Some(format!("user.max_{kind}_namespaces"))
}

/// Whether something covers a part of `/proc`. What is mounted on folders that are always empty covers nothing.
fn is_mask(place: &str) -> bool {
    let below = place.strip_prefix(OLD).unwrap_or(place).strip_prefix("/proc/");
    below.is_some_and(|below| !below.starts_with("sys/fs/binfmt_misc"))
}

/// Reads a file of the machine's `/proc`, which is elsewhere once the roots are swapped.
fn machine(path: &str) -> Option<String> {
    let read = |root: &str| fs::read_to_string(format!("{root}/proc/{path}")).ok();
    read("").or_else(|| read(OLD))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: &str = "21 1 8:1 / / rw - ext4 x x\n22 21 0:5 / /proc rw - proc p p\n";
    const MASKED: &str =
        "21 1 8:1 / / rw - overlay x x\n22 21 0:5 / /proc rw - proc p p\n23 22 0:6 / /proc/kcore rw - tmpfs t t\n";
    const FILTERED: &str = "Seccomp:\t2\n";

    /// What is said of a wall that failed with an error number, on a machine with these files.
    fn told(wall: &str, number: i32, files: &[(&str, &str)]) -> Option<Blocker> {
        let read = |path: &str| files.iter().find(|(name, _)| *name == path).map(|(_, text)| (*text).to_owned());
        blocker(wall, &io::Error::from_raw_os_error(number), &read)
    }

    #[test]
    fn each_blocker_is_told_by_what_is_seen() {
        let container = |filter, masked_proc, app_armor| Some(Blocker::Container { filter, masked_proc, app_armor });
        let limit = |setting: &str| Some(Blocker::NamespaceLimit { setting: setting.to_owned() });
        let (user, proc) = ("user-namespace", "/proc");
        let (space, denied, refused) = (libc::ENOSPC, libc::EPERM, libc::EACCES);
        let plain = ("self/mountinfo", PLAIN);
        let masked = ("self/mountinfo", MASKED);
        let filtered = ("self/status", FILTERED);
        assert_eq!(told(user, space, &[]), limit("user.max_user_namespaces"));
        let none = [("sys/user/max_ipc_namespaces", "0\n")];
        assert_eq!(told("mount, IPC and UTS namespaces", space, &none), limit("user.max_ipc_namespaces"));
        let ubuntu = [("sys/kernel/apparmor_restrict_unprivileged_userns", "1\n")];
        assert_eq!(told("pid-namespace", denied, &ubuntu), Some(Blocker::AppArmor));
        assert_eq!(told(user, denied, &[("sys/kernel/unprivileged_userns_clone", "0\n")]), Some(Blocker::RootOnly));
        assert_eq!(told(user, denied, &[masked, filtered]), container(true, true, false));
        assert_eq!(told(user, denied, &[plain, filtered]), container(true, false, false));
        assert_eq!(told(proc, denied, &[masked, filtered]), container(false, true, false));
        let docker = ("self/attr/current", "docker-default (enforce)\n");
        assert_eq!(told("the new root", refused, &[masked, docker]), container(false, true, true));
        assert_eq!(told(user, denied, &[plain]), Some(Blocker::Chroot));
        assert_eq!(told("user-map", denied, &[plain]), Some(Blocker::RootWithoutSetfcap));
        assert_eq!(told("pid-namespace", denied, &[plain]), None);
        assert_eq!(told(user, libc::ENOMEM, &[masked, filtered]), None);
    }

    #[test]
    fn a_failure_says_the_wall_the_blocker_and_the_fix() {
        let blocker = Some(Blocker::Container { filter: true, masked_proc: true, app_armor: false });
        let failure = WallFailure { what: "user-namespace: Operation not permitted".to_owned(), blocker };
        let carried = io::Error::other(failure.clone());
        assert_eq!(WallFailure::from(&carried), failure);
        let text = failure.to_string();
        for part in [
            "user-namespace: Operation not permitted; the container around Cove filters",
            "`docker run --security-opt seccomp=cove-seccomp.json --security-opt systempaths=unconfined …`",
            "`cove setup container-profile`",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        let plain = WallFailure::from(&io::Error::other("else"));
        assert_eq!((plain.to_string().as_str(), plain.blocker), ("else", None));
    }
}
