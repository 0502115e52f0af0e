//! What a run has reported, in the shape of the interface.

use cove_api::{EngineUsed, JavaScriptData, JavaScriptExecResult, JavaScriptImage};
use cove_core::{Finished, KeptPicture, RunReport};
use cove_executor::join_logs;
use serde_json::Value;

/// The result; its entry in the history and its time are filled in by the one who knows them.
pub(super) fn result_of(report: RunReport) -> JavaScriptExecResult {
    let logs = join_logs(&report);
    let error = match &report.result {
        Ok(Finished { canvas_error: None, .. }) => None,
        Ok(Finished { canvas_error: Some(error), .. }) => Some(format!("canvas_export_failed: {}", error.message)),
        Err(fault) => {
            let mut text = format!("{}: {}", fault.kind.tool_code(), fault.message);
            for more in [&fault.frame, &fault.hint].into_iter().flatten() {
                text.push('\n');
                text.push_str(more);
            }
            Some(text)
        }
    };
    let mut output = logs.clone();
    if let Ok(Finished { value, .. }) = &report.result
        && !value.is_null()
    {
        if !output.is_empty() {
            output.push('\n');
        }
        match value {
            Value::String(text) => output.push_str(text),
            other => output.push_str(&other.to_string()),
        }
    }
    let is_final = report.is_final_answer();
    let (result, images) = match report.result {
        Ok(Finished { value, images, canvas_error: None, .. }) => (value, images.into_iter().map(image).collect()),
        _ => (report.answer(), Vec::new()),
    };
    let engine = report.engine.map(|engine| EngineUsed {
        name: engine.name.to_string(),
        reason: engine.reason,
        because: engine.because,
    });
    let data = JavaScriptData { result, images, logs, engine, is_final, warnings: report.warnings };
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

fn image(picture: KeptPicture) -> JavaScriptImage {
    JavaScriptImage {
        name: picture.file_name,
        media_type: "image/png".to_owned(),
        width: Some(picture.width),
        height: Some(picture.height),
    }
}
