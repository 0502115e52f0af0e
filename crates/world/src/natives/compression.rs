//! gzip, zlib and raw deflate, a piece at a time: what `CompressionStream` and `DecompressionStream` stand on.
//!
//! A codec takes one chunk of input and gives its output in pieces of [`PIECE_BYTES`], each of which is a value of the
//! engine's heap and counts there. So a few bytes that unpack to gigabytes meet the memory limit of the session like any
//! other value, and this side never holds more than one piece.

use std::cell::Cell;
use std::rc::Rc;

use flate2::{Compress, Compression, Crc, Decompress, FlushCompress, FlushDecompress, Status};
use rquickjs::{Class, Ctx, Exception, Object, Value};

use super::put;
use crate::raw::{self, Held};

/// Output that is given at a time.
const PIECE_BYTES: usize = 64 << 10;

/// Codecs that may be open at once. One that compresses holds about 300 KiB, which the engine's heap does not count:
/// so many fit into the room that a session process has beside its heap.
const MAX_OPEN: usize = 128;

/// The longest head of a gzip file: it may carry a name and a comment of any length.
const MAX_HEAD_BYTES: usize = 64 << 10;

/// The smallest head of a gzip file, and the one that is written: no name, no time, an unknown system.
const GZIP_HEAD: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Format {
    Gzip,
    Zlib,
    Raw,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Head,
    Body,
    Tail,
    Done,
}

enum Work {
    Pack(Box<Compress>),
    Unpack(Box<Decompress>),
}

/// Why bytes cannot be unpacked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
enum Broken {
    #[error("the bytes are not compressed in this format")]
    Format,
    #[error("the compressed bytes end too early")]
    Short,
    #[error("something follows the end of the compressed bytes")]
    Trailing,
    #[error("the checksum of the compressed bytes is wrong")]
    Checksum,
}

/// One stream of bytes on its way through.
struct Codec {
    format: Format,
    stage: Stage,
    work: Work,
    crc: Crc,
    /// What was given and is not used yet, from `at` on.
    input: Vec<u8>,
    at: usize,
}

/// A codec, until it is closed, and its place among those that are open.
struct Open {
    codec: Option<Codec>,
    count: Rc<Cell<usize>>,
}

impl Open {
    fn close(&mut self) {
        if self.codec.take().is_some() {
            self.count.set(self.count.get() - 1);
        }
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.close();
    }
}

pub(super) fn install<'js>(natives: &Object<'js>) -> rquickjs::Result<()> {
    let count = Rc::new(Cell::new(0));
    put(natives, "open", move |ctx: Ctx<'js>, format: String, pack: bool| -> rquickjs::Result<Option<Value<'js>>> {
        let Some(codec) = Codec::new(&format, pack) else { return Ok(None) };
        if count.get() >= MAX_OPEN {
            // Streams that were dropped in the middle are cycles, and wait for a collection.
            raw::collect(&ctx);
        }
        if count.get() >= MAX_OPEN {
            let message = format!("{MAX_OPEN} compression streams are open; finish or cancel some of them first");
            return Err(Exception::throw_range(&ctx, &message));
        }
        count.set(count.get() + 1);
        let open = Open { codec: Some(codec), count: Rc::clone(&count) };
        Ok(Some(Class::instance(ctx, Held(open))?.into_value()))
    })?;
    put(natives, "push", |codec: Class<'js, Held<Open>>, chunk: Value<'js>| {
        let mut held = codec.borrow_mut();
        if let (Some(codec), Some(bytes)) = (&mut held.0.codec, raw::bytes_of(&chunk)) {
            // What is left is part of a head or of a tail that is not whole yet.
            codec.input.drain(..codec.at);
            codec.input.extend_from_slice(&bytes);
            codec.at = 0;
        }
    })?;
    // The next piece of output; nothing when more input is needed, or all is done.
    put(
        natives,
        "pull",
        |ctx: Ctx<'js>, codec: Class<'js, Held<Open>>, last: bool| -> rquickjs::Result<Option<Value<'js>>> {
            let piece = {
                let mut held = codec.borrow_mut();
                let Some(codec) = &mut held.0.codec else { return Ok(None) };
                let piece = codec.pull(last);
                if piece.is_err() || (last && matches!(&piece, Ok(piece) if piece.is_empty())) {
                    held.0.close();
                }
                piece
            };
            match piece {
                Ok(piece) if piece.is_empty() => Ok(None),
                Ok(piece) => raw::uint8_array(&ctx, &piece).map(Some),
                Err(broken) => Err(Exception::throw_type(&ctx, &broken.to_string())),
            }
        },
    )?;
    put(natives, "close", |codec: Class<'js, Held<Open>>| codec.borrow_mut().0.close())
}

impl Codec {
    fn new(format: &str, pack: bool) -> Option<Self> {
        let format = match format {
            "gzip" => Format::Gzip,
            "deflate" => Format::Zlib,
            "deflate-raw" => Format::Raw,
            _ => return None,
        };
        let zlib = format == Format::Zlib;
        let work = if pack {
            Work::Pack(Box::new(Compress::new(Compression::default(), zlib)))
        } else {
            Work::Unpack(Box::new(Decompress::new(zlib)))
        };
        let stage = if format == Format::Gzip { Stage::Head } else { Stage::Body };
        Some(Self { format, stage, work, crc: Crc::new(), input: Vec::new(), at: 0 })
    }

    /// The next piece; an empty one when more input is needed, or after the last one.
    fn pull(&mut self, last: bool) -> Result<Vec<u8>, Broken> {
        match self.work {
            Work::Pack(_) => self.pack(last),
            Work::Unpack(_) => self.unpack(last),
        }
    }

    fn pack(&mut self, last: bool) -> Result<Vec<u8>, Broken> {
        let Work::Pack(work) = &mut self.work else { return Err(Broken::Format) };
        let mut piece = Vec::with_capacity(PIECE_BYTES);
        if self.stage == Stage::Head {
            piece.extend_from_slice(&GZIP_HEAD);
            self.stage = Stage::Body;
        }
        while self.stage == Stage::Body && piece.len() < piece.capacity() {
            let flush = if last { FlushCompress::Finish } else { FlushCompress::None };
            let (before, room) = (work.total_in(), piece.len());
            let status = work.compress_vec(&self.input[self.at..], &mut piece, flush).map_err(|_| Broken::Format)?;
            let used = usize::try_from(work.total_in() - before).unwrap_or_default();
            self.crc.update(&self.input[self.at..self.at + used]);
            self.at += used;
            if status == Status::StreamEnd {
                self.stage = if self.format == Format::Gzip { Stage::Tail } else { Stage::Done };
            } else if used == 0 && piece.len() == room {
                break;
            }
        }
        if self.stage == Stage::Tail && piece.len() + 8 <= piece.capacity() {
            piece.extend_from_slice(&self.crc.sum().to_le_bytes());
            piece.extend_from_slice(&self.crc.amount().to_le_bytes());
            self.stage = Stage::Done;
        }
        Ok(piece)
    }

    fn unpack(&mut self, last: bool) -> Result<Vec<u8>, Broken> {
        if self.stage == Stage::Head && !self.take_head()? {
            return if last { Err(Broken::Short) } else { Ok(Vec::new()) };
        }
        let mut piece = Vec::new();
        if self.stage == Stage::Body {
            let Work::Unpack(work) = &mut self.work else { return Err(Broken::Format) };
            piece.reserve_exact(PIECE_BYTES);
            loop {
                let (before, room) = (work.total_in(), piece.len());
                let flush = FlushDecompress::None;
                let status =
                    work.decompress_vec(&self.input[self.at..], &mut piece, flush).map_err(|_| Broken::Format)?;
                let used = usize::try_from(work.total_in() - before).unwrap_or_default();
                self.at += used;
                self.crc.update(&piece[room..]);
                if status == Status::StreamEnd {
                    self.stage = if self.format == Format::Gzip { Stage::Tail } else { Stage::Done };
                    break;
                }
                if piece.len() == piece.capacity() || (used == 0 && piece.len() == room) {
                    break;
                }
            }
        }
        if self.stage == Stage::Tail {
            self.take_tail()?;
        }
        if self.stage == Stage::Done && self.at < self.input.len() {
            return Err(Broken::Trailing);
        }
        if last && piece.is_empty() && self.stage != Stage::Done {
            return Err(Broken::Short);
        }
        Ok(piece)
    }

    /// Steps over the head of a gzip file; whether it is there as a whole. What is there of it waits in the input.
    fn take_head(&mut self) -> Result<bool, Broken> {
        let rest = &self.input[self.at..];
        if rest.iter().zip(&GZIP_HEAD[..3]).any(|(is, must)| is != must) {
            return Err(Broken::Format);
        }
        match head_length(rest) {
            Some(length) => {
                self.at += length;
                self.stage = Stage::Body;
                Ok(true)
            }
            None if rest.len() > MAX_HEAD_BYTES => Err(Broken::Format),
            None => Ok(false),
        }
    }

    /// Compares the checksum and the length behind the data, once both are there.
    fn take_tail(&mut self) -> Result<(), Broken> {
        let Some(tail) = self.input[self.at..].first_chunk::<8>() else { return Ok(()) };
        let mut wanted = [0; 8];
        wanted[..4].copy_from_slice(&self.crc.sum().to_le_bytes());
        wanted[4..].copy_from_slice(&self.crc.amount().to_le_bytes());
        if *tail != wanted {
            return Err(Broken::Checksum);
        }
        self.at += 8;
        self.stage = Stage::Done;
        Ok(())
    }
}

/// How long the head of a gzip file is; `None` while it is not whole.
fn head_length(bytes: &[u8]) -> Option<usize> {
    let flags = *bytes.get(3)?;
    let mut at = GZIP_HEAD.len();
    if flags & 4 != 0 {
        let extra = bytes.get(at..at + 2)?;
        at += 2 + usize::from(u16::from_le_bytes([extra[0], extra[1]]));
    }
    // A name and a comment, each up to its zero byte.
    for flag in [8, 16] {
        if flags & flag != 0 {
            at += bytes.get(at..)?.iter().position(|byte| *byte == 0)? + 1;
        }
    }
    if flags & 2 != 0 {
        at += 2;
    }
    (bytes.len() >= at).then_some(at)
}
