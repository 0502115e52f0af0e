//! Starts the browser: its flags, its environment, its two pipes, and the user it runs as.

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use cove_walls::identity::has_sys_admin;
use cove_walls::limits::Resource;
use cove_walls::{BindMount, ChildSetup, Ruleset};
use cove_workspace::is_passable;
use tokio::net::unix::pipe;
use tokio::process::{Child, Command};

use crate::find::libraries_of;
use crate::options::ChromeOptions;
use crate::profile::Profile;

/// What any process of the browser maps for itself before a guest has asked for anything.
///
/// A renderer under a limit starts with 230 MB of private writable address space (most of it never touched) and the
/// browser process with 280 MB; half a gigabyte leaves room for many tabs.
pub(crate) const OWN_DATA_BYTES: u64 = 512 << 20;

/// V8's own cap on its heap, per renderer. Above every session's default limit, so that the watch outside decides.
const HEAP_MEGABYTES: u64 = 512;

/// Below this much shared memory (containers have 64 MB) the browser is told to use its temporary folder instead.
const SHARED_MEMORY_BYTES: u64 = 512 << 20;

/// What every browser of ours is launched with: a pipe and no port, no window, no word to its maker.
pub(crate) const COMMON_FLAGS: &[&str] = &[
    "--headless",
    "--remote-debugging-pipe",
    "--disable-gpu",
    "--no-first-run",
    "--no-default-browser-check",
    "--no-pings",
    "--mute-audio",
    "--hide-scrollbars",
    "--disable-background-networking",
    "--disable-background-timer-throttling",
    "--disable-breakpad",
    "--disable-client-side-phishing-detection",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-extensions",
    "--disable-notifications",
    "--disable-sync",
    "--metrics-recording-only",
    "--password-store=basic",
    "--use-mock-keychain",
    // Without it a guest's peer connection would send datagrams past resolver rules and proxy.
    // The headless shell knows it by the first name, the full browser by the second.
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    // A spare renderer would be a process that belongs to no tab, and so would those in which a browser with windows
    // (the full one, in its headless mode too) draws its address bar: one or two for every context.
    "--disable-features=SpareRendererForSitePerProcess,WebUIOmniboxPopup,WebUIOmniboxAimPopup,WebUIReloadButton,\
     Translate,OptimizationHints,MediaRouter",
];

/// A started browser, not yet spoken to.
pub(crate) struct Launched {
    pub(crate) child: Child,
    pub(crate) pid: u32,
    pub(crate) commands: pipe::Sender,
    pub(crate) answers: pipe::Receiver,
    pub(crate) profile: Profile,
    /// Where the browser writes what it has to complain about.
    pub(crate) complaints: PathBuf,
}

/// Starts the browser. Must be called on the thread that lives as long as the browser may: it dies with that thread.
pub(crate) fn launch(binary: &Path, options: &ChromeOptions, resolver_rules: &str) -> io::Result<Launched> {
    let become_id = become_id(options.unprivileged_id)?;
    let profile = Profile::create(&options.temp_dir, become_id)?;
    let flags = flags(&profile, options, resolver_rules);
    let data_limit_bytes = OWN_DATA_BYTES.saturating_add(options.process_memory_bytes);
    spawn(binary, profile, flags, ProcessSetup { become_id, data_limit_bytes, ..ProcessSetup::default() })
}

/// Whom a browser becomes: root gives up being root, anybody else stays who he is.
pub(crate) fn become_id(unprivileged_id: u32) -> io::Result<Option<u32>> {
    match rustix::process::geteuid().is_root().then_some(unprivileged_id) {
        Some(0) => Err(io::Error::new(io::ErrorKind::PermissionDenied, "the browser never runs as root")),
        other => Ok(other),
    }
}

/// What a browser's process is, apart from its flags.
#[derive(Default)]
pub(crate) struct ProcessSetup {
    pub(crate) become_id: Option<u32>,
    pub(crate) data_limit_bytes: u64,
    pub(crate) file_limit_bytes: Option<u64>,
    /// Folders, and where this browser alone sees them.
    pub(crate) mounted: Vec<(PathBuf, PathBuf)>,
    pub(crate) ruleset: Option<Ruleset>,
}

/// Starts a browser with these flags in this folder.
pub(crate) fn spawn(
    binary: &Path,
    profile: Profile,
    flags: Vec<String>,
    mut process: ProcessSetup,
) -> io::Result<Launched> {
    let has_libraries = libraries_of(binary).is_some();
    let binary = &within_reach(binary, &profile, &mut process)?;
    let libraries = binary.parent().filter(|_| has_libraries).map(|folder| folder.join("lib"));
    let (commands_out, commands_in) = io::pipe()?;
    let (answers_out, answers_in) = io::pipe()?;
    let complaints = profile.path().join("complaints");
    let stderr = std::fs::File::create(&complaints)?;

    let mut command = new_command(binary);
    command
        .args(flags)
        .env_clear()
        .env("HOME", profile.home())
        .env("TMPDIR", profile.tmp())
        .env("XDG_CONFIG_HOME", profile.home())
        .env("XDG_CACHE_HOME", profile.home())
        .env("PATH", "/usr/bin:/bin")
        .env("LANG", "C.UTF-8")
        // Where the host stands is not a guest's business, and the same code gives the same dates everywhere.
        .env("TZ", "UTC")
        .current_dir(profile.tmp())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(stderr)
        .kill_on_drop(true);
    if let Some(libraries) = libraries {
        command.env("LD_LIBRARY_PATH", libraries);
    }
    let mut limits = vec![(Resource::Core, 0), (Resource::Data, process.data_limit_bytes)];
    limits.extend(process.file_limit_bytes.map(|bytes| (Resource::Fsize, bytes)));
    let setup = ChildSetup {
        // The browser's own numbers for its pipe: it reads commands from 3 and writes answers to 4.
        descriptors: vec![commands_out.into(), answers_in.into()],
        limits,
        mounts: process
            .mounted
            .iter()
            .map(|(folder, place)| BindMount::new(folder, place))
            .collect::<Result<_, _>>()?,
        // An ordinary user, and root without CAP_SYS_ADMIN, may only give up rights that it promises never to win back.
        no_new_privileges: process.ruleset.is_some() && (process.become_id.is_none() || !has_sys_admin()),
        ruleset: process.ruleset,
        become_id: process.become_id,
        ..ChildSetup::default()
    };
    setup.apply(command.as_std_mut())?;
    let child = command.spawn().map_err(|error| shut_out(&error, &process.mounted))?;
    let pid = child.id().ok_or_else(|| io::Error::other("the browser exited right after it started"))?;
    Ok(Launched {
        child,
        pid,
        commands: pipe::Sender::from_owned_fd(OwnedFd::from(commands_in))?,
        answers: pipe::Receiver::from_owned_fd(OwnedFd::from(answers_out))?,
        profile,
        complaints,
    })
}

/// The path under which the browser's user can get to the program: as it is, or in the browser's own folder, if it lies
/// below a folder that is closed to that user (root's home, say).
fn within_reach(binary: &Path, profile: &Profile, process: &mut ProcessSetup) -> io::Result<PathBuf> {
    let Some(id) = process.become_id else { return Ok(binary.to_owned()) };
    let binary = binary.canonicalize()?;
    match (binary.parent(), binary.file_name()) {
        (Some(folder), Some(name)) if !is_passable(&binary, id) => {
            process.mounted.push((folder.to_owned(), profile.app()));
            Ok(profile.app().join(name))
        }
        _ => Ok(binary),
    }
}

/// Says which folder is in the way, where mounting it elsewhere failed.
fn shut_out(error: &io::Error, mounted: &[(PathBuf, PathBuf)]) -> io::Error {
    let folders: Vec<String> = mounted.iter().map(|(folder, _)| folder.display().to_string()).collect();
    if folders.is_empty() || error.kind() != io::ErrorKind::PermissionDenied {
        return io::Error::new(error.kind(), error.to_string());
    }
    let said = format!(
        "{error}: it does not run as root, its user cannot get to {}, and a root without CAP_SYS_ADMIN cannot mount that \
         elsewhere; keep it where every user can go",
        folders.join(" and ")
    );
    io::Error::new(error.kind(), said)
}

#[expect(clippy::disallowed_methods, reason = "this file owns the browser's process: Browser ends it")]
fn new_command(binary: &Path) -> Command {
    Command::new(binary)
}

fn flags(profile: &Profile, options: &ChromeOptions, resolver_rules: &str) -> Vec<String> {
    let heap = HEAP_MEGABYTES.min(options.process_memory_bytes >> 20);
    let own = [
        // A guest's page opens no further windows; an unwanted one would have no interception of its own.
        "--block-new-web-contents",
        // The full browser would open a page of its own, with a process that is nobody's.
        "--no-startup-window",
        // Guests get SharedArrayBuffer without cross-origin isolation, whose process swap would cost a second renderer
        // per tab; nobody shares a renderer here anyway.
        "--enable-features=SharedArrayBuffer",
    ];
    let mut flags: Vec<String> = COMMON_FLAGS.iter().chain(&own).map(|flag| (*flag).to_owned()).collect();
    flags.push(format!("--user-data-dir={}", profile.data().display()));
    flags.push(format!("--js-flags=--max-old-space-size={heap}"));
    flags.push(format!("--host-resolver-rules={resolver_rules}"));
    flags.extend(shared_memory_flag());
    flags
}

/// The flag that a machine with little shared memory needs.
pub(crate) fn shared_memory_flag() -> Option<String> {
    let is_enough = |shm: rustix::fs::StatVfs| shm.f_blocks * shm.f_frsize >= SHARED_MEMORY_BYTES;
    let little = !rustix::fs::statvfs("/dev/shm").is_ok_and(is_enough);
    little.then(|| "--disable-dev-shm-usage".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The walls that hang on a flag: losing one of these is losing a wall.
    #[test]
    fn the_flags_hold_the_walls() {
        let folder = tempfile::tempdir().unwrap();
        let profile = Profile::create(folder.path(), None).unwrap();
        let flags = flags(&profile, &ChromeOptions::default(), "MAP * ~NOTFOUND");
        for wall in [
            "--remote-debugging-pipe",
            "--host-resolver-rules=MAP * ~NOTFOUND",
            "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
            "--webrtc-ip-handling-policy=disable_non_proxied_udp",
            "--block-new-web-contents",
            // The full browser would open a page of its own, with a process that is nobody's.
            "--no-startup-window",
            "--js-flags=--max-old-space-size=512",
        ] {
            assert!(flags.iter().any(|flag| flag == wall), "{wall} is missing");
        }
        assert!(!flags.iter().any(|flag| flag.contains("no-sandbox") || flag.contains("remote-debugging-port")));
    }
}
