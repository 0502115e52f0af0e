//! `grep`: lines by pattern, with ripgrep's engine on files that we open ourselves.

use cove_workspace::READ;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, MmapChoice, Searcher, SearcherBuilder};
use rustix::fs::{FileType, Mode, OFlags, fstat, openat};
use serde_json::json;

use crate::args::GrepArgs;
use crate::error::FileError;
use crate::find::Notices;
use crate::glob::NameGlob;
use crate::lines::{FileLines, Lines};
use crate::path::{rel_path, shown};
use crate::result::ToolResult;
use crate::stop::{Guarded, Stop};
use crate::truncate::MAX_BYTES;
use crate::walk::{Enough, Found, Search, Searched, Start, Walked, join, walk};
use crate::workspace::Workspace;

const DEFAULT_LIMIT: u64 = 100;

/// More context than this is what `read` is for.
const MAX_CONTEXT: u64 = 1000;

const MAX_PATTERN_BYTES: usize = 32 << 10;

/// A compiled pattern's size: `\w{1000}{1000}` is refused instead of built.
const MAX_REGEX_BYTES: usize = 10 << 20;

/// A line that does not fit is not searched further, and the answer says so.
const MAX_LINE_BYTES: usize = 8 << 20;

/// Files up to this size are read at once instead of in parts.
const SMALL_FILE_BYTES: usize = 128 << 10;

struct Grep {
    matcher: RegexMatcher,
    glob: Option<NameGlob>,
    context: usize,
    limit: u64,
}

/// What each thread has of its own: a searcher with its buffers.
struct Scratch {
    matcher: RegexMatcher,
    searcher: Searcher,
    buffer: Vec<u8>,
}

impl Search for Grep {
    type Hit = FileLines;
    type Scratch = Scratch;

    fn scratch(&self) -> Scratch {
        let searcher = SearcherBuilder::new()
            .line_number(true)
            .binary_detection(BinaryDetection::quit(0))
            .memory_map(MmapChoice::never())
            .heap_limit(Some(MAX_LINE_BYTES))
            .before_context(self.context)
            .after_context(self.context)
            .build();
        Scratch { matcher: self.matcher.clone(), searcher, buffer: vec![0; SMALL_FILE_BYTES] }
    }

    fn weight(hit: &FileLines) -> (u64, usize) {
        (hit.matches + u64::from(hit.more), hit.bytes)
    }

    fn folder(&self, scratch: &mut Scratch, folder: &Searched<'_>, found: &mut Found<FileLines>) {
        let (mut matches, mut bytes) = (0, 0);
        for (name, kind) in folder.entries.iter().filter(|(_, kind)| kind.is_file()) {
            debug_assert!(kind.is_file());
            let path = folder.path_of(name);
            if self.glob.as_ref().is_some_and(|glob| !glob.matches(&path, name)) {
                continue;
            }
            let flags = READ | OFlags::NOFOLLOW;
            // A file that cannot be opened or read holds nothing for us, as for ripgrep.
            let Ok(fd) = openat(folder.fd, name.as_slice(), flags, Mode::empty()) else { continue };
            let Some(hit) = self.file(scratch, fd, folder.stop) else { continue };
            let weight = Self::weight(&hit);
            matches += weight.0;
            bytes += weight.1;
            found.hits.push((path, hit));
            // Later files of this folder could not be part of the answer.
            if matches > self.limit || bytes > MAX_BYTES || folder.stop.is_over() {
                return;
            }
        }
    }
}

impl Grep {
    /// The lines of one file; `None` when there are none.
    fn file(&self, scratch: &mut Scratch, fd: std::os::fd::OwnedFd, stop: &Stop) -> Option<FileLines> {
        let stat = fstat(&fd).ok()?;
        if !FileType::from_raw_mode(stat.st_mode).is_file() || stat.st_size == 0 {
            return None;
        }
        let size = u64::try_from(stat.st_size).ok()?;
        let mut lines = Lines::new(self.limit);
        let Scratch { matcher, searcher, buffer } = scratch;
        let searched = if size < buffer.len() as u64 {
            let read = rustix::io::read(&fd, buffer.as_mut_slice()).ok()?;
            // The end is fixed when the file is opened, like everywhere here.
            let read = read.min(usize::try_from(size).unwrap_or(read));
            searcher.search_slice(&*matcher, &buffer[..read], &mut lines)
        } else {
            let reader = Guarded { inner: std::io::Read::take(std::fs::File::from(fd), size), stop };
            searcher.search_reader(&*matcher, reader, &mut lines)
        };
        lines.finish(searched.is_err())
    }
}

impl Workspace {
    /// Searches in files.
    #[expect(clippy::needless_pass_by_value, reason = "arguments are made for one call")]
    pub fn grep(&self, args: GrepArgs) -> Result<ToolResult, FileError> {
        self.grep_until(&args, &Stop::default())
    }

    /// Searches in files, as far as the time goes.
    pub(crate) fn grep_until(&self, args: &GrepArgs, stop: &Stop) -> Result<ToolResult, FileError> {
        let limit = args.limit.unwrap_or(DEFAULT_LIMIT);
        let context = usize::try_from(args.context.unwrap_or(0).min(MAX_CONTEXT)).unwrap_or(0);
        let glob = args.glob.as_deref().map(|glob| NameGlob::parse("grep", glob, true)).transpose()?;
        let grep = Grep { matcher: matcher(args)?, glob, context, limit };
        let path = self.existing(rel_path(args.path.as_deref().unwrap_or("."))?);

        let walked = if self.is_folder(&path)? {
            let base = self.base(&path)?;
            let start = Start { base: &base, prefix: path.as_str().as_bytes(), ignores: self.ignores_above(&path) };
            walk(&grep, &start, Enough { results: limit, bytes: MAX_BYTES }, stop)
        } else {
            let (file, _) = self.open_plain(&path)?;
            let hit = grep.file(&mut grep.scratch(), file.into(), stop);
            Walked { hits: hit.map(|hit| (Vec::new(), hit)).into_iter().collect(), unfinished: stop.is_over() }
        };
        Ok(answer(&walked, path.as_str().as_bytes(), limit, context))
    }
}

/// The pattern, compiled; what cannot be is told in the pattern's own terms.
fn matcher(args: &GrepArgs) -> Result<RegexMatcher, FileError> {
    if args.pattern.is_empty() {
        return Err(FileError::invalid_args("grep: `pattern` must not be empty"));
    }
    if args.pattern.len() > MAX_PATTERN_BYTES {
        return Err(FileError::invalid_args(format!(
            "grep: `pattern` must not be longer than {MAX_PATTERN_BYTES} bytes"
        )));
    }
    RegexMatcherBuilder::new()
        .case_insensitive(args.ignore_case)
        .fixed_strings(args.literal)
        .multi_line(true)
        // `$` is before a CRLF too; matches still end where a line ends.
        .crlf(true)
        .line_terminator(Some(b'\n'))
        .size_limit(MAX_REGEX_BYTES)
        .dfa_size_limit(MAX_REGEX_BYTES)
        .build(&args.pattern)
        .map_err(|error| {
            let hint = if args.literal { "" } else { " (with `literal`, it is searched for as plain text)" };
            FileError::invalid_args(format!("grep: invalid pattern{hint}: {error}"))
        })
}

fn answer(walked: &Walked<FileLines>, prefix: &[u8], limit: u64, context: usize) -> ToolResult {
    let mut lines: Vec<String> = Vec::new();
    let mut left = limit;
    let mut notices = Notices::default();
    let (mut more, mut cut, mut unread) = (false, false, 0_u64);
    for (below, hit) in &walked.hits {
        unread += u64::from(hit.failed);
        if left == 0 {
            more |= hit.matches > 0;
            continue;
        }
        if context > 0 && !lines.is_empty() && hit.matches > 0 {
            lines.push("--".to_owned());
        }
        let written = hit.write(&shown(&join(prefix, below)), left, &mut lines);
        more |= written.more;
        cut |= written.cut;
        left -= written.matches;
    }
    if more && left == 0 {
        notices.add(format!(
            "{limit} matches limit reached. Use limit={} for more, or refine pattern",
            limit.saturating_mul(2)
        ));
        notices.details.insert("matchLimitReached".to_owned(), json!(limit));
    }
    if cut {
        notices.add("Some lines are cut at 500 characters. Use read to see whole lines".to_owned());
        notices.details.insert("linesTruncated".to_owned(), json!(true));
    }
    if unread > 0 {
        notices.add(format!(
            "{unread} files could not be searched to their end (a line longer than 8.0MB, or out of time)"
        ));
    }
    if walked.unfinished {
        notices.add("The search was stopped before it had seen everything".to_owned());
    }
    notices.answer(&lines, "No matches found")
}
