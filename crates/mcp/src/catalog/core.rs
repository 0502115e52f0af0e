//! Code and sandboxes.

use serde_json::json;

use super::schema::{count, described, executed, flag, sandbox, seconds, tags, text};
use super::{Entry, Hints, ToolSet};

pub(super) fn entries() -> Vec<Entry> {
    let base = |name, title, description, hints| Entry {
        name,
        title,
        set: ToolSet::Core,
        usual: true,
        in_sandbox: true,
        description,
        input: json!({}),
        required: &[],
        output: json!({}),
        hints,
    };
    vec![
        Entry {
            input: json!({
                "code": text("JavaScript or TypeScript: a function body whose `return` gives the result. With `session`: \
                              statements whose last value is the result."),
                "input": {
                    "type": ["object", "array", "string", "number", "boolean", "null"],
                    "description": "Any JSON value; the code sees it as the variable `input`.",
                },
                "timeout": count("Milliseconds after which it is ended.", 1, 300_000, 30_000),
                "engine": {
                    "type": "string",
                    "enum": ["auto", "embedded", "browser"],
                    "default": "auto",
                    "description": "auto: the quick embedded engine, unless the code needs a page (document, window, WebGL, …).",
                },
                "session": {
                    "type": ["boolean", "string"],
                    "description": "true, or a name: variables stay for the next call with the same session.",
                },
                "description": described(),
                "tags": tags(),
            }),
            required: &["code"],
            output: executed(json!({
                "result": {"description": "The value that the code returned."},
                "logs": text("Console lines."),
                "images": {
                    "type": "array",
                    "description": "Pictures that were drawn; their pixels are image content of this answer.",
                    "items": {
                        "type": "object",
                        "properties": {
                            "name": {"type": "string"}, "uri": {"type": "string"}, "media_type": {"type": "string"},
                            "width": {"type": ["integer", "null"]}, "height": {"type": ["integer", "null"]},
                        },
                    },
                },
                "engine": {"type": ["object", "null"]},
                "is_final": {"type": "boolean"},
                "warnings": {"type": "array", "items": {"type": "string"}},
            })),
            ..base(
                "run_javascript",
                "Run JavaScript",
                "Run JavaScript or TypeScript behind walls and get its value back. Use it to calculate, to transform data, \
                 to draw charts and pictures, or to script several file operations in one call.\n\
                 - Runs as an async function: use `return` and `await`; the value must be JSON. `input` is what you passed.\n\
                 - `getCanvas(width, height)` gives a canvas (2D API); what is on it at the end comes back as a picture.\n\
                 - File tools are functions here: `await read({path})`, `write`, `edit`, `grep`, `find`, `ls`.\n\
                 - No network unless the sandbox's profile opens hosts; no `require`, no Node.js modules.\n\
                 - Limits: 50,000 characters of code, 200,000 of result, 30 s unless `timeout` (ms) says otherwise.\n\
                 - A failure names the line and shows it.\n\
                 Example: {\"code\": \"const c = getCanvas(400, 300).getContext('2d'); c.fillStyle = 'red'; \
                 c.fillRect(50, 50, input.w, 100); return 'drawn'\", \"input\": {\"w\": 200}}",
                Hints::Runs,
            )
        },
        Entry {
            input: json!({
                "code": text("Python. Variables, imports and functions stay for the next call."),
                "timeout": seconds(300, 30),
                "description": described(),
                "tags": tags(),
            }),
            required: &["code"],
            output: executed(json!({
                "execution_count": {"type": ["integer", "null"]},
                "images": {"type": "integer", "description": "How many pictures are in this answer as image content."},
            })),
            ..base(
                "execute_python",
                "Run Python",
                "Run Python in the sandbox's interpreter. Use it for data work, plots and anything that wants Python's \
                 libraries; state is kept between calls, as in a notebook, and the last expression's value is shown.\n\
                 - The working directory is /workspace, the same files that the file tools see.\n\
                 - Plots that are shown come back as pictures.\n\
                 - Limits: 30 s unless `timeout` (seconds, at most 300) says otherwise; no network unless the profile opens \
                 hosts. On a time-out the code is interrupted; variables stay where that was enough.\n\
                 Example: {\"code\": \"import csv\\nrows = list(csv.DictReader(open('data.csv')))\\nlen(rows)\"}",
                Hints::Runs,
            )
        },
        Entry {
            input: json!({
                "command": text("A command line for bash."),
                "timeout": seconds(300, 30),
                "cwd": text("The folder to run in, relative to /workspace."),
                "description": described(),
                "tags": tags(),
            }),
            required: &["command"],
            output: executed(json!({"exit_code": {"type": ["integer", "null"]}})),
            ..base(
                "execute_shell",
                "Run a shell command",
                "Run a command line with bash in the sandbox, as an ordinary user in /workspace. Use it for programs and \
                 pipelines; for reading, searching and changing files the tools read, grep, find, edit and write are \
                 quicker and safer.\n\
                 - Each call is a new shell: `cd` and variables do not stay; files do.\n\
                 - Limits: 30 s unless `timeout` (seconds, at most 300) says otherwise; then every process it started is \
                 ended, and what it wrote until then is returned. No network unless the profile opens hosts.\n\
                 Example: {\"command\": \"wc -l *.csv | sort -n | tail -3\"}",
                Hints::Runs,
            )
        },
        Entry {
            in_sandbox: false,
            input: json!({
                "profile": text("What it is made of: python-default, browser-python, javascript, or another that this \
                                 server knows. Default: python-default."),
                "ttl": {
                    "type": ["integer", "null"], "minimum": 0,
                    "description": "Seconds until its end; absent or 0: it stays until it is deleted.",
                },
                "cargo_id": text("Files that are there already (a cargo); absent: an empty workspace of its own."),
            }),
            output: sandbox(),
            ..base(
                "create_sandbox",
                "Make a sandbox",
                "Make a sandbox: a private workspace with its own files, interpreter and (with the profile browser-python) \
                 browser. Use it to keep separate tasks apart; for one task, one sandbox is enough. The answer's `id` is \
                 the `sandbox_id` of every other tool. It costs nothing until it is used, and starts with its first use.\n\
                 Example: {\"profile\": \"browser-python\", \"ttl\": 3600}",
                Hints::Changes,
            )
        },
        Entry {
            in_sandbox: false,
            input: json!({
                "status": {
                    "type": "string", "enum": ["idle", "starting", "ready", "failed", "expired"],
                    "description": "Only those in this state.",
                },
                "limit": count("How many at most.", 1, 200, 50),
                "cursor": text("`next_cursor` of the page before."),
            }),
            output: json!({
                "items": {"type": "array", "items": {"type": "object", "properties": sandbox()}},
                "next_cursor": {"type": ["string", "null"]},
            }),
            ..base(
                "list_sandboxes",
                "List sandboxes",
                "List your sandboxes with their state, newest first. Use it to find a sandbox that you made before, or to \
                 see what is left to delete. `idle` means that the next call starts it; `expired` that it is over.\n\
                 Example: {\"status\": \"ready\"}",
                Hints::ReadOnly,
            )
        },
        Entry {
            input: json!({}),
            required: &["sandbox_id"],
            in_sandbox: false,
            output: json!({"id": {"type": "string"}, "deleted": {"type": "boolean"}}),
            ..base(
                "delete_sandbox",
                "Delete a sandbox",
                "Delete a sandbox with everything in it: its files, its browser, its variables. There is no way back, so \
                 fetch what you need first. Whatever runs in it is ended. One that is gone already answers not_found.\n\
                 Example: {\"sandbox_id\": \"sandbox-0123456789ab\"}",
                Hints::Destructive,
            )
        },
        Entry {
            usual: false,
            in_sandbox: false,
            input: json!({"detail": flag("Say also what each is for and what its containers are.", true)}),
            output: json!({"items": {"type": "array", "items": {"type": "object"}}}),
            ..base(
                "list_profiles",
                "List profiles",
                "List the profiles that a sandbox can be made of, with what each can do (python, shell, filesystem, \
                 javascript, browser, …). Use it before create_sandbox when the task needs something special. \
                 Example: {}",
                Hints::ReadOnly,
            )
        },
    ]
    .into_iter()
    .map(|mut entry| {
        if entry.name == "delete_sandbox" {
            entry.input = json!({"sandbox_id": text("Which sandbox.")});
        }
        entry
    })
    .collect()
}
