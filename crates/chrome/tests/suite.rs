//! The suite that every engine must pass, against real Chromium.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use std::sync::Arc;
use std::time::Duration;

use cove_chrome::{ChromeEngine, ChromeOptions};
use cove_core::Engine;
use cove_executor::testkit::Suite;

/// Makes an engine, runs a property on it, and ends the browser.
fn with_engine(property: impl FnOnce(&Suite, &ChromeEngine)) {
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

fn with_suite(property: impl FnOnce(&Suite)) {
    with_engine(|suite, _| property(suite));
}

cove_executor::engine_suite!(with_suite);

/// Property 10: the browser's process stays the same.
#[test]
fn property_10_reuse() {
    with_engine(|suite, engine| suite.property_10_reuse(|| engine.pid().map_or(0, u64::from)));
}
