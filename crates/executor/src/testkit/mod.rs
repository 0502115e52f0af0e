//! The suite that every engine must pass: one set of properties, written against the trait and nothing below it.
//!
//! An engine's own tests make a [`Suite`] around it and hand it to [`engine_suite`](crate::engine_suite), which writes a
//! test for each property; a property draws a hundred cases and fails by panicking with the smallest case that
//! breaks it, as `proptest` finds it.

#![allow(clippy::panic, reason = "a suite fails by panicking, as every test does")]

mod draw;
mod drawing;
mod executor;
mod habits;
mod network;
mod one_shot;
mod platform;

use std::future::Future;
use std::sync::Arc;

use cove_core::{Engine, EngineChoice, EngineName, RunReport, RunRequest};
use proptest::strategy::Strategy;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};

use crate::{PictureStore, Pictures, Runner, RunnerOptions};

/// How many cases a property draws; `COVE_CASES` asks for more, or, where an engine is tried once more, for fewer.
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

    fn runner(&self, pictures: Option<Arc<PictureStore>>) -> Runner {
        let pictures = pictures.map_or_else(Pictures::default, Pictures::Kept);
        let mut options = RunnerOptions { pictures, ..RunnerOptions::default() };
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

    fn run(&self, request: RunRequest) -> RunReport {
        self.runtime.block_on(self.runner(None).run(request))
    }

    /// Draws cases and runs each; `check` may use the runtime.
    fn hold<S: Strategy>(&self, name: &str, strategy: &S, check: impl Fn(S::Value) -> Result<(), TestCaseError>)
    where
        S::Value: std::fmt::Debug,
    {
        let cases = std::env::var("COVE_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(CASES).max(1);
        let config = Config { cases, max_shrink_iters: 40, failure_persistence: None, ..Config::default() };
        // A fixed seed: the same cases on every machine, so that a red run can be looked at.
        let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
        let mut runner = TestRunner::new_with_rng(config, rng);
        if let Err(error) = runner.run(strategy, check) {
            panic!("{} engine breaks {name}: {error}", self.engine.name());
        }
    }
}

/// One test for each property that needs nothing but the engine: `engine_suite!(with_suite)`, where `with_suite` makes a
/// [`Suite`](crate::testkit::Suite) and hands it to the function that it is given.
#[macro_export]
macro_rules! engine_suite {
    ($with:path) => {
        $crate::engine_suite! { $with:
            property_01_result_consistency
            property_02_promises
            property_03_timeout
            property_04_errors
            property_05_canvas_size
            property_06_canvas_singleton
            property_07_canvas_export
            canvas_04_nothing_changes_without_one
            canvas_05_any_drawing_is_a_picture
            property_08_sandbox
            property_09_isolation
            values_become_json
            habits_are_understood
            the_platform_is_the_same
            failed_calls_are_named
            lost_values_are_told
            a_policy_opens_what_it_names
            cf_01_lifecycle
            cf_02_concurrent_run_is_rejected
            cf_03_queue_is_fifo
            cf_04_queue_overflow
            cf_05_static_import
            cf_06_dynamic_import
            modules_find_one_another
            cf_07_failing_tool
            cf_08_throw
            cf_09_max_operations
            cf_10_timeout_and_recovery
            final_answer_cannot_be_swallowed
            jumps_leave_finally
            declarations_persist
            smoke_test
        }
    };
    ($with:path: $($name:ident)*) => {$(
        #[test]
        fn $name() {
            $with(|suite| suite.$name());
        }
    )*};
}

/// The value of a run that came to its end and drew nothing.
fn plain(report: &RunReport) -> Option<&serde_json::Value> {
    let finished = report.result.as_ref().ok()?;
    (finished.images.is_empty() && finished.canvas_error.is_none()).then_some(&finished.value)
}

/// `prop_assert!` as a function, for closures that read better without macros.
fn ensure(holds: bool, say: impl FnOnce() -> String) -> Result<(), TestCaseError> {
    if holds { Ok(()) } else { Err(TestCaseError::fail(say())) }
}
