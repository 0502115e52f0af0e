//! What `cove run` prints: the value on standard output, everything else on standard error.

use std::io::Write as _;

use cove_core::{LogLevel, LogLine, Retry, RunOutcome};
use cove_executor::OneShot;
use serde_json::{Value, json};

use crate::show;
use crate::terminal::{self, DIM, PLAIN, RED, YELLOW};

use super::plan::View;

/// One object, one line.
pub(super) fn as_json(shot: &OneShot) -> std::io::Result<()> {
    let (result, images, export_error) = match &shot.outcome {
        RunOutcome::Value(value) => (value.clone(), Vec::new(), None),
        RunOutcome::Pictures { result, images } => (result.clone(), images.clone(), None),
        RunOutcome::ExportFailed { result, message, .. } => (result.clone(), Vec::new(), Some(message)),
        RunOutcome::Failed { .. } => {
            let object = json!({
                "ok": false,
                "error": shot.outcome.to_json(),
                "effects": shot.effects,
                "retry": Retry::from(shot.effects),
                "logs": shot.log_text,
                "engine": shot.engine,
                "usage": usage(shot),
                "warnings": shot.warnings,
            });
            return terminal::json_line(&object);
        }
    };
    let mut object = json!({
        "ok": true,
        "result": result,
        "images": images,
        "logs": shot.log_text,
        "engine": shot.engine,
        "usage": usage(shot),
        "warnings": shot.warnings,
    });
    if let Some(message) = export_error {
        object["error"] = json!({ "error": "canvas_export_failed", "message": message });
    }
    terminal::json_line(&object)
}

fn usage(shot: &OneShot) -> Value {
    json!({
        "wall_ms": (shot.usage.wall_ms * 1000.0).round() / 1000.0,
        "operations": shot.usage.operations,
        "memory_bytes": shot.usage.memory_bytes,
        "tool_calls": shot.usage.tool_calls,
    })
}

/// One console line, at the moment it was written. A closed standard error is nobody's reason to stop a run.
pub(crate) fn log_line(line: &LogLine) {
    let mut aside = terminal::aside();
    let _ = match line.level {
        LogLevel::Error => writeln!(aside, "{RED}{}{PLAIN}", line.text),
        LogLevel::Warn => writeln!(aside, "{YELLOW}{}{PLAIN}", line.text),
        _ => writeln!(aside, "{}", line.text),
    };
}

/// The value alone on standard output; pictures, warnings and errors on standard error.
pub(super) fn for_people(shot: &OneShot, view: &View) -> std::io::Result<()> {
    let artifacts = &view.artifacts;
    let mut aside = terminal::aside();
    for warning in &shot.warnings {
        writeln!(aside, "{YELLOW}warning:{PLAIN} {warning}")?;
    }
    match &shot.outcome {
        RunOutcome::Value(value) => value_line(value),
        RunOutcome::Pictures { result, images } => {
            value_line(result)?;
            let protocol = show::protocol(view.show);
            for image in images {
                if let Some(protocol) = protocol {
                    show::show(protocol, &artifacts.join(image));
                }
                writeln!(aside, "{DIM}picture{PLAIN} {}", artifacts.join(image).display())?;
            }
            Ok(())
        }
        RunOutcome::ExportFailed { result, message, .. } => {
            value_line(result)?;
            writeln!(aside, "{RED}canvas_export_failed:{PLAIN} {message}")
        }
        RunOutcome::Failed { error, message, details } => {
            writeln!(aside, "{RED}{error}:{PLAIN} {message}")?;
            let text = |key: &str| details.get(key).and_then(Value::as_str);
            if let Some(frame) = text("frame") {
                writeln!(aside, "{}", under_own_name(frame, view.file.as_deref()))?;
            }
            if let Some(hint) = text("hint") {
                writeln!(aside, "{DIM}hint:{PLAIN} {hint}")?;
            }
            Ok(())
        }
    }
}

/// A frame in the user's file says the file's own name, so that an editor can go there; a module keeps its own.
fn under_own_name(frame: &str, file: Option<&str>) -> String {
    match file {
        Some(file) => frame.replacen("--> code.js:", &format!("--> {file}:"), 1),
        None => frame.to_owned(),
    }
}

/// Pretty for a person, compact for a pipe: a program reads one line, an eye reads many.
fn value_line(value: &Value) -> std::io::Result<()> {
    if terminal::out_is_terminal() { terminal::json_lines(value) } else { terminal::json_line(value) }
}
