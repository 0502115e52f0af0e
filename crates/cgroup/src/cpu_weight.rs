//! The processor weight of a group, by the number of its processes.
//!
//! The share of time is fair between groups, but the waiting time is not: hundreds of processes that all want to run
//! make the single process of another group wait for tens of milliseconds. So a group with very many processes gets
//! less weight.

use std::cell::Cell;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use crate::hierarchy::Version;

/// As many processes and threads as ordinary work has; only a group with more gets a lower weight.
const USUAL: u64 = 32;

/// The weight of a group in one sandbox's hands.
#[derive(Debug)]
pub struct CpuWeight {
    weight: File,
    members: File,
    version: Version,
    now: Cell<u64>,
}

impl CpuWeight {
    pub(crate) fn open(cpu: &Path, pids: &Path, version: Version) -> io::Result<Self> {
        let weight = File::options().write(true).open(cpu.join(match version {
            Version::One => "cpu.shares",
            Version::Two => "cpu.weight",
        }))?;
        let members = File::open(pids.join("pids.current"))?;
        Ok(Self { weight, members, version, now: Cell::new(usual(version)) })
    }

    /// Looks how many there are, and weighs them anew where that has changed much.
    pub fn adjust(&self) -> io::Result<()> {
        let mut text = [0; 32];
        let length = self.members.read_at(&mut text, 0)?;
        let members = std::str::from_utf8(&text[..length]).ok().and_then(|text| text.trim().parse().ok());
        let wanted = weight(self.version, members.unwrap_or(0));
        if wanted.abs_diff(self.now.get()) * 4 > self.now.get() {
            self.weight.write_at(wanted.to_string().as_bytes(), 0)?;
            self.now.set(wanted);
        }
        Ok(())
    }
}

fn usual(version: Version) -> u64 {
    match version {
        Version::One => 1024,
        Version::Two => 100,
    }
}

fn weight(version: Version, members: u64) -> u64 {
    let least = match version {
        Version::One => 2,
        Version::Two => 1,
    };
    (usual(version) * USUAL / members.max(USUAL)).max(least)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_processes_weigh_less() {
        assert_eq!([1, 32, 64, 256].map(|members| weight(Version::One, members)), [1024, 1024, 512, 128]);
        assert_eq!([1, 320, 1_000_000].map(|members| weight(Version::Two, members)), [100, 10, 1]);
    }

    #[test]
    fn it_is_weighed_when_it_has_changed() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("cpu.weight"), "100").unwrap();
        let members = |count: &str| std::fs::write(dir.path().join("pids.current"), count).unwrap();
        members("3\n");
        let turn = CpuWeight::open(dir.path(), dir.path(), Version::Two).unwrap();
        let now = || std::fs::read_to_string(dir.path().join("cpu.weight")).unwrap();
        turn.adjust().unwrap();
        assert_eq!(now(), "100");
        members("320\n");
        turn.adjust().unwrap();
        // A file of the kernel's takes what is written whole; a plain one keeps what was behind it.
        assert!(now().starts_with("10"), "{}", now());
        members("300\n");
        turn.adjust().unwrap();
        assert!(now().starts_with("10"), "{}", now());
    }
}
