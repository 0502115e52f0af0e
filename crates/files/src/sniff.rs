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

/// Text in two-byte units, as Windows tools write it; its first bytes say so and in which order they come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Utf16 {
    /// The lower byte first.
    Little,
    /// The higher byte first.
    Big,
}

impl Utf16 {
    /// By the byte order mark; without one nobody can tell.
    pub(crate) fn of(head: &[u8]) -> Option<Self> {
        match head {
            // Four bytes more, and it is UTF-32.
            [0xff, 0xfe, 0, 0, ..] => None,
            [0xff, 0xfe, ..] => Some(Self::Little),
            [0xfe, 0xff, ..] => Some(Self::Big),
            _ => None,
        }
    }

    /// The text behind the mark; half a character becomes the sign for one that is lost.
    pub(crate) fn decode(self, bytes: &[u8]) -> String {
        let units = bytes.get(2..).unwrap_or_default().chunks(2).map(|pair| match (self, pair) {
            (Self::Little, &[low, high]) => u16::from_le_bytes([low, high]),
            (Self::Big, &[high, low]) => u16::from_be_bytes([high, low]),
            _ => 0xfffd,
        });
        char::decode_utf16(units).map(|char| char.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
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
    fn two_byte_text_is_known_by_its_mark() {
        let check = |bytes: &[u8], expected: Option<&str>| {
            assert_eq!(Utf16::of(bytes).map(|order| order.decode(bytes)).as_deref(), expected, "{bytes:?}");
        };
        check(b"\xff\xfeh\0i\0", Some("hi"));
        check(b"\xfe\xff\0h\0i", Some("hi"));
        check(b"\xff\xfe\x3d\xd8\0\xde", Some("\u{1f600}"));
        check(b"\xff\xfeh\0\x3d\xd8", Some("h\u{fffd}"));
        check(b"\xff\xfeh\0i", Some("h\u{fffd}"));
        check(b"\xff\xfe\0\0h\0\0\0", None);
        check(b"hi", None);
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
