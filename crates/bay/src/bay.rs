//! The door: one value that is Bay.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use cove_api::{BayError, ErrorCode, IdKind, Moment, ProfileList, new_id};

use crate::collector::CollectorState;
use crate::config::{Config, Profile};
use crate::driver::{Driver, LocalDriver};
use crate::events::Events;
use crate::javascript::{EngineOptions, JavaScriptRoom};
use crate::session::Sessions;
use crate::store::Store;
use crate::warm::WarmPool;
use crate::{Answer, Owner};

/// How often a Bay says that it is alive.
pub(crate) const HEARTBEAT: Duration = Duration::from_secs(5);

/// Not heard for so long, it is dead.
pub(crate) const DEAD_AFTER_SECS: i64 = 30;

/// Bay: every verb is a method. Cheap to clone; all clones are one.
#[derive(Debug, Clone)]
pub struct Bay {
    pub(crate) inner: Arc<Inner>,
}

/// What all clones share.
#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) config: Config,
    pub(crate) profiles: Vec<Arc<Profile>>,
    pub(crate) instance_id: String,
    pub(crate) store: Store,
    pub(crate) driver: Arc<dyn Driver>,
    pub(crate) sessions: Sessions,
    pub(crate) warm: WarmPool,
    pub(crate) collector: CollectorState,
    pub(crate) events: Events,
    pub(crate) javascript: JavaScriptRoom,
    closing: AtomicBool,
}

/// Why Bay could not start.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct StartError(pub String);

impl Bay {
    /// Opens the store, ends what an earlier Bay left behind, and begins to keep house.
    pub async fn open(config: Config) -> Result<Self, StartError> {
        let failed = |error: &dyn std::fmt::Display| StartError(error.to_string());
        config.check().map_err(|error| failed(&error))?;
        let profiles = config.resolved_profiles().map_err(|error| failed(&error))?;
        let data_dir = config.data_dir().map_err(|error| failed(&error))?;
        let named = |error: std::io::Error| StartError(format!("the data folder {}: {error}", data_dir.display()));
        std::fs::create_dir_all(&data_dir).map_err(named)?;
        let url = config.database_url().map_err(|error| failed(&error))?;
        let store = Store::open(&url).await.map_err(|error| failed(&error))?;
        let store = store.keeping_answers(config.idempotency.ttl_hours);
        let chance = new_id(IdKind::Session).map_err(|error| failed(&error))?;
        let instance_id = config.gc.instance_id.clone().unwrap_or_else(|| chance.replace("sess-", "bay-"));
        let driver = LocalDriver::new(&config, &instance_id).map_err(|error| failed(&error))?;
        let now = Moment::now();
        // A Bay that was killed and comes back under its own name: its sessions died with it.
        store.remove_instance(&instance_id).await.map_err(|error| failed(&error))?;
        let advertised = config.server.advertise_url.as_deref();
        store.register_instance(&instance_id, advertised, now).await.map_err(|error| failed(&error))?;
        let engines = EngineOptions {
            worker_program: config.driver.local.program.clone(),
            browser: config.driver.local.browser.clone(),
        };
        let javascript = JavaScriptRoom::new(data_dir.join("artifacts"), engines);
        let inner = Inner {
            profiles: profiles.into_iter().map(Arc::new).collect(),
            instance_id,
            store,
            driver: Arc::new(driver),
            sessions: Sessions::default(),
            warm: WarmPool::default(),
            collector: CollectorState::default(),
            events: Events::default(),
            javascript,
            closing: AtomicBool::new(false),
            config,
        };
        let bay = Self { inner: Arc::new(inner) };
        bay.keep_house().await;
        Ok(bay)
    }

    /// The configuration it was opened with.
    pub fn config(&self) -> &Config {
        &self.inner.config
    }

    /// This Bay's name among others.
    pub fn instance_id(&self) -> &str {
        &self.inner.instance_id
    }

    /// Whether the database answers.
    pub async fn ping(&self) -> Answer<()> {
        Ok(self.inner.store.ping().await?)
    }

    /// The records.
    pub(crate) fn store(&self) -> &Store {
        &self.inner.store
    }

    /// Takes no more work, waits so long for what runs, then ends everything that this Bay started.
    pub async fn close(&self, grace: Duration) {
        if self.inner.closing.swap(true, Ordering::SeqCst) {
            return;
        }
        self.inner.warm.close();
        self.inner.sessions.quiet(grace).await;
        self.inner.javascript.close().await;
        self.end_all_sessions().await;
        if let Err(error) = self.inner.store.remove_instance(&self.inner.instance_id).await {
            tracing::warn!(%error, "this Bay could not sign off");
        }
        self.inner.events.end_all();
        self.inner.store.close().await;
        self.inner.driver.close();
    }

    /// Whether it takes no more work.
    pub fn is_closing(&self) -> bool {
        self.inner.closing.load(Ordering::SeqCst)
    }

    /// Refuses new work while Bay ends.
    pub(crate) fn open_for_work(&self) -> Answer<()> {
        if self.is_closing() {
            let refusal = BayError::new(ErrorCode::SessionNotReady, "Bay is ending; ask again");
            return Err(refusal.with("retry_after_ms", 1000));
        }
        Ok(())
    }

    /// The profiles that sandboxes can be made of.
    pub fn profiles(&self, detail: bool) -> ProfileList {
        ProfileList { items: self.inner.profiles.iter().map(|profile| profile.info(detail)).collect() }
    }

    /// A profile by its name.
    pub(crate) fn profile(&self, id: &str) -> Option<&Arc<Profile>> {
        self.inner.profiles.iter().find(|profile| profile.id == id)
    }

    /// How many sandboxes an owner may have.
    pub(crate) fn max_sandboxes(&self, owner: &Owner) -> Option<i64> {
        let own = self.inner.config.security.keys.iter().filter(|key| key.owner == owner.as_str());
        let own = own.filter_map(|key| key.max_sandboxes).max();
        own.or(self.inner.config.limits.max_sandboxes).map(i64::from)
    }

    /// Bays that were heard since are alive.
    pub(crate) fn alive_since() -> Moment {
        Moment::now().plus_secs(-DEAD_AFTER_SECS)
    }
}

/// A new id, or the one fault there can be.
pub(crate) fn fresh(kind: IdKind) -> Answer<String> {
    new_id(kind).map_err(|error| BayError::new(ErrorCode::InternalError, format!("no randomness: {error}")))
}
