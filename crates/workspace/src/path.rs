//! A path in a workspace, parsed once at the door.
//!
//! What a caller writes (`/workspace/src/a.rs`, `./src/../src/a.rs`) becomes a list of plain names. A `RelPath` holds no
//! `..`, no NUL and no leading slash, so no code behind this file asks again. That a *symlink* does not lead out cannot be
//! seen in text: [`Folder`](crate::Folder) sees to that when the path is used.

use crate::unreadable::UNREADABLE;

/// Where the workspace is, as guests see it.
pub const WORKSPACE_MOUNT: &str = "/workspace";

/// The kernel's own bound (PATH_MAX); longer paths could not be opened anyway.
const MAX_PATH_BYTES: usize = 4096;

/// The kernel's own bound for one name (NAME_MAX).
const MAX_NAME_BYTES: usize = 255;

/// A path below a workspace's root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RelPath {
    /// Names joined by `/`; empty for the root itself.
    text: String,
    /// As the caller wrote it, for messages.
    given: String,
    /// Whether it ended in a slash: a file cannot be meant.
    names_directory: bool,
}

/// Why a text is no path of a workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// No path can hold one.
    #[error("it holds a NUL character")]
    Nul,
    /// Longer than the kernel resolves.
    #[error("it is too long")]
    TooLong {
        /// How long it is.
        bytes: usize,
    },
    /// Longer than a name may be.
    #[error("the file name is too long")]
    LongName,
    /// Absolute, and not below where guests see the workspace.
    #[error("only paths below /workspace can be reached")]
    Elsewhere,
    /// More `..` than names before them.
    #[error("it leads outside the workspace")]
    LeadsOut,
}

impl RelPath {
    /// Reads a path: relative, or below `/workspace`.
    pub fn parse(given: &str) -> Result<Self, PathError> {
        Self::read_as(given, given)
    }

    /// Reads `text`, which is what the caller meant by `given`; messages name the latter.
    pub fn read_as(given: &str, text: &str) -> Result<Self, PathError> {
        if text.contains('\0') {
            return Err(PathError::Nul);
        }
        if text.len() > MAX_PATH_BYTES {
            return Err(PathError::TooLong { bytes: text.len() });
        }
        let below = match text.strip_prefix(WORKSPACE_MOUNT) {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => rest.trim_start_matches('/'),
            _ if text.starts_with('/') => return Err(PathError::Elsewhere),
            _ => text,
        };
        let mut names: Vec<&str> = Vec::new();
        for name in below.split('/') {
            match name {
                "" | "." => {}
                ".." if names.pop().is_none() => return Err(PathError::LeadsOut),
                ".." => {}
                // A sign for a byte that is no text takes three.
                name if name.len() > MAX_NAME_BYTES && !name.contains(UNREADABLE) => return Err(PathError::LongName),
                name => names.push(name),
            }
        }
        let names_directory = below.ends_with('/') || below.ends_with("/.") || below.ends_with("/..");
        Ok(Self { text: names.join("/"), given: given.to_owned(), names_directory })
    }

    /// The path under which the thing that the caller means was found: names joined by `/`.
    #[must_use]
    pub fn found_as(&self, text: String) -> Self {
        Self { text, ..self.clone() }
    }

    /// Names joined by `/`; empty for the root.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// As the caller wrote it.
    pub fn given(&self) -> &str {
        &self.given
    }

    /// As a guest would write it: below `/workspace`.
    pub fn mounted(&self) -> String {
        if self.is_root() { WORKSPACE_MOUNT.to_owned() } else { format!("{WORKSPACE_MOUNT}/{}", self.text) }
    }

    /// Whether this is the workspace itself.
    pub fn is_root(&self) -> bool {
        self.text.is_empty()
    }

    /// Whether it can only mean a folder: the root, or a path that ends in a slash.
    pub fn names_directory(&self) -> bool {
        self.names_directory || self.is_root()
    }

    /// The folder above and the last name; `None` for the root.
    pub(crate) fn split(&self) -> Option<(&str, &str)> {
        if self.is_root() { None } else { Some(self.text.rsplit_once('/').unwrap_or(("", &self.text))) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_plain_names() {
        for (given, text, mounted) in [
            ("a.txt", "a.txt", "/workspace/a.txt"),
            ("./a//b/", "a/b", "/workspace/a/b"),
            ("/workspace", "", "/workspace"),
            ("/workspace/", "", "/workspace"),
            ("/workspace//a", "a", "/workspace/a"),
            ("/workspace/a/../b", "b", "/workspace/b"),
            (".", "", "/workspace"),
            ("", "", "/workspace"),
            ("a/../b", "b", "/workspace/b"),
            ("a/b/../../c", "c", "/workspace/c"),
            ("..a/b..", "..a/b..", "/workspace/..a/b.."),
            ("~/x", "~/x", "/workspace/~/x"),
            ("@a", "@a", "/workspace/@a"),
        ] {
            let path = RelPath::parse(given).unwrap();
            assert_eq!((path.as_str(), path.mounted().as_str()), (text, mounted), "{given:?}");
        }
        assert!(RelPath::parse("a/").unwrap().names_directory() && !RelPath::parse("a").unwrap().names_directory());
    }

    #[test]
    fn what_leads_out_is_refused() {
        let long = "x".repeat(256);
        let longer = "x/".repeat(3000);
        for (given, why) in [
            ("..", PathError::LeadsOut),
            ("../x", PathError::LeadsOut),
            ("a/../../x", PathError::LeadsOut),
            ("/workspace/../etc/passwd", PathError::LeadsOut),
            ("/etc/passwd", PathError::Elsewhere),
            ("/", PathError::Elsewhere),
            ("//workspace/x", PathError::Elsewhere),
            ("/workspacex/a", PathError::Elsewhere),
            ("a\0b", PathError::Nul),
            ("\0", PathError::Nul),
            (&long, PathError::LongName),
            (&longer, PathError::TooLong { bytes: 6000 }),
        ] {
            assert_eq!(RelPath::parse(given), Err(why), "{given:?}");
        }
    }
}
