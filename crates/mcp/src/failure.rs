//! A failure as a model reads it: the code, one sentence, the place, and what to do now.
//!
//! Failures are answers, not protocol errors: clients show those to nobody, and a model that sees nothing tries the same
//! thing again.

use cove_api::BayError;
use serde_json::{Map, Value, json};

use crate::advice;

/// Why a tool failed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Failure {
    pub(crate) code: String,
    pub(crate) message: String,
    pub(crate) whose: Whose,
    pub(crate) next_step: String,
    /// `frame`, `line`, `column` and other facts.
    pub(crate) details: Map<String, Value>,
}

/// Whose words a message is. Those of code that may have fetched them stand between marks; ours never do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Whose {
    /// Cove's own.
    Ours,
    /// Of whatever ran.
    Guest,
}

impl Failure {
    pub(crate) fn new(code: &str, message: impl Into<String>, next_step: impl Into<String>) -> Self {
        Self {
            code: code.to_owned(),
            message: message.into(),
            whose: Whose::Ours,
            next_step: next_step.into(),
            details: Map::new(),
        }
    }

    /// What ran says itself why it failed.
    #[must_use]
    pub(crate) fn in_guests_words(mut self) -> Self {
        self.whose = Whose::Guest;
        self
    }

    /// The arguments are not what the tool's schema says.
    pub(crate) fn args(message: impl Into<String>) -> Self {
        Self::new("invalid_args", message, "Nothing was done. Correct the arguments and call again.")
    }

    /// For the structured answer.
    pub(crate) fn to_json(&self) -> Value {
        let mut error = self.details.clone();
        if error.contains_key("frame") {
            error.insert("frame".to_owned(), json!(self.frame().trim_start_matches('\n')));
        }
        error.insert("code".to_owned(), json!(self.code));
        error.insert("message".to_owned(), json!(self.message));
        error.insert("next_step".to_owned(), json!(self.next_step));
        Value::Object(error)
    }

    /// What went wrong, in whoever's words.
    pub(crate) fn words(&self) -> String {
        // A traceback begins with a place, indented like the others.
        let gap = if self.message.starts_with(' ') { "\n" } else { " " };
        format!("{}:{gap}{}", self.code, self.message.trim_end()) + &self.frame()
    }

    /// That it went wrong, where the words for it stand elsewhere.
    pub(crate) fn short_words(&self) -> String {
        format!("It failed ({}).", self.code) + &self.frame()
    }

    /// What to do now; never anybody else's words.
    pub(crate) fn advice(&self) -> String {
        if self.next_step.is_empty() { String::new() } else { format!("\nNext step: {}", self.next_step) }
    }

    /// The place in the code, without the message, which stands above already.
    fn frame(&self) -> String {
        let Some(frame) = self.details.get("frame").and_then(Value::as_str) else { return String::new() };
        let marked = |line: &str| {
            let rest = line.trim_start().strip_prefix('|').map(str::trim_start)?;
            rest.starts_with('^').then(|| line.len() - rest.len() + 1)
        };
        let mut text = String::new();
        for line in frame.lines() {
            text.push('\n');
            text.push_str(marked(line).map_or(line, |end| &line[..end]));
        }
        // An empty line of the frame below everything says nothing.
        let kept = text.strip_suffix("\n  |").map_or(text.len(), str::len);
        text.truncate(kept);
        text
    }
}

impl From<BayError> for Failure {
    fn from(error: BayError) -> Self {
        let mut failure = Self::new(error.code.as_str(), String::new(), advice::bay::next_step(&error));
        (failure.message, failure.details) = (error.message, error.details);
        failure
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_frame_does_not_say_it_again() {
        let mut failure = Failure::new("js_execution_failed", "TypeError: x\n", "Fix it.");
        let frame =
            " --> code.js:2:8\n  |\n1 | const a = '^ |';\n2 | return a.b\n  |        ^ TypeError: x\n3 | }\n  |";
        failure.details.insert("frame".to_owned(), frame.into());
        let expected = "js_execution_failed: TypeError: x\n --> code.js:2:8\n  |\n1 | const a = '^ |';\n2 | return a.b\n  |        ^\n3 | }";
        assert_eq!(failure.words(), expected);
        assert_eq!(failure.advice(), "\nNext step: Fix it.");
    }
}
