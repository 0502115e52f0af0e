//! Mounts of a mount namespace's own: none spreads, and what each may not be used for.

use std::ffi::CString;
use std::io;

use rustix::mount::{MountFlags, MountPropagationFlags, mount_change, mount_remount};

use crate::sys;

/// Keeps mounts apart: nothing done in this mount namespace is seen outside, nor anything outside seen here.
pub fn make_private() -> io::Result<()> {
    Ok(mount_change(c"/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?)
}

/// What a mount may not be used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MountBars(u64);

impl MountBars {
    /// Nothing is written.
    pub const READ_ONLY: Self = Self(0x1);
    /// No program gets its owner's rights.
    pub const NO_SETUID: Self = Self(0x2);
    /// No device is opened.
    pub const NO_DEVICES: Self = Self(0x4);
    /// No program is executed.
    pub const NO_PROGRAMS: Self = Self(0x8);

    /// Both.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    const fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

/// Sets bars on a mount, and with `recursive` on all mounts below it; on kernels without the call for it (before Linux
/// 5.12) the old way, which reaches this mount only.
pub fn bar(path: &str, bars: MountBars, recursive: bool) -> io::Result<()> {
    match sys::set_mount_attributes(&CString::new(path)?, bars.0, recursive) {
        Err(error) if error.raw_os_error() == Some(libc::ENOSYS) => {
            let mut flags = MountFlags::BIND | MountFlags::NOSUID;
            flags.set(MountFlags::RDONLY, bars.has(MountBars::READ_ONLY));
            flags.set(MountFlags::NODEV, bars.has(MountBars::NO_DEVICES));
            flags.set(MountFlags::NOEXEC, bars.has(MountBars::NO_PROGRAMS));
            Ok(mount_remount(path, flags, c"")?)
        }
        other => other,
    }
}
