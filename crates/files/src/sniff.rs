//! What a file is, by its first bytes; its name says nothing.

/// How much of a file is looked at.
pub(crate) const SNIFF_BYTES: usize = 8192;

/// The media type of a picture that models can see.
pub(crate) fn image_type(head: &[u8]) -> Option<&'static str> {
    if head.starts_with(b"\x89PNG\r\n\x1a\n") {
        Some("image/png")
    } else if head.starts_with(b"\xff\xd8\xff") {
        Some("image/jpeg")
    } else if head.starts_with(b"GIF87a") || head.starts_with(b"GIF89a") {
        Some("image/gif")
    } else if head.starts_with(b"RIFF") && head.get(8..12) == Some(b"WEBP") {
        Some("image/webp")
    } else {
        None
    }
}

/// Whether these are not the first bytes of a text: a NUL, or more than a tenth that is no UTF-8.
///
/// A tenth: Latin-1 prose stays readable as text with a few replacement characters, compressed data does not.
pub(crate) fn is_binary(head: &[u8]) -> bool {
    let head = &head[..head.len().min(SNIFF_BYTES)];
    let wrong: usize = head.utf8_chunks().map(|chunk| chunk.invalid().len()).sum();
    memchr::memchr(0, head).is_some() || wrong * 10 > head.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_are_known_by_their_first_bytes() {
        for (head, expected) in [
            (&b"\x89PNG\r\n\x1a\n...."[..], Some("image/png")),
            (b"\xff\xd8\xff\xe0", Some("image/jpeg")),
            (b"GIF89a..", Some("image/gif")),
            (b"RIFF\x00\x00\x00\x00WEBPVP8 ", Some("image/webp")),
            (b"RIFF\x00\x00\x00\x00WAVE", None),
            (b"PNG", None),
            (b"", None),
        ] {
            assert_eq!(image_type(head), expected, "{head:?}");
        }
    }

    #[test]
    fn text_is_not_binary() {
        assert!(!is_binary(b""));
        assert!(!is_binary("größe".as_bytes()));
        assert!(!is_binary(b"caf\xe9 au lait, s'il vous plait"));
        assert!(is_binary(b"ELF\0\0"));
        assert!(is_binary(&[0xfe, 0x81, 0x92, b'a']));
        // A character cut in two by the edge of what is looked at is no sign of anything.
        let mut text = vec![b'x'; SNIFF_BYTES - 1];
        text.extend("é".bytes());
        assert!(!is_binary(&text));
    }
}
