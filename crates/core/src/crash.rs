//! A crash of an engine's process: a fault of the engine, reported as such.
//!
//! It is not an exception of guest code: a native engine that reads hostile input may have a bug, and a caller must be
//! able to tell "the code failed" from "the engine crashed".

use serde::{Deserialize, Serialize};

use crate::{Fault, FaultKind};

/// The kinds of crash that are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Crash {
    /// It touched memory that is not there, or used up its stack.
    SegmentationFault,
    /// It touched memory that could not be had.
    BusError,
    /// A check of its own failed: a smashed stack, a damaged heap.
    Abort,
    /// It ran into something that is no instruction.
    IllegalInstruction,
    /// It divided by zero, or the like.
    ArithmeticError,
    /// It stopped at a trap of its own.
    Trap,
    /// It made a system call that its walls forbid.
    ForbiddenCall,
}

impl Crash {
    /// Every kind.
    pub const ALL: [Self; 7] = [
        Self::SegmentationFault,
        Self::BusError,
        Self::Abort,
        Self::IllegalInstruction,
        Self::ArithmeticError,
        Self::Trap,
        Self::ForbiddenCall,
    ];

    /// The crash behind a signal, by its number on Linux. Others (`SIGKILL`, `SIGTERM`) are sent, not suffered.
    pub const fn of_signal(signal: i32) -> Option<Self> {
        Some(match signal {
            4 => Self::IllegalInstruction,
            5 => Self::Trap,
            6 => Self::Abort,
            7 => Self::BusError,
            8 => Self::ArithmeticError,
            11 => Self::SegmentationFault,
            31 => Self::ForbiddenCall,
            _ => return None,
        })
    }

    /// The signal's name.
    pub const fn signal_name(self) -> &'static str {
        match self {
            Self::SegmentationFault => "SIGSEGV",
            Self::BusError => "SIGBUS",
            Self::Abort => "SIGABRT",
            Self::IllegalInstruction => "SIGILL",
            Self::ArithmeticError => "SIGFPE",
            Self::Trap => "SIGTRAP",
            Self::ForbiddenCall => "SIGSYS",
        }
    }

    const fn words(self) -> &'static str {
        match self {
            Self::SegmentationFault => "invalid memory access",
            Self::BusError => "bus error",
            Self::Abort => "it aborted",
            Self::IllegalInstruction => "illegal instruction",
            Self::ArithmeticError => "arithmetic error",
            Self::Trap => "trap",
            Self::ForbiddenCall => "forbidden system call",
        }
    }
}

impl std::fmt::Display for Crash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the engine crashed: {} ({})", self.words(), self.signal_name())
    }
}

impl Fault {
    /// The one sentence for a crash, what it said while it died if it said anything, and what to do now.
    pub fn engine_crashed(crash: Crash, last_words: Option<&str>) -> Self {
        let words = last_words.map(|words| format!(": {words}")).unwrap_or_default();
        let mut fault = Self::new(FaultKind::EngineCrashed, format!("{crash}{words}"))
            .with("cause", serde_json::to_value(crash).unwrap_or_default())
            .with("signal", crash.signal_name());
        fault.hint = Some(
            "This is a bug in Cove's engine, not in your code. The session is lost, other sessions are not. The \
             same code may be run once more if no tool was called; if it crashes again, change it, and report \
             it."
            .to_owned(),
        );
        fault
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_are_told_apart() {
        let known: Vec<Crash> = (0..65).filter_map(Crash::of_signal).collect();
        assert_eq!(known.len(), Crash::ALL.len());
        assert!(Crash::ALL.iter().all(|crash| known.contains(crash)));
        for sent in [0, 1, 2, 9, 13, 15, 19] {
            assert_eq!(Crash::of_signal(sent), None);
        }
    }

    #[test]
    fn a_crash_says_what_and_whose() {
        let fault = Fault::engine_crashed(Crash::Abort, Some("*** stack smashing detected ***"));
        assert_eq!(fault.message, "the engine crashed: it aborted (SIGABRT): *** stack smashing detected ***");
        assert_eq!(fault.details["cause"], "abort");
        assert_eq!(
            (fault.kind.tool_code().as_str(), fault.kind.executor_code().as_str()),
            ("engine_crashed", "ERR_ENGINE_CRASHED")
        );
        assert!(!fault.kind.executor_code().retryable());
    }
}
