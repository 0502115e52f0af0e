//! Pictures in a terminal: a real pseudo-terminal, with this test as the one who looks at it.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

/// What a run left on the terminal, on standard output and in the folder of pictures.
struct Seen {
    terminal: Vec<u8>,
    out: String,
    png: Vec<u8>,
    asked: bool,
}

const DRAW: &str = "const c = getCanvas(60, 13).getContext('2d'); c.fillStyle = 'red'; c.fillRect(0, 0, 60, 13); \
                    c.fillStyle = '#00f'; c.fillRect(10, 5, 3, 3); return 'drawn'";

/// Runs a drawing program with standard error on a terminal that answers `attributes` when it is asked what it is.
fn on_terminal(variables: &[(&str, &str)], args: &[&str], attributes: &str) -> Seen {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("draw.js"), DRAW).unwrap();
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
    grantpt(&ours).unwrap();
    unlockpt(&ours).unwrap();
    let name = ptsname(&ours, Vec::new()).unwrap();
    let theirs = rustix::fs::open(&name, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty()).unwrap();
    let theirs = File::from(theirs);
    let mut command = Command::new("setsid");
    command
        .args(["--ctty", "--wait", env!("CARGO_BIN_EXE_cove"), "run", "draw.js", "--engine", "embedded"])
        .args(args)
        .current_dir(folder.path())
        .env("XDG_STATE_HOME", folder.path())
        .stdin(theirs.try_clone().unwrap())
        .stdout(Stdio::piped())
        .stderr(theirs.try_clone().unwrap());
    for name in ["CI", "TMUX", "TERM", "TERM_PROGRAM", "KITTY_WINDOW_ID", "LC_TERMINAL", "COVE_BROWSER"] {
        command.env_remove(name);
    }
    let mut child = command.envs(variables.iter().copied()).spawn().unwrap();
    drop((command, theirs));
    let mut screen = File::from(ours);
    let (mut terminal, mut asked, mut bytes) = (Vec::new(), false, [0; 4096]);
    // The end of a terminal whose last user has left is an error, not a zero.
    while let Ok(count @ 1..) = screen.read(&mut bytes) {
        terminal.extend_from_slice(&bytes[..count]);
        if !asked && find(&terminal, b"\x1b[c").is_some() {
            asked = true;
            screen.write_all(attributes.as_bytes()).unwrap();
        }
    }
    let mut out = String::new();
    child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    assert!(child.wait().unwrap().success(), "{}", String::from_utf8_lossy(&terminal));
    Seen { terminal, out, png: only_picture(&folder.path().join("artifacts")), asked }
}

fn only_picture(folder: &Path) -> Vec<u8> {
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let pictures: Vec<_> = files.filter(|path| path.extension().is_some_and(|end| end == "png")).collect();
    assert_eq!(pictures.len(), 1);
    std::fs::read(&pictures[0]).unwrap()
}

fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|window| window == part)
}

impl Seen {
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.terminal).into_owned()
    }

    /// Standard output is data, and the path is told, whatever else is shown.
    fn is_tidy(&self) {
        assert_eq!(self.out, "\"drawn\"\n");
        assert!(self.text().contains("artifacts/") && self.text().contains(".png"), "{:?}", self.text());
    }

    fn shows_nothing(&self) {
        self.is_tidy();
        for sign in ["\x1b_G", "\x1b]1337", "\x1bP"] {
            assert!(!self.text().contains(sign), "{:?}", self.text());
        }
    }
}

#[test]
fn kitty_gets_the_png_in_pieces() {
    let seen = on_terminal(&[("TERM", "xterm-kitty")], &[], "");
    seen.is_tidy();
    assert!(!seen.asked);
    let text = seen.text();
    let mut sent = String::new();
    for piece in text.split("\x1b_G").skip(1) {
        let (control, rest) = piece.split_once(';').unwrap();
        assert!(!sent.is_empty() || control.starts_with("a=T,f=100,q=2"), "{control}");
        sent.push_str(rest.split_once("\x1b\\").unwrap().0);
    }
    assert_eq!(STANDARD.decode(sent).unwrap(), seen.png);
}

#[test]
fn iterm_gets_the_png_at_once() {
    let seen = on_terminal(&[("TERM", "xterm-256color"), ("TERM_PROGRAM", "iTerm.app")], &[], "");
    seen.is_tidy();
    let text = seen.text();
    let file = text.split_once("\x1b]1337;File=").unwrap().1.split_once('\x07').unwrap().0;
    let (arguments, data) = file.split_once(':').unwrap();
    assert_eq!(arguments, format!("inline=1;size={};preserveAspectRatio=1", seen.png.len()));
    assert_eq!(STANDARD.decode(data).unwrap(), seen.png);
}

#[test]
fn a_terminal_that_says_sixel_gets_sixels() {
    let seen = on_terminal(&[("TERM", "foot")], &[], "\x1b[?62;4;22c");
    assert!(seen.asked);
    seen.is_tidy();
    let text = seen.text();
    let body = text.split_once("\x1bP0;1;0q").unwrap().1.split_once("\x1b\\").unwrap().0;
    let picture = sixels(body);
    assert_eq!((picture.len(), picture[0].len()), (13, 60));
    for (y, line) in picture.iter().enumerate() {
        for (x, color) in line.iter().enumerate() {
            let blue = (10..13).contains(&x) && (5..8).contains(&y);
            assert_eq!(*color, if blue { Some([0, 0, 100]) } else { Some([100, 0, 0]) }, "({x}, {y})");
        }
    }
}

#[test]
fn other_terminals_get_the_path() {
    let seen = on_terminal(&[("TERM", "xterm")], &[], "\x1b[?62;22c");
    assert!(seen.asked);
    seen.shows_nothing();
    for (variables, args) in [
        (&[("TERM", "xterm-kitty"), ("CI", "1")][..], &[][..]),
        (&[("TERM", "xterm-kitty")], &["--show", "never"]),
        (&[("TERM", "dumb")], &[]),
    ] {
        let seen = on_terminal(variables, args, "");
        assert!(!seen.asked, "{variables:?} {args:?}");
        seen.shows_nothing();
    }
}

#[test]
fn a_pipe_gets_no_pictures_unless_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("draw.js"), DRAW).unwrap();
    let run = |args: &[&str]| {
        let all = [&["run", "draw.js"], args].concat();
        crate::cove_with(folder.path(), &[("TERM", "xterm-kitty")], &all, "")
    };
    for args in [&[][..], &["--json"], &["--json", "--show", "kitty"]] {
        let done = run(args);
        assert!(!done.out.contains('\x1b') && !done.err.contains("\x1b_G"), "{args:?}: {done:?}");
    }
    let done = run(&["--show", "sixel"]);
    assert!(done.out == "\"drawn\"\n" && done.err.contains("\x1bP0;1;0q"), "{done:?}");
}

/// What a terminal makes of sixels, by rows; colours in percent.
fn sixels(body: &str) -> Vec<Vec<Option<[u32; 3]>>> {
    let number = |text: &mut &str| {
        let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (head, rest) = text.split_at(digits);
        *text = rest;
        head.parse::<u32>().unwrap_or(0)
    };
    let list = |text: &mut &str| {
        let mut numbers = vec![number(text)];
        while let Some(rest) = text.strip_prefix(';') {
            *text = rest;
            numbers.push(number(text));
        }
        numbers
    };
    let (mut picture, mut colors, mut color) = (Vec::new(), std::collections::HashMap::new(), 0);
    let (mut x, mut y, mut rest) = (0, 0, body);
    while let Some(sign) = rest.chars().next() {
        rest = &rest[1..];
        match sign {
            '"' => {
                let size = list(&mut rest);
                picture = vec![vec![None; size[2] as usize]; size[3] as usize];
            }
            '#' => {
                let numbers = list(&mut rest);
                color = numbers[0];
                if let [_, 2, r, g, b] = numbers[..] {
                    colors.insert(color, [r, g, b]);
                }
            }
            '$' => x = 0,
            '-' => (x, y) = (0, y + 6),
            sign => {
                let count = if sign == '!' { number(&mut rest) } else { 1 };
                let bits = if sign == '!' { rest.as_bytes()[0] } else { sign as u8 } - b'?';
                rest = &rest[usize::from(sign == '!')..];
                for (dx, row) in (0..count as usize).flat_map(|dx| (0..6).map(move |row| (dx, row))) {
                    if bits >> row & 1 == 1 {
                        picture[y + row][x + dx] = Some(colors[&color]);
                    }
                }
                x += count as usize;
            }
        }
    }
    picture
}
