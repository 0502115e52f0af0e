//! The only module that writes to standard output and standard error.
//!
//! Most of what `cove` prints was written by others: console lines, results, error messages, file names, pages. On a
//! terminal such text could do more than be read: set the title, fill the clipboard, clear the screen, hide or reverse
//! the text beside it. So all output passes here, and on a terminal only text, line breaks, tabs and colours (SGR) are
//! sent; every other control is shown and not obeyed. A file or a pipe gets every byte unchanged, and so does a person
//! who asks for it (`--raw`).
//!
//! Clippy keeps the other files from opening these streams themselves.

mod filter;
mod paint;

use std::fmt::Arguments;
use std::io::{self, Write};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use anstream::stream::RawStream;
use serde::Serialize;

use filter::Filter;
pub(crate) use paint::{DIM, GREEN, PLAIN, Paint, RED, YELLOW};

/// Whether a person has asked for others' words as they are.
static RAW: AtomicBool = AtomicBool::new(false);

/// From here on nothing is held back.
pub(crate) fn pass_everything() {
    RAW.store(true, Ordering::Relaxed);
}

/// One of the two streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stream {
    Out,
    Aside,
}

/// What a stream is, looked at once.
#[derive(Debug, Clone, Copy)]
struct StreamLook {
    is_terminal: bool,
    /// Whether colours are wanted there, by the terminal and by the environment (`NO_COLOR`, `CLICOLOR_FORCE`).
    colours: bool,
}

impl Stream {
    #[expect(clippy::disallowed_methods, reason = "this file prints")]
    fn manner(self) -> StreamLook {
        fn look(stream: &impl RawStream) -> StreamLook {
            let colours = anstream::AutoStream::choice(stream) != anstream::ColorChoice::Never;
            StreamLook { is_terminal: stream.is_terminal(), colours }
        }
        static OUT: OnceLock<StreamLook> = OnceLock::new();
        static ASIDE: OnceLock<StreamLook> = OnceLock::new();
        match self {
            Self::Out => *OUT.get_or_init(|| look(&io::stdout())),
            Self::Aside => *ASIDE.get_or_init(|| look(&io::stderr())),
        }
    }

    #[expect(clippy::disallowed_methods, reason = "this file prints")]
    fn write(self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Out => io::stdout().lock().write_all(bytes),
            Self::Aside => io::stderr().lock().write_all(bytes),
        }
    }

    #[expect(clippy::disallowed_methods, reason = "this file prints")]
    fn flush(self) -> io::Result<()> {
        match self {
            Self::Out => io::stdout().lock().flush(),
            Self::Aside => io::stderr().lock().flush(),
        }
    }
}

/// A piece of text on its way to a stream. What is unfinished when it is dropped (half a sequence, a colour that was not
/// taken back) ends there, so that no piece reaches into the next.
pub(crate) struct Screen {
    stream: Stream,
    colours: bool,
    /// `None`: everything passes.
    filter: Option<Filter>,
}

/// Standard output: data.
pub(crate) fn out() -> Screen {
    Screen::on(Stream::Out)
}

/// Standard error: everything that is not data.
pub(crate) fn aside() -> Screen {
    Screen::on(Stream::Aside)
}

/// Whether standard output is a terminal.
pub(crate) fn out_is_terminal() -> bool {
    Stream::Out.manner().is_terminal
}

/// Whether standard error is a terminal.
pub(crate) fn aside_is_terminal() -> bool {
    Stream::Aside.manner().is_terminal
}

/// Standard error for what only this program itself can have written: progress, pictures.
pub(crate) fn own_aside(text: &str) -> io::Result<()> {
    Stream::Aside.write(text.as_bytes()).and_then(|()| Stream::Aside.flush())
}

/// One line on standard error. Nobody's reason to stop when it cannot be written.
pub(crate) fn aside_line(words: Arguments<'_>) {
    let _ = writeln!(aside(), "{words}");
}

/// JSON on a line of standard output. On a terminal hidden letters of its texts are written as JSON writes them.
pub(crate) fn json_line(value: &impl Serialize) -> io::Result<()> {
    write_json(serde_json::to_string(value)?)
}

/// The same over several lines, for eyes.
pub(crate) fn json_lines(value: &impl Serialize) -> io::Result<()> {
    write_json(serde_json::to_string_pretty(value)?)
}

fn write_json(mut text: String) -> io::Result<()> {
    let mut out = out();
    if out.filter.is_some() {
        text = filter::json(&text);
    }
    text.push('\n');
    out.write_all(text.as_bytes())
}

impl Screen {
    /// Whether colours are wanted here.
    pub(crate) fn takes_colours(&self) -> bool {
        self.colours
    }

    fn on(stream: Stream) -> Self {
        let StreamLook { is_terminal, colours } = stream.manner();
        let guarded = is_terminal && !RAW.load(Ordering::Relaxed);
        Self { stream, colours, filter: guarded.then(|| Filter::new(colours)) }
    }
}

impl Write for Screen {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.filter {
            None => self.stream.write(bytes)?,
            Some(filter) => {
                let mut shown = String::with_capacity(bytes.len());
                filter.pass(bytes, &mut shown);
                self.stream.write(shown.as_bytes())?;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }

    /// In one piece, with our own colours where they are wanted.
    fn write_fmt(&mut self, words: Arguments<'_>) -> io::Result<()> {
        self.write_all(paint::text(words, self.colours).as_bytes())
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        if let Some(filter) = &mut self.filter {
            let mut rest = String::new();
            filter.finish(&mut rest);
            let _ = self.stream.write(rest.as_bytes());
        }
    }
}

/// One line on standard error.
macro_rules! note {
    ($($words:tt)*) => { $crate::terminal::aside_line(format_args!($($words)*)) };
}
pub(crate) use note;
