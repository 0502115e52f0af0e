//! What a run has said, in the shape of the interface.

use cove_api::{EngineUsed, JavaScriptData, JavaScriptExecResult, JavaScriptImage};
use cove_core::{EngineReport, RunOutcome};
use cove_executor::Shelf;
use serde_json::Value;

/// How a run ended, whichever way it was run.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// The tool's answer.
    pub(crate) outcome: RunOutcome,
    /// Which engine ran, and why.
    pub(crate) engine: Option<EngineReport>,
    /// Console lines as one text.
    pub(crate) logs: String,
    /// What whoever asked should know besides.
    pub(crate) warnings: Vec<String>,
    /// Whether `final_answer` gave the value.
    pub(crate) is_final: bool,
}

impl Outcome {
    /// The answer; its place in the history and its time are filled in by the one who knows them.
    pub(crate) fn into_result(self, shelf: &Shelf) -> JavaScriptExecResult {
        let (value, images, error) = match &self.outcome {
            RunOutcome::Value(value) => (Some(value), Vec::new(), None),
            RunOutcome::Pictures { result, images } => {
                (Some(result), images.iter().map(|name| image(shelf, name)).collect(), None)
            }
            RunOutcome::ExportFailed { result, message, .. } => {
                (Some(result), Vec::new(), Some(format!("canvas_export_failed: {message}")))
            }
            RunOutcome::Failed { error, message, details } => {
                let mut text = format!("{error}: {message}");
                for more in ["frame", "hint"].iter().filter_map(|key| details.get(*key)).filter_map(Value::as_str) {
                    text.push('\n');
                    text.push_str(more);
                }
                (None, Vec::new(), Some(text))
            }
        };
        let mut output = self.logs.clone();
        if let Some(value) = value.filter(|value| !value.is_null()) {
            if !output.is_empty() {
                output.push('\n');
            }
            match value {
                Value::String(text) => output.push_str(text),
                other => output.push_str(&other.to_string()),
            }
        }
        let result = match &self.outcome {
            RunOutcome::Pictures { result, .. } => result.clone(),
            other => other.to_json(),
        };
        let engine = self.engine.map(|engine| EngineUsed { name: engine.name.to_string(), because: engine.because });
        let data = JavaScriptData {
            result,
            images,
            logs: self.logs,
            engine,
            is_final: self.is_final,
            warnings: self.warnings,
        };
        JavaScriptExecResult {
            success: error.is_none(),
            output,
            error,
            data: Some(data),
            execution_id: None,
            execution_time_ms: None,
            recorded: false,
            code: None,
        }
    }
}

fn image(shelf: &Shelf, name: &str) -> JavaScriptImage {
    let id = name.strip_suffix(".png").and_then(|id| id.parse().ok());
    let meta = id.and_then(|id| shelf.store().ok()?.meta(id).ok());
    JavaScriptImage {
        name: name.to_owned(),
        media_type: "image/png".to_owned(),
        width: meta.as_ref().map(|meta| meta.width),
        height: meta.as_ref().map(|meta| meta.height),
    }
}
