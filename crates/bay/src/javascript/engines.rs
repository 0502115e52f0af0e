//! The two engines of this Bay: one of each for all sandboxes, started by the first run that needs it.
//!
//! JavaScript runs beside a sandbox's cell, not in it: every session is a process (or a page) of its own behind the
//! engine's walls, and a run that only computes starts no cell at all.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use cove_chrome::{ChromeEngine, ChromeOptions};
use cove_core::{BoxFuture, Engine, EngineError, EngineName, Session, SessionOptions};
use cove_embedded::{EmbeddedEngine, EmbeddedOptions, WallReport};

/// Sessions and runs of the embedded engine at the same time, of all sandboxes.
const EMBEDDED_SESSIONS: usize = 1_024;

/// Children of the embedded engine that are forked ahead of demand.
const SPARE_CHILDREN: usize = 4;

/// How the engines are found.
#[derive(Debug, Clone, Default)]
pub(crate) struct EngineOptions {
    /// The program that becomes the embedded engine's worker; none: this one.
    pub(crate) worker_program: Option<PathBuf>,
    /// The browser's binary; none: `COVE_BROWSER`, then the usual places.
    pub(crate) browser: Option<PathBuf>,
}

/// The engines.
pub(crate) struct Engines {
    options: EngineOptions,
    embedded: Arc<Lazy<EmbeddedEngine>>,
    browser: Arc<Lazy<ChromeEngine>>,
}

impl Engines {
    /// Starts nothing.
    pub(crate) fn new(options: EngineOptions) -> Self {
        let worker_program = options.worker_program.clone();
        let embedded = Lazy::new(
            EngineName::Embedded,
            || true,
            move || {
                EmbeddedEngine::new(EmbeddedOptions {
                    worker_program: worker_program.clone(),
                    spare_children: SPARE_CHILDREN,
                    max_sessions: EMBEDDED_SESSIONS,
                    ..EmbeddedOptions::default()
                })
            },
        );
        let (browser, named) = (options.browser.clone(), options.browser.clone());
        let is_here = move || cove_chrome::find_browser(named.as_deref()).is_ok();
        let browser = Lazy::new(EngineName::Browser, is_here, move || {
            ChromeEngine::new(ChromeOptions { browser: browser.clone(), pool_size: 1, ..ChromeOptions::default() })
        });
        Self { options, embedded: Arc::new(embedded), browser: Arc::new(browser) }
    }

    /// The engine of this name.
    pub(crate) fn get(&self, name: EngineName) -> Arc<dyn Engine> {
        match name {
            EngineName::Embedded => Arc::clone(&self.embedded) as _,
            EngineName::Browser => Arc::clone(&self.browser) as _,
        }
    }

    /// The walls of the embedded engine, as its worker has found them.
    pub(crate) async fn walls(&self) -> Result<WallReport, EngineError> {
        self.embedded.engine()?.walls().await
    }

    /// Whether there is a browser, or why not.
    pub(crate) fn find_browser(&self) -> Result<(), String> {
        cove_chrome::find_browser(self.options.browser.as_deref()).map(|_| ()).map_err(|error| error.to_string())
    }

    /// Ends both, and every process of theirs.
    pub(crate) async fn close(&self) {
        drop(self.embedded.close());
        if let Some(browser) = self.browser.close() {
            browser.close().await;
        }
    }
}

impl std::fmt::Debug for Engines {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engines").field("options", &self.options).finish_non_exhaustive()
    }
}

/// An engine that is made when it is first asked for a session.
struct Lazy<E> {
    name: EngineName,
    is_here: Box<dyn Fn() -> bool + Send + Sync>,
    make: Box<dyn Fn() -> E + Send + Sync>,
    slot: Mutex<EngineSlot<E>>,
}

struct EngineSlot<E> {
    engine: Option<Arc<E>>,
    closed: bool,
}

impl<E> Lazy<E> {
    fn new(
        name: EngineName,
        is_here: impl Fn() -> bool + Send + Sync + 'static,
        make: impl Fn() -> E + Send + Sync + 'static,
    ) -> Self {
        let slot = Mutex::new(EngineSlot { engine: None, closed: false });
        Self { name, is_here: Box::new(is_here), make: Box::new(make), slot }
    }

    fn engine(&self) -> Result<Arc<E>, EngineError> {
        let mut slot = self.slot.lock().unwrap_or_else(PoisonError::into_inner);
        if slot.closed {
            return Err(EngineError::Unavailable("the server is shutting down".to_owned()));
        }
        Ok(Arc::clone(slot.engine.get_or_insert_with(|| Arc::new((self.make)()))))
    }

    fn close(&self) -> Option<Arc<E>> {
        let mut slot = self.slot.lock().unwrap_or_else(PoisonError::into_inner);
        slot.closed = true;
        slot.engine.take()
    }
}

impl<E: Engine + 'static> Engine for Lazy<E> {
    fn name(&self) -> EngineName {
        self.name
    }

    fn is_here(&self) -> bool {
        (self.is_here)()
    }

    fn open(&self, options: SessionOptions) -> BoxFuture<'_, Result<Box<dyn Session>, EngineError>> {
        Box::pin(async move {
            let engine = self.engine()?;
            engine.open(options).await
        })
    }
}
