//! Which engines this command has, made from what was typed. None starts before its first session.

use std::path::PathBuf;
use std::sync::Arc;

use cove_chrome::{ChromeEngine, ChromeOptions};
use cove_core::Engine;
use cove_embedded::{EmbeddedEngine, EmbeddedOptions, WallPolicy};

use crate::args::WallArgs;

/// The embedded engine for one command: one session at a time, so one spare child is enough.
pub(crate) fn embedded(walls: &WallArgs, font_dirs: Vec<PathBuf>, system_fonts: bool) -> Arc<EmbeddedEngine> {
    Arc::new(EmbeddedEngine::new(EmbeddedOptions { font_dirs, system_fonts, ..embedded_options(walls) }))
}

pub(crate) fn embedded_options(walls: &WallArgs) -> EmbeddedOptions {
    let profile = if walls.strict { WallPolicy::Strict } else { WallPolicy::Standard };
    EmbeddedOptions { profile, spare_children: 1, ..EmbeddedOptions::default() }
}

/// Chrome for one command: one tab, made when it is asked for. A second one, made ready meanwhile, would only take time from it.
pub(crate) fn browser(path: Option<PathBuf>) -> Arc<dyn Engine> {
    Arc::new(ChromeEngine::new(ChromeOptions { browser: path, pool_size: 0, ..ChromeOptions::default() }))
}
