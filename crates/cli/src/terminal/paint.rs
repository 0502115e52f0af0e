//! Our own colours: written where the stream takes them, and nothing elsewhere.
//!
//! They cannot simply be taken out again afterwards (as `anstream` does): words of others stand on the same line, and a
//! pipe gets those as they are. So a colour is asked when it is written whether there is one.

use std::cell::Cell;
use std::fmt::{self, Arguments, Display, Formatter};

/// A style; shown only inside of what [`super::Screen`] writes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Paint(&'static str);

/// Red, for the word `error`.
pub(crate) const RED: Paint = Paint("\x1b[1;31m");
/// Yellow, for warnings.
pub(crate) const YELLOW: Paint = Paint("\x1b[1;33m");
/// Green, for what is well.
pub(crate) const GREEN: Paint = Paint("\x1b[1;32m");
/// Grey, for what stands aside.
pub(crate) const DIM: Paint = Paint("\x1b[2m");
/// Back to plain text.
pub(crate) const PLAIN: Paint = Paint("\x1b[0m");

thread_local! {
    static COLOURS: Cell<bool> = const { Cell::new(false) };
}

impl Display for Paint {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if COLOURS.get() { f.write_str(self.0) } else { Ok(()) }
    }
}

/// The words, with colours or without.
pub(super) fn text(words: Arguments<'_>, colours: bool) -> String {
    let before = COLOURS.replace(colours);
    let text = words.to_string();
    COLOURS.set(before);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_there_when_they_are_wanted() {
        assert_eq!(text(format_args!("{RED}a{PLAIN} \x1b[32mb"), true), "\x1b[1;31ma\x1b[0m \x1b[32mb");
        // Only our own are left out.
        assert_eq!(text(format_args!("{RED}a{PLAIN} \x1b[32mb"), false), "a \x1b[32mb");
        assert_eq!(format!("{RED}a"), "a");
    }
}
