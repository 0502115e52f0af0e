//! The workspace: one opened folder, six tools.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::Path;

use cove_workspace::{FOLDER, Folder, Listing, READ, RelPath, Resolver};
use rustix::fs::{OFlags, Stat, fstat};
use rustix::io::Errno;
use serde_json::Value;

use crate::args::parse;
use crate::error::{Asked, FileError};
use crate::params::FileTool;
use crate::path::{plain_space, with_spaces_kept};
use crate::result::ToolResult;
use crate::stop::Stop;

/// A folder that code may read and change, and nothing besides.
///
/// ```
/// use cove_files::{FileErrorCode, ReadArgs, Workspace, WriteArgs};
///
/// let dir = tempfile::tempdir()?;
/// let workspace = Workspace::open(dir.path())?;
/// workspace.write(WriteArgs { path: "notes/a.txt".into(), content: "hello\n".into() })?;
/// let read = workspace.read(ReadArgs { path: "/workspace/notes/a.txt".into(), ..Default::default() })?;
/// assert_eq!(read.first_text(), "hello\n");
/// let outside = workspace.read(ReadArgs { path: "../x".into(), ..Default::default() });
/// assert_eq!(outside.unwrap_err().code, FileErrorCode::InvalidPath);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Workspace {
    pub(crate) root: Folder,
}

impl Workspace {
    /// Opens a folder that is there. It may be moved or replaced afterwards: the workspace stays the folder it was.
    pub fn open(dir: impl AsRef<Path>) -> Result<Self, FileError> {
        let dir = dir.as_ref();
        let refuse = |errno| FileError::from_errno(errno, Asked::Path, &dir.display().to_string());
        Folder::open(dir).map(Self::on).map_err(refuse)
    }

    /// The tools on a folder that is open already, by its rules.
    pub fn on(folder: Folder) -> Self {
        Self { root: folder }
    }

    /// The same, with the way of resolving paths chosen by the caller instead of by what the kernel can do.
    #[must_use]
    pub fn with_resolver(self, resolver: Resolver) -> Self {
        Self { root: self.root.with_resolver(resolver) }
    }

    /// Calls a tool with arguments as a model sends them.
    pub fn call(&self, tool: FileTool, args: Value, stop: &Stop) -> Result<ToolResult, FileError> {
        match tool {
            FileTool::Read => self.read_until(&parse(tool, args)?, stop),
            FileTool::Write => self.write(parse(tool, args)?),
            FileTool::Edit => self.edit(parse(tool, args)?),
            FileTool::Grep => self.grep_until(&parse(tool, args)?, stop),
            FileTool::Find => self.find_until(&parse(tool, args)?, stop),
            FileTool::Ls => self.ls_until(&parse(tool, args)?, stop),
            FileTool::Fs => self.fs(args, stop),
        }
    }

    /// Opens a file for reading; whatever is not a plain file is refused before a byte is read.
    pub(crate) fn open_plain(&self, path: &RelPath) -> Result<(File, Stat), FileError> {
        let refuse = |errno| FileError::from_errno(errno, Asked::File, path.given());
        let opened = self.root.open_file(path, READ).map_err(refuse)?;
        if path.names_directory() { Err(FileError::not_plain(path.given())) } else { Ok(opened) }
    }

    /// Opens what is at a path.
    pub(crate) fn open_existing(
        &self,
        path: &RelPath,
        flags: OFlags,
        asked: Asked,
    ) -> Result<(OwnedFd, Stat), FileError> {
        let refuse = |errno| FileError::from_errno(errno, asked, path.given());
        let fd = self.root.open_path(path, flags).map_err(refuse)?;
        let stat = fstat(&fd).map_err(refuse)?;
        Ok((fd, stat))
    }

    /// The path under which the thing that the caller means is really there.
    ///
    /// Almost always the path itself. When nothing is there and the path holds spaces, a name that differs only in
    /// the kind of its spaces is as good: programs put no-break spaces in file names, models write plain ones.
    pub(crate) fn existing(&self, path: RelPath) -> RelPath {
        let there =
            |path: &RelPath| !matches!(self.root.open_path(path, OFlags::PATH | OFlags::CLOEXEC), Err(Errno::NOENT));
        if !path.as_str().contains(' ') || there(&path) {
            return path;
        }
        if let Some(kept) = with_spaces_kept(&path).filter(there) {
            return kept;
        }
        self.same_but_for_spaces(&path).unwrap_or(path)
    }

    fn same_but_for_spaces(&self, path: &RelPath) -> Option<RelPath> {
        let mut found = String::new();
        for name in path.as_str().split('/') {
            let below = path.found_as(if found.is_empty() { name.to_owned() } else { format!("{found}/{name}") });
            if self.root.open_path(&below, OFlags::PATH | OFlags::CLOEXEC).is_ok() {
                found = below.as_str().to_owned();
                continue;
            }
            let dir = self.root.open_path(&path.found_as(found.clone()), FOLDER).ok()?;
            let mut same: Option<String> = None;
            let mut listing = Listing::new();
            listing
                .each(&dir, |entry| {
                    if let Ok(other) = std::str::from_utf8(entry.name)
                        && other.chars().map(plain_space).eq(name.chars())
                        && same.as_deref().is_none_or(|best| other < best)
                    {
                        same = Some(other.to_owned());
                    }
                    true
                })
                .ok()?;
            let same = same?;
            found = if found.is_empty() { same } else { format!("{found}/{same}") };
        }
        Some(path.found_as(found))
    }
}
