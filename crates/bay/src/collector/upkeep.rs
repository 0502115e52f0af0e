//! What Bay does by itself while it runs: it writes heartbeats and idle times, and runs the collector. These tasks hold
//! a weak reference to Bay, and end with it.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use cove_api::{BayError, ErrorCode, GcRequest, GcTaskReport, Moment};

use crate::bay::{HEARTBEAT, Inner};
use crate::{Bay, BayResult};
use cove_store::Kind;

/// How soon the store knows of a call that moved the end of idleness.
const WRITE_EVERY: Duration = Duration::from_secs(1);

/// How soon after its end nothing runs in a sandbox any more.
const END_EVERY: Duration = Duration::from_millis(500);

/// A heartbeat is tried so often, so soon again, and so long each time: four times within one lease.
const HEARTBEAT_TRIES: usize = 4;
const HEARTBEAT_AGAIN: Duration = Duration::from_secs(1);
const HEARTBEAT_LIMIT: Duration = Duration::from_secs(3);

/// How far back an end is looked for again.
const LOOK_BACK_SECS: i64 = 5;

impl Bay {
    /// Ends what an earlier Bay left, and starts the upkeep.
    pub(crate) async fn run_upkeep(&self) {
        let config = &self.inner.config.gc;
        let mut left = GcTaskReport { task: "orphan_container".to_owned(), cleaned: 0, skipped: 0, errors: Vec::new() };
        if let Err(error) = self.settle_found(true, &mut left).await {
            tracing::warn!(%error, "what an earlier Bay left running could not be looked at");
        }
        for error in left.errors {
            tracing::warn!(%error, "a container that an earlier Bay left could not be ended");
        }
        // Always, whatever the collector may do later: what a killed Bay left must not be met by a client.
        for task in ["orphan_container", "dead_instance"] {
            let request = GcRequest { tasks: Some(vec![task.to_owned()]) };
            if let Err(error) = self.run_gc(request).await {
                tracing::warn!(%error, task, "what an earlier Bay left could not be removed");
            }
        }
        every(&self.inner, HEARTBEAT, |bay| async move { bay.heartbeat().await });
        every(&self.inner, WRITE_EVERY, |bay| async move {
            bay.write_idle_ends().await;
            bay.write_late().await;
        });
        self.watch_disk();
        let probing = tokio::spawn(self.inner.store.clone().probe()).abort_handle();
        *self.inner.probing.lock().unwrap_or_else(PoisonError::into_inner) = Some(probing);
        let seen = Arc::new(AtomicI64::new(Moment::now().plus_secs(-LOOK_BACK_SECS).micros()));
        every(&self.inner, END_EVERY, move |bay| {
            let seen = Arc::clone(&seen);
            async move { bay.end_what_expired(&seen).await }
        });
        self.keep_warm();
        if config.enabled {
            let collect = |bay: Self| async move {
                if let Err(error) = bay.run_gc(GcRequest::default()).await {
                    tracing::warn!(%error, "the collector failed");
                }
            };
            if config.run_on_startup {
                tokio::spawn(collect(self.clone()));
            }
            every(&self.inner, Duration::from_secs(config.interval_seconds), collect);
        }
    }

    async fn heartbeat(&self) {
        for _ in 0..HEARTBEAT_TRIES {
            // The lease begins before the heartbeat is written: it is over before others take us for dead.
            let began_ms = cove_cgroup::uptime_ms();
            match tokio::time::timeout(HEARTBEAT_LIMIT, self.write_heartbeat()).await {
                Ok(Ok(true)) => {
                    if let (Ok(began_ms), Kind::Postgres) = (began_ms, self.inner.store.kind()) {
                        self.renew(began_ms);
                        self.look_around().await;
                    }
                    return;
                }
                Ok(Ok(false)) => return self.register_again().await,
                Ok(Err(error)) => tracing::warn!(%error, "no heartbeat could be written"),
                Err(_) => tracing::warn!("no heartbeat could be written within {HEARTBEAT_LIMIT:?}"),
            }
            self.store_was_unreachable();
            if self.is_closing() {
                return;
            }
            tokio::time::sleep(HEARTBEAT_AGAIN).await;
        }
    }

    /// Makes sure that what is started now may go on: a Bay that was frozen, or cut off, has to be heard first.
    pub(crate) async fn hold_lease(&self) -> BayResult<()> {
        let refuse = || {
            let message = "this server missed its heartbeats, and other servers may consider it dead; try again";
            BayError::new(ErrorCode::SessionNotReady, message).with("retry_after_ms", 1_000)
        };
        let now_ms = cove_cgroup::uptime_ms().map_err(|_| refuse())?;
        if self.has_lease(now_ms) {
            return Ok(());
        }
        match tokio::time::timeout(HEARTBEAT_LIMIT, self.write_heartbeat()).await {
            Ok(Ok(true)) => {
                self.renew(now_ms);
                Ok(())
            }
            _ => Err(refuse()),
        }
    }

    async fn write_heartbeat(&self) -> BayResult<bool> {
        Ok(self.inner.store.heartbeat(&self.inner.instance_id, self.agreed_clock().await?).await?)
    }

    /// Sees who else is there, and whether what runs here is still ours.
    async fn look_around(&self) {
        if let Err(error) = self.look_at_peers().await {
            tracing::warn!(%error, "the other Bays could not be looked up");
        }
        // First those that run, then the records: who comes in between has a row.
        let live = self.inner.sessions.all();
        let wanted = match self.inner.store.wanted_sessions(&self.inner.instance_id).await {
            Ok(wanted) => wanted,
            Err(error) => return tracing::warn!(%error, "this Bay's sessions could not be looked up"),
        };
        for session in live.iter().filter(|session| !wanted.contains(&session.id)) {
            tracing::warn!(sandbox = %session.sandbox_id, "a session was taken over or deleted elsewhere; it ends here");
            self.end_javascript(&session.sandbox_id).await;
            if let Err(error) = self.end_session_of(&session.sandbox_id, Some(&session.id)).await {
                tracing::warn!(%error, "it could not be ended cleanly");
            }
            self.inner.networks.remove(&session.sandbox_id);
        }
    }

    /// We were silent for so long that others took us for dead, and our sessions for gone: then they are.
    async fn register_again(&self) {
        if self.is_closing() {
            return;
        }
        let (store, id) = (&self.inner.store, &self.inner.instance_id);
        tracing::warn!("this Bay was considered dead; its sessions end, and it registers again");
        for session in self.inner.sessions.all() {
            self.end_javascript(&session.sandbox_id).await;
        }
        self.end_all_sessions().await;
        let advertised = self.inner.config.server.advertise_url.as_deref();
        let began_ms = cove_cgroup::uptime_ms();
        let signed_on = async { Ok(store.register_instance(id, advertised, self.agreed_clock().await?).await?) };
        let signed_on: BayResult<()> = signed_on.await;
        match (signed_on, began_ms) {
            (Ok(()), Ok(began_ms)) => self.renew(began_ms),
            (Err(error), _) => tracing::warn!(%error, "this Bay could not register again"),
            (_, Err(error)) => tracing::warn!(%error, "the machine's uptime could not be read"),
        }
    }

    /// Ends what still runs in sandboxes whose end has come since `seen`: what a guest left running in the background
    /// must not outlive its sandbox until the collector comes, and the collector may be off.
    async fn end_what_expired(&self, seen: &AtomicI64) {
        let now = Moment::now();
        // A little more than once is looked at: a row may be committed after a look that its time was before.
        let since = Moment::from_micros(seen.load(Ordering::Relaxed)).plus_secs(-LOOK_BACK_SECS);
        let over = match self.inner.store.expired_between(since, now).await {
            Ok(over) => over,
            Err(error) => {
                tracing::warn!(%error, "what has expired could not be looked up");
                return;
            }
        };
        seen.store(now.micros(), Ordering::Relaxed);
        for id in over {
            let session = self.inner.sessions.get(&id);
            if session.is_none() && !self.inner.javascript.has(&id) {
                continue;
            }
            self.end_javascript(&id).await;
            if let Err(error) = self.end_session_of(&id, None).await {
                tracing::warn!(%error, sandbox = %id, "the session of an expired sandbox could not be ended");
            }
            self.tell_state(&id, "expired", None);
        }
        if let Err(error) = self.end_what_was_kept(since, now).await {
            tracing::warn!(%error, "sessions that were kept could not be ended");
        }
    }

    /// Ends sessions that were kept until now; their sandboxes live on.
    async fn end_what_was_kept(&self, since: Moment, now: Moment) -> BayResult<()> {
        for id in self.inner.store.kept_until(&self.inner.instance_id, since, now).await? {
            // This one, and none that somebody starts meanwhile.
            let session = self.inner.sessions.get(&id);
            if session.is_none() && !self.inner.javascript.has(&id) {
                continue;
            }
            self.end_javascript(&id).await;
            if let Some(session) = session {
                self.end_session_of(&id, Some(&session.id)).await?;
            }
            self.tell_state(&id, "idle", None);
        }
        Ok(())
    }

    /// Writes down when sessions end for want of calls.
    pub(super) async fn write_idle_ends(&self) {
        for session in self.inner.sessions.all() {
            if session.is_busy() {
                session.touch();
            }
            if session.take_dirty() {
                let end = session.idle_expires_at();
                let written = self.inner.store.touch_own_session(&session.id, end, Moment::now()).await;
                if let Err(error) = written {
                    tracing::warn!(%error, "the idle times could not be written");
                }
            }
        }
    }
}

/// Does something again and again, until Bay is gone or closing.
fn every<F: Future<Output = ()> + Send>(
    inner: &Arc<Inner>,
    interval: Duration,
    work: impl Fn(Bay) -> F + Send + Sync + 'static,
) {
    let weak = Arc::downgrade(inner);
    tokio::spawn(async move {
        loop {
            tokio::time::sleep(interval).await;
            let Some(inner) = weak.upgrade() else { return };
            let bay = Bay { inner };
            if bay.is_closing() {
                return;
            }
            work(bay).await;
        }
    });
}
