//! The fonts that pictures are drawn with, tried by drawing: a letter that no font has looks like every other such letter,
//! and the emoji that the binary carries are black and white.

use std::time::Duration;

use cove_core::{Engine as _, RunRequest, SessionOptions};
use cove_embedded::EmbeddedEngine;
use serde::Serialize;
use serde_json::Value;

/// For the folders to be listed and three letters to be drawn.
const TRIAL: Duration = Duration::from_secs(5);

const CODE: &str = "\
const draw = (text) => {
  const context = new OffscreenCanvas(48, 48).getContext('2d');
  context.font = '32px sans-serif';
  context.fillText(text, 4, 38);
  return context.getImageData(0, 0, 48, 48).data;
};
const isColourful = (data) => {
  for (let at = 0; at < data.length; at += 4) if (data[at] !== data[at + 1] || data[at] !== data[at + 2]) return true;
  return false;
};
return { cjk: draw('漢').join() !== draw('語').join(), emoji: isColourful(draw('😀')) };";

/// What there is of fonts.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Fonts {
    /// Whether the machine has fonts of its own. Without, the built-in ones draw Latin letters.
    pub(crate) found: bool,
    /// Font files in the usual folders.
    pub(crate) files: usize,
    /// Whether Chinese and Japanese letters can be drawn.
    pub(crate) cjk: bool,
    /// Whether emoji are drawn in colour. The built-in ones are black and white, and few.
    pub(crate) emoji: bool,
    pub(crate) problem: Option<String>,
    pub(crate) next_step: Option<String>,
}

pub(crate) async fn fonts(engine: &EmbeddedEngine) -> Fonts {
    let look = async {
        let files = tokio::task::spawn_blocking(cove_embedded::system_font_files).await.unwrap_or_default();
        let mut session = engine.open(SessionOptions::one_shot()).await.map_err(|error| error.to_string())?;
        let report = session.run(&RunRequest { timeout_ms: 5_000, ..RunRequest::new(CODE) }).await;
        let _ = session.close().await;
        let finished = report.result.map_err(|fault| fault.message)?;
        Ok::<_, String>((files, finished.value))
    };
    let (files, drawn, problem) = match tokio::time::timeout(TRIAL, look).await {
        Ok(Ok((files, drawn))) => (files, drawn, None),
        Ok(Err(why)) => (0, Value::Null, Some(format!("letters could not be drawn: {why}"))),
        Err(_) => (0, Value::Null, Some(format!("no letter could be drawn within {} s", TRIAL.as_secs()))),
    };
    let (cjk, emoji) = (drawn["cjk"] == true, drawn["emoji"] == true);
    let next_step = (!missing(files > 0, cjk, emoji).is_empty()).then(|| "cove setup fonts".to_owned());
    Fonts { found: files > 0, files, cjk, emoji, problem, next_step }
}

impl Fonts {
    /// The packages of the system that have what is missing.
    pub(crate) fn missing(&self) -> Vec<&'static str> {
        missing(self.found, self.cjk, self.emoji)
    }
}

fn missing(found: bool, cjk: bool, emoji: bool) -> Vec<&'static str> {
    let kinds = [(found, "fonts-liberation"), (cjk, "fonts-noto-cjk"), (emoji, "fonts-noto-color-emoji")];
    kinds.into_iter().filter(|(there, _)| !there).map(|(_, package)| package).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_missing_is_installed() {
        assert!(missing(true, true, true).is_empty());
        assert_eq!(missing(true, false, true), ["fonts-noto-cjk"]);
        assert_eq!(missing(false, false, false), ["fonts-liberation", "fonts-noto-cjk", "fonts-noto-color-emoji"]);
    }

    /// The letters tell: with the built-in fonts alone there is neither.
    #[tokio::test]
    async fn letters_are_tried_by_drawing() {
        let alone = cove_embedded::EmbeddedOptions { system_fonts: false, ..Default::default() };
        let mut session = EmbeddedEngine::new(alone).open(SessionOptions::one_shot()).await.unwrap();
        let drawn = session.run(&RunRequest::new(CODE)).await.result.unwrap().value;
        assert_eq!(drawn, serde_json::json!({ "cjk": false, "emoji": false }));
    }
}
