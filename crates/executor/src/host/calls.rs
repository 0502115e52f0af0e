//! Tool calls that wait for the answer of whoever asked for the run.
//!
//! A call lives as long as the run that made it: when the run ends, is given up or runs out of time, the engine drops
//! the call, and an answer that comes later finds nobody.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cove_core::{ToolCall, ToolError, ToolSpec};
use serde_json::Value;
use tokio::sync::oneshot;

use super::approvals::{Asker, Question};

/// Calls of one owner that may wait at once.
const MAX_WAITING: usize = 256;

/// The most bytes of one call's arguments: they travel as an event.
const MAX_ARGS_BYTES: usize = 256 << 10;

/// All calls that wait.
#[derive(Debug, Default)]
pub(super) struct PendingCalls(Mutex<HashMap<String, Pending>>);

#[derive(Debug)]
struct Pending {
    owner: String,
    answer: oneshot::Sender<Result<Value, ToolError>>,
}

/// Nobody waits for this answer: the call was answered already, its run has ended, or it is another owner's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no pending tool call {0}")]
pub struct NoSuchCall(pub String);

impl PendingCalls {
    /// A client's answer. Given once; a second one, or one for another's call, finds nothing.
    pub(super) fn answer(
        &self,
        owner: &str,
        call_id: &str,
        answer: Result<Value, ToolError>,
    ) -> Result<(), NoSuchCall> {
        let pending = {
            let mut calls = self.calls();
            let own = calls.get(call_id).is_some_and(|pending| pending.owner == owner);
            if own { calls.remove(call_id) } else { None }
        };
        let gone = || NoSuchCall(call_id.to_owned());
        pending.ok_or_else(gone)?.answer.send(answer).map_err(|_| gone())
    }

    /// The tool `name` of an owner, answered by whoever asked for the current run.
    pub(super) fn tool(self: &Arc<Self>, name: &str, asker: &Asker) -> ToolSpec {
        let (calls, asker) = (Arc::clone(self), asker.clone());
        let tool = name.to_owned();
        ToolSpec::new(name, move |call: ToolCall| {
            let (calls, asker) = (Arc::clone(&calls), asker.clone());
            let tool = tool.clone();
            async move { calls.ask(&tool, call.args, &asker).await }
        })
    }

    async fn ask(&self, tool: &str, args: Vec<Value>, asker: &Asker) -> Result<Value, ToolError> {
        let owner = asker.owner.as_str();
        let run = asker.current.get().filter(|run| run.tools.iter().any(|name| name == tool));
        let run = run.ok_or_else(|| ToolError::new(format!("`{tool}` has no handler in this run")))?;
        let bytes: usize = args.iter().map(|arg| arg.to_string().len()).sum();
        if bytes > MAX_ARGS_BYTES {
            let message = format!("the arguments of `{tool}` have {bytes} bytes; the limit is {MAX_ARGS_BYTES}");
            return Err(ToolError::new(message));
        }
        if run.asked.iter().any(|name| name == tool) {
            let why = "the caller requires approval for this tool".to_owned();
            let question = Question { tool: tool.to_owned(), args: Value::Array(args.clone()), why, lines: Vec::new() };
            asker.ask(question).await?;
        }
        let chance = getrandom::u64().map_err(|error| ToolError::new(error.to_string()))?;
        let call_id = format!("call-{chance:016x}");
        let (answer, answered) = oneshot::channel();
        {
            let mut calls = self.calls();
            if calls.values().filter(|pending| pending.owner == owner).count() >= MAX_WAITING {
                return Err(ToolError::new(format!("too many pending tool calls: the limit is {MAX_WAITING}")));
            }
            calls.insert(call_id.clone(), Pending { owner: owner.to_owned(), answer });
        }
        let _forget = Forget { calls: self, call_id: &call_id };
        run.listener.tool_called(&call_id, tool, args);
        answered.await.map_err(|_| ToolError::new(format!("`{tool}` was not answered")))?
    }

    fn calls(&self) -> MutexGuard<'_, HashMap<String, Pending>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Takes a call off the list, also when its run was given up.
struct Forget<'a> {
    calls: &'a PendingCalls,
    call_id: &'a str,
}

impl Drop for Forget<'_> {
    fn drop(&mut self) {
        self.calls.calls().remove(self.call_id);
    }
}
