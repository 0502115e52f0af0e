//! Answers as code wants them: the value itself, not the protocol's list of content.
//!
//! Structured content is the value. A single text is the value, too: parsed where it is JSON. Pictures, sounds and
//! resources are handles: their bytes stay here until code asks for them, and never pass through a model by themselves.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cove_core::bytes_to_json;
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};
use serde_json::{Map, Value, json};

/// Bytes that are kept for handles; the oldest make room for new ones.
const MAX_BYTES: usize = 64 << 20;

/// The longest failure that is told.
const FAILURE_CHARS: usize = 2_000;

/// What handles stand for.
#[derive(Debug, Default)]
pub(crate) struct Handles(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    next: u64,
    bytes: usize,
    all: VecDeque<(String, Blob)>,
}

/// Bytes and what they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blob {
    /// The media type.
    pub media_type: String,
    /// In base64, as the server sent them.
    pub data: String,
}

impl Handles {
    fn keep(&self, blob: Blob) -> String {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.next += 1;
        let name = format!("handle-{}", kept.next);
        kept.bytes += blob.data.len();
        kept.all.push_back((name.clone(), blob));
        while kept.bytes > MAX_BYTES {
            let Some((_, oldest)) = kept.all.pop_front() else { break };
            kept.bytes -= oldest.data.len();
        }
        name
    }

    /// What a handle stands for, if it is still kept.
    pub(crate) fn get(&self, name: &str) -> Option<Blob> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.all.iter().find(|(known, _)| known == name).map(|(_, blob)| blob.clone())
    }

    /// As code gets it: `{mimeType, data}` with its bytes.
    pub(crate) fn open(&self, name: &str) -> Result<Value, String> {
        let gone =
            || format!("there is no {name:?}: only the last {} MiB of pictures and files are kept", MAX_BYTES >> 20);
        let blob = self.get(name).ok_or_else(gone)?;
        let bytes = STANDARD.decode(&blob.data).map_err(|error| format!("{name:?} is not valid base64: {error}"))?;
        Ok(json!({"mimeType": blob.media_type, "data": bytes_to_json(&bytes)}))
    }
}

/// The value of an answer; `Err`: the tool says that it failed.
pub(crate) fn value(result: CallToolResult, output: Option<&Value>, handles: &Handles) -> Result<Value, String> {
    if result.is_error == Some(true) {
        let text = texts(&result.content);
        let text = if text.is_empty() { "it failed and says no more".to_owned() } else { text };
        return Err(text.chars().take(FAILURE_CHARS).collect());
    }
    if let Some(structured) = result.structured_content {
        let is_wrapped = output.is_some_and(|schema| only_result(schema).is_some());
        return Ok(match structured {
            Value::Object(mut fields) if is_wrapped && fields.len() == 1 => {
                fields.remove("result").unwrap_or(Value::Object(fields))
            }
            other => other,
        });
    }
    let mut parts: Vec<Value> = result.content.into_iter().map(|block| part(block, handles)).collect();
    Ok(match parts.len() {
        0 => Value::Null,
        1 => parts.remove(0),
        _ => Value::Array(parts),
    })
}

/// The type of what a schema wraps in `{result: …}`, as servers do for values that are no objects.
pub(crate) fn only_result(schema: &Value) -> Option<&Value> {
    let properties = schema.get("properties")?.as_object()?;
    properties.get("result").filter(|_| properties.len() == 1)
}

fn texts(content: &[ContentBlock]) -> String {
    let text = |block: &ContentBlock| match block {
        ContentBlock::Text(text) => Some(text.text.clone()),
        _ => None,
    };
    content.iter().filter_map(text).collect::<Vec<_>>().join("\n")
}

fn part(block: ContentBlock, handles: &Handles) -> Value {
    match block {
        ContentBlock::Text(text) => parsed(text.text),
        ContentBlock::Image(image) => blob("image", image.mime_type, image.data, handles),
        ContentBlock::Audio(audio) => blob("audio", audio.mime_type, audio.data, handles),
        ContentBlock::Resource(resource) => match resource.resource {
            ResourceContents::TextResourceContents { uri, mime_type, text, .. } => {
                json!({"type": "resource", "uri": uri, "mimeType": mime_type, "text": text})
            }
            ResourceContents::BlobResourceContents { uri, mime_type, blob: data, .. } => {
                let mut made = blob("resource", mime_type.unwrap_or_default(), data, handles);
                made["uri"] = json!(uri);
                made
            }
            _ => Value::Null,
        },
        other => serde_json::to_value(other).unwrap_or(Value::Null),
    }
}

/// A text that is JSON as a whole is what it says.
fn parsed(text: String) -> Value {
    let begin = text.trim_start();
    if begin.starts_with(['{', '['])
        && let Ok(value) = serde_json::from_str(&text)
    {
        return value;
    }
    Value::String(text)
}

fn blob(kind: &str, media_type: String, data: String, handles: &Handles) -> Value {
    let bytes = data.len() / 4 * 3;
    let mut made = Map::new();
    made.insert("type".to_owned(), json!(kind));
    made.insert("mimeType".to_owned(), json!(media_type));
    made.insert("bytes".to_owned(), json!(bytes));
    made.insert("handle".to_owned(), json!(handles.keep(Blob { media_type, data })));
    Value::Object(made)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(result: Value, output: Option<&Value>) -> Result<Value, String> {
        value(serde_json::from_value(result).unwrap(), output, &Handles::default())
    }

    #[test]
    fn the_value_is_what_code_gets() {
        let text = |text: &str| json!({"content": [{"type": "text", "text": text}]});
        let wrapped = json!({"properties": {"result": {"type": "number"}}});
        for (result, output, expected) in [
            (text("hello"), None, json!("hello")),
            (text("{\"a\": 1}"), None, json!({"a": 1})),
            (text("[not json"), None, json!("[not json")),
            (text("7"), None, json!("7")),
            (json!({"content": []}), None, json!(null)),
            (json!({"content": [{"type": "text", "text": "x"}], "structuredContent": {"b": 2}}), None, json!({"b": 2})),
            (json!({"content": [], "structuredContent": {"result": 3}}), Some(wrapped), json!(3)),
            (json!({"content": [], "structuredContent": {"result": 3}}), None, json!({"result": 3})),
            (
                json!({"content": [{"type": "text", "text": "x"}, {"type": "image", "data": "AAAA", "mimeType": "image/png"}]}),
                None,
                json!(["x", {"type": "image", "mimeType": "image/png", "bytes": 3, "handle": "handle-1"}]),
            ),
        ] {
            assert_eq!(answered(result.clone(), output.as_ref()).unwrap(), expected, "{result}");
        }
        let failed = json!({"content": [{"type": "text", "text": "no such file"}], "isError": true});
        assert_eq!(answered(failed, None).unwrap_err(), "no such file");
    }

    #[test]
    fn old_handles_make_room() {
        let handles = Handles::default();
        let big = |n: usize| Blob { media_type: "a/b".to_owned(), data: "A".repeat(n) };
        let (first, second) = (handles.keep(big(40 << 20)), handles.keep(big(40 << 20)));
        assert!(handles.get(&first).is_none() && handles.get(&second).is_some());
        assert!(handles.open(&first).unwrap_err().contains("64 MiB"));
    }
}
