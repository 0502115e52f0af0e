//! When to weigh a folder again, where weighing takes a while.
//!
//! The free space of the whole file system is asked instead, which costs nothing: nobody can write without making it
//! smaller. Who else writes there only causes a look too many.

use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

/// How much the file system may lose past the limit before everything is looked at. With [`FASTEST`] and the
/// shortest pause this keeps the overshoot below 64 MB.
const SLACK: u64 = 8 << 20;

/// Pauses ahead: on a busy machine one may take ten times as long as it should.
const LEAD: u64 = 3;

/// So many new files on the file system are a reason to count, too. Whoever makes files all the time makes counting long:
/// for them it is a fifth of the time at most.
const MANY_FILES: u64 = 5000;
const FILES_REST: u32 = 4;

/// Bytes in a second, faster than page caches take them: how soon to look again follows from what is left.
const FASTEST: u64 = 4 << 30;
const PAUSE: std::ops::Range<Duration> = Duration::from_millis(5)..Duration::from_millis(250);

/// Everything is looked at this often whatever the file system says: somebody else may be removing as much as is
/// written. Looking costs a twentieth of the time at most.
const PERIOD: Duration = Duration::from_secs(1);
const REST: u32 = 20;

/// What is known since the last look.
#[derive(Debug)]
pub struct Pace {
    folder: OwnedFd,
    limit_bytes: u64,
    used: u64,
    /// Free on the file system when `used` was counted.
    free: u64,
    /// Files that could be made then.
    files: u64,
    counted_at: Instant,
    took: Duration,
    /// Free when it was last asked, and how much less that was than the time before.
    asked: u64,
    recent: u64,
    /// When it was last another figure than the time before: somebody wrote, or removed.
    stirred_at: Option<Instant>,
}

impl Pace {
    /// For a folder that nobody has weighed yet.
    pub fn new(folder: OwnedFd, limit_bytes: u64) -> Self {
        Self {
            folder,
            limit_bytes,
            used: 0,
            free: 0,
            files: 0,
            counted_at: Instant::now(),
            took: Duration::ZERO,
            asked: 0,
            recent: 0,
            stirred_at: None,
        }
    }

    /// The folder.
    pub fn folder(&self) -> &OwnedFd {
        &self.folder
    }

    /// What was there at the last look.
    pub fn used(&self) -> u64 {
        self.used
    }

    /// Files that can still be made on the file system.
    pub fn free_files(&self) -> u64 {
        rustix::fs::fstatvfs(&self.folder).map_or(0, |stat| stat.f_ffree)
    }

    /// Free bytes of the file system.
    pub fn free(&self) -> u64 {
        rustix::fs::fstatvfs(&self.folder).map_or(0, |stat| stat.f_bfree.saturating_mul(stat.f_frsize))
    }

    /// What the file system has lost since the last look, by whomever.
    pub fn grown(&self) -> u64 {
        self.free.saturating_sub(self.free())
    }

    /// What would be there now if nobody else used the file system.
    pub fn expected(&self, free: u64) -> u64 {
        self.used.saturating_add(self.free).saturating_sub(free)
    }

    /// How long to wait before asking again.
    pub fn pause(&self) -> Duration {
        let most = self.limit_bytes.max(self.used).saturating_add(SLACK);
        let left = most.saturating_sub(self.used.saturating_add(self.grown()));
        Duration::from_millis(left / (FASTEST / 1000)).clamp(PAUSE.start, PAUSE.end)
    }

    /// Whether so much is gone that the limit may be passed, or will be before anybody looks again.
    pub fn suspicious(&self) -> bool {
        let soon = self.grown().saturating_add(self.recent.saturating_mul(LEAD));
        self.used.saturating_add(soon) > self.limit_bytes.max(self.used).saturating_add(SLACK)
    }

    /// Whether it is time to look. To be asked after each pause: how fast it goes is seen by what was lost meanwhile.
    pub fn due(&mut self) -> bool {
        let free = self.free();
        if self.asked != free {
            self.stirred_at = Some(Instant::now());
        }
        (self.recent, self.asked) = (self.asked.saturating_sub(free), free);
        let (rested, many) = (self.counted_at.elapsed(), self.files.saturating_sub(self.free_files()) > MANY_FILES);
        self.suspicious() || many && rested >= self.took * FILES_REST || rested >= PERIOD.max(self.took * REST)
    }

    /// Whether anybody has written or removed anything lately. Not only since the last time it was asked: who removes as much
    /// as another writes can make it the same figure for a moment.
    pub fn is_stirred(&self) -> bool {
        self.stirred_at.is_some_and(|at| at.elapsed() < PERIOD)
    }

    /// Whatever the file system lost was somebody else's.
    pub fn not_ours(&mut self) {
        (self.free, self.files, self.counted_at, self.recent) = (self.free(), self.free_files(), Instant::now(), 0);
    }

    /// So much was there, and so much free, in a look that began then.
    pub fn counted(&mut self, used: u64, free: u64, begin: Instant) {
        (self.used, self.free, self.files) = (used, free, self.free_files());
        (self.counted_at, self.took) = (Instant::now(), begin.elapsed());
    }
}

/// Comes back when the folder is over its limit and still grows. `weigh` says what is in it: more than any limit where that
/// cannot be seen.
pub async fn outgrown(mut pace: Pace, limit_bytes: u64, weigh: impl Fn() -> u64 + Clone + Send + 'static) {
    let mut before = None;
    loop {
        let (begin, free, suspicious) = (Instant::now(), pace.free(), pace.suspicious());
        let bytes = tokio::task::spawn_blocking(weigh.clone()).await.unwrap_or(u64::MAX);
        let grows = before.is_some_and(|before| bytes > before || bytes == u64::MAX && suspicious);
        if bytes > limit_bytes && grows {
            return;
        }
        before = Some(bytes);
        pace.counted(bytes, free, begin);
        loop {
            tokio::time::sleep(pace.pause()).await;
            if pace.due() {
                break;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_less_is_left_the_sooner_it_is_looked_at() {
        let dir = tempfile::tempdir().unwrap();
        let folder = || std::fs::File::open(dir.path()).unwrap().into();
        let mut wide = Pace::new(folder(), 100 << 30);
        let mut tight = Pace::new(folder(), 1 << 20);
        for pace in [&mut wide, &mut tight] {
            pace.counted(1 << 20, pace.free(), Instant::now());
        }
        assert_eq!(wide.pause(), PAUSE.end);
        assert!(tight.pause() < Duration::from_millis(10), "{:?}", tight.pause());
        // Half a limit lost at once.
        wide.counted(60 << 30, wide.free() + (50 << 30), Instant::now());
        assert!(wide.suspicious() && wide.due());
        wide.not_ours();
        assert!(!wide.suspicious());
    }

    #[test]
    fn new_files_are_counted_but_not_all_the_time() {
        let dir = tempfile::tempdir().unwrap();
        let mut pace = Pace::new(std::fs::File::open(dir.path()).unwrap().into(), 100 << 30);
        pace.counted(1 << 20, pace.free(), Instant::now());
        pace.took = Duration::ZERO;
        // As many files fewer as are a reason, on whatever file system.
        pace.files = pace.free_files() + MANY_FILES + 1000;
        assert!(pace.due());
        // The last count took long.
        pace.took = Duration::from_secs(3600);
        assert!(!pace.due());
    }
}
