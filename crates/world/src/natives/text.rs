//! Bytes and text: what `TextEncoder` and `TextDecoder` stand on.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};
use rquickjs::{Ctx, Object, Value};

use super::{put, string};
use crate::raw;

pub(super) fn install(natives: &Object<'_>) -> rquickjs::Result<()> {
    install_for(natives)
}

fn install_for<'js>(natives: &Object<'js>) -> rquickjs::Result<()> {
    put(natives, "encodeUtf8", |ctx: Ctx<'js>, text: Value<'js>| -> rquickjs::Result<Value<'js>> {
        raw::uint8_array(&ctx, string(&text)?.as_bytes())
    })?;
    put(natives, "encodingName", |label: Value<'js>| -> Option<String> {
        let label = raw::text(&label)?;
        Some(Encoding::for_label(label.as_bytes())?.name().to_ascii_lowercase())
    })?;
    put(natives, "decodeText", |name: String, data: Value<'js>, fatal: bool, keep_mark: bool| -> Option<String> {
        let bytes = raw::bytes_of(&data)?;
        let encoding = Encoding::for_label(name.as_bytes())?;
        let mut rest = bytes.as_slice();
        if !keep_mark {
            for (marked, mark) in [(UTF_8, &b"\xEF\xBB\xBF"[..]), (UTF_16LE, b"\xFF\xFE"), (UTF_16BE, b"\xFE\xFF")] {
                if encoding == marked {
                    rest = rest.strip_prefix(mark).unwrap_or(rest);
                }
            }
        }
        if fatal {
            return encoding.decode_without_bom_handling_and_without_replacement(rest).map(Into::into);
        }
        Some(encoding.decode_without_bom_handling(rest).0.into())
    })?;
    put(natives, "incompleteTail", |name: String, tail: Value<'js>| -> usize {
        incomplete_tail(&name, &raw::bytes_of(&tail).unwrap_or_default())
    })
}

/// How many bytes at the end belong to a character that is not whole yet.
fn incomplete_tail(encoding: &str, tail: &[u8]) -> usize {
    match encoding {
        "utf-8" => {
            for back in 1..=tail.len().min(3) {
                let byte = tail[tail.len() - back];
                let needed = match byte {
                    0xC2..=0xDF => 2,
                    0xE0..=0xEF => 3,
                    0xF0..=0xF4 => 4,
                    0x80..=0xBF => continue,
                    _ => return 0,
                };
                return if needed > back { back } else { 0 };
            }
            0
        }
        "utf-16le" | "utf-16be" => tail.len() % 2,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::incomplete_tail;

    #[test]
    fn a_character_that_is_not_whole_waits() {
        for (bytes, waiting) in
            [(&b"abc"[..], 0), (b"ab\xC3", 1), (b"a\xE2\x82", 2), (b"\xF0\x9F\x98", 3), (b"a\xC3\xA9", 0), (b"\xFF", 0)]
        {
            assert_eq!(incomplete_tail("utf-8", bytes), waiting, "{bytes:?}");
        }
        assert_eq!(incomplete_tail("utf-16le", b"abc"), 1);
    }
}
