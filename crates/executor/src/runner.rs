//! `run_javascript`: one call, one fresh world, one report. The call itself never fails.

use std::sync::Arc;

use cove_core::{
    Deadline, Engine, EngineChoice, EngineError, EngineName, EngineReason, EngineReport, Fault, FaultKind, Holds,
    Limits, LiveHandle, LogSink, NetworkPolicy, RunReport, RunRequest, Session, SessionFate, SessionOptions, ToolSet,
};
use cove_script::{Mode, PrepareOptions, prepare};
use serde_json::Value;

use crate::auto::{Attempt, Auto};
use crate::{Choice, Pictures, choose};

/// What a runner is made of. Engines that a machine does not have are simply absent.
#[derive(Clone, Default)]
pub struct RunnerOptions {
    /// The hardened engine.
    pub embedded: Option<Arc<dyn Engine>>,
    /// Chrome.
    pub browser: Option<Arc<dyn Engine>>,
    /// Where pictures go; nowhere, unless something else is said.
    pub pictures: Pictures,
    /// Limits of every run; the request's timeout wins over the one here.
    pub limits: Limits,
    /// Tools that every run may call.
    pub tools: ToolSet,
    /// Modules that `import()` may load.
    pub imports: cove_core::ImportPolicy,
    /// Hosts that code may reach.
    pub network: NetworkPolicy,
    /// Where that policy may change meanwhile.
    pub live_network: Option<LiveHandle>,
    /// Hears console lines while a run goes on.
    pub log_sink: Option<LogSink>,
    /// When the clock of a run stands still, because a person is asked.
    pub holds: Option<Arc<Holds>>,
    /// The legacy scan: code that holds one of these words is refused. Empty by default, and best left so: walls hold,
    /// words do not.
    pub blocked_words: Vec<String>,
}

/// Answers `run_javascript`.
#[derive(Clone, Default)]
pub struct Runner {
    pub(crate) options: RunnerOptions,
}

impl Runner {
    /// A runner with these engines and limits.
    pub fn new(options: RunnerOptions) -> Self {
        Self { options }
    }

    /// Takes the arguments as a model sends them.
    pub async fn call(&self, args: &Value) -> RunReport {
        match RunRequest::from_json(args) {
            Ok(request) => self.run(request).await,
            Err(error) => RunReport::refused(FaultKind::InvalidArgs, error.to_string()),
        }
    }

    /// Runs one request in a fresh world.
    pub async fn run(&self, request: RunRequest) -> RunReport {
        let (length, max) = (request.code.chars().count() as u64, self.options.limits.max_code_chars);
        if length > max {
            let message = format!("The code has {length} characters; the limit is {max}");
            let fault = Fault::new(FaultKind::CodeTooLarge, message).with("maxLength", max).with("length", length);
            return nothing_ran(fault);
        }
        let blocked: Vec<&str> =
            self.options.blocked_words.iter().map(String::as_str).filter(|word| request.code.contains(word)).collect();
        if !blocked.is_empty() {
            let message = format!("The code uses what is blocked here: {}", blocked.join(", "));
            return nothing_ran(Fault::new(FaultKind::BlockedCode, message).with("blocked", blocked));
        }
        let wanted = match self.wanted(&request) {
            Ok(choice) => choice,
            Err(fault) => return nothing_ran(*fault),
        };
        match (wanted.engine, &self.options.embedded, &self.options.browser) {
            (EngineName::Embedded, Some(embedded), Some(browser)) if request.engine == EngineChoice::Auto => {
                let (request, because) = (&request, wanted.because);
                Auto { runner: self, embedded, browser, request, because }.run().await
            }
            (EngineName::Embedded, ..) => self.run_embedded(&request, wanted, Vec::new()).await,
            (EngineName::Browser, ..) => self.run_browser(&request, wanted).await,
        }
    }

    fn wanted(&self, request: &RunRequest) -> Result<Choice, Box<Fault>> {
        let reason = EngineReason::AskedFor;
        let asked = |engine| Choice { engine, reason, because: "asked for".to_owned() };
        Ok(match request.engine {
            EngineChoice::Browser => asked(EngineName::Browser),
            EngineChoice::Embedded => asked(EngineName::Embedded),
            EngineChoice::Auto => {
                let tool_names: Vec<String> = self.options.tools.iter().map(|tool| tool.name.clone()).collect();
                let options = PrepareOptions {
                    mode: Mode::FunctionBody,
                    guards: false,
                    tool_names: &tool_names,
                    imports: Some(&self.options.imports),
                    mark_calls: false,
                    last_value: false,
                    file_name: "code.js",
                };
                choose(&prepare(&request.code, &options).map_err(|refusal| Box::new(refusal.into()))?)
            }
        })
    }

    async fn run_embedded(&self, request: &RunRequest, choice: Choice, warnings: Vec<String>) -> RunReport {
        let Some(engine) = &self.options.embedded else {
            return RunReport::refused(FaultKind::EngineLost, "this build has no embedded engine");
        };
        let ran = self.run_in(engine.as_ref(), request).await;
        let mut report = ran.unwrap_or_else(|error| RunReport::refused(FaultKind::EngineLost, error.to_string()));
        let (fallback_used, Choice { reason, because, .. }) = (!warnings.is_empty(), choice);
        report.engine = Some(EngineReport { name: EngineName::Embedded, reason, because, fallback_used });
        report.warnings.splice(0..0, warnings);
        report
    }

    async fn run_browser(&self, request: &RunRequest, choice: Choice) -> RunReport {
        let Choice { reason, because, .. } = choice;
        let trouble = match &self.options.browser {
            None => EngineError::Unavailable(NO_BROWSER.to_owned()),
            Some(engine) => {
                let first = self.run_in(engine.as_ref(), request).await;
                // A tab that could not be had is tried once more; nothing of the guest's has run by then.
                let second = match first {
                    Err(EngineError::Open(_)) => self.run_in(engine.as_ref(), request).await,
                    other => other,
                };
                match second {
                    Ok(mut report) => {
                        let name = EngineName::Browser;
                        report.engine = Some(EngineReport { name, reason, because, fallback_used: false });
                        return report;
                    }
                    Err(error) => error,
                }
            }
        };
        let kind = match trouble {
            EngineError::Unavailable(_) => FaultKind::BrowserNotAvailable,
            _ => FaultKind::PageCreationFailed,
        };
        if request.fallback && self.options.embedded.is_some() {
            let code = kind.tool_code();
            let warning = format!("{code}: {trouble}; the embedded engine ran the code instead");
            let because = format!("{because}, but {code}");
            let choice = Choice { engine: EngineName::Embedded, reason: EngineReason::NoBrowser, because };
            return self.run_embedded(request, choice, vec![warning]).await;
        }
        RunReport::refused(kind, trouble.to_string())
    }

    /// The one and only run of a request, with its pictures. `Err` only when no session could be opened: then no guest code
    /// has run.
    async fn run_in(&self, engine: &dyn Engine, request: &RunRequest) -> Result<RunReport, EngineError> {
        let options = SessionOptions { log_sink: self.options.log_sink.clone(), ..self.session_options(request) };
        let mut session = self.open(engine, options).await?;
        let mut report = run_once(session.as_mut(), request).await;
        if let Ok(finished) = &mut report.result {
            self.options.pictures.keep(request, engine.name(), finished);
        }
        Ok(report)
    }

    /// The session of the first try, whose pictures are not kept yet and which does outside what the attempt allows. No code
    /// of the guest's runs in it yet.
    pub(crate) async fn open_first(
        &self,
        engine: &dyn Engine,
        request: &RunRequest,
        attempt: &Arc<Attempt>,
    ) -> Result<Box<dyn Session>, EngineError> {
        let (log_sink, gate) = (attempt.sink(), Some(attempt.gate()));
        self.open(engine, SessionOptions { log_sink, gate, ..self.session_options(request) }).await
    }

    /// The session of another try: it must be there by the deadline of the first.
    pub(crate) async fn open_attempt(
        &self,
        engine: &dyn Engine,
        request: &RunRequest,
        attempt: &Arc<Attempt>,
        deadline: &Deadline,
    ) -> Result<Box<dyn Session>, EngineError> {
        let open = || tokio::time::timeout(deadline.left(), self.open_first(engine, request, attempt));
        let late = |_| EngineError::Open("no session was available in time".to_owned());
        match open().await.map_err(late)? {
            // A tab that could not be had is tried once more.
            Err(EngineError::Open(_)) if engine.name() == EngineName::Browser => open().await.map_err(late)?,
            other => other,
        }
    }

    /// The one run of a session that was opened for it.
    pub(crate) async fn run_attempt(
        &self,
        mut session: Box<dyn Session>,
        request: &RunRequest,
        attempt: &Arc<Attempt>,
        deadline: &Deadline,
    ) -> RunReport {
        attempt.set_clock(session.cpu_clock());
        // In whole milliseconds, rounded up: an attempt that is opened at once has the time that was given, and its request
        // (whose input may be large) is not copied.
        let left = u64::try_from(deadline.left().as_micros().div_ceil(1000)).unwrap_or(u64::MAX).max(1);
        if left >= request.timeout_ms {
            return run_once(session.as_mut(), request).await;
        }
        let request = RunRequest { timeout_ms: left, ..request.clone() };
        run_once(session.as_mut(), &request).await
    }

    fn session_options(&self, request: &RunRequest) -> SessionOptions {
        SessionOptions {
            limits: Limits { timeout_ms: request.timeout_ms, ..self.options.limits },
            imports: self.options.imports.clone(),
            network: self.options.network.clone(),
            live_network: self.options.live_network.clone(),
            holds: self.options.holds.clone(),
            ..SessionOptions::one_shot()
        }
    }

    /// A session with the tools of every run.
    async fn open(&self, engine: &dyn Engine, options: SessionOptions) -> Result<Box<dyn Session>, EngineError> {
        let mut session = engine.open(options).await?;
        if !self.options.tools.is_empty() {
            session.send_tools(self.options.tools.clone()).await?;
        }
        Ok(session)
    }
}

/// Runs a request in a session of its own, which is dropped afterwards: that ends it without waiting until its process is gone.
async fn run_once(session: &mut dyn Session, request: &RunRequest) -> RunReport {
    let mut report = session.run(request).await;
    if let Ok(finished) = &report.result {
        let silent = finished.value.is_null() && finished.pictures.is_empty() && report.logs.is_empty();
        if silent && !finished.is_final_answer && !returns(&request.code) {
            report.warnings.push(NO_RETURN.to_owned());
        }
    }
    report
}

impl std::fmt::Debug for Runner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Runner")
            .field("embedded", &self.options.embedded.is_some())
            .field("browser", &self.options.browser.is_some())
            .finish_non_exhaustive()
    }
}

/// A run that was refused before an engine had it.
fn nothing_ran(fault: Fault) -> RunReport {
    RunReport::new(Err(fault), SessionFate::Usable)
}

/// What is said of code that gave nothing, printed nothing and returns nothing.
const NO_RETURN: &str =
    "The code has no `return`, so its value is null. Write `return` before what is to be the value.";

/// Whether the code has a `return` of its own, or is nothing at all. Asked only where it gave nothing.
fn returns(code: &str) -> bool {
    let program = || prepare(code, &PrepareOptions::new(Mode::FunctionBody));
    code.trim().is_empty() || program().is_ok_and(|program| program.returns)
}

/// Says what is missing and how to get it.
const NO_BROWSER: &str = "No browser was found. On Debian: apt-get install chromium-headless-shell chromium-sandbox; \
                          or name one with --browser or COVE_BROWSER.";
