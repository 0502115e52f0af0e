//! `/proc` of a sandbox: its own processes, and nothing about the machine that changes with what others do.
//!
//! What few programs need is empty. What many read (`free`, `top`, `uptime`, psutil) has the same form as the kernel's and
//! says what a machine with this sandbox's limits would say at rest. Whatever a kernel has that is in no list is
//! empty, too: a list of what to close would be short of a name with the next kernel.

use std::fmt::Write;
use std::fs;
use std::io;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::Path;

use cove_walls::mounts::MountBars;
use rustix::mount::{MountFlags, mount, mount_bind};

use super::blocked::wall;
use super::root::{OLD, READ_ONLY, bar, during};
use super::spec::Spec;

/// Where the files lie until each is in its place.
const ASIDE: &str = "/.build/proc";
const DOOR: &str = "/.build/door";

/// How much later it is said to be than it is: a file that is written once a second must not be older than a process that
/// has just begun, or `ps` says that it began in the next century.
const AHEAD_S: i64 = 2;

/// Left as the kernel makes them: they are about this sandbox's own namespaces, or never change.
const KEPT: &[&str] = &["filesystems", "mounts", "net", "self", "sys", "sysvipc", "thread-self", "tty", "version"];

/// Host-wide counters among the settings: each open file, each terminal of the machine changes them.
const COUNTERS: &[&str] = &[
    "fs/aio-nr",
    "fs/dentry-state",
    "fs/file-nr",
    "fs/inode-nr",
    "fs/inode-state",
    "kernel/pty/nr",
    "kernel/random/entropy_avail",
];

/// What was opened before it was closed to guests.
#[derive(Debug)]
pub(super) struct Opened {
    /// The file behind `/proc/uptime`, to be kept up to date: `ps` reckons with it, but the kernel's own also says how busy
    /// the machine's processors have been.
    pub(super) uptime: fs::File,
    /// The list of file locks, for the supervisor: those of this PID namespace's processes, but those of open files, which
    /// belong to no process, are the whole machine's. `None`: the kernel has no such list.
    pub(super) locks: Option<fs::File>,
}

/// Mounts `/proc` and closes what concerns the machine.
pub(super) fn mount_own(spec: &Spec) -> io::Result<Opened> {
    fs::create_dir("/proc")?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    wall("/proc", mount("proc", "/proc", "proc", flags, c""))?;
    let locks = fs::File::open("/proc/locks").ok();
    fs::create_dir(ASIDE)?;
    during(ASIDE, mount("proc", ASIDE, "tmpfs", flags, c"size=4m,nr_inodes=64,mode=755"))?;
    fs::write(format!("{ASIDE}/nothing"), "")?;
    fs::create_dir(format!("{ASIDE}/empty"))?;
    let own = written(spec);
    for (name, text) in &own {
        fs::write(format!("{ASIDE}/{name}"), text)?;
    }
    // A second door, or an opened file would keep the first from being closed.
    fs::create_dir(DOOR)?;
    during(DOOR, mount_bind(ASIDE, DOOR))?;
    let mut uptime = fs::File::options().write(true).create_new(true).open(format!("{DOOR}/uptime"))?;
    tell_uptime(&mut uptime)?;
    // Before anything is taken from it: what is bound from a closed mount is closed.
    bar(ASIDE, READ_ONLY.and(MountBars::NO_PROGRAMS), false)?;
    during("/proc/sys", mount_bind("/proc/sys", "/proc/sys"))?;
    bar("/proc/sys", READ_ONLY.and(MountBars::NO_PROGRAMS), false)?;
    let cover = |path: &str, by: &str| during(path, mount_bind(format!("{ASIDE}/{by}").as_str(), path));
    for entry in fs::read_dir("/proc")?.flatten() {
        let Ok(name) = entry.file_name().into_string() else { continue };
        if name.starts_with(|first: char| first.is_ascii_digit()) || KEPT.contains(&name.as_str()) {
            continue;
        }
        let Ok(kind) = entry.file_type() else { continue };
        let path = format!("/proc/{name}");
        if kind.is_dir() {
            cover(&path, "empty")?;
        } else if name == "uptime" || own.iter().any(|(own, _)| *own == name) {
            cover(&path, &name)?;
        } else if name == "kmsg" || entry.metadata().is_ok_and(|found| found.permissions().mode() & 0o077 != 0) {
            // The rest is root's alone, whom no guest can be.
            cover(&path, "nothing")?;
        }
    }
    for name in COUNTERS {
        let path = format!("/proc/sys/{name}");
        if Path::new(&path).exists() {
            cover(&path, "nothing")?;
        }
    }
    // Guests must not write what is said of them there, such as who is killed first when memory runs out.
    bar("/proc", READ_ONLY.and(MountBars::NO_PROGRAMS), false)?;
    Ok(Opened { uptime, locks })
}

/// Writes how long the machine has been up, and nothing of how long it was idle.
pub fn tell_uptime(file: &mut fs::File) -> io::Result<()> {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    // Of one length, so that no reader sees half of an older one.
    let text = format!("{:010}.{:02} 0.00\n", now.tv_sec + AHEAD_S, now.tv_nsec / 10_000_000);
    file.write_all_at(text.as_bytes(), 0)
}

/// What is written instead of the kernel's own.
fn written(spec: &Spec) -> Vec<(&'static str, String)> {
    let machine = |name: &str| fs::read_to_string(format!("{OLD}/proc/{name}")).unwrap_or_default();
    let processors = cpuinfo(&machine("cpuinfo"));
    // As many as are listed; what this process may use changes with the groups that it is being put into.
    let cpus = processors.lines().filter(|line| line.starts_with("processor")).count().max(1);
    let kib = spec.limits.memory_bytes >> 10;
    vec![
        ("cgroups", cgroups(&machine("cgroups"))),
        ("cpuinfo", processors),
        ("loadavg", "0.00 0.00 0.00 1/1 1\n".to_owned()),
        ("meminfo", meminfo(kib)),
        ("stat", stat(&machine("stat"), cpus)),
        ("swaps", "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n".to_owned()),
        ("vmstat", "nr_free_pages 0\npgpgin 0\npgpgout 0\npswpin 0\npswpout 0\npgfault 0\npgmajfault 0\n".to_owned()),
    ]
}

/// The processors without their present speed, which says how busy they are.
fn cpuinfo(text: &str) -> String {
    let known = |line: &&str| !line.starts_with("cpu MHz");
    text.lines().filter(known).fold(String::new(), |all, line| all + line + "\n")
}

/// The controllers; how many groups the machine has of each would say when sandboxes come and go.
fn cgroups(text: &str) -> String {
    let mut all = String::new();
    for line in text.lines() {
        let fields: Vec<_> = line.split('\t').collect();
        let _ = match fields[..] {
            [name, hierarchy, _, enabled] if !name.starts_with('#') => {
                writeln!(all, "{name}\t{hierarchy}\t1\t{enabled}")
            }
            _ => writeln!(all, "{line}"),
        };
    }
    all
}

/// All of the sandbox's memory, and all of it free: what it really uses only somebody outside could count.
fn meminfo(kib: u64) -> String {
    let zero = ["Buffers", "Cached", "SwapCached", "Active", "Inactive", "SwapTotal", "SwapFree", "Dirty", "Writeback"];
    let more = ["AnonPages", "Mapped", "Shmem", "Slab", "SReclaimable", "SUnreclaim", "KernelStack", "PageTables"];
    let mut all = String::new();
    for name in ["MemTotal", "MemFree", "MemAvailable"] {
        let _ = writeln!(all, "{:<16}{kib:>8} kB", format!("{name}:"));
    }
    for name in zero.iter().chain(&more) {
        let _ = writeln!(all, "{:<16}{:>8} kB", format!("{name}:"), 0);
    }
    all
}

/// Processors that have been idle since the machine started; when that was, `ps` needs to know.
fn stat(text: &str, cpus: usize) -> String {
    let started = text.lines().find(|line| line.starts_with("btime ")).unwrap_or("btime 0");
    let idle = "0 0 0 100 0 0 0 0 0 0";
    let each: String = (0..cpus).map(|number| format!("cpu{number} {idle}\n")).collect();
    format!("cpu  {idle}\n{each}intr 0\nctxt 0\n{started}\nprocesses 1\nprocs_running 1\nprocs_blocked 0\nsoftirq 0\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changes_with_others_is_left_out() {
        assert_eq!(cpuinfo("processor\t: 0\ncpu MHz\t\t: 2100.1\nflags\t: x\n"), "processor\t: 0\nflags\t: x\n");
        assert_eq!(cgroups("#a\tb\tc\td\nmemory\t5\t117\t1\n"), "#a\tb\tc\td\nmemory\t5\t1\t1\n");
        let stat = stat("cpu  9 9 9\nintr 77 1\nbtime 1234\nprocesses 99\n", 2);
        assert!(stat.contains("btime 1234\n") && stat.contains("cpu1 0 0") && !stat.contains("99"), "{stat}");
        assert!(meminfo(1024).starts_with("MemTotal:           1024 kB\n"), "{}", meminfo(1024));
    }
}
