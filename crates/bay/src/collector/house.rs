//! What Bay does by itself for as long as it lives: it says that it is alive, writes down what it has in memory, and
//! lets the collector run. All of it holds Bay weakly, and ends with it.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use cove_api::{BayError, GcRequest, Moment};

use crate::bay::{HEARTBEAT, Inner};
use crate::{Answer, Bay};

/// How soon the store knows of a call that moved the end of idleness.
const WRITE_EVERY: Duration = Duration::from_secs(1);

/// How soon after its end nothing runs in a sandbox any more.
const END_EVERY: Duration = Duration::from_millis(500);

/// How far back an end is looked for again.
const LOOK_BACK_SECS: i64 = 5;

impl Bay {
    /// Ends what an earlier Bay left, and begins to keep house.
    pub(crate) async fn keep_house(&self) {
        let config = &self.inner.config.gc;
        // Always, whatever the collector may do later: what a killed Bay left must not be met by a client.
        for task in ["orphan_container", "dead_instance"] {
            let request = GcRequest { tasks: Some(vec![task.to_owned()]) };
            if let Err(error) = self.run_gc(request).await {
                tracing::warn!(%error, task, "what an earlier Bay left could not be cleared away");
            }
        }
        every(&self.inner, HEARTBEAT, |bay| async move { bay.beat().await });
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

    async fn beat(&self) {
        let (store, id) = (&self.inner.store, &self.inner.instance_id);
        let beat = async { Ok(store.heartbeat(id, self.agreed_clock().await?).await?) };
        let known: bool = match beat.await {
            Ok(known) => known,
            Err(error) => {
                let error: BayError = error;
                tracing::warn!(%error, "no heartbeat could be written");
                self.store_was_away();
                return;
            }
        };
        if known || self.is_closing() {
            return;
        }
        // We were silent for so long that others took us for dead, and our sessions for gone: then they are.
        tracing::warn!("this Bay was taken for dead; its sessions end, and it signs on again");
        self.end_all_sessions().await;
        let advertised = self.inner.config.server.advertise_url.as_deref();
        let signed_on = async { Ok(store.register_instance(id, advertised, self.agreed_clock().await?).await?) };
        let signed_on: Answer<()> = signed_on.await;
        if let Err(error) = signed_on {
            tracing::warn!(%error, "this Bay could not sign on again");
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
    }

    /// Writes down when sessions end for want of calls.
    pub(super) async fn write_idle_ends(&self) {
        for session in self.inner.sessions.all() {
            if session.is_busy() {
                session.touch();
            }
            if session.take_dirty() {
                let end = session.idle_expires_at();
                let written = self.inner.store.touch_session(&session.sandbox_id, end, Moment::now()).await;
                if let Err(error) = written {
                    tracing::warn!(%error, "the end of idleness could not be written");
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
