//! `cove repl`: a session that stays open, for people who want to try something.

use std::path::PathBuf;

use cove_core::{Clock, CodeOutput, ExecutorError, ExecutorOptions, ExecutorState, LogLevel, Random};
use cove_executor::CodeExecutor;
use rustyline::error::ReadlineError;
use rustyline::history::FileHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Completer, Editor, Helper, Highlighter, Hinter};

use crate::args::Repl;
use crate::engines;
use crate::exit::Exit;
use crate::terminal::{self, DIM, PLAIN, RED, note};

const HELP: &str = "\
Type JavaScript or TypeScript. The last expression is shown; what you declare stays.
`await` works. An unfinished line continues on the next.
  .help   this text
  .reset  forget everything and begin anew
  .exit   leave (or Ctrl-D)";

pub(crate) fn repl(args: &Repl) -> anyhow::Result<Exit> {
    args.raw.apply();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let executor = CodeExecutor::new(engines::embedded(&args.walls, Vec::new(), true), options(args))?;
    runtime.block_on(executor.init())?;
    let mut editor: Editor<Lines, FileHistory> = Editor::new()?;
    editor.set_helper(Some(Lines));
    let history = history_file();
    if let Some(file) = &history {
        // A first start has no history yet.
        let _ = editor.load_history(file);
    }
    note!("{DIM}cove {} · embedded engine · .help for help{PLAIN}", env!("CARGO_PKG_VERSION"));
    loop {
        let text = match editor.readline("> ") {
            Ok(text) => text,
            Err(ReadlineError::Interrupted) => continue,
            Err(ReadlineError::Eof) => break,
            Err(error) => return Err(error.into()),
        };
        if text.trim().is_empty() {
            continue;
        }
        editor.add_history_entry(text.as_str())?;
        match text.trim() {
            ".exit" => break,
            ".help" => note!("{HELP}"),
            ".reset" => runtime.block_on(restart(&executor))?,
            word if is_command(word) => {
                note!("{RED}error:{PLAIN} unknown command {word}; .help lists the commands");
            }
            code => {
                runtime.block_on(async {
                    tokio::select! {
                        ran = executor.run(code) => show(ran),
                        _ = tokio::signal::ctrl_c() => note!("{RED}interrupted{PLAIN}"),
                    }
                });
                if executor.state() != ExecutorState::Ready {
                    note!("{DIM}The session had to be ended; a new one begins, without its variables.{PLAIN}");
                    runtime.block_on(restart(&executor))?;
                }
            }
        }
    }
    runtime.block_on(executor.cleanup())?;
    if let Some(file) = &history {
        if let Some(folder) = file.parent() {
            std::fs::create_dir_all(folder)?;
        }
        editor.save_history(file)?;
    }
    Ok(Exit::Ok)
}

/// A dot and letters: no program begins so.
fn is_command(text: &str) -> bool {
    text.strip_prefix('.').is_some_and(|word| !word.is_empty() && word.chars().all(|c| c.is_ascii_alphabetic()))
}

fn options(args: &Repl) -> ExecutorOptions {
    let defaults = ExecutorOptions::default();
    ExecutorOptions {
        // A person at a keyboard means the real time, and notices an endless loop by the deadline.
        clock: Clock::Real,
        random: Random::Real,
        max_operations: args.limits.max_operations.unwrap_or(1 << 40),
        timeout_ms: args.limits.timeout_ms.unwrap_or(defaults.timeout_ms),
        max_memory_bytes: args.limits.memory_mb.map_or(defaults.max_memory_bytes, |mib| mib << 20),
        collect_console_levels: vec![LogLevel::Debug, LogLevel::Log, LogLevel::Info, LogLevel::Warn, LogLevel::Error],
        ..defaults
    }
}

async fn restart(executor: &CodeExecutor) -> Result<(), ExecutorError> {
    executor.cleanup().await?;
    executor.init().await
}

fn show(ran: Result<CodeOutput, ExecutorError>) {
    match ran {
        Ok(output) => {
            if !output.logs.is_empty() {
                note!("{}", output.logs);
            }
            let _ = terminal::json_lines(&output.output);
            for warning in &output.warnings {
                note!("{DIM}note:{PLAIN} {warning}");
            }
        }
        Err(error) => {
            if !error.logs.is_empty() {
                note!("{}", error.logs);
            }
            note!("{RED}{}:{PLAIN} {}", error.code, error.message);
            let detail =
                |key: &str| error.details.as_ref().and_then(|details| details.get(key)).and_then(|v| v.as_str());
            if let Some(frame) = detail("frame") {
                note!("{frame}");
            }
            if let Some(hint) = detail("hint") {
                note!("{DIM}hint:{PLAIN} {hint}");
            }
        }
    }
}

/// `$XDG_STATE_HOME/cove/history`, or its usual place; `None` where there is no home.
fn history_file() -> Option<PathBuf> {
    let state = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from);
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".local/state"));
    state.or_else(home).map(|folder| folder.join("cove/history"))
}

/// Knows when a line is not finished yet.
#[derive(Completer, Helper, Highlighter, Hinter)]
struct Lines;

impl Validator for Lines {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        let text = context.input();
        let complete = text.trim_start().starts_with('.') || cove_script::is_complete(text);
        Ok(if complete { ValidationResult::Valid(None) } else { ValidationResult::Incomplete })
    }
}
