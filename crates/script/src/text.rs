//! Looking at the raw text between two tokens.
//!
//! The tree has no place for a comma, a `?` or the word `implements`; these few functions find them, and are only ever
//! called where a token begins.

use crate::lines::terminator;

/// The offset of the next token at or after `at`.
pub(crate) fn skip_trivia(source: &str, at: u32) -> u32 {
    let bytes = source.as_bytes();
    let mut at = at as usize;
    loop {
        match bytes.get(at) {
            Some(b' ' | b'\t' | b'\n' | b'\r' | 0x0B | 0x0C) => at += 1,
            Some(b'/') if bytes.get(at + 1) == Some(&b'/') => {
                while at < bytes.len() && terminator(bytes, at) == 0 {
                    at += 1;
                }
            }
            Some(b'/') if bytes.get(at + 1) == Some(&b'*') => {
                at = source.get(at + 2..).and_then(|rest| rest.find("*/")).map_or(bytes.len(), |end| at + end + 4);
            }
            Some(0x80..) => match source.get(at..).and_then(|rest| rest.chars().next()) {
                Some(char) if char.is_whitespace() || char == '\u{FEFF}' => at += char.len_utf8(),
                _ => return offset(at),
            },
            _ => return offset(at),
        }
    }
}

/// The offset of `wanted` if it is the next token at or after `at`.
pub(crate) fn next_is(source: &str, at: u32, wanted: &str) -> Option<u32> {
    let at = skip_trivia(source, at);
    source.get(at as usize..)?.starts_with(wanted).then_some(at)
}

/// The end of the word (identifier without escapes) that begins at `at`.
pub(crate) fn word_end(source: &str, at: u32) -> u32 {
    let rest = source.as_bytes().get(at as usize..).unwrap_or_default();
    let length = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$')).count();
    at + offset(length)
}

/// A string as a JavaScript literal in double quotes, in ASCII.
pub(crate) fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for unit in text.encode_utf16() {
        match u8::try_from(unit) {
            Ok(byte @ (b'"' | b'\\')) => out.extend(['\\', byte as char]),
            Ok(byte @ b' '..=b'~') => out.push(byte as char),
            _ => out.push_str(&format!("\\u{unit:04x}")),
        }
    }
    out.push('"');
    out
}

/// Offsets in this crate are `u32`, as in the parser: the limit on the length of a text keeps them so.
pub(crate) fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}
