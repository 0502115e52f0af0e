//! JavaScript, Python and the shell.

use std::time::Duration;

use cove_api::{
    JavaScriptData, JavaScriptExecRequest, PythonExecRequest, SandboxId, ShellExecRequest, ShellExecResult,
};
use cove_bay::{JavaScriptCall, Timed};
use cove_core::{EngineReason, Fault, NetworkCause};
use serde_json::{Map, Value, json};

use super::{Call, Done};
use crate::advice;
use crate::failure::Failure;
use crate::files::collect;
use crate::reply::{Reply, executed, value_text};
use crate::time::{self, ONE};
use crate::{traceback, uri};

/// Whether a browser was wanted and could not be had; then the first warning says so.
fn had_no_browser(data: &JavaScriptData) -> bool {
    data.engine.as_ref().is_some_and(|engine| engine.reason == EngineReason::NoBrowser)
}

pub(super) async fn javascript(mut call: Call<'_>, id: &SandboxId) -> Done {
    let timeout = time::take("run_javascript", ONE, &mut call.args)?;
    let request: JavaScriptExecRequest = call.args.clone().parse()?;
    let run = JavaScriptCall {
        timeout,
        console: call.console.clone(),
        last_value: true,
        asked: call.asked.clone(),
        ..JavaScriptCall::from(request)
    };
    ran(&call, id, run).await
}

/// Runs JavaScript, and says what became of it.
pub(super) async fn ran(call: &Call<'_>, id: &SandboxId, run: JavaScriptCall) -> Done {
    let timeout = run.timeout;
    let (fetches, source) = (may_fetch(&run.request.code), run.request.code.clone());
    let bay = call.bay();
    let done = bay.exec_javascript(&call.owner, id, run).await?;
    let (took, execution_id) = (done.execution_time_ms, done.execution_id.clone().filter(|_| done.recorded));
    let mut structured = executed(done.success, &done.output, execution_id.as_deref(), took);
    let Some(data) = done.data else { return Ok(Reply::new(done.output, structured)) };
    let mut text = String::new();
    if !data.logs.is_empty() {
        text.push_str("Console:\n");
        text.push_str(&data.logs);
        text.push('\n');
    }
    if done.success {
        if !text.is_empty() {
            text.push_str("Result:\n");
        }
        text.push_str(&value_text(&data.result));
    }
    let images: Vec<Value> = data
        .images
        .iter()
        .map(|image| {
            json!({
                "name": image.name, "uri": uri::artifact(id, &image.name), "media_type": image.media_type,
                "width": image.width, "height": image.height,
            })
        })
        .collect();
    merge(
        &mut structured,
        json!({
            "logs": data.logs, "images": images, "engine": data.engine, "is_final": data.is_final,
            "warnings": data.warnings,
        }),
    );
    let mut failure = None;
    // `result` and `logs` say all of it.
    structured.as_object_mut().map(|fields| fields.shift_remove("output"));
    if done.success {
        merge(&mut structured, json!({"result": data.result}));
    } else {
        failure = Some(javascript_failure(&data, &source, timeout));
        if let Some(value) = data.result.get("result") {
            merge(&mut structured, json!({"result": value}));
        }
    }
    let mut reply = Reply::new(text, structured);
    // A failure without a browser says so in its next step.
    let told = usize::from(failure.is_some() && had_no_browser(&data));
    reply.notes = data.warnings.iter().skip(told).cloned().collect();
    reply.failure = failure;
    reply.stranger = fetches.then_some("code that may have fetched it");
    for image in &data.images {
        let address = uri::artifact(id, &image.name);
        match bay.artifact(&call.owner, id, &image.name).await {
            Ok(download) => {
                let size = download.size;
                if let Ok(bytes) = collect(download).await {
                    reply.picture(&bytes, &image.media_type);
                }
                reply.link(address, &image.name, &image.media_type, size);
            }
            Err(_) => reply.link(address, &image.name, &image.media_type, None),
        }
    }
    Ok(reply)
}

/// The tool's own failure shape, with what to do next.
fn javascript_failure(data: &JavaScriptData, source: &str, given: Duration) -> Failure {
    let answer = &data.result;
    let word = |name: &str| answer.get(name).and_then(Value::as_str);
    let code = word("error").unwrap_or("js_execution_failed");
    let message = word("message").unwrap_or("the code failed");
    let known = ["error", "message", "hint", "result"];
    let details = answer.as_object().into_iter().flatten().filter(|(name, _)| !known.contains(&name.as_str()));
    let details = details.map(|(name, value)| (name.clone(), value.clone())).collect::<Map<_, _>>();
    let no_browser = had_no_browser(data);
    let network = Fault::network_cause(&details);
    // The engine's own advice is for those who can open a host.
    let mut failure = if matches!(network, Some(NetworkCause::Closed | NetworkCause::NotOpened)) {
        Failure::new(code, "`fetch` does not reach that host from this sandbox", advice::NO_NETWORK)
    } else {
        let hint = word("hint");
        let failed = advice::code::JavaScript { code, message, source, details: &details, hint, no_browser, given };
        let failure = Failure::new(code, message, advice::code::javascript(&failed));
        // Where code ran, an exception's words are whatever it has put there.
        let thrown = data.engine.is_some() && code == "js_execution_failed" && !details.contains_key("limitBytes");
        if thrown { failure.in_guests_words() } else { failure }
    };
    failure.details = details;
    failure
}

pub(super) async fn python(mut call: Call<'_>, id: &SandboxId) -> Done {
    let timeout = time::take("execute_python", ONE, &mut call.args)?;
    let request: PythonExecRequest = call.args.clone().parse()?;
    let (fetches, source) = (may_fetch(&request.code), request.code.clone());
    let done = call
        .bay()
        .exec_python(&call.owner, id, Timed { output: call.output(), ..Timed::new(request, timeout) })
        .await?;
    let mut structured = executed(
        done.success,
        &done.output,
        done.execution_id.as_deref().filter(|_| done.recorded),
        done.execution_time_ms,
    );
    let mut reply = Reply::new(done.output.as_str(), Value::Null);
    if let Some(data) = &done.data {
        for (media_type, bytes) in data.output.images.iter().flatten() {
            reply.encoded_picture(bytes, media_type);
        }
        merge(&mut structured, json!({"execution_count": data.execution_count, "images": reply.pictures()}));
    }
    reply.structured = structured.as_object().cloned().unwrap_or_default();
    if !done.success {
        let error = done.error.as_deref().unwrap_or("the code failed");
        let next_step = advice::code::python(&done, error, &source, timeout);
        reply.failure = Some(match &done.ending {
            None => Failure::new("python_error", traceback::shortened(error), next_step).in_guests_words(),
            // The runtime says why Python was ended; what follows is where it was.
            Some(why) => {
                let place = error.strip_prefix(why).unwrap_or_default().trim_start();
                reply.text = joined(&reply.text, &traceback::shortened(place));
                Failure::new("python_error", why, next_step)
            }
        });
    }
    reply.stranger = fetches.then_some("code that may have fetched it");
    Ok(reply)
}

pub(super) async fn shell(mut call: Call<'_>, id: &SandboxId) -> Done {
    let timeout = time::take("execute_shell", ONE, &mut call.args)?;
    let request: ShellExecRequest = call.args.clone().parse()?;
    let fetches = may_fetch(&request.command);
    let done =
        call.bay().exec_shell(&call.owner, id, Timed { output: call.output(), ..Timed::new(request, timeout) }).await?;
    let mut structured = executed(
        done.success,
        &done.output,
        done.execution_id.as_deref().filter(|_| done.recorded),
        done.execution_time_ms,
    );
    merge(&mut structured, json!({"exit_code": done.exit_code}));
    let mut text = done.output.clone();
    let mut failure = None;
    if !done.success {
        if !done.stderr.trim().is_empty() {
            text = joined(&text, &done.stderr);
            // The text has it, so the fields have it.
            merge(&mut structured, json!({"output": text}));
        }
        failure = Some(Failure::new("command_failed", why_failed(&done), advice::code::shell(&done, &text, timeout)));
    } else if text.trim().is_empty() {
        text = "Done: exit code 0, no output.".to_owned();
    }
    let mut reply = Reply::new(text, structured);
    reply.failure = failure;
    reply.stranger = fetches.then_some("a command that may have fetched it");
    Ok(reply)
}

/// Why a command failed in our words, with its exit code.
fn why_failed(done: &ShellExecResult) -> String {
    let code = done.exit_code.unwrap_or(-1);
    done.ending.as_ref().map_or_else(|| format!("exit code {code}"), |why| format!("exit code {code}. {why}"))
}

/// Two texts, one below the other.
pub(super) fn joined(one: &str, two: &str) -> String {
    let parts = [one.trim_end(), two.trim_end()].into_iter().filter(|part| !part.trim().is_empty());
    parts.collect::<Vec<_>>().join("\n")
}

/// Whether code looks as if it fetched something: then its output may hold a stranger's words. A hint for marking, no
/// wall; walls are the profile's network.
fn may_fetch(code: &str) -> bool {
    const WORDS: [&str; 12] = [
        "fetch(",
        "XMLHttpRequest",
        "WebSocket",
        "EventSource",
        "http://",
        "https://",
        "curl ",
        "wget ",
        "requests.",
        "urllib",
        "httpx",
        "aiohttp",
    ];
    WORDS.iter().any(|word| code.contains(word))
}

pub(super) fn merge(into: &mut Value, more: Value) {
    if let (Some(into), Value::Object(more)) = (into.as_object_mut(), more) {
        into.extend(more);
    }
}
