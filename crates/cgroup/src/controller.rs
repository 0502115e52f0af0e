//! The files of a group, by controller and version: written, and read again, for the kernel may have its own opinion.

use std::fs;
use std::io;
use std::path::Path;

use crate::hierarchy::Version;
use crate::{Counted, Limit, Wanted};

/// The period by which processor time is dealt out: a short one, so that nobody who shares something with a group that has
/// used up its time waits long for it. The kernel deals out a millisecond at least.
const PERIOD_US: u64 = 10_000;
const LEAST_US: u64 = 1000;

/// Buffers of TCP and UDP may take this part of the memory, on top of it, where they are counted apart (version 1).
const TCP_SHARE: u64 = 4;

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Controller {
    Memory,
    Cpu,
    Pids,
}

impl Controller {
    pub(crate) const ALL: [Self; 3] = [Self::Memory, Self::Cpu, Self::Pids];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Cpu => "cpu",
            Self::Pids => "pids",
        }
    }

    pub(crate) fn is_wanted(self, wanted: &Wanted) -> bool {
        match self {
            Self::Memory => wanted.memory_bytes.is_some(),
            Self::Cpu => wanted.cpus.is_some(),
            Self::Pids => wanted.processes.is_some(),
        }
    }
}

/// Sets what is wanted of one controller and notes what the kernel has made of it.
pub(crate) fn set(
    dir: &Path,
    controller: Controller,
    version: Version,
    wanted: &Wanted,
    counted: &mut Counted,
) -> io::Result<String> {
    let write = |file: &str, value: String| fs::write(dir.join(file), value);
    let read = |file: &str| fs::read_to_string(dir.join(file));
    let number = |text: String| text.trim().parse::<u64>().map_err(io::Error::other);
    let by = version.limited_by();
    match controller {
        Controller::Memory => {
            let Some(bytes) = wanted.memory_bytes else { return Ok(String::new()) };
            let (limit, swap, swap_limit) = match version {
                Version::One => ("memory.limit_in_bytes", "memory.memsw.limit_in_bytes", bytes),
                Version::Two => ("memory.max", "memory.swap.max", 0),
            };
            write(limit, bytes.to_string())?;
            // Not on every kernel; without swap there is nothing to limit.
            let _ = write(swap, swap_limit.to_string());
            if version == Version::One {
                // Version 1 counts buffers of TCP and UDP apart, and only where they have a limit of their own.
                write("memory.kmem.tcp.limit_in_bytes", (bytes / TCP_SHARE).to_string())?;
            }
            let value = number(read(limit)?)?;
            counted.memory_bytes = Some(Limit::new(value, by));
            Ok(format!("{by}: {value} bytes"))
        }
        Controller::Cpu => {
            let Some(cpus) = wanted.cpus else { return Ok(String::new()) };
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked by the owner")]
            let least = (LEAST_US as f64 / cpus).ceil() as u64;
            let period_us = PERIOD_US.max(least);
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked by the owner")]
            let quota = (cpus * period_us as f64) as u64;
            let (quota, period) = match version {
                Version::One => {
                    write("cpu.cfs_period_us", period_us.to_string())?;
                    write("cpu.cfs_quota_us", quota.to_string())?;
                    (number(read("cpu.cfs_quota_us")?)?, number(read("cpu.cfs_period_us")?)?)
                }
                Version::Two => {
                    write("cpu.max", format!("{quota} {period_us}"))?;
                    let max = read("cpu.max")?;
                    let (quota, period) = max.trim().split_once(' ').ok_or_else(|| io::Error::other(max.clone()))?;
                    (number(quota.to_owned())?, number(period.to_owned())?)
                }
            };
            #[allow(clippy::cast_precision_loss, reason = "microseconds of a tenth of a second")]
            let value = quota as f64 / period as f64;
            counted.cpus = Some(Limit::new(value, by));
            Ok(format!("{by}: {value} processors"))
        }
        Controller::Pids => {
            let Some(processes) = wanted.processes else { return Ok(String::new()) };
            write("pids.max", processes.to_string())?;
            let value = number(read("pids.max")?)?;
            counted.processes = Some(Limit::new(value, by));
            Ok(format!("{by}: {value} processes"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hierarchy::find;

    /// The files of version 2, as far as a plain folder can stand in for them.
    #[test]
    fn version_2_is_spoken() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::write(at("cgroup.controllers"), "cpu memory pids\n").unwrap();
        let mounts = format!("32 20 0:28 / {} rw - cgroup2 cgroup2 rw", dir.path().display());
        let wanted = Wanted { memory_bytes: Some(1 << 26), cpus: Some(0.5), processes: Some(74) };
        let mut counted = Counted::default();
        for controller in Controller::ALL {
            let place = find(controller.name(), "0::/", &mounts).unwrap();
            assert_eq!(place.version, Version::Two);
            set(dir.path(), controller, place.version, &wanted, &mut counted).unwrap();
        }
        assert_eq!(counted.memory_bytes.unwrap(), Limit::new(1 << 26, crate::LimitedBy::CgroupV2));
        assert_eq!(counted.cpus.unwrap().value, 0.5);
        assert_eq!(counted.processes.unwrap().value, 74);
        assert_eq!(fs::read_to_string(at("cpu.max")).unwrap(), "5000 10000");
        assert_eq!(fs::read_to_string(at("pids.max")).unwrap(), "74");
        assert_eq!(fs::read_to_string(at("memory.swap.max")).unwrap(), "0");
    }
}
