//! Frames out of a stream of bytes, with a limit for each kind that holds before the bytes are there.

/// Length and kind.
pub(crate) const HEADER_BYTES: usize = 5;

/// Why a stream of bytes is no conversation.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum WireError {
    #[error("a frame of kind {0} is not known here")]
    Kind(u8),
    #[error("a frame of kind {kind} announces {length} bytes, the most is {limit}")]
    Length { kind: u8, length: usize, limit: usize },
    #[error("a {0} frame does not decode")]
    Payload(&'static str),
}

/// The five bytes before a payload.
pub(crate) fn header(kind: u8, length: usize) -> [u8; HEADER_BYTES] {
    // Both sides keep payloads far below 4 GiB; a longer one would be refused by its limit on the other side.
    let [a, b, c, d] = u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes();
    [a, b, c, d, kind]
}

/// Appends a whole frame to `out`; `write` adds the payload.
pub(crate) fn frame_into(out: &mut Vec<u8>, kind: u8, write: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend_from_slice(&[0; HEADER_BYTES]);
    write(out);
    let length = out.len() - start - HEADER_BYTES;
    out[start..start + HEADER_BYTES].copy_from_slice(&header(kind, length));
}

/// One frame, still in the buffer it was read into.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Frame<'a> {
    pub(crate) kind: u8,
    pub(crate) payload: &'a [u8],
}

/// Bytes read and not yet used.
#[derive(Debug, Default)]
pub(crate) struct Frames {
    bytes: Vec<u8>,
    /// Where the first unused byte stands.
    start: usize,
}

/// Read at least so much at once; most frames are smaller.
const READ_BYTES: usize = 16 << 10;

/// And at most so much.
const MAX_READ_BYTES: usize = 1 << 20;

/// A buffer that has grown beyond this is given back once it is empty.
const KEEP_BYTES: usize = 256 << 10;

impl Frames {
    /// Where new bytes are to be appended. It grows with what arrives, never with what a frame announces.
    pub(crate) fn spare_buffer(&mut self) -> &mut Vec<u8> {
        if self.start == self.bytes.len() {
            self.start = 0;
            if self.bytes.capacity() > KEEP_BYTES {
                self.bytes = Vec::new();
            }
            self.bytes.clear();
        } else if self.start >= READ_BYTES {
            self.bytes.drain(..self.start);
            self.start = 0;
        }
        // A long frame is read in ever larger pieces.
        self.bytes.reserve(self.bytes.len().clamp(READ_BYTES, MAX_READ_BYTES));
        &mut self.bytes
    }

    /// Whether nothing is waiting to be used.
    pub(crate) fn is_empty(&self) -> bool {
        self.start == self.bytes.len()
    }

    /// The next whole frame; `None` when more bytes are needed. `limit` says how long a payload of a kind may be, `None`
    /// that the kind is not known.
    pub(crate) fn next(&mut self, limit: impl Fn(u8) -> Option<usize>) -> Result<Option<Frame<'_>>, WireError> {
        let Some((head, rest)) = self.bytes[self.start..].split_first_chunk::<HEADER_BYTES>() else { return Ok(None) };
        let [a, b, c, d, kind] = *head;
        let length = usize::try_from(u32::from_le_bytes([a, b, c, d])).unwrap_or(usize::MAX);
        let limit = limit(kind).ok_or(WireError::Kind(kind))?;
        if length > limit {
            return Err(WireError::Length { kind, length, limit });
        }
        if rest.len() < length {
            return Ok(None);
        }
        let payload = self.start + HEADER_BYTES;
        self.start = payload + length;
        Ok(Some(Frame { kind, payload: &self.bytes[payload..payload + length] }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LIMIT: usize = 300;

    fn limit(kind: u8) -> Option<usize> {
        (kind < 8).then_some(LIMIT)
    }

    proptest! {
        /// Whatever the pieces in which bytes arrive, the same frames come out.
        #[test]
        fn frames_survive_any_cutting(
            frames in prop::collection::vec((0u8..8, prop::collection::vec(any::<u8>(), 0..LIMIT)), 0..20),
            cuts in prop::collection::vec(1usize..50, 1..20),
        ) {
            let mut stream = Vec::new();
            for (kind, payload) in &frames {
                frame_into(&mut stream, *kind, |out| out.extend_from_slice(payload));
            }
            let (mut buffer, mut seen) = (Frames::default(), Vec::new());
            let mut rest = stream.as_slice();
            for cut in cuts.iter().cycle() {
                let (piece, left) = rest.split_at((*cut).min(rest.len()));
                buffer.spare_buffer().extend_from_slice(piece);
                while let Some(frame) = buffer.next(limit).unwrap() {
                    seen.push((frame.kind, frame.payload.to_vec()));
                }
                rest = left;
                if rest.is_empty() { break }
            }
            prop_assert_eq!(seen, frames);
            prop_assert!(buffer.is_empty());
        }

        /// Noise gives frames within their limits, or an error; never a panic, never a buffer beyond what arrived.
        #[test]
        fn noise_is_refused_or_bounded(noise in prop::collection::vec(any::<u8>(), 0..2000)) {
            let mut buffer = Frames::default();
            buffer.spare_buffer().extend_from_slice(&noise);
            for _ in 0..noise.len() {
                match buffer.next(limit) {
                    Ok(Some(frame)) => prop_assert!(frame.payload.len() <= LIMIT && frame.kind < 8),
                    Ok(None) | Err(_) => break,
                }
            }
            prop_assert!(buffer.bytes.capacity() <= 4 * READ_BYTES);
        }
    }

    /// A frame that is too long is refused by its header alone.
    #[test]
    fn a_long_frame_is_refused_before_it_arrives() {
        let mut buffer = Frames::default();
        buffer.spare_buffer().extend_from_slice(&header(1, LIMIT + 1));
        assert_eq!(buffer.next(limit), Err(WireError::Length { kind: 1, length: LIMIT + 1, limit: LIMIT }));
        let mut buffer = Frames::default();
        buffer.spare_buffer().extend_from_slice(&header(99, 0));
        assert_eq!(buffer.next(limit), Err(WireError::Kind(99)));
    }
}
