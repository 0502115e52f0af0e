//! The workspace as one opened folder: whatever a request names is reached from that handle, or not at all.
//!
//! The kernel checks each step (`openat2` with `RESOLVE_BENEATH`), symlinks included, with no moment between check and
//! use. Ship's own walls would hold a symlink that leads out as well; but the answer must say so.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, ResolveFlags, mkdirat, openat2, renameat, statat, unlinkat};
use rustix::io::Errno;

use crate::ship::error::ApiError;

/// Where the workspace is, as guests see it.
pub(crate) const MOUNT: &str = "/workspace";

/// The kernel's own bound (PATH_MAX).
const MAX_PATH_BYTES: usize = 4096;

/// `openat2` answers EAGAIN when a rename elsewhere made it unsure; after so many it is a storm, not an accident.
const MAX_RETRIES: usize = 128;

/// A path below the workspace: plain names joined by `/`, empty for the workspace itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Inside {
    text: String,
    given: String,
}

impl Inside {
    /// Reads a path as a client writes it: relative, or below `/workspace`.
    pub(crate) fn parse(given: &str) -> Result<Self, ApiError> {
        let refuse = |why| Err(ApiError::invalid_path(given, why));
        if given.is_empty() {
            return refuse("it is empty");
        }
        if given.contains('\0') {
            return refuse("it holds a NUL character");
        }
        if given.len() > MAX_PATH_BYTES {
            return refuse("it is too long");
        }
        let below = match given.strip_prefix(MOUNT) {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => rest,
            _ if given.starts_with('/') => return refuse("only paths below /workspace can be reached"),
            _ => given,
        };
        let mut names: Vec<&str> = Vec::new();
        for name in below.split('/') {
            match name {
                "" | "." => {}
                ".." if names.pop().is_none() => return refuse("it leads outside the workspace"),
                ".." => {}
                name => names.push(name),
            }
        }
        Ok(Self { text: names.join("/"), given: given.to_owned() })
    }

    pub(crate) fn given(&self) -> &str {
        &self.given
    }

    pub(crate) fn is_root(&self) -> bool {
        self.text.is_empty()
    }

    /// As a guest would write it.
    pub(crate) fn full(&self) -> String {
        if self.is_root() { MOUNT.to_owned() } else { format!("{MOUNT}/{}", self.text) }
    }

    fn split(&self) -> Option<(&str, &str)> {
        if self.is_root() { None } else { Some(self.text.rsplit_once('/').unwrap_or(("", &self.text))) }
    }
}

/// The opened workspace.
#[derive(Debug)]
pub(crate) struct Workspace {
    root: OwnedFd,
    dir: PathBuf,
}

/// A file that is being written under a name that nobody asked for; gone unless it is put in its place.
#[derive(Debug)]
pub(crate) struct Draft<'a> {
    workspace: &'a Workspace,
    name: String,
    pub(crate) file: File,
    placed: bool,
}

impl Workspace {
    pub(crate) fn open(dir: &Path) -> Result<Self, Errno> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Self { root: rustix::fs::open(dir, flags, Mode::empty())?, dir: dir.to_owned() })
    }

    /// The workspace itself, to look through.
    pub(crate) fn root(&self) -> Result<OwnedFd, Errno> {
        self.open_text("", OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty())
    }

    /// A guest may close the workspace itself to its owner, who is Ship as well: then it is opened again. `true`: it was.
    fn reopen(&self) -> bool {
        let Ok(stat) = rustix::fs::fstat(&self.root) else { return false };
        let mode = Mode::from_raw_mode(stat.st_mode & 0o7777);
        !mode.contains(Mode::RWXU) && rustix::fs::chmod(&self.dir, mode | Mode::RWXU).is_ok()
    }

    fn open_text(&self, text: &str, flags: OFlags, mode: Mode) -> Result<OwnedFd, Errno> {
        match self.open_once(text, flags, mode) {
            Err(Errno::ACCESS) if self.reopen() => self.open_once(text, flags, mode),
            other => other,
        }
    }

    fn open_once(&self, text: &str, flags: OFlags, mode: Mode) -> Result<OwnedFd, Errno> {
        let text = if text.is_empty() { "." } else { text };
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
        for _ in 0..MAX_RETRIES {
            match openat2(&self.root, text, flags | OFlags::CLOEXEC, mode, resolve) {
                Err(Errno::AGAIN | Errno::INTR) => {}
                Err(Errno::NOENT) if text.contains(UNREADABLE) => return self.open_unreadable(text, flags, resolve),
                other => return other,
            }
        }
        Err(Errno::LOOP)
    }

    /// Names that are not UTF-8 are listed with signs in the place of what cannot be read, and so are asked for by those.
    fn open_unreadable(&self, text: &str, flags: OFlags, resolve: ResolveFlags) -> Result<OwnedFd, Errno> {
        let mut dir = self.root()?;
        let mut names = text.split('/').peekable();
        while let Some(name) = names.next() {
            let last = names.peek().is_none();
            let flags = if last { flags } else { OFlags::RDONLY | OFlags::DIRECTORY };
            dir = openat2(&dir, true_name(&dir, name), flags | OFlags::CLOEXEC, Mode::empty(), resolve)?;
        }
        Ok(dir)
    }

    /// Opens what is there.
    pub(crate) fn open_at(&self, path: &Inside, flags: OFlags) -> Result<OwnedFd, ApiError> {
        self.open_text(&path.text, flags, Mode::empty()).map_err(|errno| ApiError::from_errno(errno, path.given()))
    }

    /// Opens a folder.
    pub(crate) fn folder(&self, path: &Inside) -> Result<OwnedFd, ApiError> {
        self.open_at(path, OFlags::RDONLY | OFlags::DIRECTORY)
    }

    /// Opens a plain file; anything else is refused before a byte is read.
    pub(crate) fn file(&self, path: &Inside, flags: OFlags) -> Result<File, ApiError> {
        let fd = self.open_at(path, flags | OFlags::NONBLOCK | OFlags::NOCTTY)?;
        let stat = rustix::fs::fstat(&fd).map_err(|errno| ApiError::from_errno(errno, path.given()))?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Ok(File::from(fd)),
            FileType::Directory => Err(ApiError::from_errno(Errno::ISDIR, path.given())),
            _ => Err(ApiError::from_errno(Errno::NXIO, path.given())),
        }
    }

    /// The folder that holds what the path names, and its name there. Missing folders are made when `create` is set.
    pub(crate) fn place<'p>(&self, path: &'p Inside, create: bool) -> Result<(OwnedFd, &'p str), ApiError> {
        let Some((folder, name)) = path.split() else {
            return Err(ApiError::invalid_path(path.given(), "it is the workspace itself"));
        };
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        let opened = match self.open_text(folder, flags, Mode::empty()) {
            Err(Errno::NOENT) if create => self.make_folders(folder),
            other => other,
        };
        opened.map(|dir| (dir, name)).map_err(|errno| ApiError::from_errno(errno, path.given()))
    }

    fn make_folders(&self, folder: &str) -> Result<OwnedFd, Errno> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        let mut dir = self.open_text("", flags, Mode::empty())?;
        let mut so_far = String::new();
        for name in folder.split('/') {
            match mkdirat(&dir, name, Mode::from_raw_mode(0o755)) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(errno) => return Err(errno),
            }
            so_far = if so_far.is_empty() { name.to_owned() } else { format!("{so_far}/{name}") };
            dir = self.open_text(&so_far, flags, Mode::empty())?;
        }
        Ok(dir)
    }

    /// Begins a new file.
    pub(crate) fn draft(&self) -> Result<Draft<'_>, ApiError> {
        let mut random = [0; 16];
        getrandom::fill(&mut random).map_err(|error| ApiError::internal(error.to_string()))?;
        let name = format!(".cove-{:032x}.draft", u128::from_ne_bytes(random));
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW;
        let fd = self.open_text(&name, flags, Mode::from_raw_mode(0o644));
        let file = File::from(fd.map_err(|errno| ApiError::from_errno(errno, "a new file"))?);
        Ok(Draft { workspace: self, name, file, placed: false })
    }

    /// Removes a file, a link or a whole folder.
    pub(crate) fn remove(&self, path: &Inside) -> Result<(), ApiError> {
        let (dir, name) = self.place(path, false)?;
        let refuse = |errno| ApiError::from_errno(errno, path.given());
        let name = true_name(&dir, name);
        // Whose owner has closed it, as far as that is the workspace itself.
        self.reopen();
        match unlinkat(&dir, name.as_slice(), AtFlags::empty()) {
            Err(Errno::ISDIR | Errno::PERM) if kind(&dir, &name) == Some(FileType::Directory) => {
                crate::remove_tree(&dir, name.as_slice()).map_err(refuse)
            }
            other => other.map_err(refuse),
        }
    }
}

/// Stands for bytes that are no text.
const UNREADABLE: char = char::REPLACEMENT_CHARACTER;

/// The name of what is listed under this one: itself, or the only one that reads like it.
fn true_name(dir: &OwnedFd, name: &str) -> Vec<u8> {
    if !name.contains(UNREADABLE) || statat(dir, name, AtFlags::SYMLINK_NOFOLLOW).is_ok() {
        return name.as_bytes().to_owned();
    }
    let entries = rustix::fs::Dir::read_from(dir).into_iter().flatten().flatten();
    let mut alike = entries
        .map(|entry| entry.file_name().to_bytes().to_owned())
        .filter(|bytes| String::from_utf8_lossy(bytes) == name);
    match (alike.next(), alike.next()) {
        (Some(only), None) => only,
        _ => name.as_bytes().to_owned(),
    }
}

fn kind(dir: &OwnedFd, name: &[u8]) -> Option<FileType> {
    let stat = statat(dir, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    Some(FileType::from_raw_mode(stat.st_mode))
}

impl Draft<'_> {
    /// Gives the file its name; what was there under that name is replaced in one step, its permissions are kept.
    pub(crate) fn place(mut self, path: &Inside, mode: Option<u32>) -> Result<(), ApiError> {
        let (dir, name) = self.workspace.place(path, true)?;
        let refuse = |errno| ApiError::from_errno(errno, path.given());
        let before = statat(&dir, name, AtFlags::SYMLINK_NOFOLLOW).ok();
        let kept = match before.map(|stat| (FileType::from_raw_mode(stat.st_mode), stat.st_mode)) {
            Some((FileType::Directory, _)) => return Err(refuse(Errno::ISDIR)),
            Some((FileType::RegularFile, mode)) => Some(mode & 0o777),
            Some(_) | None => None,
        };
        if let Some(mode) = mode.or(kept) {
            rustix::fs::fchmod(&self.file, Mode::from_raw_mode(mode & 0o777)).map_err(refuse)?;
        }
        renameat(&self.workspace.root, self.name.as_str(), &dir, name).map_err(refuse)?;
        self.placed = true;
        Ok(())
    }
}

impl Drop for Draft<'_> {
    fn drop(&mut self) {
        if !self.placed {
            let _ = unlinkat(&self.workspace.root, self.name.as_str(), AtFlags::empty());
        }
    }
}

/// Whether a name belongs to a file that is being written: nobody should see them come and go.
pub(crate) fn is_draft(name: &[u8]) -> bool {
    name.strip_prefix(b".cove-")
        .and_then(|rest| rest.strip_suffix(b".draft"))
        .is_some_and(|hex| hex.len() == 32 && hex.iter().all(u8::is_ascii_hexdigit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_plain_names() {
        for (given, text) in [
            ("a.txt", "a.txt"),
            ("./a//b/", "a/b"),
            ("/workspace", ""),
            ("/workspace/a/../b", "b"),
            (".", ""),
            ("a/b/../../c", "c"),
            ("..a/b..", "..a/b.."),
        ] {
            assert_eq!(Inside::parse(given).unwrap().text, text, "{given:?}");
        }
        for given in ["", "..", "../x", "a/../../x", "/etc/passwd", "/workspacex/a", "/workspace/../x", "a\0b"] {
            assert_eq!(Inside::parse(given).unwrap_err().code(), "invalid_path", "{given:?}");
        }
    }
}
