//! `cove sandbox logs`: what ran, and with `--follow` what runs.

use std::io::Write as _;

use cove_api::{Event, EventKind, HistoryEntry, HistoryQuery};
use cove_client::Client;
use serde_json::Value;

use super::{print_json, table};
use crate::terminal::{self, DIM, GREEN, PLAIN, Paint, RED};

pub(super) async fn logs(bay: &Client, id: &str, follow: bool, last: u32, json: bool) -> anyhow::Result<()> {
    // Before the past is read, so that nothing falls between the two.
    let mut events = if follow { Some(bay.events(id, None).await?) } else { None };
    let query = HistoryQuery { limit: Some(last), ..HistoryQuery::default() };
    let past = bay.history(id, &query).await?;
    for entry in past.entries.iter().rev() {
        if json { print_json(entry)? } else { show_entry(entry)? }
    }
    while let Some(events) = &mut events {
        let Some(event) = events.next().await? else { break };
        if json { print_json(&event)? } else { show_event(&event)? }
    }
    Ok(())
}

fn mark(success: bool) -> (Paint, char) {
    if success { (GREEN, '✓') } else { (RED, '✗') }
}

fn show_entry(entry: &HistoryEntry) -> std::io::Result<()> {
    let mut out = terminal::out();
    let (paint, mark) = mark(entry.success);
    let first = entry.code.lines().next().unwrap_or_default();
    let when = table::ago(entry.created_at);
    let (took, kind) = (entry.execution_time_ms, &entry.exec_type);
    writeln!(out, "{paint}{mark}{PLAIN} {DIM}{when:<10} {took:>6} ms  {kind:<10}{PLAIN} {first}")?;
    for line in entry.output.iter().chain(entry.error.iter().filter(|_| !entry.success)).flat_map(|text| text.lines()) {
        writeln!(out, "  {line}")?;
    }
    Ok(())
}

fn show_event(event: &Event) -> std::io::Result<()> {
    let mut out = terminal::out();
    let field = |name: &str| match event.data.get(name) {
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
        None => String::new(),
    };
    match event.kind {
        EventKind::Console => writeln!(out, "  {}", field("text")),
        EventKind::Output => field("text").lines().try_for_each(|line| writeln!(out, "  {line}")),
        EventKind::RunStarted => writeln!(out, "{DIM}· {} {}{PLAIN}", field("exec_type"), field("execution_id")),
        EventKind::RunFinished => {
            let (paint, mark) = mark(field("success") == "true");
            writeln!(out, "{paint}{mark}{PLAIN} {DIM}{} ms  {}{PLAIN}", field("execution_time_ms"), field("exec_type"))
        }
        EventKind::State => writeln!(out, "{DIM}· {}{PLAIN}", field("status")),
        EventKind::ToolCall => writeln!(out, "{DIM}· calls {}{PLAIN}", field("name")),
        EventKind::Ports => {
            let ports = event.data.get("ports").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
            let listed: Vec<String> = ports.iter().map(|one| one["port"].to_string()).collect();
            writeln!(
                out,
                "{DIM}· ports: {}{PLAIN}",
                if listed.is_empty() { "none".to_owned() } else { listed.join(", ") }
            )
        }
        EventKind::ApprovalAsked => {
            writeln!(out, "{DIM}· {} waits for a person: {}{PLAIN}", field("tool"), field("id"))
        }
        EventKind::Network => {
            writeln!(out, "{DIM}· connection to {}:{} {}{PLAIN}", field("host"), event.data["port"], field("verdict"))
        }
        EventKind::ApprovalEnded => writeln!(out, "{DIM}· {}: {}{PLAIN}", field("tool"), field("end")),
        EventKind::Gap => writeln!(out, "{DIM}· some events were missed{PLAIN}"),
    }
}
