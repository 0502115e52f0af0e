//! `run_javascript`: one call, one fresh world, one of four answers. The call itself never fails.

use std::sync::Arc;

use cove_artifacts::{PictureMeta, PictureSource, StoreError};
use cove_core::{
    Effects, Engine, EngineChoice, EngineError, EngineName, EngineReport, ExportFault, Fault, FaultKind, Finished,
    Limits, LogLine, LogSink, NetworkPolicy, Picture, RunOutcome, RunReport, RunRequest, RunShape, RunUnit,
    SessionOptions, ToolErrorCode, ToolSet, Usage,
};
use cove_script::{Mode, PrepareOptions, prepare};
use serde_json::Value;

use crate::{Choice, Shelf, choose, join_logs};

/// What a runner is made of. Engines that a machine does not have are simply absent.
#[derive(Clone, Default)]
pub struct RunnerOptions {
    /// The hardened engine.
    pub embedded: Option<Arc<dyn Engine>>,
    /// Chrome.
    pub browser: Option<Arc<dyn Engine>>,
    /// Where pictures go. Without a shelf a run that draws answers `canvas_export_failed`.
    pub shelf: Option<Arc<Shelf>>,
    /// Limits of every run; the request's timeout wins over the one here.
    pub limits: Limits,
    /// Tools that every run may call.
    pub tools: ToolSet,
    /// Modules that `import()` may load.
    pub imports: cove_core::ImportPolicy,
    /// Hosts that code may reach.
    pub network: NetworkPolicy,
    /// Hears console lines while a run goes on.
    pub log_sink: Option<LogSink>,
    /// The legacy scan: code that holds one of these words is refused. Empty by default, and best left so: walls hold,
    /// words do not.
    pub blocked_words: Vec<String>,
    /// Counts loop iterations and stops there, also for one-shot runs.
    pub max_operations: Option<u64>,
}

/// Everything that is known about one call: the answer, and what stands around it.
#[derive(Debug, Clone)]
pub struct OneShot {
    /// The tool's answer.
    pub outcome: RunOutcome,
    /// The fault behind a failed answer, with its kind; `None` when the code came to its end.
    pub fault: Option<FaultKind>,
    /// Which engine ran, and why; `None` when nothing ran at all.
    pub engine: Option<EngineReport>,
    /// Console lines.
    pub logs: Vec<LogLine>,
    /// The same as one text.
    pub log_text: String,
    /// What it cost.
    pub usage: Usage,
    /// What it may have done outside.
    pub effects: Effects,
    /// Things that whoever runs Cove should know (a fallback, mostly).
    pub warnings: Vec<String>,
}

impl OneShot {
    fn refused(error: ToolErrorCode, message: impl Into<String>) -> Self {
        Self::without_run(RunOutcome::failed(error, message), None)
    }

    fn without_run(outcome: RunOutcome, fault: Option<FaultKind>) -> Self {
        Self {
            outcome,
            fault,
            engine: None,
            logs: Vec::new(),
            log_text: String::new(),
            usage: Usage::default(),
            effects: Effects::None,
            warnings: Vec::new(),
        }
    }
}

/// Answers `run_javascript`.
#[derive(Clone, Default)]
pub struct Runner {
    options: RunnerOptions,
}

impl Runner {
    /// A runner with these engines and limits.
    pub fn new(options: RunnerOptions) -> Self {
        Self { options }
    }

    /// Takes the arguments as a model sends them.
    pub async fn call(&self, args: &Value) -> OneShot {
        match RunRequest::from_json(args) {
            Ok(request) => self.run(request).await,
            Err(error) => OneShot::refused(ToolErrorCode::InvalidArgs, error.to_string()),
        }
    }

    /// Runs one request.
    pub async fn run(&self, request: RunRequest) -> OneShot {
        let (length, max) = (request.code.chars().count() as u64, self.options.limits.max_code_chars);
        if length > max {
            let message = format!("The code has {length} characters; the limit is {max}");
            let details = [("maxLength".to_owned(), max.into()), ("length".to_owned(), length.into())];
            let error = ToolErrorCode::CodeTooLarge;
            let outcome = RunOutcome::Failed { error, message, details: details.into_iter().collect() };
            return OneShot::without_run(outcome, None);
        }
        let blocked: Vec<&str> =
            self.options.blocked_words.iter().map(String::as_str).filter(|word| request.code.contains(word)).collect();
        if !blocked.is_empty() {
            let message = format!("The code uses what is blocked here: {}", blocked.join(", "));
            let details = [("blocked".to_owned(), blocked.into())].into_iter().collect();
            let outcome = RunOutcome::Failed { error: ToolErrorCode::BlockedCode, message, details };
            return OneShot::without_run(outcome, None);
        }
        let wanted = match self.wanted(&request) {
            Ok(choice) => choice,
            Err(fault) => {
                let kind = fault.kind;
                return OneShot::without_run((*fault).into(), Some(kind));
            }
        };
        match wanted.engine {
            EngineName::Embedded => self.run_embedded(&request, wanted.because, Vec::new()).await,
            EngineName::Browser => self.run_browser(&request, wanted.because).await,
        }
    }

    fn wanted(&self, request: &RunRequest) -> Result<Choice, Box<Fault>> {
        let asked = |engine| Choice { engine, because: "asked for".to_owned() };
        Ok(match request.engine {
            EngineChoice::Browser => asked(EngineName::Browser),
            EngineChoice::Embedded => asked(EngineName::Embedded),
            EngineChoice::Auto => {
                let options = PrepareOptions {
                    mode: Mode::FunctionBody,
                    guards: false,
                    tool_names: &[],
                    imports: None,
                    mark_calls: false,
                    last_value: false,
                    file_name: "code.js",
                };
                choose(&prepare(&request.code, &options).map_err(|refusal| Box::new(refusal.into()))?)
            }
        })
    }

    async fn run_embedded(&self, request: &RunRequest, because: String, warnings: Vec<String>) -> OneShot {
        let Some(engine) = &self.options.embedded else {
            return OneShot::refused(ToolErrorCode::JsExecutionFailed, "this build has no embedded engine");
        };
        let report = EngineReport { name: EngineName::Embedded, because, fallback_used: !warnings.is_empty() };
        match self.run_in(engine.as_ref(), request).await {
            Ok(run) => self.answer(request, report, run, warnings),
            Err(error) => {
                let mut failed = OneShot::refused(ToolErrorCode::JsExecutionFailed, error.to_string());
                failed.fault = Some(FaultKind::EngineLost);
                failed.engine = Some(report);
                failed.warnings = warnings;
                failed
            }
        }
    }

    async fn run_browser(&self, request: &RunRequest, because: String) -> OneShot {
        let trouble = match &self.options.browser {
            None => EngineError::Unavailable(NO_BROWSER.to_owned()),
            Some(engine) => {
                let report = EngineReport { name: EngineName::Browser, because: because.clone(), fallback_used: false };
                let first = self.run_in(engine.as_ref(), request).await;
                // A tab that could not be had is tried once more; nothing of the guest's has run by then.
                let second = match first {
                    Err(EngineError::Open(_)) => self.run_in(engine.as_ref(), request).await,
                    other => other,
                };
                match second {
                    Ok(run) => return self.answer(request, report, run, Vec::new()),
                    Err(error) => error,
                }
            }
        };
        let code = match trouble {
            EngineError::Unavailable(_) => ToolErrorCode::BrowserNotAvailable,
            _ => ToolErrorCode::PageCreationFailed,
        };
        if request.fallback && self.options.embedded.is_some() {
            let warning = format!("{code}: {trouble}; the embedded engine ran the code instead");
            let because = format!("{because}, but {code}");
            return self.run_embedded(request, because, vec![warning]).await;
        }
        let mut failed = OneShot::refused(code, trouble.to_string());
        failed.fault = Some(FaultKind::EngineLost);
        failed
    }

    /// A session used once. `Err` only when it could not be opened: then no guest code has run.
    async fn run_in(&self, engine: &dyn Engine, request: &RunRequest) -> Result<RunReport, EngineError> {
        let options = SessionOptions {
            limits: Limits { timeout_ms: request.timeout_ms, ..self.options.limits },
            imports: self.options.imports.clone(),
            network: self.options.network.clone(),
            log_sink: self.options.log_sink.clone(),
            ..SessionOptions::one_shot()
        };
        let mut session = engine.open(options).await?;
        if !self.options.tools.is_empty() {
            session.send_tools(self.options.tools.clone()).await?;
        }
        let unit = RunUnit {
            code: request.code.clone(),
            shape: match request.last_value {
                true => RunShape::Script { input: request.input.clone() },
                false => RunShape::FunctionBody { input: request.input.clone() },
            },
            timeout_ms: request.timeout_ms,
            max_operations: self.options.max_operations,
        };
        let report = session.run(unit).await;
        // Dropping ends the session without waiting for its last breath: nobody can see it any more.
        drop(session);
        Ok(report)
    }

    fn answer(&self, request: &RunRequest, engine: EngineReport, run: RunReport, mut warnings: Vec<String>) -> OneShot {
        let log_text = join_logs(&run);
        let source = match engine.name {
            EngineName::Embedded => PictureSource::Canvas,
            EngineName::Browser => PictureSource::BrowserCanvas,
        };
        let (outcome, fault) = match run.result {
            Ok(mut finished) => {
                warnings.append(&mut finished.warnings);
                let silent = finished.value.is_null() && finished.pictures.is_empty() && run.logs.is_empty();
                if silent && !finished.is_final_answer && !returns(&request.code) {
                    warnings.push(NO_RETURN.to_owned());
                }
                (self.keep(request, source, finished), None)
            }
            Err(fault) => {
                let kind = fault.kind;
                (fault.into(), Some(kind))
            }
        };
        OneShot {
            outcome,
            fault,
            engine: Some(engine),
            logs: run.logs,
            log_text,
            usage: run.usage,
            effects: run.effects,
            warnings,
        }
    }

    fn keep(&self, request: &RunRequest, source: PictureSource, finished: Finished) -> RunOutcome {
        let result = finished.value;
        if let Some(message) = finished.canvas_error {
            return RunOutcome::ExportFailed { result, message, by: ExportFault::Drawing };
        }
        if finished.pictures.is_empty() {
            return RunOutcome::Value(result);
        }
        let saved: Result<Vec<String>, (ExportFault, String)> =
            finished.pictures.iter().map(|picture| self.save(request, source, picture)).collect();
        match saved {
            Ok(images) => RunOutcome::Pictures { result, images },
            Err((by, message)) => RunOutcome::ExportFailed { result, message, by },
        }
    }

    fn save(
        &self,
        request: &RunRequest,
        source: PictureSource,
        picture: &Picture,
    ) -> Result<String, (ExportFault, String)> {
        let host = |why: String| (ExportFault::Store, why);
        let shelf = self.options.shelf.as_ref().ok_or_else(|| host("no artifact folder was given".to_owned()))?;
        let store = shelf.store().map_err(|error| host(error.to_string()))?;
        let meta = PictureMeta {
            message_id: request.message_id.clone(),
            agent_id: request.agent_id.clone(),
            width: picture.width,
            height: picture.height,
            source,
        };
        let saved = store.save_picture(&picture.png, meta).map(|saved| saved.file_name);
        saved.map_err(|error| match error {
            StoreError::TooLarge { .. } | StoreError::NotPng => (ExportFault::Drawing, error.to_string()),
            _ => host(error.to_string()),
        })
    }
}

impl std::fmt::Debug for Runner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Runner")
            .field("embedded", &self.options.embedded.is_some())
            .field("browser", &self.options.browser.is_some())
            .finish_non_exhaustive()
    }
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
