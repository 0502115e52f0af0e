//! Searches a tree on several threads and still answers in order.
//!
//! Paths have an order; the answer is its first hits, the same every time, whichever thread was quicker. Threads take
//! the folder that comes first. Once enough hits are known, everything that comes after the last of them is dropped
//! unseen: no hit there could be part of the answer. That is both the early stop and the reason it is deterministic.
//!
//! Folders are opened anew from the base's handle, on a way without symlinks, so a tree that is changed while it is
//! walked leads nowhere else, and a deep tree holds no handles open.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::num::NonZero;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use cove_workspace::{Folder, Listing};
use rustix::fs::FileType;

use crate::ignores::{Ignores, never_searched};
use crate::stop::Stop;

/// Beyond this many entries a tree is hostile or a mistake, and the answer says that the search ended there.
const MAX_ENTRIES: u64 = 1_000_000;

/// More threads only wait for each other in the kernel's directory cache.
const MAX_THREADS: usize = 8;

/// A small tree is done before a second thread has started.
const JOBS_BEFORE_THREADS: usize = 8;

/// Paths deeper than the kernel resolves cannot be opened by anybody.
const MAX_PATH_BYTES: usize = 4000;

/// What one tool does in the walk.
pub(crate) trait Search: Sync {
    /// What is found in one file, or about it.
    type Hit: Send;
    /// What each thread has of its own.
    type Scratch;

    fn scratch(&self) -> Self::Scratch;

    /// How much of the answer a hit fills: results, and bytes.
    fn weight(hit: &Self::Hit) -> (u64, usize);

    /// Looks at one folder's entries, which are in order.
    fn folder(&self, scratch: &mut Self::Scratch, folder: &Searched<'_>, found: &mut Found<Self::Hit>);
}

/// A folder that is being searched.
pub(crate) struct Searched<'a> {
    pub(crate) fd: &'a OwnedFd,
    /// Path below the base.
    pub(crate) below: &'a [u8],
    pub(crate) entries: &'a [(Vec<u8>, FileType)],
    pub(crate) stop: &'a Stop,
}

impl Searched<'_> {
    /// The path of an entry below the base.
    pub(crate) fn path_of(&self, name: &[u8]) -> Vec<u8> {
        join(self.below, name)
    }
}

/// Hits by their path below the base.
pub(crate) struct Found<H> {
    pub(crate) hits: Vec<(Vec<u8>, H)>,
}

/// The answer: the first hits in order of their paths, and whether the walk was cut short.
pub(crate) struct Walked<H> {
    pub(crate) hits: Vec<(Vec<u8>, H)>,
    pub(crate) unfinished: bool,
}

/// How much is enough: one more result than this, or more bytes than this.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Enough {
    pub(crate) results: u64,
    pub(crate) bytes: usize,
}

/// Where a walk begins.
pub(crate) struct Start<'a> {
    pub(crate) base: &'a Folder,
    /// The base's own path below the workspace; ignore rules are told paths from there.
    pub(crate) prefix: &'a [u8],
    pub(crate) ignores: Option<Arc<Ignores>>,
}

/// Entries handled at a time: a folder of a hundred thousand files is work for all threads.
const CHUNK: usize = 256;

struct FolderTask {
    key: Vec<u8>,
    below: Vec<u8>,
    work: Work,
}

enum Work {
    Enter(Option<Arc<Ignores>>),
    Look(Vec<(Vec<u8>, FileType)>),
}

impl PartialEq for FolderTask {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}
impl Eq for FolderTask {}
impl PartialOrd for FolderTask {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for FolderTask {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key.cmp(&other.key)
    }
}

struct State<H> {
    jobs: BinaryHeap<Reverse<FolderTask>>,
    busy: usize,
    hits: BTreeMap<Vec<u8>, (Vec<u8>, H)>,
    results: u64,
    bytes: usize,
    /// Nothing after this path can be part of the answer.
    bound: Option<Vec<u8>>,
    entries: u64,
    unfinished: bool,
}

struct Walk<'a, S: Search> {
    search: &'a S,
    start: &'a Start<'a>,
    enough: Enough,
    stop: &'a Stop,
    state: Mutex<State<S::Hit>>,
    changed: Condvar,
}

/// Walks the tree.
pub(crate) fn walk<S: Search>(search: &S, start: &Start<'_>, enough: Enough, stop: &Stop) -> Walked<S::Hit> {
    let first = FolderTask { key: Vec::new(), below: Vec::new(), work: Work::Enter(start.ignores.clone()) };
    let state = State {
        jobs: BinaryHeap::from([Reverse(first)]),
        busy: 0,
        hits: BTreeMap::new(),
        results: 0,
        bytes: 0,
        bound: None,
        entries: 0,
        unfinished: false,
    };
    let walk = Walk { search, start, enough, stop, state: Mutex::new(state), changed: Condvar::new() };
    if walk.work(Some(JOBS_BEFORE_THREADS)) {
        let threads = std::thread::available_parallelism().map_or(1, NonZero::get).min(MAX_THREADS);
        std::thread::scope(|scope| {
            for _ in 1..threads {
                scope.spawn(|| walk.work(None));
            }
            walk.work(None);
        });
    }
    let state = walk.state.into_inner().unwrap_or_else(PoisonError::into_inner);
    Walked { hits: state.hits.into_values().collect(), unfinished: state.unfinished }
}

impl<S: Search> Walk<'_, S> {
    /// Takes jobs until none is left, or `most` are done; says whether there may be more.
    fn work(&self, most: Option<usize>) -> bool {
        let mut scratch = (self.search.scratch(), Listing::new());
        let mut done = 0;
        while most.is_none_or(|most| done < most) {
            let Some(job) = self.next() else { return false };
            let output = self.run(job, &mut scratch);
            self.merge(output);
            done += 1;
        }
        true
    }

    fn next(&self) -> Option<FolderTask> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if self.stop.is_over() || state.entries > MAX_ENTRIES {
                state.unfinished |= !state.jobs.is_empty();
                state.jobs.clear();
            }
            if let Some(Reverse(job)) = state.jobs.pop() {
                if state.bound.as_ref().is_some_and(|bound| job.key > *bound) {
                    // The first of the jobs comes too late; so do all others.
                    state.jobs.clear();
                    continue;
                }
                state.busy += 1;
                return Some(job);
            }
            if state.busy == 0 {
                self.changed.notify_all();
                return None;
            }
            // The timeout only bounds how late a stop is noticed; work ending is announced.
            let waited = self.changed.wait_timeout(state, Duration::from_millis(100));
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn run(&self, job: FolderTask, (scratch, listing): &mut (S::Scratch, Listing)) -> Output<S::Hit> {
        let mut output = Output { hits: Vec::new(), jobs: Vec::new(), entries: 0 };
        // A folder that cannot be opened (gone, a symlink by now, forbidden) holds nothing for us.
        let Ok(fd) = self.start.base.open_folder(&job.below) else { return output };
        let entries = match job.work {
            Work::Look(entries) => entries,
            Work::Enter(ignores) => {
                let entries = self.entries(&fd, &job.below, ignores, listing, &mut output);
                if entries.len() > CHUNK {
                    output.jobs.extend(entries.chunks(CHUNK).map(|chunk| {
                        let first = chunk.first().map(|(name, _)| name.as_slice()).unwrap_or_default();
                        FolderTask {
                            key: key(&join(&job.below, first)),
                            below: job.below.clone(),
                            work: Work::Look(chunk.to_vec()),
                        }
                    }));
                    return output;
                }
                entries
            }
        };
        let folder = Searched { fd: &fd, below: &job.below, entries: &entries, stop: self.stop };
        let mut found = Found { hits: Vec::new() };
        self.search.folder(scratch, &folder, &mut found);
        output.hits = found.hits;
        output
    }

    /// The entries that are searched, in order; folders become jobs.
    fn entries(
        &self,
        fd: &OwnedFd,
        below: &[u8],
        above: Option<Arc<Ignores>>,
        listing: &mut Listing,
        output: &mut Output<S::Hit>,
    ) -> Vec<(Vec<u8>, FileType)> {
        let mut entries = Vec::new();
        let mut has_rules = false;
        // An error in the middle leaves what was listed until then.
        let _ = listing.each(fd, |entry| {
            has_rules |= entry.name == b".gitignore";
            if !never_searched(entry.name) {
                entries.push((entry.name.to_vec(), entry.kind));
            }
            output.entries += 1;
            output.entries <= MAX_ENTRIES && (output.entries % 1024 != 0 || !self.stop.is_over())
        });
        let in_workspace = join(self.start.prefix, below);
        let ignores = if has_rules { Ignores::load(above, fd, &in_workspace) } else { above };
        if let Some(ignores) = &ignores {
            entries.retain(|(name, kind)| !ignores.leaves_out(&join(&in_workspace, name), kind.is_dir()));
        }
        entries.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        for (name, _) in entries.iter().filter(|(_, kind)| kind.is_dir()) {
            let below = join(below, name);
            if below.len() <= MAX_PATH_BYTES {
                output.jobs.push(FolderTask { key: key(&below), below, work: Work::Enter(ignores.clone()) });
            }
        }
        entries
    }

    fn merge(&self, output: Output<S::Hit>) {
        let mut guard = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let state = &mut *guard;
        state.busy -= 1;
        state.entries += output.entries;
        state.jobs.extend(output.jobs.into_iter().map(Reverse));
        for (path, hit) in output.hits {
            let (results, bytes) = S::weight(&hit);
            state.results += results;
            state.bytes += bytes;
            state.hits.insert(key(&path), (path, hit));
        }
        if state.results > self.enough.results || state.bytes > self.enough.bytes {
            state.trim::<S>(self.enough);
        }
        drop(guard);
        self.changed.notify_all();
    }
}

impl<H> State<H> {
    /// Drops the hits that come after enough of them.
    fn trim<S: Search<Hit = H>>(&mut self, enough: Enough) {
        let (mut results, mut bytes) = (0, 0);
        let mut last = None;
        for (key, (_, hit)) in &self.hits {
            let weight = S::weight(hit);
            results += weight.0;
            bytes += weight.1;
            if results > enough.results || bytes > enough.bytes {
                last = Some(key.clone());
                break;
            }
        }
        if let Some(last) = last {
            let mut late = self.hits.split_off(&last);
            if let Some((key, hit)) = late.pop_first() {
                self.hits.insert(key, hit);
            }
            (self.results, self.bytes) = (results, bytes);
            self.bound = Some(last);
        }
    }
}

struct Output<H> {
    hits: Vec<(Vec<u8>, H)>,
    jobs: Vec<FolderTask>,
    entries: u64,
}

/// Paths compare by their parts: a slash comes before every other character.
fn key(path: &[u8]) -> Vec<u8> {
    path.iter().map(|byte| if *byte == b'/' { 0 } else { *byte }).collect()
}

/// A name in a folder.
pub(crate) fn join(folder: &[u8], name: &[u8]) -> Vec<u8> {
    if folder.is_empty() {
        return name.to_vec();
    }
    if name.is_empty() {
        return folder.to_vec();
    }
    [folder, b"/", name].concat()
}
