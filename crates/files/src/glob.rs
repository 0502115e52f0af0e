//! Globs as people write them: `*.rs` is a name anywhere, `src/**/*.rs` a path.

use cove_workspace::WORKSPACE_MOUNT;
use globset::{GlobBuilder, GlobMatcher};

use crate::error::FileError;

/// Longer globs are not written by hand, and each becomes an automaton.
const MAX_GLOB_BYTES: usize = 4096;

/// A glob over names or over paths.
#[derive(Debug, Clone)]
pub(crate) struct NameGlob {
    matcher: GlobMatcher,
    whole_path: bool,
    negated: bool,
}

impl NameGlob {
    /// Reads a glob; with `may_negate` a leading `!` turns it round.
    pub(crate) fn parse(tool: &str, given: &str, may_negate: bool) -> Result<Self, FileError> {
        let refuse = |why: &str| FileError::invalid_args(format!("{tool}: invalid glob: {why}"));
        let (negated, glob) = match given.strip_prefix('!') {
            Some(rest) if may_negate => (true, rest),
            _ => (false, given),
        };
        let below = glob.strip_prefix(WORKSPACE_MOUNT).filter(|rest| rest.starts_with('/')).unwrap_or(glob);
        let below = below.strip_prefix("./").unwrap_or(below).trim_start_matches('/');
        if below.is_empty() {
            return Err(refuse("it is empty"));
        }
        if below.len() > MAX_GLOB_BYTES {
            return Err(refuse("it is too long"));
        }
        // `**/*.txt` is the same as `*.txt`, and a name is quicker to look at than a path.
        let name = below.strip_prefix("**/").filter(|rest| !rest.contains('/')).unwrap_or(below);
        let name = if name.contains("**") { below } else { name };
        let anchored = glob.starts_with('/') || glob.starts_with("./");
        let whole_path = anchored || name.contains('/') || name.contains("**");
        let matcher = GlobBuilder::new(if whole_path { below } else { name })
            .literal_separator(true)
            .build()
            .map_err(|error| refuse(&error.kind().to_string()))?
            .compile_matcher();
        Ok(Self { matcher, whole_path, negated })
    }

    /// Whether a file matches: `path` is relative to the folder that is searched, `name` its last part.
    pub(crate) fn matches(&self, path: &[u8], name: &[u8]) -> bool {
        let text = if self.whole_path { path } else { name };
        self.matcher.is_match(as_path(text)) != self.negated
    }
}

/// Bytes as a path; on Linux they are one.
pub(crate) fn as_path(bytes: &[u8]) -> &std::path::Path {
    use std::os::unix::ffi::OsStrExt;
    std::path::Path::new(std::ffi::OsStr::from_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FileErrorCode;

    #[test]
    fn globs_mean_names_or_paths() {
        let check = |glob: &str, path: &str| {
            let name = path.rsplit('/').next().unwrap();
            NameGlob::parse("find", glob, true).unwrap().matches(path.as_bytes(), name.as_bytes())
        };
        for (glob, path) in [
            ("*.txt", "a.txt"),
            ("*.txt", "deep/down/a.txt"),
            ("**/*.txt", "a.txt"),
            ("**/*.txt", ".secret/hidden.txt"),
            ("src/*.rs", "src/a.rs"),
            ("src/**/*.rs", "src/a.rs"),
            ("src/**/*.rs", "src/b/c/a.rs"),
            ("./src/*.rs", "src/a.rs"),
            ("/workspace/src/*.rs", "src/a.rs"),
            ("/a.txt", "a.txt"),
            ("src/**", "src/a/b"),
            ("*.{ts,tsx}", "x/a.tsx"),
            ("[ab].md", "b.md"),
            ("!*.txt", "a.rs"),
        ] {
            assert!(check(glob, path), "{glob} should match {path}");
        }
        for (glob, path) in [
            ("*.txt", "a.txt.bak"),
            ("src/*.rs", "src/b/a.rs"),
            ("src/*.rs", "x/src/a.rs"),
            ("/a.txt", "x/a.txt"),
            ("*.TXT", "a.txt"),
            ("!*.txt", "a.txt"),
        ] {
            assert!(!check(glob, path), "{glob} should not match {path}");
        }
        for glob in ["", "[", "a{b", "!", "/", &"*".repeat(5000)] {
            assert_eq!(NameGlob::parse("find", glob, true).unwrap_err().code, FileErrorCode::InvalidArgs, "{glob}");
        }
    }
}
