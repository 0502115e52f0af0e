//! The child's connection to its host: what a run says goes into frames, what it waits for comes out of them. Waiting
//! blocks: the child has nothing else to do meanwhile.

use std::collections::{HashSet, VecDeque};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cove_canvas::FontBytes;
use cove_core::LogLine;
use cove_world::{Event, Port, ToolFailure};
use rustix::buffer::spare_capacity;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{RecvFlags, recv};

use crate::fonts::{FontItem, FontReply, FontRequest};
use crate::sys::{batch, font_memory};
use crate::wire::{
    Call, Frames, FromChild, MAX_CALL_BYTES, ToChild, ToolReply, decode_answer, line_head, picture_head,
};

/// The port of one run.
pub(super) struct SocketPort<'a> {
    inbox: &'a mut Inbox,
    /// Calls of this run that have no answer yet. An answer to anything else is from an earlier run, and too late.
    open: HashSet<u64>,
    /// Failures that were clear before the host was asked.
    refused: Vec<(u64, &'static str)>,
    /// Console output that the host still keeps.
    log_bytes_left: usize,
    /// The host has seen a line that did not fit.
    log_is_full: bool,
    /// Answers of tools that came while the run waited for a font.
    early: VecDeque<(u64, Result<String, ToolFailure>)>,
    /// The host is gone.
    closed: bool,
}

impl<'a> SocketPort<'a> {
    pub(super) fn new(inbox: &'a mut Inbox, max_log_bytes: u64) -> Self {
        let log_bytes_left = usize::try_from(max_log_bytes).unwrap_or(usize::MAX);
        Self {
            inbox,
            open: HashSet::new(),
            refused: Vec::new(),
            log_bytes_left,
            log_is_full: false,
            early: VecDeque::new(),
            closed: false,
        }
    }

    /// Stands still until the host has answered.
    fn ask_for_fonts(&mut self, item: FontItem) -> Option<FontBytes> {
        batch::flush();
        let request = FontRequest { item, sees_store: font_memory::address() != 0 };
        batch::send_frame(FromChild::Font, &[&request.encode()]);
        while !self.closed {
            match self.inbox.next(None) {
                Received::Frame(ToChild::Font, payload) => {
                    return match FontReply::decode(&payload) {
                        FontReply::Nothing => None,
                        FontReply::Stored(location) => Some(Arc::new(font_memory::at(location)?)),
                        FontReply::Bytes(bytes) => Some(bytes),
                    };
                }
                Received::Frame(ToChild::Answer, payload) => {
                    let answer = self.tool_answer(&payload);
                    self.early.extend(answer);
                }
                Received::Elapsed => {}
                Received::Frame(..) | Received::Closed => self.closed = true,
            }
        }
        None
    }

    /// The answer of a tool, unless it comes too late.
    fn tool_answer(&mut self, payload: &[u8]) -> Option<(u64, Result<String, ToolFailure>)> {
        let (id, answer) = decode_answer(payload).filter(|(id, _)| self.open.remove(id))?;
        let result = match answer {
            ToolReply::Value(json) => Ok(json),
            ToolReply::Failure { message, code } => Err(ToolFailure { message, code }),
        };
        Some((id, result))
    }
}

impl Port for SocketPort<'_> {
    /// Lines beyond the limit are dropped here: the host has then seen the line that crossed it, and wants no more.
    fn log(&mut self, line: &LogLine) {
        if self.log_is_full {
            return;
        }
        let text = line.text.as_str();
        if text.len() < self.log_bytes_left {
            self.log_bytes_left -= text.len() + 1;
            return batch::add([&line_head(line.level, text), text.as_bytes()]);
        }
        // The line break no longer fits, so the host drops or cuts this line; more of it need not travel.
        let text = &text[..text.ceil_char_boundary(self.log_bytes_left)];
        self.log_is_full = true;
        batch::add([&line_head(line.level, text), text.as_bytes()]);
    }

    fn call_tool(&mut self, id: u64, name: &str, args_json: &str) {
        self.open.insert(id);
        if args_json.len() + name.len() + 64 > MAX_CALL_BYTES {
            return self.refused.push((id, "the arguments are larger than 64 MiB"));
        }
        let call = Call { id, name, args_json };
        batch::send_frame(FromChild::Call, &[&call.head(), args_json.as_bytes()]);
    }

    fn picture(&mut self, name: Option<&str>, width: u32, height: u32, png: &[u8]) {
        batch::send_frame(FromChild::Picture, &[&picture_head(name, width, height), png]);
    }

    fn font_index(&mut self) -> Option<FontBytes> {
        self.ask_for_fonts(FontItem::Index)
    }

    fn font_file(&mut self, file: u32) -> Option<FontBytes> {
        self.ask_for_fonts(FontItem::File(file))
    }

    fn wait(&mut self, at_most: Option<Duration>) -> Event {
        batch::flush();
        if let Some((id, result)) = self.early.pop_front() {
            return Event::ToolAnswer { id, result };
        }
        if let Some((id, message)) = self.refused.pop() {
            self.open.remove(&id);
            return Event::ToolAnswer { id, result: Err(ToolFailure { message: message.into(), code: None }) };
        }
        while !self.closed {
            match self.inbox.next(at_most) {
                Received::Frame(ToChild::Answer, payload) => {
                    let Some((id, result)) = self.tool_answer(&payload) else { continue };
                    return Event::ToolAnswer { id, result };
                }
                Received::Elapsed => return Event::Elapsed,
                // The host sends nothing but answers while a run goes on.
                Received::Frame(..) | Received::Closed => self.closed = true,
            }
        }
        Event::Closed
    }
}

/// What has come.
pub(super) enum Received {
    /// A frame.
    Frame(ToChild, Vec<u8>),
    /// Nothing, in the time that was given.
    Elapsed,
    /// The host is gone, or speaks another language.
    Closed,
}

/// The child's end of its socket.
pub(crate) struct Inbox {
    socket: OwnedFd,
    frames: Frames,
}

impl Inbox {
    pub(super) fn new(socket: OwnedFd) -> Self {
        Self { socket, frames: Frames::default() }
    }

    /// Whether the host has said nothing yet.
    pub(super) fn is_quiet(&self) -> bool {
        self.frames.is_empty() && !self.readable_before(Instant::now())
    }

    /// Waits for the next frame, at most so long.
    pub(super) fn next(&mut self, at_most: Option<Duration>) -> Received {
        let deadline = at_most.and_then(|at_most| Instant::now().checked_add(at_most));
        loop {
            // The host is trusted: a frame may be as long as it says.
            match self.frames.next(|_| Some(usize::MAX)) {
                Ok(Some(frame)) => {
                    return match ToChild::from_byte(frame.kind) {
                        Some(kind) => Received::Frame(kind, frame.payload.to_vec()),
                        None => Received::Closed,
                    };
                }
                Ok(None) => {}
                Err(_) => return Received::Closed,
            }
            if let Some(deadline) = deadline
                && !self.readable_before(deadline)
            {
                return Received::Elapsed;
            }
            match recv(&self.socket, spare_capacity(self.frames.spare_buffer()), RecvFlags::empty()) {
                Ok((0, _)) => return Received::Closed,
                Ok(_) | Err(Errno::INTR) => {}
                Err(_) => return Received::Closed,
            }
        }
    }

    fn readable_before(&self, deadline: Instant) -> bool {
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let timeout = Timespec::try_from(left).ok();
            match poll(&mut [PollFd::new(&self.socket, PollFlags::IN)], timeout.as_ref()) {
                Ok(0) if left.is_zero() => return false,
                Ok(0) | Err(Errno::INTR) => {}
                _ => return true,
            }
        }
    }
}
