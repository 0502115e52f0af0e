//! Gull itself: one browser of one sandbox, used by one command at a time.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cove_chrome::{AddressRule, NetworkProxy, OwnerThread, SandboxPorts, find_browser};
use cove_core::Deadline;
use cove_runtime_api::{
    BatchAnswer, BrowserAnswer, BrowserHealth, BrowserStep, EXIT_FAILED, EXIT_HELD, EXIT_TIMED_OUT, HealthStatus,
};
use tokio::sync::{Notify, watch};
use tokio::time::Instant;

use crate::agent::Agent;
use crate::answer::timed_out;
use crate::bridge::Bridge;
use crate::browser::url_of;
use crate::browser_state::{BrowserState, Places};
use crate::cargo::Cargo;
use crate::control::Control;
use crate::cookies;
use crate::disk::{Weighed, keep_small};
use crate::find::find_agent_browser;
use crate::governor::{BrowserLimits, Governor};
use crate::link::Link;
use crate::live::Live;
use crate::options::GullOptions;
use crate::private_folder::PrivateFolder;
use crate::run;
use crate::skill;
use crate::trace::Begun;

/// Nobody, where the workspace belongs to root.
const NOBODY: u32 = 65_534;

/// With less, a browser does not even start.
const LEAST_MEMORY: u64 = 128 << 20;

/// Things that may wait to be told.
const MAX_NOTES: usize = 16;

/// How long the browser has to answer a question about its health.
const HEALTH: Duration = Duration::from_secs(3);

/// Why there is no Gull.
#[derive(Debug, thiserror::Error)]
pub enum GullError {
    /// A word in the options that cannot be.
    #[error("{0}")]
    Options(String),
    /// agent-browser or the browser cannot be had.
    #[error("{0}")]
    Unavailable(String),
    /// The workspace or a folder of our own cannot be used.
    #[error("{what}: {source}")]
    Folder {
        /// What was tried.
        what: String,
        /// What the system said.
        source: std::io::Error,
    },
}

/// The browser of one sandbox. Dropping it ends everything that belongs to it.
pub struct Gull {
    owner_thread: OwnerThread,
    inner: Arc<Inner>,
}

/// What commands share.
pub(crate) struct Inner {
    pub(crate) options: GullOptions,
    pub(crate) network: AddressRule,
    pub(crate) cargo: Cargo,
    pub(crate) browser_state: BrowserState,
    pub(crate) agent: Agent,
    pub(crate) bridge: Bridge,
    pub(crate) proxy: Option<NetworkProxy>,
    pub(crate) private_folder: PrivateFolder,
    pub(crate) governor: Arc<Governor>,
    pub(crate) unprivileged_id: u32,
    pub(crate) live: Arc<tokio::sync::Mutex<Live>>,
    link: Mutex<Option<Link>>,
    walled: AtomicBool,
    changed: Notify,
    began: Instant,
    used_ms: AtomicU64,
    files: AtomicU64,
    /// What the next command's answer has to tell.
    notes: Mutex<Vec<String>>,
    pub(crate) weighed: watch::Sender<Option<Weighed>>,
    /// Who has control of the browser, if it is a person.
    pub(crate) control: Control,
    /// How many watch the browser.
    pub(crate) watchers: AtomicU64,
    pub(crate) profile_is_heavy: AtomicBool,
}

impl Gull {
    /// Takes the workspace and gets ready; the browser itself is started by the first command.
    pub async fn start(options: GullOptions) -> Result<Self, GullError> {
        let named = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        if options.session.is_empty() || options.session.len() > 48 || !options.session.chars().all(named) {
            return Err(GullError::Options("a session's name has 1 to 48 letters, digits, `-` and `_`".to_owned()));
        }
        if options.cpus.is_some_and(|cpus| !(0.01..=4096.0).contains(&cpus)) {
            return Err(GullError::Options("cpus must be between 0.01 and 4096".to_owned()));
        }
        if options.memory_bytes.is_some_and(|bytes| bytes < LEAST_MEMORY) {
            return Err(GullError::Options(format!("a browser needs at least {LEAST_MEMORY} bytes of memory")));
        }
        if let Some(list) = &options.reserved_list {
            cove_chrome::reserve_listed(list.clone());
        }
        let made: Arc<OnceLock<Arc<Inner>>> = Arc::default();
        let last = {
            let made = made.clone();
            move || async move {
                if let Some(inner) = made.get() {
                    inner.end().await;
                }
            }
        };
        let folder = |what: &str| {
            let what = what.to_owned();
            move |source| GullError::Folder { what, source }
        };
        let owner_thread = OwnerThread::start(last).map_err(folder("the browser's thread could not be started"))?;
        let building = owner_thread.handle().spawn(Inner::build(options));
        let inner = building.await.map_err(|_| GullError::Unavailable("the browser's thread ended".to_owned()))??;
        let _ = made.set(inner.clone());
        owner_thread.handle().spawn(keep_cookies(Arc::downgrade(&inner)));
        owner_thread.handle().spawn(keep_idle(Arc::downgrade(&inner)));
        owner_thread.handle().spawn(keep_small(Arc::downgrade(&inner)));
        Ok(Self { owner_thread, inner })
    }

    /// Runs one command. Always answers, at most a second after the deadline.
    pub async fn exec(&self, cmd: &str, deadline: impl Into<Deadline>) -> BrowserAnswer {
        // On the owner thread: the processes of a command die with the thread that started them.
        let running = self.owner_thread.handle().spawn(run::exec(self.inner.clone(), cmd.to_owned(), deadline.into()));
        running.await.unwrap_or_else(|_| BrowserAnswer::failed(EXIT_FAILED, "✗ the runtime is shutting down"))
    }

    /// Runs one command and notes what happened.
    pub(crate) async fn exec_traced(&self, cmd: &str, deadline: impl Into<Deadline>) -> BrowserAnswer {
        self.step(cmd, deadline.into(), 0).await
    }

    async fn step(&self, cmd: &str, deadline: Deadline, step_index: u32) -> BrowserAnswer {
        let begun = Begun::now(&self.inner).await;
        let mut answer = self.exec(cmd, deadline).await;
        answer.trace = Some(vec![begun.end(&self.inner, step_index, cmd, &answer).await]);
        answer
    }

    /// Runs commands one after the other, until one deadline for all of them together. `traced`: notes what happened at
    /// each step.
    pub(crate) async fn exec_batch(
        &self,
        commands: &[String],
        deadline: impl Into<Deadline>,
        stop_on_error: bool,
        traced: bool,
    ) -> BatchAnswer {
        let deadline = deadline.into();
        let began = Instant::now();
        let (mut results, mut trace) = (Vec::<BrowserStep>::new(), traced.then(Vec::new));
        for (step_index, cmd) in (0..).zip(commands) {
            let step = Instant::now();
            // Each is told how much of the time was left for it.
            let own = Deadline::after(deadline.left());
            let mut answer = match (deadline.is_over(), traced) {
                (true, _) => timed_out(deadline),
                (false, false) => self.exec(cmd, own).await,
                (false, true) => self.step(cmd, own, step_index).await,
            };
            let failed = answer.exit_code != 0;
            let out_of_time = matches!(answer.exit_code, EXIT_TIMED_OUT | EXIT_HELD);
            if let Some(trace) = &mut trace {
                trace.extend(answer.trace.take().into_iter().flatten());
            }
            results.push(answer.into_step(cmd.clone(), step_index, signed(step.elapsed())));
            if (failed && stop_on_error) || (out_of_time && deadline.is_over()) {
                break;
            }
        }
        let ended = results.iter().filter(|step| !matches!(step.exit_code, EXIT_TIMED_OUT | EXIT_HELD)).count();
        BatchAnswer {
            success: results.len() == commands.len() && results.iter().all(|step| step.exit_code == 0),
            total_steps: counted(commands.len()),
            completed_steps: counted(ended),
            duration_ms: signed(began.elapsed()),
            results,
            trace,
        }
    }

    /// Whether the browser can be used; asks it.
    pub async fn health(&self) -> BrowserHealth {
        let inner = self.inner.clone();
        let asked = self.owner_thread.handle().spawn(async move { inner.health().await });
        asked.await.unwrap_or_else(|_| self.inner.health_of(HealthStatus::Unhealthy, false, false, Some("ending")))
    }

    /// Which walls stand beside the browser's own sandbox: Landlock around the browser, and around agent-browser.
    /// The first is known once the browser runs.
    pub fn walls(&self) -> (bool, bool) {
        (self.inner.walled.load(Ordering::Relaxed), self.inner.agent.is_walled())
    }

    /// What the browser is held to, and by what.
    pub fn limits(&self) -> BrowserLimits {
        self.inner.governor.limits()
    }

    /// For how long nobody has used it; `None` while a command runs.
    pub fn idle_for(&self) -> Option<Duration> {
        self.inner.live.try_lock().ok().map(|_| self.inner.idle_for())
    }

    /// The sandbox's id.
    pub fn session(&self) -> &str {
        &self.inner.options.session
    }

    /// The browser's process id, while there is one.
    pub async fn browser_pid(&self) -> Option<u32> {
        let live = self.inner.live.lock().await;
        live.browser.as_ref().filter(|browser| browser.is_alive()).map(|browser| browser.process.pid())
    }

    /// The private folder; gone after `close`.
    pub fn private_folder(&self) -> PathBuf {
        self.inner.private_folder.path().to_owned()
    }

    /// Pages that are being watched, counted once for each watcher; without any, no screencast runs.
    pub fn watched_pages(&self) -> usize {
        self.inner.link().as_ref().map_or(0, Link::listeners)
    }

    /// What watchers share with commands, and the thread that owns the processes.
    pub(crate) fn parts(&self) -> (Arc<Inner>, tokio::runtime::Handle) {
        (self.inner.clone(), self.owner_thread.handle().clone())
    }

    /// Ends the browser, the daemon and everything else, and waits until nothing is left.
    pub async fn close(&self) {
        let inner = self.inner.clone();
        let _ = self.owner_thread.handle().spawn(async move { inner.end().await }).await;
    }
}

impl std::fmt::Debug for Gull {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Gull").field("session", &self.inner.options.session).finish_non_exhaustive()
    }
}

impl Inner {
    async fn build(options: GullOptions) -> Result<Arc<Self>, GullError> {
        let folder = |what: String| move |source| GullError::Folder { what, source };
        let unavailable = |error: &dyn std::fmt::Display| GullError::Unavailable(error.to_string());
        let binary = find_agent_browser(options.agent_browser.as_deref()).map_err(|error| unavailable(&error))?;
        find_browser(options.browser.as_deref()).map_err(|error| unavailable(&error))?;
        // Whoever reads this may not be the one whose path it is.
        let told = "the workspace cannot be used".to_owned();
        let workspace = options.workspace.canonicalize().map_err(folder(told.clone()))?;
        let cargo = Cargo::open(&workspace).map_err(folder(told.clone()))?;
        let owner = if cargo.owner() == 0 { NOBODY } else { cargo.owner() };
        let unprivileged_id = options.unprivileged_id.unwrap_or(owner);
        let become_id = rustix::process::geteuid().is_root().then_some(unprivileged_id);
        if become_id == Some(0) {
            return Err(GullError::Options("the browser never runs as root".to_owned()));
        }
        let mut notes = Vec::new();
        let places = Places {
            workspace: &cargo,
            workspace_path: &workspace,
            state_dir: options.state_dir.as_deref(),
            become_id,
        };
        let browser_state = BrowserState::take(&places, &mut notes).map_err(folder(told))?;
        if let Err(error) = skill::write(&cargo) {
            notes.push(format!("the skill file could not be written to /workspace/skills: {error}"));
        }
        let own = "a private folder could not be made".to_owned();
        let private_folder = PrivateFolder::create(&options.temp_dir, become_id).map_err(folder(own))?;
        let bridge = Bridge::open(private_folder.path().to_owned())
            .await
            .map_err(folder("the bridge could not be opened".to_owned()))?;
        let closed = options.network.opens_nothing();
        let proxy = match &options.egress {
            Some(socket) if !closed => NetworkProxy::through(socket.clone()).map(Some),
            _ => NetworkProxy::open(&options.network, options.inside.clone().map(SandboxPorts::through)),
        };
        let proxy = proxy.map_err(folder("the network proxy could not be started".to_owned()))?;
        let agent = Agent::new(binary, &options.session, &private_folder, (bridge.url(), bridge.port()), become_id)
            .map_err(folder("agent-browser cannot be read".to_owned()))?;
        let (memory, cpus) = (options.memory_bytes, options.cpus);
        let governor = Arc::new(Governor::new(memory, cpus, options.process_memory_bytes, options.control_groups));
        Ok(Arc::new(Self {
            governor,
            // Where somebody else decides, and may decide otherwise later, only what can never be opened is refused here.
            network: match options.egress {
                Some(_) => AddressRule::widest(&options.network),
                None => AddressRule::new(&options.network),
            },
            options,
            cargo,
            browser_state,
            agent,
            bridge,
            proxy,
            private_folder,
            unprivileged_id,
            live: Arc::default(),
            link: Mutex::default(),
            walled: AtomicBool::new(false),
            changed: Notify::new(),
            began: Instant::now(),
            used_ms: AtomicU64::new(0),
            files: AtomicU64::new(0),
            notes: Mutex::new(notes),
            weighed: watch::channel(None).0,
            control: Control::default(),
            watchers: AtomicU64::new(0),
            profile_is_heavy: AtomicBool::new(false),
        }))
    }

    /// A name for a file that the client did not name.
    pub(crate) fn name_file(&self, prefix: &str, ending: &str) -> String {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
        let count = self.files.fetch_add(1, Ordering::Relaxed);
        format!("{prefix}-{now}-{count}.{ending}")
    }

    fn idle_for(&self) -> Duration {
        self.began.elapsed().saturating_sub(Duration::from_millis(self.used_ms.load(Ordering::Relaxed)))
    }

    /// Says that a command was just used.
    pub(crate) fn used(&self) {
        self.used_ms.store(millis(self.began.elapsed()), Ordering::Relaxed);
    }

    /// Says that cookies may have changed.
    pub(crate) fn cookies_changed(&self) {
        self.changed.notify_one();
    }

    /// Tells something with the next answer.
    pub(crate) fn note(&self, note: String) {
        let mut notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        if notes.len() < MAX_NOTES {
            notes.push(note);
        }
    }

    /// What is to be told now.
    pub(crate) fn take_notes(&self) -> Vec<String> {
        std::mem::take(&mut *self.notes.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Throws away a profile that has grown past the limit. No browser may be there.
    pub(crate) fn lighten_profile(&self) {
        if self.profile_is_heavy.swap(false, Ordering::AcqRel) {
            self.browser_state.forget_data();
        }
    }

    /// Which browser is weighed from now on.
    pub(crate) fn weigh(&self, weighed: Option<Weighed>) {
        self.weighed.send_replace(weighed);
    }

    /// Remembers the line to the browser for those who have no turn.
    pub(crate) fn has_browser(&self, link: Option<Link>, walled: bool) {
        self.walled.store(walled, Ordering::Relaxed);
        *self.link() = link;
    }

    pub(crate) fn link(&self) -> MutexGuard<'_, Option<Link>> {
        self.link.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where the active page is, if the browser says so in time. Starts nothing and waits for no command.
    pub(crate) async fn url(&self, wait: Duration) -> Option<String> {
        let link = self.link().clone()?;
        url_of(&link, self.agent.active_tab().as_deref(), wait).await
    }

    async fn end(&self) {
        // Whoever has control goes first: the turn is theirs.
        self.control.end();
        self.live.lock().await.close(self).await;
        self.private_folder.clear();
        self.governor.end();
    }

    async fn health(&self) -> BrowserHealth {
        // A command may be running for minutes; the browser answers beside it.
        let link = self.link().clone();
        let Some(link) = link else {
            return self.health_of(HealthStatus::Healthy, false, false, None);
        };
        if link.is_closed() {
            let why = "the browser has ended; the next command starts a new one";
            return self.health_of(HealthStatus::Degraded, false, false, Some(why));
        }
        match link.call::<serde_json::Value>(None, "Browser.getVersion", serde_json::json!({}), HEALTH).await {
            Ok(_) => self.health_of(HealthStatus::Healthy, true, true, None),
            Err(error) => self.health_of(HealthStatus::Unhealthy, true, false, Some(&error.to_string())),
        }
    }

    fn health_of(&self, status: HealthStatus, active: bool, ready: bool, reason: Option<&str>) -> BrowserHealth {
        BrowserHealth {
            status,
            browser_active: active,
            browser_ready: ready,
            session: self.options.session.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            reason: reason.map(str::to_owned),
        }
    }
}

/// Keeps the cookies on the cargo as they change.
async fn keep_cookies(inner: std::sync::Weak<Inner>) {
    let mut last = String::new();
    loop {
        let Some(strong) = inner.upgrade() else { return };
        strong.changed.notified().await;
        let link = strong.link().clone();
        if let Some(link) = link
            && let Ok(text) = cookies::ask(&link).await
            && text != last
            && cookies::keep(&strong.browser_state.folder, &text).is_ok()
        {
            last = text;
        }
    }
}

/// Ends a browser that nobody has used for long.
async fn keep_idle(inner: std::sync::Weak<Inner>) {
    loop {
        let Some(strong) = inner.upgrade() else { return };
        let Some(limit) = strong.options.idle_timeout else { return };
        let idle = strong.idle_for();
        if idle >= limit
            && let Ok(mut live) = strong.live.clone().try_lock_owned()
            && live.browser.is_some()
        {
            live.close(&strong).await;
        }
        drop(strong);
        tokio::time::sleep(limit.saturating_sub(idle).max(Duration::from_millis(200))).await;
    }
}

pub(crate) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

fn signed(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

fn counted(steps: usize) -> u32 {
    u32::try_from(steps).unwrap_or(u32::MAX)
}
