//! `/fs/list_dir`: what is in a folder, hidden files included.

use axum::Json;
use axum::extract::State;
use cove_runtime_api::{FolderEntry, FolderList, ListFolderRequest, MAX_ENTRIES};
use cove_workspace::Listing;
use rustix::fs::{AtFlags, FileType, statat};

use super::on_disk;
use super::workspace::rel_path;
use crate::ship::ShipState;
use crate::ship::error::{ApiError, Body};

pub(super) async fn list(
    State(state): State<ShipState>,
    Body(request): Body<ListFolderRequest>,
) -> Result<Json<FolderList>, ApiError> {
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
            files.push(FolderEntry {
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
        Ok(FolderList { files, current_path: path.mounted(), truncated })
    });
    listing.await.map(Json)
}
