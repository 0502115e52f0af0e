//! How the process ends: one number per kind of end, the same for every command.

use std::process::ExitCode;

use cove_core::{ExportFault, FaultKind, RunReport};

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
    /// The end that a run's report means.
    pub(crate) fn of(report: &RunReport) -> Self {
        let fault = match &report.result {
            Ok(finished) => {
                return match finished.canvas_error.as_ref().map(|error| error.by) {
                    None => Self::Ok,
                    Some(ExportFault::Drawing) => Self::Guest,
                    Some(ExportFault::Store) => Self::Host,
                };
            }
            Err(fault) => fault,
        };
        match fault.kind {
            FaultKind::Syntax | FaultKind::Exception | FaultKind::Tool | FaultKind::NotSerializable => Self::Guest,
            FaultKind::Refused | FaultKind::ImportNotAllowed | FaultKind::BlockedCode => Self::Refused,
            FaultKind::Timeout => Self::Deadline,
            FaultKind::MaxOperations | FaultKind::Memory | FaultKind::ResultTooLarge | FaultKind::CodeTooLarge => {
                Self::Limit
            }
            FaultKind::InvalidArgs => Self::Usage,
            FaultKind::CanvasNotAvailable
            | FaultKind::EngineLost
            | FaultKind::EngineCrashed
            | FaultKind::BrowserNotAvailable
            | FaultKind::PageCreationFailed => Self::Host,
        }
    }
}

#[cfg(test)]
mod tests {
    use cove_core::{Fault, Finished, PictureFailure, SessionFate};

    use super::*;

    #[test]
    fn whose_trouble_it_is_decides() {
        let export = |error| Ok(Finished { canvas_error: Some(error), ..Finished::default() });
        let failed = |kind| Err(Fault::new(kind, ""));
        for (result, expected) in [
            (export(PictureFailure::drawing("")), Exit::Guest),
            (export(PictureFailure::store("")), Exit::Host),
            (failed(FaultKind::Exception), Exit::Guest),
            (failed(FaultKind::EngineCrashed), Exit::Host),
            (failed(FaultKind::Memory), Exit::Limit),
            (failed(FaultKind::CodeTooLarge), Exit::Limit),
            (failed(FaultKind::BlockedCode), Exit::Refused),
            (failed(FaultKind::InvalidArgs), Exit::Usage),
            (failed(FaultKind::BrowserNotAvailable), Exit::Host),
        ] {
            let report = RunReport::new(result, SessionFate::Usable);
            assert_eq!(Exit::of(&report), expected, "{report:?}");
        }
    }
}
