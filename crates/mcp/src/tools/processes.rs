//! Processes that run on by themselves: servers, watchers, long jobs.

use cove_api::{CreateProcess, ProcessInfo, SandboxId};
use serde_json::{Value, json};

use super::sandboxes::to_value;
use super::{Call, Done};
use crate::reply::Reply;

/// The signal that ends a process with everything that it has started.
const KILL: i32 = 9;

pub(super) async fn start(mut call: Call<'_>, id: &SandboxId) -> Done {
    let command = call.args.take_required("command")?;
    let (name, cwd) = (call.args.take_text("name")?, call.args.take_text("cwd")?);
    let argv = ["/bin/bash".to_owned(), "-lc".to_owned(), command].to_vec();
    let wish = CreateProcess { argv, name, cwd, ..CreateProcess::default() };
    let started = call.bay().create_process(&call.owner, id, wish).await?;
    Ok(Reply::new(line(&started), structured(&started)))
}

/// One process with what it has written, or all of them.
pub(super) async fn read(mut call: Call<'_>, id: &SandboxId) -> Done {
    let Some(name) = call.args.take_text("process_id")? else {
        let list = call.bay().processes(&call.owner, id).await?.processes;
        let text = match &*list {
            [] => "No process was started.".to_owned(),
            some => some.iter().map(|one| format!("{}: {}", line(one), one.command)).collect::<Vec<_>>().join("\n"),
        };
        return Ok(Reply::new(text, json!({"processes": list.iter().map(structured).collect::<Vec<Value>>()})));
    };
    let info = call.bay().process(&call.owner, id, &name).await?;
    Ok(shown(&info))
}

pub(super) async fn stop(mut call: Call<'_>, id: &SandboxId) -> Done {
    let name = call.args.take_required("process_id")?;
    let bay = call.bay();
    bay.signal_process(&call.owner, id, &name, KILL).await?;
    Ok(shown(&bay.process(&call.owner, id, &name).await?))
}

fn shown(info: &ProcessInfo) -> Reply {
    let mut text = line(info);
    for written in info.output.iter().flat_map(|output| [&output.stdout, &output.stderr]) {
        if !written.is_empty() {
            text.push('\n');
            text.push_str(written.trim_end());
        }
    }
    Reply::new(text, structured(info))
}

/// Its fields; why it has ended is the `reason`, as `error` is a call's own in every answer.
fn structured(info: &ProcessInfo) -> Value {
    let mut value = to_value(info);
    if let Some(fields) = value.as_object_mut()
        && let Some(reason) = fields.remove("error")
    {
        fields.insert("reason".to_owned(), reason);
    }
    value
}

/// Which, and how it is.
fn line(info: &ProcessInfo) -> String {
    let name = &info.process_id;
    match (&info.error, info.return_code) {
        _ if info.running => format!("{name} has been running for {} s", info.running_ms / 1_000),
        (Some(error), _) => format!("{name} has ended: {error}"),
        (None, code) => format!("{name} has ended with exit code {}", code.unwrap_or_default()),
    }
}
