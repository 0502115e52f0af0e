//! The kernel's own account of a process: what `/proc/PID/status` says of its walls.

use std::fs;
use std::io;
use std::os::fd::OwnedFd;

use rustix::fs::{Mode, OFlags};

/// More than the file has on any kernel.
const MAX_BYTES: usize = 8 << 10;

/// What the file said; empty where it could not be read.
#[derive(Debug, Default)]
pub struct Status(String);

impl Status {
    /// Opens this process's own. The file is read later, also when there is no `/proc` any more, and shows the state then.
    pub fn open_own() -> Option<OwnedFd> {
        rustix::fs::open("/proc/self/status", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).ok()
    }

    /// Reads what was opened.
    pub fn read(opened: OwnedFd) -> io::Result<Self> {
        let mut bytes = vec![0; MAX_BYTES];
        let length = rustix::io::read(opened, &mut bytes[..])?;
        Ok(Self(String::from_utf8_lossy(&bytes[..length]).into_owned()))
    }

    /// Reads that of another process; an error when it is gone.
    pub fn of(pid: u32) -> io::Result<Self> {
        fs::read_to_string(format!("/proc/{pid}/status")).map(Self)
    }

    /// Reads this process's own.
    pub fn own() -> io::Result<Self> {
        fs::read_to_string("/proc/self/status").map(Self)
    }

    /// One line of it, such as `Seccomp`.
    pub fn field(&self, name: &str) -> Option<&str> {
        self.0.lines().find_map(|line| Some(line.strip_prefix(name)?.strip_prefix(':')?.trim()))
    }
}

impl From<&str> for Status {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_the_whole_name() {
        let status = Status::from("Name:\tx\nSeccomp:\t2\nSeccomp_filters:\t3\nVmSize:\t   12 kB\n");
        assert_eq!(status.field("Seccomp"), Some("2"));
        assert_eq!(status.field("VmSize"), Some("12 kB"));
        assert_eq!(status.field("Vm"), None);
        let own = std::process::id().to_string();
        assert_eq!(Status::own().unwrap().field("Pid"), Some(own.as_str()));
        assert_eq!(Status::of(std::process::id()).unwrap().field("Pid"), Some(own.as_str()));
        assert_eq!(Status::read(Status::open_own().unwrap()).unwrap().field("Pid"), Some(own.as_str()));
    }
}
