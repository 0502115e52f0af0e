//! Control groups: memory, processors and processes, counted by the kernel.
//!
//! Version 2 where its controllers can be had, version 1 where not, controller by controller: machines with both are
//! common. A controller that cannot be had is left out and reported as missing; the cell then relies on resource limits
//! and the watchdog. Groups are made below our own, so that whatever limits us limits the sandboxes as well.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::CellLimits;
use super::report::Limit;
use super::spec::Go;

/// The part of a group's name that says whose it is: the supervisor's process id follows.
const PREFIX: &str = "cove-cell-";

/// Ship's own threads and keepers come on top of what guests may have.
pub(super) const RESERVED_PROCESSES: u64 = 64;

/// The period by which processor time is dealt out.
const PERIOD_US: u64 = 100_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Version {
    One,
    Two,
}

const CONTROLLERS: [&str; 3] = ["memory", "cpu", "pids"];

/// Where groups of one controller can be made.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Place {
    version: Version,
    /// Our own group, then the root of the hierarchy.
    parents: Vec<PathBuf>,
}

/// The groups of one cell.
#[derive(Debug, Default)]
pub(super) struct Groups {
    made: Vec<PathBuf>,
}

impl Groups {
    /// Makes the groups that can be made, sets their limits, and says what the kernel has taken.
    pub(super) fn make(limits: &CellLimits, go: &mut Go) -> Self {
        let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        let name = format!("{PREFIX}{}", std::process::id());
        let mut groups = Self::default();
        for controller in CONTROLLERS {
            let outcome = match find(controller, &own, &mounts) {
                None => Err("there is no such controller here".to_owned()),
                Some(place) => groups.make_one(controller, &place, &name, limits, go),
            };
            go.survey.note(&format!("cgroup-{controller}"), outcome);
        }
        go.cgroups = groups.made.iter().map(|dir| dir.display().to_string()).collect();
        groups
    }

    fn make_one(
        &mut self,
        controller: &str,
        place: &Place,
        name: &str,
        limits: &CellLimits,
        go: &mut Go,
    ) -> Result<String, String> {
        let mut problem = String::from("no group could be made");
        for parent in &place.parents {
            let dir = parent.join(name);
            let made = prepare(parent, controller, place.version)
                .and_then(|()| match fs::create_dir(&dir) {
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
                    other => other,
                })
                .and_then(|()| {
                    if !self.made.contains(&dir) {
                        self.made.push(dir.clone());
                    }
                    set(&dir, controller, place.version, limits, go)
                });
            match made {
                Ok(detail) => return Ok(detail),
                Err(error) => problem = format!("{}: {error}", parent.display()),
            }
        }
        Err(problem)
    }

    /// Moves a process into all groups.
    pub(super) fn attach(&self, pid: u32) -> io::Result<()> {
        self.made.iter().try_for_each(|dir| fs::write(dir.join("cgroup.procs"), pid.to_string()))
    }

    /// Removes the groups; they are empty as soon as their last process has been waited for.
    pub(super) fn remove(&self) {
        remove(&self.made);
    }
}

/// Removes groups, as far as they are empty.
pub(super) fn remove(dirs: &[PathBuf]) {
    for dir in dirs {
        let _ = fs::remove_dir(dir);
    }
}

/// Removes what supervisors that were killed have left behind.
pub(super) fn sweep() {
    let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    for parent in CONTROLLERS.iter().filter_map(|name| find(name, &own, &mounts)).flat_map(|place| place.parents) {
        for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let pid = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.parse::<u32>().ok());
            if pid.is_some_and(|pid| !Path::new(&format!("/proc/{pid}")).exists()) {
                let _ = fs::remove_dir(entry.path());
            }
        }
    }
}

/// Makes sure that groups below `parent` have the controller. Only version 2 asks for it.
fn prepare(parent: &Path, controller: &str, version: Version) -> io::Result<()> {
    if version == Version::One {
        return Ok(());
    }
    let control = parent.join("cgroup.subtree_control");
    if fs::read_to_string(&control)?.split_whitespace().any(|word| word == controller) {
        return Ok(());
    }
    fs::write(control, format!("+{controller}"))
}

fn set(dir: &Path, controller: &str, version: Version, limits: &CellLimits, go: &mut Go) -> io::Result<String> {
    let write = |file: &str, value: String| fs::write(dir.join(file), value);
    let read = |file: &str| fs::read_to_string(dir.join(file));
    let by = match version {
        Version::One => "cgroup v1",
        Version::Two => "cgroup v2",
    };
    let number = |text: String| text.trim().parse::<u64>().map_err(io::Error::other);
    Ok(match (controller, version) {
        ("memory", _) => {
            let (limit, swap, swap_limit) = match version {
                Version::One => ("memory.limit_in_bytes", "memory.memsw.limit_in_bytes", limits.memory_bytes),
                Version::Two => ("memory.max", "memory.swap.max", 0),
            };
            write(limit, limits.memory_bytes.to_string())?;
            // Not on every kernel; without swap there is nothing to limit.
            let _ = write(swap, swap_limit.to_string());
            let value = number(read(limit)?)?;
            go.memory_bytes = Some(Limit::new(value, by));
            format!("{by}: {value} bytes")
        }
        ("cpu", _) => {
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked by the owner")]
            let quota = (limits.cpus * PERIOD_US as f64) as u64;
            let (quota, period) = match version {
                Version::One => {
                    write("cpu.cfs_period_us", PERIOD_US.to_string())?;
                    write("cpu.cfs_quota_us", quota.to_string())?;
                    (number(read("cpu.cfs_quota_us")?)?, number(read("cpu.cfs_period_us")?)?)
                }
                Version::Two => {
                    write("cpu.max", format!("{quota} {PERIOD_US}"))?;
                    let max = read("cpu.max")?;
                    let (quota, period) = max.trim().split_once(' ').ok_or_else(|| io::Error::other(max.clone()))?;
                    (number(quota.to_owned())?, number(period.to_owned())?)
                }
            };
            #[allow(clippy::cast_precision_loss, reason = "microseconds of a tenth of a second")]
            let value = quota as f64 / period as f64;
            go.cpus = Some(Limit::new(value, by));
            format!("{by}: {value} processors")
        }
        _ => {
            write("pids.max", (limits.processes + RESERVED_PROCESSES).to_string())?;
            let value = number(read("pids.max")?)?.saturating_sub(RESERVED_PROCESSES);
            go.processes = Some(Limit::new(value, by));
            format!("{by}: {value} processes, and {RESERVED_PROCESSES} for Ship")
        }
    })
}

/// Where the controller is mounted and where in its hierarchy we are.
fn find(controller: &str, own: &str, mounts: &str) -> Option<Place> {
    // A controller that a version-1 hierarchy uses cannot be had in version 2, so version 1 is asked first.
    let versions = [(Version::One, "cgroup"), (Version::Two, "cgroup2")];
    versions.into_iter().find_map(|(version, kind)| {
        let (root, point) = mounts.lines().find_map(|line| mount_of(line, kind, controller))?;
        if version == Version::Two {
            let offered = fs::read_to_string(Path::new(point).join("cgroup.controllers")).unwrap_or_default();
            if !offered.split_whitespace().any(|word| word == controller) {
                return None;
            }
        }
        let path = own.lines().find_map(|line| {
            let mut fields = line.splitn(3, ':').skip(1);
            let (names, path) = (fields.next()?, fields.next()?);
            let here = match version {
                Version::One => names.split(',').any(|name| name == controller),
                Version::Two => names.is_empty(),
            };
            here.then_some(path)
        })?;
        let below = path.strip_prefix(root.trim_end_matches('/')).unwrap_or("").trim_start_matches('/');
        let mut parents = vec![Path::new(point).join(below)];
        if !below.is_empty() {
            parents.push(PathBuf::from(point));
        }
        Some(Place { version, parents })
    })
}

/// Root and mount point of a line of `mountinfo`, if it is the hierarchy that is looked for.
fn mount_of<'a>(line: &'a str, kind: &str, controller: &str) -> Option<(&'a str, &'a str)> {
    let (front, back) = line.split_once(" - ")?;
    let mut back = back.split(' ');
    let (this, options) = (back.next()?, back.nth(1)?);
    if this != kind || kind == "cgroup" && !options.split(',').any(|option| option == controller) {
        return None;
    }
    let mut front = front.split(' ').skip(3);
    Some((front.next()?, front.next()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HYBRID: &str = "\
30 20 0:26 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu
31 20 0:27 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
32 20 0:28 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw";

    #[test]
    fn groups_are_made_below_our_own() {
        let own = "8:pids:/\n4:memory:/a/b\n1:cpu:/\n0::/";
        let place = find("memory", own, HYBRID).unwrap();
        assert_eq!(place.version, Version::One);
        let paths: Vec<_> = place.parents.iter().map(|path| path.to_str().unwrap()).collect();
        assert_eq!(paths, ["/sys/fs/cgroup/memory/a/b", "/sys/fs/cgroup/memory"]);
        assert_eq!(find("cpu", own, HYBRID).unwrap().parents.len(), 1);
        // Neither mounted in version 1 nor offered by version 2.
        assert_eq!(find("pids", own, HYBRID), None);
        assert_eq!(find("memory", own, ""), None);
    }

    /// The files of version 2, as far as a plain folder can stand in for them.
    #[test]
    fn version_2_is_spoken() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::write(at("cgroup.controllers"), "cpu memory pids\n").unwrap();
        fs::write(at("cgroup.subtree_control"), "cpu memory pids\n").unwrap();
        let mounts = format!("32 20 0:28 / {} rw - cgroup2 cgroup2 rw", dir.path().display());
        let limits = CellLimits { memory_bytes: 1 << 26, cpus: 0.5, processes: 10, ..CellLimits::default() };
        let mut go = Go::default();
        for controller in CONTROLLERS {
            let place = find(controller, "0::/", &mounts).unwrap();
            assert_eq!(place.version, Version::Two);
            set(dir.path(), controller, place.version, &limits, &mut go).unwrap();
        }
        assert_eq!(go.memory_bytes.unwrap(), Limit::new(1 << 26, "cgroup v2"));
        assert_eq!(go.cpus.unwrap().value, 0.5);
        assert_eq!(go.processes.unwrap().value, 10);
        assert_eq!(fs::read_to_string(at("cpu.max")).unwrap(), "50000 100000");
        assert_eq!(fs::read_to_string(at("pids.max")).unwrap(), "74");
        assert_eq!(fs::read_to_string(at("memory.swap.max")).unwrap(), "0");
    }
}
