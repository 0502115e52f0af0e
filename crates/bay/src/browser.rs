//! The browser by command.
//!
//! A command is a line that Gull splits into words; no shell ever sees it. What a caller gives as a value (an address, a
//! text to fill in) becomes exactly one word of such a line.

mod skill;
mod trace;

use std::time::Duration;

use cove_api::{
    BrowserBatchRequest, BrowserBatchResult, BrowserCause, BrowserExecRequest, BrowserExecResult, BrowserStep,
    ClickRequest, ExecType, FillRequest, NavigateRequest, SandboxId, ScreenshotRequest, SnapshotRequest, TraceKind,
};
use cove_runtime_api::{
    BatchAnswer, BatchRequest, BrowserAnswer, BrowserRequest, MAX_BATCH_TIMEOUT, MAX_BROWSER_TIMEOUT,
    MAX_COMMAND_BYTES, MAX_COMMANDS,
};

use self::trace::traced;
use crate::barrier;
use crate::exec::Execution;
use crate::files::relative;
use crate::router::Admitted;
use crate::sandboxes::invalid;
use crate::timed::Timed;
use crate::{Bay, BayResult, Owner};
use cove_config::Capability;

impl Bay {
    /// Runs one command.
    pub async fn exec_browser(
        &self,
        owner: &Owner,
        id: &SandboxId,
        call: impl Into<Timed<BrowserExecRequest>>,
    ) -> BayResult<BrowserExecResult> {
        self.browse(owner, id, call, Capability::Browser).await
    }

    /// Runs several commands; one entry in the history.
    pub async fn exec_browser_batch(
        &self,
        owner: &Owner,
        id: &SandboxId,
        batch: impl Into<Timed<BrowserBatchRequest>>,
    ) -> BayResult<BrowserBatchResult> {
        let batch = batch.into();
        check_batch(&batch)?;
        let call = self.admit_for(owner, id, Capability::Browser, self.answer_limit(batch.timeout)).await?;
        self.run_batch(owner, &call, batch).await
    }

    /// Runs a batch that has been let in.
    async fn run_batch(
        &self,
        owner: &Owner,
        call: &Admitted,
        batch: Timed<BrowserBatchRequest>,
    ) -> BayResult<BrowserBatchResult> {
        let Timed { request, timeout, .. } = batch;
        let id = &call.row.id;
        let mut run = Execution::begin(self, owner, id, ExecType::BrowserBatch, request.commands.join("\n"))?;
        (run.description, run.tags, run.learn) = (request.description, request.tags, request.learn);
        let total = request.commands.len();
        let batch = BatchRequest {
            commands: request.commands,
            timeout: timeout.as_secs_f64(),
            stop_on_error: request.stop_on_error,
            include_trace: false,
        };
        let answered = self.run_in(call, &mut run, &batch).await;
        self.saw_browser(answered.iter().flat_map(|answer| &answer.results).map(|step| (step.cause, &step.reason)));
        let BatchAnswer { results, total_steps, completed_steps, success, duration_ms, trace: _ } = match answered {
            Ok(answer) => answer,
            Err(error) => {
                run.fail(&error).await;
                return Err(error);
            }
        };
        let trace = || traced(TraceKind::BrowserBatchTrace, success, total_steps, &results);
        let kept = self.keep_trace(&mut run, request.include_trace, trace).await;
        let output: Vec<&str> =
            results.iter().map(|step| step.stdout.trim_end()).filter(|text| !text.is_empty()).collect();
        let error = (!success).then(|| batch_failure(&results, total));
        run.barrier = barrier::of_steps(&results);
        let ended = run.end(success, Some(&output.join("\n")), error.as_deref()).await;
        Ok(BrowserBatchResult {
            total_steps,
            completed_steps,
            success,
            duration_ms,
            results,
            execution_id: Some(run.id.clone()),
            execution_time_ms: Some(ended.took_ms),
            recorded: ended.recorded && kept.recorded,
            trace_ref: kept.trace_ref,
        })
    }

    /// Opens an address.
    pub async fn browser_navigate(
        &self,
        owner: &Owner,
        id: &SandboxId,
        request: NavigateRequest,
    ) -> BayResult<BrowserExecResult> {
        let line = format!("open {}", argument("url", &request.url)?);
        self.browse(owner, id, one(line, request.timeout), Capability::Browser).await
    }

    /// Says what is on the page.
    pub async fn browser_snapshot(
        &self,
        owner: &Owner,
        id: &SandboxId,
        request: SnapshotRequest,
    ) -> BayResult<BrowserExecResult> {
        let line = if request.interactive { "snapshot -i" } else { "snapshot" };
        self.browse(owner, id, one(line.to_owned(), request.timeout), Capability::Browser).await
    }

    /// Clicks.
    pub async fn browser_click(
        &self,
        owner: &Owner,
        id: &SandboxId,
        request: ClickRequest,
    ) -> BayResult<BrowserExecResult> {
        let line = format!("click {}", argument("ref", &request.reference)?);
        self.browse(owner, id, one(line, request.timeout), Capability::Browser).await
    }

    /// Fills in.
    pub async fn browser_fill(
        &self,
        owner: &Owner,
        id: &SandboxId,
        request: FillRequest,
    ) -> BayResult<BrowserExecResult> {
        let line = format!("fill {} {}", argument("ref", &request.reference)?, quoted("text", &request.text)?);
        self.browse(owner, id, one(line, request.timeout), Capability::Browser).await
    }

    /// Takes a picture into the workspace.
    pub async fn browser_screenshot(
        &self,
        owner: &Owner,
        id: &SandboxId,
        request: ScreenshotRequest,
    ) -> BayResult<BrowserExecResult> {
        let mut line = "screenshot".to_owned();
        if request.full_page {
            line.push_str(" --full");
        }
        if let Some(path) = &request.path {
            line.push(' ');
            line.push_str(&quoted("path", &format!("/workspace/{}", relative(path)?))?);
        }
        self.browse(owner, id, one(line, request.timeout), Capability::Screenshot).await
    }

    /// Tells the driver whether there was a browser for these commands. Of those that may not have come to it, nothing is known.
    fn saw_browser<'a>(&self, steps: impl Iterator<Item = (Option<BrowserCause>, &'a Option<String>)>) {
        use BrowserCause::{HostNotAllowed, NotAllowed, NotStarted, TimedOut};
        for (cause, reason) in steps {
            match cause {
                Some(NotStarted) => self.inner.driver.saw_browser(Err(reason.as_deref().unwrap_or_default())),
                Some(BrowserCause::Held | TimedOut | NotAllowed | HostNotAllowed) => {}
                Some(BrowserCause::HostNotReached | BrowserCause::NotOnPage) | None => {
                    self.inner.driver.saw_browser(Ok(()));
                }
            }
        }
    }

    async fn browse(
        &self,
        owner: &Owner,
        id: &SandboxId,
        call: impl Into<Timed<BrowserExecRequest>>,
        capability: Capability,
    ) -> BayResult<BrowserExecResult> {
        let timed = call.into();
        timed.check(MAX_BROWSER_TIMEOUT)?;
        let Timed { request, timeout, .. } = timed;
        check_commands(std::slice::from_ref(&request.cmd))?;
        let call = self.admit_for(owner, id, capability, self.answer_limit(timeout)).await?;
        let mut run = Execution::begin(self, owner, id, ExecType::Browser, request.cmd.clone())?;
        (run.description, run.tags, run.learn) = (request.description, request.tags, request.learn);
        let command = BrowserRequest { cmd: request.cmd.clone(), timeout: timeout.as_secs_f64(), include_trace: false };
        let begin = std::time::Instant::now();
        let answered = self.run_in(&call, &mut run, &command).await;
        self.saw_browser(answered.iter().map(|answer| (answer.cause, &answer.reason)));
        let answer: BrowserAnswer = match answered {
            Ok(answer) => answer,
            Err(error) => {
                run.fail(&error).await;
                return Err(error);
            }
        };
        let step = answer.into_step(request.cmd, 0, millis(begin.elapsed()));
        let success = step.exit_code == 0;
        let trace = || traced(TraceKind::BrowserExecTrace, success, 1, std::slice::from_ref(&step));
        let kept = self.keep_trace(&mut run, request.include_trace, trace).await;
        let error = (!success).then(|| step_failure(&step));
        run.barrier = barrier::of_steps(std::slice::from_ref(&step));
        let ended = run.end(success, Some(&step.stdout), error.as_deref()).await;
        Ok(BrowserExecResult {
            success,
            output: step.stdout.clone(),
            error,
            stdout: step.stdout,
            stderr: step.stderr,
            exit_code: Some(step.exit_code),
            cause: step.cause,
            reason: step.reason,
            hint: step.hint,
            notes: step.notes,
            execution_id: Some(run.id.clone()),
            execution_time_ms: Some(ended.took_ms),
            recorded: ended.recorded && kept.recorded,
            trace_ref: kept.trace_ref,
        })
    }
}

fn one(cmd: String, timeout: u64) -> BrowserExecRequest {
    BrowserExecRequest { cmd, timeout, description: None, tags: None, learn: false, include_trace: false }
}

fn check_batch(batch: &Timed<BrowserBatchRequest>) -> BayResult<()> {
    batch.check(MAX_BATCH_TIMEOUT)?;
    check_commands(&batch.request.commands)
}

fn check_commands(commands: &[String]) -> BayResult<()> {
    if commands.is_empty() || commands.len() > MAX_COMMANDS {
        return Err(invalid(format!("`commands` has {} entries; it must have 1 to {MAX_COMMANDS}", commands.len())));
    }
    if let Some(long) = commands.iter().find(|line| line.len() > MAX_COMMAND_BYTES) {
        return Err(invalid(format!("a command has {} bytes; the limit is {MAX_COMMAND_BYTES}", long.len())));
    }
    if commands.iter().any(|line| line.trim().is_empty()) {
        return Err(invalid("a command is empty"));
    }
    Ok(())
}

/// One word of a line, whatever is in it: between single quotes nothing is special but a single quote.
fn quoted(name: &str, text: &str) -> BayResult<String> {
    if text.contains('\0') {
        return Err(invalid(format!("`{name}` holds a NUL character")));
    }
    Ok(format!("'{}'", text.replace('\'', r"'\''")))
}

/// One word that is no flag.
fn argument(name: &str, text: &str) -> BayResult<String> {
    if text.trim().is_empty() || text.starts_with('-') {
        return Err(invalid(format!("`{name}` is empty or begins with a dash")));
    }
    quoted(name, text)
}

fn millis(took: Duration) -> i64 {
    i64::try_from(took.as_millis()).unwrap_or(i64::MAX)
}

fn step_failure(step: &BrowserStep) -> String {
    let said = [&step.stderr, &step.stdout].into_iter().find(|text| !text.trim().is_empty());
    said.cloned().unwrap_or_else(|| format!("the command ended with exit code {}", step.exit_code))
}

fn batch_failure(results: &[BrowserStep], total: usize) -> String {
    match results.iter().find(|step| step.exit_code != 0) {
        Some(step) => format!("step {} ({}): {}", step.step_index, step.cmd, step_failure(step)),
        None => format!("{} of {total} commands ran", results.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_is_filled_in_is_one_word() {
        for (text, line) in [("a b", "'a b'"), ("it's", r"'it'\''s'"), ("$(x) `y` \\", r"'$(x) `y` \'"), ("", "''")] {
            assert_eq!(quoted("text", text).unwrap(), line);
        }
        assert!(quoted("text", "a\0").is_err());
        for wrong in ["", " ", "-x", "--session=other"] {
            assert!(argument("url", wrong).is_err(), "{wrong}");
        }
    }
}
