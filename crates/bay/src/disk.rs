//! Keeps Bay usable on a full disk.
//!
//! Guests write to the disk that also holds the records of all owners. Each guest is below its own limit, but together
//! they may fill the disk. So Bay keeps some of it free: below that, what would fill the disk further is refused,
//! sessions whose workspace grows are ended, and operations that free space (stop, delete, the collector) continue. If
//! even that space is used up, the database has a reserve (`cove-store`).

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use cove_api::{BayError, ErrorCode};
use cove_core::SessionId;
use cove_workspace::Space;
use futures_util::future::join_all;

use crate::session::LiveSession;
use crate::{Bay, BayResult};

/// What is kept free unless the configuration says otherwise: what a fast disk takes in the time in which a writer is
/// noticed and ended.
const KEPT_BYTES: u64 = 512 << 20;

/// And no more than this part of a small disk.
const KEPT_PART: u64 = 20;

/// Files that must still be makeable, and no more than the same part of all.
const KEPT_FILES: u64 = 10_000;

/// Below this part of what is kept free everything ends that could write, whether it was seen writing or not.
const CRITICAL_PART: u64 = 4;

/// What a workspace may gain between two looks at a disk that is nearly full: a log line, not a file.
const GROWTH_BYTES: u64 = 1 << 20;

/// A disk that writes faster than this is not waited for.
const FASTEST_BYTES_PER_MS: u64 = 4 << 20;

/// The next look comes after at least and at most this.
const SOONEST: Duration = Duration::from_millis(20);
const LATEST: Duration = Duration::from_secs(1);

/// How long one workspace may take to be weighed while all of them are looked at.
const WEIGHING: Duration = Duration::from_millis(500);

/// When to ask again.
const RETRY_AFTER_MS: u64 = 5_000;

/// How much room there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    /// Enough.
    Fine,
    /// Less than is kept free.
    Low,
    /// Hardly any.
    Critical,
}

/// What was seen of all disks together.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Look {
    pub(crate) level: Level,
    free_bytes: u64,
    kept_bytes: u64,
    /// How many files can still be made, where those are what is short.
    files_left: Option<u64>,
}

/// What the watch knows of the workspaces.
#[derive(Debug, Default)]
struct Weights {
    /// What each session's workspace held when they were last weighed; none: that took too long.
    of: HashMap<SessionId, Option<u64>>,
    /// What was free then: they are weighed again when less is, since a walk through every file is no trifle.
    free_bytes: Option<u64>,
}

/// The disks that Bay writes to.
#[derive(Debug)]
pub(crate) struct Disk {
    folders: Vec<PathBuf>,
    kept_bytes: Option<u64>,
}

impl Disk {
    /// The disks of these folders.
    pub(crate) fn of(folders: Vec<PathBuf>, kept_mb: Option<u32>) -> Self {
        Self { folders, kept_bytes: kept_mb.map(|mb| u64::from(mb) << 20) }
    }

    /// Looks. A folder that cannot be asked about is not what is full.
    pub(crate) fn look(&self) -> Look {
        let fine = Look { level: Level::Fine, free_bytes: u64::MAX, kept_bytes: 0, files_left: None };
        let spaces = self.folders.iter().filter_map(|folder| Space::of(folder).ok());
        let looks = spaces.map(|space| judge(space, self.kept_bytes));
        looks.fold(fine, |worst, look| {
            let worse = look.level > worst.level || (look.level == worst.level && look.above() < worst.above());
            if worse { look } else { worst }
        })
    }
}

fn judge(space: Space, kept: Option<u64>) -> Look {
    let kept_bytes = kept.unwrap_or_else(|| KEPT_BYTES.min(space.total_bytes / KEPT_PART));
    let kept_files = KEPT_FILES.min(space.total_files / KEPT_PART);
    let (free, files) = (space.free_bytes, space.free_files.unwrap_or(u64::MAX));
    let level = if free < kept_bytes / CRITICAL_PART || files < kept_files / CRITICAL_PART {
        Level::Critical
    } else if free < kept_bytes || files < kept_files {
        Level::Low
    } else {
        Level::Fine
    };
    let files_left = space.free_files.filter(|files| *files < kept_files);
    Look { level, free_bytes: free, kept_bytes, files_left }
}

impl Look {
    /// Bytes that can still be written before it is low.
    fn above(self) -> u64 {
        self.free_bytes.saturating_sub(self.kept_bytes)
    }

    /// When to look again: before the fastest writer could have filled what is left.
    fn rest(self, sessions: usize) -> Duration {
        match self.level {
            Level::Fine => Duration::from_millis(self.above() / FASTEST_BYTES_PER_MS).clamp(SOONEST, LATEST),
            _ if sessions == 0 => LATEST / 2,
            _ => SOONEST,
        }
    }

    fn refusal(self) -> BayError {
        let (free, kept) = (self.free_bytes >> 20, self.kept_bytes >> 20);
        let how = match self.files_left {
            Some(files) => format!("it has room for {files} more files"),
            None => format!("{free} MB free, {kept} MB are kept free"),
        };
        let message = format!(
            "the server's disk is nearly full ({how}): delete sandboxes, cargos or files that you no longer \
             need, or free space on the disk, then try again"
        );
        let refusal = BayError::new(ErrorCode::SessionNotReady, message);
        refusal.with("reason", "disk_full").with("retry_after_ms", RETRY_AFTER_MS)
    }
}

impl Bay {
    /// Refuses what would fill the disk further while it is nearly full.
    pub(crate) fn may_grow(&self) -> BayResult<()> {
        let look = self.inner.disk.look();
        if look.level == Level::Fine { Ok(()) } else { Err(look.refusal()) }
    }

    /// Refuses to start a session on a disk that is nearly full; one for files only, in which no guest's code runs, may
    /// start as long as there is some room: its owner wants to delete something.
    pub(crate) fn may_start(&self, only_files: bool) -> BayResult<()> {
        let look = self.inner.disk.look();
        let most = if only_files { Level::Low } else { Level::Fine };
        if look.level <= most { Ok(()) } else { Err(look.refusal()) }
    }

    /// Whether an entry may be written to the history now: not into the reserve, which is for what frees room.
    pub(crate) fn may_record(&self) -> bool {
        let store = &self.inner.store;
        let poor = store.reserve().is_some_and(|reserve| !reserve.is_held());
        store.check_reachable().is_ok() && !(poor && self.inner.disk.look().level > Level::Fine)
    }

    /// Looks after the disks for as long as Bay lives.
    pub(crate) fn watch_disk(&self) {
        let weak = Arc::downgrade(&self.inner);
        tokio::spawn(async move {
            let mut weights = Weights::default();
            loop {
                let Some(inner) = weak.upgrade() else { return };
                let bay = Self { inner };
                if bay.is_closing() {
                    return;
                }
                let rest = bay.look_after_disk(&mut weights).await;
                drop(bay);
                tokio::time::sleep(rest).await;
            }
        });
    }

    async fn look_after_disk(&self, weights: &mut Weights) -> Duration {
        let look = self.inner.disk.look();
        let sessions = self.inner.sessions.all();
        if look.level == Level::Fine {
            if let Some(reserve) = self.inner.store.reserve() {
                reserve.make();
            }
            // So near that the next look may find it low: from what on they grow must be known by then.
            if look.above() > look.kept_bytes {
                *weights = Weights::default();
            } else {
                self.weigh(&sessions, weights, look).await;
            }
            return look.rest(sessions.len());
        }
        let ended: Vec<_> = match look.level {
            Level::Critical => sessions.clone(),
            _ => {
                let before = weights.of.clone();
                self.weigh(&sessions, weights, look).await;
                let grows = |session: &&Arc<LiveSession>| match (before.get(&session.id), weights.of.get(&session.id)) {
                    (Some(Some(before)), Some(Some(now))) => now.saturating_sub(*before) > GROWTH_BYTES,
                    _ => false,
                };
                sessions.iter().filter(grows).cloned().collect()
            }
        };
        for session in &ended {
            tracing::warn!(sandbox = %session.sandbox_id, level = ?look.level, "a session is ended: the disk is nearly full");
            session.end_for_disk();
            weights.of.remove(&session.id);
            let (bay, session) = (self.clone(), Arc::clone(session));
            tokio::spawn(async move {
                if let Err(error) = bay.end_session_of(&session.sandbox_id, Some(&session.id)).await {
                    tracing::warn!(%error, sandbox = %session.sandbox_id, "its end could not be recorded");
                }
                bay.tell_state(&session.sandbox_id, "idle", Some("the server's disk is nearly full"));
            });
        }
        look.rest(sessions.len())
    }

    /// Weighs the workspaces, if anything was written since the last time, or there is one that was not weighed.
    async fn weigh(&self, sessions: &[Arc<LiveSession>], weights: &mut Weights, look: Look) {
        weights.of.retain(|id, _| sessions.iter().any(|session| session.id == *id));
        let known = sessions.iter().all(|session| weights.of.contains_key(&session.id));
        let same = weights.free_bytes.is_some_and(|before| look.free_bytes.saturating_add(GROWTH_BYTES) > before);
        if known && same {
            return;
        }
        weights.free_bytes = Some(look.free_bytes);
        let weighed = join_all(sessions.iter().map(|session| async {
            let bytes = tokio::time::timeout(
                WEIGHING,
                self.inner.driver.cargos().weight(&session.cargo_id, session.cargo_limit_bytes),
            )
            .await;
            (session.id.clone(), bytes.ok().and_then(Result::ok).map(|weight| weight.bytes))
        }));
        weights.of.extend(weighed.await);
    }
}

/// Told to a call whose session was ended under it.
pub(crate) fn ended_for_disk() -> BayError {
    let message = "the sandbox was stopped during this call because the server's disk is nearly full: delete \
                   files that you no longer need, then try again";
    BayError::new(ErrorCode::Conflict, message).with("reason", "disk_full")
}

#[cfg(test)]
mod tests {
    use super::*;

    const MB: u64 = 1 << 20;

    fn space(free_mb: u64, total_mb: u64, files: Option<(u64, u64)>) -> Space {
        Space {
            free_bytes: free_mb * MB,
            total_bytes: total_mb * MB,
            free_files: files.map(|(free, _)| free),
            total_files: files.map_or(0, |(_, total)| total),
        }
    }

    #[test]
    fn what_is_low_depends_on_the_disk() {
        for (space, kept, level) in [
            (space(10_000, 100_000, None), None, Level::Fine),
            (space(511, 100_000, None), None, Level::Low),
            (space(127, 100_000, None), None, Level::Critical),
            // A small disk keeps a part of itself.
            (space(60, 1_000, None), None, Level::Fine),
            (space(49, 1_000, None), None, Level::Low),
            (space(0, 1_000, None), None, Level::Critical),
            // As configured.
            (space(60, 1_000, None), Some(64 * MB), Level::Low),
            (space(0, 1_000, None), Some(0), Level::Fine),
            // Files are room, too.
            (space(60_000, 100_000, Some((9_999, 1_000_000))), None, Level::Low),
            (space(60_000, 100_000, Some((10, 1_000_000))), None, Level::Critical),
            (space(60_000, 100_000, Some((60, 1_000))), None, Level::Fine),
        ] {
            assert_eq!(judge(space, kept).level, level, "{space:?} {kept:?}");
        }
        let rest = |free| judge(space(free, 100_000, None), None).rest(1);
        assert!(rest(90_000) == LATEST && rest(513) == SOONEST && rest(100) == SOONEST);
        assert!(rest(1_512) < LATEST && rest(1_512) > SOONEST);
    }
}
