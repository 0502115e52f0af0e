//! Cargos whose size the kernel enforces: each is an ext4 file system in a file of its own, mounted where its folder is.
//!
//! The file is sparse: it takes from the disk what is in it. Only root can mount; `mkfs.ext4` and `mount` do the work. A
//! mount outlives a Bay that was killed, and the next one uses it as it is.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use cove_core::CargoId;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::mount::{UnmountFlags, unmount};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

/// What the file system needs for itself: a part of the size, and a little more.
const OWN_SHARE: u64 = 25;
const OWN_BYTES: u64 = 4 << 20;

/// Making or mounting one takes a tenth of a second; longer is a machine in trouble.
const PATIENCE: Duration = Duration::from_secs(30);

/// What is shown of what a program that failed has said.
const MAX_SAID_BYTES: usize = 1000;

const IMAGE: &str = ".image-";
const DRAFT: &str = "draft";

/// Where the file of a cargo is.
pub(crate) fn image_path(root: &Path, id: &CargoId) -> PathBuf {
    root.join(format!("{IMAGE}{id}"))
}

/// Whether a Bay that was killed has left this half made.
pub(crate) fn is_draft(name: &str) -> bool {
    name.starts_with(IMAGE) && Path::new(name).extension().is_some_and(|extension| extension == DRAFT)
}

/// How large the file is for so much in it.
pub(crate) fn image_bytes(limit_bytes: u64) -> u64 {
    limit_bytes + limit_bytes / OWN_SHARE + OWN_BYTES
}

/// Why this machine cannot have any; none: it can.
pub(crate) fn obstacle() -> Option<&'static str> {
    if !cove_walls::identity::is_full_root() {
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
pub(crate) fn make(image: &Path, folder: &Path, limit_bytes: u64) -> io::Result<()> {
    let begin = Instant::now();
    let draft = image.with_extension(DRAFT);
    let made = (|| {
        File::create(&draft)?.set_len(image_bytes(limit_bytes))?;
        let program = find("mkfs.ext4").ok_or(io::ErrorKind::NotFound)?;
        // No journal: what a crash damages is one guest's, and is repaired or refused at the next mount.
        let options = ["-q", "-F", "-m", "0", "-O", "^has_journal", "-E", "lazy_itable_init=1,nodiscard"];
        run(&program, &options, &[&draft])?;
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
pub(crate) fn mount(image: &Path, folder: &Path) -> io::Result<()> {
    if is_mounted(folder)? {
        return Ok(());
    }
    let options = ["-t", "ext4", "-o", "loop,nosuid,nodev,noatime,discard"];
    let program = find("mount").ok_or(io::ErrorKind::NotFound)?;
    run(&program, &options, &[image, folder])
}

/// Unmounts it, if it is mounted and nobody uses it.
pub(crate) fn unmount_if_free(folder: &Path) -> io::Result<()> {
    if is_mounted(folder)? { Ok(unmount(folder, UnmountFlags::empty())?) } else { Ok(()) }
}

/// Takes it away, whoever still looks at it.
pub(crate) fn remove(image: &Path, folder: &Path) -> io::Result<()> {
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

/// Runs a program to its end, which comes in time; what it complains about is the error. One that outlives a killed Bay
/// ends by itself.
#[expect(clippy::disallowed_methods, reason = "ends its one child, at the latest when its time is over")]
fn run(program: &Path, options: &[&str], paths: &[&Path]) -> io::Result<()> {
    let deadline = Instant::now() + PATIENCE;
    let mut command = Command::new(program);
    command.args(options).args(paths).env("LC_ALL", "C");
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn()?;
    let mut said = Vec::new();
    let ended = child.stderr.take().map_or(Ok(()), |stderr| hear(stderr, &mut said, deadline)).and_then(|()| {
        let handle = pidfd_open(Pid::from_child(&child), PidfdFlags::empty())?;
        await_event(&handle, deadline)
    });
    let name = program.display();
    if let Err(error) = ended {
        let _ = child.kill();
        let _ = child.wait();
        return Err(io::Error::new(error.kind(), format!("{name} did not end in time")));
    }
    if child.wait()?.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&said);
    Err(io::Error::other(format!("{name} failed: {}", said.trim())))
}

/// Reads all that a program says, so that none waits for a reader; what is beyond the limit is dropped.
fn hear(mut from: impl Read + AsFd, said: &mut Vec<u8>, deadline: Instant) -> io::Result<()> {
    let mut part = [0; 4096];
    loop {
        await_event(&from, deadline)?;
        let length = from.read(&mut part)?;
        if length == 0 {
            return Ok(());
        }
        let room = MAX_SAID_BYTES.saturating_sub(said.len());
        said.extend_from_slice(&part[..length.min(room)]);
    }
}

fn await_event(of: &impl AsFd, deadline: Instant) -> io::Result<()> {
    let left = deadline.saturating_duration_since(Instant::now());
    let left = Timespec::try_from(left).map_err(io::Error::other)?;
    match poll(&mut [PollFd::new(of, PollFlags::IN)], Some(&left))? {
        0 => Err(io::ErrorKind::TimedOut.into()),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// More than a pipe holds: a program that nobody hears would stand still.
    #[test]
    fn a_program_that_says_much_comes_to_its_end() {
        let begin = Instant::now();
        let much = ["-c", "head -c 200000 /dev/zero | tr '\\0' x >&2; exit 3"];
        let error = run(Path::new("/bin/sh"), &much, &[]).unwrap_err();
        assert!(begin.elapsed() < PATIENCE, "{error}");
        assert!(error.to_string().starts_with("/bin/sh failed: xxx") && error.to_string().len() < 2 * MAX_SAID_BYTES);
        run(Path::new("/bin/sh"), &["-c", "exit 0"], &[]).unwrap();
    }
}
