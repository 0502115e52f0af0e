//! The warm pool: sandboxes that are ready before they are requested.
//!
//! It is filled in the background, a few starts at a time, at intervals and soon after each claim. A profile whose sandboxes
//! cannot start is tried again at the next interval only.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use cove_api::Moment;
use cove_core::{CargoId, SandboxId, SessionId};
use futures_util::{StreamExt, stream};
use tokio::sync::Notify;

use crate::id::fresh;
use crate::session::{BrowserStart, SessionPlan};
use crate::{Bay, BayResult};
use cove_config::Profile;
use cove_store::NewCargo;

/// After a claim it is filled again so much later: a start takes processors from the caller's first call.
const AFTER_CLAIM: Duration = Duration::from_millis(25);

/// The pool's bell.
#[derive(Debug, Default)]
pub(crate) struct WarmPool {
    bell: Arc<Notify>,
    closed: AtomicBool,
}

impl WarmPool {
    /// One was claimed: have it looked after.
    pub(crate) fn refill(&self) {
        self.bell.notify_one();
    }

    /// Nothing more is started.
    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
        self.bell.notify_one();
    }
}

impl Bay {
    /// Looks after the pool for as long as Bay lives.
    pub(crate) fn keep_warm(&self) {
        let config = &self.inner.config.warm_pool;
        if !config.enabled || self.inner.profiles.iter().all(|profile| profile.warm_pool_size == 0) {
            return;
        }
        let interval = Duration::from_secs(config.interval_seconds);
        let (weak, bell) = (Arc::downgrade(&self.inner), Arc::clone(&self.inner.warm.bell));
        if config.run_on_startup {
            bell.notify_one();
        }
        tokio::spawn(async move {
            loop {
                if tokio::time::timeout(interval, bell.notified()).await.is_ok() {
                    tokio::time::sleep(AFTER_CLAIM).await;
                }
                let Some(inner) = weak.upgrade() else { return };
                if inner.warm.closed.load(Ordering::SeqCst) {
                    return;
                }
                let bay = Self { inner };
                for profile in bay.inner.profiles.clone() {
                    if let Err(error) = bay.fill(&profile).await {
                        tracing::warn!(profile = %profile.id, %error, "the warm pool could not be filled");
                    }
                }
            }
        });
    }

    /// How many warm sandboxes of a profile this Bay has ready.
    pub async fn warm_ready(&self, profile: &str) -> BayResult<u64> {
        let count = self.inner.store.count_warm(profile, &self.inner.instance_id).await?;
        Ok(u64::try_from(count.ready).unwrap_or(0))
    }

    /// Starts as many as are missing.
    async fn fill(&self, profile: &Arc<Profile>) -> BayResult<()> {
        if profile.warm_pool_size == 0 {
            return Ok(());
        }
        self.may_grow()?;
        let have = self.inner.store.count_warm(&profile.id, &self.inner.instance_id).await?;
        let have = usize::try_from(have.ready + have.starting).unwrap_or(0);
        let missing = profile.warm_pool_size.saturating_sub(have);
        let starts = stream::iter((0..missing).map(|_| self.start_warm(profile)));
        let results: Vec<_> = starts.buffer_unordered(self.inner.config.warm_pool.workers).collect().await;
        results.into_iter().collect()
    }

    async fn start_warm(&self, profile: &Arc<Profile>) -> BayResult<()> {
        if self.inner.warm.closed.load(Ordering::SeqCst) {
            return Ok(());
        }
        self.hold_lease().await?;
        let (sandbox_id, cargo_id, session_id) = (fresh::<SandboxId>()?, fresh::<CargoId>()?, fresh::<SessionId>()?);
        let cargo = NewCargo {
            id: &cargo_id,
            backend: self.inner.driver.cargos().backend(profile.disk),
            size_limit_mb: self.inner.config.cargo.default_size_limit_mb,
        };
        let (store, instance_id) = (&self.inner.store, &self.inner.instance_id);
        store.insert_warm(&sandbox_id, &profile.id, &cargo, &session_id, instance_id, Moment::now()).await?;
        let plan = SessionPlan {
            session_id,
            sandbox_id: sandbox_id.clone(),
            cargo_id: cargo_id.clone(),
            profile: Arc::clone(profile),
            browser: BrowserStart::AtOnce,
        };
        let started = self.start_session(plan).await;
        if let Err(error) = started {
            self.drop_warm(&sandbox_id, &cargo_id).await?;
            return Err(error);
        }
        // Closed while it started: it is ended with all the others, or here.
        if self.inner.warm.closed.load(Ordering::SeqCst) {
            self.end_session_of(&sandbox_id, None).await?;
        }
        Ok(())
    }

    /// Takes a warm sandbox away that nobody has claimed; whether it did.
    pub(crate) async fn drop_warm(&self, sandbox_id: &SandboxId, cargo_id: &CargoId) -> BayResult<bool> {
        if !self.inner.store.drop_warm(sandbox_id, Moment::now()).await? {
            return Ok(false);
        }
        self.end_session_of(sandbox_id, None).await?;
        self.inner.events.end(sandbox_id);
        self.remove_cargo(cargo_id).await;
        Ok(true)
    }
}
