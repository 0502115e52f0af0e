//! The tools in front of other servers' tools: `run_code`, `search_tools`, `describe_tools`.
//!
//! However many tools there are behind them, these three take the same part of a model's window: the list of names in the
//! description is cut to a budget, and a search finds the rest.

use std::time::Duration;

use cove_wrap::Wrap;
use rmcp::model::Tool;
use serde_json::json;

use super::schema::{count, executed, plain, text, timeout_ms};
use super::{Entry, Hints, ToolSet, tool};
use crate::time::ONE;

/// Their names.
pub(crate) const WRAPPED: [&str; 3] = ["run_code", "search_tools", "describe_tools"];

/// How long a list of tools waits for servers that are being started.
const WAIT: Duration = Duration::from_secs(15);

/// Characters of the list of names: with everything else the three tools take at most 1,500 tokens
/// (`tests/mcp/wrap.mjs` counts them).
const LISTING_CHARS: usize = 2_200;

/// The three tools, with what there is to call.
pub(crate) async fn wrapped(wrap: &Wrap, own_sandbox: bool) -> Vec<Tool> {
    wrap.ready(WAIT).await;
    let mut tools: Vec<Tool> = entries().iter().map(|entry| tool(entry, own_sandbox, false)).collect();
    if let Some(run) = tools.first_mut() {
        let about = run.description.take().unwrap_or_default();
        let listing = wrap.listing(LISTING_CHARS);
        run.description = Some(format!("{about}\n{} tools:\n{}", wrap.count(), listing.trim_end()).into());
    }
    tools
}

fn entries() -> Vec<Entry> {
    let base = |name, title, description, hints| Entry {
        name,
        title,
        set: ToolSet::Core,
        usual: true,
        in_sandbox: false,
        description,
        input: json!({}),
        required: &[],
        output: json!({}),
        hints,
    };
    vec![
        Entry {
            in_sandbox: true,
            input: json!({
                "code": plain(),
                "timeout_ms": timeout_ms(ONE),
                "session": text("Another session with variables of its own."),
            }),
            required: &["code"],
            output: executed(json!({
                "result": {},
                "logs": text("Console lines."),
                "calls": {"type": "array", "items": {"type": "object"}},
                "retry_safe": {"type": "boolean"},
            })),
            ..base(
                WRAPPED[0],
                "Run code with tools",
                "Run JavaScript or TypeScript that calls tools: `const {items} = await server.tool({arg: 1}); items.length`. \
                 Do many steps in one call: loop, filter, `Promise.all`, and return only what you need; results do not pass \
                 through you. The last value (or `return`) is the result; variables stay for the next call. `await \
                 search_tools('words')` and `describe_tools('server.tool')` give types, here and as tools. A tool that fails \
                 throws. Also `read`, `write`, `edit`, `grep`, `find`, `ls` on the workspace, `openHandle(h)` for pictures.",
                Hints::OpenWorld,
            )
        },
        Entry {
            input: json!({"query": plain(), "limit": count(50, 8)}),
            required: &["query"],
            output: json!({"tools": {"type": "array", "items": {"type": "string"}}}),
            ..base(
                WRAPPED[1],
                "Search tools",
                "Find tools for run_code by words: their TypeScript declarations.",
                Hints::ReadOnly,
            )
        },
        Entry {
            input: json!({"names": {"type": "array", "items": {"type": "string"}}}),
            required: &["names"],
            output: json!({"tools": {"type": "array", "items": {"type": "string"}}}),
            ..base(
                WRAPPED[2],
                "Describe tools",
                "The declarations of tools (`server.tool`) or of all tools of a server.",
                Hints::ReadOnly,
            )
        },
    ]
}
