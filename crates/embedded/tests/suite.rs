//! The suite that every engine must pass, against the embedded one.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use std::sync::Arc;

use cove_core::Engine;
use cove_embedded::{EmbeddedEngine, EmbeddedOptions};
use cove_executor::testkit::Suite;

fn suite() -> (Suite, Arc<EmbeddedEngine>) {
    let options =
        EmbeddedOptions { worker_program: Some(env!("CARGO_BIN_EXE_cove-worker").into()), ..Default::default() };
    let engine = Arc::new(EmbeddedEngine::new(options));
    let shared: Arc<dyn Engine> = engine.clone();
    (Suite::new(|| async { shared }), engine)
}

macro_rules! holds {
    ($($name:ident)*) => {$(
        #[test]
        fn $name() {
            suite().0.$name();
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

/// Property 10: one worker serves all runs.
#[test]
fn property_10_reuse() {
    let (suite, engine) = suite();
    suite.property_10_reuse(|| engine.workers_started());
}
