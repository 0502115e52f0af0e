//! `ls`: the names in one folder.

use std::collections::BTreeMap;

use cove_workspace::{FOLDER, Listing, RelPath};
use rustix::fs::{FileType, OFlags};
use rustix::io::Errno;
use serde_json::json;

use crate::args::LsArgs;
use crate::error::{Asked, FileError};
use crate::find::Notices;
use crate::path::{rel_path, shown};
use crate::result::ToolResult;
use crate::stop::Stop;
use crate::workspace::Workspace;

const DEFAULT_LIMIT: u64 = 500;

impl Workspace {
    /// Lists a folder.
    #[expect(clippy::needless_pass_by_value, reason = "arguments are made for one call")]
    pub fn ls(&self, args: LsArgs) -> Result<ToolResult, FileError> {
        self.ls_until(&args, &Stop::default())
    }

    /// Lists a folder, unless that takes too long. Only the first names in order are ever kept.
    pub(crate) fn ls_until(&self, args: &LsArgs, stop: &Stop) -> Result<ToolResult, FileError> {
        let path = self.existing(rel_path(args.path.as_deref().unwrap_or("."))?);
        let limit = args.limit.unwrap_or(DEFAULT_LIMIT);
        let keep = usize::try_from(limit).unwrap_or(usize::MAX);
        let refuse = |errno: Errno| FileError::from_errno(errno, Asked::Path, path.given());
        let (dir, _) = self.open_existing(&path, FOLDER, Asked::Path)?;

        let mut first: BTreeMap<(String, Vec<u8>), FileType> = BTreeMap::new();
        let mut count = 0_u64;
        let mut over = false;
        Listing::new()
            .each(&dir, |entry| {
                count += 1;
                let order = (String::from_utf8_lossy(entry.name).to_lowercase(), entry.name.to_vec());
                if first.len() < keep || first.last_key_value().is_some_and(|(last, _)| order < *last) {
                    first.insert(order, entry.kind);
                    if first.len() > keep {
                        first.pop_last();
                    }
                }
                over = count.is_multiple_of(1024) && stop.is_over();
                !over
            })
            .map_err(refuse)?;
        if over {
            return Err(FileError::timeout("Listing"));
        }

        let lines: Vec<String> = first
            .into_iter()
            .map(|((_, name), kind)| {
                let is_dir = kind.is_dir() || kind.is_symlink() && self.leads_to_folder(&path, &name);
                shown(&name) + if is_dir { "/" } else { "" }
            })
            .collect();
        let mut notices = Notices::default();
        if count > lines.len() as u64 {
            notices.add(format!("{limit} entries limit reached. Use limit={} for more", limit.saturating_mul(2)));
            notices.details.insert("entryLimitReached".to_owned(), json!(limit));
        }
        Ok(notices.answer(&lines, "(empty directory)"))
    }

    /// Whether a symlink stays inside and ends at a folder.
    fn leads_to_folder(&self, path: &RelPath, name: &[u8]) -> bool {
        let Ok(name) = std::str::from_utf8(name) else { return false };
        let below = if path.is_root() { name.to_owned() } else { format!("{}/{name}", path.as_str()) };
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        self.root.open_path(&path.found_as(below), flags).is_ok()
    }
}
