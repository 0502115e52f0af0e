//! The result of a run, in the form that all of Ship's results have.

use std::time::Instant;

use cove_core::{Effects, FaultKind, Finished, Retry, RunReport, SessionFate, ToolErrorCode};
use cove_executor::join_logs;
use serde_json::{Value, json};

/// Where pictures are, as seen from the workspace.
pub(super) const PICTURES: &str = "artifacts";

/// A run that was given up with whatever it was doing: its session's state is gone, and nobody knows what its tools did.
pub(super) fn given_up(message: impl Into<String>) -> RunReport {
    RunReport {
        fate: SessionFate::Lost,
        effects: Effects::Unknown,
        ..RunReport::refused(FaultKind::EngineLost, message)
    }
}

/// The JSON of a report. `session` is the one that the run was asked to run in.
pub(super) fn result_of(report: &RunReport, session: Option<&str>, begin: Instant) -> Value {
    let logs = join_logs(report);
    let (result, images, error) = match &report.result {
        Ok(Finished { value, canvas_error: Some(error), .. }) => {
            let told = json!({"error": ToolErrorCode::CanvasExportFailed, "message": error.message});
            (value, Vec::new(), Some((error.message.as_str(), told)))
        }
        Ok(Finished { value, images, .. }) => {
            (value, images.iter().map(|image| format!("{PICTURES}/{}", image.file_name)).collect(), None)
        }
        Err(fault) => (&Value::Null, Vec::new(), Some((fault.message.as_str(), fault.to_json()))),
    };
    let mut output = logs.clone();
    if !result.is_null() {
        if !output.is_empty() {
            output.push('\n');
        }
        match result {
            Value::String(text) => output.push_str(text),
            other => output.push_str(&other.to_string()),
        }
    }
    let (message, error) = error.unzip();
    json!({
        "success": report.result.is_ok(),
        "output": output,
        "error": message,
        "data": {
            "result": result,
            "images": images,
            "logs": logs,
            "logs_truncated": report.logs_truncated,
            "engine": report.engine,
            "error": error,
            "is_final_answer": report.is_final_answer(),
            "session": session,
            "usage": report.usage,
            "effects": report.effects,
            "retry": Retry::from(report.effects),
            "warnings": report.warnings,
        },
        "timed_out": report.fault().is_some_and(|fault| fault.kind == FaultKind::Timeout),
        "state_lost": report.fate == SessionFate::Lost,
        "execution_time_ms": u64::try_from(begin.elapsed().as_millis()).unwrap_or(u64::MAX),
    })
}
