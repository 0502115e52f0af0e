//! What a model reads after a run: logs, then the value or the error with its frame and one line of advice.

use cove_core::{CodeOutput, ErrorCode, ExecutorError, shorten_chars};
use serde_json::Value;

/// Longest text that is handed to a model unless the caller says otherwise: about 5,000 tokens.
pub const MODEL_TEXT_LIMIT: usize = 20_000;

/// The text for a run that came to its end.
pub fn success_text(output: &CodeOutput, limit_chars: usize) -> String {
    let value = match &output.output {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let logs = shorten_chars(&output.logs, limit_chars);
    let value = shorten_chars(&value, limit_chars);
    let notes: String = output.warnings.iter().map(|warning| format!("\nNote: {warning}")).collect();
    format!("Execution logs:\n{logs}\nLast output from code snippet:\n{value}{notes}")
}

/// The text for a run that failed.
pub fn failure_text(error: &ExecutorError, limit_chars: usize) -> String {
    let mut text = String::new();
    if !error.logs.is_empty() {
        text.push_str("Execution logs:\n");
        text.push_str(&shorten_chars(&error.logs, limit_chars));
        text.push('\n');
    }
    text.push_str(&shorten_chars(&error.message, limit_chars));
    let detail = |key: &str| error.details.as_ref().and_then(|details| details.get(key)).and_then(Value::as_str);
    if let Some(frame) = detail("frame") {
        text.push('\n');
        text.push_str(frame);
    }
    text.push('\n');
    text.push_str(detail("hint").unwrap_or_else(|| advice(error.code)));
    text
}

/// One line that says what to do next.
fn advice(code: ErrorCode) -> &'static str {
    match code {
        ErrorCode::SesInitFailed => "No code can run here until the host is repaired; do not try again.",
        ErrorCode::AstLintViolation => "Nothing ran. Fix the marked line and send the whole snippet again.",
        ErrorCode::ImportNotAllowed => "Nothing was imported. Use what is there, or one of the authorised modules.",
        ErrorCode::ExecTimeout => "The session's variables are lost. Do less in one snippet, and set them up again.",
        ErrorCode::MaxOpsExceeded => {
            "A loop ran too often; variables are kept. Check its end, or work in smaller pieces."
        }
        ErrorCode::MemoryLimit => "The session's variables are lost. Hold less data at a time.",
        ErrorCode::RuntimeException => {
            "Variables set before the marked line are kept. Fix the error and continue from there."
        }
        ErrorCode::ToolProxyFail => "The tool failed, the session is unharmed. Check the arguments or catch the error.",
        ErrorCode::InvalidState => "The executor cannot take this call now.",
        ErrorCode::CleanupFailed => "The executor is gone. Create a new executor.",
        ErrorCode::EngineCrashed => {
            "This code has triggered a bug in the engine, and its variables are lost. Write the code differently."
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_texts_are_the_contracts() {
        let output = CodeOutput {
            output: json!({"a": 1}),
            logs: "one\ntwo".into(),
            is_final_answer: false,
            warnings: Vec::new(),
        };
        assert_eq!(success_text(&output, 100), "Execution logs:\none\ntwo\nLast output from code snippet:\n{\"a\":1}");
        let lossy = CodeOutput { output: json!({}), warnings: vec!["a Map".into()], ..output };
        assert!(success_text(&lossy, 100).ends_with("snippet:\n{}\nNote: a Map"));
        let mut error = ExecutorError::new(ErrorCode::RuntimeException, "TypeError: x is null", "one");
        error.details = Some(json!({"frame": " 1 | x.y\n   | ^"}));
        let text = failure_text(&error, 100);
        assert!(text.starts_with("Execution logs:\none\nTypeError: x is null\n 1 | x.y\n   | ^\nVariables"), "{text}");
    }
}
