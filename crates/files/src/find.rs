//! `find`: paths by glob.

use std::sync::Arc;

use cove_workspace::{FOLDER, Folder, RelPath};
use rustix::fs::{FileType, fstat};
use serde_json::{Map, json};

use crate::args::FindArgs;
use crate::error::{Asked, FileError};
use crate::glob::NameGlob;
use crate::ignores::Ignores;
use crate::path::{rel_path, shown};
use crate::result::ToolResult;
use crate::stop::Stop;
use crate::truncate::{MAX_BYTES, TruncatedBy, Truncation, format_size, join_lines};
use crate::walk::{Enough, Found, Search, Searched, Start, join, walk};
use crate::workspace::Workspace;

const DEFAULT_LIMIT: u64 = 1000;

struct Globbed {
    glob: NameGlob,
}

impl Search for Globbed {
    /// Whether it is a folder.
    type Hit = (bool, usize);
    type Scratch = ();

    fn scratch(&self) {}

    fn weight(hit: &Self::Hit) -> (u64, usize) {
        (1, hit.1)
    }

    fn folder(&self, (): &mut (), folder: &Searched<'_>, found: &mut Found<Self::Hit>) {
        for (name, kind) in folder.entries {
            let path = folder.path_of(name);
            if self.glob.matches(&path, name) {
                let bytes = path.len() + 1;
                found.hits.push((path, (kind.is_dir(), bytes)));
            }
        }
    }
}

impl Workspace {
    /// Finds files.
    #[expect(clippy::needless_pass_by_value, reason = "arguments are made for one call")]
    pub fn find(&self, args: FindArgs) -> Result<ToolResult, FileError> {
        self.find_until(&args, &Stop::default())
    }

    /// Finds files, as far as the time goes.
    pub fn find_until(&self, args: &FindArgs, stop: &Stop) -> Result<ToolResult, FileError> {
        let glob = NameGlob::parse("find", &args.pattern, false)?;
        let path = self.existing(rel_path(args.path.as_deref().unwrap_or("."))?);
        let limit = args.limit.unwrap_or(DEFAULT_LIMIT);
        let base = self.base(&path)?;
        let start = Start { base: &base, prefix: path.as_str().as_bytes(), ignores: self.ignores_above(&path) };
        let walked = walk(&Globbed { glob }, &start, Enough { results: limit, bytes: MAX_BYTES }, stop);

        let total = walked.hits.len();
        let lines: Vec<String> = walked
            .hits
            .into_iter()
            .take(usize::try_from(limit).unwrap_or(usize::MAX))
            .map(|(below, (is_dir, _))| {
                let mut line = shown(&join(start.prefix, &below));
                line.push_str(if is_dir { "/" } else { "" });
                line
            })
            .collect();
        let mut notices = Notices::default();
        if total > lines.len() {
            notices.add(format!(
                "{limit} results limit reached. Use limit={} for more, or refine pattern",
                limit.saturating_mul(2)
            ));
            notices.details.insert("resultLimitReached".to_owned(), json!(limit));
        }
        if walked.unfinished {
            notices.add("The search was stopped before it had seen everything".to_owned());
        }
        Ok(notices.answer(&lines, "No files found matching pattern"))
    }

    /// The folder that a search begins in.
    pub(crate) fn base(&self, path: &RelPath) -> Result<Folder, FileError> {
        self.root.folder(path).map_err(|errno| FileError::from_errno(errno, Asked::Path, path.given()))
    }

    /// The ignore rules of the folders above the one that is searched.
    pub(crate) fn ignores_above(&self, path: &RelPath) -> Option<Arc<Ignores>> {
        let mut ignores = None;
        let names: Vec<&str> = path.as_str().split('/').filter(|name| !name.is_empty()).collect();
        for depth in 0..names.len() {
            let above = names[..depth].join("/");
            if let Ok(fd) = self.root.open_path(&path.found_as(above.clone()), FOLDER) {
                ignores = Ignores::load(ignores, &fd, above.as_bytes());
            }
        }
        ignores
    }

    /// Whether a path is a folder; a path that is not there is an error.
    pub(crate) fn is_folder(&self, path: &RelPath) -> Result<bool, FileError> {
        let refuse = |errno| FileError::from_errno(errno, Asked::Path, path.given());
        let fd = self.root.open_path(path, rustix::fs::OFlags::PATH | rustix::fs::OFlags::CLOEXEC).map_err(refuse)?;
        Ok(FileType::from_raw_mode(fstat(&fd).map_err(refuse)?.st_mode).is_dir())
    }
}

/// What a search has to say besides its lines.
#[derive(Default)]
pub(crate) struct Notices {
    texts: Vec<String>,
    pub(crate) details: Map<String, serde_json::Value>,
}

impl Notices {
    pub(crate) fn add(&mut self, text: String) {
        self.texts.push(text);
    }

    /// The lines as far as they fit, and the notices behind them.
    pub(crate) fn answer(mut self, lines: &[String], nothing: &str) -> ToolResult {
        let (mut text, fitting) = join_lines(lines);
        if fitting < lines.len() {
            self.add(format!("{} limit reached", format_size(MAX_BYTES as u64)));
            let truncation = Truncation {
                truncated: true,
                truncated_by: Some(TruncatedBy::Bytes),
                total_lines: Some(lines.len() as u64),
                total_bytes: lines.iter().map(|line| line.len() as u64 + 1).sum::<u64>().saturating_sub(1),
                output_lines: fitting as u64,
                output_bytes: text.len() as u64,
                first_line_exceeds_limit: fitting == 0,
                max_lines: lines.len() as u64,
                max_bytes: MAX_BYTES as u64,
            };
            self.details.insert("truncation".to_owned(), json!(truncation));
        }
        if lines.is_empty() || !self.texts.is_empty() {
            self.details.insert("plainBytes".to_owned(), text.len().into());
        }
        if lines.is_empty() {
            nothing.clone_into(&mut text);
        }
        if !self.texts.is_empty() {
            text.push_str(&format!("\n\n[{}]", self.texts.join(". ")));
        }
        let result = ToolResult::text(text);
        if self.details.is_empty() { result } else { result.with_details(self.details.into()) }
    }
}
