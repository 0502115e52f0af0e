//! Which engines this command has, made from what was typed.

use std::sync::Arc;

use cove_core::Engine;
use cove_embedded::{EmbeddedEngine, EmbeddedOptions, Profile};

use crate::args::WallArgs;

/// The embedded engine for one command: one session at a time, so one spare child is enough.
pub(crate) fn embedded(walls: &WallArgs) -> Arc<dyn Engine> {
    Arc::new(EmbeddedEngine::new(embedded_options(walls)))
}

pub(crate) fn embedded_options(walls: &WallArgs) -> EmbeddedOptions {
    let profile = if walls.strict { Profile::Strict } else { Profile::Standard };
    EmbeddedOptions { profile, spare_children: 1, ..EmbeddedOptions::default() }
}
