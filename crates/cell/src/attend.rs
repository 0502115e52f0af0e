//! The supervisor's one loop: the owner and its lease, the init, the memory and the disk. It has one thread, and can have no other.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use super::disk::DiskWatch;
use super::watch::{self, Watch};

/// How often the uptime is looked at for a lease: a machine that slept may have slept through its end.
const LEASE_LOOK_MS: u64 = 900;

/// What the loop attends to.
pub(super) struct Duties<'a, Open> {
    /// The owner's line: its end is the end.
    pub(super) control: &'a OwnedFd,
    pub(super) init: Pid,
    /// The init's line.
    pub(super) init_line: &'a UnixStream,
    /// Opens the eyes of the memory watch, once the init says that there is something to look at.
    pub(super) open: Open,
    /// Whether the init waits for that.
    pub(super) init_waits: bool,
    pub(super) disk: Option<DiskWatch>,
    /// Until when the sandbox may live without word from its owner, by the machine's uptime.
    pub(super) lease_until_ms: Option<u64>,
}

/// Why the loop goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum News {
    /// The owner has gone, the init has ended, or the lease is over.
    Over,
    /// The init has said something.
    Word,
    /// It is time to look, or somebody has interrupted.
    Time,
}

/// What can end the sandbox: its owner, the init, the lease.
struct Ends<'a> {
    /// Its end is the end; what comes over it are renewals of the lease.
    owner: &'a OwnedFd,
    init: OwnedFd,
    /// The owner may be frozen, and then its line stays open; this process is not, and holds the lease for it.
    lease_until_ms: Cell<Option<u64>>,
}

impl Ends<'_> {
    /// Waits for news, at most until then. `line`: the init's, while its word is awaited.
    fn wait(&self, line: Option<&UnixStream>, until: Option<Instant>) -> io::Result<News> {
        let lease = match self.lease_until_ms.get() {
            Some(until) => match until.saturating_sub(cove_cgroup::uptime_ms()?) {
                0 => return Ok(News::Over),
                left => Some(Duration::from_millis(left.min(LEASE_LOOK_MS))),
            },
            None => None,
        };
        // Without a lease no bytes are expected of the owner any more, only the end of its line.
        let renewals = if lease.is_some() { PollFlags::IN } else { PollFlags::empty() };
        let owner = PollFd::new(self.owner, PollFlags::RDHUP | PollFlags::HUP | renewals);
        let mut all = vec![owner, PollFd::new(&self.init, PollFlags::IN)];
        all.extend(line.map(|line| PollFd::new(line, PollFlags::IN)));
        let left = until.map(|until| until.saturating_duration_since(Instant::now()));
        let left = left.into_iter().chain(lease).min().and_then(|left| Timespec::try_from(left).ok());
        match poll(&mut all, left.as_ref()) {
            Ok(_) => {}
            Err(rustix::io::Errno::INTR) => return Ok(News::Time),
            Err(errno) => return Err(errno.into()),
        }
        let said: Vec<_> = all.iter().map(PollFd::revents).collect();
        let [owner, init, rest @ ..] = &said[..] else { return Ok(News::Time) };
        if !init.is_empty() || !owner.difference(PollFlags::IN).is_empty() {
            return Ok(News::Over);
        }
        if owner.contains(PollFlags::IN) {
            let mut until = [0; 8];
            File::from(self.owner.try_clone()?).read_exact(&mut until)?;
            self.lease_until_ms.set(self.lease_until_ms.get().max(Some(u64::from_be_bytes(until))));
        }
        Ok(if rest.iter().any(|line| line.contains(PollFlags::IN)) { News::Word } else { News::Time })
    }
}

/// The memory watch and when it looks next.
struct Memory {
    watch: Watch,
    next: Cell<Instant>,
}

impl Memory {
    fn look_if_due(&self) {
        if self.next.get() <= Instant::now() {
            // Where nobody is left to look at, the end of the init is the next news.
            let pause = self.watch.look().unwrap_or(watch::LATEST);
            self.next.set(Instant::now() + pause);
        }
    }
}

/// Watches memory and disk until the owner has gone, the init has ended, or the lease is over.
pub(super) fn attend<Open: FnOnce() -> io::Result<Watch>>(duties: Duties<'_, Open>) -> io::Result<()> {
    let Duties { control, init, mut init_line, open, init_waits, mut disk, lease_until_ms } = duties;
    let init = pidfd_open(init, PidfdFlags::empty())?;
    let ends = Ends { owner: control, init, lease_until_ms: Cell::new(lease_until_ms) };
    let (mut open, mut memory, mut disk_next) = (Some(open), None::<Memory>, None::<Instant>);
    loop {
        let asleep =
            memory.as_ref().filter(|memory| !disk.as_ref().is_some_and(DiskWatch::is_over) && memory.watch.sleep());
        let next = match asleep {
            Some(_) => Some(Instant::now() + watch::SLEEP),
            None => [memory.as_ref().map(|memory| memory.next.get()), disk_next].into_iter().flatten().min(),
        };
        let news = ends.wait((open.is_some() || asleep.is_some()).then_some(init_line), next)?;
        if let Some(memory) = asleep {
            memory.watch.wake();
        }
        match news {
            News::Over => return Ok(()),
            News::Word if open.is_none() => {
                // Ship writes files itself, or is about to start somebody.
                let _said = init_line.read(&mut [0; 4096])?;
                disk.as_mut().map(DiskWatch::ship_writes);
            }
            News::Word => {
                // One byte and no more: what follows is for the disk's watch. Nobody writes to the disk before it.
                if init_line.read(&mut [0])? == 0 {
                    // The init is about to be seen ended.
                    open = None;
                    continue;
                }
                let opened = open.take().and_then(|open| open().ok());
                match (&opened, init_waits) {
                    (Some(_), true) => init_line.write_all(&[watch::LOOKING])?,
                    // It reads the end of its line where the watch could not open its eyes, and ends.
                    (None, true) => init_line.shutdown(Shutdown::Write)?,
                    (_, false) => {}
                }
                // Not at once: the processor is better used by those who wait for the sandbox, and nobody runs in it yet.
                memory = opened.map(|watch| Memory { watch, next: Cell::new(Instant::now() + watch::SOONEST) });
                disk_next = disk.as_ref().map(|disk| Instant::now() + disk.pause());
            }
            News::Time => {}
        }
        if let Some(memory) = &memory {
            memory.look_if_due();
        }
        if let Some(disk) = disk.as_mut().filter(|_| disk_next.is_some_and(|next| next <= Instant::now())) {
            // A look at a large workspace takes long; memory is not out of sight meanwhile.
            disk.look(&|| {
                if let Some(memory) = &memory {
                    memory.look_if_due();
                }
                !matches!(ends.wait(None, Some(Instant::now())), Ok(News::Over) | Err(_))
            });
            disk_next = Some(Instant::now() + disk.pause());
        }
    }
}
