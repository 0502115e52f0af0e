//! Paths as models and people write them.
//!
//! They write `@src/a.rs` for a file they mention and copy names with a no-break space and write them without. What is
//! left after that is a path like any other.

use cove_workspace::{PathError, RelPath};

use crate::error::{FileError, FileErrorCode};

/// Reads a path as a model or a person writes it.
pub fn rel_path(given: &str) -> Result<RelPath, FileError> {
    read_as(given, &given.chars().map(plain_space).collect::<String>())
}

/// The same path with its Unicode spaces left as they are; `None` when there are none.
pub(crate) fn with_spaces_kept(path: &RelPath) -> Option<RelPath> {
    let other = read_as(path.given(), path.given()).ok()?;
    (other.as_str() != path.as_str()).then_some(other)
}

fn read_as(given: &str, text: &str) -> Result<RelPath, FileError> {
    RelPath::read_as(given, text.strip_prefix('@').unwrap_or(text)).map_err(|error| match error {
        PathError::TooLong { bytes } => {
            FileError::new(FileErrorCode::InvalidPath, format!("Invalid path: it has {bytes} bytes"))
        }
        why => FileError::invalid_path(&given.escape_debug().to_string(), &why.to_string()),
    })
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
    fn paths_are_read_as_they_are_meant() {
        for (given, text) in [
            ("a.txt", "a.txt"),
            ("@a.txt", "a.txt"),
            ("@@a.txt", "@a.txt"),
            ("@/workspace/a", "a"),
            ("", ""),
            ("a\u{a0}b\u{202f}c\u{3000}d", "a b c d"),
        ] {
            assert_eq!(rel_path(given).unwrap().as_str(), text, "{given:?}");
        }
        let long = "x".repeat(256);
        let longer = "x/".repeat(3000);
        for given in ["..", "@../x", "/etc/passwd", "@/etc/passwd", "a\0b", &long, &longer] {
            assert_eq!(rel_path(given).unwrap_err().code, FileErrorCode::InvalidPath, "{given:?}");
        }
    }

    #[test]
    fn names_cannot_forge_lines() {
        assert_eq!(shown("ok ü.txt".as_bytes()), "ok ü.txt");
        assert_eq!(shown(b"a\nb\x1b[31m"), "a\\nb\\u{1b}[31m");
    }
}
