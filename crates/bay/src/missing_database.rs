//! A database that is gone while the workspaces of its sandboxes are still there.
//!
//! Bay would start with empty records, and its collector would remove every workspace as an orphan. So such a start is
//! refused unless `--start-empty` is given; then the workspaces are moved aside, not removed.

use std::path::{Path, PathBuf};

use cove_api::Moment;

use crate::StartError;
use cove_config::Config;
use cove_drivers::CargoStore;

/// Looks, when the database is new; refuses, or sets aside what would be taken for orphans.
pub(crate) async fn check(config: &Config, cargos: &dyn CargoStore) -> Result<(), StartError> {
    let failed = |error: &dyn std::fmt::Display| StartError(error.to_string());
    let left = cargos.list().await.map_err(|error| failed(&error))?.len();
    if left == 0 {
        return Ok(());
    }
    if !config.database.start_empty {
        let url = config.database_url().map_err(|error| failed(&error))?;
        let place = cove_store::sqlite_file(&url).map_or("PostgreSQL".to_owned(), |file| file.display().to_string());
        return Err(StartError(format!(
            "the database ({place}) is gone or empty, but {} holds {left} workspaces of it: restore a backup of \
             the database, or start with --start-empty (the workspaces are moved aside, not deleted)",
            cargos.place()
        )));
    }
    let stamp = Moment::now().micros() / 1_000_000;
    let aside = cargos.set_aside(stamp).await.map_err(|error| failed(&error))?;
    let artifacts = config.artifacts_root().map_err(|error| failed(&error))?;
    if artifacts.is_dir() {
        std::fs::rename(&artifacts, beside(&artifacts, stamp)).map_err(|error| failed(&error))?;
    }
    tracing::warn!(aside, left, "the database was gone: the workspaces are set aside");
    Ok(())
}

fn beside(folder: &Path, stamp: i64) -> PathBuf {
    let mut name = folder.as_os_str().to_owned();
    name.push(format!(".lost-{stamp}"));
    PathBuf::from(name)
}
