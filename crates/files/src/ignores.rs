//! What a search leaves out: `.git`, `node_modules`, and whatever a `.gitignore` on the way says.
//!
//! The rules are ripgrep's; the files are opened by us, on the handle of the folder that is being searched. A
//! `.gitignore` that is a FIFO, a symlink or a gigabyte is no `.gitignore`.

use std::borrow::Cow;
use std::fs::File;
use std::io::Read;
use std::os::fd::AsFd;
use std::sync::Arc;

use cove_workspace::READ;
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use rustix::fs::{FileType, Mode, OFlags, fstat, openat};

use crate::glob::as_path;

/// Real ones have a few KB; each rule becomes part of an automaton.
const MAX_GITIGNORE_BYTES: u64 = 128 << 10;

/// The rules of one folder, and behind them those of the folders above.
#[derive(Debug)]
pub(crate) struct Ignores {
    above: Option<Arc<Self>>,
    rules: Gitignore,
    /// Length of the folder's path with its slash: rules are relative to their folder.
    strip: usize,
}

impl Ignores {
    /// The rules in `dir`, whose path below the workspace is `path`, on top of those above.
    pub(crate) fn load(above: Option<Arc<Self>>, dir: impl AsFd, path: &[u8]) -> Option<Arc<Self>> {
        match read(dir) {
            None => above,
            Some(text) => {
                let mut builder = GitignoreBuilder::new("");
                for line in text.lines() {
                    // A rule that cannot be read is left out, as git does.
                    let _ = builder.add_line(None, &braces_as_text(line));
                }
                match builder.build() {
                    Ok(rules) if !rules.is_empty() => {
                        let strip = if path.is_empty() { 0 } else { path.len() + 1 };
                        Some(Arc::new(Self { above, rules, strip }))
                    }
                    _ => above,
                }
            }
        }
    }

    /// Whether a path (below the workspace) is left out; the nearest rule decides.
    pub(crate) fn leaves_out(&self, path: &[u8], is_dir: bool) -> bool {
        let mut here = Some(self);
        while let Some(ignores) = here {
            let below = path.get(ignores.strip..).unwrap_or_default();
            match ignores.rules.matched(as_path(below), is_dir) {
                Match::Ignore(_) => return true,
                Match::Whitelist(_) => return false,
                Match::None => here = ignores.above.as_deref(),
            }
        }
        false
    }
}

/// Braces are alternatives to ripgrep and plain characters to git; whoever writes a `.gitignore` means git.
fn braces_as_text(line: &str) -> Cow<'_, str> {
    if !line.contains(['{', '}']) {
        return Cow::Borrowed(line);
    }
    let mut text = String::with_capacity(line.len() + 8);
    let (mut escaped, mut class) = (false, None::<usize>);
    for char in line.chars() {
        match (char, &mut class) {
            _ if escaped => escaped = false,
            ('\\', _) => escaped = true,
            // `]` first in a class is one of its characters.
            (']', Some(seen)) if *seen > 0 => class = None,
            ('!' | '^', Some(0)) => {}
            (_, Some(seen)) => *seen += 1,
            ('[', None) => class = Some(0),
            ('{' | '}', None) => text.push('\\'),
            _ => {}
        }
        text.push(char);
    }
    Cow::Owned(text)
}

/// Names that no search enters.
pub(crate) fn never_searched(name: &[u8]) -> bool {
    name == b".git" || name == b"node_modules"
}

fn read(dir: impl AsFd) -> Option<String> {
    let fd = openat(dir, ".gitignore", READ | OFlags::NOFOLLOW, Mode::empty()).ok()?;
    let stat = fstat(&fd).ok()?;
    let size = u64::try_from(stat.st_size).ok()?;
    if !FileType::from_raw_mode(stat.st_mode).is_file() || size > MAX_GITIGNORE_BYTES {
        return None;
    }
    let mut bytes = Vec::new();
    File::from(fd).take(size).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::braces_as_text;

    #[test]
    fn braces_are_plain_characters() {
        let check = |line: &str, expected: &str| assert_eq!(braces_as_text(line), expected, "{line}");
        check("*.{js,md}", "*.\\{js,md\\}");
        check("plain/*.js", "plain/*.js");
        check("\\{a\\}", "\\{a\\}");
        check("[{]x[!]}]{", "[{]x[!]}]\\{");
    }
}
