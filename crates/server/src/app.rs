//! What every handler shares.

use std::sync::Arc;
use std::time::Duration;

use cove_api::{BayError, ErrorCode};
use cove_bay::{Bay, BayResult};
use cove_core::Deadline;
use tokio_util::sync::CancellationToken;

use crate::failure::{Failure, Reply};
use crate::forward::Peers;
use crate::keys::KeyRing;
use crate::options::ServerOptions;
use crate::page::Spent;
use crate::shares::Shares;

/// Cheap to clone; all clones are one.
#[derive(Clone)]
pub(crate) struct App {
    inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) bay: Bay,
    pub(crate) keys: KeyRing,
    pub(crate) options: ServerOptions,
    /// Cancelled when the server is told to end: streams that never end by themselves end then.
    pub(crate) closing: CancellationToken,
    /// Requests at work.
    pub(crate) slots: Arc<Shares>,
    /// Memory for the bodies of these requests.
    pub(crate) bodies: Arc<Shares>,
    /// Streams that stay open: events, terminals.
    pub(crate) streams: Arc<Shares>,
    pub(crate) peers: Peers,
    /// The page's tokens that are over before their time.
    pub(crate) spent: Spent,
    /// Whether no other Bay can have a session of ours: its store is this Bay's alone.
    pub(crate) alone: bool,
}

impl std::ops::Deref for App {
    type Target = Inner;
    fn deref(&self) -> &Inner {
        &self.inner
    }
}

impl App {
    pub(crate) fn new(bay: Bay, options: ServerOptions, closing: CancellationToken) -> Self {
        let keys = KeyRing::new(&options.keys);
        // A quarter for requests, half for streams: the rest rests or comes to its end soon, and gives way.
        let connections = options.max_connections;
        let requests = options.max_requests.min((connections / 4).max(1));
        let usual = if keys.owners() > 1 { requests.div_ceil(2) } else { requests };
        let slots = Shares::new("requests", requests, options.max_requests_per_owner.unwrap_or(usual));
        let memory = options.max_body_memory_bytes;
        let usual = if keys.owners() > 1 { memory / 2 } else { memory };
        let bodies = Shares::new("bytes in bodies of requests", memory, usual);
        let usual = (connections / 4).max(1);
        let streams = Shares::new("streams", (connections / 2).max(1), options.max_streams_per_owner.unwrap_or(usual));
        let alone = bay.config().database_url().is_ok_and(|url| url.starts_with("sqlite"));
        Self {
            inner: Arc::new(Inner {
                bay,
                keys,
                options,
                closing,
                slots,
                bodies,
                streams,
                peers: Peers::default(),
                spent: Spent::default(),
                alone,
            }),
        }
    }

    /// Runs a verb that is dropped, and thereby cancelled, when its caller goes away.
    pub(crate) async fn run<T>(&self, own_secs: u64, verb: impl Future<Output = BayResult<T>>) -> Reply<T> {
        self.bay.check_reachable()?;
        within(Deadline::after(Duration::from_secs(own_secs)).backstop(self.options.beyond), verb).await
    }

    /// Runs a quick verb.
    pub(crate) async fn ask<T>(&self, verb: impl Future<Output = BayResult<T>>) -> Reply<T> {
        self.bay.check_reachable()?;
        within(self.options.verb.into(), verb).await
    }

    /// Runs a verb to its end even when its caller goes away: half a creation or half a deletion helps nobody.
    pub(crate) async fn finish<T: Send + 'static>(
        &self,
        verb: impl Future<Output = BayResult<T>> + Send + 'static,
    ) -> Reply<T> {
        use tracing::Instrument as _;
        // Known not to be there, it is not waited for.
        self.bay.check_reachable()?;
        let task = tokio::spawn(within(self.options.verb.into(), verb).in_current_span());
        match task.await {
            Ok(reply) => reply,
            Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
            Err(_) => Err(Failure::new(ErrorCode::InternalError, "the work was ended")),
        }
    }
}

async fn within<T>(deadline: Deadline, verb: impl Future<Output = BayResult<T>>) -> Reply<T> {
    match tokio::time::timeout_at(deadline.at().into(), verb).await {
        Ok(answer) => answer.map_err(Failure::from),
        Err(_) => {
            Err(BayError::new(ErrorCode::Timeout, format!("no answer within {} s", deadline.budget().as_secs_f64()))
                .into())
        }
    }
}
