//! The sources that ran in this world, by the name the engine knows them by: the way back from a stack to the user's
//! own line, also for a function that an earlier cell defined.

use std::collections::VecDeque;
use std::rc::Rc;

use cove_core::Position;
use cove_script::{Call, ColumnUnit, Prepared, code_frame};

/// How many sources are remembered; older ones lose their frames, nothing else.
const MAX_SOURCES: usize = 64;

/// How much text is remembered.
const MAX_BYTES: usize = 4 << 20;

/// What ran, newest last.
#[derive(Default)]
pub(crate) struct Sources {
    kept: VecDeque<(String, Rc<Prepared>)>,
    bytes: usize,
    cells: u64,
}

/// A place in a source of the user's.
pub(crate) struct SourcePlace {
    pub(crate) file: String,
    pub(crate) position: Position,
    source: Rc<Prepared>,
}

impl SourcePlace {
    /// The code frame around the place.
    pub(crate) fn frame(&self, label: &str) -> String {
        code_frame(self.source.source(), self.position, label, &self.file)
    }

    /// The call that the engine means by the place.
    pub(crate) fn call(&self) -> Option<Call> {
        self.source.call_at(self.position)
    }

    /// Advice where the source has a method of nearly the name that was called.
    pub(crate) fn own_member_hint(&self, message: &str) -> Option<String> {
        self.source.own_member_hint(message)
    }

    /// The first place from this one on where something is iterated.
    pub(crate) fn iterated(&self) -> Option<Position> {
        self.source.iterated_from(self.position)
    }

    /// The built-in that is changed at the place.
    pub(crate) fn built_in_changed(&self) -> Option<String> {
        self.source.built_in_changed_at(self.position)
    }

    /// Where the name is assigned that the engine means by the place.
    pub(crate) fn assignment(&self, name: &str) -> Option<Position> {
        self.source.assignment_at(name, self.position)
    }
}

/// One line of the engine's record of a stack.
struct Frame<'a> {
    function: &'a str,
    file: &'a str,
    line: u32,
    column: u32,
}

impl Sources {
    /// A name for the next source, never used before in this world.
    pub(crate) fn next_name(&mut self, cell: bool) -> String {
        self.cells += 1;
        match (cell, self.cells) {
            (false, 1) => "code.js".to_owned(),
            (false, count) => format!("code{count}.js"),
            (true, count) => format!("cell{count}.js"),
        }
    }

    /// Remembers a source; forgets the oldest ones when there are too many.
    pub(crate) fn keep(&mut self, file: String, prepared: Prepared) {
        self.bytes += prepared.code.len();
        self.kept.push_back((file, Rc::new(prepared)));
        while self.kept.len() > MAX_SOURCES || (self.bytes > MAX_BYTES && self.kept.len() > 1) {
            if let Some((_, old)) = self.kept.pop_front() {
                self.bytes -= old.code.len();
            }
        }
    }

    /// The innermost place of a stack that lies in the user's own text.
    pub(crate) fn first_place(&self, stack: &str) -> Option<SourcePlace> {
        stack.lines().filter_map(Frame::parse).find_map(|frame| self.place(&frame))
    }

    /// The stack as the user should see it: own frames only, in own lines and columns.
    pub(crate) fn user_frames(&self, stack: &str) -> String {
        /// As many as other engines show.
        const MAX_FRAMES: usize = 10;
        let mut lines = Vec::new();
        for frame in stack.lines().filter_map(Frame::parse) {
            if lines.len() == MAX_FRAMES {
                break;
            }
            if let Some(place) = self.place(&frame) {
                let Position { line, column } = place.position;
                lines.push(format!("    at {} ({}:{line}:{column})", frame.function, place.file));
            }
        }
        lines.join("\n")
    }

    fn place(&self, frame: &Frame<'_>) -> Option<SourcePlace> {
        let (file, prepared) = self.kept.iter().rev().find(|(file, _)| file == frame.file)?;
        let column = if frame.line == 1 { first_line_column(&prepared.code, frame.column) } else { frame.column };
        let position = prepared.locate(frame.line, column, ColumnUnit::Bytes)?;
        Some(SourcePlace { file: file.clone(), position, source: Rc::clone(prepared) })
    }
}

/// The engine counts columns in bytes from one; on the first line of a script it counts some tokens from zero. Those
/// point at what stands before the name they mean.
fn first_line_column(code: &str, column: u32) -> u32 {
    let line = code.lines().next().unwrap_or_default().as_bytes();
    let in_name =
        |at: usize| line.get(at).is_some_and(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$' | 0x80..));
    let at = (column as usize).saturating_sub(1);
    let starts_here = in_name(at) && (at == 0 || !in_name(at - 1));
    if starts_here { column } else { column + 1 }
}

impl<'a> Frame<'a> {
    /// `    at name (file:line:column)`; other forms (native functions) have no place.
    fn parse(line: &'a str) -> Option<Self> {
        let rest = line.strip_prefix("    at ")?.strip_suffix(')')?;
        let (function, place) = rest.rsplit_once(" (")?;
        let (place, column) = place.rsplit_once(':')?;
        let (file, line) = place.rsplit_once(':')?;
        Some(Self { function, file, line: line.parse().ok()?, column: column.parse().ok()? })
    }
}
