//! JavaScript, Python and the shell.

use cove_api::{JavaScriptExecRequest, PythonExecRequest, SandboxId, ShellExecRequest};
use cove_bay::{JavaScriptCall, Timed};
use serde_json::{Map, Value, json};

use super::{Call, Done};
use crate::failure::{Failure, javascript_advice};
use crate::files::collect;
use crate::reply::{Reply, executed, value_text};
use crate::time::{self, ONE};
use crate::uri;

pub(super) async fn javascript(mut call: Call<'_>, id: &SandboxId) -> Done {
    let timeout = time::take("run_javascript", ONE, &mut call.args)?;
    let request: JavaScriptExecRequest = call.args.clone().parse()?;
    let fetches = may_fetch(&request.code);
    let bay = call.bay();
    let run = JavaScriptCall { request, timeout, console: call.console.clone(), last_value: true };
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
    for warning in &data.warnings {
        text.push_str(&format!("\nNote: {warning}"));
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
        failure = Some(javascript_failure(&data.result, done.error.as_deref()));
        if let Some(value) = data.result.get("result") {
            merge(&mut structured, json!({"result": value}));
        }
    }
    let mut reply = Reply::new(text, structured);
    reply.failure = failure;
    reply.stranger = fetches.then_some("code that may have fetched it from elsewhere");
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
fn javascript_failure(answer: &Value, text: Option<&str>) -> Failure {
    let word = |name: &str| answer.get(name).and_then(Value::as_str);
    let code = word("error").unwrap_or("js_execution_failed");
    let message = word("message").or(text).unwrap_or("the code failed");
    let next_step = word("hint").unwrap_or_else(|| javascript_advice(code));
    let mut failure = Failure::new(code, message, next_step);
    let known = ["error", "message", "hint", "result"];
    let details = answer.as_object().into_iter().flatten().filter(|(name, _)| !known.contains(&name.as_str()));
    failure.details = details.map(|(name, value)| (name.clone(), value.clone())).collect::<Map<_, _>>();
    failure
}

pub(super) async fn python(mut call: Call<'_>, id: &SandboxId) -> Done {
    let timeout = time::take("execute_python", ONE, &mut call.args)?;
    let request: PythonExecRequest = call.args.clone().parse()?;
    let fetches = may_fetch(&request.code);
    let done = call.bay().exec_python(&call.owner, id, Timed { request, timeout }).await?;
    let mut structured = executed(
        done.success,
        &done.output,
        done.execution_id.as_deref().filter(|_| done.recorded),
        done.execution_time_ms,
    );
    let mut reply = Reply::new(done.output, Value::Null);
    if let Some(data) = &done.data {
        for (media_type, bytes) in data.output.images.iter().flatten() {
            reply.encoded_picture(bytes, media_type);
        }
        merge(&mut structured, json!({"execution_count": data.execution_count, "images": reply.pictures()}));
    }
    reply.structured = structured.as_object().cloned().unwrap_or_default();
    if !done.success {
        let message = done.error.unwrap_or_else(|| "the code failed".to_owned());
        let advice = match (done.state_lost, done.timed_out) {
            (true, true) => {
                "Variables and imports are gone. Do less in one call, or give it a longer `timeout_ms` (at most 300000)."
            }
            (true, false) => "Variables and imports are gone. Fix the error and run what comes before it again.",
            (false, true) => "Do less in one call, or give it a longer `timeout_ms` (at most 300000).",
            (false, false) => "Variables set before the failing line are kept. Fix the error and continue from there.",
        };
        reply.failure = Some(Failure::new("python_error", message, advice));
    }
    reply.stranger = fetches.then_some("code that may have fetched it from elsewhere");
    Ok(reply)
}

pub(super) async fn shell(mut call: Call<'_>, id: &SandboxId) -> Done {
    let timeout = time::take("execute_shell", ONE, &mut call.args)?;
    let request: ShellExecRequest = call.args.clone().parse()?;
    let fetches = may_fetch(&request.command);
    let done = call.bay().exec_shell(&call.owner, id, Timed { request, timeout }).await?;
    let mut structured = executed(
        done.success,
        &done.output,
        done.execution_id.as_deref().filter(|_| done.recorded),
        done.execution_time_ms,
    );
    merge(&mut structured, json!({"exit_code": done.exit_code}));
    let mut reply = Reply::new(done.output, structured);
    if !done.success {
        let message = match (done.error, done.exit_code) {
            (Some(error), _) if !error.trim().is_empty() => error,
            (_, Some(code)) => format!("the command ended with exit code {code}"),
            _ => "the command failed".to_owned(),
        };
        let advice = if done.timed_out {
            "Do less in one call, or give it a longer `timeout_ms` (at most 300000)."
        } else {
            "Read its output, fix the command and run it again."
        };
        reply.failure = Some(Failure::new("command_failed", message, advice));
    }
    reply.stranger = fetches.then_some("a command that may have fetched it from elsewhere");
    Ok(reply)
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
