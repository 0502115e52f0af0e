//! The groups of one sandbox: made, joined, removed; and those that killed owners have left, swept away.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::controller::{Controller, set};
use crate::place::{Here, Place, Version};
use crate::{Counted, Wanted};

/// How all names of groups begin. The owner's process id follows, for the sweeping, and something that nobody else has:
/// owners in different process namespaces have the same ids.
const PREFIX: &str = "cove-";

/// A group this young may belong to somebody who is only about to join it.
const SWEEP_AFTER: Duration = Duration::from_secs(60);

/// How often a group is tried to be removed: its last member may be on its way out.
const REMOVALS: u32 = 50;

/// The groups of one sandbox. They are removed when their owner says so, and not with this value.
#[derive(Debug, Default)]
pub struct Groups {
    made: Vec<PathBuf>,
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

    fn make_one(
        &mut self,
        controller: Controller,
        place: &Place,
        name: &str,
        wanted: &Wanted,
        counted: &mut Counted,
    ) -> Result<String, String> {
        let mut problem = String::from("no group could be made");
        for parent in &place.parents {
            let dir = parent.join(name);
            // Several controllers may share a hierarchy; then they share the group.
            let shared = self.made.contains(&dir);
            let made = prepare(parent, controller, place.version)
                .and_then(|()| if shared { Ok(()) } else { fs::create_dir(&dir) })
                .and_then(|()| set(&dir, controller, place.version, wanted, counted));
            match made {
                Ok(detail) => {
                    if !shared {
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

    /// Moves a process into all groups; what it starts from then on is in them, too. May take some milliseconds.
    pub fn attach(&self, pid: u32) -> io::Result<()> {
        self.made.iter().try_for_each(|dir| fs::write(dir.join("cgroup.procs"), pid.to_string()))
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

/// Removes groups, as far as they are empty; those whose last member is just ending are waited for.
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

/// Removes what owners that were killed have left behind.
pub fn sweep() {
    let here = Here::look();
    for parent in Controller::ALL.iter().filter_map(|one| here.find(one.name())).flat_map(|place| place.parents) {
        for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let owner = name.to_str().and_then(owner_of);
            let made = entry.metadata().and_then(|found| found.modified()).ok();
            let old = made.and_then(|made| made.elapsed().ok()).is_some_and(|age| age > SWEEP_AFTER);
            if old && owner.is_some_and(|pid| !Path::new(&format!("/proc/{pid}")).exists()) {
                // Fails where somebody is in it.
                let _ = fs::remove_dir(entry.path());
            }
        }
    }
}

fn name(whose: &str) -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    format!("{PREFIX}{whose}-{}-{now:x}{count:x}", std::process::id())
}

fn owner_of(name: &str) -> Option<u32> {
    name.strip_prefix(PREFIX)?.split('-').nth(1)?.parse().ok()
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
    fs::write(control, format!("+{}", controller.name()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_whose_they_are_and_are_used_once() {
        let (one, two) = (name("cell"), name("cell"));
        assert_ne!(one, two);
        assert_eq!(owner_of(&one), Some(std::process::id()));
        for other in ["user.slice", "cove-", "cove-cell", "cove-cell-x", "docker"] {
            assert_eq!(owner_of(other), None, "{other}");
        }
    }

    /// With the kernel, as far as it lets us: a limit that is claimed is a limit that is there.
    #[test]
    fn what_is_counted_is_there_and_goes_again() {
        let wanted = Wanted { memory_bytes: Some(64 << 20), cpus: Some(0.5), processes: Some(10) };
        let (groups, counted) = Groups::make("test", &wanted);
        assert_eq!(counted.outcomes.len(), 3);
        let had = [counted.memory_bytes.is_some(), counted.cpus.is_some(), counted.processes.is_some()];
        for ((name, outcome), had) in counted.outcomes.iter().zip(had) {
            assert_eq!(outcome.is_ok(), had, "{name}: {outcome:?}");
        }
        assert_eq!(groups.is_empty(), !had.contains(&true));
        if let Some(limit) = &counted.cpus {
            assert!((limit.value - 0.5).abs() < 0.01, "{limit:?}");
        }
        assert!(groups.folders().iter().all(|dir| dir.is_dir()));
        groups.remove();
        assert!(!groups.folders().iter().any(|dir| dir.exists()));
    }
}
