//! The browser. Everything it says is a stranger's.

use std::time::Duration;

use cove_api::{
    BrowserBatchRequest, BrowserExecRequest, BrowserSkillRequest, BrowserStep, EXIT_FAILED, EXIT_HELD, EXIT_REFUSED,
    EXIT_TIMED_OUT, SandboxId,
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

/// How its refusals begin, and what it adds to the browser's words.
const REFUSED: &str = "✗ ";
const HINT: &str = "hint: ";
const TIMED_OUT: &str = "Command timed out after ";
const ENDED: &str = "note: the command was ended";

/// Signs of a reference that names nothing on the page any more.
const LOST_PLACE: [&str; 5] =
    ["Unknown ref", "Could not locate element", "stale", "ref not found", "Element not found"];

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
    let own = failure(&done.stderr, done.exit_code.unwrap_or(EXIT_FAILED), "", timeout, BROWSER);
    let text = match done.exit_code {
        Some(EXIT_HELD) => String::new(),
        Some(EXIT_REFUSED) if is_refused(&done.stdout, &done.stderr) => String::new(),
        _ if done.success => done.output.clone(),
        _ => joined(&done.stdout, &without_ours(&done.stderr)),
    };
    if !done.success {
        merge(&mut structured, json!({"output": text}));
    }
    let mut reply = Reply::new(text, structured);
    if done.success && shows {
        show(&call, id, &done.stdout, &mut reply).await;
    }
    reply.structured.insert("images".to_owned(), reply.pictures().into());
    reply.failure = (!done.success).then_some(own);
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
        let words =
            joined(&step.stdout, &if failed.is_empty() { step.stderr.clone() } else { without_ours(&step.stderr) });
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
            Some(failure(&step.stderr, step.exit_code, &place, timeout, SEVERAL))
        }
        None if steps.len() < total as usize => Some(failure("", EXIT_TIMED_OUT, "", timeout, SEVERAL)),
        None => None,
    };
    reply.stranger = Some(STRANGER);
    Ok(reply)
}

/// Whether a command was refused before anything happened, in the runtime's own words.
fn is_refused(stdout: &str, stderr: &str) -> bool {
    stdout.is_empty() && stderr.starts_with(REFUSED)
}

/// Why a command failed, in our own words; the browser's are in the text.
fn failure(stderr: &str, exit_code: i32, place: &str, timeout: Duration, bounds: Bounds) -> Failure {
    let said = format!("{place}exit code {exit_code}");
    match exit_code {
        EXIT_TIMED_OUT => {
            let look = "see with `snapshot -i` what the page waits for";
            let next_step = if timeout.as_millis() < u128::from(bounds.most_ms) {
                format!("Pass a longer `timeout_ms` (at most {}), or {look}.", bounds.most_ms)
            } else {
                format!("This was the longest time-out: {look}.")
            };
            Failure::new("timeout", format!("{said}: not done within {} ms", timeout.as_millis()), next_step)
        }
        EXIT_HELD => Failure::new(FAILED, format!("{said}: a person has control of the browser, not begun"), HELD),
        EXIT_REFUSED if stderr.starts_with(REFUSED) => {
            let mut lines = stderr.trim_start_matches(REFUSED).lines();
            let message = format!("{said}: {}", lines.next().unwrap_or_default());
            let hint = lines.find_map(|line| line.strip_prefix(HINT));
            let next_step = match hint {
                _ if advice::reached_nobody(stderr) => advice::NO_NETWORK.to_owned(),
                Some(hint) => advice::sentence(hint),
                None => "Correct the command: it is one line without a shell.".to_owned(),
            };
            Failure::new(FAILED, message, next_step)
        }
        _ if advice::reached_nobody(stderr) => Failure::new(FAILED, said, advice::NO_NETWORK),
        _ if LOST_PLACE.iter().any(|sign| stderr.contains(sign)) => {
            Failure::new(FAILED, said, "Take a new snapshot (`snapshot -i`) and use its references.")
        }
        _ => Failure::new(FAILED, said, "Correct the command; `snapshot -i` shows what is on the page."),
    }
}

/// What the browser said, without what the runtime has added. It is left out, never shown as ours: a page could write it.
fn without_ours(stderr: &str) -> String {
    let ours = |line: &&str| line.starts_with(HINT) || line.starts_with(TIMED_OUT) || line.starts_with(ENDED);
    stderr.lines().filter(|line| !ours(line)).collect::<Vec<_>>().join("\n")
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
    use super::*;

    /// The command was right: nobody is told to correct it.
    #[test]
    fn while_a_person_has_control_the_next_step_is_to_wait() {
        let failure =
            failure("✗ words of the runtime\nhint: a hint", EXIT_HELD, "step 2 of 3: ", Duration::ZERO, BROWSER);
        assert_eq!(failure.next_step, HELD);
        assert!(failure.message.starts_with("step 2 of 3: exit code -2: a person has control"), "{}", failure.message);
    }
}
