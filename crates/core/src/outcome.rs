//! What a run is given and what it leaves: the unit that an engine runs, its report, and the tool's four answer shapes.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::{Effects, EngineName, Fault, LogLine, ToolErrorCode};

/// How source text is taken.
#[derive(Debug, Clone, PartialEq)]
pub enum RunShape {
    /// A function body: `return` gives the value, `input` is bound. Nothing persists by itself.
    FunctionBody {
        /// The variable `input`; `None` is `undefined`.
        input: Option<Value>,
    },
    /// A function body as people write scripts: without a `return`, its last expression is its value, and a warning says so.
    Script {
        /// The variable `input`; `None` is `undefined`.
        input: Option<Value>,
    },
    /// A cell: the last expression is the value, top-level declarations persist to the next cell.
    Cell,
}

/// What is said of the value of a script that has no `return`.
pub const LAST_VALUE: &str = "The code has no `return`: this is the value of its last expression. Write `return` before what is to be the value.";

/// One piece of code to run in a session.
#[derive(Debug, Clone, PartialEq)]
pub struct RunUnit {
    /// The user's own source, JavaScript or TypeScript.
    pub code: String,
    /// How it is taken.
    pub shape: RunShape,
    /// Wall clock for this run.
    pub timeout_ms: u64,
    /// Loop iterations for this run; `None`: only the clock limits.
    pub max_operations: Option<u64>,
}

/// A picture that a run drew, already encoded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    /// The name that `getCanvas("name.png", …)` gave it; `None` for the default canvas.
    pub name: Option<String>,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// The PNG file.
    pub png: Vec<u8>,
}

/// A run that came to its end.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Finished {
    /// The value, as JSON; `undefined` is `null` here, as the contract has it.
    pub value: Value,
    /// Whether `final_answer` gave it.
    pub is_final_answer: bool,
    /// Pictures, the default canvas first.
    pub pictures: Vec<Picture>,
    /// Why a canvas that was used could not be exported, if so.
    pub canvas_error: Option<String>,
    /// What of the value was lost on its way to JSON, and how to write it instead.
    pub warnings: Vec<String>,
}

/// What a run has cost.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Usage {
    /// From "have the code" to "have the result", in milliseconds.
    pub wall_ms: f64,
    /// Loop iterations; 0 where they are not counted.
    pub operations: u64,
    /// Most memory that the guest's heap held, where the engine knows it.
    pub memory_bytes: u64,
    /// Tool calls made.
    pub tool_calls: u64,
}

/// Whether a session can be used again after a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionFate {
    /// Ready for the next run; its state is intact.
    Usable,
    /// Gone: the run had to be killed or the engine broke.
    Lost,
}

/// Everything an engine says about one run.
#[derive(Debug, Clone, PartialEq)]
pub struct RunReport {
    /// How it ended.
    pub result: Result<Finished, Fault>,
    /// Console lines in time order, whole lines, bounded by the session's limit.
    pub logs: Vec<LogLine>,
    /// Whether lines were dropped because of that limit.
    pub logs_truncated: bool,
    /// What it cost.
    pub usage: Usage,
    /// What it may have done to the outside.
    pub effects: Effects,
    /// Whether the session lives on.
    pub fate: SessionFate,
}

/// Which engine ran, and why that one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EngineReport {
    /// The engine that ran the code.
    pub name: EngineName,
    /// One clause: `asked for`, `the program uses document`, `no browser was found`, …
    pub because: String,
    /// Whether another engine was asked for first.
    pub fallback_used: bool,
}

/// Whose trouble it is that a picture could not be had.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExportFault {
    /// The drawing's: too large, a blur of a million pixels, no picture at all.
    Drawing,
    /// The host's: no folder, no room, a disk that fails.
    Store,
}

/// The answer of `run_javascript`, in one of the contract's four shapes.
#[derive(Debug, Clone, PartialEq)]
pub enum RunOutcome {
    /// Shape 1: the bare value.
    Value(Value),
    /// Shape 2: a value and pictures.
    Pictures {
        /// The code's own value.
        result: Value,
        /// File names in the artifact store, `<uuid>.png`.
        images: Vec<String>,
    },
    /// Shape 3: a value, and pictures that could not be saved.
    ExportFailed {
        /// The code's own value.
        result: Value,
        /// Why the pictures are missing.
        message: String,
        /// Whose trouble that is.
        by: ExportFault,
    },
    /// Shape 4: no value.
    Failed {
        /// Stable code.
        error: ToolErrorCode,
        /// One sentence, never empty.
        message: String,
        /// `line`, `column`, `frame`, `hint`, `timeoutMs`, … as the contract lists them.
        details: Map<String, Value>,
    },
}

impl RunOutcome {
    /// A failure without further fields.
    pub fn failed(error: ToolErrorCode, message: impl Into<String>) -> Self {
        Self::Failed { error, message: message.into(), details: Map::new() }
    }

    /// The JSON that the tool answers with.
    pub fn to_json(&self) -> Value {
        match self {
            Self::Value(value) => value.clone(),
            Self::Pictures { result, images } => json!({ "result": result, "images": images }),
            Self::ExportFailed { result, message, .. } => {
                json!({ "result": result, "error": ToolErrorCode::CanvasExportFailed, "message": message })
            }
            Self::Failed { error, message, details } => {
                let mut object = Map::new();
                object.insert("error".to_owned(), json!(error));
                object.insert("message".to_owned(), json!(message));
                for (key, value) in details {
                    object.entry(key.clone()).or_insert_with(|| value.clone());
                }
                Value::Object(object)
            }
        }
    }
}

impl From<Fault> for RunOutcome {
    fn from(fault: Fault) -> Self {
        let mut details = Map::new();
        if let Some(position) = fault.position {
            details.insert("line".to_owned(), position.line.into());
            details.insert("column".to_owned(), position.column.into());
        }
        if let Some(frame) = fault.frame {
            details.insert("frame".to_owned(), frame.into());
        }
        if let Some(hint) = fault.hint {
            details.insert("hint".to_owned(), hint.into());
        }
        details.extend(fault.details);
        Self::Failed { error: fault.kind.tool_code(), message: fault.message, details }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FaultKind, Position};

    /// The four shapes, letter by letter.
    #[test]
    fn the_four_shapes_are_the_contracts() {
        let check = |outcome: RunOutcome, expected: &str| assert_eq!(outcome.to_json().to_string(), expected);
        check(RunOutcome::Value(json!(42)), "42");
        check(RunOutcome::Value(Value::Null), "null");
        check(
            RunOutcome::Pictures { result: json!("drawn"), images: vec!["a.png".into()] },
            r#"{"result":"drawn","images":["a.png"]}"#,
        );
        check(
            RunOutcome::ExportFailed { result: json!(1), message: "disk full".into(), by: ExportFault::Store },
            r#"{"result":1,"error":"canvas_export_failed","message":"disk full"}"#,
        );
        let mut fault = Fault::new(FaultKind::Exception, "TypeError: x");
        fault.position = Some(Position { line: 2, column: 5 });
        fault.frame = Some("frame".into());
        check(
            fault.into(),
            r#"{"error":"js_execution_failed","message":"TypeError: x","line":2,"column":5,"frame":"frame"}"#,
        );
        check(
            Fault::timeout(30).into(),
            r#"{"error":"execution_timeout","message":"Agent execution timed out after 30ms","timeoutMs":30}"#,
        );
        check(
            Fault::result_too_large(10, 20).into(),
            r#"{"error":"result_too_large","message":"The result's JSON has 20 characters; the limit is 10","maxJsonLength":10,"jsonLength":20}"#,
        );
    }
}
