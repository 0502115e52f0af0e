//! The tool calls of one run: started when asked for, answered in any order, dropped when the run ends.

use std::collections::{HashMap, HashSet};
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use cove_core::{Effects, Tool, ToolCall, ToolError, shorten_word};
use futures_util::FutureExt as _;
use futures_util::stream::{FuturesUnordered, Stream as _};
use serde_json::Value;

use crate::wire::{Call, MAX_ANSWER_BYTES, ToolReply, weight};

/// Calls under way at once; what guest code starts beyond that fails.
pub(crate) const MAX_CALLS_UNDER_WAY: usize = 16_384;

/// What the arguments of all calls of a run under way may take of the host's memory; what guest code starts beyond that
/// fails, too. As much as the session itself may have, within these bounds: what a guest can make its host hold for it
/// follows from the one limit that was set for it.
const ARGS_UNDER_WAY_BYTES: std::ops::RangeInclusive<usize> = (32 << 20)..=(256 << 20);

/// The tools of a session, by name.
pub(crate) type Tools = HashMap<String, Arc<dyn Tool>>;

/// A call: its id, how much its arguments weigh, and what comes of it.
type Running = Pin<Box<dyn Future<Output = (u64, usize, ToolReply)> + Send>>;

/// The calls of one run.
pub(crate) struct Calls {
    running: FuturesUnordered<Running>,
    ids: HashSet<u64>,
    args_bytes: usize,
    max_args_bytes: usize,
    made: u64,
}

/// Why a call cannot have come from an honest child.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BadCall {
    #[error("it called a tool that it was not given: {0:?}")]
    UnknownTool(String),
    #[error("it used the id of a call twice")]
    UsedId,
}

impl Calls {
    /// For a run in a session that may have so much memory.
    pub(crate) fn within(memory_bytes: u64) -> Self {
        let memory = usize::try_from(memory_bytes).unwrap_or(usize::MAX);
        Self {
            running: FuturesUnordered::new(),
            ids: HashSet::new(),
            args_bytes: 0,
            max_args_bytes: memory.clamp(*ARGS_UNDER_WAY_BYTES.start(), *ARGS_UNDER_WAY_BYTES.end()),
            made: 0,
        }
    }

    /// Starts a call. `Some`: it has failed at once.
    pub(crate) fn start(&mut self, call: &Call<'_>, tools: &Tools) -> Result<Option<ToolReply>, BadCall> {
        let tool = tools.get(call.name).ok_or_else(|| BadCall::UnknownTool(shorten_word(call.name)))?;
        if self.ids.contains(&call.id) {
            return Err(BadCall::UsedId);
        }
        let (weight, most) = (weight(call.args_json.as_bytes()), self.max_args_bytes);
        if self.running.len() >= MAX_CALLS_UNDER_WAY || self.args_bytes + weight > most {
            return Ok(Some(failure(format!(
                "too much at once: the most is {MAX_CALLS_UNDER_WAY} calls whose arguments take {most} bytes of memory, \
                 and these take {weight} more"
            ))));
        }
        self.ids.insert(call.id);
        self.args_bytes += weight;
        self.made += 1;
        let (id, name) = (call.id, call.name.to_owned());
        let args = serde_json::from_str::<Vec<Value>>(call.args_json);
        let tool = Arc::clone(tool);
        // `call` itself may panic as well as the future it returns: both are inside.
        let work = async move {
            match args {
                Ok(args) => tool.call(ToolCall { args }).await,
                Err(error) => Err(ToolError::new(format!("the arguments cannot be read: {error}"))),
            }
        };
        let guarded = AssertUnwindSafe(work).catch_unwind();
        self.running.push(Box::pin(async move {
            let answer = match guarded.await {
                Ok(Ok(value)) => encode(&name, &value),
                Ok(Err(error)) => ToolReply::Failure { message: error.message, code: error.code },
                Err(_) => failure(format!("the tool {name} panicked")),
            };
            (id, weight, answer)
        }));
        Ok(None)
    }

    /// The next call that has come to its end; pending while none has.
    pub(crate) fn poll_answer(&mut self, context: &mut Context<'_>) -> Poll<(u64, ToolReply)> {
        match Pin::new(&mut self.running).poll_next(context) {
            Poll::Ready(Some((id, weight, answer))) => {
                self.ids.remove(&id);
                self.args_bytes -= weight;
                Poll::Ready((id, answer))
            }
            // None are under way: nothing to wait for here.
            Poll::Ready(None) | Poll::Pending => Poll::Pending,
        }
    }

    pub(crate) fn made(&self) -> u64 {
        self.made
    }

    /// What the calls so far mean for a retry.
    pub(crate) fn effects(&self) -> Effects {
        match (self.made, self.running.is_empty()) {
            (0, _) => Effects::None,
            (_, true) => Effects::Committed,
            (_, false) => Effects::Unknown,
        }
    }
}

/// A call that failed with this sentence.
pub(crate) fn failure(message: String) -> ToolReply {
    ToolReply::Failure { message, code: None }
}

fn encode(name: &str, value: &Value) -> ToolReply {
    match serde_json::to_string(value) {
        Ok(json) if json.len() <= MAX_ANSWER_BYTES => ToolReply::Value(json),
        Ok(json) => failure(format!("the answer of {name} has {} bytes; the most is {MAX_ANSWER_BYTES}", json.len())),
        Err(error) => failure(format!("the answer of {name} has no JSON: {error}")),
    }
}
