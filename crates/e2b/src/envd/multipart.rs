//! Files in a form, one or many, and packed bytes on their way in. Nothing of them is kept here.

use std::io::{self, Write as _};

use cove_bay::ByteStream;
use futures_util::StreamExt as _;
use serde_json::Value;

use super::files::store;
use crate::door::{E2bDoor, Guest};
use crate::refusal::Refused;

/// Files of one form.
const MAX_FILES: usize = 1_000;

/// The most of packed bytes that is unpacked at once; it may become a thousand times as much.
const PACKED_BLOCK_BYTES: usize = 4 << 10;

/// Takes a form's files, each as it comes. One alone goes to `path`; where there are several, their names are their paths.
pub(super) async fn take(
    door: &E2bDoor,
    guest: &Guest,
    kind: &str,
    bytes: ByteStream,
    path: Option<&str>,
) -> Result<Vec<Value>, Refused> {
    let broken = |error: &multer::Error| Refused::invalid(format!("the form cannot be read: {error}"));
    let boundary = multer::parse_boundary(kind).map_err(|error| broken(&error))?;
    let mut form = multer::Multipart::new(bytes, boundary);
    let mut written = Vec::new();
    while let Some(field) = form.next_field().await.map_err(|error| broken(&error))? {
        if field.name() != Some("file") {
            continue;
        }
        if written.len() >= MAX_FILES {
            return Err(Refused::invalid(format!("a form may have {MAX_FILES} files at most")));
        }
        let name = field.file_name().map(str::to_owned);
        let path =
            path.map(str::to_owned).or(name).ok_or_else(|| Refused::invalid("a file of the form has no path"))?;
        let bytes: ByteStream = Box::pin(field.map(|piece| piece.map_err(io::Error::other)));
        written.push(store(door, guest, &path, bytes).await?);
    }
    if written.is_empty() { Err(Refused::invalid("the form has no part named `file`")) } else { Ok(written) }
}

/// Unpacks gzip as it comes.
pub(super) fn unpacked(bytes: ByteStream) -> ByteStream {
    let decoder = flate2::write::GzDecoder::new(Vec::new());
    let state = (bytes, decoder, Vec::<u8>::new(), false);
    Box::pin(futures_util::stream::unfold(state, |(mut bytes, mut decoder, mut packed, mut over)| async move {
        loop {
            if packed.is_empty() {
                if over {
                    return None;
                }
                match bytes.next().await {
                    Some(Ok(piece)) => packed = piece.to_vec(),
                    Some(Err(error)) => return Some((Err(error), (bytes, decoder, Vec::new(), true))),
                    None => {
                        over = true;
                        if let Err(error) = decoder.try_finish() {
                            return Some((Err(error), (bytes, decoder, Vec::new(), true)));
                        }
                    }
                }
            }
            let rest = packed.split_off(PACKED_BLOCK_BYTES.min(packed.len()));
            let block = std::mem::replace(&mut packed, rest);
            if let Err(error) = decoder.write_all(&block) {
                return Some((Err(error), (bytes, decoder, Vec::new(), true)));
            }
            let plain = std::mem::take(decoder.get_mut());
            if !plain.is_empty() {
                return Some((Ok(plain.into()), (bytes, decoder, packed, over)));
            }
        }
    }))
}
