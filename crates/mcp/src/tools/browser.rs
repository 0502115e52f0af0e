//! The browser. Everything it says is a stranger's.

use std::time::Duration;

use cove_api::{
    BrowserBatchRequest, BrowserCause, BrowserExecRequest, BrowserSkillRequest, BrowserStep, EXIT_FAILED,
    EXIT_TIMED_OUT, REFUSED, SandboxId,
};
use cove_bay::Timed;
use serde_json::{Value, json};

use super::code::{joined, merge};
use super::sandboxes::to_value;
use super::{Call, Done};
use crate::advice;
use crate::failure::Failure;
use crate::files::{collect, is_picture, media_type};
use crate::reply::{Reply, executed};
use crate::time::{self, BROWSER, Bounds, SEVERAL};
use crate::uri;

const STRANGER: &str = "a web page";

const FAILED: &str = "browser_command_failed";

/// After a command that waited in vain for a person to give control back.
const HELD: &str = "Wait until that person is done, then take a new snapshot (`snapshot -i`) and use its references.";

pub(super) async fn one(mut call: Call<'_>, id: &SandboxId) -> Done {
    let timeout = time::take("browser_exec", BROWSER, &mut call.args)?;
    let request: BrowserExecRequest = call.args.clone().parse()?;
    let shows = is_screenshot(&request.cmd);
    let done = call.bay().exec_browser(&call.owner, id, Timed::new(request, timeout)).await?;
    let mut structured = executed(
        done.success,
        &done.output,
        done.execution_id.as_deref().filter(|_| done.recorded),
        done.execution_time_ms,
    );
    merge(&mut structured, json!({"exit_code": done.exit_code, "trace_ref": done.trace_ref}));
    let step = BrowserStep {
        cmd: String::new(),
        stdout: done.stdout,
        stderr: done.stderr,
        exit_code: done.exit_code.unwrap_or(EXIT_FAILED),
        cause: done.cause,
        reason: done.reason,
        hint: done.hint,
        notes: done.notes,
        step_index: 0,
        duration_ms: 0,
    };
    let text = if done.success { done.output } else { joined(&step.stdout, &step.browsers_stderr()) };
    if !done.success {
        merge(&mut structured, json!({"output": text}));
    }
    let mut reply = Reply::new(text, structured);
    if done.success && shows {
        show(&call, id, &step.stdout, &mut reply).await;
    }
    reply.structured.insert("images".to_owned(), reply.pictures().into());
    reply.failure = (!done.success).then(|| failure(&step, "", timeout, BROWSER));
    reply.notes = step.notes;
    reply.stranger = Some(STRANGER);
    Ok(reply)
}

pub(super) async fn batch(mut call: Call<'_>, id: &SandboxId) -> Done {
    let timeout = time::take("execute_browser_batch", SEVERAL, &mut call.args)?;
    let request: BrowserBatchRequest = call.args.clone().parse()?;
    let done = call.bay().exec_browser_batch(&call.owner, id, Timed::new(request, timeout)).await?;
    let structured = json!({
        "success": done.success, "execution_id": done.execution_id.filter(|_| done.recorded), "execution_time_ms": done.execution_time_ms,
        "results": to_value(&done.results), "total_steps": done.total_steps, "completed_steps": done.completed_steps,
        "duration_ms": done.duration_ms, "trace_ref": done.trace_ref,
    });
    stepped(&call, id, &done.results, done.total_steps, structured, timeout).await
}

pub(super) async fn skill(mut call: Call<'_>, id: &SandboxId) -> Done {
    let key = call.args.take_required("skill_key")?;
    let timeout = time::take("run_browser_skill", SEVERAL, &mut call.args)?;
    let request: BrowserSkillRequest = call.args.clone().parse()?;
    let done = call.bay().run_browser_skill(&call.owner, id, &key, Timed::new(request, timeout)).await?;
    let structured = json!({
        "success": done.success, "execution_id": done.recorded.then_some(done.execution_id), "execution_time_ms": done.execution_time_ms,
        "skill_key": done.skill_key, "release_id": done.release_id,
        "results": to_value(&done.results), "total_steps": done.total_steps, "completed_steps": done.completed_steps,
        "duration_ms": done.duration_ms, "trace_ref": done.trace_ref,
    });
    stepped(&call, id, &done.results, done.total_steps, structured, timeout).await
}

async fn stepped(
    call: &Call<'_>,
    id: &SandboxId,
    steps: &[BrowserStep],
    total: u32,
    structured: Value,
    timeout: Duration,
) -> Done {
    let mut text = String::new();
    for step in steps {
        let failed = if step.exit_code == 0 { String::new() } else { format!(" (exit code {})", step.exit_code) };
        text.push_str(&format!("[{}/{total}] {}{failed}\n", step.step_index + 1, step.cmd));
        // Of several only the first that failed has its reason in the failure.
        let refused = is_refused(step).then_some(step.reason.as_deref()).flatten();
        let refused = refused.map(|reason| format!("{REFUSED}{reason}")).unwrap_or_default();
        let words = joined(&step.stdout, &joined(&refused, &step.browsers_stderr()));
        if !words.is_empty() {
            text.push_str(&words);
            text.push('\n');
        }
    }
    let mut reply = Reply::new(text, structured);
    for step in steps.iter().filter(|step| step.exit_code == 0 && is_screenshot(&step.cmd)) {
        show(call, id, &step.stdout, &mut reply).await;
    }
    reply.structured.insert("images".to_owned(), reply.pictures().into());
    reply.failure = match steps.iter().find(|step| step.exit_code != 0) {
        Some(step) => {
            let place = format!("step {} of {total}: ", step.step_index + 1);
            Some(failure(step, &place, timeout, SEVERAL))
        }
        None if steps.len() < total as usize => Some(out_of_time(&exit_code(EXIT_TIMED_OUT, ""), timeout, SEVERAL)),
        None => None,
    };
    for step in steps {
        reply.notes.extend(step.notes.iter().map(|note| format!("step {}: {note}", step.step_index + 1)));
    }
    reply.stranger = Some(STRANGER);
    Ok(reply)
}

/// Whether a command was not even begun.
fn is_refused(step: &BrowserStep) -> bool {
    use BrowserCause::{Held, HostNotAllowed, NotAllowed, NotStarted};
    matches!(step.cause, Some(Held | HostNotAllowed | NotAllowed | NotStarted))
}

/// Why a command failed, in our own words; the browser's are in the text.
fn failure(step: &BrowserStep, place: &str, timeout: Duration, bounds: Bounds) -> Failure {
    let said = exit_code(step.exit_code, place);
    let refused =
        || format!("{said}: {}", step.reason.iter().flat_map(|reason| reason.lines()).next().unwrap_or_default());
    match step.cause {
        Some(BrowserCause::TimedOut) => out_of_time(&said, timeout, bounds),
        Some(BrowserCause::Held) => Failure::new(
            FAILED,
            format!("{said}: a person has control of the browser, so the command did not run"),
            HELD,
        ),
        Some(BrowserCause::HostNotAllowed) => Failure::new(FAILED, refused(), advice::NO_NETWORK),
        Some(BrowserCause::NotAllowed) => {
            let next_step = match &step.hint {
                Some(hint) => advice::sentence(hint),
                None => "Correct the command: it is one line without a shell.".to_owned(),
            };
            Failure::new(FAILED, refused(), next_step)
        }
        Some(BrowserCause::NotStarted) => Failure::new(FAILED, refused(), advice::NOT_STARTED),
        Some(BrowserCause::HostNotReached) => Failure::new(FAILED, said, advice::NO_NETWORK),
        Some(BrowserCause::NotOnPage) => {
            Failure::new(FAILED, said, "Take a new snapshot (`snapshot -i`) and use its references.")
        }
        None => Failure::new(FAILED, said, "Correct the command; `snapshot -i` shows what is on the page."),
    }
}

fn exit_code(code: i32, place: &str) -> String {
    format!("{place}exit code {code}")
}

fn out_of_time(said: &str, timeout: Duration, bounds: Bounds) -> Failure {
    let look = "see with `snapshot -i` what the page waits for";
    let next_step = if timeout.as_millis() < u128::from(bounds.most_ms) {
        format!("Pass a longer `timeout_ms` (at most {}), or {look}.", bounds.most_ms)
    } else {
        format!("This was the longest time-out: {look}.")
    };
    Failure::new("timeout", format!("{said}: not done within {} ms", timeout.as_millis()), next_step)
}

fn is_screenshot(cmd: &str) -> bool {
    cmd.split_whitespace().next() == Some("screenshot")
}

/// Attaches the picture that the command has saved, by the path that it names.
async fn show(call: &Call<'_>, id: &SandboxId, said: &str, reply: &mut Reply) {
    let named = said.split(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '\u{1b}')).find(|word| {
        let lower = word.to_ascii_lowercase();
        word.starts_with("/workspace/") && [".png", ".jpg", ".jpeg", ".webp"].iter().any(|end| lower.ends_with(end))
    });
    let Some(path) = named.map(uri::inside) else { return };
    let Ok(download) = call.bay().download(&call.owner, id, path).await else { return };
    let Ok(bytes) = collect(download).await else { return };
    let media = media_type(path, &bytes);
    if is_picture(media) {
        reply.picture(&bytes, media);
        reply.link(uri::file(id, path), path, media, Some(bytes.len() as u64));
    }
}

#[cfg(test)]
mod tests {
    use cove_api::EXIT_HELD;

    use super::*;

    /// The command was right: nobody is told to correct it.
    #[test]
    fn while_a_person_has_control_the_next_step_is_to_wait() {
        let step = BrowserStep {
            cmd: "get title".to_owned(),
            stdout: String::new(),
            stderr: "✗ words of the runtime\nhint: a hint".to_owned(),
            exit_code: EXIT_HELD,
            cause: Some(BrowserCause::Held),
            reason: Some("words of the runtime".to_owned()),
            hint: Some("a hint".to_owned()),
            notes: Vec::new(),
            step_index: 1,
            duration_ms: 0,
        };
        let failure = failure(&step, "step 2 of 3: ", Duration::ZERO, BROWSER);
        assert_eq!(failure.next_step, HELD);
        assert!(failure.message.starts_with("step 2 of 3: exit code -2: a person has control"), "{}", failure.message);
    }
}
