//! What a runtime answers when it cannot do what it was asked: a stable code, a sentence, and the cause where one is known.

use cove_api::RuntimeCause;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Said for a refusal that says nothing.
const WITHOUT_REASON: &str = "the runtime refused the request without a reason";

cove_core::codes! {
    /// The stable code of a refusal.
    RefusalCode {
        /// A request that cannot be read, or a value out of its bounds.
        ValidationError = "validation_error",
        /// Arguments that a file tool does not take.
        InvalidArgs = "invalid_args",
        /// A path that leads out of the workspace, or cannot be one.
        InvalidPath = "invalid_path",
        /// No such endpoint, process or session.
        NotFound = "not_found",
        /// No such file.
        FileNotFound = "file_not_found",
        /// Something else than a folder.
        NotADirectory = "not_a_directory",
        /// Something else than a plain file.
        NotAFile = "not_a_file",
        /// Bytes that are no text.
        NotText = "not_text",
        /// Text in another encoding than UTF-8, for a file tool.
        NotUtf8 = "not_utf8",
        /// The text to replace occurs more than once.
        NotUnique = "not_unique",
        /// The text to replace is not there.
        TextNotFound = "text_not_found",
        /// An edit that changes nothing.
        NoChange = "no_change",
        /// Edits that touch the same text.
        OverlappingEdits = "overlapping_edits",
        /// A line beyond the end of the file.
        OffsetBeyondEnd = "offset_beyond_end",
        /// This runtime cannot do that.
        CapabilityNotSupported = "capability_not_supported",
        /// Something is there already, or is not empty.
        Conflict = "conflict",
        /// Missing or wrong token.
        Unauthorized = "unauthorized",
        /// The system does not permit it.
        Forbidden = "forbidden",
        /// The same, for a file tool.
        PermissionDenied = "permission_denied",
        /// A limit of the sandbox is reached.
        QuotaExceeded = "quota_exceeded",
        /// More than is read in one piece.
        FileTooLarge = "file_too_large",
        /// It took too long.
        Timeout = "timeout",
        /// The system failed at a file.
        IoError = "io_error",
        /// Nobody listens on this port.
        PortClosed = "port_closed",
        /// The runtime failed.
        InternalError = "internal_error",
        /// A code that is not known here, or none at all.
        Unknown = "unknown",
    }
}

impl RefusalCode {
    /// The code with this name; `Unknown` where there is none.
    fn named(name: &str) -> Self {
        Self::ALL.iter().copied().find(|code| code.as_str() == name).unwrap_or(Self::Unknown)
    }
}

impl<'de> Deserialize<'de> for RefusalCode {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|name| Self::named(&name))
    }
}

/// A refusal.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    /// The HTTP status.
    pub status: u16,
    /// The stable code.
    pub code: RefusalCode,
    /// One sentence, never empty.
    pub message: String,
    /// Why the runtime failed, where that is known.
    pub cause: Option<RuntimeCause>,
}

/// The form on the wire.
#[derive(Debug, Serialize, Deserialize)]
struct Body {
    error: Detail,
    /// The message once more, for clients that look for it there.
    #[serde(default)]
    detail: Value,
}

#[derive(Debug, Serialize, Deserialize)]
struct Detail {
    code: RefusalCode,
    message: String,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "known")]
    cause: Option<RuntimeCause>,
}

/// A cause; one that is not known here is none.
fn known<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<RuntimeCause>, D::Error> {
    Value::deserialize(deserializer).map(|value| RuntimeCause::deserialize(value).ok())
}

impl Refusal {
    /// A refusal with a sentence.
    pub fn new(status: u16, code: RefusalCode, message: impl Into<String>) -> Self {
        Self { status, code, message: message.into(), cause: None }
    }

    /// The body to answer with. `field`: which part of the request is wrong.
    pub fn body(&self, field: Option<&str>) -> Value {
        let detail = match self.status {
            422 => {
                let place: Vec<&str> = std::iter::once("body").chain(field).collect();
                json!([{"loc": place, "msg": self.message, "type": "value_error"}])
            }
            _ => json!(self.message),
        };
        let error = Detail { code: self.code, message: self.message.clone(), cause: self.cause };
        json!(Body { error, detail })
    }

    /// Reads a body; whatever it is, there is a refusal.
    pub fn read(status: u16, body: &[u8]) -> Self {
        match serde_json::from_slice(body) {
            Ok(Body { error: Detail { code, message, cause }, .. }) if !message.trim().is_empty() => {
                Self { status, code, message, cause }
            }
            _ => Self::new(status, RefusalCode::Unknown, WITHOUT_REASON),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_survives_the_wire() {
        for code in RefusalCode::ALL {
            assert_eq!(RefusalCode::named(code.as_str()), *code);
            let refusal = Refusal { cause: Some(RuntimeCause::NotStarted), ..Refusal::new(422, *code, "no") };
            let body = refusal.body(Some("timeout"));
            assert_eq!(body["detail"][0]["loc"], json!(["body", "timeout"]));
            assert_eq!(Refusal::read(422, body.to_string().as_bytes()), refusal);
        }
    }

    #[test]
    fn whatever_comes_is_a_refusal() {
        let unknown = Refusal::new(500, RefusalCode::Unknown, WITHOUT_REASON);
        for body in ["", "no JSON", "[]", r#"{"error":{"code":"io_error","message":" "}}"#] {
            assert_eq!(Refusal::read(500, body.as_bytes()), unknown, "{body}");
        }
        let newer = br#"{"error":{"code":"from_tomorrow","message":"no","cause":"new"}}"#;
        assert_eq!(Refusal::read(500, newer), Refusal::new(500, RefusalCode::Unknown, "no"));
    }
}
