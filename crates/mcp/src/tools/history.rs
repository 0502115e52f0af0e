//! What ran before.

use cove_api::{Annotation, ExecutionId, HistoryEntry, HistoryQuery, SandboxId};
use cove_core::beginning_chars;
use serde_json::{Value, json};

use super::sandboxes::to_value;
use super::{Call, Done};
use crate::reply::Reply;

/// In a list, a text is shown up to here.
const LISTED_CHARS: usize = 400;

pub(super) async fn list(mut call: Call<'_>, id: &SandboxId) -> Done {
    call.args.or_insert("limit", 20);
    let query: HistoryQuery = call.args.clone().parse()?;
    let list = call.bay().history(&call.owner, id, query).await?;
    let mut text = format!("{} of {} executions, newest first.\n", list.entries.len(), list.total);
    for entry in &list.entries {
        let how = if entry.success { "ok" } else { "failed" };
        let code = beginning_chars(&entry.code, 120).0.replace('\n', " ");
        text.push_str(&format!(
            "{} {} {how} {} ms {}: {code}\n",
            entry.id, entry.exec_type, entry.execution_time_ms, entry.created_at
        ));
    }
    let short = |entry: &HistoryEntry| {
        let mut fields = facts(entry);
        if is_browser(entry) {
            // A page's words come marked, one execution at a time.
            fields["output"] = Value::Null;
        }
        for name in ["code", "output", "failure", "notes"] {
            if let Value::String(text) = &mut fields[name]
                && let (beginning, true) = beginning_chars(text, LISTED_CHARS)
            {
                *text = format!("{beginning}…");
            }
        }
        fields
    };
    let entries: Vec<Value> = list.entries.iter().map(short).collect();
    Ok(Reply::new(text, json!({"entries": entries, "total": list.total})))
}

pub(super) async fn one(mut call: Call<'_>, id: &SandboxId) -> Done {
    let execution_id = call.args.take_id::<ExecutionId>("execution_id")?;
    let entry = call.bay().execution(&call.owner, id, &execution_id).await?;
    Ok(shown(&entry))
}

pub(super) async fn last(call: Call<'_>, id: &SandboxId) -> Done {
    let query: HistoryQuery = call.args.clone().parse()?;
    let entry = call.bay().last_execution(&call.owner, id, query.exec_type).await?;
    Ok(shown(&entry))
}

pub(super) async fn annotate(mut call: Call<'_>, id: &SandboxId) -> Done {
    let execution_id = call.args.take_id::<ExecutionId>("execution_id")?;
    let note: Annotation = call.args.clone().parse()?;
    let entry = call.bay().annotate(&call.owner, id, &execution_id, note).await?;
    Ok(shown(&entry))
}

fn shown(entry: &HistoryEntry) -> Reply {
    let how = if entry.success { "ok" } else { "failed" };
    let mut text =
        format!("{} {} {how} {} ms {}\n", entry.id, entry.exec_type, entry.execution_time_ms, entry.created_at);
    let parts = [
        ("Description", entry.description.as_ref()),
        ("Tags", entry.tags.as_ref()),
        ("Notes", entry.notes.as_ref()),
        ("Code", Some(&entry.code)),
        ("Output", entry.output.as_ref()),
        ("Failure", entry.error.as_ref()),
    ];
    for (name, words) in parts {
        if let Some(words) = words.filter(|words| !words.is_empty()) {
            text.push_str(&format!("{name}:\n{words}\n"));
        }
    }
    let mut reply = Reply::new(text, facts(entry));
    if is_browser(entry) {
        reply.stranger = Some("a web page");
    }
    reply
}

fn is_browser(entry: &HistoryEntry) -> bool {
    entry.exec_type.is_browser()
}

/// The entry's fields; `error` is the name of this call's own failure, so the entry's is `failure`.
fn facts(entry: &HistoryEntry) -> Value {
    let mut fields = to_value(entry);
    if let Some(fields) = fields.as_object_mut() {
        let failure = fields.remove("error").unwrap_or_default();
        fields.insert("failure".to_owned(), failure);
    }
    fields
}
