//! What the kernel itself says of the zygote, read from inside when all walls stand.

use cove_walls::Status;

use super::{Survey, WallName};

/// Compares what the calls returned with what the kernel shows. Without `/proc` the calls' word stands alone.
pub(super) fn confirm(status: &Status, survey: &mut Survey) {
    let expected = [
        (WallName::NoNewPrivileges, "NoNewPrivs", "1"),
        (WallName::Seccomp, "Seccomp", "2"),
        (WallName::Capabilities, "CapPrm", "0000000000000000"),
        (WallName::Capabilities, "CapEff", "0000000000000000"),
        (WallName::Capabilities, "CapInh", "0000000000000000"),
        (WallName::Capabilities, "CapAmb", "0000000000000000"),
    ];
    for (wall, field, value) in expected {
        match status.field(field) {
            Some(seen) if seen == value => survey.add(&wall, &format!("{field} {seen}")),
            Some(seen) => survey.contradict(wall, format!("/proc/self/status says {field} {seen}")),
            None => {}
        }
    }
    if let Some(uids) = status.field("Uid")
        && uids.split_whitespace().any(|uid| uid == "0")
    {
        survey.contradict(WallName::UnprivilegedUser, format!("/proc/self/status says Uid {uids}"));
    }
}

/// How much address space the zygote has, in bytes; a generous guess where it cannot be known.
pub(super) fn address_space_bytes(status: &Status) -> u64 {
    let kilobytes = status.field("VmSize").and_then(|size| size.strip_suffix(" kB")?.parse::<u64>().ok());
    kilobytes.map_or(256 << 20, |kilobytes| kilobytes << 10)
}
