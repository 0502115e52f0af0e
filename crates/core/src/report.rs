//! The report of a run, from the worker to the caller, and the four shapes in which `run_javascript` answers.
//!
//! Each crate on the way fills in its part: the worker the result, the engine the console and the cost, the executor
//! which engine ran and where the pictures are.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{Effects, EngineName, Fault, FaultKind, LogLine, ToolErrorCode};

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

/// A picture that is kept in the artifact store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptPicture {
    /// Its file in the store, `<uuid>.png`.
    pub file_name: String,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
}

/// Why a run has no pictures although it drew.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PictureFailure {
    /// One sentence.
    pub message: String,
    /// Whose trouble that is.
    pub by: ExportFault,
}

/// Whose trouble it is that a picture could not be had.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExportFault {
    /// The drawing's: too large, a blur of a million pixels, no picture at all.
    Drawing,
    /// The host's: no folder, a full store, a disk that fails.
    Store,
}

impl PictureFailure {
    /// The canvas could not be turned into a picture.
    pub fn drawing(message: impl Into<String>) -> Self {
        Self { message: message.into(), by: ExportFault::Drawing }
    }

    /// The picture could not be kept.
    pub fn store(message: impl Into<String>) -> Self {
        Self { message: message.into(), by: ExportFault::Store }
    }
}

/// A run that came to its end.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Finished {
    /// The value, as JSON; `undefined` is `null` here, as the contract has it.
    pub value: Value,
    /// The value as Node's REPL shows it, where that was asked for (`RunRequest::inspect`); `value` is `null` then. An answer
    /// that `final_answer` gave is always JSON.
    pub shown: Option<String>,
    /// Whether `final_answer` gave it.
    pub is_final_answer: bool,
    /// Pictures as the engine hands them over, the default canvas first; empty once they are kept.
    pub pictures: Vec<Picture>,
    /// Pictures that are kept.
    pub images: Vec<KeptPicture>,
    /// Why a canvas that was used has no picture, if so.
    pub canvas_error: Option<PictureFailure>,
}

/// What is said of the value of a script that has no `return`.
pub const LAST_VALUE: &str = "The code has no `return`: this is the value of its last expression. Write `return` before what is to be the value.";

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

/// How one run ended, and everything that is known about it.
#[derive(Debug, Clone, PartialEq)]
pub struct RunReport {
    /// How it ended.
    pub result: Result<Finished, Fault>,
    /// Which engine ran, and why; `None` when nothing ran at all, and in an engine's own report.
    pub engine: Option<EngineReport>,
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
    /// What else is to be known: a fallback, what of the value was lost on its way to JSON.
    pub warnings: Vec<String>,
}

impl RunReport {
    /// A report that says no more than how the run ended.
    pub fn new(result: Result<Finished, Fault>, fate: SessionFate) -> Self {
        Self {
            result,
            engine: None,
            logs: Vec::new(),
            logs_truncated: false,
            usage: Usage::default(),
            effects: Effects::None,
            fate,
            warnings: Vec::new(),
        }
    }

    /// A run that never began. No session has changed.
    pub fn refused(kind: FaultKind, message: impl Into<String>) -> Self {
        Self::new(Err(Fault::new(kind, message)), SessionFate::Usable)
    }

    /// What went wrong, if the code did not come to its end.
    pub fn fault(&self) -> Option<&Fault> {
        self.result.as_ref().err()
    }

    /// Whether `final_answer` gave the value.
    pub fn is_final_answer(&self) -> bool {
        self.result.as_ref().is_ok_and(|finished| finished.is_final_answer)
    }

    /// The answer of `run_javascript`, in one of the contract's four shapes: the value alone, the value with pictures, the
    /// value with the reason why its pictures are missing, or the failure.
    pub fn answer(&self) -> Value {
        match &self.result {
            Err(fault) => fault.to_json(),
            Ok(Finished { value, canvas_error: Some(error), .. }) => {
                json!({ "result": value, "error": ToolErrorCode::CanvasExportFailed, "message": error.message })
            }
            Ok(Finished { value, images, .. }) if images.is_empty() => value.clone(),
            Ok(Finished { value, images, .. }) => {
                let names: Vec<&str> = images.iter().map(|image| image.file_name.as_str()).collect();
                json!({ "result": value, "images": names })
            }
        }
    }
}

/// Which engine ran, and why that one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EngineReport {
    /// The engine that ran the code.
    pub name: EngineName,
    /// Why this one.
    pub reason: EngineReason,
    /// The same as one clause: `asked for`, `the program uses document`, `no browser was found`, …
    pub because: String,
    /// Whether another engine was asked for first.
    pub fallback_used: bool,
}

/// Why an engine ran the code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EngineReason {
    /// The caller named it.
    AskedFor,
    /// The caller named Chrome, and there is none.
    NoBrowser,
    /// `auto`: the program uses a name that only a browser has.
    NeedsBrowser,
    /// `auto`: the program needs nothing that only a browser has.
    NeedsNoBrowser,
    /// It is the engine of the session that the code ran in.
    Session,
    /// `auto`: the embedded engine failed for want of something that Chrome has, so Chrome was tried.
    MissingFeature,
    /// `auto`: the embedded engine ran out of stack, so Chrome was tried.
    StackOverflow,
    /// `auto`: the code had computed for longer than a second, so both engines ran it, and the faster one counts.
    LongComputation,
}

impl EngineReason {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::AskedFor,
        Self::NoBrowser,
        Self::NeedsBrowser,
        Self::NeedsNoBrowser,
        Self::Session,
        Self::MissingFeature,
        Self::StackOverflow,
        Self::LongComputation,
    ];

    /// As it is written in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::AskedFor => "asked_for",
            Self::NoBrowser => "no_browser",
            Self::NeedsBrowser => "needs_browser",
            Self::NeedsNoBrowser => "needs_no_browser",
            Self::Session => "session",
            Self::MissingFeature => "missing_feature",
            Self::StackOverflow => "stack_overflow",
            Self::LongComputation => "long_computation",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Position;

    #[test]
    fn reasons_are_written_as_they_say() {
        for reason in EngineReason::ALL {
            assert_eq!(serde_json::to_value(reason).unwrap(), reason.as_str());
        }
    }

    /// The four shapes, letter by letter.
    #[test]
    fn the_four_shapes_are_the_contracts() {
        let check = |result: Result<Finished, Fault>, expected: &str| {
            assert_eq!(RunReport::new(result, SessionFate::Usable).answer().to_string(), expected);
        };
        let value = |value: Value| Finished { value, ..Finished::default() };
        check(Ok(value(json!(42))), "42");
        check(Ok(value(Value::Null)), "null");
        let image = KeptPicture { file_name: "a.png".into(), width: 1, height: 1 };
        check(
            Ok(Finished { images: vec![image], ..value(json!("drawn")) }),
            r#"{"result":"drawn","images":["a.png"]}"#,
        );
        check(
            Ok(Finished { canvas_error: Some(PictureFailure::store("disk full")), ..value(json!(1)) }),
            r#"{"result":1,"error":"canvas_export_failed","message":"disk full"}"#,
        );
        let mut fault = Fault::new(FaultKind::Exception, "TypeError: x");
        fault.position = Some(Position { line: 2, column: 5 });
        fault.frame = Some("frame".into());
        check(
            Err(fault),
            r#"{"error":"js_execution_failed","message":"TypeError: x","line":2,"column":5,"frame":"frame"}"#,
        );
        check(
            Err(Fault::timeout(30)),
            r#"{"error":"execution_timeout","message":"Agent execution timed out after 30ms","timeoutMs":30}"#,
        );
        check(
            Err(Fault::result_too_large(10, 20)),
            r#"{"error":"result_too_large","message":"The result's JSON has 20 characters; the limit is 10","maxJsonLength":10,"jsonLength":20}"#,
        );
    }
}
