//! What stands and what does not, in words that `cove doctor` can print.

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! wall_names {
    ($($(#[$doc:meta])* $name:ident = $text:literal: $purpose:literal;)*) => {
        /// A wall between guest code and the machine.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum WallName {
            $($(#[$doc])* #[serde(rename = $text)] $name,)*
        }

        impl WallName {
            /// Every wall there is.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// Its name, as it is printed and written in JSON.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }

            /// What it takes away from code that has broken out of the engine.
            pub const fn purpose(self) -> &'static str {
                match self { $(Self::$name => $purpose,)* }
            }
        }
    };
}

wall_names! {
    /// seccomp, with an allow-list.
    Seccomp = "seccomp": "every system call that the engine does not need";
    /// Landlock's file rules.
    LandlockFiles = "landlock-files": "opening, listing, changing any file";
    /// Landlock's network rules.
    LandlockNetwork = "landlock-network": "TCP, in and out";
    /// Landlock's scopes.
    LandlockScope = "landlock-scope": "signals and abstract sockets to processes outside";
    /// A user namespace.
    UserNamespace = "user-namespace": "the identity of the starting user";
    /// A PID namespace.
    PidNamespace = "pid-namespace": "seeing other processes; and all children end with the zygote";
    /// A network namespace without interfaces.
    NetworkNamespace = "network-namespace": "every network interface, loopback too";
    /// A mount namespace with an empty root.
    MountNamespace = "mount-namespace": "the file system: the root is empty and read-only";
    /// An IPC namespace.
    IpcNamespace = "ipc-namespace": "shared memory and message queues of others";
    /// A UTS namespace.
    UtsNamespace = "uts-namespace": "the machine's name";
    /// A cgroup namespace.
    CgroupNamespace = "cgroup-namespace": "the machine's control groups";
    /// Not root, and no groups.
    UnprivilegedUser = "unprivileged-user": "what root may do";
    /// No capability in any set.
    Capabilities = "capabilities": "every privilege, also inside the namespaces";
    /// `no_new_privs`.
    NoNewPrivileges = "no-new-privileges": "gaining privileges through another program";
    /// Resource limits.
    ResourceLimits = "resource-limits": "files, processes, locked memory, core dumps; memory beyond the session's limit";
    /// Not dumpable.
    NotDumpable = "not-dumpable": "being read or traced by a neighbour";
    /// No inherited descriptors.
    NoDescriptors = "no-descriptors": "files and sockets of the starting program";
    /// No inherited environment.
    NoEnvironment = "no-environment": "secrets in environment variables";
}

impl fmt::Display for WallName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One wall of the engine's.
pub type Wall = cove_walls::Wall<WallName>;

/// Gathers the report while the walls go up.
pub(crate) type Survey = cove_walls::Survey<WallName>;

/// All walls of one engine, as the worker itself has found them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WallReport {
    /// Each wall once.
    pub walls: Vec<Wall>,
}

impl WallReport {
    /// The walls that do not stand.
    pub fn missing(&self) -> impl Iterator<Item = &Wall> {
        self.walls.iter().filter(|wall| wall.is_missing())
    }

    /// One wall. A worker's report has every wall; one that it did not mention is missing.
    pub fn get(&self, name: WallName) -> Option<&Wall> {
        self.walls.iter().find(|wall| wall.name == name)
    }
}

/// The report, with every wall in it: one that nobody spoke of is missing.
pub(crate) fn finish(mut survey: Survey) -> WallReport {
    for name in WallName::ALL {
        if survey.get(name).is_none() {
            survey.contradict(*name, "not tried".into());
        }
    }
    let mut walls = survey.into_walls();
    walls.sort_by_key(|wall| WallName::ALL.iter().position(|name| *name == wall.name));
    WallReport { walls }
}

#[cfg(test)]
mod tests {
    use cove_walls::WallState;

    use super::*;

    /// A wall that nobody spoke of is missing; one that is contradicted is, too.
    #[test]
    fn silence_is_no_wall() {
        let mut survey = Survey::default();
        survey.note(WallName::Seccomp, Ok::<_, String>("on"));
        survey.note(WallName::Capabilities, Ok::<_, String>("none"));
        survey.contradict(WallName::Capabilities, "CapEff is 1".into());
        let report = finish(survey);
        assert_eq!(report.walls.len(), WallName::ALL.len());
        assert_eq!(report.get(WallName::Seccomp).unwrap().state, WallState::Active);
        assert_eq!(report.missing().count(), WallName::ALL.len() - 1);
        let json = serde_json::to_string(&report).unwrap();
        assert_eq!(serde_json::from_str::<WallReport>(&json).unwrap(), report);
        assert!(json.contains(r#"{"name":"capabilities","state":"missing","detail":"CapEff is 1"}"#));
    }
}
