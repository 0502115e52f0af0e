//! Faults in the words of the contracts, and where in the user's own source they come from.

use cove_core::{Fault, FaultKind, NetworkCause, NoJson, Position};
use cove_script::{ColumnUnit, Prepared, code_frame};

use crate::cdp::ExceptionDetails;
use crate::message::{Thrown, ThrownKind};
use crate::tab_events::TabEnd;

/// More than any text that the preparation puts before a word of the user's.
const INSERTED_COLUMNS: u32 = 64;

/// What Chrome says of every request that had no answer.
const NO_FETCH: &str = "Failed to fetch";

/// Why a value has no JSON form, by Chrome's own words.
pub(crate) fn no_json(said: &str) -> NoJson {
    if said.contains("serialize a BigInt") {
        NoJson::BigInt
    } else if said.contains("circular structure") {
        NoJson::Cycle
    } else {
        NoJson::Other
    }
}

/// One unit's text as the engine sees it: the name it runs under and the way back to the user's lines.
pub(crate) struct Program<'a> {
    pub(crate) prepared: &'a Prepared,
    /// What the engine calls it: no other text of the session has this name.
    pub(crate) script_name: String,
    /// What the user calls it.
    pub(crate) file_name: &'a str,
}

impl Program<'_> {
    /// What was thrown, as a fault.
    pub(crate) fn thrown(&self, thrown: Thrown) -> Fault {
        let (kind, message) = match thrown.kind {
            ThrownKind::Tool => (FaultKind::Tool, thrown.message),
            ThrownKind::Import => (FaultKind::ImportNotAllowed, thrown.message),
            ThrownKind::Exception => (FaultKind::Exception, thrown.message),
        };
        let mut fault = self.at(Fault::new(kind, message), self.first_own_line(&thrown.stack));
        if kind == FaultKind::Exception {
            let error_type = fault.message.split_once(':').map(|(name, _)| name);
            if error_type == Some("TypeError") && fault.message.contains(NO_FETCH) {
                fault = fault.by_network(NetworkCause::Failed);
            } else {
                let own = self.prepared.own_member_hint(&fault.message);
                fault.hint = own.or_else(|| cove_script::hint(error_type, &fault.message));
            }
        }
        match thrown.module {
            Some(module) => fault.with("module", module),
            None => fault,
        }
    }

    /// What the engine itself said against the text, beyond what the preparation saw.
    pub(crate) fn refused(&self, details: ExceptionDetails) -> Fault {
        let (class, description) =
            details.exception.map(|thrown| (thrown.class_name, thrown.description)).unwrap_or_default();
        let kind = if class.as_deref() == Some("SyntaxError") { FaultKind::Syntax } else { FaultKind::Exception };
        let message = description.unwrap_or(details.text).lines().next().unwrap_or_default().to_owned();
        let position = self.locate(details.line_number + 1, details.column_number + 1);
        self.at(Fault::new(kind, message), position)
    }

    fn at(&self, mut fault: Fault, position: Option<Position>) -> Fault {
        fault.position = position;
        fault.frame =
            position.map(|position| code_frame(self.prepared.source(), position, &fault.message, self.file_name));
        fault
    }

    fn locate(&self, line: u32, column: u32) -> Option<Position> {
        // V8 often names the beginning of a statement, which may be a word of ours; the user's comes right after it.
        (column..column + INSERTED_COLUMNS).find_map(|column| self.prepared.locate(line, column, ColumnUnit::Utf16))
    }

    /// The topmost place of a stack trace that lies in the user's own text.
    fn first_own_line(&self, stack: &str) -> Option<Position> {
        stack.lines().find_map(|line| {
            let (_, place) = line.rsplit_once(self.script_name.as_str())?;
            let mut numbers = place.strip_prefix(':')?.split(|c: char| !c.is_ascii_digit()).map(str::parse::<u32>);
            self.locate(numbers.next()?.ok()?, numbers.next()?.ok()?)
        })
    }
}

/// A run that ended because its page did.
pub(crate) fn lost(end: TabEnd, memory_limit_bytes: u64, near_limit: bool) -> Fault {
    let lost = |message: &str| Fault::new(FaultKind::EngineLost, message);
    match end {
        TabEnd::Memory => Fault::memory(memory_limit_bytes),
        TabEnd::Crashed if near_limit => Fault::memory(memory_limit_bytes),
        TabEnd::Crashed => lost("the page's process ended unexpectedly"),
        TabEnd::Closed => Fault::new(FaultKind::Exception, "Error: the page closed itself"),
        TabEnd::BrowserEnded => lost("the browser ended unexpectedly"),
        TabEnd::Navigated => Fault::new(FaultKind::Exception, "Error: the page tried to navigate away from the run"),
        TabEnd::Flooded => {
            Fault::new(FaultKind::Exception, "Error: the page sent more messages than the host can buffer")
        }
    }
}
