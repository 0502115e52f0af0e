//! One session: a child process, the line to it, and the tools it may call.

use std::sync::Arc;
use std::time::{Duration, Instant};

use cove_core::{BoxFuture, CpuClock, EngineError, RunReport, RunRequest, Session, SessionOptions, ToolMode, ToolSet};
use cove_network::LiveNetwork;
use cove_world::{Setup, ToolDecl};
use serde_json::{Map, Value};
use tokio::sync::OwnedSemaphorePermit;

use crate::calls::Tools;
use crate::fetch::{Fetcher, Outside};
use crate::fonts::HostFonts;
use crate::line::Line;
use crate::process::{Child, Process};
use crate::run;
use crate::wire::{DyingCause, FromChild, ToChild};
use crate::worker_pool::WorkerPool;

/// How long variables and tools may take to arrive.
const REQUEST: Duration = Duration::from_secs(30);

/// How long a killed child may take to be gone. The kernel has to free its memory.
const END_LIMIT: Duration = Duration::from_secs(10);

/// Variables sent at once. More belongs into a tool that is asked for it.
const MAX_REQUEST_BYTES: usize = 256 << 20;

/// The longest answer to a request: a sentence.
const MAX_WORD_BYTES: usize = 64 << 10;

/// A session in a child process of its own. Dropping it kills the child.
pub(crate) struct EmbeddedSession {
    pub(crate) process: Arc<Process>,
    pub(crate) line: Line,
    pub(crate) pool: Arc<WorkerPool>,
    pub(crate) number: u64,
    pub(crate) options: SessionOptions,
    pub(crate) tools: Tools,
    pub(crate) fonts: Arc<HostFonts>,
    /// Why nothing can be run here any more.
    pub(crate) gone: Option<String>,
    _permit: OwnedSemaphorePermit,
}

impl EmbeddedSession {
    /// Makes a child one session's own. The set-up travels with the first thing that is asked of it.
    pub(crate) fn open(
        child: Child,
        pool: Arc<WorkerPool>,
        permit: OwnedSemaphorePermit,
        options: SessionOptions,
    ) -> Result<Self, EngineError> {
        let mut line = Line::new(child.socket).map_err(|error| EngineError::Open(error.to_string()))?;
        let mut seed = [0; 32];
        rustix::rand::getrandom(&mut seed[..], rustix::rand::GetRandomFlags::empty())
            .map_err(|error| EngineError::Open(format!("the system gave no random bytes for the session: {error}")))?;
        let setup = Setup {
            limits: options.limits,
            clock: options.clock,
            random: options.random,
            seed,
            imports: options.imports.clone(),
            network: !options.network.is_closed(),
            log_levels: options.log_levels.clone(),
        };
        let setup = serde_json::to_vec(&setup).map_err(|error| EngineError::Invalid(error.to_string()))?;
        line.queue(ToChild::Setup, |out| out.extend_from_slice(&setup));
        let process = Arc::new(child.process);
        let (number, tools) = (child.number, Tools::new());
        let fonts = Arc::default();
        Ok(Self { process, line, pool, number, options, tools, fonts, gone: None, _permit: permit })
    }

    /// Draws text with these fonts.
    pub(crate) fn with_fonts(mut self, fonts: &Arc<HostFonts>) -> Self {
        self.fonts = Arc::clone(fonts);
        self
    }

    /// Connects `fetch`, if the session's policy opens anything; else the child has no such tool to call.
    pub(crate) fn with_network(mut self, outside: &Arc<Outside>) -> Self {
        if !self.options.network.is_closed() {
            let network = LiveNetwork::of_session(&self.options);
            let fetcher = Fetcher::new(network, self.options.limits.memory_bytes, outside);
            fetcher.install(&mut self.tools);
        }
        self
    }

    /// Sends something and waits until the child has taken it.
    async fn request(&mut self, kind: ToChild, payload: Vec<u8>) -> Result<(), EngineError> {
        if let Some(why) = &self.gone {
            return Err(EngineError::Gone(why.clone()));
        }
        if payload.len() > MAX_REQUEST_BYTES {
            return Err(EngineError::Invalid(format!(
                "{} bytes are too many at once; the most is {MAX_REQUEST_BYTES}",
                payload.len()
            )));
        }
        // Whatever interrupts this leaves the session unusable: nobody knows how far the child has come.
        let guard = KillGuard::new(&self.process);
        self.gone = Some("a request to it was not finished".into());
        self.line.queue(kind, |out| out.extend_from_slice(&payload));
        let (outcome, gone) = match tokio::time::timeout(REQUEST, self.heard()).await {
            Ok(Ok(Ok(()))) => (Ok(()), None),
            Ok(Ok(Err(refused))) => (Err(EngineError::Invalid(refused)), None),
            Ok(Err(lost)) => (Err(EngineError::Gone(lost.clone())), Some(lost)),
            Err(_) => {
                let late = format!("no answer within {} s", REQUEST.as_secs());
                (Err(EngineError::Gone(late.clone())), Some(late))
            }
        };
        if gone.is_none() {
            guard.disarm();
        }
        self.gone = gone;
        outcome
    }

    /// The child's answer to a request: taken, or refused with a reason. The outer error: the child is lost.
    async fn heard(&mut self) -> Result<Result<(), String>, String> {
        loop {
            self.line.send().map_err(|error| error.to_string())?;
            if !self.line.fill().map_err(|error| error.to_string())? {
                return Err(run::fault_of_death(&self.pool, self.number).await.message);
            }
            let frame = self.line.next(|_| Some(MAX_WORD_BYTES)).map_err(|error| error.to_string())?;
            match frame.map(|frame| (FromChild::from_byte(frame.kind), frame.payload)) {
                None => self.line.ready().await.map_err(|error| error.to_string())?,
                Some((Some(FromChild::Accepted), [])) => return Ok(Ok(())),
                Some((Some(FromChild::Refused), why)) => return Ok(Err(String::from_utf8_lossy(why).into_owned())),
                Some((Some(FromChild::Dying), payload)) => {
                    let (_, words) = DyingCause::read(payload);
                    return Err(run::last_words(words).unwrap_or_else(|| "the worker aborted".into()));
                }
                Some(_) => return Err("the worker sent a message that was not expected".into()),
            }
        }
    }
}

impl Session for EmbeddedSession {
    fn send_variables(&mut self, variables: Map<String, Value>) -> BoxFuture<'_, Result<(), EngineError>> {
        Box::pin(async move {
            let payload = serde_json::to_vec(&variables).map_err(|error| EngineError::Invalid(error.to_string()))?;
            self.request(ToChild::Variables, payload).await
        })
    }

    fn send_tools(&mut self, tools: ToolSet) -> BoxFuture<'_, Result<(), EngineError>> {
        Box::pin(async move {
            let declared: Vec<ToolDecl> = tools
                .iter()
                .map(|tool| ToolDecl { name: tool.name.clone(), sync: tool.mode == ToolMode::Sync })
                .collect();
            let payload = serde_json::to_vec(&declared).map_err(|error| EngineError::Invalid(error.to_string()))?;
            self.request(ToChild::Tools, payload).await?;
            self.tools.extend(tools.iter().map(|tool| (tool.name.clone(), Arc::clone(&tool.tool))));
            Ok(())
        })
    }

    fn run<'a>(&'a mut self, request: &'a RunRequest) -> BoxFuture<'a, RunReport> {
        let started = Instant::now();
        Box::pin(run::run(self, request, started))
    }

    fn cpu_clock(&self) -> Option<CpuClock> {
        let process = Arc::downgrade(&self.process);
        Some(Arc::new(move || process.upgrade()?.computed()))
    }

    fn close(self: Box<Self>) -> BoxFuture<'static, Result<(), EngineError>> {
        Box::pin(async move {
            self.process.kill();
            self.process
                .ended(END_LIMIT)
                .await
                .map_err(|error| EngineError::Gone(format!("the worker does not end: {error}")))
        })
    }
}

impl Drop for EmbeddedSession {
    fn drop(&mut self) {
        self.process.kill();
    }
}

/// Kills the child unless it is let go: what a dropped future leaves behind.
pub(crate) struct KillGuard(Option<Arc<Process>>);

impl KillGuard {
    pub(crate) fn new(process: &Arc<Process>) -> Self {
        Self(Some(Arc::clone(process)))
    }

    pub(crate) fn disarm(mut self) {
        self.0 = None;
    }
}

impl Drop for KillGuard {
    fn drop(&mut self) {
        if let Some(process) = &self.0 {
            process.kill();
        }
    }
}
