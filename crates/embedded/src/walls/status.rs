//! The kernel's own account of the zygote, read from inside when all walls stand.

use std::os::fd::OwnedFd;

use rustix::fs::{Mode, OFlags};

use super::{Survey, WallName};

/// What `/proc/self/status` said; empty where there is no `/proc`.
pub(super) struct Status(String);

/// Opens it. The file is read later, and shows the state at that time.
pub(super) fn open() -> Option<OwnedFd> {
    rustix::fs::open("/proc/self/status", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).ok()
}

pub(super) fn read(status: Option<OwnedFd>) -> Status {
    let mut bytes = vec![0; 8 << 10];
    let length = status.and_then(|file| rustix::io::read(file, &mut bytes[..]).ok()).unwrap_or(0);
    Status(String::from_utf8_lossy(&bytes[..length]).into_owned())
}

impl Status {
    fn field(&self, name: &str) -> Option<&str> {
        self.0.lines().find_map(|line| Some(line.strip_prefix(name)?.strip_prefix(':')?.trim()))
    }

    /// Compares what the calls returned with what the kernel shows. Without `/proc` the calls' word stands alone.
    pub(super) fn confirm(&self, survey: &mut Survey) {
        let expected = [
            (WallName::NoNewPrivileges, "NoNewPrivs", "1"),
            (WallName::Seccomp, "Seccomp", "2"),
            (WallName::Capabilities, "CapPrm", "0000000000000000"),
            (WallName::Capabilities, "CapEff", "0000000000000000"),
            (WallName::Capabilities, "CapInh", "0000000000000000"),
            (WallName::Capabilities, "CapAmb", "0000000000000000"),
        ];
        for (wall, field, value) in expected {
            match self.field(field) {
                Some(seen) if seen == value => survey.add(wall, &format!("{field} {seen}")),
                Some(seen) => survey.contradict(wall, format!("/proc/self/status says {field} {seen}")),
                None => {}
            }
        }
        if let Some(uids) = self.field("Uid")
            && uids.split_whitespace().any(|uid| uid == "0")
        {
            survey.contradict(WallName::UnprivilegedUser, format!("/proc/self/status says Uid {uids}"));
        }
    }

    /// How much address space the zygote has, in bytes; a generous guess where it cannot be known.
    pub(super) fn address_space_bytes(&self) -> u64 {
        let kilobytes = self.field("VmSize").and_then(|size| size.strip_suffix(" kB")?.parse::<u64>().ok());
        kilobytes.map_or(256 << 20, |kilobytes| kilobytes << 10)
    }
}
