//! A path in the workspace, parsed once at the door.
//!
//! What a caller writes (`@src/a.rs`, `/workspace/src/a.rs`, `./src/../src/a.rs`) becomes a list of plain names. A
//! `RelPath` holds no `..`, no NUL and no leading slash, so no code behind this file asks again. That a *symlink* does
//! not lead out cannot be seen in text: `beneath.rs` sees to that when the path is used.

use crate::error::FileError;

/// Where the workspace is, as guests see it.
pub const WORKSPACE_MOUNT: &str = "/workspace";

/// The kernel's own bound (PATH_MAX); longer paths could not be opened anyway.
const MAX_PATH_BYTES: usize = 4096;

/// A path below the workspace's root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RelPath {
    /// Names joined by `/`; empty for the root itself.
    text: String,
    /// As the caller wrote it, for messages.
    given: String,
    /// Whether it ended in a slash: a file cannot be meant.
    names_directory: bool,
}

impl RelPath {
    /// Reads a path as a model or a person writes it.
    pub fn parse(given: &str) -> Result<Self, FileError> {
        Self::build(given, &given.chars().map(plain_space).collect::<String>())
    }

    /// The same path with its Unicode spaces left as they are; `None` when there are none.
    pub(crate) fn with_spaces_kept(&self) -> Option<Self> {
        let other = Self::build(&self.given, &self.given).ok()?;
        (other.text != self.text).then_some(other)
    }

    /// A path that was found on disk under `text` for the path that the caller meant.
    pub(crate) fn found_as(&self, text: String) -> Self {
        Self { text, ..self.clone() }
    }

    fn build(given: &str, text: &str) -> Result<Self, FileError> {
        let refuse = |why| Err(FileError::invalid_path(&given.escape_debug().to_string(), why));
        let text = text.strip_prefix('@').unwrap_or(text);
        if text.contains('\0') {
            return refuse("it holds a NUL character");
        }
        if text.len() > MAX_PATH_BYTES {
            return Err(FileError::new("invalid_path", format!("Invalid path: it has {} bytes", text.len())));
        }
        let below = match text.strip_prefix(WORKSPACE_MOUNT) {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => rest.trim_start_matches('/'),
            _ if text.starts_with('/') => return refuse("only paths below /workspace can be reached"),
            _ => text,
        };
        let mut names: Vec<&str> = Vec::new();
        for name in below.split('/') {
            match name {
                "" | "." => {}
                ".." if names.pop().is_none() => return refuse("it leads outside the workspace"),
                ".." => {}
                name if name.len() > 255 => return refuse("no file can have such a long name"),
                name => names.push(name),
            }
        }
        let names_directory = below.ends_with('/') || below.ends_with("/.") || below.ends_with("/..");
        Ok(Self { text: names.join("/"), given: given.to_owned(), names_directory })
    }

    /// Names joined by `/`; empty for the root.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// As the caller wrote it.
    pub fn given(&self) -> &str {
        &self.given
    }

    /// Whether this is the workspace itself.
    pub fn is_root(&self) -> bool {
        self.text.is_empty()
    }

    pub(crate) fn names_directory(&self) -> bool {
        self.names_directory || self.is_root()
    }
}

/// Unicode's many spaces equal the plain one: models copy names with a no-break space and write them without.
pub(crate) fn plain_space(c: char) -> char {
    match c {
        '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => ' ',
        other => other,
    }
}

/// A name for people and models to read: control characters cannot forge a second line.
pub(crate) fn shown(name: &[u8]) -> String {
    let text = String::from_utf8_lossy(name);
    if !text.contains(char::is_control) {
        return text.into_owned();
    }
    text.chars().map(|c| if c.is_control() { c.escape_default().to_string() } else { c.to_string() }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_plain_names() {
        for (given, text) in [
            ("a.txt", "a.txt"),
            ("./a//b/", "a/b"),
            ("@a.txt", "a.txt"),
            ("@@a.txt", "@a.txt"),
            ("@/workspace/a", "a"),
            ("/workspace", ""),
            ("/workspace/", ""),
            ("/workspace//a", "a"),
            (".", ""),
            ("", ""),
            ("a/../b", "b"),
            ("a/b/../../c", "c"),
            ("a\u{a0}b\u{202f}c\u{3000}d", "a b c d"),
            ("..a/b..", "..a/b.."),
            ("~/x", "~/x"),
        ] {
            assert_eq!(RelPath::parse(given).unwrap().as_str(), text, "{given:?}");
        }
    }

    #[test]
    fn what_leads_out_is_refused() {
        let long = "x".repeat(256);
        let longer = "x/".repeat(3000);
        for given in [
            "..",
            "../x",
            "a/../../x",
            "/etc/passwd",
            "/",
            "//workspace/x",
            "/workspace/../etc/passwd",
            "/workspacex/a",
            "@/etc/passwd",
            "a\0b",
            "\0",
            &long,
            &longer,
        ] {
            assert_eq!(RelPath::parse(given).unwrap_err().code, "invalid_path", "{given:?}");
        }
    }

    #[test]
    fn names_cannot_forge_lines() {
        assert_eq!(shown("ok ü.txt".as_bytes()), "ok ü.txt");
        assert_eq!(shown(b"a\nb\x1b[31m"), "a\\nb\\u{1b}[31m");
    }
}
