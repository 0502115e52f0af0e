//! What stands in a frame: the envelope of commands, answers and events. What is inside stays text until it is needed.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

#[derive(Deserialize)]
pub(super) struct Incoming<'a> {
    pub(super) id: Option<u64>,
    #[serde(borrow)]
    pub(super) method: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) params: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) result: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) error: Option<CdpRefusal<'a>>,
    #[serde(borrow, rename = "sessionId")]
    pub(super) session_id: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
pub(super) struct CdpRefusal<'a> {
    #[serde(borrow)]
    pub(super) message: Cow<'a, str>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Attached<'a> {
    #[serde(borrow)]
    pub(super) session_id: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) target_info: TargetInfo<'a>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TargetInfo<'a> {
    #[serde(borrow)]
    pub(super) target_id: Cow<'a, str>,
}

#[derive(Deserialize)]
pub(super) struct Detached<'a> {
    #[serde(borrow, rename = "sessionId")]
    pub(super) session_id: Cow<'a, str>,
}

pub(super) fn number_after(text: &str, prefix: &str) -> Option<u64> {
    let digits = text.strip_prefix(prefix)?;
    digits.get(..digits.find(|c: char| !c.is_ascii_digit())?)?.parse().ok()
}

#[derive(Serialize)]
pub(super) struct Outgoing<'a> {
    pub(super) id: u64,
    pub(super) method: &'a str,
    pub(super) params: &'a Value,
    #[serde(rename = "sessionId", skip_serializing_if = "Option::is_none")]
    pub(super) session: Option<&'a str>,
}

pub(super) fn frame(id: u64, session: Option<&str>, method: &str, params: &Value) -> Vec<u8> {
    // Only a map with keys that are no strings could fail here, and there is none.
    let mut bytes = serde_json::to_vec(&Outgoing { id, method, params, session }).unwrap_or_default();
    bytes.push(0);
    bytes
}
