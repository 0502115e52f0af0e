//! What `cove browse` prints: what the browser says on standard output, what went wrong on standard error.

use std::io::Write as _;
use std::path::Path;

use cove_runtime_api::BrowserAnswer;
use serde_json::json;

use super::Step;
use crate::terminal;

/// A person has no `/workspace`: files are called by their real names.
pub(super) fn say_real_names(answer: &mut BrowserAnswer, workspace: &Path) {
    let real = format!("{}/", workspace.display());
    for text in [&mut answer.stdout, &mut answer.stderr] {
        if text.contains("/workspace/") {
            *text = text.replace("/workspace/", &real);
        }
    }
}

pub(super) fn for_people(step: &Step) -> std::io::Result<()> {
    let text = |text: &str| match text.trim_end_matches('\n') {
        "" => String::new(),
        text => format!("{text}\n"),
    };
    terminal::out().write_all(text(&step.answer.stdout).as_bytes())?;
    terminal::aside().write_all(text(&step.answer.stderr).as_bytes())
}

pub(super) fn as_json(steps: &[Step], session: Option<&str>, workspace: &Path) -> std::io::Result<()> {
    let results: Vec<_> = steps
        .iter()
        .map(|Step { cmd, answer, took }| {
            json!({
                "cmd": cmd,
                "stdout": answer.stdout,
                "stderr": answer.stderr,
                "exit_code": answer.exit_code,
                "duration_ms": u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
            })
        })
        .collect();
    let ok = steps.iter().all(|step| step.answer.exit_code == 0);
    let object = json!({ "ok": ok, "session": session, "workspace": workspace, "results": results });
    terminal::json_line(&object)
}
