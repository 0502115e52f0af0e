//! The root of a sandbox: the system's own programs to read, a workspace to write, and nothing else of the machine.

use std::ffi::{CStr, CString};
use std::fs;
use std::io;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use cove_walls::mounts::{self, MountBars};
use rustix::fs::{CWD, FileType, Mode, makedev, mknodat};
use rustix::mount::{MountFlags, UnmountFlags, mount, mount_bind, unmount};
use rustix::process::{chdir, pivot_root};

use super::blocked::wall;
use super::layers::Layers;
use super::spec::Spec;
use super::{etc, procfs};

/// Where the proxy's socket is inside, if the profile has one.
pub(super) const EGRESS: &str = "/run/egress.sock";

/// Where this very program is inside: a process that leaves its root takes its own file along, but rules of files
/// (Landlock) know only what is below the new one.
pub(super) const PROGRAM: &str = "/var/lib/cove/cove";

/// What is needed only while we build: a mount of its own, so that it all goes with one call.
pub(super) const SCAFFOLD: &str = "/.build";

/// Where the machine's own root is while we build, as seen from the new one.
pub(super) const OLD: &str = "/.build/old";

pub(super) const READ_ONLY: MountBars = MountBars::READ_ONLY.and(MountBars::NO_SETUID).and(MountBars::NO_DEVICES);
const WRITABLE: MountBars = MountBars::NO_SETUID.and(MountBars::NO_DEVICES);

/// Folders of the machine that hold its programs; symlinks among them (`/bin -> usr/bin`) stay symlinks.
const PROGRAMS: &[&str] = &["usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32"];

/// The machine has 4096 terminals for everybody; a sandbox gets these.
const TERMINALS: &CStr = c"newinstance,ptmxmode=0666,mode=620,max=64";

/// Size of `/dev/shm`, unless that were more than a quarter of the memory: its files are memory.
const SHARED_MEMORY_BYTES: u64 = 64 << 20;

/// Devices and their numbers.
const DEVICES: &[(&str, u32, u32)] =
    &[("null", 1, 3), ("zero", 1, 5), ("full", 1, 7), ("random", 1, 8), ("urandom", 1, 9), ("tty", 5, 0)];

/// What of a root is not the sandbox's own, and what is still to be done for it.
#[derive(Debug)]
pub(super) struct Built {
    /// Folders and files of the machine that guests reach as they are, each with the reason.
    pub(super) shared: Vec<String>,
    /// Whether the devices are the machine's own nodes.
    pub(super) shared_devices: bool,
    /// Of `/proc`.
    pub(super) opened: procfs::Opened,
}

/// Says which step failed.
pub(super) fn during<T>(what: &str, outcome: Result<T, impl Into<io::Error>>) -> io::Result<T> {
    outcome.map_err(|error| {
        let error = error.into();
        io::Error::new(error.kind(), format!("{what}: {error}"))
    })
}

/// Builds the root and makes it ours. Needs a mount namespace of our own and the right to mount in it.
pub(super) fn build(spec: &Spec) -> io::Result<Built> {
    let mut layers = Layers::new(spec.own_layers);
    let program = fs::read_link("/proc/self/exe");
    wall("making mounts private", mounts::make_private())?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV;
    // Any folder will do; this one is on every machine, and reappears below OLD as soon as the roots are swapped.
    wall("the new root", mount("none", "/tmp", "tmpfs", flags, c"size=16m,nr_inodes=4k,mode=755"))?;
    fs::create_dir(format!("/tmp{SCAFFOLD}"))?;
    let scaffold = format!("/tmp{SCAFFOLD}");
    during("the scaffold", mount("none", scaffold.as_str(), "tmpfs", flags, c"size=4m,nr_inodes=256,mode=755"))?;
    fs::create_dir(format!("/tmp{OLD}"))?;
    wall("swapping roots", pivot_root("/tmp", format!("/tmp{OLD}").as_str()))?;
    chdir("/")?;
    programs(&mut layers)?;
    small_files(spec, &mut layers)?;
    let shared_devices = devices(spec)?;
    temporary(spec)?;
    let opened = procfs::mount_own(spec)?;
    workspace(&spec.workspace)?;
    for extra in &spec.mounts {
        layers.folder(&extra.host, &extra.inside.display().to_string())?;
    }
    // A file that was replaced or that the guest's user cannot reach means no JavaScript, not no sandbox.
    if let Ok(program) = program {
        let _ = own_program(&program, &mut layers);
    }
    if let Some(socket) = &spec.egress {
        fs::create_dir("/run")?;
        fs::write(EGRESS, "")?;
        during(EGRESS, mount_bind(format!("{OLD}{socket}").as_str(), EGRESS))?;
        bar(EGRESS, READ_ONLY.and(MountBars::NO_PROGRAMS), false)?;
    }
    during("letting go of the old root", unmount(SCAFFOLD, UnmountFlags::DETACH))?;
    fs::remove_dir(SCAFFOLD)?;
    let shared = layers.finish();
    for empty in ["home", "opt", "run", "srv", "sys", "mnt"] {
        let _ = fs::create_dir(empty);
    }
    // Where many programs and their users look for the home of an ordinary user.
    let _ = symlink("/workspace", "/home/user");
    bar("/", READ_ONLY, false)?;
    chdir("/workspace")?;
    Ok(Built { shared, shared_devices, opened })
}

/// Bars a mount, or says which one.
pub(super) fn bar(path: &str, bars: MountBars, recursive: bool) -> io::Result<()> {
    during(path, mounts::bar(path, bars, recursive))
}

/// The one folder of the machine that guests write: the cargo, which is theirs.
fn workspace(host: &str) -> io::Result<()> {
    fs::create_dir("/workspace")?;
    during("/workspace", mount_bind(format!("{OLD}{host}").as_str(), "/workspace"))?;
    bar("/workspace", WRITABLE, false)
}

fn own_program(host: &Path, layers: &mut Layers) -> io::Result<()> {
    fs::create_dir_all("/var/lib/cove")?;
    fs::write(PROGRAM, "")?;
    layers.file(host, PROGRAM)
}

fn programs(layers: &mut Layers) -> io::Result<()> {
    for name in PROGRAMS {
        let (from, to) = (format!("{OLD}/{name}"), format!("/{name}"));
        match fs::symlink_metadata(&from) {
            Ok(found) if found.is_symlink() => symlink(fs::read_link(&from)?, to)?,
            Ok(found) if found.is_dir() => layers.folder(Path::new(&to), &to)?,
            _ => {}
        }
    }
    Ok(())
}

fn small_files(spec: &Spec, layers: &mut Layers) -> io::Result<()> {
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
    layers.parts("/etc", etc::SHARED_FOLDERS)
}

/// Says whether the nodes are the machine's own: only root can make others.
fn devices(spec: &Spec) -> io::Result<bool> {
    fs::create_dir("/dev")?;
    let bars = MountBars::NO_SETUID.and(MountBars::NO_PROGRAMS);
    let flags = MountFlags::NOSUID | MountFlags::NOEXEC;
    during("/dev", mount("dev", "/dev", "tmpfs", flags, c"size=64k,nr_inodes=64,mode=755"))?;
    let shared = own_nodes().is_err();
    if shared {
        for (name, ..) in DEVICES {
            let path = format!("/dev/{name}");
            let _ = fs::remove_file(&path);
            fs::write(&path, "")?;
            during(&path, mount_bind(format!("{OLD}{path}").as_str(), path.as_str()))?;
            bar(&path, bars, false)?;
        }
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
    fs::create_dir("/dev/shm")?;
    bar("/dev", bars.and(MountBars::READ_ONLY), false)?;
    during("/dev/pts", mount("devpts", "/dev/pts", "devpts", flags, TERMINALS))?;
    let flags = flags | MountFlags::NODEV;
    let size = SHARED_MEMORY_BYTES.min(spec.limits.memory_bytes / 4);
    let options = CString::new(format!("size={size},nr_inodes=4k,mode=1777"))?;
    during("/dev/shm", mount("shm", "/dev/shm", "tmpfs", flags, options.as_c_str()))?;
    Ok(shared)
}

/// Nodes of our own. They are opened once: a container around us may let us make what it does not let us use.
fn own_nodes() -> io::Result<()> {
    for (name, major, minor) in DEVICES {
        let path = format!("/dev/{name}");
        mknodat(CWD, path.as_str(), FileType::CharacterDevice, Mode::from_raw_mode(0o666), makedev(*major, *minor))?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o666))?;
        // A terminal can be opened only by who has one.
        if *name != "tty" {
            fs::File::open(&path)?;
        }
    }
    Ok(())
}

/// Takes `/dev/zero` away: a shared mapping of it is memory that belongs to no process, and where neither Landlock keeps
/// it from being opened for writing nor a control group counts it, nobody would see it. `/dev/full` is in its place, which
/// gives the same zeros and cannot be mapped.
pub(super) fn take_zero_away() -> io::Result<()> {
    during("/dev/zero", mount_bind("/dev/full", "/dev/zero"))
}

fn temporary(spec: &Spec) -> io::Result<()> {
    fs::create_dir("/tmp")?;
    let size = CString::new(format!("size={},nr_inodes=64k,mode=1777", spec.limits.tmp_bytes))?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV;
    during("/tmp", mount("tmp", "/tmp", "tmpfs", flags, size.as_c_str()))?;
    fs::create_dir("/var")?;
    symlink("/tmp", "/var/tmp")
}
