//! The answer to a run, in the form that all of Ship's answers have.

use std::time::Instant;

use cove_core::{
    Effects, EngineName, EngineReport, FaultKind, Retry, RunOutcome, RunReport, SessionFate, ToolErrorCode, Usage,
};
use cove_executor::{OneShot, join_logs};
use serde_json::{Value, json};

/// Where pictures are, as seen from the workspace.
pub(super) const PICTURES: &str = "artifacts";

/// Everything that an answer is made of.
pub(super) struct Parts {
    outcome: RunOutcome,
    fault: Option<FaultKind>,
    engine: Option<EngineReport>,
    logs: String,
    logs_truncated: bool,
    usage: Usage,
    effects: Effects,
    warnings: Vec<String>,
    session: Option<String>,
    state_lost: bool,
    is_final_answer: bool,
}

impl Parts {
    /// A run in a world of its own.
    pub(super) fn of_one_shot(shot: OneShot) -> Self {
        Self {
            outcome: shot.outcome,
            fault: shot.fault,
            engine: shot.engine,
            logs_truncated: false,
            logs: shot.log_text,
            usage: shot.usage,
            effects: shot.effects,
            warnings: shot.warnings,
            session: None,
            state_lost: false,
            is_final_answer: false,
        }
    }

    /// A run in a session. `keep` saves its pictures.
    pub(super) fn of_session(
        session: &str,
        report: RunReport,
        keep: impl FnOnce(cove_core::Finished) -> RunOutcome,
    ) -> Self {
        let logs = join_logs(&report);
        let is_final_answer = report.result.as_ref().is_ok_and(|finished| finished.is_final_answer);
        let mut warnings = Vec::new();
        let (outcome, fault) = match report.result {
            Ok(mut finished) => {
                warnings.append(&mut finished.warnings);
                (keep(finished), None)
            }
            Err(fault) => {
                let kind = fault.kind;
                (fault.into(), Some(kind))
            }
        };
        Self {
            outcome,
            fault,
            engine: Some(embedded("a session's engine")),
            logs,
            logs_truncated: report.logs_truncated,
            usage: report.usage,
            effects: report.effects,
            warnings,
            session: Some(session.to_owned()),
            state_lost: report.fate == SessionFate::Lost,
            is_final_answer,
        }
    }

    /// A run that never began.
    pub(super) fn refused(session: Option<&str>, message: impl Into<String>) -> Self {
        Self {
            outcome: RunOutcome::failed(ToolErrorCode::JsExecutionFailed, message),
            fault: Some(FaultKind::EngineLost),
            engine: None,
            logs: String::new(),
            logs_truncated: false,
            usage: Usage::default(),
            effects: Effects::None,
            warnings: Vec::new(),
            session: session.map(str::to_owned),
            state_lost: false,
            is_final_answer: false,
        }
    }

    /// What the room was doing is gone with it.
    pub(super) fn lost(mut self) -> Self {
        (self.state_lost, self.effects) = (true, Effects::Unknown);
        self
    }

    /// The JSON.
    pub(super) fn answer(self, begin: Instant) -> Value {
        let place = |image: String| format!("{PICTURES}/{image}");
        let (result, images, error) = match &self.outcome {
            RunOutcome::Value(value) => (value.clone(), Vec::new(), None),
            RunOutcome::Pictures { result, images } => {
                (result.clone(), images.iter().cloned().map(place).collect(), None)
            }
            RunOutcome::ExportFailed { result, message, .. } => {
                (result.clone(), Vec::new(), Some((ToolErrorCode::CanvasExportFailed, message.clone())))
            }
            RunOutcome::Failed { error, message, .. } => (Value::Null, Vec::new(), Some((*error, message.clone()))),
        };
        let failed = matches!(self.outcome, RunOutcome::Failed { .. });
        let mut output = self.logs.clone();
        if !failed && !result.is_null() {
            if !output.is_empty() {
                output.push('\n');
            }
            match &result {
                Value::String(text) => output.push_str(text),
                other => output.push_str(&other.to_string()),
            }
        }
        json!({
            "success": !failed,
            "output": output,
            "error": error.as_ref().map(|(_, message)| message),
            "data": {
                "result": result,
                "images": images,
                "logs": self.logs,
                "logs_truncated": self.logs_truncated,
                "engine": self.engine,
                "error": failed.then(|| self.outcome.to_json()).or_else(|| {
                    error.as_ref().map(|(code, message)| json!({"error": code, "message": message}))
                }),
                "is_final_answer": self.is_final_answer,
                "session": self.session,
                "usage": self.usage,
                "effects": self.effects,
                "retry": Retry::from(self.effects),
                "warnings": self.warnings,
            },
            "timed_out": self.fault == Some(FaultKind::Timeout),
            "state_lost": self.state_lost,
            "execution_time_ms": u64::try_from(begin.elapsed().as_millis()).unwrap_or(u64::MAX),
        })
    }
}

fn embedded(because: &str) -> EngineReport {
    EngineReport { name: EngineName::Embedded, because: because.to_owned(), fallback_used: false }
}
