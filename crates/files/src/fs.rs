//! What `require('fs')` in guest code is made of: one operation of a file system a call.
//!
//! The six tools are made for models: text, in pages, with notices. Programs want bytes, times, and a refusal by the name
//! that the system gives it (`ENOENT`). So a refusal of the system is an answer here, `{errno}`; only a path that cannot be
//! one is an error. Paths are taken as they are written, with no help for models.

use std::io::Write as _;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt as _;

use cove_core::{bytes_from_json, bytes_to_json};
use cove_workspace::{FOLDER, Listing, Missing, READ, RelPath, Target};
use rustix::fs::{FileType, Mode, OFlags, Stat, fchmod};
use rustix::io::Errno;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::error::{FileError, FileErrorCode};
use crate::result::ToolResult;
use crate::stop::Stop;
use crate::workspace::Workspace;

/// Bytes of one answer: a larger file is read in parts, so that none fills the bridge.
const MAX_PART_BYTES: usize = 4 << 20;

/// Names of one answer. Whoever has more does not look through them in one list.
const MAX_NAMES: usize = 100_000;

/// One operation.
#[derive(Debug, Deserialize)]
#[serde(tag = "op", rename_all = "lowercase")]
enum Operation {
    /// A part of a file.
    Read { path: String, offset: u64, length: u64 },
    /// A whole file in one step, or more bytes at its end.
    Write { path: String, data: Value, append: bool },
    /// What is at the path; of a link the link itself if that is asked for.
    Stat { path: String, link: bool },
    /// The names in a folder.
    List { path: String },
    /// A new folder, and those above it.
    Mkdir { path: String, recursive: bool },
    /// A file or link, an empty folder, or a folder with all that is in it.
    Remove { path: String, what: Removed },
    /// Another name.
    Rename { path: String, to: String },
    /// Its permissions.
    Chmod { path: String, mode: u32 },
}

#[derive(Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Removed {
    File,
    Folder,
    Tree,
}

/// How many bytes a call brings into the workspace, or `None` if it makes nothing there.
pub(crate) fn brings(args: &Value) -> Option<u64> {
    match args["op"].as_str() {
        Some("write") => Some(args["data"]["$bytes"].as_str().map_or(0, |text| text.len() / 4 * 3) as u64),
        Some("mkdir") => Some(0),
        _ => None,
    }
}

/// Why an operation did not happen.
enum Refused {
    /// The system's reason, which the caller gets as an answer.
    System(Errno),
    /// Anything else.
    Error(FileError),
}

impl From<Errno> for Refused {
    fn from(errno: Errno) -> Self {
        Self::System(errno)
    }
}

impl From<FileError> for Refused {
    fn from(error: FileError) -> Self {
        Self::Error(error)
    }
}

impl From<std::io::Error> for Refused {
    fn from(error: std::io::Error) -> Self {
        Self::System(Errno::from_io_error(&error).unwrap_or(Errno::IO))
    }
}

impl Workspace {
    /// Does one operation.
    pub(crate) fn fs(&self, args: Value, stop: &Stop) -> Result<ToolResult, FileError> {
        let operation: Operation =
            serde_json::from_value(args).map_err(|error| FileError::invalid_args(format!("fs: {error}")))?;
        match self.operate(operation, stop) {
            Ok(answer) => Ok(ToolResult::fact(answer)),
            Err(Refused::System(errno)) => Ok(ToolResult::fact(json!({ "errno": name_of(errno) }))),
            Err(Refused::Error(error)) => Err(error),
        }
    }

    fn operate(&self, operation: Operation, stop: &Stop) -> Result<Value, Refused> {
        match operation {
            Operation::Read { path, offset, length } => self.read_part(&exact(&path)?, offset, length),
            Operation::Write { path, data, append } => self.write_bytes(&exact(&path)?, &data, append),
            Operation::Stat { path, link } => Ok(stat_json(&self.root.stat(&exact(&path)?, !link)?)),
            Operation::List { path } => self.list(&exact(&path)?, stop),
            Operation::Mkdir { path, recursive } => self.mkdir(&exact(&path)?, recursive),
            Operation::Remove { path, what } => {
                let path = exact(&path)?;
                match what {
                    Removed::Tree => self.root.remove(&path)?,
                    what => self.root.remove_one(&path, what == Removed::Folder)?,
                }
                Ok(json!({}))
            }
            Operation::Rename { path, to } => {
                self.root.rename(&exact(&path)?, &exact(&to)?)?;
                Ok(json!({}))
            }
            Operation::Chmod { path, mode } => {
                let opened: OwnedFd = self.root.open_path(&exact(&path)?, READ)?;
                fchmod(&opened, Mode::from_raw_mode(mode & 0o777))?;
                Ok(json!({}))
            }
        }
    }

    fn read_part(&self, path: &RelPath, offset: u64, length: u64) -> Result<Value, Refused> {
        let (file, stat) = self.root.open_file(path, READ)?;
        let size = u64::try_from(stat.st_size).unwrap_or(0);
        let part = size.saturating_sub(offset).min(length);
        let mut bytes = vec![0; usize::try_from(part).unwrap_or(MAX_PART_BYTES).min(MAX_PART_BYTES)];
        let mut filled = 0;
        while filled < bytes.len() {
            match file.read_at(&mut bytes[filled..], offset + filled as u64) {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(json!({ "data": bytes_to_json(&bytes[..filled]), "size": size }))
    }

    fn write_bytes(&self, path: &RelPath, data: &Value, append: bool) -> Result<Value, Refused> {
        let bytes = bytes_from_json(data).ok_or_else(|| FileError::invalid_args("fs: `data` must be bytes"))?;
        if path.names_directory() {
            return Err(Errno::ISDIR.into());
        }
        if append {
            match self.root.open_file(path, OFlags::WRONLY | OFlags::APPEND) {
                Ok((mut file, _)) => {
                    file.write_all(&bytes)?;
                    return Ok(json!({}));
                }
                Err(Errno::NOENT) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
        // Folders on the way are made, as by `write`.
        let place = self.root.place_followed(path, Missing::Create)?;
        Target::at(&place)?.replace(&bytes)?;
        Ok(json!({}))
    }

    fn mkdir(&self, path: &RelPath, recursive: bool) -> Result<Value, Refused> {
        if !recursive {
            self.root.make_folder(path, Missing::Refuse)?;
            return Ok(json!({}));
        }
        // The first that is made, as callers want to know.
        let names: Vec<&str> = path.as_str().split('/').collect();
        let mut first = None;
        for end in 1..=names.len() {
            let above = path.found_as(names[..end].join("/"));
            match self.root.make_folder(&above, Missing::Refuse) {
                Ok(()) => first = first.or(Some(above.as_str().to_owned())),
                Err(Errno::EXIST) if self.has_folder(&above) => {}
                Err(Errno::EXIST) if end < names.len() => return Err(Errno::NOTDIR.into()),
                Err(errno) => return Err(errno.into()),
            }
        }
        Ok(json!({ "first": first }))
    }

    fn has_folder(&self, path: &RelPath) -> bool {
        self.root.stat(path, true).is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode).is_dir())
    }

    /// The names in the order of their bytes, each with what it is.
    fn list(&self, path: &RelPath, stop: &Stop) -> Result<Value, Refused> {
        let folder = self.root.open_path(path, FOLDER)?;
        let mut names: Vec<(Vec<u8>, &str)> = Vec::new();
        let mut over = false;
        Listing::new().each(&folder, |entry| {
            names.push((entry.name.to_vec(), kind(entry.kind)));
            over = names.len().is_multiple_of(1024) && stop.is_over();
            !over && names.len() <= MAX_NAMES
        })?;
        if over {
            return Err(FileError::timeout("Listing").into());
        }
        if names.len() > MAX_NAMES {
            let message =
                format!("{} has more than {MAX_NAMES} entries; use find(pattern), or the shell", path.given());
            return Err(FileError::new(FileErrorCode::FileTooLarge, message).into());
        }
        names.sort_unstable();
        let entries: Vec<_> = names.iter().map(|(name, kind)| (String::from_utf8_lossy(name), kind)).collect();
        Ok(json!({ "entries": entries }))
    }
}

/// A path as code wrote it.
fn exact(given: &str) -> Result<RelPath, FileError> {
    RelPath::parse(given).map_err(|why| FileError::invalid_path(&given.escape_debug().to_string(), &why.to_string()))
}

const fn kind(kind: FileType) -> &'static str {
    match kind {
        FileType::RegularFile => "file",
        FileType::Directory => "folder",
        FileType::Symlink => "link",
        _ => "other",
    }
}

#[allow(clippy::cast_precision_loss, reason = "milliseconds since 1970 and sizes of files are numbers in JavaScript")]
fn stat_json(stat: &Stat) -> Value {
    let ms = |seconds: i64, nanoseconds: u64| seconds as f64 * 1e3 + nanoseconds as f64 / 1e6;
    #[allow(clippy::useless_conversion, reason = "the types of the fields differ between machines")]
    let (accessed, modified, changed) = (
        ms(stat.st_atime.into(), stat.st_atime_nsec.into()),
        ms(stat.st_mtime.into(), stat.st_mtime_nsec.into()),
        ms(stat.st_ctime.into(), stat.st_ctime_nsec.into()),
    );
    json!({
        "kind": kind(FileType::from_raw_mode(stat.st_mode)),
        "mode": stat.st_mode,
        "size": stat.st_size,
        "nlink": stat.st_nlink,
        "atimeMs": accessed,
        "mtimeMs": modified,
        "ctimeMs": changed,
    })
}

/// The name under which programs know a refusal.
fn name_of(errno: Errno) -> &'static str {
    match errno {
        Errno::NOENT => "ENOENT",
        Errno::EXIST => "EEXIST",
        Errno::NOTDIR => "ENOTDIR",
        Errno::ISDIR => "EISDIR",
        Errno::NOTEMPTY => "ENOTEMPTY",
        Errno::ACCESS => "EACCES",
        Errno::PERM => "EPERM",
        Errno::ROFS => "EROFS",
        Errno::BUSY => "EBUSY",
        Errno::INVAL => "EINVAL",
        Errno::NAMETOOLONG => "ENAMETOOLONG",
        Errno::LOOP => "ELOOP",
        Errno::XDEV => "EXDEV",
        Errno::NOSPC => "ENOSPC",
        Errno::DQUOT => "EDQUOT",
        Errno::FBIG => "EFBIG",
        Errno::NXIO => "ENXIO",
        _ => "EIO",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FileTool;

    fn ask(workspace: &Workspace, args: Value) -> Value {
        let answer = workspace.call(FileTool::Fs, args, &Stop::default()).unwrap();
        assert!(answer.content.is_empty());
        answer.details.unwrap()
    }

    #[test]
    fn operations_answer_as_the_system_does() {
        let dir = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        std::fs::write(outside.path().join("secret"), "x").unwrap();
        std::os::unix::fs::symlink(outside.path(), dir.path().join("out")).unwrap();
        let workspace = Workspace::open(dir.path()).unwrap();
        let bytes = |bytes: &[u8]| bytes_to_json(bytes);
        let errno = |name: &str| json!({ "errno": name });
        for (args, answer) in [
            (json!({"op": "write", "path": "a.bin", "data": bytes(&[0, 255]), "append": false}), json!({})),
            (json!({"op": "write", "path": "a.bin", "data": bytes(&[7]), "append": true}), json!({})),
            (json!({"op": "write", "path": "new", "data": bytes(b"n"), "append": true}), json!({})),
            (
                json!({"op": "read", "path": "a.bin", "offset": 1, "length": 99}),
                json!({"data": bytes(&[255, 7]), "size": 3}),
            ),
            (json!({"op": "read", "path": "a.bin", "offset": 9, "length": 9}), json!({"data": bytes(&[]), "size": 3})),
            (json!({"op": "write", "path": "made/a", "data": bytes(b""), "append": false}), json!({})),
            (json!({"op": "remove", "path": "made", "what": "tree"}), json!({})),
            (json!({"op": "write", "path": ".", "data": bytes(b""), "append": false}), errno("EISDIR")),
            (json!({"op": "mkdir", "path": "d", "recursive": false}), json!({})),
            (json!({"op": "mkdir", "path": "d", "recursive": false}), errno("EEXIST")),
            (json!({"op": "mkdir", "path": "d/e/f", "recursive": true}), json!({"first": "d/e"})),
            (json!({"op": "mkdir", "path": "d/e/f", "recursive": true}), json!({"first": null})),
            (json!({"op": "mkdir", "path": "a.bin", "recursive": true}), errno("EEXIST")),
            (json!({"op": "mkdir", "path": "a.bin/b", "recursive": true}), errno("ENOTDIR")),
            (json!({"op": "rename", "path": "new", "to": "d/B"}), json!({})),
            (json!({"op": "rename", "path": "new", "to": "x"}), errno("ENOENT")),
            (json!({"op": "list", "path": "d"}), json!({"entries": [["B", "file"], ["e", "folder"]]})),
            (json!({"op": "list", "path": "a.bin"}), errno("ENOTDIR")),
            (json!({"op": "list", "path": "out"}), errno("EXDEV")),
            (json!({"op": "read", "path": "out/secret", "offset": 0, "length": 9}), errno("EXDEV")),
            (json!({"op": "rename", "path": "out/secret", "to": "mine"}), errno("EXDEV")),
            (json!({"op": "rename", "path": "a.bin", "to": "out/mine"}), errno("EXDEV")),
            (json!({"op": "remove", "path": "out/secret", "what": "file"}), errno("EXDEV")),
            (json!({"op": "remove", "path": "d", "what": "folder"}), errno("ENOTEMPTY")),
            (json!({"op": "remove", "path": "d", "what": "file"}), errno("EISDIR")),
            (json!({"op": "remove", "path": "a.bin", "what": "folder"}), errno("ENOTDIR")),
            (json!({"op": "remove", "path": ".", "what": "tree"}), errno("EBUSY")),
            (json!({"op": "chmod", "path": "a.bin", "mode": 0o700}), json!({})),
            (json!({"op": "remove", "path": "d", "what": "tree"}), json!({})),
            (json!({"op": "remove", "path": "out", "what": "tree"}), json!({})),
        ] {
            assert_eq!(ask(&workspace, args.clone()), answer, "{args}");
        }
        assert!(outside.path().join("secret").exists());
        let stat = ask(&workspace, json!({"op": "stat", "path": "a.bin", "link": false}));
        assert_eq!((&stat["kind"], &stat["size"], &stat["mode"]), (&json!("file"), &json!(3), &json!(0o100_700)));
        assert!(stat["mtimeMs"].as_f64().unwrap() > 1.6e12, "{stat}");
        for args in [json!({}), json!({"op": "read"}), json!({"op": "stat", "path": "../x", "link": false})] {
            assert!(workspace.call(FileTool::Fs, args, &Stop::default()).is_err());
        }
    }
}
