//! `write`: a whole file, its folders included.

use cove_workspace::{Missing, Target};

use crate::args::WriteArgs;
use crate::error::{Asked, FileError, FileErrorCode};
use crate::path::rel_path;
use crate::result::ToolResult;
use crate::truncate::format_size;
use crate::workspace::Workspace;

/// Text of this size was not written by a model; larger data belongs to code that streams it.
pub const MAX_WRITE_BYTES: usize = 64 << 20;

impl Workspace {
    /// Writes a file, over whatever was there.
    pub fn write(&self, args: WriteArgs) -> Result<ToolResult, FileError> {
        let WriteArgs { path: given, content } = args;
        if content.len() > MAX_WRITE_BYTES {
            let (size, limit) = (format_size(content.len() as u64), format_size(MAX_WRITE_BYTES as u64));
            return Err(FileError::new(
                FileErrorCode::FileTooLarge,
                format!("{given}: {size} of text; the limit is {limit}"),
            ));
        }
        let path = self.existing(rel_path(&given)?);
        if path.names_directory() {
            return Err(FileError::invalid_path(&given, "it names a folder, not a file"));
        }
        let refuse = |errno| FileError::from_errno(errno, Asked::File, &given);
        let place = self.root.place_followed(&path, Missing::Create).map_err(refuse)?;
        Target::at(&place).and_then(|target| target.replace(content.as_bytes())).map_err(refuse)?;
        Ok(ToolResult::text(format!("Successfully wrote {} bytes to {given}", content.len())))
    }
}

#[cfg(test)]
mod tests {
    use cove_workspace::testkit::full_disk::ROOM;
    use rustix::io::Errno;

    use super::*;
    use crate::EditArgs;

    /// A full disk or quota: a clear error, the old content, and no file left behind.
    #[test]
    fn a_full_quota_leaves_the_old_content() {
        let dir = tempfile::tempdir().unwrap();
        let workspace = Workspace::open(dir.path()).unwrap();
        let write =
            |path: &str, content: &str| workspace.write(WriteArgs { path: path.into(), content: content.into() });
        write("a.txt", "old content").unwrap();
        for errno in [Errno::NOSPC, Errno::DQUOT, Errno::FBIG] {
            ROOM.set(Some((8, errno)));
            for refused in [
                write("a.txt", "new content").unwrap_err(),
                write("b/c.txt", "new content").unwrap_err(),
                workspace.edit(EditArgs::one("a.txt", "old", "much newer")).unwrap_err(),
            ] {
                assert_eq!(refused.code, FileErrorCode::QuotaExceeded);
                assert!(refused.message.contains("nothing was changed"), "{refused}");
            }
            ROOM.set(None);
            assert_eq!(std::fs::read_to_string(dir.path().join("a.txt")).unwrap(), "old content");
            let names: Vec<_> = std::fs::read_dir(dir.path().join("b")).unwrap().collect();
            assert_eq!(names.len(), 0);
            assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 2);
        }
        write("a.txt", "room").unwrap();
        assert_eq!(std::fs::read_to_string(dir.path().join("a.txt")).unwrap(), "room");
    }
}
