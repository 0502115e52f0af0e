//! After code or a command that failed.

use std::time::Duration;

use cove_api::{PythonExecResult, ShellExecResult, StopCause, Stopped};
use cove_core::{Fault, NetworkCause};
use cove_files::FileErrorCode;
use serde_json::{Map, Value};

use super::{NO_HOST, files, nearest, nearest_word, out_of_time, reached_nobody, sentence};
use crate::time::ONE;

/// How a shell says that there is no such program.
const NO_COMMAND: &str = ": command not found";

/// Exit code of a shell that found no program, and of one that may not start it.
const NOT_FOUND: i32 = 127;
const NOT_STARTED: i32 = 126;

/// Exit code by which many programs say no.
const NO: i32 = 1;

/// Programs that agents call, for the nearest one. Whether it is there only the sandbox knows, so it is a question.
const PROGRAMS: &str = "awk base64 bash bunzip2 bzip2 cat chmod chown cmake curl date diff dirname echo file find gcc git \
    grep gunzip gzip head hostname iconv jq less ln ls make md5sum mkdir mktemp mv node npm openssl \
    patch perl pip3 printf python3 readlink realpath rsync sed sha256sum sleep sort sqlite3 split tail \
    tar touch tree uniq unzip wget which xargs xz zip";

/// JavaScript that failed.
pub(crate) struct JavaScript<'a> {
    pub(crate) code: &'a str,
    pub(crate) message: &'a str,
    pub(crate) source: &'a str,
    pub(crate) details: &'a Map<String, Value>,
    /// The engine's own advice, where it has one.
    pub(crate) hint: Option<&'a str>,
    /// Whether a browser was wanted and there is none.
    pub(crate) no_browser: bool,
    pub(crate) given: Duration,
}

/// What to do after JavaScript has failed.
pub(crate) fn javascript(failed: &JavaScript<'_>) -> String {
    let JavaScript { code, message, source, details, hint, no_browser, given } = *failed;
    let step = match code {
        "execution_timeout" => return out_of_time(given, ONE),
        "code_too_large" => "Put data into a file with `write` and read it in the code, or split the work.",
        "result_too_large" => "Return less, or write the result to a file with `await write({path, content})`.",
        "browser_not_available" | "page_creation_failed" => {
            "Use engine \"embedded\", or ask the user to install Chromium where Cove runs."
        }
        _ if no_browser => {
            "There is no browser here: write it without a page (`getCanvas` draws), or ask the user to install Chromium."
        }
        // The engine's advice is for those who can open a host.
        _ if Fault::network_cause(details) == Some(NetworkCause::Failed) => NO_HOST,
        // No call can bring modules along, so an `import()` in place of an `import` would fail as well.
        _ if details.contains_key("module") => {
            "No packages can be loaded here. Write it in plain JavaScript, or use execute_python or execute_shell."
        }
        _ if let Some(limit) = details.get("limitBytes").and_then(Value::as_u64) => {
            return format!(
                "Hold less than {} MiB in memory at once: work in parts, and drop what is done.",
                limit >> 20
            );
        }
        _ if let Some(step) = tool_step(details) => step,
        _ if !details.contains_key("frame") && hint.is_none() => "Fix the code and send all of it again.",
        _ if looks_like_python(source) => "This looks like Python: send it to execute_python.",
        "non_json_serializable_return" if hint.is_none() => "Return plain data: no cycles, no BigInt, no functions.",
        "canvas_export_failed" => "The value is there, the picture is not: draw it again, smaller.",
        "engine_crashed" if hint.is_none() => {
            "This code has triggered a bug in the engine. Run it once more if it called no tool; if it crashes \
             again, write it differently, and tell the user."
        }
        _ => match (hint, misspelt(message, "ReferenceError: ", " is not defined", source)) {
            (Some(hint), _) => return sentence(hint),
            (None, Some(near)) => return near,
            (None, None) => "Fix the marked line and send the whole code again.",
        },
    };
    step.to_owned()
}

/// After a tool that the code has called, by the tool's own code.
fn tool_step(details: &Map<String, Value>) -> Option<&'static str> {
    let code = details.get("toolCode").and_then(Value::as_str)?;
    // Of wrong arguments the message says all; and what ran before that call was done.
    let code = FileErrorCode::from_name(code).filter(|code| !matches!(code, FileErrorCode::InvalidArgs))?;
    files::next_step(code)
}

/// What was meant by a name that is not there, if the code has a name like it.
fn misspelt(message: &str, before: &str, after: &str, source: &str) -> Option<String> {
    let name = message.strip_prefix(before)?.split(after).next()?;
    nearest_word(name, source).map(|near| format!("Did you mean `{near}`?"))
}

fn looks_like_python(source: &str) -> bool {
    let block = |line: &str| {
        let first = line.split([' ', '(']).next().unwrap_or_default();
        matches!(first, "def" | "class" | "if" | "for" | "while" | "with" | "try:" | "elif" | "else:")
            && line.trim_end().ends_with(':')
    };
    source.lines().any(|line| block(line.trim_start()))
}

/// What to do after Python has failed.
pub(crate) fn python(done: &PythonExecResult, error: &str, source: &str, given: Duration) -> String {
    let mut step = String::new();
    if done.state_lost {
        step.push_str("Run imports and definitions again. ");
    }
    let last = error.trim_end().lines().last().unwrap_or_default();
    let near = misspelt(last, "NameError: name '", "' is not defined", source);
    let rest = match (&done.stopped, last) {
        _ if done.timed_out => &out_of_time(given, ONE),
        (Some(stopped), _) => at_limit(stopped),
        _ if reached_nobody(error) => NO_HOST,
        _ if done.state_lost => "Leave out what ended Python.",
        (_, last) if last.starts_with("SyntaxError") || last.starts_with("IndentationError") => {
            "Nothing of it ran. Fix that line and send all of it again."
        }
        (_, last) if last.starts_with("SystemExit") => {
            "Variables are kept. Leave the exit out: it ends this call only."
        }
        _ if near.is_some() => near.as_deref().unwrap_or_default(),
        (_, last) if last.starts_with("ModuleNotFoundError") => {
            "Use a module that is installed, or ask the user to install this one."
        }
        _ => "Variables set before the failing line are kept. Fix the error and continue from there.",
    };
    step + rest
}

/// What to do after a command has failed. `words`: all that it wrote.
pub(crate) fn shell(done: &ShellExecResult, words: &str, given: Duration) -> String {
    if done.timed_out {
        return out_of_time(given, ONE);
    }
    if let Some(stopped) = &done.stopped {
        return at_limit(stopped).to_owned();
    }
    match done.exit_code {
        Some(NOT_FOUND) if words.contains(NO_COMMAND) => unknown_command(words),
        Some(NOT_STARTED) => "Make it executable with `chmod +x`, or start it with its interpreter.".to_owned(),
        _ if reached_nobody(words) => NO_HOST.to_owned(),
        _ if done.signal.is_some() => "Look for what killed it: the command itself, or too little memory.".to_owned(),
        Some(NO) if words.trim().is_empty() => {
            "It wrote nothing. So end grep that finds nothing, diff and cmp of what differs, and a test that is false."
                .to_owned()
        }
        _ if words.trim().is_empty() => {
            "It wrote nothing: look up what this exit code of the command means.".to_owned()
        }
        _ => "Fix the command by what it wrote, and run it again.".to_owned(),
    }
}

fn unknown_command(words: &str) -> String {
    let before = words.lines().find_map(|line| line.split_once(NO_COMMAND)).map_or("", |(before, _)| before);
    let name = before.rsplit(": ").next().unwrap_or_default();
    match nearest(name, PROGRAMS.split(' ')) {
        Some(near) => format!("Did you mean `{near}`?"),
        None => "It is not installed: use another program, or ask the user to install it.".to_owned(),
    }
}

fn at_limit(stopped: &Stopped) -> &'static str {
    match stopped.cause {
        StopCause::MemoryLimit => "Use less memory at once, or ask the user for a profile with more.",
        StopCause::DiskLimit => "Write less, delete files that are no longer needed, or ask the user for more room.",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_name_is_answered_with_one_of_the_code() {
        let check = |source: &str, expected: Option<&str>| {
            let near = misspelt("ReferenceError: totl is not defined", "ReferenceError: ", " is not defined", source);
            assert_eq!(near.as_deref(), expected, "{source}");
        };
        check("const total = 1;\nreturn totl + 1", Some("Did you mean `total`?"));
        check("return totl + 1", None);
        check("return sum.total + totl", None);
    }

    #[test]
    fn python_is_told_from_javascript() {
        for (source, expected) in [
            ("def f():\n  return 1", true),
            ("for n in range(3):\n  print(n)", true),
            ("switch (a) { case 1:\n break }", false),
            ("for (const a of b) c()", false),
            ("class A {\n}", false),
        ] {
            assert_eq!(looks_like_python(source), expected, "{source}");
        }
    }

    #[test]
    fn an_unknown_command_is_answered_with_the_nearest() {
        assert_eq!(unknown_command("/bin/bash: line 1: pythn3: command not found"), "Did you mean `python3`?");
        assert!(unknown_command("bash: line 4: frobnicate: command not found\n").starts_with("It is not installed"));
    }
}
