//! Tool calls that wait for a client's answer.
//!
//! A call lives as long as the run that made it: when the run ends, is given up or runs out of time, the engine drops
//! the call, and an answer that comes later finds nobody.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cove_api::{BayError, ErrorCode, ToolAnswer};
use cove_core::{ToolCall, ToolError, ToolSpec};
use serde_json::Value;
use tokio::sync::oneshot;

use super::place::Current;

/// Calls of one sandbox that may wait at once.
const MAX_WAITING: usize = 256;

/// What one call's arguments may weigh: they travel as an event.
const MAX_ARGS_BYTES: usize = 256 << 10;

/// All calls that wait.
#[derive(Debug, Default)]
pub(crate) struct Calls(Mutex<HashMap<String, Waiting>>);

#[derive(Debug)]
struct Waiting {
    sandbox_id: String,
    answer: oneshot::Sender<ToolAnswer>,
}

impl Calls {
    /// A client's answer. Given once; a second one, or one for another's call, finds nothing.
    pub(crate) fn answer(&self, sandbox_id: &str, call_id: &str, answer: ToolAnswer) -> Result<(), BayError> {
        let waiting = {
            let mut calls = self.calls();
            let own = calls.get(call_id).is_some_and(|waiting| waiting.sandbox_id == sandbox_id);
            if own { calls.remove(call_id) } else { None }
        };
        let gone = || BayError::new(ErrorCode::NotFound, format!("there is no pending tool call {call_id}"));
        waiting.ok_or_else(gone)?.answer.send(answer).map_err(|_| gone())
    }

    /// The tool `name` of a sandbox, answered by whoever asked for the current run.
    pub(crate) fn tool(self: &Arc<Self>, sandbox_id: &str, name: &str, current: &Arc<Current>) -> ToolSpec {
        let (calls, sandbox_id, current) = (Arc::clone(self), sandbox_id.to_owned(), Arc::clone(current));
        let tool = name.to_owned();
        ToolSpec::new(name, move |call: ToolCall| {
            let (calls, sandbox_id, current) = (Arc::clone(&calls), sandbox_id.clone(), Arc::clone(&current));
            let tool = tool.clone();
            async move { calls.ask(&sandbox_id, &tool, call.args, &current).await }
        })
    }

    async fn ask(&self, sandbox_id: &str, tool: &str, args: Vec<Value>, current: &Current) -> Result<Value, ToolError> {
        let run = current.get().filter(|run| run.tools.iter().any(|name| name == tool));
        let run = run.ok_or_else(|| ToolError::new(format!("`{tool}` has no handler in this run")))?;
        let bytes: usize = args.iter().map(|arg| arg.to_string().len()).sum();
        if bytes > MAX_ARGS_BYTES {
            let message = format!("the arguments of `{tool}` have {bytes} bytes; the limit is {MAX_ARGS_BYTES}");
            return Err(ToolError::new(message));
        }
        let chance = getrandom::u64().map_err(|error| ToolError::new(error.to_string()))?;
        let call_id = format!("call-{chance:016x}");
        let (answer, answered) = oneshot::channel();
        {
            let mut calls = self.calls();
            if calls.values().filter(|waiting| waiting.sandbox_id == sandbox_id).count() >= MAX_WAITING {
                return Err(ToolError::new(format!("too many pending tool calls: the limit is {MAX_WAITING}")));
            }
            calls.insert(call_id.clone(), Waiting { sandbox_id: sandbox_id.to_owned(), answer });
        }
        let _forget = Forget { calls: self, call_id: &call_id };
        run.heard.call(&call_id, tool, args);
        let answer = answered.await.map_err(|_| ToolError::new(format!("`{tool}` was not answered")))?;
        match answer.error {
            Some(error) => Err(ToolError::new(error)),
            None => Ok(answer.result.unwrap_or(Value::Null)),
        }
    }

    fn calls(&self) -> MutexGuard<'_, HashMap<String, Waiting>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Takes a call off the list, also when its run was given up.
struct Forget<'a> {
    calls: &'a Calls,
    call_id: &'a str,
}

impl Drop for Forget<'_> {
    fn drop(&mut self) {
        self.calls.calls().remove(self.call_id);
    }
}
