//! The memory watch: counts, from outside the sandbox, what no control group counts in it.
//!
//! The supervisor keeps it, which guests can neither see nor signal, and which goes on when Ship is wedged. Where
//! a control group counts memory, the watch looks only after what the kernel does not charge to groups: replies that wait
//! in netlink sockets, connections that nobody has accepted, and file locks. Where none does, it counts everything: private memory and page tables of each
//! process, temporary file systems, socket buffers, and what open files could hold. What could not be counted even so
//! (memory that no process maps) is refused by seccomp.
//!
//! It does not look at fixed times: the next look comes before the room that is left could be filled. Where nobody has run
//! since the last one, it asks no more than that ([`idle`]): hundreds of sandboxes that wait cost next to nothing.

mod idle;
mod processes;
mod sockets;

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cove_cgroup::CpuWeight;
use cove_walls::SharedPage;
use rustix::fs::{Mode, OFlags, fstatvfs, open, openat};
use rustix::process::{Signal, pidfd_send_signal};

use self::idle::{Clocks, Walk};
use self::processes::Process;
use self::sockets::Sockets;
use super::guests::Guests;
use super::ledger::{note_kill, note_sleep};
use crate::oom::GUESTS;

/// How fast one processor takes new memory at most: filling huge pages with zeros was measured at 3 to 4 GB/s.
const FILLED_PER_SECOND: u64 = 4 << 30;

/// Between two looks, at least and at most. Five milliseconds are 20 MiB for each processor that fills memory.
pub(super) const SOONEST: Duration = Duration::from_millis(5);
pub(super) const LATEST: Duration = Duration::from_millis(100);

/// Everything is looked at this often also where nobody runs: what others send may wait in a guest's sockets.
const IDLE_LATEST: Duration = Duration::from_secs(1);

/// The same while the watch sleeps: nobody but Ship is there, who says when that changes.
pub(super) const SLEEP: Duration = Duration::from_secs(5);

/// Ship has rested for so long before the watch sleeps: who works on wakes nobody for each step.
const SLEEP_AFTER: Duration = Duration::from_millis(300);

/// A look at many processes takes long; then it is repeated less often, so that looking costs a tenth at most.
const REST: u32 = 10;

/// A close look that takes longer is finished with the guests stopped.
const QUICK: Duration = Duration::from_millis(20);

/// Page tables that take a larger part of the limit than this are what fills it.
const TABLES_SHARE: u64 = 16;

/// The part of the limit below which room is scarce.
const SCARCE: u64 = 2;

/// File locks of a whole sandbox. Nobody has thousands; 200 bytes each, and no group is charged for them.
const MAX_LOCKS: usize = 16_384;

/// How often they are counted.
const LOCKS_SOONEST: Duration = Duration::from_millis(500);
const LOCKS_LATEST: Duration = Duration::from_secs(2);

/// What the kernel charges to nobody may be a quarter of the limit at most.
const UNCHARGED_SHARE: u64 = 4;

/// What the init and the watch say to one another: there is something to look at; it is looked at.
pub(super) const LOOK: u8 = b'l';
pub(super) const LOOKING: u8 = b'k';

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    /// Everything: no control group counts memory.
    Everything,
    /// Only what no control group is charged for.
    Uncharged,
}

/// The eyes of the watch: opened while the init can still be looked into.
#[derive(Debug)]
pub(super) struct Watch {
    /// Ship, as it is known outside.
    init_pid: u32,
    scope: Scope,
    limit_bytes: u64,
    /// `/proc` as it is in the sandbox: its processes and nobody else's.
    proc: OwnedFd,
    guests: Arc<Guests>,
    /// The temporary file systems: their files are memory.
    temporary: Vec<OwnedFd>,
    sockets: Sockets,
    page: SharedPage,
    processors: u64,
    /// What its guests weigh when they want processors.
    turn: Option<CpuWeight>,
    /// The list of file locks, opened before it was closed to guests.
    locks: Option<File>,
    /// When locks were last counted, and open files about open files.
    locks_at: Cell<Instant>,
    /// The latter, by process.
    fdinfo: RefCell<HashMap<u32, u64>>,
    /// What the last look at everything found.
    last: RefCell<Option<LastLook>>,
    /// When somebody was last seen to have run.
    stirred_at: Cell<Instant>,
}

/// A look at everything, after which everybody may have come to rest.
#[derive(Debug)]
struct LastLook {
    at: Instant,
    clocks: Clocks,
    /// How long it took from there to fill the room that was left.
    pause: Duration,
}

/// What was seen at one look.
#[derive(Debug, Default)]
struct Seen {
    processes: Vec<Process>,
    /// In temporary file systems.
    files_bytes: u64,
    /// In socket buffers.
    sockets_bytes: u64,
}

impl Seen {
    fn total(&self) -> u64 {
        let held: u64 = self.processes.iter().map(Process::bytes).sum();
        held + processes::pipes_bytes(&self.processes) + self.files_bytes + self.sockets_bytes
    }
}

impl Watch {
    /// Opens what is needed, while the init may still be looked into. The calling thread is in the sandbox's network namespace.
    pub(super) fn open(
        init_pid: u32,
        scope: Scope,
        limit_bytes: u64,
        page: SharedPage,
        turn: Option<CpuWeight>,
        locks: Option<File>,
    ) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let root = open(format!("/proc/{init_pid}/root"), flags, Mode::empty())?;
        let inside = |path: &str| openat(&root, path, flags, Mode::empty());
        let temporary = vec![inside("tmp")?, inside("dev/shm")?];
        let proc = inside("proc")?;
        let processors = std::thread::available_parallelism().map_or(1, |count| count.get() as u64);
        let guests = Arc::new(Guests::new(proc.try_clone()?));
        let (sockets, locks_at) = (Sockets::open(), Cell::new(Instant::now()));
        let (last, stirred_at) = (RefCell::new(None), Cell::new(Instant::now()));
        Ok(Self {
            init_pid,
            scope,
            limit_bytes,
            proc,
            guests,
            temporary,
            sockets,
            page,
            processors,
            turn,
            locks,
            locks_at,
            fdinfo: RefCell::default(),
            last,
            stirred_at,
        })
    }

    /// Looks, ends who takes too much, and says when to look again. Fails when there is nobody left to look at.
    pub(super) fn look(&self) -> io::Result<Duration> {
        let begin = Instant::now();
        if let Some(last) = &*self.last.borrow() {
            if !last.clocks.stand_still() {
                self.stirred_at.set(begin);
            } else if last.at.elapsed() < IDLE_LATEST {
                return Ok(last.pause);
            }
        }
        let Walk { children, clocks } = Walk::from(self.init_pid);
        raise_scores(&children);
        let room = self.room()?;
        self.look_at_locks(room)?;
        if let Some(turn) = &self.turn {
            // Groups that are gone are the end of the sandbox, which is seen elsewhere.
            let _ = turn.adjust();
        }
        let filled_after =
            Duration::from_micros(room.saturating_mul(1_000_000) / (FILLED_PER_SECOND * self.processors));
        // Where little is left, looking may cost half of a processor: what grows is ended, and then it costs little again.
        let rest = if room < self.limit_bytes / SCARCE { 1 } else { REST };
        let pause = filled_after.clamp(SOONEST, LATEST).max((begin.elapsed() * rest).min(LATEST));
        // Of somebody who was missed no clock would tell.
        let clocks = clocks.filter(|clocks| processes::count(&self.proc).is_ok_and(|count| count == clocks.count()));
        self.last.replace(clocks.map(|clocks| LastLook { at: begin, clocks, pause }));
        Ok(pause)
    }

    /// Goes to sleep where there is nobody but Ship, and it rests: whoever is started next is [announced](crate::MemoryLedger::wake_watch).
    /// Whether it does; then nothing need be looked at before that, or for [that long](SLEEP).
    pub(super) fn sleep(&self) -> bool {
        let last = self.last.borrow();
        let Some(last) = last.as_ref().filter(|last| last.clocks.count() == 1) else { return false };
        if self.stirred_at.get().elapsed() < SLEEP_AFTER {
            return false;
        }
        // First said, then seen: a Ship that has not read it has run.
        note_sleep(&self.page, true);
        let asleep = last.clocks.stand_still();
        note_sleep(&self.page, asleep);
        asleep
    }

    /// Sleeps no more.
    pub(super) fn wake(&self) {
        note_sleep(&self.page, false);
    }

    /// How much room is left, after whoever was too large has been ended.
    fn room(&self) -> io::Result<u64> {
        let uncharged = self.uncharged()?;
        if self.scope == Scope::Uncharged {
            return Ok(uncharged);
        }
        let (mut seen, mut stopped) = (self.see()?, None);
        if seen.total() > self.limit_bytes {
            // Looked at more closely: pages that several share count once, and open files are counted one by one.
            // Not where page tables are the memory: the kernel walks all of them for that, and they grow meanwhile.
            let tables = self.limit_bytes / TABLES_SHARE;
            let begin = Instant::now();
            for process in seen.processes.iter_mut().filter(|process| process.tables_bytes < tables) {
                if stopped.is_none() && begin.elapsed() > QUICK {
                    // Whoever has so much to look at goes on taking while we look.
                    stopped = Some(self.guests.stop());
                }
                process.look_closely(&self.proc);
            }
        }
        let mut total = seen.total();
        if total <= self.limit_bytes {
            return Ok(uncharged.min(self.limit_bytes - total));
        }
        let used = total;
        let kernel = seen.sockets_bytes + processes::pipes_bytes(&seen.processes);
        let open: u64 = seen.processes.iter().map(|process| process.open_files).sum();
        let weight = |process: &Process| process.bytes() + kernel / open.max(1) * process.open_files;
        seen.processes.sort_by_key(|process| std::cmp::Reverse(weight(process)));
        for victim in seen.processes.iter().filter(|process| !process.is_ship()) {
            self.kill(victim.pid, used);
            total = total.saturating_sub(weight(victim));
            if total <= self.limit_bytes {
                break;
            }
        }
        Ok(0)
    }

    fn see(&self) -> io::Result<Seen> {
        let mut files_bytes = 0;
        for folder in &self.temporary {
            let found = fstatvfs(folder)?;
            files_bytes += found.f_blocks.saturating_sub(found.f_bfree) * found.f_frsize;
            files_bytes += found.f_files.saturating_sub(found.f_ffree) * processes::INODE_BYTES;
        }
        let mut processes = processes::all(&self.proc)?;
        let fdinfo = self.fdinfo.borrow();
        for process in &mut processes {
            process.fdinfo = fdinfo.get(&process.pid).copied().unwrap_or(0);
        }
        Ok(Seen { processes, files_bytes, sockets_bytes: self.sockets.bytes() })
    }

    /// What no group is charged for; returns how much room is left for it.
    fn uncharged(&self) -> io::Result<u64> {
        let limit = self.limit_bytes / UNCHARGED_SHARE;
        let waiting = self.sockets.uncharged_bytes();
        if waiting > limit {
            let mut processes = processes::all(&self.proc)?;
            processes.iter_mut().for_each(|process| process.look_closely(&self.proc));
            let most = processes.iter().filter(|process| !process.is_ship()).max_by_key(|process| process.open_files);
            if let Some(most) = most {
                self.kill(most.pid, self.limit_bytes + waiting);
            }
        }
        Ok(limit.saturating_sub(waiting))
    }

    /// The kernel makes whoever reads its list of locks wait for all processors, which on a busy machine takes longer than
    /// filling memory does: seldom, and not where room is scarce unless that is so for long.
    fn look_at_locks(&self, room: u64) -> io::Result<()> {
        let pause = if room < self.limit_bytes / SCARCE { LOCKS_LATEST } else { LOCKS_SOONEST };
        if self.locks_at.get().elapsed() < pause {
            return Ok(());
        }
        let holder = self.locks.as_ref().map(|list| processes::too_many_locks(list, MAX_LOCKS)).transpose()?;
        if let Some(holder) = holder.flatten() {
            self.kill(holder, self.limit_bytes);
        }
        if self.scope == Scope::Everything {
            self.fdinfo.replace(processes::fdinfo(&self.proc)?);
        }
        self.locks_at.set(Instant::now());
        Ok(())
    }

    fn kill(&self, pid: u32, used_bytes: u64) {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        // A folder of /proc is the process itself, whatever becomes of its number.
        if let Ok(process) = openat(&self.proc, pid.to_string(), flags, Mode::empty()) {
            note_kill(&self.page, used_bytes);
            let _ = pidfd_send_signal(&process, Signal::KILL);
        }
    }
}

/// Makes sure that the kernel takes guests before Ship: what Ship could not give its children ([`crate::OomScore`]) is given
/// here. Theirs inherit it.
fn raise_scores(children: &[u32]) {
    for child in children {
        // One that has not become its program yet is closed to an ordinary user; there is a next look.
        let _ = std::fs::write(format!("/proc/{child}/oom_score_adj"), GUESTS);
    }
}

/// Reads a file below an opened folder, as far as `most` bytes.
fn read_below(folder: &OwnedFd, path: &str, most: u64) -> io::Result<Vec<u8>> {
    let file = openat(folder, path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
    let mut bytes = Vec::new();
    std::fs::File::from(file).take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}
