//! Asking the terminal itself: its size, and whether it shows sixels.
//!
//! The question is the oldest there is (primary device attributes) and every terminal answers it, most within a
//! millisecond. Who does not answer in time is not asked again; nothing that the user typed is eaten, because nobody is
//! asked while keys are waiting; and a process in the background asks nothing, since touching the terminal would stop it.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, tcgetattr, tcgetpgrp, tcgetwinsize, tcsetattr};

use super::Window;

/// How long an answer may take: a slow line across the world, and no longer than a person does not notice.
const PATIENCE: Duration = Duration::from_millis(250);

/// What the answer may be at most.
const MAX_ANSWER_BYTES: usize = 256;

/// The window that standard error is in.
#[expect(clippy::disallowed_methods, reason = "asks for its size and writes nothing")]
pub(super) fn window() -> Option<Window> {
    let size = tcgetwinsize(std::io::stderr()).ok().filter(|size| size.ws_col > 0)?;
    Some(Window { columns: size.ws_col.into(), width_px: size.ws_xpixel.into() })
}

/// Whether the terminal says that it shows sixels.
pub(super) fn says_sixel() -> bool {
    let Ok(mut terminal) = OpenOptions::new().read(true).write(true).open("/dev/tty") else { return false };
    let ours = tcgetpgrp(&terminal).is_ok_and(|group| Some(group) == crate::process::group());
    if !ours || readable(&terminal, Duration::ZERO) {
        return false;
    }
    let Ok(before) = tcgetattr(&terminal) else { return false };
    let mut quiet = before.clone();
    quiet.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
    quiet.special_codes[SpecialCodeIndex::VMIN] = 0;
    quiet.special_codes[SpecialCodeIndex::VTIME] = 0;
    if tcsetattr(&terminal, OptionalActions::Now, &quiet).is_err() {
        return false;
    }
    let answer = terminal.write_all(b"\x1b[c").map(|()| answer(&mut terminal)).unwrap_or_default();
    let _ = tcsetattr(&terminal, OptionalActions::Now, &before);
    has_sixel(&answer)
}

fn readable(terminal: &File, patience: Duration) -> bool {
    let timeout = Timespec { tv_sec: 0, tv_nsec: i64::from(patience.subsec_nanos()) };
    let mut waits = [PollFd::new(terminal, PollFlags::IN)];
    poll(&mut waits, Some(&timeout)).is_ok_and(|count| count > 0)
}

fn answer(terminal: &mut File) -> Vec<u8> {
    let until = Instant::now() + PATIENCE;
    let mut answer = Vec::new();
    let mut bytes = [0; 64];
    while answer.last() != Some(&b'c') && answer.len() < MAX_ANSWER_BYTES {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() || !readable(terminal, left) {
            break;
        }
        match terminal.read(&mut bytes) {
            Ok(count @ 1..) => answer.extend_from_slice(bytes.get(..count).unwrap_or_default()),
            _ => break,
        }
    }
    answer
}

/// `ESC [ ? 62 ; 4 ; 22 c`: the 4 among the attributes stands for sixels. The first number is the terminal's class.
fn has_sixel(answer: &[u8]) -> bool {
    let text = String::from_utf8_lossy(answer);
    let Some(start) = text.find("\x1b[?") else { return false };
    let Some(attributes) = text.get(start + 3..).and_then(|rest| rest.strip_suffix('c')) else { return false };
    attributes.split(';').skip(1).any(|attribute| attribute == "4")
}

#[cfg(test)]
mod tests {
    use super::has_sixel;

    #[test]
    fn the_answer_is_read_by_its_numbers() {
        for yes in ["\x1b[?62;4;22c", "\x1b[?65;1;2;4c", "\x1b[?64;4c"] {
            assert!(has_sixel(yes.as_bytes()), "{yes:?}");
        }
        for no in ["", "\x1b[?62;22c", "\x1b[?4c", "\x1b[?62;14;44c", "\x1b[?62;4;22", "4c"] {
            assert!(!has_sixel(no.as_bytes()), "{no:?}");
        }
    }
}
