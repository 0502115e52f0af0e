//! The workspace's limit, where no file system holds it: the supervisor looks, from outside.
//!
//! It sees what guests cannot hide from it: closed and deep folders, files without a name. A look at all of it takes a
//! while; [`Pace`] says when one is needed.
//!
//! Over the limit, whoever writes is ended. Whoever makes room, or only reads, is left alone.

use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cove_files::{Pace, Uncounted, Weight, most_entries, weigh};
use cove_walls::{run_soon, stand_in_line};
use serde::{Deserialize, Serialize};

use super::guests::{Guests, Written, mapped_device};

/// A guest that has written so much since the last look is probably the one who fills the disk.
const MUCH: u64 = 8 << 20;

/// So much may be written where not everything can be counted; then whoever writes is ended.
const FEW: u64 = 8 << 20;

/// Looks in a row at a growing workspace after which everybody is ended, not only who was seen to write.
const PATIENCE: u32 = 3;

/// What a process that is being ended can still write: the rest of what it has asked for.
const EXCUSED: u64 = 16 << 20;

/// Others make files, too.
const A_FEW_FILES: u64 = 64;

/// A look that takes longer and that was caused by growth is finished with the guests stopped.
const QUICK: Duration = Duration::from_millis(20);

/// What is done again rests for so many times as long as it took.
const REST: u32 = 20;

/// Where there is more room than this, what is hidden by others who remove is found by the count that comes every second:
/// asking costs little for one sandbox and much for hundreds.
const MUCH_ROOM: u64 = 256 << 20;

/// File systems whose writes the kernel counts nowhere: tmpfs, ramfs, and those of programs (FUSE).
const IN_MEMORY: [rustix::fs::FsWord; 3] = [0x0102_1994, 0x8584_58f6, 0x6573_5546];

/// Who has not become its program yet cannot be looked into, for a moment: so often it is looked again, after so long.
const LOOKS_AT_STARTS: u32 = 2;
const A_MOMENT: Duration = Duration::from_millis(2);

/// How often a workspace is weighed again in which less was found than was written, if it may be over its limit.
const LOOKS_AT_MOVERS: u32 = 3;

/// How often a workspace that is over its limit is counted at least.
const AGAIN: Duration = Duration::from_millis(250);

/// What Ship is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiskNews {
    /// Counted.
    pub used_bytes: u64,
    /// The limit.
    pub limit_bytes: u64,
    /// Nothing more may be written.
    pub over: bool,
    /// Processes that are ended for it, right after this was said.
    pub ended: bool,
    /// Why more is there than was counted.
    pub uncounted: Option<Hidden>,
}

/// Why more is there than was counted, for the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Hidden {
    /// A folder that cannot be read.
    Unreadable,
    /// Folders that are nested too deep.
    TooDeep,
    /// More files than may be.
    TooMany,
}

impl From<Uncounted> for Hidden {
    fn from(uncounted: Uncounted) -> Self {
        match uncounted {
            Uncounted::Unreadable => Self::Unreadable,
            Uncounted::TooDeep => Self::TooDeep,
            Uncounted::TooMany => Self::TooMany,
        }
    }
}

/// The watch over one workspace.
pub(super) struct DiskWatch {
    pace: Pace,
    /// The file system's number, as `stat` and as `/proc/…/maps` say it.
    device: (u64, String),
    guests: Arc<Guests>,
    /// Whether the kernel counts what is written to this file system.
    writes_count: bool,
    ship: UnixStream,
    limit_bytes: u64,
    written: Written,
    ship_has_written: bool,
    /// Written since not everything can be counted any more.
    leaked: u64,
    /// Files that could still be made on the file system at the last look.
    free_files: u64,
    /// Looks in a row that found it over the limit and growing.
    strikes: u32,
    /// What was written while the first was ended has been let pass; not again before there is room.
    excused: bool,
    /// When everything was last counted.
    counted_at: Instant,
    /// When it was last asked who has written how much, and how much of a processor's time that took.
    asked_at: Instant,
    asking_took: Duration,
    /// Whether it was over the limit then.
    over: bool,
}

impl DiskWatch {
    pub(super) fn new(path: &str, proc: OwnedFd, ship: UnixStream, limit_bytes: u64) -> std::io::Result<Self> {
        let flags = rustix::fs::OFlags::RDONLY | rustix::fs::OFlags::DIRECTORY | rustix::fs::OFlags::CLOEXEC;
        let workspace = rustix::fs::open(path, flags, rustix::fs::Mode::empty())?;
        // Never to wait for a Ship that does not read.
        ship.set_nonblocking(true)?;
        let device = (rustix::fs::fstat(&workspace)?.st_dev, mapped_device(path));
        let writes_count = !IN_MEMORY.contains(&rustix::fs::fstatfs(&workspace)?.f_type);
        let guests = if writes_count { Guests::new(proc) } else { Guests::of_uncounted_writes(proc) };
        let mut watch = Self {
            device,
            guests: Arc::new(guests),
            writes_count,
            ship,
            limit_bytes,
            written: Written::new(),
            ship_has_written: false,
            leaked: 0,
            free_files: 0,
            strikes: 0,
            excused: false,
            over: false,
            counted_at: Instant::now(),
            asked_at: Instant::now(),
            asking_took: Duration::ZERO,
            pace: Pace::new(workspace, limit_bytes),
        };
        // What is there before anybody writes.
        watch.count(&|| true);
        Ok(watch)
    }

    /// How long to wait before [looking](Self::look) again. Nobody tells us when a file system fills.
    pub(super) fn pause(&self) -> Duration {
        self.pace.pause()
    }

    /// Whether there was too much at the last look: then it is looked at again and again.
    pub(super) fn is_over(&self) -> bool {
        self.over
    }

    /// Ship has said so to somebody else.
    pub(super) fn ship_writes(&mut self) {
        self.ship_has_written = true;
    }

    /// Looks at everything where that is needed. `go_on` says whether anybody is still interested.
    pub(super) fn look(&mut self, go_on: &dyn Fn() -> bool) {
        // Over the limit it is looked at again and again: room may have been made, of which the file system shows little.
        let again = self.over && self.counted_at.elapsed() >= AGAIN;
        if !again && !self.pace.due() && !self.wrote_enough() {
            return;
        }
        let ship_wrote = self.ship_wrote();
        let guests_wrote = || !self.writes_count || self.guests.written() != self.written || self.guests.any_closed();
        if !ship_wrote && !self.over && !guests_wrote() {
            // Nobody of ours has written, come or gone: whatever grew is somebody else's.
            self.pace.not_ours();
            return;
        }
        self.count(go_on);
    }

    /// Whether guests have written what would be too much, whatever the file system has lost: somebody else may be removing
    /// as much meanwhile. Asking costs a twentieth of the time at most; where the file system rests, nobody is asked.
    fn wrote_enough(&mut self) -> bool {
        let far = self.limit_bytes.saturating_sub(self.pace.used()) > MUCH_ROOM;
        if far || self.over || !self.pace.is_stirred() || self.asked_at.elapsed() < self.asking_took * REST {
            return false;
        }
        let begin = worked();
        let enough = self.pace.used() + self.own_writing() > self.limit_bytes;
        (self.asked_at, self.asking_took) = (Instant::now(), worked().saturating_sub(begin));
        enough
    }

    /// Whether Ship says that it has written since the last look; to an ordinary user its own figures are closed.
    fn ship_wrote(&mut self) -> bool {
        let mut block = [0; 4096];
        self.ship_has_written |= matches!(self.ship.read(&mut block), Ok(1..));
        self.ship_has_written
    }

    /// Looks at everything, and acts.
    fn count(&mut self, go_on: &dyn Fn() -> bool) {
        let begin = Instant::now();
        let (grown, before) = (self.pace.grown(), self.pace.used());
        // Whoever writes at full speed writes on while we count. That the file system has lost nothing does not say that nobody
        // writes: somebody else may be removing.
        let wrote = self.own_writing();
        let hidden = before + wrote > self.limit_bytes;
        let mut stopped = (wrote > MUCH && (hidden || self.pace.suspicious())).then(|| self.guests.stop());
        let mut in_line = false;
        let mut between = || {
            if begin.elapsed() > QUICK {
                if stopped.is_none() && (hidden || self.pace.suspicious()) {
                    stopped = Some(self.guests.stop());
                }
                if !std::mem::replace(&mut in_line, true) {
                    // Whoever has so many files must not make others wait for their counting.
                    stand_in_line();
                }
            }
            go_on()
        };
        let mut weight = weigh(self.pace.folder(), most_entries(self.limit_bytes), &mut between);
        let mut held = self.guests.held(self.device.0, &self.device.1, &mut between);
        // Where something is held that cannot be weighed, it is what the file system lacks, or all that was written.
        let unweighed = || {
            let free = self.pace.free();
            (self.pace.expected(free).max(before + self.own_writing()), free)
        };
        let mut used = weight.bytes + held.bytes;
        // Who moves things while they are counted keeps them out of sight: less was found than was taken. That less is there
        // is believed only once it matters, and of those who stand still. What is charged in the end is the figure that was
        // looked into: others take room all the while.
        let (mut lacks, mut free) = unweighed();
        let mut doubted = used < lacks;
        for _ in 0..LOOKS_AT_MOVERS {
            if !doubted || lacks <= self.limit_bytes || !go_on() {
                break;
            }
            stopped.get_or_insert_with(|| self.guests.stop());
            #[expect(clippy::disallowed_methods, reason = "nobody says when a process has stopped")]
            std::thread::sleep(A_MOMENT);
            weight = weigh(self.pace.folder(), most_entries(self.limit_bytes), go_on);
            held = self.guests.held(self.device.0, &self.device.1, go_on);
            used = weight.bytes + held.bytes;
            doubted = weight.shifted;
            (lacks, free) = unweighed();
        }
        for _ in 0..LOOKS_AT_STARTS {
            let matters = !held.unknown && used <= self.limit_bytes && lacks > self.limit_bytes;
            if held.starting.is_empty() || !matters || !go_on() {
                break;
            }
            // Who is stopped never becomes its program.
            self.guests.wake(&held.starting);
            #[expect(clippy::disallowed_methods, reason = "nobody says when a process has become its program")]
            std::thread::sleep(A_MOMENT);
            held = self.guests.held(self.device.0, &self.device.1, go_on);
            used = weight.bytes + held.bytes;
            (lacks, free) = unweighed();
        }
        if in_line {
            run_soon();
        }
        if !go_on() {
            return;
        }
        if held.unknown || doubted || !held.starting.is_empty() {
            used = used.max(lacks);
        } else {
            free = self.pace.free();
        }
        let over = used > self.limit_bytes || weight.uncounted.is_some();
        // What is written and taken from the file system; who removes files writes a little, and gives.
        let leak = self.own_writing().min(grown);
        self.leaked = if weight.uncounted.is_some() { self.leaked + leak } else { 0 };
        let fewer_files = self.free_files.saturating_sub(self.pace.free_files());
        let leaking =
            self.leaked > FEW && leak > 0 || weight.uncounted == Some(Uncounted::TooMany) && fewer_files > A_FEW_FILES;
        // Who was ended may have written a little more while we counted; that is nobody else's fault, once.
        let excused = self.strikes > 0 && !self.excused && used <= before + EXCUSED;
        let growing = over && (used > before && weight.uncounted.is_none() && !excused || leaking);
        self.excused = over && (self.excused || excused);
        self.strikes = if growing { self.strikes + 1 } else { 0 };
        let doomed = match (growing, self.strikes) {
            (false, _) => Vec::new(),
            // Whoever it is cannot be caught in the act: it starts writers that are gone before anybody looks.
            (true, PATIENCE..) => self.guests.all(),
            (true, _) => self.guests.writers(&self.written),
        };
        if !doomed.is_empty() || over != self.over {
            self.tell(used, &weight, over, !doomed.is_empty());
        }
        self.guests.end(&doomed);
        if !doomed.is_empty() {
            // Whoever comes next may be the one who makes room.
            self.leaked = 0;
        }
        drop(stopped);
        (self.over, self.written) = (over, self.guests.written());
        self.ship_has_written = false;
        self.counted_at = Instant::now();
        self.free_files = self.pace.free_files();
        // Where not everything can be counted, every bit more is too much.
        self.pace.counted(if weight.uncounted.is_some() { used.max(self.limit_bytes) } else { used }, free, begin);
    }

    /// What our guests have written since the last look, as far as that is known.
    fn own_writing(&self) -> u64 {
        let now = self.guests.written();
        let more = |(pid, bytes): (&u32, &u64)| bytes.saturating_sub(self.written.get(pid).copied().unwrap_or(0));
        // Who buries a child inherits its figure, which was counted when the child wrote.
        let inherited: u64 =
            self.written.iter().filter(|(pid, _)| !now.contains_key(pid)).map(|(_, bytes)| bytes).sum();
        now.iter().map(more).sum::<u64>().saturating_sub(inherited)
    }

    fn tell(&mut self, used_bytes: u64, weight: &Weight, over: bool, ended: bool) {
        let uncounted = weight.uncounted.map(Hidden::from);
        let news = DiskNews { used_bytes, limit_bytes: self.limit_bytes, over, ended, uncounted };
        if let Ok(mut line) = serde_json::to_vec(&news) {
            line.push(b'\n');
            // Whole or not at all: a Ship that reads nothing for so long misses a line, not the limit.
            let _ = self.ship.write(&line);
        }
    }
}

/// For how long this thread has run. While it waits for a processor others write, and that is no reason to look less often.
fn worked() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::try_from(time).unwrap_or_default()
}
