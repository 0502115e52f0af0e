//! The browser. Everything it says is a stranger's.

use cove_api::{BrowserBatchRequest, BrowserExecRequest, BrowserSkillRequest, BrowserStep, SandboxId};
use cove_bay::Timed;
use serde_json::{Value, json};

use super::code::merge;
use super::sandboxes::to_value;
use super::{Call, Done};
use crate::failure::Failure;
use crate::files::{collect, is_picture, media_type};
use crate::reply::{Reply, executed};
use crate::time::{self, ONE, SEVERAL};
use crate::uri;

const STRANGER: &str = "a web page";

pub(super) async fn one(mut call: Call<'_>, id: &SandboxId) -> Done {
    let timeout = time::take("browser_exec", ONE, &mut call.args)?;
    let request: BrowserExecRequest = call.args.clone().parse()?;
    let shows = is_screenshot(&request.cmd);
    let done = call.bay().exec_browser(&call.owner, id, Timed { request, timeout }).await?;
    let mut structured = executed(
        done.success,
        &done.output,
        done.execution_id.as_deref().filter(|_| done.recorded),
        done.execution_time_ms,
    );
    merge(&mut structured, json!({"exit_code": done.exit_code, "trace_ref": done.trace_ref}));
    let mut text = done.output.clone();
    if !done.success && !text.contains(done.stderr.trim()) {
        text.push_str(&done.stderr);
    }
    let mut reply = Reply::new(text, structured);
    if done.success && shows {
        show(&call, id, &done.stdout, &mut reply).await;
    }
    reply.structured.insert("images".to_owned(), reply.pictures().into());
    if !done.success {
        let message = done.error.filter(|error| !error.trim().is_empty()).unwrap_or(done.stderr);
        reply.failure = Some(failure(&message, done.exit_code));
    }
    reply.stranger = Some(STRANGER);
    Ok(reply)
}

pub(super) async fn batch(mut call: Call<'_>, id: &SandboxId) -> Done {
    let timeout = time::take("execute_browser_batch", SEVERAL, &mut call.args)?;
    let request: BrowserBatchRequest = call.args.clone().parse()?;
    let done = call.bay().exec_browser_batch(&call.owner, id, Timed { request, timeout }).await?;
    let structured = json!({
        "success": done.success, "execution_id": done.execution_id.filter(|_| done.recorded), "execution_time_ms": done.execution_time_ms,
        "results": to_value(&done.results), "total_steps": done.total_steps, "completed_steps": done.completed_steps,
        "duration_ms": done.duration_ms, "trace_ref": done.trace_ref,
    });
    stepped(&call, id, &done.results, done.total_steps, structured).await
}

pub(super) async fn skill(mut call: Call<'_>, id: &SandboxId) -> Done {
    let key = call.args.take_required("skill_key")?;
    let timeout = time::take("run_browser_skill", SEVERAL, &mut call.args)?;
    let request: BrowserSkillRequest = call.args.clone().parse()?;
    let done = call.bay().run_browser_skill(&call.owner, id, &key, Timed { request, timeout }).await?;
    let structured = json!({
        "success": done.success, "execution_id": done.recorded.then_some(done.execution_id), "execution_time_ms": done.execution_time_ms,
        "skill_key": done.skill_key, "release_id": done.release_id,
        "results": to_value(&done.results), "total_steps": done.total_steps, "completed_steps": done.completed_steps,
        "duration_ms": done.duration_ms, "trace_ref": done.trace_ref,
    });
    stepped(&call, id, &done.results, done.total_steps, structured).await
}

async fn stepped(call: &Call<'_>, id: &SandboxId, steps: &[BrowserStep], total: u32, structured: Value) -> Done {
    let mut text = String::new();
    for step in steps {
        text.push_str(&format!("[{}/{total}] {} (exit code {})\n", step.step_index + 1, step.cmd, step.exit_code));
        for words in [&step.stdout, &step.stderr] {
            if !words.trim().is_empty() {
                text.push_str(words.trim_end());
                text.push('\n');
            }
        }
    }
    let mut reply = Reply::new(text, structured);
    for step in steps.iter().filter(|step| step.exit_code == 0 && is_screenshot(&step.cmd)) {
        show(call, id, &step.stdout, &mut reply).await;
    }
    reply.structured.insert("images".to_owned(), reply.pictures().into());
    if let Some(step) = steps.iter().find(|step| step.exit_code != 0) {
        reply.failure = Some(failure(&step.stderr, Some(step.exit_code)));
    } else if steps.len() < total as usize {
        reply.failure = Some(failure("not all commands ran within the time", Some(-1)));
    }
    reply.stranger = Some(STRANGER);
    Ok(reply)
}

/// What the browser says when it fails; only its first line, the rest is in the text.
fn failure(words: &str, exit_code: Option<i32>) -> Failure {
    let first: String = words.lines().next().unwrap_or_default().chars().take(300).collect();
    let message = if first.trim().is_empty() { format!("exit code {}", exit_code.unwrap_or(1)) } else { first };
    let (code, next) = match exit_code {
        Some(-1) => ("timeout", "Give it a longer `timeout_ms`, or see with `snapshot -i` what the page waits for."),
        _ => ("browser_command_failed", "Take a new snapshot (`snapshot -i`) and use the references that it names."),
    };
    Failure::new(code, message, next)
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
