//! Fonts for pictures and pages.

use cove_embedded::{EmbeddedEngine, EmbeddedOptions};

use super::{Failure, Site, system};
use crate::doctor::fonts as trial;

/// Makes sure of letters, Chinese and Japanese ones too, and of emoji in colour.
pub(super) async fn fonts(site: &Site) -> Result<(), Failure> {
    let engine = EmbeddedEngine::new(EmbeddedOptions { spare_children: 1, ..EmbeddedOptions::default() });
    let missing = trial::fonts(&engine).await.missing();
    if missing.is_empty() {
        Site::is_there("fonts: Latin, Chinese, Japanese, emoji");
        return Ok(());
    }
    let installed = system::install(site, &missing).await;
    installed.map_err(|why| Failure {
        why: format!("fonts could not be installed: {why}"),
        instead: vec![
            system::by_hand(&missing),
            "copy font files to ~/.local/share/fonts, or name their folder with --font-dir".to_owned(),
        ],
    })
}
