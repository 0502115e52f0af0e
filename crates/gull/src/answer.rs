//! The answer to a command that timed out.

use cove_core::Deadline;
use cove_runtime_api::BrowserAnswer;

/// The answer to a command that ran out of time before it was begun.
pub(crate) fn timed_out(deadline: Deadline) -> BrowserAnswer {
    let mut answer = BrowserAnswer::default();
    answer.time_out(timed_out_words(deadline));
    answer
}

/// The contract's own sentence.
pub(crate) fn timed_out_words(deadline: Deadline) -> String {
    // To the millisecond: what is left of a batch's time has nine digits.
    format!("Command timed out after {}s", (deadline.budget().as_secs_f64() * 1e3).round() / 1e3)
}
