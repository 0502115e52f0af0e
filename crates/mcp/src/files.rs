//! Whole files out of Bay, up to a size.

use bytes::BytesMut;
use cove_api::{BayError, ErrorCode};
use cove_bay::Download;
use futures_util::StreamExt as _;

/// What one resource or one picture may weigh on its way to a client.
pub(crate) const MAX_BYTES: u64 = 16 << 20;

/// All bytes of a download, if they are not too many.
pub(crate) async fn collect(download: Download) -> Result<Vec<u8>, BayError> {
    let too_large = |size: u64| {
        let message = format!("the file has {size} bytes or more; at most {MAX_BYTES} can be sent");
        BayError::new(ErrorCode::ValidationError, message)
    };
    if let Some(size) = download.size.filter(|size| *size > MAX_BYTES) {
        return Err(too_large(size));
    }
    let mut bytes = download.bytes;
    let mut all = BytesMut::new();
    while let Some(piece) = bytes.next().await {
        let piece = piece.map_err(|error| BayError::new(ErrorCode::ShipError, error.to_string()))?;
        all.extend_from_slice(&piece);
        if all.len() as u64 > MAX_BYTES {
            return Err(too_large(all.len() as u64));
        }
    }
    Ok(all.to_vec())
}

/// The media type, by the first bytes, else by the name.
pub(crate) fn media_type(name: &str, bytes: &[u8]) -> &'static str {
    let starts = |head: &[u8]| bytes.starts_with(head);
    if starts(b"\x89PNG\r\n\x1a\n") {
        return "image/png";
    }
    if starts(b"\xff\xd8\xff") {
        return "image/jpeg";
    }
    if starts(b"GIF87a") || starts(b"GIF89a") {
        return "image/gif";
    }
    if starts(b"RIFF") && bytes.get(8..12) == Some(b"WEBP") {
        return "image/webp";
    }
    if starts(b"%PDF-") {
        return "application/pdf";
    }
    let is_text = !bytes.contains(&0) && std::str::from_utf8(bytes).is_ok();
    match name.rsplit('.').next().unwrap_or_default() {
        _ if !is_text => "application/octet-stream",
        "json" => "application/json",
        "html" | "htm" => "text/html",
        "css" => "text/css",
        "csv" => "text/csv",
        "md" => "text/markdown",
        "svg" => "image/svg+xml",
        _ => "text/plain",
    }
}

/// Whether a model can look at it.
pub(crate) fn is_picture(media_type: &str) -> bool {
    matches!(media_type, "image/png" | "image/jpeg" | "image/gif" | "image/webp")
}

/// Whether it is text on the wire.
pub(crate) fn is_text(media_type: &str) -> bool {
    media_type.starts_with("text/") || matches!(media_type, "application/json" | "image/svg+xml")
}
