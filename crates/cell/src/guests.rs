//! The processes of a sandbox, seen from outside through its own `/proc`.
//!
//! The supervisor is in no namespace of theirs but the user's and the network's, where it keeps every right: they can neither see nor signal
//! it, and cannot close to it what they have open. Signals go to an opened entry of `/proc`, so never to a stranger
//! who got a number later.

use std::collections::{BTreeMap, HashMap};
use std::io::Read;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use cove_walls::Stat;
use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, openat, statat};
use rustix::process::{Signal, pidfd_send_signal};

/// How often new ones are looked for while all are being stopped.
const MAX_LOOKS: usize = 50;

/// Who wrote less than this part of what the busiest has written is no writer.
const MUCH: u64 = 16;

/// What a line of `/proc/…/maps`, `status` and the like may take together.
const MAX_TEXT_BYTES: u64 = 16 << 20;

/// What each process has written to disks so far, with what it inherited from children that it reaped. Of Ship and its
/// helpers an ordinary user cannot know it.
pub(super) type Written = BTreeMap<u32, u64>;

/// A sandbox's processes.
#[derive(Debug)]
pub(super) struct Guests {
    proc: OwnedFd,
    /// The line of `/proc/…/io` that says what was written.
    counter: &'static str,
}

/// Deleted files of one file system that processes still hold.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Held {
    pub(super) bytes: u64,
    /// Something may be held whose size nobody can tell: mapped without a descriptor, on its way through a socket, or by
    /// somebody who cannot be looked into.
    pub(super) unknown: bool,
    /// Who cannot be looked into because it has not become its program yet, or is a copy of somebody closed.
    pub(super) starting: Vec<u32>,
}

impl Guests {
    /// By the sandbox's own `/proc`, opened inside.
    pub(super) fn new(proc: OwnedFd) -> Self {
        Self { proc, counter: "write_bytes:" }
    }

    /// The same, of a workspace for which the kernel counts no bytes written to disks: whatever is written at all counts.
    pub(super) fn of_uncounted_writes(proc: OwnedFd) -> Self {
        Self { proc, counter: "wchar:" }
    }

    /// Everybody but process 1, which is Ship.
    pub(super) fn all(&self) -> Vec<u32> {
        let Ok(entries) = openat(&self.proc, c".", FOLDER, Mode::empty()).and_then(Dir::new) else { return Vec::new() };
        let numbers = entries.flatten().filter_map(|entry| entry.file_name().to_str().ok()?.parse().ok());
        numbers.filter(|pid| *pid != 1).collect()
    }

    fn text(&self, path: &str) -> Option<String> {
        let file = openat(&self.proc, path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).ok()?;
        let mut bytes = Vec::new();
        std::fs::File::from(file).take(MAX_TEXT_BYTES).read_to_end(&mut bytes).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn field(&self, path: &str, name: &str) -> Option<String> {
        let text = self.text(path)?;
        text.lines().find_map(|line| Some(line.strip_prefix(name)?.trim().to_owned()))
    }

    /// What everybody has written.
    pub(super) fn written(&self) -> Written {
        let one = |pid: u32| {
            let bytes = self.field(&format!("{pid}/io"), self.counter).and_then(|text| text.parse().ok());
            (pid, bytes.unwrap_or(0))
        };
        // Ship writes, too: for the file tools.
        self.all().into_iter().chain([1]).map(one).collect()
    }

    /// Whether somebody is there of whom nobody can tell what he has written: who closes himself to others, as anybody can,
    /// is closed to an ordinary user's supervisor, too.
    pub(super) fn any_closed(&self) -> bool {
        self.all().into_iter().any(|pid| self.is_closed(pid))
    }

    fn is_closed(&self, pid: u32) -> bool {
        self.text(&format!("{pid}/io")).is_none() && self.is_there(pid)
    }

    /// Who is ending has given its memory back and is closed to an ordinary user from then on; it writes nothing more, and
    /// its files go with it.
    fn is_there(&self, pid: u32) -> bool {
        self.stat(pid).and_then(|stat| stat.is_ending()) == Some(false)
    }

    /// Whether this is one of the programs that guests asked for, and none of Ship's own helpers: those have no mark. Nobody
    /// can take his own mark off, and everybody can read it.
    fn is_marked(&self, pid: u32) -> bool {
        let limit = self.field(&format!("{pid}/limits"), "Max file locks");
        limit.and_then(|line| Some(line.split_ascii_whitespace().nth(1)? != "unlimited")).unwrap_or(false)
    }

    /// Whether it runs what its parent ran, and no program of its own yet.
    fn is_copy(&self, pid: u32) -> bool {
        self.stat(pid).and_then(|stat| stat.is_copy()) == Some(true)
    }

    fn stat(&self, pid: u32) -> Option<Stat> {
        Stat::parse(&self.text(&format!("{pid}/stat"))?)
    }

    /// Lets these go on.
    pub(super) fn wake(&self, sleepers: &[u32]) {
        for pid in sleepers {
            self.signal(*pid, Signal::CONT);
        }
    }

    fn signal(&self, pid: u32, signal: Signal) {
        if let Ok(process) = openat(&self.proc, pid.to_string(), FOLDER, Mode::empty()) {
            let _ = pidfd_send_signal(process, signal);
        }
    }

    /// Stops everybody who runs; nobody who is stopped can fork.
    pub(super) fn stop(self: &Arc<Self>) -> StoppedGuests {
        let mut stopped = StoppedGuests { guests: Arc::clone(self), numbers: Vec::new() };
        let mut known = Vec::new();
        for _ in 0..MAX_LOOKS {
            let new: Vec<_> = self.all().into_iter().filter(|pid| !known.contains(pid)).collect();
            if new.is_empty() {
                break;
            }
            for pid in new {
                known.push(pid);
                let state = self.field(&format!("{pid}/status"), "State:").unwrap_or_default();
                // Who is stopped already was so by somebody's wish, and stays so afterwards.
                if !state.starts_with(['T', 't', 'Z', 'X']) {
                    self.signal(pid, Signal::STOP);
                    stopped.numbers.push(pid);
                }
            }
        }
        stopped
    }

    /// Those who have written since.
    pub(super) fn writers(&self, before: &Written) -> Vec<u32> {
        let more = |(pid, bytes): (u32, u64)| (pid, bytes.saturating_sub(before.get(&pid).copied().unwrap_or(0)));
        let mut wrote: Vec<_> = self.written().into_iter().filter(|(pid, _)| *pid != 1).map(more).collect();
        let most = wrote.iter().map(|(_, bytes)| *bytes).max().unwrap_or(0);
        // Whoever wrote a line to a log meanwhile is not meant.
        wrote.retain(|(_, bytes)| *bytes > 0 && *bytes >= most / MUCH);
        if wrote.is_empty() {
            // Then it is somebody who does not show what he writes; who is only starting has written nothing.
            let hides = |pid: &u32| self.is_closed(*pid) && self.is_marked(*pid) && !self.is_copy(*pid);
            return self.all().into_iter().filter(hides).collect();
        }
        wrote.into_iter().map(|(pid, _)| pid).collect()
    }

    /// Ends these.
    pub(super) fn end(&self, doomed: &[u32]) {
        for pid in doomed {
            self.signal(*pid, Signal::KILL);
        }
    }

    /// Files without a name that are held open or mapped. `device` is the file system's number as `stat` says it, `mapped`
    /// as `/proc/…/maps` does.
    pub(super) fn held(&self, device: u64, mapped: &str, mut go_on: impl FnMut() -> bool) -> Held {
        let (mut files, mut held) = (HashMap::new(), Held::default());
        for pid in self.all() {
            if !go_on() {
                break;
            }
            let opened = openat(&self.proc, format!("{pid}/fd"), FOLDER, Mode::empty());
            let Ok(folder) = opened else {
                // To an ordinary user Ship's own helpers are closed: they hold no file of a guest's.
                match self.is_marked(pid) && self.is_there(pid) {
                    true if self.is_copy(pid) => held.starting.push(pid),
                    marked => held.unknown |= marked,
                }
                continue;
            };
            let Ok(entries) = rustix::io::dup(&folder).and_then(Dir::new) else { continue };
            for entry in entries.flatten() {
                let Ok(stat) = statat(&folder, entry.file_name(), AtFlags::empty()) else { continue };
                if FileType::from_raw_mode(stat.st_mode).is_socket() {
                    let number = entry.file_name().to_string_lossy().into_owned();
                    let carried = self.field(&format!("{pid}/fdinfo/{number}"), "scm_fds:");
                    held.unknown |= carried.is_some_and(|count| count != "0");
                }
                if stat.st_dev == device && stat.st_nlink == 0 {
                    files.insert(stat.st_ino, u64::try_from(stat.st_blocks).unwrap_or(0) * 512);
                }
            }
            self.mapped(pid, device, mapped, &mut files, &mut held);
        }
        held.bytes = files.values().sum();
        held
    }

    fn mapped(&self, pid: u32, device: u64, mapped: &str, files: &mut HashMap<u64, u64>, held: &mut Held) {
        let Some(maps) = self.text(&format!("{pid}/maps")) else { return };
        for line in maps.lines().filter(|line| line.ends_with(" (deleted)")) {
            let mut fields = line.split_ascii_whitespace();
            let (Some(range), Some(on), Some(inode)) = (fields.next(), fields.nth(2), fields.next()) else { continue };
            let Ok(inode) = inode.parse::<u64>() else { continue };
            if on != mapped || files.contains_key(&inode) {
                continue;
            }
            // Only root may ask what is mapped; for others it is a number without a size.
            let entry =
                openat(&self.proc, format!("{pid}/map_files/{range}"), OFlags::PATH | OFlags::CLOEXEC, Mode::empty());
            match entry.and_then(rustix::fs::fstat) {
                Ok(stat) if stat.st_dev == device && stat.st_nlink == 0 => {
                    files.insert(inode, u64::try_from(stat.st_blocks).unwrap_or(0) * 512);
                }
                Ok(_) => {}
                Err(_) => held.unknown = true,
            }
        }
    }
}

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// Processes that were stopped; they go on when this is dropped.
pub(super) struct StoppedGuests {
    guests: Arc<Guests>,
    numbers: Vec<u32>,
}

impl Drop for StoppedGuests {
    fn drop(&mut self) {
        self.guests.wake(&self.numbers);
    }
}

/// The file system of a path as `/proc/…/maps` writes it.
pub(super) fn mapped_device(path: &str) -> String {
    let table = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let place = |line: &str| {
        let mut fields = line.split(' ');
        Some((fields.nth(2)?.to_owned(), fields.nth(1)?.to_owned()))
    };
    let holds = |mount: &str| std::path::Path::new(path).starts_with(mount);
    let found = table.lines().filter_map(place).filter(|(_, mount)| holds(mount)).max_by_key(|(_, mount)| mount.len());
    let (major, minor) = found.as_ref().and_then(|(number, _)| number.split_once(':')).unwrap_or(("0", "0"));
    let hex = |text: &str| text.parse::<u32>().unwrap_or(0);
    format!("{:02x}:{:02x}", hex(major), hex(minor))
}

/// Opens this sandbox's `/proc`, for the supervisor.
pub(super) fn open_proc() -> rustix::io::Result<OwnedFd> {
    openat(CWD, "/proc", FOLDER, Mode::empty())
}
