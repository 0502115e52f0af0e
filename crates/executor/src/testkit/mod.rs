//! The suite that every engine must pass: one set of properties, written against the trait and nothing below it.
//!
//! An engine's own tests make a [`Suite`] around it and call each property by name; a property draws at least a
//! hundred cases and fails by panicking with the smallest case that breaks it, as `proptest` finds it.

#![allow(clippy::panic, reason = "a suite fails by panicking, as every test does")]

mod draw;
mod drawing;
mod executor;
mod habits;
mod network;
mod one_shot;

use std::future::Future;
use std::sync::Arc;

use cove_core::{Engine, EngineChoice, EngineName, RunRequest};
use proptest::strategy::Strategy;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};

use crate::{OneShot, Runner, RunnerOptions, Shelf};

/// How many cases a property draws; `COVE_CASES` asks for more.
const CASES: u32 = 100;

/// One engine under test.
pub struct Suite {
    engine: Arc<dyn Engine>,
    runtime: tokio::runtime::Runtime,
}

impl Suite {
    /// Takes the engine that `make` gives, on a runtime of the suite's own.
    ///
    /// # Panics
    /// When the runtime or the engine cannot be had: there is nothing to test then.
    pub fn new<F: Future<Output = Arc<dyn Engine>>>(make: impl FnOnce() -> F) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
        let runtime = runtime.unwrap_or_else(|error| panic!("no runtime: {error}"));
        let engine = runtime.block_on(async { make().await });
        Self { engine, runtime }
    }

    /// Runs something of the engine's own on the suite's runtime, as ending it.
    pub fn block_on<F: Future>(&self, work: F) -> F::Output {
        self.runtime.block_on(work)
    }

    fn runner(&self, shelf: Option<Arc<Shelf>>) -> Runner {
        let mut options = RunnerOptions { shelf, ..RunnerOptions::default() };
        match self.engine.name() {
            EngineName::Embedded => options.embedded = Some(self.engine.clone()),
            EngineName::Browser => options.browser = Some(self.engine.clone()),
        }
        Runner::new(options)
    }

    fn request(&self, code: impl Into<String>) -> RunRequest {
        let engine = match self.engine.name() {
            EngineName::Embedded => EngineChoice::Embedded,
            EngineName::Browser => EngineChoice::Browser,
        };
        RunRequest { engine, fallback: false, ..RunRequest::new(code) }
    }

    fn run(&self, request: RunRequest) -> OneShot {
        self.runtime.block_on(self.runner(None).run(request))
    }

    /// Draws cases and runs each; `check` may use the runtime.
    fn hold<S: Strategy>(&self, name: &str, strategy: &S, check: impl Fn(S::Value) -> Result<(), TestCaseError>)
    where
        S::Value: std::fmt::Debug,
    {
        let cases = std::env::var("COVE_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(CASES).max(CASES);
        let config = Config { cases, max_shrink_iters: 40, failure_persistence: None, ..Config::default() };
        // A fixed seed: the same cases on every machine, so that a red run can be looked at.
        let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
        let mut runner = TestRunner::new_with_rng(config, rng);
        if let Err(error) = runner.run(strategy, check) {
            panic!("{} engine breaks {name}: {error}", self.engine.name());
        }
    }
}

/// `prop_assert!` as a function, for closures that read better without macros.
fn ensure(holds: bool, say: impl FnOnce() -> String) -> Result<(), TestCaseError> {
    if holds { Ok(()) } else { Err(TestCaseError::fail(say())) }
}
