//! The root of a sandbox: the system's own programs to read, a workspace to write, and nothing else of the machine.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::Path;

use rustix::mount::{
    MountFlags, MountPropagationFlags, UnmountFlags, mount, mount_bind, mount_bind_recursive, mount_change, unmount,
};
use rustix::process::{chdir, pivot_root};

use super::etc;
use super::spec::Spec;
use crate::sys::{MountBars, bar_mount};

/// Where the proxy's socket is inside, if the profile has one.
pub(super) const EGRESS: &str = "/run/egress.sock";

/// Where this very program is inside: a process that leaves its root takes its own file along, but rules of files
/// (Landlock) know only what is below the new one.
pub(super) const PROGRAM: &str = "/var/lib/cove/cove";

/// Where the machine's own root is while we build, as seen from the new one.
const OLD: &str = "/.old";

const READ_ONLY: MountBars = MountBars::READ_ONLY.and(MountBars::NO_SETUID).and(MountBars::NO_DEVICES);
const WRITABLE: MountBars = MountBars::NO_SETUID.and(MountBars::NO_DEVICES);

/// Folders of the machine that hold its programs; symlinks among them (`/bin -> usr/bin`) stay symlinks.
const PROGRAMS: &[&str] = &["usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32"];

const DEVICES: &[&str] = &["null", "zero", "full", "random", "urandom", "tty"];

/// Says which step failed.
fn during<T>(what: &str, outcome: Result<T, impl Into<io::Error>>) -> io::Result<T> {
    outcome.map_err(|error| {
        let error = error.into();
        io::Error::new(error.kind(), format!("{what}: {error}"))
    })
}

/// Builds the root and makes it ours. Needs a mount namespace of our own and the right to mount in it.
pub(super) fn build(spec: &Spec) -> io::Result<()> {
    // Nothing we do here may be seen outside, nor anything outside be seen here.
    let program = fs::read_link("/proc/self/exe");
    let all = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    during("making mounts private", mount_change("/", all))?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV;
    // Any folder will do; this one is on every machine, and reappears below OLD as soon as the roots are swapped.
    during("the new root", mount("none", "/tmp", "tmpfs", flags, c"size=16m,nr_inodes=4k,mode=755"))?;
    fs::create_dir(format!("/tmp{OLD}"))?;
    during("swapping roots", pivot_root("/tmp", format!("/tmp{OLD}").as_str()))?;
    chdir("/")?;
    programs()?;
    small_files(spec)?;
    devices()?;
    temporary(spec)?;
    processes()?;
    share(Path::new(&spec.workspace), "/workspace", WRITABLE, false)?;
    for extra in &spec.mounts {
        share(&extra.host, &extra.inside.display().to_string(), READ_ONLY, true)?;
    }
    // A file that was replaced or that the guest's user cannot reach means no JavaScript, not no sandbox.
    if let Ok(program) = program {
        let _ = own_program(&program);
    }
    if let Some(socket) = &spec.egress {
        fs::create_dir("/run")?;
        fs::write(EGRESS, "")?;
        during(EGRESS, mount_bind(format!("{OLD}{socket}").as_str(), EGRESS))?;
        bar(EGRESS, READ_ONLY.and(MountBars::NO_PROGRAMS), false)?;
    }
    during("letting go of the old root", unmount(OLD, UnmountFlags::DETACH))?;
    fs::remove_dir(OLD)?;
    for empty in ["home", "opt", "run", "srv", "sys", "mnt"] {
        let _ = fs::create_dir(empty);
    }
    bar("/", READ_ONLY, false)?;
    Ok(chdir("/workspace")?)
}

/// Bars a mount; on kernels without the call for it, the old way, which reaches this mount only.
fn bar(path: &str, bars: MountBars, recursive: bool) -> io::Result<()> {
    match bar_mount(path, bars, recursive) {
        Err(error) if error.raw_os_error() == Some(libc::ENOSYS) => {
            let mut flags = MountFlags::BIND | MountFlags::NOSUID;
            flags.set(MountFlags::RDONLY, bars.0 & MountBars::READ_ONLY.0 != 0);
            flags.set(MountFlags::NODEV, bars.0 & MountBars::NO_DEVICES.0 != 0);
            flags.set(MountFlags::NOEXEC, bars.0 & MountBars::NO_PROGRAMS.0 != 0);
            during(path, rustix::mount::mount_remount(path, flags, c""))
        }
        other => during(path, other),
    }
}

/// A folder of the machine at a place of ours.
fn share(host: &Path, inside: &str, bars: MountBars, recursive: bool) -> io::Result<()> {
    let from = format!("{OLD}{}", host.display());
    during(inside, fs::create_dir_all(inside))?;
    let bound = if recursive { mount_bind_recursive(from.as_str(), inside) } else { mount_bind(from.as_str(), inside) };
    during(inside, bound)?;
    bar(inside, bars, recursive)
}

fn own_program(host: &Path) -> io::Result<()> {
    fs::create_dir_all("/var/lib/cove")?;
    fs::write(PROGRAM, "")?;
    during(PROGRAM, mount_bind(format!("{OLD}{}", host.display()).as_str(), PROGRAM))?;
    bar(PROGRAM, READ_ONLY, false)
}

fn programs() -> io::Result<()> {
    for name in PROGRAMS {
        let (from, to) = (format!("{OLD}/{name}"), format!("/{name}"));
        match fs::symlink_metadata(&from) {
            Ok(found) if found.is_symlink() => symlink(fs::read_link(&from)?, to)?,
            Ok(found) if found.is_dir() => share(Path::new(&to), &to, READ_ONLY, true)?,
            _ => {}
        }
    }
    Ok(())
}

fn small_files(spec: &Spec) -> io::Result<()> {
    fs::create_dir_all("/etc/ssl")?;
    for name in etc::SHARED_FILES {
        let from = format!("{OLD}/etc/{name}");
        match fs::read_link(&from) {
            Ok(target) => symlink(target, format!("/etc/{name}"))?,
            Err(_) => {
                if let Ok(bytes) = fs::read(&from) {
                    fs::write(format!("/etc/{name}"), bytes)?;
                }
            }
        }
    }
    for (name, text) in etc::own_files(&spec.hostname) {
        fs::write(format!("/etc/{name}"), text)?;
    }
    symlink("/proc/self/mounts", "/etc/mtab")?;
    for name in etc::SHARED_FOLDERS {
        if Path::new(&format!("{OLD}/etc/{name}")).is_dir() {
            let path = format!("/etc/{name}");
            share(Path::new(&path), &path, READ_ONLY, false)?;
        }
    }
    Ok(())
}

fn devices() -> io::Result<()> {
    fs::create_dir("/dev")?;
    for name in DEVICES {
        let path = format!("/dev/{name}");
        fs::write(&path, "")?;
        during(&path, mount_bind(format!("{OLD}{path}").as_str(), path.as_str()))?;
        bar(&path, MountBars::NO_SETUID.and(MountBars::NO_PROGRAMS), false)?;
    }
    for (target, name) in [
        ("/proc/self/fd", "fd"),
        ("/proc/self/fd/0", "stdin"),
        ("/proc/self/fd/1", "stdout"),
        ("/proc/self/fd/2", "stderr"),
        ("pts/ptmx", "ptmx"),
    ] {
        symlink(target, format!("/dev/{name}"))?;
    }
    fs::create_dir("/dev/pts")?;
    let flags = MountFlags::NOSUID | MountFlags::NOEXEC;
    during("/dev/pts", mount("devpts", "/dev/pts", "devpts", flags, c"newinstance,ptmxmode=0666,mode=620"))?;
    fs::create_dir("/dev/shm")?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    during("/dev/shm", mount("shm", "/dev/shm", "tmpfs", flags, c"size=64m,nr_inodes=4k,mode=1777"))
}

fn temporary(spec: &Spec) -> io::Result<()> {
    fs::create_dir("/tmp")?;
    let size = std::ffi::CString::new(format!("size={},nr_inodes=64k,mode=1777", spec.limits.tmp_bytes))?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV;
    during("/tmp", mount("tmp", "/tmp", "tmpfs", flags, size.as_c_str()))?;
    fs::create_dir("/var")?;
    symlink("/tmp", "/var/tmp")
}

/// `/proc` of our own PID namespace, without what concerns the machine.
fn processes() -> io::Result<()> {
    fs::create_dir("/proc")?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    during("/proc", mount("proc", "/proc", "proc", flags, c""))?;
    for name in ["bus", "fs", "irq", "sys", "sysrq-trigger"] {
        let path = format!("/proc/{name}");
        if Path::new(&path).exists() {
            during(&path, mount_bind_recursive(path.as_str(), path.as_str()))?;
            let bars = READ_ONLY.and(MountBars::NO_PROGRAMS);
            bar(&path, bars, true)?;
        }
    }
    for name in ["kcore", "keys", "key-users", "kmsg", "latency_stats", "sched_debug", "timer_list", "kallsyms"] {
        let path = format!("/proc/{name}");
        if Path::new(&path).exists() {
            during(&path, mount_bind("/dev/null", path.as_str()))?;
        }
    }
    for name in ["acpi", "asound", "scsi", "driver", "dynamic_debug"] {
        let path = format!("/proc/{name}");
        if Path::new(&path).exists() {
            let flags = flags | MountFlags::RDONLY;
            during(&path, mount("none", path.as_str(), "tmpfs", flags, c"size=4k,nr_inodes=2,mode=555"))?;
        }
    }
    Ok(())
}
