//! Why a program was ended by a limit, with the numbers: one form for every limit.

use std::fmt;

use serde::Serialize;

use super::Hidden;

/// Which limit ended something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ExceededLimit {
    /// All memory that the sandbox may use was used.
    MemoryLimit,
    /// The workspace's size.
    DiskLimit,
}

/// An ending by force, for the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct EndedByLimit {
    /// Which limit it was.
    pub cause: ExceededLimit,
    /// What was used of it.
    pub used_bytes: u64,
    /// The limit.
    pub limit_bytes: u64,
    /// Why more is on the disk than was counted.
    #[serde(skip)]
    pub hidden: Option<Hidden>,
}

/// For people.
impl fmt::Display for EndedByLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { cause, used_bytes, limit_bytes, hidden } = self;
        match cause {
            ExceededLimit::MemoryLimit => {
                let (used, limit) = (used_bytes.div_ceil(1 << 20), limit_bytes.div_ceil(1 << 20));
                write!(f, "memory limit: the sandbox used {used} MiB of {limit} MiB and its largest process was ended")
            }
            ExceededLimit::DiskLimit => {
                write!(f, "the workspace is over its disk limit: {used_bytes} of {limit_bytes} bytes are used")?;
                f.write_str(match hidden {
                    Some(Hidden::Unreadable) => ", and a folder in it cannot be read, so its size is unknown",
                    Some(Hidden::TooDeep) => ", and folders in it are nested too deep to be counted",
                    Some(Hidden::TooMany) => ", and more files are in it than may be",
                    None => "",
                })?;
                f.write_str("; delete files to make room")
            }
        }
    }
}
