//! The session behind the prompt: one world, one cell after the other, in the engine that was asked for.
//!
//! A session lives in one engine. With `auto` the first cell decides which: one that needs a browser takes the session
//! there as long as nothing would be lost by it.

use std::sync::Arc;

use anyhow::{Context as _, bail};
use cove_core::{
    Engine, EngineChoice, EngineError, EngineName, ErrorCode, RunReport, RunRequest, Session, SessionFate,
    SessionOptions,
};
use cove_executor::choose;
use cove_script::{Mode, PrepareOptions, prepare};

use crate::run::print;
use crate::run_setup::RunSetup;
use crate::terminal::{DIM, PLAIN, YELLOW, note};

/// Runs cells.
pub(super) struct Cells {
    setup: RunSetup,
    engine: EngineName,
    /// Taken out while a cell runs: one that is given up half-way leaves nothing behind.
    session: Option<Box<dyn Session>>,
    /// Nothing has run in it yet.
    is_fresh: bool,
}

impl Cells {
    /// Opens the first session.
    pub(super) async fn begin(setup: RunSetup) -> anyhow::Result<Self> {
        let mut cells = Self { setup, engine: EngineName::Embedded, session: None, is_fresh: true };
        cells.restart().await?;
        Ok(cells)
    }

    /// Which engine has the session.
    pub(super) fn engine(&self) -> EngineName {
        self.engine
    }

    /// Where pictures are, and how they are shown.
    pub(super) fn gallery(&self) -> &crate::run_setup::Gallery {
        &self.setup.gallery
    }

    /// Whether the session and its variables are still there.
    pub(super) fn is_alive(&self) -> bool {
        self.session.is_some()
    }

    /// Forgets everything and begins anew.
    pub(super) async fn restart(&mut self) -> anyhow::Result<()> {
        let wanted = match self.setup.choice {
            EngineChoice::Browser => EngineName::Browser,
            EngineChoice::Embedded | EngineChoice::Auto => EngineName::Embedded,
        };
        self.open_or_fall_back(wanted).await
    }

    /// Runs one cell. Its value is wanted as text.
    pub(super) async fn run(&mut self, code: &str) -> anyhow::Result<RunReport> {
        if self.session.is_none() {
            self.restart().await?;
        }
        let needs_browser = self.needs_browser(code);
        if let Some(because) = needs_browser.as_ref().filter(|_| self.is_fresh) {
            note!("{DIM}Chrome runs this session: {because}{PLAIN}");
            self.open_or_fall_back(EngineName::Browser).await?;
        }
        let Some(mut session) = self.session.take() else { bail!("the session is gone; .reset begins a new one") };
        let request = RunRequest {
            timeout_ms: self.setup.limits.timeout_ms,
            max_operations: self.setup.limits.max_operations,
            inspect: true,
            ..RunRequest::cell(code)
        };
        self.is_fresh = false;
        let mut report = session.run(&request).await;
        if report.fate == SessionFate::Usable {
            self.session = Some(session);
        }
        match &mut report.result {
            Ok(finished) => self.setup.pictures.keep(&request, self.engine, finished),
            // A name of the browser's can also be a variable of an earlier cell: said only where the cell failed.
            Err(fault) => {
                if let Some(because) = needs_browser.filter(|_| self.engine == EngineName::Embedded) {
                    let hint = format!("{because}. To have it run in Chrome: .reset, then the same line again.");
                    fault.hint = Some(hint);
                }
            }
        }
        Ok(report)
    }

    /// Ends the session and waits until nothing of it is left.
    pub(super) async fn end(&mut self) -> Result<(), EngineError> {
        match self.session.take() {
            Some(session) => match session.close().await {
                Err(EngineError::Gone(_)) => Ok(()),
                other => other,
            },
            None => Ok(()),
        }
    }

    /// Why a cell should run in a browser, if this session is not in one and may choose.
    fn needs_browser(&self, code: &str) -> Option<String> {
        if self.setup.choice != EngineChoice::Auto || self.engine == EngineName::Browser {
            return None;
        }
        let options = PrepareOptions { guards: false, ..PrepareOptions::new(Mode::Cell) };
        let choice = choose(&prepare(code, &options).ok()?);
        (choice.engine == EngineName::Browser).then_some(choice.because)
    }

    async fn open_or_fall_back(&mut self, wanted: EngineName) -> anyhow::Result<()> {
        self.end().await?;
        let failed = match self.open(wanted).await {
            Ok(()) => return Ok(()),
            Err(error) => error,
        };
        if wanted == EngineName::Browser && self.setup.fallback {
            note!("{YELLOW}warning:{PLAIN} {failed}; the embedded engine runs the code instead");
            // Said once: no later line tries it again.
            self.setup.choice = EngineChoice::Embedded;
            return self.open(EngineName::Embedded).await.context(ErrorCode::SesInitFailed.as_str());
        }
        Err(failed).context(ErrorCode::SesInitFailed.as_str())
    }

    async fn open(&mut self, wanted: EngineName) -> Result<(), EngineError> {
        let engine: &dyn Engine = match wanted {
            EngineName::Embedded => self.setup.embedded.as_ref(),
            EngineName::Browser => self.setup.browser.as_ref(),
        };
        // A person at a keyboard means the real time and chance, and hears every line at once.
        let options = SessionOptions {
            limits: self.setup.limits,
            imports: self.setup.imports.clone(),
            network: self.setup.network.clone(),
            log_sink: Some(Arc::new(print::log_line)),
            ..SessionOptions::one_shot()
        };
        let mut session = engine.open(options).await?;
        if !self.setup.tools.is_empty() {
            session.send_tools(self.setup.tools.clone()).await?;
        }
        (self.engine, self.session, self.is_fresh) = (wanted, Some(session), true);
        Ok(())
    }
}
