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

fn with_suite(property: impl FnOnce(&Suite)) {
    property(&suite().0);
}

cove_executor::engine_suite!(with_suite);

/// Property 10: one worker serves all runs.
#[test]
fn property_10_reuse() {
    let (suite, engine) = suite();
    suite.property_10_reuse(|| engine.workers_started());
}
