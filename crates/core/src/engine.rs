//! The two traits that every engine implements: an engine opens sessions, a session runs code.
//!
//! A one-shot run is a session used once, so whatever a session can do (tools, `final_answer`, logs, limits, canvas,
//! TypeScript, code frames) a one-shot can too, and one test suite holds for all engines.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{Clock, Holds, ImportPolicy, Limits, NetworkPolicy, Random, RunReport, RunRequest, ToolSet};

/// A future that may cross threads; what the traits below return.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Which engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EngineName {
    /// QuickJS-ng in hardened, killable processes.
    Embedded,
    /// Headless Chrome, a fresh browser context per run.
    Browser,
}

impl std::fmt::Display for EngineName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Embedded => "embedded",
            Self::Browser => "browser",
        })
    }
}

/// Trouble of the host's, not of the guest's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EngineError {
    /// The engine cannot run on this machine at all (no browser, a wall that a strict profile demands is missing).
    #[error("{0}")]
    Unavailable(String),
    /// The engine is there, a session could not be made this time.
    #[error("{0}")]
    Open(String),
    /// The session's process or page is gone.
    #[error("the session is gone: {0}")]
    Gone(String),
    /// The caller handed over something that cannot be taken (a bad tool name, a value that is too large).
    #[error("{0}")]
    Invalid(String),
}

/// The level of a console line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogLevel {
    /// `console.debug`, `console.trace`
    Debug,
    /// `console.log`
    Log,
    /// `console.info`
    Info,
    /// `console.warn`
    Warn,
    /// `console.error`
    Error,
}

/// One line that guest code wrote to its console. The text holds no line break at its end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogLine {
    /// Which console method wrote it.
    pub level: LogLevel,
    /// What it wrote.
    pub text: String,
}

/// Hears console lines while a run goes on. Must not block.
pub type LogSink = Arc<dyn Fn(&LogLine) + Send + Sync>;

/// Asked before guest code reaches outside: before each tool call and each request to the network. False: it is not let
/// out, because the run is about to be ended. Must not block.
pub type EffectGate = Arc<dyn Fn() -> bool + Send + Sync>;

/// How long a session's guest has computed so far; `None` when it is gone. Waiting does not count, unless it is for a processor.
pub type CpuClock = Arc<dyn Fn() -> Option<Duration> + Send + Sync>;

/// What a session is opened with.
#[derive(Clone)]
pub struct SessionOptions {
    /// Limits of the session (memory) and, unless a run says otherwise, of its runs.
    pub limits: Limits,
    /// The clock that guest code sees.
    pub clock: Clock,
    /// The randomness that guest code sees.
    pub random: Random,
    /// Modules that `import()` may load.
    pub imports: ImportPolicy,
    /// Hosts that `fetch` may reach.
    pub network: NetworkPolicy,
    /// Where that policy may change while the session works: the `LiveNetwork` of `cove-network`, which knows it as it is
    /// now. This crate knows no sockets, so it only carries it.
    pub live_network: Option<LiveHandle>,
    /// Console levels that are kept.
    pub log_levels: Vec<LogLevel>,
    /// Hears every kept console line at once.
    pub log_sink: Option<LogSink>,
    /// Decides whether guest code may reach outside; `None`: always.
    pub gate: Option<EffectGate>,
    /// When the clock of a run stands still, because a person is asked; `None`: never.
    pub holds: Option<Arc<Holds>>,
}

/// What only the crates that know its type take apart.
pub type LiveHandle = Arc<dyn std::any::Any + Send + Sync>;

impl SessionOptions {
    /// What a one-shot run gets: real time and chance, and every line of its console.
    pub fn one_shot() -> Self {
        let mut options =
            Self { clock: Clock::Real, random: Random::Real, limits: Limits::ONE_SHOT, ..Self::executor() };
        options.log_levels.insert(0, LogLevel::Debug);
        options
    }

    /// What a stateful executor gets: neither time nor chance, so that a run can be repeated.
    pub fn executor() -> Self {
        Self {
            limits: Limits::EXECUTOR,
            clock: Clock::None,
            random: Random::None,
            imports: ImportPolicy::default(),
            network: NetworkPolicy::default(),
            live_network: None,
            log_levels: vec![LogLevel::Log, LogLevel::Info, LogLevel::Warn, LogLevel::Error],
            log_sink: None,
            gate: None,
            holds: None,
        }
    }
}

impl std::fmt::Debug for SessionOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SessionOptions")
            .field("limits", &self.limits)
            .field("clock", &self.clock)
            .field("random", &self.random)
            .field("imports", &self.imports.authorized)
            .field("network", &self.network)
            .field("log_levels", &self.log_levels)
            .finish_non_exhaustive()
    }
}

/// Runs JavaScript behind walls.
pub trait Engine: Send + Sync {
    /// Which engine this is; goes into every outcome.
    fn name(&self) -> EngineName;

    /// Whether it can be had on this machine, as far as can be told without starting it.
    fn is_here(&self) -> bool {
        true
    }

    /// Opens a session: a fresh world that no other session can see.
    fn open(&self, options: SessionOptions) -> BoxFuture<'_, Result<Box<dyn Session>, EngineError>>;
}

/// A world that keeps its state between runs. Dropping it ends it, whatever it is doing.
pub trait Session: Send {
    /// Sets global variables, deep-frozen.
    fn send_variables(&mut self, variables: Map<String, Value>) -> BoxFuture<'_, Result<(), EngineError>>;

    /// Makes host functions callable. A later call adds to the earlier ones.
    fn send_tools(&mut self, tools: ToolSet) -> BoxFuture<'_, Result<(), EngineError>>;

    /// Runs code. A guest's failure is part of the report; so is the end of the session, if the run ended it.
    ///
    /// Dropping the future kills the run, and with it the session.
    fn run<'a>(&'a mut self, request: &'a RunRequest) -> BoxFuture<'a, RunReport>;

    /// Tells how long the guest has computed, also while a run goes on; `None` where the engine cannot tell.
    fn cpu_clock(&self) -> Option<CpuClock> {
        None
    }

    /// Ends the session and waits until nothing of it is left.
    fn close(self: Box<Self>) -> BoxFuture<'static, Result<(), EngineError>>;
}
