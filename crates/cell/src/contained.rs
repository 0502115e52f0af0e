//! The walls of a sandbox whose outer walls somebody else has put up: a container engine.
//!
//! The engine gives the process a root, a network without a way out, and control groups, and takes its capabilities. This adds
//! what an engine has no word for: Ship cannot be looked into by guests, files are written in the workspace and the
//! temporary folders only, system calls are those of the same table as in a cell. And it finds out what the engine counts.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use cove_cgroup::{Limit, LimitedBy};
use cove_walls::identity::{drop_capabilities, set_dumpable, set_no_new_privileges};
use cove_walls::limits::{Resource, lower};
use cove_walls::namespaces::{UnshareFlags, raise_loopback, unshare};
use cove_walls::{SharedPage, Status, namespaces, take_short_turns};
use rustix::process::{getegid, geteuid};

use super::blocked::wall;
use super::enter::EnterError;
use super::guests::open_proc;
use super::ledger::MemoryLedger;
use super::oom::OomScore;
use super::report::EffectiveLimits;
use super::rlimits::RESERVED_PROCESSES;
use super::seccomp::{Conditions, Filters};
use super::{identity, landlock_rules};

/// Where an engine mounts the container's own groups.
const GROUPS: &str = "/sys/fs/cgroup";

/// A number above this is the kernel's way to say "no limit" in version 1.
const UNLIMITED_BYTES: u64 = 1 << 60;

/// The inside of a container, with all walls up.
#[derive(Debug)]
pub struct Contained {
    /// What the engine enforces.
    pub limits: EffectiveLimits,
    /// Who knows when memory ran out; none where nothing limits it.
    pub memory: Option<MemoryLedger>,
    /// Makes guests the first to be killed when memory runs out.
    pub score: Option<OomScore>,
}

/// What is put up in a Pod besides: all containers of a Pod have one network, and nobody counts their processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PodWalls {
    /// Processes and threads of guests.
    pub processes: u64,
}

/// Puts up what the engine has not. Must be called in process 1 of a container, before any thread is started, and after
/// everything outside the workspace was opened that is to be written.
pub fn contain(pod: Option<PodWalls>) -> Result<Contained, EnterError> {
    put_up(pod).map_err(|error| EnterError::new(&error))
}

fn put_up(pod: Option<PodWalls>) -> io::Result<Contained> {
    if rustix::process::getpid().as_raw_nonzero().get() != 1 {
        return Err(io::Error::other("--contained is for process 1 of a container"));
    }
    take_short_turns();
    if let Some(pod) = pod {
        leave_network()?;
        // The user namespace is new: its processes alone count.
        lower(Resource::Nproc, pod.processes + RESERVED_PROCESSES)?;
    }
    let files = MemoryFiles::find(Path::new(GROUPS));
    let memory = match &files {
        Some(files) => Some(MemoryLedger::new(files.limit_bytes, Some(files.open()?), SharedPage::new()?, None)),
        None => None,
    };
    let limits = EffectiveLimits {
        memory_bytes: files.as_ref().map(|files| Limit::new(files.limit_bytes, files.by)),
        cpus: cpus(Path::new(GROUPS)),
        processes: pod.map(|pod| Limit::new(pod.processes, LimitedBy::Rlimit)).or_else(|| processes(Path::new(GROUPS))),
        ..EffectiveLimits::default()
    };
    let score = OomScore::open(open_proc()?).ok();
    set_no_new_privileges()?;
    set_dumpable(false)?;
    match landlock_rules::put_on() {
        // In a Pod it is what keeps guests off the folder that Bay's line ends in.
        Err(error) if pod.is_some() => {
            return Err(io::Error::other(format!(
                "landlock: {error}: the node needs Linux 5.13 or newer with Landlock"
            )));
        }
        // An older kernel has no Landlock: the engine's read-only root stands alone then.
        _ => {}
    }
    let filters = Filters::compile(Conditions::usual(files.is_some())).map_err(io::Error::other)?;
    filters.put_on().map_err(io::Error::other)?;
    confirm(&Status::own()?)?;
    Ok(Contained { limits, memory, score })
}

/// Leaves the network that this process shares with the rest of its Pod, for one with nothing but a loopback of its own: whatever
/// policies the cluster's network enforces, nothing that is started from here on has a route out. Before any thread is started.
///
/// What is left behind goes on: a listener that was opened before still takes connections.
pub fn leave_network() -> io::Result<()> {
    let proc = namespaces::open_proc()?;
    identity::enter_user_namespace(&proc, geteuid().as_raw(), getegid().as_raw()).map_err(|error| in_a_pod(&error))?;
    wall("network-namespace", unshare(UnshareFlags::NEWNET)).map_err(|error| in_a_pod(&error))?;
    raise_loopback()?;
    // Those that came with the namespaces.
    drop_capabilities()
}

/// What to do in a cluster where the kernel, or a filter before it, says no.
fn in_a_pod(error: &io::Error) -> io::Error {
    let told = "sandboxes in Pods need namespaces of their own, so that they have no network but through Bay: name a seccomp \
                profile of the nodes that allows them (`driver.k8s.seccomp_profile`; `cove setup container-profile` prints \
                one), and see that `user.max_user_namespaces` of the nodes is not 0";
    io::Error::new(error.kind(), format!("{error}; {told}"))
}

/// Refuses to serve guests in a container that was started with more rights than a sandbox may have.
fn confirm(status: &Status) -> io::Result<()> {
    // Not by the file: gVisor's does not say it.
    if !rustix::thread::no_new_privs()? {
        return Err(io::Error::other(
            "new programs may gain rights here: start the container with `--security-opt no-new-privileges`",
        ));
    }
    let wanted = [
        ("Seccomp", "2"),
        ("CapEff", "0000000000000000"),
        ("CapPrm", "0000000000000000"),
        ("CapBnd", "0000000000000000"),
    ];
    for (name, wanted) in wanted {
        match status.field(name) {
            Some(seen) if seen == wanted => {}
            seen => {
                let seen = seen.unwrap_or("nothing");
                let fix = "start the container with `--cap-drop ALL --security-opt no-new-privileges`";
                return Err(io::Error::other(format!("/proc/self/status says {name} {seen}, not {wanted}: {fix}")));
            }
        }
    }
    if rustix::process::geteuid().is_root() {
        return Err(io::Error::other("the container runs as root: start it with `--user 1000:1000`"));
    }
    Ok(())
}

/// The files of the group that counts memory.
#[derive(Debug, PartialEq, Eq)]
struct MemoryFiles {
    limit_bytes: u64,
    by: LimitedBy,
    /// Events, highest use, present use.
    paths: [PathBuf; 3],
}

impl MemoryFiles {
    fn find(root: &Path) -> Option<Self> {
        let one = root.join("memory");
        let versions = [
            (root, "memory.max", LimitedBy::CgroupV2, ["memory.events", "memory.peak", "memory.current"]),
            (
                &one,
                "memory.limit_in_bytes",
                LimitedBy::CgroupV1,
                ["memory.oom_control", "memory.max_usage_in_bytes", "memory.usage_in_bytes"],
            ),
        ];
        versions.into_iter().find_map(|(folder, limit, by, names)| {
            let limit_bytes = number(&folder.join(limit)).filter(|bytes| *bytes < UNLIMITED_BYTES)?;
            Some(Self { limit_bytes, by, paths: names.map(|name| folder.join(name)) })
        })
    }

    fn open(&self) -> io::Result<[File; 3]> {
        let [events, peak, now] = &self.paths;
        let now_file = File::open(now)?;
        // Kernels before 5.19 do not keep the highest use.
        let peak = File::open(peak).or_else(|_| now_file.try_clone())?;
        Ok([File::open(events)?, peak, now_file])
    }
}

fn number(path: &Path) -> Option<u64> {
    fs::read_to_string(path).ok()?.trim().parse().ok()
}

/// A share of processor time, in both versions.
fn cpus(root: &Path) -> Option<Limit<f64>> {
    let share = |quota: &str, period: &str| Some(quota.parse::<f64>().ok()? / period.parse::<f64>().ok()?);
    if let Ok(text) = fs::read_to_string(root.join("cpu.max")) {
        let (quota, period) = text.trim().split_once(' ')?;
        return share(quota, period).map(|value| Limit::new(value, LimitedBy::CgroupV2));
    }
    let read = |name: &str| fs::read_to_string(root.join("cpu").join(name)).ok();
    let value = share(read("cpu.cfs_quota_us")?.trim(), read("cpu.cfs_period_us")?.trim())?;
    (value > 0.0).then(|| Limit::new(value, LimitedBy::CgroupV1))
}

fn processes(root: &Path) -> Option<Limit<u64>> {
    let two = number(&root.join("pids.max")).map(|value| Limit::new(value, LimitedBy::CgroupV2));
    two.or_else(|| number(&root.join("pids/pids.max")).map(|value| Limit::new(value, LimitedBy::CgroupV1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read_in_both_versions() {
        let root = tempfile::tempdir().unwrap();
        let put = |name: &str, text: &str| {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        assert_eq!(MemoryFiles::find(root.path()), None);
        put("memory/memory.limit_in_bytes", "9223372036854771712\n");
        assert_eq!(MemoryFiles::find(root.path()), None, "no limit");
        put("memory/memory.limit_in_bytes", "67108864\n");
        put("cpu/cpu.cfs_quota_us", "50000\n");
        put("cpu/cpu.cfs_period_us", "100000\n");
        put("pids/pids.max", "64\n");
        let read = || {
            let memory = MemoryFiles::find(root.path()).unwrap();
            (memory.limit_bytes, memory.by, cpus(root.path()).unwrap().value, processes(root.path()).unwrap().value)
        };
        assert_eq!(read(), (64 << 20, LimitedBy::CgroupV1, 0.5, 64));
        put("memory.max", "33554432\n");
        put("cpu.max", "200000 100000\n");
        put("pids.max", "32\n");
        assert_eq!(read(), (32 << 20, LimitedBy::CgroupV2, 2.0, 32));
        put("cpu.max", "max 100000\n");
        put("pids.max", "max\n");
        assert!(cpus(root.path()).is_none() && processes(root.path()).unwrap().value == 64);
    }
}
