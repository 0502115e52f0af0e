//! What the kernel in the page says to the host.

use cove_core::LogLevel;
use serde::Deserialize;

/// One message, in the order in which the page sent it.
#[derive(Debug, Deserialize)]
#[serde(tag = "t", rename_all = "lowercase")]
pub(crate) enum Message {
    /// The kernel is there.
    Hello,
    /// A console line.
    Log { level: LogLevel, text: String },
    /// The console limit is reached; nothing further comes.
    Cut,
    /// A tool was called. The arguments are a JSON list as text.
    Tool { id: u64, name: String, args: String },
    /// `import(name)`
    Import { id: u64, name: String },
    /// Text for `eval` and its relatives.
    Dynamic { id: u64, code: String },
    /// The run is over.
    Done(Box<Done>),
}

/// How a run ended, as the page saw it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Done {
    pub(crate) operations: u64,
    #[serde(default)]
    pub(crate) answer: bool,
    pub(crate) json: Option<String>,
    /// The value as text, where that was asked for.
    pub(crate) shown: Option<String>,
    #[serde(default)]
    pub(crate) pictures: Vec<Drawn>,
    pub(crate) canvas_error: Option<String>,
    /// What the value loses on its way to JSON.
    #[serde(default)]
    pub(crate) lost: Vec<String>,
    /// The value is `undefined`.
    #[serde(default)]
    pub(crate) undefined: bool,
    pub(crate) too_large: Option<u64>,
    pub(crate) unfit: Option<String>,
    #[serde(default)]
    pub(crate) steps: bool,
    pub(crate) thrown: Option<Thrown>,
}

/// A picture, encoded twice: PNG, and base64 for the way.
#[derive(Debug, Deserialize)]
pub(crate) struct Drawn {
    pub(crate) name: Option<String>,
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) png: String,
}

/// What guest code threw and did not catch.
#[derive(Debug, Deserialize)]
pub(crate) struct Thrown {
    pub(crate) kind: ThrownKind,
    /// `{Type}: {message}`, or `Uncaught …` for what is no error.
    pub(crate) message: String,
    pub(crate) stack: String,
    /// The module that could not be loaded, where that is what failed.
    pub(crate) module: Option<String>,
}

/// Who made the thing that was thrown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ThrownKind {
    Exception,
    Tool,
    Import,
}

impl Message {
    /// Reads a message. Text with half a surrogate pair has no UTF-8 form; its halves become replacement characters.
    pub(crate) fn read(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }
}

/// Reads JSON that JavaScript wrote, which may escape half a surrogate pair; such halves become U+FFFD.
pub(crate) fn read_json(text: &str) -> Result<serde_json::Value, serde_json::Error> {
    serde_json::from_str(text).or_else(|error| match replace_surrogates(text) {
        Some(replaced) => serde_json::from_str(&replaced),
        None => Err(error),
    })
}

/// Replaces escapes of lone surrogates; `None` when there are none.
fn replace_surrogates(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut replaced = false;
    while let Some(at) = rest.find('\\') {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        match unit(from) {
            Some(high @ 0xd800..=0xdbff) if matches!(from.get(6..).and_then(unit), Some(0xdc00..=0xdfff)) => {
                let _ = high;
                out.push_str(from.get(..12).unwrap_or_default());
                rest = from.get(12..).unwrap_or_default();
            }
            Some(0xd800..=0xdfff) => {
                out.push('\u{fffd}');
                replaced = true;
                rest = from.get(6..).unwrap_or_default();
            }
            // Any other escape: the backslash and the character after it belong together.
            _ => {
                let next = from.char_indices().nth(2).map_or(from.len(), |(index, _)| index);
                out.push_str(from.get(..next).unwrap_or_default());
                rest = from.get(next..).unwrap_or_default();
            }
        }
    }
    out.push_str(rest);
    replaced.then_some(out)
}

/// The code unit of a `\uXXXX` at the start of `text`.
fn unit(text: &str) -> Option<u32> {
    u32::from_str_radix(text.strip_prefix("\\u")?.get(..4)?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn half_a_surrogate_pair_is_replaced_and_nothing_else() {
        let check = |text: &str, expected: serde_json::Value| assert_eq!(read_json(text).unwrap(), expected, "{text}");
        check(r#"["\ud83d\ude00"]"#, json!(["😀"]));
        check(r#"["a\ud83d"]"#, json!(["a\u{fffd}"]));
        check(r#"["\ude00\ud83d\ude00\ud83dx"]"#, json!(["\u{fffd}😀\u{fffd}x"]));
        check(r#"["\\ud83d \ud83d"]"#, json!(["\\ud83d \u{fffd}"]));
        assert!(read_json("[").is_err());
    }

    #[test]
    fn messages_are_read() {
        let Some(Message::Log { level, text }) = Message::read(r#"{"t":"log","level":"warn","text":"x"}"#) else {
            panic!("no line");
        };
        assert_eq!((level, text.as_str()), (LogLevel::Warn, "x"));
        let Some(Message::Done(done)) = Message::read(r#"{"t":"done","operations":0,"tooLarge":9}"#) else {
            panic!("no end");
        };
        assert_eq!(done.too_large, Some(9));
        assert!(Message::read("{}").is_none());
    }
}
