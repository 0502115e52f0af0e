//! `/fs/list_dir`: what is in a folder, hidden files included.

use axum::Json;
use axum::extract::State;
use cove_workspace::Listing;
use rustix::fs::{AtFlags, FileType, statat};
use serde::{Deserialize, Serialize};

use super::on_disk;
use super::workspace::rel_path;
use crate::ship::ShipState;
use crate::ship::error::{ApiError, Body};

/// More names than this are no answer any more.
const MAX_ENTRIES: usize = 10_000;

#[derive(Debug, Deserialize)]
#[serde(default)]
pub(super) struct ListRequest {
    path: String,
    show_hidden: bool,
}

impl Default for ListRequest {
    fn default() -> Self {
        Self { path: ".".to_owned(), show_hidden: true }
    }
}

#[derive(Debug, Serialize)]
pub(super) struct Entry {
    name: String,
    path: String,
    is_file: bool,
    is_dir: bool,
    is_symlink: bool,
    size: Option<u64>,
    modified_time: f64,
}

#[derive(Debug, Serialize)]
pub(super) struct ListAnswer {
    files: Vec<Entry>,
    current_path: String,
    truncated: bool,
}

pub(super) async fn list(
    State(state): State<ShipState>,
    Body(request): Body<ListRequest>,
) -> Result<Json<ListAnswer>, ApiError> {
    let path = rel_path(&request.path)?;
    let listing = on_disk(&state, move |workspace| {
        let folder = workspace.folder(&path)?;
        let refuse = |errno| ApiError::from_errno(errno, path.given());
        let mut files = Vec::new();
        let mut truncated = false;
        let listed = Listing::new().each(&folder, |entry| {
            let name = entry.name;
            if !request.show_hidden && name.starts_with(b".") {
                return true;
            }
            if files.len() == MAX_ENTRIES {
                truncated = true;
                return false;
            }
            // A name that is gone by now is nothing.
            let Ok(stat) = statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) else { return true };
            let kind = FileType::from_raw_mode(stat.st_mode);
            let name = String::from_utf8_lossy(name).into_owned();
            #[allow(clippy::cast_precision_loss, reason = "seconds fit")]
            let modified_time = stat.st_mtime as f64 + stat.st_mtime_nsec as f64 / 1e9;
            files.push(Entry {
                path: format!("{}/{name}", path.mounted()),
                name,
                is_file: kind.is_file(),
                is_dir: kind.is_dir(),
                is_symlink: kind.is_symlink(),
                size: kind.is_file().then(|| u64::try_from(stat.st_size).unwrap_or(0)),
                modified_time,
            });
            true
        });
        listed.map_err(refuse)?;
        files.sort_by(|a, b| (!a.is_dir, &a.name).cmp(&(!b.is_dir, &b.name)));
        Ok(ListAnswer { files, current_path: path.mounted(), truncated })
    });
    listing.await.map(Json)
}
