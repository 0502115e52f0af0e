//! What a tool answers, in the JSON that every door passes on unchanged.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One block of an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum Content {
    /// Text for the model.
    Text {
        /// The text.
        text: String,
    },
    /// A picture for the model.
    #[serde(rename_all = "camelCase")]
    Image {
        /// `image/png`, …
        mime_type: String,
        /// Base64.
        data: String,
    },
}

/// A tool's answer: blocks for the model, and facts for programs where there are any.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolResult {
    /// What the model gets to see.
    pub content: Vec<Content>,
    /// What a program may want to know besides. `plainBytes`, where it is: only the first so many bytes of the text are
    /// the file's or the list's; the rest are words of the tool's own. `nextOffset`: the line at which `read` goes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
}

impl ToolResult {
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self { content: vec![Content::Text { text: text.into() }], details: None }
    }

    pub(crate) fn image(text: String, mime_type: &str, bytes: &[u8]) -> Self {
        let image = Content::Image { mime_type: mime_type.to_owned(), data: STANDARD.encode(bytes) };
        Self { content: vec![Content::Text { text }, image], details: None }
    }

    /// An answer that only a program reads.
    pub(crate) const fn fact(details: Value) -> Self {
        Self { content: Vec::new(), details: Some(details) }
    }

    pub(crate) fn with_details(mut self, details: Value) -> Self {
        self.details = Some(details);
        self
    }

    /// The first text block; the whole answer of every tool but a picture's `read`.
    pub fn first_text(&self) -> &str {
        self.content
            .iter()
            .find_map(|block| if let Content::Text { text } = block { Some(text.as_str()) } else { None })
            .unwrap_or_default()
    }

    /// As JSON for guest code, which wants the text: the engines let such an answer be used like a string, without
    /// the words of the tool's own. What the guest sees of it as an object is the same.
    pub fn for_code(mut answer: Value) -> Value {
        if answer["content"].as_array().is_some_and(Vec::is_empty) {
            return answer;
        }
        let details = &answer["details"];
        let text = answer["content"][0]["text"].as_str().unwrap_or_default();
        let bytes = details["plainBytes"].as_u64().and_then(|bytes| usize::try_from(bytes).ok());
        let plain = bytes.and_then(|bytes| text.get(..bytes)).unwrap_or(text);
        let reached = |limit: &str| !details[limit].is_null();
        let truncated = ["truncation", "nextOffset", "matchLimitReached", "resultLimitReached", "entryLimitReached"];
        let mark = serde_json::json!({
            "length": plain.encode_utf16().count(),
            "truncated": truncated.into_iter().any(reached),
            "nextOffset": details["nextOffset"],
        });
        if let Some(fields) = answer.as_object_mut() {
            fields.insert(cove_core::TEXT_KEY.to_owned(), mark);
        }
        answer
    }

    /// As JSON.
    pub fn to_json(&self) -> Value {
        // Strings, numbers and lists: nothing in here can fail to be JSON.
        serde_json::to_value(self).unwrap_or(Value::Null)
    }
}
