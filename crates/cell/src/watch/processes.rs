//! What each process of a sandbox holds, as `/proc` tells it.

use std::collections::HashMap;
use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::rc::Rc;

use rustix::fs::{Dir, Mode, OFlags, openat, readlinkat};

use super::read_below;

/// The kernel's stack and records of one thread.
const THREAD_BYTES: u64 = 32 << 10;

/// One mapping: its record and its place in the tree of them.
const MAPPING_BYTES: u64 = 256;

/// `vm.max_map_count` as it usually is.
const MAX_MAPPINGS: u64 = 65_530;

/// What the kernel remembers of each mapping for every generation above a process: whose pages it may share.
const GENERATION_BYTES: u64 = 64;

/// What it keeps of an open file of `/proc/PID/fdinfo` once that was read: its whole text, which has a line for each lock.
const FDINFO_BYTES: u64 = 1 << 20;

/// One open file with its record, its name and its inode.
const OPEN_FILE_BYTES: u64 = 1 << 10;

/// One entry of an `epoll` set with its place in the watched file's queue.
const EPOLL_ENTRY_BYTES: u64 = 256;

/// A file of a temporary file system, whatever is in it.
pub(super) const INODE_BYTES: u64 = 1 << 10;

/// Pipes: what one holds at first, what all pipes of one user may hold like that (`fs.pipe-user-pages-soft`), and what
/// one holds when they are over it.
const PIPE_BYTES: u64 = 64 << 10;
const PIPES_BYTES: u64 = 64 << 20;
const SMALL_PIPE_BYTES: u64 = 8 << 10;

/// What is read of the list of locks, at once and in all.
const LOCKS_BLOCK_BYTES: usize = 64 << 10;
const MAX_LOCKS_BYTES: usize = 16 << 20;

/// Longer is none of the files that are read here, except the list of locks.
const MAX_FILE_BYTES: u64 = 64 << 10;

/// One process. First estimated upwards from one small file, then looked at closely where that matters.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Process {
    pub(super) pid: u32,
    /// Private memory, in memory or swapped out.
    private_bytes: u64,
    /// Its page tables.
    pub(super) tables_bytes: u64,
    threads: u64,
    mappings: u64,
    pub(super) open_files: u64,
    parent: u32,
    /// How many of those above it are alive.
    generation: u64,
    /// Open files of `/proc/PID/fdinfo`, as they were last [counted](fdinfo).
    pub(super) fdinfo: u64,
}

impl Process {
    /// Process 1 is never killed: the sandbox would end with it.
    pub(super) fn is_ship(&self) -> bool {
        self.pid == 1
    }

    /// What the kernel may hold for it; pipes are counted for all together.
    pub(super) fn bytes(&self) -> u64 {
        // Half of the open files could be sets that watch the other half each.
        let half = self.open_files / 2;
        self.private_bytes
            + self.tables_bytes
            + self.threads * THREAD_BYTES
            + self.mappings * (MAPPING_BYTES + self.generation * GENERATION_BYTES)
            + self.fdinfo * FDINFO_BYTES
            + self.open_files * OPEN_FILE_BYTES
            + half * half * EPOLL_ENTRY_BYTES
    }

    /// From `/proc/PID/status`. Shared memory is left out: it is files in temporary file systems, counted there.
    fn parse(pid: u32, status: &str) -> Self {
        let field = |name: &str| -> u64 {
            let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
            line.and_then(|rest| rest.split_ascii_whitespace().next()?.parse().ok()).unwrap_or(0)
        };
        let kib = |name: &str| field(name) << 10;
        Self {
            pid,
            private_bytes: kib("RssAnon") + kib("VmSwap") + kib("HugetlbPages"),
            tables_bytes: kib("VmPTE"),
            threads: field("Threads").max(1),
            mappings: (kib("VmSize") >> 12).min(MAX_MAPPINGS),
            open_files: field("FDSize"),
            parent: u32::try_from(field("PPid")).unwrap_or(0),
            ..Self::default()
        }
    }

    /// Replaces estimates by counts; what cannot be read stays as it was.
    pub(super) fn look_closely(&mut self, proc: &OwnedFd) {
        let at = |name: &str| format!("{}/{name}", self.pid);
        if let Some(private) =
            read_below(proc, &at("smaps_rollup"), MAX_FILE_BYTES).ok().and_then(|bytes| shares(&bytes))
        {
            self.private_bytes = private;
        }
        let most = MAX_MAPPINGS * 256;
        if let Ok(maps) = read_below(proc, &at("maps"), most) {
            self.mappings = maps.iter().filter(|byte| **byte == b'\n').count() as u64;
        }
        if let Some(entries) = open_files(proc, self.pid) {
            self.open_files = entries.count() as u64;
        }
    }
}

/// The open files of a process: the folder they are listed in, and their numbers.
fn open_files(proc: &OwnedFd, pid: u32) -> Option<impl Iterator<Item = (Rc<OwnedFd>, CString)>> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let folder = Rc::new(openat(proc, format!("{pid}/fd"), flags, Mode::empty()).ok()?);
    let names = Dir::read_from(&folder).ok()?.flatten().map(|entry| entry.file_name().to_owned());
    Some(names.filter(|name| !name.to_bytes().starts_with(b".")).map(move |name| (Rc::clone(&folder), name)))
}

/// How many open files about open files everybody has, by process.
pub(super) fn fdinfo(proc: &OwnedFd) -> io::Result<HashMap<u32, u64>> {
    let is_fdinfo = |(folder, name): (Rc<OwnedFd>, CString)| {
        let path = readlinkat(&*folder, name, Vec::new()).unwrap_or_default();
        let path = path.to_bytes();
        path.starts_with(b"/proc/") && path.windows(8).any(|part| part == b"/fdinfo/")
    };
    let counted = numbers(proc)?.filter_map(|pid| {
        let count = open_files(proc, pid)?.map(is_fdinfo).filter(|is| *is).count() as u64;
        (count > 0).then_some((pid, count))
    });
    Ok(counted.collect())
}

/// Private memory with each shared page counted by its share; kernels before 5.9 do not tell it apart from files.
fn shares(rollup: &[u8]) -> Option<u64> {
    let text = String::from_utf8_lossy(rollup);
    let kib = |name: &str| -> Option<u64> {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
        line.split_ascii_whitespace().next()?.parse().ok()
    };
    let private = kib("Pss_Anon").or_else(|| kib("Pss"))?;
    Some((private + kib("SwapPss").unwrap_or(0) + kib("Private_Hugetlb").unwrap_or(0)) << 10)
}

/// What the pipes of all could hold.
pub(super) fn pipes_bytes(all: &[Process]) -> u64 {
    let pipes = all.iter().map(|process| process.open_files).sum::<u64>() / 2;
    (pipes * PIPE_BYTES).min(PIPES_BYTES + pipes * SMALL_PIPE_BYTES)
}

/// The numbers of everybody in this `/proc`.
fn numbers(proc: &OwnedFd) -> io::Result<impl Iterator<Item = u32>> {
    let entries = Dir::read_from(proc)?.flatten();
    Ok(entries.filter_map(|entry| entry.file_name().to_str().ok()?.parse().ok()))
}

/// How many are in this `/proc`.
pub(super) fn count(proc: &OwnedFd) -> io::Result<usize> {
    numbers(proc).map(Iterator::count)
}

/// Everybody in this `/proc`. Fails when process 1 has gone.
pub(super) fn all(proc: &OwnedFd) -> io::Result<Vec<Process>> {
    let mut found = Vec::new();
    for pid in numbers(proc)? {
        // One that has just ended holds nothing.
        let Ok(status) = read_below(proc, &format!("{pid}/status"), MAX_FILE_BYTES) else { continue };
        found.push(Process::parse(pid, &String::from_utf8_lossy(&status)));
    }
    number_generations(&mut found);
    if found.iter().any(Process::is_ship) { Ok(found) } else { Err(io::ErrorKind::NotFound.into()) }
}

/// Says of each how many of those above it are alive.
fn number_generations(all: &mut [Process]) {
    let parents: HashMap<u32, u32> = all.iter().map(|process| (process.pid, process.parent)).collect();
    let above = |pid: &u32| parents.get(pid).copied();
    for process in all.iter_mut() {
        // One that has got a number of somebody who has just ended could be above itself.
        let most = parents.len();
        process.generation = std::iter::successors(above(&process.pid), above).take(most).count() as u64;
    }
}

/// Who holds most of the file locks, where there are too many of them.
pub(super) fn too_many_locks(list: &File, most: usize) -> io::Result<Option<u32>> {
    let (mut text, mut block) = (Vec::new(), vec![0; LOCKS_BLOCK_BYTES]);
    loop {
        match list.read_at(&mut block, text.len() as u64)? {
            0 => break,
            length => text.extend_from_slice(&block[..length]),
        }
        if text.len() > MAX_LOCKS_BYTES {
            break;
        }
    }
    Ok(most_locks(&String::from_utf8_lossy(&text), most))
}

/// Whose locks are most, if all together are more. `1: POSIX  ADVISORY  WRITE 12 08:01:1234 0 EOF`: the fifth word is a
/// process of the sandbox. Locks of open files say -1: they are refused to guests, so these are the machine's.
fn most_locks(list: &str, most: usize) -> Option<u32> {
    let mut holders: HashMap<u32, usize> = HashMap::new();
    for line in list.lines() {
        if let Some(pid) = line.split_ascii_whitespace().nth(4).and_then(|word| word.parse().ok()) {
            *holders.entry(pid).or_default() += 1;
        }
    }
    if holders.values().sum::<usize>() < most {
        return None;
    }
    holders.remove(&1);
    holders.into_iter().max_by_key(|(_, count)| *count).map(|(pid, _)| pid)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Locks of open files are whoever's: as many as a neighbour likes end nobody here.
    #[test]
    fn only_a_sandboxs_own_locks_count() {
        let line = |pid: &str| format!("7: POSIX  ADVISORY  WRITE {pid} 08:01:1234 0 EOF\n");
        let foreign = line("-1").repeat(1000);
        assert_eq!(most_locks(&foreign, 100), None);
        let own = format!("{foreign}{}{}{}", line("12").repeat(60), line("5").repeat(30), line("1").repeat(70));
        assert_eq!(most_locks(&own, 160), Some(12));
        assert_eq!(most_locks(&own, 161), None);
    }

    #[test]
    fn a_process_weighs_what_it_holds() {
        let status = "Name:\tx\nFDSize:\t64\nVmSize:\t 4096 kB\nRssAnon:\t 1024 kB\nRssFile:\t 9999 kB\nRssShmem:\t 9999 kB\n\
                      VmPTE:\t 8 kB\nVmSwap:\t 16 kB\nThreads:\t3\n";
        let process = Process::parse(7, status);
        assert_eq!(process.private_bytes, (1024 + 16) << 10);
        assert_eq!((process.tables_bytes, process.threads, process.mappings), (8 << 10, 3, 1024));
        let deep = Process { generation: 100, ..process };
        assert_eq!(deep.bytes() - process.bytes(), 1024 * 100 * GENERATION_BYTES);
        let more = Process { open_files: 1024, ..process };
        // A thousand open files could hold a quarter of a million epoll entries.
        assert!(more.bytes() - process.bytes() > 60 << 20, "{}", more.bytes());
    }

    #[test]
    fn generations_are_counted_and_a_circle_ends() {
        let with = |pid, parent| Process { pid, parent, ..Process::default() };
        let mut all = [with(1, 0), with(2, 1), with(3, 2), with(4, 3), with(8, 9), with(9, 8)];
        number_generations(&mut all);
        assert_eq!(all.map(|process| process.generation), [1, 2, 3, 4, 6, 6]);
    }

    #[test]
    fn shared_pages_count_by_their_share() {
        let rollup = b"00400000-7ff r\nRss: 900 kB\nPss: 300 kB\nPss_Anon: 200 kB\nSwapPss: 4 kB\n";
        assert_eq!(shares(rollup), Some(204 << 10));
        assert_eq!(shares(b"Rss: 900 kB\nPss: 300 kB\n"), Some(300 << 10));
        assert_eq!(shares(b""), None);
    }

    /// Within the kernel's soft limit pipes are large, beyond it small; both are counted.
    #[test]
    fn pipes_have_a_most() {
        let with = |open_files| pipes_bytes(&[Process { open_files, ..Process::default() }]);
        assert_eq!(with(20), 10 * PIPE_BYTES);
        assert_eq!(with(200_000), PIPES_BYTES + 100_000 * SMALL_PIPE_BYTES);
    }
}
