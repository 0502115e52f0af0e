//! A pseudo-terminal for tests, and what may be seen on it.
#![allow(dead_code, reason = "two suites use it, each a part of it")]

use std::fs::File;
use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::process::Command;

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

/// A terminal: our end, and theirs.
pub(crate) fn terminal() -> (File, File) {
    let ours: OwnedFd = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
    grantpt(&ours).unwrap();
    unlockpt(&ours).unwrap();
    let name = ptsname(&ours, Vec::new()).unwrap();
    let theirs = rustix::fs::open(&name, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty()).unwrap();
    (File::from(ours), File::from(theirs))
}

/// What a command writes when both its streams are a terminal, and how it ended.
pub(crate) fn watched(mut command: Command) -> (String, i32) {
    let (mut screen, theirs) = terminal();
    command.env("TERM", "xterm-256color");
    for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "CI", "COVE_BROWSER", "KITTY_WINDOW_ID", "TERM_PROGRAM"] {
        command.env_remove(name);
    }
    see(&mut screen, theirs, command)
}

/// The same in the environment as it is.
pub(crate) fn watched_as_is(command: Command) -> (String, i32) {
    let (mut screen, theirs) = terminal();
    see(&mut screen, theirs, command)
}

fn see(screen: &mut File, theirs: File, mut command: Command) -> (String, i32) {
    command.stdout(theirs.try_clone().unwrap()).stderr(theirs);
    let mut child = command.spawn().unwrap();
    drop(command);
    let (mut bytes, mut piece) = (Vec::new(), [0; 4096]);
    // The end of a terminal whose last user has left is an error, not a zero.
    while let Ok(count @ 1..) = screen.read(&mut piece) {
        bytes.extend_from_slice(&piece[..count]);
    }
    let code = child.wait().unwrap().code().unwrap_or(-1);
    (String::from_utf8_lossy(&bytes).replace("\r\n", "\n"), code)
}

/// Nothing in a text makes a terminal do anything but write, break lines and change colours.
#[track_caller]
pub(crate) fn is_harmless(text: &str, what: &str) {
    let mut rest = text.to_owned();
    while let Some(at) = rest.find('\x1b') {
        let sequence: String = rest[at + 1..].chars().take_while(|c| *c != 'm').collect();
        let numbers = sequence.strip_prefix('[').unwrap_or_else(|| panic!("{what}: {text:?}"));
        assert!(numbers.chars().all(|c| c.is_ascii_digit() || c == ';'), "{what}: {text:?}");
        // `38;5;8` is a colour, `8` hides.
        let hides =
            !numbers.starts_with("38;") && !numbers.starts_with("48;") && numbers.split(';').any(|order| order == "8");
        assert!(!hides, "{what}: hidden letters in {text:?}");
        rest.replace_range(at..at + 2 + sequence.len(), "");
    }
    let bad = |c: &char| {
        (c.is_control() && !matches!(c, '\n' | '\t'))
            || matches!(c, '\u{200B}' | '\u{200E}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{FEFF}')
    };
    let found = rest.chars().find(bad);
    assert_eq!(found, None, "{what}: {text:?}");
}
