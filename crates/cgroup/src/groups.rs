//! The groups of one sandbox: made, joined, removed; and those that killed owners have left, swept away.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::controller::{Controller, set};
use crate::hierarchy::{Here, Hierarchy, Version};
use crate::{Counted, CpuWeight, Wanted};

/// How all names of groups begin. The owner's process id follows, for people, and something that nobody else has: owners
/// in different process namespaces have the same ids.
const PREFIX: &str = "cove-";

/// A group this young may belong to somebody who is only about to lock it.
const SWEEP_AFTER: Duration = Duration::from_secs(10);

/// How far the sweeping goes: deeper, and over more groups, is nobody's usual arrangement.
const SWEEP_DEPTH: usize = 6;
const SWEEP_GROUPS: usize = 4096;

/// How often a group is tried to be removed: its last member may be on its way out.
const REMOVALS: u32 = 50;

/// The groups of one sandbox. They are removed when their owner says so, and not with this value.
#[derive(Debug, Default)]
pub struct Groups {
    made: Vec<PathBuf>,
    /// Which of them are of version 1.
    first: Vec<PathBuf>,
    /// The one that counts memory.
    memory: Option<(PathBuf, Version)>,
    /// The one that deals out processor time, and the one that counts processes.
    cpu: Option<(PathBuf, Version)>,
    pids: Option<PathBuf>,
    /// Locks on their folders, gone with this process however it ends: what nobody has locked is swept away.
    locks: Vec<File>,
}

impl Groups {
    /// Makes the groups that can be made, sets their limits, and says what the kernel has taken.
    pub fn make(whose: &str, wanted: &Wanted) -> (Self, Counted) {
        let (here, name) = (Here::look(), name(whose));
        let (mut groups, mut counted) = (Self::default(), Counted::default());
        for controller in Controller::ALL.into_iter().filter(|controller| controller.is_wanted(wanted)) {
            let outcome = match here.find(controller.name()) {
                None => Err("there is no such controller here".to_owned()),
                Some(place) => groups.make_one(controller, &place, &name, wanted, &mut counted),
            };
            counted.outcomes.push((controller.name(), outcome));
        }
        (groups, counted)
    }

    /// The weight of its members, where the kernel deals out processor time and counts them.
    pub fn turn(&self) -> Option<CpuWeight> {
        let ((cpu, version), pids) = (self.cpu.as_ref()?, self.pids.as_ref()?);
        CpuWeight::open(cpu, pids, *version).ok()
    }

    fn make_one(
        &mut self,
        controller: Controller,
        place: &Hierarchy,
        name: &str,
        wanted: &Wanted,
        counted: &mut Counted,
    ) -> Result<String, String> {
        let mut problem = String::from("no group could be made");
        // In version 2 a process is in one group: what another controller has got is the only place for this one.
        let taken = self.made.iter().find(|dir| place.version == Version::Two && !self.first.contains(dir)).cloned();
        let free = |parent: &&PathBuf| taken.as_ref().is_none_or(|taken| taken.parent() == Some(parent.as_path()));
        for parent in place.parents.iter().filter(free) {
            let dir = parent.join(name);
            // Several controllers may share a hierarchy; then they share the group.
            let shared = self.made.contains(&dir);
            let made = prepare(parent, controller, place.version)
                .and_then(|()| if shared { Ok(()) } else { fs::create_dir(&dir) })
                .and_then(|()| is_for_processes(&dir))
                .and_then(|()| set(&dir, controller, place.version, wanted, counted));
            match made {
                Ok(detail) => {
                    match controller {
                        Controller::Memory => self.memory = Some((dir.clone(), place.version)),
                        Controller::Cpu => self.cpu = Some((dir.clone(), place.version)),
                        Controller::Pids => self.pids = Some(dir.clone()),
                    }
                    if !shared {
                        self.locks.extend(lock(&dir));
                        self.first.extend((place.version == Version::One).then(|| dir.clone()));
                        self.made.push(dir);
                    }
                    return Ok(detail);
                }
                Err(error) => {
                    if !shared {
                        let _ = fs::remove_dir(&dir);
                    }
                    problem = format!("{}: {error}", parent.display());
                }
            }
        }
        Err(problem)
    }

    /// Whether there are any.
    pub fn is_empty(&self) -> bool {
        self.made.is_empty()
    }

    /// Their folders.
    pub fn folders(&self) -> &[PathBuf] {
        &self.made
    }

    /// Three files of the group that counts memory, opened for reading: one with a line `oom_kill N`, how often the kernel
    /// killed a member for want of memory, one with the most that was ever used, and one with what is used now. `None`
    /// where memory is not counted.
    pub fn memory_files(&self) -> Option<Vec<File>> {
        let (dir, version) = self.memory.as_ref()?;
        let (events, most, now) = match version {
            Version::One => ("memory.oom_control", &["memory.max_usage_in_bytes"][..], "memory.usage_in_bytes"),
            // Kernels before 5.19 remember no highest use.
            Version::Two => ("memory.events", &["memory.peak", "memory.current"][..], "memory.current"),
        };
        let most = most.iter().find_map(|name| File::open(dir.join(name)).ok())?;
        Some(vec![File::open(dir.join(events)).ok()?, most, File::open(dir.join(now)).ok()?])
    }

    /// Lets a process with a single thread into all groups; what it starts from then on is in them, too. It is moved into
    /// those of version 2, and has to [walk](Door::walk_through) into those of version 1 by the doors that this returns.
    ///
    /// Whoever moves another process waits until every processor has taken notice, five to twenty milliseconds; a thread
    /// that moves itself waits for nobody. Only version 1 lets it.
    pub fn admit(&self, pid: u32) -> io::Result<Vec<Door>> {
        let second = self.made.iter().filter(|dir| !self.first.contains(dir));
        second.map(|dir| dir.join("cgroup.procs")).try_for_each(|file| fs::write(file, pid.to_string()))?;
        let open = |dir: &PathBuf| File::options().write(true).open(dir.join("tasks")).map(Door);
        self.first.iter().map(open).collect()
    }

    /// Moves those processes that are not in all groups yet. One that ends meanwhile is no failure.
    pub fn attach_missing(&self, pids: &[u32]) -> io::Result<()> {
        for dir in &self.made {
            let file = dir.join("cgroup.procs");
            let members: HashSet<u32> =
                fs::read_to_string(&file)?.lines().filter_map(|line| line.parse().ok()).collect();
            for pid in pids.iter().filter(|pid| !members.contains(pid)) {
                match fs::write(&file, pid.to_string()) {
                    Err(error) if Path::new(&format!("/proc/{pid}")).exists() => return Err(error),
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// Removes the groups; they are empty as soon as their last process has been waited for.
    pub fn remove(&self) {
        remove(&self.made);
    }
}

/// A way into one group, for whoever holds it.
#[derive(Debug)]
pub struct Door(File);

impl Door {
    /// Moves this process, which must have a single thread, into the group.
    pub fn walk_through(mut self) -> io::Result<()> {
        /// This very thread, in whatever namespace.
        const ITSELF: &[u8] = b"0";
        self.0.write_all(ITSELF)
    }
}

impl AsFd for Door {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl From<OwnedFd> for Door {
    fn from(descriptor: OwnedFd) -> Self {
        Self(descriptor.into())
    }
}

/// Whether a group that counts memory can be made here: one is made, and removed again.
pub fn counts_memory() -> bool {
    let (groups, counted) = Groups::make("probe", &Wanted { memory_bytes: Some(64 << 20), ..Wanted::default() });
    groups.remove();
    counted.memory_bytes.is_some()
}

/// Removes groups, as far as they are empty; those whose last member is just ending are waited for.
#[expect(
    clippy::disallowed_methods,
    reason = "the kernel does not say when a group becomes free, and 50 ms are the most"
)]
pub fn remove(dirs: &[PathBuf]) {
    for dir in dirs {
        for _ in 0..REMOVALS {
            match fs::remove_dir(dir) {
                Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {
                    let procs = fs::read_to_string(dir.join("cgroup.procs")).unwrap_or_default();
                    if !procs.is_empty() {
                        break;
                    }
                    std::thread::sleep(Duration::from_millis(1));
                }
                _ => break,
            }
        }
    }
}

/// Removes what owners that were killed have left behind, anywhere in the hierarchies, in a thread of its own.
pub fn sweep() {
    // Nothing depends on it: who cannot have a thread sweeps another time.
    let _ = std::thread::Builder::new().name("cove-sweep".to_owned()).spawn(sweep_now);
}

fn sweep_now() {
    let here = Here::look();
    let mut roots: Vec<_> =
        Controller::ALL.iter().filter_map(|one| here.find(one.name())?.parents.last().cloned()).collect();
    roots.dedup();
    for root in roots {
        let mut todo = vec![(root, 0)];
        let mut seen = 0;
        while let Some((dir, depth)) = todo.pop() {
            let folders = fs::read_dir(&dir).into_iter().flatten().flatten();
            for entry in folders.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())) {
                seen += 1;
                if entry.file_name().to_str().is_some_and(|name| name.starts_with(PREFIX)) {
                    sweep_one(&entry.path());
                } else if depth < SWEEP_DEPTH && seen < SWEEP_GROUPS {
                    todo.push((entry.path(), depth + 1));
                }
            }
        }
    }
}

fn sweep_one(dir: &Path) {
    let made = fs::metadata(dir).and_then(|found| found.modified()).ok();
    let old = made.and_then(|made| made.elapsed().ok()).is_some_and(|age| age > SWEEP_AFTER);
    if old && lock(dir).is_some() {
        // Fails where somebody is in it.
        let _ = fs::remove_dir(dir);
    }
}

/// Locks a group's folder; `None` where somebody has.
fn lock(dir: &Path) -> Option<File> {
    let file = File::open(dir).ok()?;
    file.try_lock().ok()?;
    Some(file)
}

fn name(whose: &str) -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    format!("{PREFIX}{whose}-{}-{now:x}{count:x}", std::process::id())
}

/// Makes sure that groups below `parent` have the controller. Only version 2 asks for it.
fn prepare(parent: &Path, controller: Controller, version: Version) -> io::Result<()> {
    if version == Version::One {
        return Ok(());
    }
    let control = parent.join("cgroup.subtree_control");
    if fs::read_to_string(&control)?.split_whitespace().any(|word| word == controller.name()) {
        return Ok(());
    }
    // The kernel would hand down `cpu` and `pids` all the same, and then take no process into what is made below. Only the
    // root, which has no type, may have both.
    let divided = parent.join(TYPE).exists() && !fs::read_to_string(parent.join("cgroup.procs"))?.is_empty();
    if divided {
        return Err(io::Error::new(
            io::ErrorKind::ResourceBusy,
            "processes are in this group, so it cannot be divided",
        ));
    }
    fs::write(control, format!("+{}", controller.name()))
}

/// What a group of version 2 can hold.
const TYPE: &str = "cgroup.type";

/// Whether a new group can have processes, and not only threads of some.
fn is_for_processes(dir: &Path) -> io::Result<()> {
    match fs::read_to_string(dir.join(TYPE)) {
        Ok(kind) if kind.trim() != "domain" => Err(io::Error::other(format!(
            "control groups created here have the type `{}`, which cannot limit memory",
            kind.trim()
        ))),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_used_once_and_folders_have_one_owner() {
        let (one, two) = (name("cell"), name("cell"));
        assert!(one != two && one.starts_with("cove-cell-"), "{one} {two}");
        let dir = tempfile::tempdir().unwrap();
        let held = lock(dir.path());
        assert!(held.is_some() && lock(dir.path()).is_none());
        drop(held);
        assert!(lock(dir.path()).is_some());
    }

    fn own_name(dir: &Path) -> &str {
        dir.file_name().and_then(|name| name.to_str()).unwrap()
    }

    /// What `/proc` says of who has joined: a program that is moved, and a thread that walks.
    #[allow(clippy::disallowed_methods, reason = "a test's child, killed and waited for below")]
    fn joined(groups: &Groups) -> Vec<String> {
        let mut moved = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let doors = groups.admit(moved.id()).unwrap();
        let walked = std::thread::spawn(move || {
            doors.into_iter().for_each(|door| door.walk_through().unwrap());
            fs::read_to_string("/proc/thread-self/cgroup").unwrap()
        });
        let all = walked.join().unwrap() + &fs::read_to_string(format!("/proc/{}/cgroup", moved.id())).unwrap();
        moved.kill().and_then(|()| moved.wait()).unwrap();
        all.lines().map(str::to_owned).collect()
    }

    /// With the kernel, as far as it lets us: a limit that is claimed is a limit that is there.
    #[test]
    fn what_is_counted_is_there_and_goes_again() {
        let wanted = Wanted { memory_bytes: Some(64 << 20), cpus: Some(0.5), processes: Some(10) };
        crate::settle();
        let (groups, counted) = Groups::make("test", &wanted);
        println!("{:?}", counted.outcomes);
        assert_eq!(counted.outcomes.len(), 3);
        let had = [counted.memory_bytes.is_some(), counted.cpus.is_some(), counted.processes.is_some()];
        for ((name, outcome), had) in counted.outcomes.iter().zip(had) {
            assert_eq!(outcome.is_ok(), had, "{name}: {outcome:?}");
        }
        assert_eq!(groups.is_empty(), !had.contains(&true));
        if let Some(limit) = &counted.cpus {
            assert!((limit.value - 0.5).abs() < 0.01, "{limit:?}");
        }
        assert!(groups.folders().iter().all(|dir| dir.is_dir() && lock(dir).is_none()));
        let members = joined(&groups);
        assert!(
            groups.folders().iter().all(|dir| members.iter().any(|line| line.ends_with(own_name(dir)))),
            "{members:?}"
        );
        groups.remove();
        assert!(!groups.folders().iter().any(|dir| dir.exists()));
    }
}
