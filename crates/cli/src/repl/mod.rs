//! `cove repl`: a session that stays open, for people who want to try something.

mod cells;

use std::io::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use cove_core::{Limits, RunReport};
use rustyline::error::ReadlineError;
use rustyline::history::FileHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Completer, Editor, Helper, Highlighter, Hinter};

use crate::args::Repl;
use crate::exit::Exit;
use crate::run::print;
use crate::run_setup::{self, Gallery};
use crate::terminal::{self, DIM, PLAIN, RED, note};

use cells::Cells;

const HELP: &str = "\
Type JavaScript or TypeScript. The last expression is shown as Node shows it; what you declare stays.
`await` works. An unfinished line continues on the next. Pictures are saved and their paths are shown.
  .help   this text
  .reset  forget everything and begin anew
  .exit   leave (or Ctrl-D)";

pub(crate) fn repl(args: Repl) -> anyhow::Result<Exit> {
    args.raw.apply();
    let setup = match run_setup::read(args.setup, Limits::EXECUTOR) {
        Ok(setup) => setup,
        Err(error) => {
            note!("{RED}error:{PLAIN} {error:#}");
            return Ok(Exit::Usage);
        }
    };
    // A thread of its own for what goes on while this one waits for a key: the browser is watched then, too.
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let exit = converse(&runtime, setup);
    runtime.shutdown_timeout(Duration::from_millis(200));
    exit
}

fn converse(runtime: &tokio::runtime::Runtime, setup: run_setup::RunSetup) -> anyhow::Result<Exit> {
    let mut cells = runtime.block_on(Cells::begin(setup))?;
    let mut editor: Editor<Lines, FileHistory> = Editor::new()?;
    editor.set_helper(Some(Lines));
    let history = history_file();
    if let Some(file) = &history {
        // A first start has no history yet.
        let _ = editor.load_history(file);
    }
    note!("{DIM}cove {} · {} engine · .help for help{PLAIN}", env!("CARGO_PKG_VERSION"), cells.engine());
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
            ".reset" => begin_anew(runtime, &mut cells)?,
            word if is_command(word) => {
                note!("{RED}error:{PLAIN} unknown command {word}; .help lists the commands");
            }
            code => {
                match runtime.block_on(unless_interrupted(cells.run(code)))? {
                    Some(report) => show(&report, cells.gallery())?,
                    None => note!("{RED}interrupted{PLAIN}"),
                }
                if !cells.is_alive() {
                    note!("{DIM}The session had to be ended; a new one begins, without its variables.{PLAIN}");
                    begin_anew(runtime, &mut cells)?;
                }
            }
        }
    }
    runtime.block_on(cells.end())?;
    if let Some(file) = &history {
        if let Some(folder) = file.parent() {
            std::fs::create_dir_all(folder)?;
        }
        editor.save_history(file)?;
    }
    Ok(Exit::Ok)
}

/// Begins a new session. A browser may take its time: Ctrl-C gives the prompt back, and the next line tries again.
fn begin_anew(runtime: &tokio::runtime::Runtime, cells: &mut Cells) -> anyhow::Result<()> {
    if runtime.block_on(unless_interrupted(cells.restart()))?.is_none() {
        note!("{RED}interrupted{PLAIN}; the next line begins the session");
    }
    Ok(())
}

/// What comes of the work, or `None` where Ctrl-C came first; then the work is dropped.
async fn unless_interrupted<T>(work: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<Option<T>> {
    tokio::select! {
        done = work => done.map(Some),
        _ = tokio::signal::ctrl_c() => Ok(None),
    }
}

/// A dot and letters: no program begins so.
fn is_command(text: &str) -> bool {
    text.strip_prefix('.').is_some_and(|word| !word.is_empty() && word.chars().all(|c| c.is_ascii_alphabetic()))
}

/// The value as Node shows it on standard output; everything else aside. Console lines were heard already.
fn show(report: &RunReport, gallery: &Gallery) -> std::io::Result<()> {
    print::warnings(report)?;
    let finished = match &report.result {
        Ok(finished) => finished,
        Err(fault) => return print::failure(fault.kind.executor_code().as_str(), fault, None),
    };
    match &finished.shown {
        Some(text) => writeln!(terminal::out(), "{text}")?,
        // What `final_answer` was given.
        None => print::value_line(&finished.value)?,
    }
    print::pictures(finished, gallery)
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
