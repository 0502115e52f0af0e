//! How the process ends: one number per kind of end, the same for every command.

use std::process::ExitCode;

use cove_core::{ExportFault, FaultKind, RunOutcome, ToolErrorCode};

/// The ends a command can come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// 0
    Ok,
    /// 1: the guest's code failed.
    Guest,
    /// 2: the command line is wrong.
    Usage,
    /// 3: a limit was reached (steps, memory, size).
    Limit,
    /// 4: refused by policy before or while it ran.
    Refused,
    /// 5: the host has trouble of its own.
    Host,
    /// 124: the deadline passed, as `timeout(1)` says it.
    Deadline,
    /// 130: interrupted from the keyboard.
    Interrupted,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Ok => 0,
            Exit::Guest => 1,
            Exit::Usage => 2,
            Exit::Limit => 3,
            Exit::Refused => 4,
            Exit::Host => 5,
            Exit::Deadline => 124,
            Exit::Interrupted => 130,
        })
    }
}

impl Exit {
    /// The end that a run's answer means.
    pub(crate) fn of(outcome: &RunOutcome, fault: Option<FaultKind>) -> Self {
        match (outcome, fault) {
            (RunOutcome::Value(_) | RunOutcome::Pictures { .. }, _) => Self::Ok,
            (RunOutcome::ExportFailed { by: ExportFault::Drawing, .. }, _) => Self::Guest,
            (RunOutcome::ExportFailed { by: ExportFault::Store, .. }, _) => Self::Host,
            (RunOutcome::Failed { .. }, Some(kind)) => match kind {
                FaultKind::Syntax | FaultKind::Exception | FaultKind::Tool | FaultKind::NotSerializable => Self::Guest,
                FaultKind::Refused | FaultKind::ImportNotAllowed => Self::Refused,
                FaultKind::Timeout => Self::Deadline,
                FaultKind::MaxOperations | FaultKind::Memory | FaultKind::ResultTooLarge => Self::Limit,
                FaultKind::CanvasNotAvailable | FaultKind::EngineLost | FaultKind::EngineCrashed => Self::Host,
            },
            (RunOutcome::Failed { error, .. }, None) => match error {
                ToolErrorCode::InvalidArgs => Self::Usage,
                ToolErrorCode::CodeTooLarge => Self::Limit,
                ToolErrorCode::BlockedCode => Self::Refused,
                _ => Self::Host,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whose_trouble_it_is_decides() {
        let export = |by| RunOutcome::ExportFailed { result: 1.into(), message: String::new(), by };
        let failed = |code| RunOutcome::failed(code, "");
        for (outcome, fault, expected) in [
            (export(ExportFault::Drawing), None, Exit::Guest),
            (export(ExportFault::Store), None, Exit::Host),
            (failed(ToolErrorCode::JsExecutionFailed), Some(FaultKind::Exception), Exit::Guest),
            (failed(ToolErrorCode::EngineCrashed), Some(FaultKind::EngineCrashed), Exit::Host),
            (failed(ToolErrorCode::JsExecutionFailed), Some(FaultKind::Memory), Exit::Limit),
        ] {
            assert_eq!(Exit::of(&outcome, fault), expected, "{outcome:?}");
        }
    }
}
