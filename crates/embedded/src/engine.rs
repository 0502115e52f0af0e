//! The engine: hands out sessions, keeps a zygote alive, and knows which walls stand.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use cove_core::{BoxFuture, Engine, EngineError, EngineName, Session, SessionOptions};
use cove_walls::limits::{Resource, raise};
use tokio::sync::Semaphore;

use crate::fetch::Outside;
use crate::fonts::HostFonts;
use crate::process::Child;
use crate::session::EmbeddedSession;
use crate::walls::WallReport;
use crate::worker_pool::{NoChild, WorkerPool};
use crate::{EmbeddedOptions, WallPolicy, launch};

/// A zygote is ready after a few milliseconds; on a machine that swaps it may take seconds.
const START: Duration = Duration::from_secs(20);

/// How long `open` waits for another session to end, or for a fork.
const OPEN: Duration = Duration::from_secs(30);

/// Descriptors left to the rest of the program.
const RESERVED_DESCRIPTORS: u64 = 256;

/// More descriptors than this no host needs.
const MAX_DESCRIPTORS: u64 = 65_536;

/// Runs JavaScript in hardened, killable processes of its own.
///
/// The first use starts the worker; a worker that dies is replaced at the next use.
///
/// ```no_run
/// use cove_core::{Engine, RunRequest, SessionOptions, ToolSet, ToolSpec};
/// use cove_embedded::EmbeddedEngine;
///
/// #[tokio::main(flavor = "current_thread")]
/// async fn main() -> Result<(), Box<dyn std::error::Error>> {
///     cove_embedded::worker::enter_if_asked();
///     let engine = EmbeddedEngine::default();
///     let mut session = engine.open(SessionOptions::one_shot()).await?;
///     let double = ToolSpec::new("double", |call| async move { Ok((call.args[0].as_f64().unwrap_or(0.0) * 2.0).into()) });
///     session.send_tools(ToolSet::new(vec![double])?).await?;
///     let report = session.run(&RunRequest::new("return await double(21)")).await;
///     assert_eq!(report.result.map_err(|fault| fault.message)?.value, 42);
///     Ok(())
/// }
/// ```
pub struct EmbeddedEngine {
    options: EmbeddedOptions,
    permits: Arc<Semaphore>,
    max_sessions: usize,
    current: Mutex<Option<Arc<WorkerPool>>>,
    fonts: Arc<HostFonts>,
    outside: Arc<Outside>,
    started: AtomicU64,
    /// Held while a worker is being started, so that there is one.
    starting: tokio::sync::Mutex<()>,
}

impl Default for EmbeddedEngine {
    fn default() -> Self {
        Self::new(EmbeddedOptions::default())
    }
}

impl EmbeddedEngine {
    /// An engine that starts its worker at the first use.
    pub fn new(options: EmbeddedOptions) -> Self {
        let max_sessions = options.max_sessions.min(sessions_for_descriptors()).max(1);
        let fonts = Arc::new(HostFonts::new(options.font_dirs.clone(), options.system_fonts));
        Self {
            options,
            permits: Arc::new(Semaphore::new(max_sessions)),
            max_sessions,
            current: Mutex::new(None),
            fonts,
            outside: Arc::default(),
            started: AtomicU64::new(0),
            starting: tokio::sync::Mutex::new(()),
        }
    }

    /// Which walls stand, as the worker itself has found them. Starts the worker if there is none.
    pub async fn walls(&self) -> Result<WallReport, EngineError> {
        self.pool().await.map(|pool| pool.report().clone())
    }

    /// The walls of the worker that runs now; `None` where none was started, or it has died.
    pub fn walls_now(&self) -> Option<WallReport> {
        self.living().map(|pool| pool.report().clone())
    }

    /// How many workers this engine has started so far: one, as long as none has died.
    pub fn workers_started(&self) -> u64 {
        self.started.load(Ordering::Relaxed)
    }

    /// How many sessions can be open at once: the option, or what the descriptors allow.
    pub fn max_sessions(&self) -> usize {
        self.max_sessions
    }

    fn living(&self) -> Option<Arc<WorkerPool>> {
        let current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        current.as_ref().filter(|pool| pool.is_alive()).cloned()
    }

    async fn pool(&self) -> Result<Arc<WorkerPool>, EngineError> {
        if let Some(pool) = self.living() {
            return Ok(pool);
        }
        let _starting = self.starting.lock().await;
        if let Some(pool) = self.living() {
            return Ok(pool);
        }
        let program = launch::find(self.options.worker_program.as_deref()).map_err(EngineError::Unavailable)?;
        let pool =
            WorkerPool::start(&program, self.options.spare_children, START).await.map_err(EngineError::Unavailable)?;
        if self.options.profile == WallPolicy::Strict {
            let missing: Vec<String> =
                pool.report().missing().map(|wall| format!("{} ({})", wall.name, wall.detail)).collect();
            if !missing.is_empty() {
                let missing = missing.join(", ");
                return Err(EngineError::Unavailable(format!(
                    "the strict profile requires every wall; missing here: {missing}"
                )));
            }
        }
        self.started.fetch_add(1, Ordering::Relaxed);
        let pool = Arc::new(pool);
        *self.current.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&pool));
        Ok(pool)
    }

    async fn take_child(&self) -> Result<(Child, Arc<WorkerPool>), EngineError> {
        // Again when the zygote died meanwhile; not for ever.
        for _ in 0..3 {
            let pool = self.pool().await?;
            match pool.take().await {
                Ok(child) => return Ok((child, pool)),
                Err(NoChild::ZygoteGone) => {}
                Err(error) => return Err(EngineError::Open(error.to_string())),
            }
        }
        Err(EngineError::Open("the zygote ended three times in a row".into()))
    }

    async fn open_session(&self, options: SessionOptions) -> Result<Box<dyn Session>, EngineError> {
        options.limits.checked().map_err(|error| EngineError::Invalid(error.to_string()))?;
        let opening = async {
            let permit = Arc::clone(&self.permits)
                .acquire_owned()
                .await
                .map_err(|_| EngineError::Open("the engine is closed".into()))?;
            let (child, pool) = self.take_child().await?;
            let session = EmbeddedSession::open(child, pool, permit, options)?;
            Ok(session.with_fonts(&self.fonts).with_network(&self.outside))
        };
        match tokio::time::timeout(OPEN, opening).await {
            Ok(opened) => opened.map(|session| Box::new(session) as Box<dyn Session>),
            Err(_) => Err(EngineError::Open(format!(
                "no session ended within {} s; {} may be open at once",
                OPEN.as_secs(),
                self.max_sessions
            ))),
        }
    }
}

impl Engine for EmbeddedEngine {
    fn name(&self) -> EngineName {
        EngineName::Embedded
    }

    fn open(&self, options: SessionOptions) -> BoxFuture<'_, Result<Box<dyn Session>, EngineError>> {
        Box::pin(self.open_session(options))
    }
}

/// How many sessions the descriptors suffice for, as many as this process may have: two each.
fn sessions_for_descriptors() -> usize {
    let descriptors = raise(Resource::Nofile, MAX_DESCRIPTORS);
    usize::try_from(descriptors.saturating_sub(RESERVED_DESCRIPTORS) / 2).unwrap_or(usize::MAX)
}
