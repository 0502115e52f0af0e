//! What each tool does: a verb of Bay, and its answer in words.

mod browser;
mod code;
mod files;
mod history;
mod processes;
mod sandboxes;
mod skills;
mod wrapped;

use std::sync::Arc;

use cove_api::{OutputStream, SandboxId};
use cove_bay::{ApprovalSink, Bay, OutputSink, Owner};
use cove_core::{LogLevel, LogLine, LogSink};

use crate::advice;
use crate::args::Args;
use crate::failure::Failure;
use crate::reply::Reply;
use crate::server::CoveMcp;

/// One call.
pub(crate) struct Call<'a> {
    pub(crate) server: &'a CoveMcp,
    pub(crate) owner: Owner,
    pub(crate) args: Args,
    /// Hears console lines, if the client wants to.
    pub(crate) console: Option<LogSink>,
    /// Asks the client's user, if the client can.
    pub(crate) asked: Option<ApprovalSink>,
    /// Whether a person can decide about calls that wait: the client's user, or whoever sees the page of the HTTP server.
    pub(crate) has_people: bool,
}

impl Call<'_> {
    fn bay(&self) -> &Bay {
        &self.server.inner.bay
    }

    /// Hears what Python or a command writes, line by line, if the client wants to.
    fn output(&self) -> Option<OutputSink> {
        let console = self.console.clone()?;
        Some(Arc::new(move |chunk| {
            let level = match chunk.stream {
                OutputStream::Stdout => LogLevel::Log,
                OutputStream::Stderr => LogLevel::Error,
            };
            for line in chunk.text.lines() {
                console(&LogLine { level, text: line.to_owned() });
            }
            if chunk.dropped > 0 {
                console(&LogLine { level, text: format!("[{} bytes of output left out]", chunk.dropped) });
            }
        }))
    }
}

type Done = Result<Reply, Failure>;

/// Names that clients of such servers know besides ours.
pub(crate) fn usual_name(name: &str) -> &str {
    match name {
        "read_file" => "read",
        "write_file" => "write",
        "list_files" => "ls",
        other => other,
    }
}

/// Runs a tool. A failure is an answer.
pub(crate) async fn run(name: &str, mut call: Call<'_>) -> Reply {
    let (mut sandbox_id, server) = (None, call.server);
    let done = match name {
        "create_sandbox" => sandboxes::create(call).await,
        "list_sandboxes" => sandboxes::list(call).await,
        "delete_sandbox" => sandboxes::delete(call).await,
        "search_tools" => wrapped::search(call).await,
        "describe_tools" => wrapped::describe(call).await,
        "list_profiles" => sandboxes::profiles(call),
        "create_skill_payload" => skills::create_payload(call).await,
        "get_skill_payload" => skills::payload(call).await,
        "create_skill_candidate" => skills::propose(call).await,
        "evaluate_skill_candidate" => skills::evaluate(call).await,
        "promote_skill_candidate" => skills::promote(call).await,
        "list_skill_candidates" => skills::candidates(call).await,
        "list_skill_releases" => skills::releases(call).await,
        "get_skill_release_health" => skills::health(call).await,
        "rollback_skill_release" => skills::rollback(call).await,
        _ => match call.server.sandbox(&call.owner, &mut call.args).await {
            Err(failure) => Err(failure),
            Ok(id) => {
                let done = in_sandbox(name, call, &id).await;
                sandbox_id = Some(id);
                done
            }
        },
    };
    let own_sandbox = server.inner.options.own_profile.is_some();
    let mut reply = done.unwrap_or_else(|mut failure| {
        advice::bay::look_up(&mut failure, name, own_sandbox);
        Reply::from(failure)
    });
    reply.sandbox_id = sandbox_id.or(reply.sandbox_id);
    reply
}

async fn in_sandbox(name: &str, call: Call<'_>, id: &SandboxId) -> Done {
    match name {
        "run_javascript" => code::javascript(call, id).await,
        "run_code" => wrapped::run(call, id).await,
        "execute_python" => code::python(call, id).await,
        "execute_shell" => code::shell(call, id).await,
        "start_process" => processes::start(call, id).await,
        "read_process" => processes::read(call, id).await,
        "stop_process" => processes::stop(call, id).await,
        "browser_exec" | "execute_browser" => browser::one(call, id).await,
        "execute_browser_batch" => browser::batch(call, id).await,
        "run_browser_skill" => browser::skill(call, id).await,
        "upload_file" => files::upload(call, id).await,
        "download_file" => files::download(call, id).await,
        "get_execution_history" => history::list(call, id).await,
        "get_execution" => history::one(call, id).await,
        "get_last_execution" => history::last(call, id).await,
        "annotate_execution" => history::annotate(call, id).await,
        other => match cove_files::FileTool::from_name(other) {
            Some(tool) => files::tool(call, id, tool).await,
            None => Err(Failure::args(format!("there is no tool {other:?}"))),
        },
    }
}
