//! Cargos whose size the kernel enforces: each is an ext4 file system in a file of its own, mounted where its folder is.
//!
//! The file is sparse: it takes from the disk what is in it. Only root can mount; `mkfs.ext4` and `mount` do the work. A
//! mount outlives a Bay that was killed, and the next one uses it as it is.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use cove_core::CargoId;
use rustix::mount::{UnmountFlags, unmount};

/// What the file system needs for itself: a part of the size, and a little more.
const OWN_SHARE: u64 = 25;
const OWN_BYTES: u64 = 4 << 20;

/// Making or mounting one takes a tenth of a second; longer is a machine in trouble.
const PATIENCE: Duration = Duration::from_secs(30);

const IMAGE: &str = ".image-";
const DRAFT: &str = "draft";

/// Where the file of a cargo is.
pub(super) fn image_path(root: &Path, id: &CargoId) -> PathBuf {
    root.join(format!("{IMAGE}{id}"))
}

/// Whether a Bay that was killed has left this half made.
pub(super) fn is_draft(name: &str) -> bool {
    name.starts_with(IMAGE) && Path::new(name).extension().is_some_and(|extension| extension == DRAFT)
}

/// How large the file is for so much in it.
pub(super) fn image_bytes(limit_bytes: u64) -> u64 {
    limit_bytes + limit_bytes / OWN_SHARE + OWN_BYTES
}

/// Why this machine cannot have any; none: it can.
pub(super) fn obstacle() -> Option<&'static str> {
    if !rustix::process::geteuid().is_root() {
        return Some("only root can mount the image file of a hard disk limit");
    }
    if !Path::new("/dev/loop-control").exists() {
        return Some("this machine has no loop devices (/dev/loop-control) for the image file of a hard disk limit");
    }
    match find("mkfs.ext4") {
        Some(_) => None,
        None => Some("mkfs.ext4 is missing, which makes the image file of a hard disk limit: install e2fsprogs"),
    }
}

/// Makes a file system for so many bytes and mounts it on an empty folder. What fails leaves nothing.
pub(super) fn make(image: &Path, folder: &Path, limit_bytes: u64) -> io::Result<()> {
    let begin = Instant::now();
    let draft = image.with_extension(DRAFT);
    let made = (|| {
        File::create(&draft)?.set_len(image_bytes(limit_bytes))?;
        let program = find("mkfs.ext4").ok_or(io::ErrorKind::NotFound)?;
        // No journal: what a crash damages is one guest's, and is repaired or refused at the next mount.
        let options = ["-q", "-F", "-m", "0", "-O", "^has_journal", "-E", "lazy_itable_init=1,nodiscard"];
        run(Command::new(program).args(options).arg(&draft))?;
        fs::rename(&draft, image)?;
        mount(image, folder)?;
        let lost = folder.join("lost+found");
        if lost.exists() { fs::remove_dir(lost) } else { Ok(()) }
    })();
    if made.is_err() {
        let _ = remove(image, folder);
        let _ = fs::remove_file(&draft);
    }
    let took = u64::try_from(begin.elapsed().as_millis()).unwrap_or(u64::MAX);
    tracing::info!(took_ms = took, limit_bytes, "made the image of a cargo with a hard limit");
    made
}

/// Mounts it, where it is not mounted yet.
pub(super) fn mount(image: &Path, folder: &Path) -> io::Result<()> {
    if is_mounted(folder)? {
        return Ok(());
    }
    let options = ["-t", "ext4", "-o", "loop,nosuid,nodev,noatime,discard"];
    run(Command::new("mount").args(options).arg(image).arg(folder))
}

/// Unmounts it, if it is mounted and nobody uses it.
pub(super) fn unmount_if_free(folder: &Path) -> io::Result<()> {
    if is_mounted(folder)? { Ok(unmount(folder, UnmountFlags::empty())?) } else { Ok(()) }
}

/// Takes it away, whoever still looks at it.
pub(super) fn remove(image: &Path, folder: &Path) -> io::Result<()> {
    if folder.exists() && is_mounted(folder)? {
        unmount(folder, UnmountFlags::DETACH)?;
    }
    match fs::remove_file(image) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Whether another file system begins here.
fn is_mounted(folder: &Path) -> io::Result<bool> {
    let parent = folder.parent().unwrap_or(folder);
    Ok(fs::symlink_metadata(folder)?.dev() != fs::symlink_metadata(parent)?.dev())
}

/// Root's programs are not always on the path of whoever starts a server.
fn find(program: &str) -> Option<PathBuf> {
    ["/usr/sbin", "/sbin", "/usr/bin", "/bin"].iter().map(|folder| Path::new(folder).join(program)).find(|p| p.exists())
}

/// Runs a program to its end; what it complains about is the error.
fn run(command: &mut Command) -> io::Result<()> {
    let name = command.get_program().to_string_lossy().into_owned();
    let mut child =
        command.env("LC_ALL", "C").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn()?;
    let until = Instant::now() + PATIENCE;
    let ended = loop {
        if let Some(ended) = child.try_wait()? {
            break ended;
        }
        if Instant::now() > until {
            let _ = child.kill();
            let _ = child.wait();
            return Err(io::Error::new(io::ErrorKind::TimedOut, format!("{name} did not end in time")));
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    if ended.success() {
        return Ok(());
    }
    let mut said = String::new();
    if let Some(stderr) = child.stderr.take() {
        let _ = io::Read::read_to_string(&mut io::Read::take(stderr, 4096), &mut said);
    }
    Err(io::Error::other(format!("{name} failed: {}", said.trim())))
}
