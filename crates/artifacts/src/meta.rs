//! The metadata beside a picture: what other programs know the picture by, so its form never changes.

use cove_core::ArtifactId;
use serde::{Deserialize, Serialize};

/// Which engine drew a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PictureSource {
    /// Chrome.
    BrowserCanvas,
    /// The embedded engine.
    Canvas,
}

/// What the caller knows about a picture; id and time are the store's to give.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PictureMeta {
    /// The message that the run belongs to.
    pub message_id: Option<String>,
    /// The agent that the run belongs to.
    pub agent_id: Option<String>,
    /// Pixels.
    pub width: u32,
    /// Pixels.
    pub height: u32,
    /// Which engine drew it.
    pub source: PictureSource,
}

/// The `.meta` file: these keys, in this order, as JSON indented by two.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Metadata {
    /// The artifact's id.
    pub id: ArtifactId,
    /// `.png`
    pub extension: String,
    /// `image`
    #[serde(rename = "type")]
    pub kind: String,
    /// ISO-8601 with milliseconds, in UTC.
    pub created_at: String,
    /// The message that the run belongs to.
    pub message_id: Option<String>,
    /// The agent that the run belongs to.
    pub agent_id: Option<String>,
    /// Pixels.
    pub width: u32,
    /// Pixels.
    pub height: u32,
    /// Which engine drew it.
    pub source: PictureSource,
}

impl Metadata {
    pub(crate) fn new(id: ArtifactId, meta: PictureMeta, now: jiff::Timestamp) -> Self {
        let PictureMeta { message_id, agent_id, width, height, source } = meta;
        Self {
            id,
            extension: ".png".to_owned(),
            kind: "image".to_owned(),
            created_at: format!("{now:.3}"),
            message_id,
            agent_id,
            width,
            height,
            source,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_the_contracts() {
        let now: jiff::Timestamp = "2026-01-02T03:04:05.0069Z".parse().unwrap();
        let meta = PictureMeta {
            message_id: Some("m-1".to_owned()),
            agent_id: None,
            width: 800,
            height: 600,
            source: PictureSource::BrowserCanvas,
        };
        let id = "a1b2c3d4-e5f6-4890-abcd-ef1234567890".parse().unwrap();
        let expected = r#"{
  "id": "a1b2c3d4-e5f6-4890-abcd-ef1234567890",
  "extension": ".png",
  "type": "image",
  "createdAt": "2026-01-02T03:04:05.006Z",
  "messageId": "m-1",
  "agentId": null,
  "width": 800,
  "height": 600,
  "source": "browser-canvas"
}"#;
        let metadata = Metadata::new(id, meta, now);
        assert_eq!(serde_json::to_string_pretty(&metadata).unwrap(), expected);
        assert_eq!(serde_json::from_str::<Metadata>(expected).unwrap(), metadata);
        // A moment on the full second still has its three digits.
        let whole: jiff::Timestamp = "2026-01-02T03:04:05Z".parse().unwrap();
        assert_eq!(format!("{whole:.3}"), "2026-01-02T03:04:05.000Z");
    }
}
