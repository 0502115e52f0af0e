//! What Bay does by itself for as long as it lives: it says that it is alive, writes down what it has in memory, and
//! lets the collector run. All of it holds Bay weakly, and ends with it.

use std::sync::Arc;
use std::time::Duration;

use cove_api::{GcRequest, Moment};

use crate::Bay;
use crate::bay::{HEARTBEAT, Inner};

/// How soon the store knows of a call that moved the end of idleness.
const WRITE_EVERY: Duration = Duration::from_secs(1);

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
        every(&self.inner, WRITE_EVERY, |bay| async move { bay.write_idle_ends().await });
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
        let known = match store.heartbeat(id, Moment::now()).await {
            Ok(known) => known,
            Err(error) => {
                tracing::warn!(%error, "no heartbeat could be written");
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
        if let Err(error) = store.register_instance(id, advertised, Moment::now()).await {
            tracing::warn!(%error, "this Bay could not sign on again");
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
