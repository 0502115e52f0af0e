//! The suite that every engine must pass, against real Chromium.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use std::sync::Arc;
use std::time::Duration;

use cove_chrome::{ChromeEngine, ChromeOptions};
use cove_core::Engine;
use cove_executor::testkit::Suite;

/// Makes an engine, runs a property on it, and ends the browser.
fn with_suite(property: impl FnOnce(&Suite, &ChromeEngine)) {
    let patience = Duration::from_secs(120);
    let options = ChromeOptions { open_timeout: patience, launch_timeout: patience, ..ChromeOptions::default() };
    let engine = Arc::new(ChromeEngine::new(options));
    let shared: Arc<dyn Engine> = engine.clone();
    let suite = Suite::new(|| async {
        engine.start().await.unwrap_or_else(|error| panic!("no browser (run scripts/setup): {error}"));
        shared
    });
    property(&suite, &engine);
    suite.block_on(engine.close());
}

macro_rules! holds {
    ($($name:ident)*) => {$(
        #[test]
        fn $name() {
            with_suite(|suite, _| suite.$name());
        }
    )*};
}

holds! {
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

/// Property 10: the browser's process stays the same.
#[test]
fn property_10_reuse() {
    with_suite(|suite, engine| suite.property_10_reuse(|| engine.pid().map_or(0, u64::from)));
}
