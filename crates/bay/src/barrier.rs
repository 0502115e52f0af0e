//! Which limit or wall ended or refused an execution, from what its engine, its runtime or Bay itself says.
//!
//! Only what is a field or a code counts, never a sentence: a guest writes those. What a program was refused and dealt with
//! itself, such as a host that it may not reach, is the program's own.

use cove_api::{Barrier, BayError, BrowserCause, BrowserStep, ErrorCode, StopCause, Stopped};
use cove_core::FaultKind;

/// Of a program that a runtime ran.
pub(crate) fn of_process(timed_out: bool, stopped: Option<&Stopped>) -> Option<Barrier> {
    match stopped.map(|stopped| stopped.cause) {
        Some(StopCause::MemoryLimit) => Some(Barrier::MemoryLimit),
        Some(StopCause::DiskLimit) => Some(Barrier::DiskLimit),
        None => timed_out.then_some(Barrier::TimeLimit),
    }
}

/// Of JavaScript.
pub(crate) fn of_fault(kind: FaultKind) -> Option<Barrier> {
    match kind {
        FaultKind::Timeout => Some(Barrier::TimeLimit),
        FaultKind::MaxOperations => Some(Barrier::StepLimit),
        FaultKind::Memory => Some(Barrier::MemoryLimit),
        FaultKind::ResultTooLarge | FaultKind::CodeTooLarge => Some(Barrier::SizeLimit),
        FaultKind::Refused | FaultKind::ImportNotAllowed | FaultKind::BlockedCode => Some(Barrier::NotAllowed),
        FaultKind::Syntax
        | FaultKind::Exception
        | FaultKind::Tool
        | FaultKind::NotSerializable
        | FaultKind::CanvasNotAvailable
        | FaultKind::EngineLost
        | FaultKind::EngineCrashed
        | FaultKind::InvalidArgs
        | FaultKind::BrowserNotAvailable
        | FaultKind::PageCreationFailed => None,
    }
}

/// Of the first command of the browser that failed.
pub(crate) fn of_steps(steps: &[BrowserStep]) -> Option<Barrier> {
    match steps.iter().find(|step| step.exit_code != 0)?.cause? {
        BrowserCause::TimedOut | BrowserCause::Held => Some(Barrier::TimeLimit),
        BrowserCause::NotAllowed | BrowserCause::HostNotAllowed => Some(Barrier::NotAllowed),
        // The browser's words say so, and a page can write those.
        BrowserCause::HostNotReached | BrowserCause::NotOnPage => None,
        BrowserCause::NotStarted => None,
    }
}

/// Of a run that Bay refused, or gave up.
pub(crate) fn of_error(error: &BayError) -> Option<Barrier> {
    match error.code {
        ErrorCode::Timeout => Some(Barrier::TimeLimit),
        ErrorCode::InvalidPath | ErrorCode::Forbidden => Some(Barrier::NotAllowed),
        _ => None,
    }
}
