//! Code and sandboxes.

use serde_json::json;

use super::schema::{count, executed, flag, pictures, plain, process, sandbox, tags, text, timeout_ms};
use super::{Entry, Hints, ToolSet};
use crate::time::ONE;

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
                "code": text("A function body. With `session`: statements; the last value is the result."),
                "input": {
                    "type": ["object", "array", "string", "number", "boolean", "null"],
                    "description": "The variable `input`.",
                },
                "timeout_ms": timeout_ms(ONE),
                "engine": {
                    "type": "string",
                    "enum": ["auto", "embedded", "browser"],
                    "default": "auto",
                    "description": "auto: a browser only if the code needs a page.",
                },
                "session": {
                    "type": ["boolean", "string"],
                    "description": "true or a name: variables stay for the next call with it.",
                },
                "description": plain(),
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
                "Run JavaScript or TypeScript: calculate, transform data, draw charts, do many file operations in one call.\n\
                 - It is the body of an async function: `return` a JSON value.\n\
                 - `getCanvas(width, height)` is a canvas (2D API) that comes back as a picture.\n\
                 - `await read(path)` is the text of a file of the workspace, `await write(path, text)` writes one; `edit`, \
                 `grep`, `find` and `ls` are here, too.\n\
                 - `require` and `import` give Node's path, util, events, url, crypto, Buffer and fs (of the workspace); there \
                 are no packages.\n\
                 - No network unless the profile opens hosts. At most 50,000 characters of code, 200,000 of result.\n\
                 Example: {\"code\": \"const c = getCanvas(400, 300).getContext('2d'); c.fillRect(50, 50, input.w, 100); \
                 return 'drawn'\", \"input\": {\"w\": 200}}",
                Hints::Runs,
            )
        },
        Entry {
            input: json!({
                "code": plain(),
                "timeout_ms": timeout_ms(ONE),
                "description": plain(),
                "tags": tags(),
            }),
            required: &["code"],
            output: executed(json!({"execution_count": {"type": ["integer", "null"]}, "images": pictures()})),
            ..base(
                "execute_python",
                "Run Python",
                "Run Python in the workspace, as in a notebook: variables and imports stay between calls, the last \
                 expression is shown, plots come back as pictures. Use it for data work and Python's libraries. No network \
                 unless the profile opens hosts.",
                Hints::Runs,
            )
        },
        Entry {
            input: json!({
                "command": plain(),
                "timeout_ms": timeout_ms(ONE),
                "cwd": text("Relative to /workspace."),
                "description": plain(),
                "tags": tags(),
            }),
            required: &["command"],
            output: executed(json!({"exit_code": {"type": ["integer", "null"]}})),
            ..base(
                "execute_shell",
                "Run a shell command",
                "Run a bash command line in the workspace. Use it for programs and pipelines; for files, read, grep, find, \
                 edit and write are quicker and safer. Each call is a new shell: files stay, `cd` and variables do not. At \
                 the time-out everything that it started is ended. No network unless the profile opens hosts.",
                Hints::Runs,
            )
        },
        Entry {
            usual: false,
            input: json!({
                "command": plain(),
                "name": text("Its `process_id`: a word."),
                "cwd": plain(),
            }),
            required: &["command"],
            output: process(),
            ..base(
                "start_process",
                "Start a process",
                "Start a server, or another program that must run on, in the background of the sandbox.",
                Hints::Runs,
            )
        },
        Entry {
            usual: false,
            input: json!({"process_id": text("Default: list all.")}),
            output: process(),
            ..base(
                "read_process",
                "Read a process",
                "How a started process is, and what it has written.",
                Hints::ReadOnly,
            )
        },
        Entry {
            usual: false,
            input: json!({"process_id": plain()}),
            required: &["process_id"],
            output: process(),
            ..base(
                "stop_process",
                "Stop a process",
                "End a started process, with all that it has started.",
                Hints::Idempotent,
            )
        },
        Entry {
            in_sandbox: false,
            input: json!({
                "profile": {
                    "type": "string", "default": "python-default",
                    "description": "python-default, browser-python, javascript, or another of this server.",
                },
                "ttl": {"type": ["integer", "null"], "description": "Seconds until its end; default: it stays."},
                "cargo_id": text("Stored files (a cargo) to work on."),
            }),
            output: sandbox(),
            ..base(
                "create_sandbox",
                "Make a sandbox",
                "Make a sandbox: a workspace with its own files, interpreter and, with browser-python, browser. One task \
                 needs one. Pass its `id` to the other tools as `sandbox_id`.",
                Hints::Changes,
            )
        },
        Entry {
            in_sandbox: false,
            input: json!({
                "status": {"type": "string", "enum": ["idle", "starting", "ready", "failed", "expired"]},
                "limit": count(200, 50),
                "cursor": text("`next_cursor` of the page before."),
            }),
            output: json!({
                "items": {"type": "array", "items": {"type": "object", "properties": sandbox()}},
                "next_cursor": {"type": ["string", "null"]},
            }),
            ..base(
                "list_sandboxes",
                "List sandboxes",
                "List your sandboxes, newest first, to find one again or to see what to delete. One that is `idle` starts \
                 when it is next used.",
                Hints::ReadOnly,
            )
        },
        Entry {
            input: json!({"sandbox_id": plain()}),
            required: &["sandbox_id"],
            in_sandbox: false,
            output: json!({"id": {"type": "string"}, "deleted": {"type": "boolean"}}),
            ..base(
                "delete_sandbox",
                "Delete a sandbox",
                "Delete a sandbox with all its files, for good; whatever runs in it is ended.",
                Hints::Destructive,
            )
        },
        Entry {
            usual: false,
            in_sandbox: false,
            input: json!({"detail": flag(true)}),
            output: json!({"items": {"type": "array", "items": {"type": "object"}}}),
            ..base(
                "list_profiles",
                "List profiles",
                "List the profiles of create_sandbox with what each can do (python, shell, javascript, browser, …).",
                Hints::ReadOnly,
            )
        },
    ]
}
