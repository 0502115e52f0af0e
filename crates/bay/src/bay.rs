//! [`Bay`]: the control plane as one value.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use cove_api::{BayError, ErrorCode, Moment, ProfileList};

use crate::artifacts::Pictures;
use crate::collector::CollectorState;
use crate::data_lock::DataLock;
use crate::disk::Disk;
use crate::events::Events;
use crate::files::Deferred;
use crate::id::fresh_name;
use crate::javascript::{EngineOptions, JavaScriptHost};
use crate::network::Networks;
use crate::peers::Peers;
use crate::pending_history::PendingHistory;
use crate::session::Sessions;
use crate::warm::WarmPool;
use crate::{BayResult, Owner, missing_database};
use cove_config::{Config, Profile};
use cove_drivers::Driver;
use cove_store::{Bounds, Kind, Store, sqlite_file};

/// How often a Bay says that it is alive.
pub(crate) const HEARTBEAT: Duration = Duration::from_secs(5);

/// How long calls may take to come to their end once their session has been ended with Bay.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// No heartbeat for this long: the Bay is considered dead.
pub(crate) const DEAD_AFTER_SECS: i64 = 30;

/// What runs in a sandbox may go on for so long after its Bay was last heard; then it ends by itself, also while Bay is
/// frozen or cut off from the records.
///
/// 20 s: four heartbeats, and ten seconds before another Bay may take the sandbox over, for the end itself.
pub(crate) const LEASE: Duration = Duration::from_secs(20);

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
    pub(crate) networks: Networks,
    pub(crate) warm: WarmPool,
    pub(crate) collector: CollectorState,
    pub(crate) events: Events,
    pub(crate) javascript: JavaScriptHost,
    pub(crate) peers: Peers,
    closing: AtomicBool,
    /// Until when what runs here may go on, by the machine's uptime; only where several Bays share the store.
    lease_until_ms: AtomicU64,
    /// By how much the clock that all Bays of the store agree on is ahead of this machine's.
    skew_micros: AtomicI64,
    /// Until when no other Bay is considered dead, because the store was unreachable and their heartbeats could not be read.
    grace_until: Mutex<Option<Instant>>,
    /// The disks that Bay writes to.
    pub(crate) disk: Disk,
    /// Entries of the history that are still to be written.
    pub(crate) pending_history: PendingHistory,
    /// Files that wait until their sandbox runs.
    pub(crate) deferred: Deferred,
    /// What pictures the owners keep.
    pub(crate) pictures: Pictures,
    /// Who asks the database whether it is there.
    pub(crate) probing: Mutex<Option<tokio::task::AbortHandle>>,
    /// Let go when everything has ended, whoever still holds a handle of Bay.
    data_locks: Mutex<Vec<DataLock>>,
}

impl Drop for Inner {
    fn drop(&mut self) {
        if let Some(probing) = self.probing.lock().unwrap_or_else(PoisonError::into_inner).take() {
            probing.abort();
        }
    }
}

/// Why Bay could not start.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct StartError(pub String);

impl Bay {
    /// Opens the store, ends what an earlier Bay left behind, and starts the upkeep.
    pub async fn open(config: Config) -> Result<Self, StartError> {
        Self::open_on(config, None).await
    }

    /// The same with a driver of the caller's.
    #[cfg(feature = "testkit")]
    pub async fn open_with(config: Config, driver: Arc<dyn Driver>) -> Result<Self, StartError> {
        Self::open_on(config, Some(driver)).await
    }

    async fn open_on(config: Config, driver: Option<Arc<dyn Driver>>) -> Result<Self, StartError> {
        let failed = |error: &dyn std::fmt::Display| StartError(error.to_string());
        config.check().map_err(|error| failed(&error))?;
        let profiles = config.resolved_profiles().map_err(|error| failed(&error))?;
        let data_dir = config.data_dir().map_err(|error| failed(&error))?;
        let named = |error: std::io::Error| StartError(format!("the data folder {}: {error}", data_dir.display()));
        std::fs::create_dir_all(&data_dir).map_err(named)?;
        let url = config.database_url().map_err(|error| failed(&error))?;
        let mut data_locks = vec![DataLock::of_folder(&data_dir).await?];
        data_locks.extend(DataLock::of_database(&url).await?);
        let limits = &config.limits;
        let bounds = Bounds::mebibytes(limits.max_history_mb, limits.max_traces_mb, limits.max_payloads_mb);
        let store = Store::connect(&url, bounds).await.map_err(|error| failed(&error))?;
        let store = store.keeping_answers(config.idempotency.ttl_hours);
        let instance_id = match &config.gc.instance_id {
            Some(named) => named.clone(),
            None => fresh_name("bay").map_err(|error| failed(&error))?,
        };
        let driver = match driver {
            Some(driver) => driver,
            None => cove_drivers::open(&config, &instance_id).await.map_err(|error| failed(&error))?,
        };
        let new = store.is_new().await.map_err(|error| failed(&error))?;
        if new {
            missing_database::check(&config, driver.cargos()).await?;
        }
        store.migrate().await.map_err(|error| failed(&error))?;
        if new {
            // So that a disk which fills up before the first time finds all tables in the file.
            store.write_back().await.map_err(|error| failed(&error))?;
        }
        if let Err(error) = store.make_shrinkable().await {
            tracing::warn!(%error, "the database's file cannot shrink");
        }
        let peers = Peers::join(&store).await?;
        driver.share_secret(peers.secret());
        let began_ms = cove_cgroup::uptime_ms().map_err(|error| failed(&error))?;
        let now = store.clock().await.map_err(|error| failed(&error))?;
        if !driver.outlives_bay() {
            // A Bay that was killed and comes back under its own name: its sessions died with it.
            store.must(|| store.remove_instance(&instance_id)).await.map_err(|error| failed(&error))?;
        }
        let advertised = config.server.advertise_url.as_deref();
        let signed_on = store.must(|| store.register_instance(&instance_id, advertised, now)).await;
        signed_on.map_err(|error| failed(&error))?;
        let engines = EngineOptions {
            worker_program: config.driver.local.program.clone(),
            browser: config.driver.local.browser.clone(),
        };
        let artifacts = config.artifacts_root().map_err(|error| failed(&error))?;
        let mut folders = vec![data_dir, config.cargo_root().map_err(|error| failed(&error))?];
        folders.extend(sqlite_file(&url).and_then(|file| Some(file.parent()?.to_owned())));
        let disk = Disk::of(folders, config.limits.min_free_disk_mb);
        let javascript = JavaScriptHost::new(
            artifacts,
            engines,
            Duration::from_secs(config.limits.approval_seconds.clamp(1, 3_600)),
        );
        let inner = Inner {
            profiles: profiles.into_iter().map(Arc::new).collect(),
            instance_id,
            store,
            driver,
            sessions: Sessions::default(),
            networks: Networks::default(),
            warm: WarmPool::default(),
            collector: CollectorState::default(),
            events: Events::default(),
            javascript,
            peers,
            closing: AtomicBool::new(false),
            lease_until_ms: AtomicU64::new(0),
            skew_micros: AtomicI64::new(0),
            grace_until: Mutex::new(None),
            disk,
            pending_history: PendingHistory::default(),
            deferred: Deferred::default(),
            pictures: Pictures::default(),
            probing: Mutex::new(None),
            data_locks: Mutex::new(data_locks),
            config,
        };
        let bay = Self { inner: Arc::new(inner) };
        bay.renew(began_ms);
        bay.run_upkeep().await;
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

    /// Refuses at once while the database is known not to be there.
    pub fn check_reachable(&self) -> BayResult<()> {
        Ok(self.inner.store.check_reachable()?)
    }

    /// The records.
    pub(crate) fn store(&self) -> &Store {
        &self.inner.store
    }

    /// Whoever follows a sandbox whose session ends with this Bay is told so, and then no more.
    pub fn tell_that_it_ends(&self) {
        if !self.inner.driver.keeps_running() {
            let message = "the server is shutting down and this session ends with it: its files stay, and the next call \
                           starts a new session";
            for session in self.inner.sessions.all() {
                self.tell_state(&session.sandbox_id, "idle", Some(message));
            }
        }
        self.inner.events.end_all();
    }

    /// Takes no more work, waits so long for what runs, then ends everything that this Bay started.
    pub async fn close(&self, grace: Duration) {
        if self.inner.closing.swap(true, Ordering::SeqCst) {
            return;
        }
        self.inner.warm.close();
        self.inner.sessions.quiet_of(|| self.inner.sessions.all(), grace).await;
        self.inner.javascript.close().await;
        let keeps_running = self.inner.driver.keeps_running();
        if !keeps_running {
            let ended = self.inner.sessions.all();
            self.end_all_sessions().await;
            // Calls that were under way write down what became of them.
            self.inner.sessions.quiet_of(|| ended.clone(), LAST_WORDS).await;
        }
        self.write_late().await;
        // With this Bay's name its sessions go from the records.
        if !keeps_running && let Err(error) = self.inner.store.remove_instance(&self.inner.instance_id).await {
            tracing::warn!(%error, "this Bay could not unregister");
        }
        if let Some(probing) = self.inner.probing.lock().unwrap_or_else(PoisonError::into_inner).take() {
            probing.abort();
        }
        self.inner.events.end_all();
        self.inner.store.close().await;
        self.inner.driver.close();
        self.inner.data_locks.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Whether it takes no more work.
    pub fn is_closing(&self) -> bool {
        self.inner.closing.load(Ordering::SeqCst)
    }

    /// Refuses new work while Bay ends.
    pub(crate) fn open_for_work(&self) -> BayResult<()> {
        if self.is_closing() {
            let refusal = BayError::new(ErrorCode::SessionNotReady, "the server is shutting down; try again");
            return Err(refusal.with("retry_after_ms", 1000));
        }
        Ok(())
    }

    /// Told to a call whose session was ended under it, because Bay ends.
    pub(crate) fn ended_with_server() -> BayError {
        let message = "the server was shut down during this call, which was ended: the sandbox keeps its files, and the \
                       next call starts a new session";
        BayError::new(ErrorCode::Conflict, message).with("reason", "server_shutdown")
    }

    /// The profiles that sandboxes can be made of.
    pub fn profiles(&self, detail: bool) -> ProfileList {
        ProfileList { items: self.inner.profiles.iter().map(|profile| profile.info(detail)).collect() }
    }

    /// Whether sandboxes of this profile reach anything outside.
    pub fn opens_network(&self, id: &str) -> bool {
        let containers = self.profile(id).into_iter().flat_map(|profile| &profile.containers);
        containers.into_iter().any(|spec| !spec.network.is_closed())
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

    /// Bays that were heard since are alive. By the store's clock: machines whose own clocks differ, or jump, must not
    /// take each other for dead.
    pub(crate) fn alive_since(&self) -> Moment {
        let until = *self.inner.grace_until.lock().unwrap_or_else(PoisonError::into_inner);
        if until.is_some_and(|until| Instant::now() < until) {
            return Moment::from_micros(0);
        }
        self.agreed_now().plus_secs(-DEAD_AFTER_SECS)
    }

    /// Now, by the clock that all Bays of the store agree on.
    pub fn agreed_now(&self) -> Moment {
        let skew = self.inner.skew_micros.load(Ordering::Relaxed);
        Moment::from_micros(Moment::now().micros().saturating_add(skew))
    }

    /// This Bay was heard at this moment of the machine's uptime, or later: what runs here may go on.
    pub(crate) fn renew(&self, heard_ms: u64) {
        if self.inner.store.kind() == Kind::Postgres {
            let until_ms = heard_ms + lease_ms();
            self.inner.lease_until_ms.fetch_max(until_ms, Ordering::Relaxed);
            self.inner.driver.renew(until_ms);
        }
    }

    /// Whether what is started now has time to begin: at least half a lease.
    pub(crate) fn has_lease(&self, now_ms: u64) -> bool {
        let until_ms = self.inner.lease_until_ms.load(Ordering::Relaxed);
        self.inner.store.kind() != Kind::Postgres || until_ms >= now_ms + lease_ms() / 2
    }

    /// The store could not be reached: once it can, the others get time to be heard again.
    pub(crate) fn store_was_unreachable(&self) {
        let until = Instant::now() + 3 * HEARTBEAT;
        *self.inner.grace_until.lock().unwrap_or_else(PoisonError::into_inner) = Some(until);
    }

    /// The store's clock; from here on the difference to our own is known.
    pub(crate) async fn agreed_clock(&self) -> BayResult<Moment> {
        let agreed = self.inner.store.clock().await?;
        self.inner.skew_micros.store(agreed.micros() - Moment::now().micros(), Ordering::Relaxed);
        Ok(agreed)
    }
}

/// As the machine's uptime is counted.
fn lease_ms() -> u64 {
    u64::try_from(LEASE.as_millis()).unwrap_or(u64::MAX)
}
