//! The host's side of `fetch`: what a session's policy opens, asked for by the host on the guest's behalf.
//!
//! A guest has no socket. Its `fetch` is a call of a tool that only a session with an open policy has; the request is
//! read here as something an attacker may have written, the host's name is looked at, the address it has is looked at,
//! and each redirect is looked at again. There are no cookies, no credentials, no proxy variables and no connections that
//! outlive an answer. A call is a future like any other tool's: when its run ends, it is dropped, and its connection with it.

mod ask;
mod budget;
mod exchange;
mod redirect;
mod tls;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cove_core::{NetworkCause, Tool, ToolCall, ToolError, ToolFuture, bytes_to_json};
use cove_network::{ConnectError, LiveNetwork};
use serde_json::{Value, json};
use tokio::sync::{Semaphore, oneshot};

use self::ask::Ask;
use self::budget::BodyBudget;
use self::exchange::Reply;
use self::redirect::Next;
use crate::calls::Tools;

/// The name by which the world calls `fetch`'s host side. No guest can write it, and no caller can take it.
const FETCH: &str = "__cove_fetch";

/// The name by which the world gives a request up.
const STOP: &str = "__cove_fetch_stop";

/// Requests of one session that are under way at once; further ones wait for a seat.
const MAX_AT_ONCE: usize = 16;

/// Connections of one engine at once: descriptors that the host keeps for this.
const MAX_CONNECTIONS: usize = 128;

/// Redirects that one request follows, as in browsers.
const MAX_REDIRECTS: usize = 20;

/// The longest body of one answer. With less memory than 256 MiB a session gets an eighth of its memory: on its way a body
/// exists as bytes, as text and as a string of the guest's.
const MAX_BODY_BYTES: u64 = 32 << 20;

/// Why a request has no answer.
#[derive(Debug)]
struct Failed {
    /// What the guest reads.
    sentence: String,
    /// Where the session's policy is the cause.
    cause: Option<NetworkCause>,
}

impl From<String> for Failed {
    fn from(sentence: String) -> Self {
        Self { sentence, cause: None }
    }
}

impl From<Failed> for ToolError {
    fn from(failed: Failed) -> Self {
        Self { message: failed.sentence, code: failed.cause.map(|cause| cause.as_str().to_owned()) }
    }
}

/// What all sessions of an engine share on their way out.
pub(crate) struct Outside {
    connections: Semaphore,
    tls: tls::Client,
}

impl Default for Outside {
    fn default() -> Self {
        Self { connections: Semaphore::new(MAX_CONNECTIONS), tls: tls::Client::default() }
    }
}

/// `fetch` of one session.
pub(crate) struct Fetcher {
    network: LiveNetwork,
    outside: Arc<Outside>,
    seats: Semaphore,
    budget: Arc<BodyBudget>,
    max_body_bytes: u64,
    /// Requests that can still be given up, by the number the world has given them.
    stops: Mutex<HashMap<u64, oneshot::Sender<()>>>,
}

impl Fetcher {
    pub(crate) fn new(network: LiveNetwork, memory_bytes: u64, outside: &Arc<Outside>) -> Self {
        Self {
            network,
            outside: Arc::clone(outside),
            seats: Semaphore::new(MAX_AT_ONCE),
            budget: BodyBudget::new(memory_bytes / 2),
            max_body_bytes: MAX_BODY_BYTES.min(memory_bytes / 8),
            stops: Mutex::default(),
        }
    }

    /// Gives a session its two tools.
    pub(crate) fn install(self, tools: &mut Tools) {
        let fetcher = Arc::new(self);
        let stopper = Arc::clone(&fetcher);
        let fetch = move |call: ToolCall| -> ToolFuture { Box::pin(answer(Arc::clone(&fetcher), call)) };
        let stop = move |call: ToolCall| -> ToolFuture {
            let number = call.args.first().and_then(Value::as_u64);
            // Whoever waits there learns it by the sender's end.
            drop(number.and_then(|number| stopper.stops().remove(&number)));
            Box::pin(async { Ok(Value::Null) })
        };
        tools.insert(FETCH.to_owned(), Arc::new(fetch) as Arc<dyn Tool>);
        tools.insert(STOP.to_owned(), Arc::new(stop) as Arc<dyn Tool>);
    }

    fn stops(&self) -> MutexGuard<'_, HashMap<u64, oneshot::Sender<()>>> {
        self.stops.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One request with all its redirects.
    async fn fetch(&self, mut ask: Ask) -> Result<Value, Failed> {
        let _seat = self.seats.acquire().await.map_err(|_| "the session is over".to_owned())?;
        let mut redirected = false;
        for _ in 0..=MAX_REDIRECTS {
            let exchange = exchange::start(&ask, self).await?;
            match redirect::next(&ask, exchange.head())? {
                Next::Ask(next) => ask = *next,
                Next::Answer => {
                    let reply = exchange.finish(self.max_body_bytes, self.budget.share()).await?;
                    return Ok(written(&ask, reply, redirected));
                }
            }
            redirected = true;
        }
        Err(format!("there are more than {MAX_REDIRECTS} redirects").into())
    }

    /// A refusal, with what would not have been refused.
    fn no_way(&self, no_way: &ConnectError) -> Failed {
        match no_way {
            ConnectError::NotNamed(..) => {
                let opened = self.network.hosts().into_iter().take(8).collect::<Vec<_>>().join(", ");
                Failed {
                    sentence: format!("{no_way} (this session has: {opened})"),
                    cause: Some(NetworkCause::NotOpened),
                }
            }
            _ => no_way.to_string().into(),
        }
    }
}

/// Takes the number of a request back when the request is over, however it ends.
struct Numbered<'a>(&'a Fetcher, u64);

impl Drop for Numbered<'_> {
    fn drop(&mut self) {
        self.0.stops().remove(&self.1);
    }
}

async fn answer(fetcher: Arc<Fetcher>, call: ToolCall) -> Result<Value, ToolError> {
    let ask = Ask::read(call.args).map_err(ToolError::new)?;
    let (stop, stopped) = oneshot::channel();
    fetcher.stops().insert(ask.number, stop);
    let _numbered = Numbered(&fetcher, ask.number);
    tokio::select! {
        answer = fetcher.fetch(ask) => answer.map_err(ToolError::from),
        _ = stopped => Err(ToolError::new("the request was given up")),
    }
}

/// The answer in the form that the world reads.
fn written(ask: &Ask, reply: Reply, redirected: bool) -> Value {
    let mut url = ask.url.clone();
    url.set_fragment(None);
    let headers: Vec<Value> = reply.headers.into_iter().map(|(name, value)| json!([name, value])).collect();
    json!({
        "status": reply.status,
        "statusText": reply.status_text,
        "url": url.as_str(),
        "redirected": redirected,
        "headers": headers,
        "body": reply.body.map(|body| bytes_to_json(&body)),
    })
}

#[cfg(test)]
mod tests;
