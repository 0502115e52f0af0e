//! What a run prints: the value on standard output, everything else on standard error. `cove repl` prints the same way,
//! with values as Node shows them.

use std::io::Write as _;

use cove_core::{Fault, Finished, LogLevel, LogLine, Retry, RunReport, ToolErrorCode};
use cove_executor::join_logs;
use serde_json::{Value, json};

use crate::run_setup::Gallery;
use crate::show;
use crate::terminal::{self, DIM, PLAIN, RED, YELLOW};

use super::View;

/// One object, one line.
pub(super) fn as_json(report: &RunReport) -> std::io::Result<()> {
    let mut object = match &report.result {
        Err(fault) => json!({
            "ok": false,
            "error": fault.to_json(),
            "effects": report.effects,
            "retry": Retry::from(report.effects),
        }),
        Ok(finished) => {
            let images: Vec<&str> = finished.images.iter().map(|image| image.file_name.as_str()).collect();
            json!({ "ok": true, "result": finished.value, "images": images })
        }
    };
    object["logs"] = join_logs(report).into();
    object["engine"] = json!(report.engine);
    object["usage"] = usage(report);
    object["warnings"] = json!(report.warnings);
    if let Ok(Finished { canvas_error: Some(error), .. }) = &report.result {
        object["error"] = json!({ "error": ToolErrorCode::CanvasExportFailed, "message": error.message });
    }
    terminal::json_line(&object)
}

fn usage(report: &RunReport) -> Value {
    json!({
        "wall_ms": (report.usage.wall_ms * 1000.0).round() / 1000.0,
        "operations": report.usage.operations,
        "memory_bytes": report.usage.memory_bytes,
        "tool_calls": report.usage.tool_calls,
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
pub(super) fn for_people(report: &RunReport, view: &View) -> std::io::Result<()> {
    warnings(report)?;
    match &report.result {
        Ok(finished) => {
            value_line(&finished.value)?;
            pictures(finished, &view.gallery)
        }
        Err(fault) => failure(fault.kind.tool_code().as_str(), fault, view.file.as_deref()),
    }
}

/// What else is to be known.
pub(crate) fn warnings(report: &RunReport) -> std::io::Result<()> {
    let mut aside = terminal::aside();
    report.warnings.iter().try_for_each(|warning| writeln!(aside, "{YELLOW}warning:{PLAIN} {warning}"))
}

/// What went wrong, where, and what to do; under the code that its documentation has.
pub(crate) fn failure(code: &str, fault: &Fault, file: Option<&str>) -> std::io::Result<()> {
    let mut aside = terminal::aside();
    writeln!(aside, "{RED}{code}:{PLAIN} {}", fault.message)?;
    if let Some(frame) = &fault.frame {
        writeln!(aside, "{}", under_own_name(frame, file))?;
    }
    if let Some(hint) = &fault.hint {
        writeln!(aside, "{DIM}hint:{PLAIN} {hint}")?;
    }
    Ok(())
}

/// The pictures of a run: themselves, where the terminal can, and in any case their paths.
pub(crate) fn pictures(finished: &Finished, gallery: &Gallery) -> std::io::Result<()> {
    let mut aside = terminal::aside();
    if let Some(error) = &finished.canvas_error {
        return writeln!(aside, "{RED}canvas_export_failed:{PLAIN} {}", error.message);
    }
    let protocol = if finished.images.is_empty() { None } else { show::protocol(gallery.show) };
    for image in &finished.images {
        let file = gallery.folder.join(&image.file_name);
        if let Some(protocol) = protocol {
            show::show(protocol, &file);
        }
        writeln!(aside, "{DIM}picture{PLAIN} {}", file.display())?;
    }
    Ok(())
}

/// A frame in the user's file says the file's own name, so that an editor can go there; a module keeps its own.
fn under_own_name(frame: &str, file: Option<&str>) -> String {
    match file {
        Some(file) => frame.replacen("--> code.js:", &format!("--> {file}:"), 1),
        None => frame.to_owned(),
    }
}

/// Pretty for a person, compact for a pipe: a program reads one line, an eye reads many.
pub(crate) fn value_line(value: &Value) -> std::io::Result<()> {
    if terminal::out_is_terminal() { terminal::json_lines(value) } else { terminal::json_line(value) }
}
