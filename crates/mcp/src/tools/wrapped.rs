//! `run_code` and what is found for it: the tools of other servers, called by code.

use std::sync::Arc;
use std::time::Duration;

use cove_api::{CodeLine, JavaScriptExecRequest, JavaScriptSession, SandboxId};
use cove_bay::JavaScriptCall;
use cove_executor::{Asker, HostTools, Question};
use cove_wrap::{AskFn, CallEnd, CallRecord, CodeRun, RunCalls, Wrap};
use serde::Deserialize;
use serde_json::{Value, json};

use super::code::{joined, merge, ran};
use super::{Call, Done};
use crate::failure::Failure;
use crate::reply::Reply;
use crate::time::{self, ONE};

/// How long code waits for servers that are being started.
const WAIT: Duration = Duration::from_secs(15);

/// Pictures of an answer that are shown.
const MAX_PICTURES: usize = 4;

/// What the text names of the calls; the fields have all of them.
const MAX_NAMED: usize = 20;

#[derive(Debug, Deserialize)]
struct RunCode {
    code: String,
    #[serde(default)]
    session: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Search {
    query: String,
    #[serde(default)]
    limit: Option<usize>,
}

#[derive(Debug, Deserialize)]
struct Describe {
    names: Vec<String>,
}

pub(super) async fn run(mut call: Call<'_>, id: &SandboxId) -> Done {
    let wrap = wrap_of(&call)?;
    let timeout = time::take("run_code", ONE, &mut call.args)?;
    let request: RunCode = call.args.clone().parse()?;
    wrap.ready(WAIT).await;
    if let Some(problem) = wrap.check(&request.code) {
        return Err(Failure::args(problem));
    }
    let name = format!("code-{}", request.session.as_deref().unwrap_or("main"));
    let session = call.server.code_session(id, &name);
    let Ok(_turn) = tokio::time::timeout(timeout, session.turn.lock()).await else {
        let next_step = "Wait until the other call of run_code has ended, or name another session.";
        return Err(Failure::new("conflict", "the session is busy with another run", next_step));
    };
    let calls = Arc::new(RunCalls::default());
    session.enter(CodeRun {
        code: request.code.as_str().into(),
        calls: Arc::clone(&calls),
        has_people: call.has_people,
    });
    let host_tools = HostTools {
        make: {
            let (wrap, session) = (Arc::clone(&wrap), Arc::clone(&session));
            Arc::new(move |asker: &Asker| wrap.tools(&session, ask_with(asker)))
        },
        prelude: wrap.prelude().into(),
    };
    let request = JavaScriptExecRequest {
        code: request.code,
        input: None,
        engine: None,
        timeout: 0,
        session: Some(JavaScriptSession::Named(name)),
        tools: Vec::new(),
        include_code: false,
        description: None,
        tags: None,
    };
    let run = JavaScriptCall {
        timeout,
        console: call.console.clone(),
        host_tools: Some(host_tools),
        asked: call.asked.clone(),
        ..JavaScriptCall::from(request)
    };
    // However it ended: what was called was called.
    let mut reply = ran(&call, id, run).await.unwrap_or_else(|mut failure| {
        let own_sandbox = call.server.inner.options.own_profile.is_some();
        crate::advice::bay::look_up(&mut failure, "run_code", own_sandbox);
        Reply::from(failure)
    });
    let (list, more) = calls.list();
    if !list.is_empty() {
        reply.stranger = Some("tools of other servers");
        reply.notes.push(told(&list, more, calls.retry_safe()));
        let mut fields = json!({"calls": list, "retry_safe": calls.retry_safe()});
        if more > 0 {
            fields["more_calls"] = json!(more);
        }
        let mut structured = Value::Object(std::mem::take(&mut reply.structured));
        merge(&mut structured, fields);
        reply.structured = structured.as_object().cloned().unwrap_or_default();
    }
    let mut handles = Vec::new();
    handles_in(reply.structured.get("result").unwrap_or(&Value::Null), &mut handles);
    for handle in handles {
        if let Some(blob) = wrap.blob(&handle) {
            reply.encoded_picture(&blob.data, &blob.media_type);
        }
    }
    Ok(reply)
}

pub(super) async fn search(call: Call<'_>) -> Done {
    let wrap = wrap_of(&call)?;
    let Search { query, limit } = call.args.clone().parse()?;
    wrap.ready(WAIT).await;
    let found = wrap.search(&query, limit);
    let text = if found.is_empty() {
        format!(
            "No tool fits {:?}. Try other words, or a server's name with describe_tools.",
            cove_core::shorten_word(&query)
        )
    } else {
        found.join("\n\n")
    };
    Ok(Reply::new(text, json!({"tools": found})))
}

pub(super) async fn describe(call: Call<'_>) -> Done {
    let wrap = wrap_of(&call)?;
    let Describe { names } = call.args.clone().parse()?;
    wrap.ready(WAIT).await;
    let told: Vec<String> = wrap.describe(&names).into_iter().map(|one| one.unwrap_or_else(|no| no)).collect();
    Ok(Reply::new(told.join("\n\n"), json!({"tools": told})))
}

fn wrap_of(call: &Call<'_>) -> Result<Arc<Wrap>, Failure> {
    let wrap = call.server.inner.options.wrap.clone();
    wrap.ok_or_else(|| Failure::args("this server wraps no other servers"))
}

/// Asks a person through the host of the session.
fn ask_with(asker: &Asker) -> AskFn {
    let asker = asker.clone();
    Arc::new(move |question| {
        let asker = asker.clone();
        Box::pin(async move {
            let lines = question.lines.into_iter().map(|(line, text)| CodeLine { line, text }).collect();
            let question = Question { tool: question.tool, args: question.args, why: question.why, lines };
            asker.ask(question).await.map_err(|error| error.message)
        })
    })
}

/// The calls in words: which, how they ended, and whether the code can be run again.
fn told(calls: &[CallRecord], more: u64, retry_safe: bool) -> String {
    let mut groups: Vec<(&CallRecord, usize)> = Vec::new();
    for call in calls {
        match groups.iter_mut().find(|(known, _)| known.tool == call.tool && known.end == call.end) {
            Some((_, count)) => *count += 1,
            None => groups.push((call, 1)),
        }
    }
    let one = |(call, count): &(&CallRecord, usize)| {
        let times = if *count > 1 { format!(" ×{count}") } else { String::new() };
        let end = match call.end {
            CallEnd::Done => call.effect,
            CallEnd::Failed => "failed",
            CallEnd::Unknown => "unknown whether done",
            CallEnd::NotMade => "not made",
            CallEnd::Denied => "denied, not made",
        };
        format!("{}{times} ({end})", call.tool)
    };
    let mut text = groups.iter().take(MAX_NAMED).map(one).collect::<Vec<_>>().join(", ");
    let unnamed = groups.iter().skip(MAX_NAMED).map(|(_, count)| *count as u64).sum::<u64>() + more;
    if unnamed > 0 {
        text.push_str(&format!(" and {unnamed} more"));
    }
    let again = if retry_safe { "Running this code again is safe." } else { "Running this code again repeats them." };
    joined(&format!("Calls: {text}."), again).replace('\n', " ")
}

/// The pictures in a value.
fn handles_in(value: &Value, handles: &mut Vec<String>) {
    if handles.len() >= MAX_PICTURES {
        return;
    }
    match value {
        Value::Array(items) => items.iter().for_each(|item| handles_in(item, handles)),
        Value::Object(fields) => match (fields.get("type").and_then(Value::as_str), fields.get("handle")) {
            (Some("image"), Some(Value::String(handle))) => handles.push(handle.clone()),
            _ => fields.values().for_each(|field| handles_in(field, handles)),
        },
        _ => {}
    }
}
