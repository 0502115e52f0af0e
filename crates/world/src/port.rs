//! The only door of a world: what it says to its host, and how it waits for an answer.
//!
//! A world does not know whether its host is a socket, a pipe or a test. It never waits except in [`Port::wait`], so
//! whoever implements that decides how long a guest may stand still.

use std::time::Duration;

use cove_canvas::FontBytes;
use cove_core::LogLine;

/// What a world needs from its host while code runs.
pub trait Port {
    /// A console line, in time order. Whole lines; the text may hold line breaks inside.
    fn log(&mut self, line: &LogLine);

    /// Guest code calls a tool. The arguments are the text of a JSON array; the answer comes later, in any order,
    /// as [`Event::ToolAnswer`] with the same id. Ids are never used twice in one world.
    fn call_tool(&mut self, id: u64, name: &str, args_json: &str);

    /// A canvas that the run has drawn on, encoded.
    fn picture(&mut self, name: Option<&str>, width: u32, height: u32, png: &[u8]);

    /// The index of the fonts that the host has, as JSON. `None`: text is drawn with the built-in ones.
    fn font_index(&mut self) -> Option<FontBytes> {
        None
    }

    /// The bytes of one file of that index.
    fn font_file(&mut self, _file: u32) -> Option<FontBytes> {
        None
    }

    /// Blocks until something happens, at most so long ([`Event::Elapsed`]); `None` waits until something does.
    fn wait(&mut self, at_most: Option<Duration>) -> Event;
}

/// What can happen to a waiting world.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// A tool has answered.
    ToolAnswer {
        /// The id of the call.
        id: u64,
        /// JSON text, or what went wrong.
        result: Result<String, ToolFailure>,
    },
    /// The time is over.
    Elapsed,
    /// The host is gone; nothing will ever be answered again.
    Closed,
}

/// Why a tool failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolFailure {
    /// One sentence.
    pub message: String,
    /// A stable code of the tool's own, if it has one.
    pub code: Option<String>,
}
