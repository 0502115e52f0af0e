//! From a freshly started process to the inside of a cell: the supervisor and the init.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::time::Duration;

use cove_cgroup::{Groups, Wanted};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{
    DumpableBehavior, PidfdFlags, Signal, WaitOptions, getegid, geteuid, kill_process, pidfd_open,
    set_dumpable_behavior, set_parent_process_death_signal, waitpid,
};
use rustix::thread::UnshareFlags;

use super::disk::DiskWatch;
use super::guests::open_proc;
use super::identity::{self, INSIDE};
use super::report::{EffectiveLimits, EffectiveWalls, Survey, Wall, WallState};
use super::rlimits::RESERVED_PROCESSES;
use super::spec::{Go, Report, Spec, receive, receive_descriptor, send, send_descriptor};
use super::{Limit, landlock_rules, rlimits, root, seccomp};
use crate::process::Rank;
use crate::ship::{Listen, ShipOptions};
use crate::sys;

/// Set by the owner; says that standard input is its line to us and standard output the listening socket.
pub(super) const ASKED: &str = "COVE_CELL";

/// Without these nothing of a guest runs. Namespaces are not in the list: they cannot be missing without an error.
const NEEDED: [&str; 5] = ["capabilities", "network-namespace", "no-new-privileges", "pid-namespace", "seccomp"];

/// How often the uptime is looked at for a lease: a machine that slept may have slept through its end.
const LEASE_LOOK_MS: u64 = 900;

/// The walls could not be put up.
#[derive(Debug, thiserror::Error)]
#[error("the walls of the sandbox could not be put up: {0}")]
pub struct EnterError(String);

/// The inside of a cell, with all walls up.
#[derive(Debug)]
pub struct Inside {
    listener: UnixListener,
    spec: Spec,
    walls: EffectiveWalls,
    /// What guests read as `/proc/uptime`.
    uptime: File,
    /// The supervisor's word, for as long as it lives.
    leash: UnixStream,
}

impl Inside {
    /// What Ship is told in here.
    pub(crate) fn ship_options(self, options: ShipOptions) -> ShipOptions {
        let watched = self.walls.limits.memory_bytes.as_ref().filter(|limit| limit.by == "watchdog");
        // Whoever reaches a port in here is a guest; all else is asked by the socket, which has no name in here.
        let guests = |listen| if let Listen::Tcp(address) = listen { Listen::Doorstep(address) } else { listen };
        let mut listen: Vec<_> = options.listen.into_iter().map(guests).collect();
        let mut env = self.spec.env;
        if self.walls.missing().any(|wall| matches!(wall.name.as_str(), "own-layers" | "own-devices")) {
            // Watches are refused: the usual watchers of files are told to look for themselves.
            for name in ["CHOKIDAR_USEPOLLING", "WATCHPACK_POLLING"] {
                if !env.iter().any(|(other, _)| other == name) {
                    env.push((name.to_owned(), "true".to_owned()));
                }
            }
        }
        listen.push(Listen::Opened(self.listener));
        ShipOptions {
            listen,
            env,
            workspace: "/workspace".into(),
            process_limit: Some(self.spec.limits.processes),
            disk_news: Some(self.leash),
            watch_memory_bytes: watched.map(|limit| limit.value),
            limits: Some(self.walls.limits),
            uptime: Some(self.uptime),
            way_out: self.spec.egress.map(|_| root::EGRESS.into()),
            program: root::PROGRAM.into(),
            rank: Rank::Init,
            ..options
        }
    }
}

/// Puts up the walls if the owner has asked for them; `None` when nobody has.
///
/// Must be called before any thread is started. Returns in the init only: the supervisor ends here.
pub fn enter() -> Result<Option<Inside>, EnterError> {
    if std::env::var_os(ASKED).is_none() {
        return Ok(None);
    }
    let failed = |error: io::Error| EnterError(error.to_string());
    let (control, listener) = take_descriptors().map_err(failed)?;
    match supervise(&control, listener) {
        Ok(inside) => Ok(Some(inside)),
        Err(error) => {
            let _ = send(File::from(control), &Report::Failed(error.to_string()));
            Err(failed(error))
        }
    }
}

/// Moves the two descriptors that we were started with out of the way and closes everything else.
fn take_descriptors() -> io::Result<(OwnedFd, UnixListener)> {
    let missing = || io::Error::other("not started by a cell's owner");
    // Whatever else the owner had open without meaning to pass it on.
    sys::close_from(3)?;
    let null = File::options().read(true).write(true).open("/dev/null")?;
    let take = |number| -> io::Result<OwnedFd> {
        let given = sys::adopt(number).ok_or_else(missing)?;
        let moved = sys::duplicate_high(given.as_fd())?;
        sys::silence(null.as_fd(), number)?;
        // The number stays in use, for /dev/null; it is not ours to close.
        std::mem::forget(given);
        Ok(moved)
    };
    let (control, listener) = (take(0)?, take(1)?);
    Ok((control, UnixListener::from(listener)))
}

/// The supervisor: makes the groups and the init, then waits for the owner's end or the init's.
fn supervise(control: &OwnedFd, listener: UnixListener) -> io::Result<Inside> {
    sys::reset_signals();
    let spec: Spec = receive(File::from(control.try_clone()?))?;
    let root = geteuid().is_root();
    let (leash, collar) = UnixStream::pair()?;
    if !root {
        identity::enter_user_namespace(geteuid().as_raw(), getegid().as_raw())?;
    }
    sys::unshare(UnshareFlags::NEWPID)?;
    let Some(init) = sys::fork()? else {
        drop(collar);
        return become_init(control, listener, spec, leash, root);
    };
    drop((leash, listener));
    sys::run_soon();
    let mut go = Go { init_pid: init.as_raw_nonzero().get().unsigned_abs(), ..Go::default() };
    // The init builds its root meanwhile: joining a group may take as long as all of that.
    let groups = make_groups(&spec, &mut go);
    let attached = groups.attach(go.init_pid);
    let watched = attached.and_then(|()| {
        let disk = watch_disk(&spec, &collar)?;
        send(&collar, &go)?;
        Lines::open(control, init, spec.lease_until_ms)?.attend(disk)
    });
    // Whatever happened, nobody is left: the init's end is the end of its PID namespace.
    let _ = kill_process(init, Signal::KILL);
    let _ = waitpid(Some(init), WaitOptions::empty());
    groups.remove();
    if let Err(error) = watched {
        let _ = send(File::from(control.try_clone()?), &Report::Failed(error.to_string()));
    }
    sys::exit_now(0)
}

/// Starts to watch the workspace where it has a limit. Needs the sandbox's `/proc`, which its init hands over.
fn watch_disk(spec: &Spec, collar: &UnixStream) -> io::Result<Option<DiskWatch>> {
    // An init that could not build its root says why on its own.
    let Some(proc) = receive_descriptor(collar)? else { return Ok(None) };
    let Some(limit_bytes) = spec.limits.workspace_bytes else { return Ok(None) };
    DiskWatch::new(&spec.workspace, proc, collar.try_clone()?, limit_bytes).map(Some)
}

/// The control groups that can be had, and what they hold.
fn make_groups(spec: &Spec, go: &mut Go) -> Groups {
    let limits = &spec.limits;
    if !spec.control_groups {
        for controller in ["memory", "cpu", "pids"] {
            go.survey.note(&format!("cgroup-{controller}"), Err("switched off by `control_groups: false`"));
        }
        return Groups::default();
    }
    let wanted = Wanted {
        memory_bytes: Some(limits.memory_bytes),
        cpus: Some(limits.cpus),
        processes: Some(limits.processes + RESERVED_PROCESSES),
    };
    let (groups, counted) = Groups::make("cell", &wanted);
    for (controller, outcome) in counted.outcomes {
        go.survey.note(&format!("cgroup-{controller}"), outcome);
    }
    let guests = |limit: Limit<u64>| Limit::new(limit.value.saturating_sub(RESERVED_PROCESSES), limit.by);
    go.processes = counted.processes.map(guests);
    (go.memory_bytes, go.cpus) = (counted.memory_bytes, counted.cpus);
    go.cgroups = groups.folders().iter().map(|dir| dir.display().to_string()).collect();
    groups
}

/// What the supervisor listens to: its owner, who renews the lease, and the init's end.
struct Lines<'a> {
    owner: &'a OwnedFd,
    ended: OwnedFd,
    /// The owner may be frozen, and then its line stays open; this process is not, and holds the lease for it.
    lease_until_ms: Cell<Option<u64>>,
}

impl<'a> Lines<'a> {
    fn open(owner: &'a OwnedFd, init: rustix::process::Pid, lease_until_ms: Option<u64>) -> io::Result<Self> {
        let ended = pidfd_open(init, PidfdFlags::empty())?;
        Ok(Self { owner, ended, lease_until_ms: Cell::new(lease_until_ms) })
    }

    /// Returns when all is over; watches the workspace meanwhile.
    fn attend(&self, mut disk: Option<DiskWatch>) -> io::Result<()> {
        while !self.over(disk.as_ref().map(DiskWatch::pause))? {
            if let Some(disk) = &mut disk {
                disk.look(&|| matches!(self.over(Some(Duration::ZERO)), Ok(false)));
            }
        }
        Ok(())
    }

    /// Waits so long at most, or until the owner has gone, the init has ended, or the lease is over.
    fn over(&self, wait: Option<Duration>) -> io::Result<bool> {
        let left = match self.lease_until_ms.get() {
            Some(until) => match until.saturating_sub(cove_cgroup::uptime_ms()?) {
                0 => return Ok(true),
                left => Some(Duration::from_millis(left.min(LEASE_LOOK_MS))),
            },
            None => None,
        };
        let wait = wait.into_iter().chain(left).min().and_then(|wait| Timespec::try_from(wait).ok());
        // Without a lease no bytes are expected any more; only the end of the line is.
        let renewals = if left.is_some() { PollFlags::IN } else { PollFlags::empty() };
        let mut both = [
            PollFd::new(self.owner, PollFlags::RDHUP | PollFlags::HUP | renewals),
            PollFd::new(&self.ended, PollFlags::IN),
        ];
        match poll(&mut both, wait.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
        let [line, end] = [both[0].revents(), both[1].revents()];
        if !end.is_empty() || !line.difference(PollFlags::IN).is_empty() {
            return Ok(true);
        }
        if line.contains(PollFlags::IN) {
            let mut until = [0; 8];
            File::from(self.owner.try_clone()?).read_exact(&mut until)?;
            self.lease_until_ms.set(self.lease_until_ms.get().max(Some(u64::from_be_bytes(until))));
        }
        Ok(false)
    }
}

/// Process 1 of the sandbox: walls first, report, then it is Ship.
fn become_init(
    control: &OwnedFd,
    listener: UnixListener,
    spec: Spec,
    leash: UnixStream,
    was_root: bool,
) -> io::Result<Inside> {
    let outcome = put_up_walls(&spec, &leash, was_root);
    let report = match &outcome {
        Ok((walls, _)) => Report::Ready(Box::new(walls.clone())),
        Err(error) => Report::Failed(error.to_string()),
    };
    send(File::from(control.try_clone()?), &report)?;
    match outcome {
        Ok((walls, uptime)) => Ok(Inside { listener, spec, walls, uptime, leash }),
        Err(_) => sys::exit_now(1),
    }
}

fn put_up_walls(spec: &Spec, leash: &UnixStream, was_root: bool) -> io::Result<(EffectiveWalls, File)> {
    let mut survey = Survey::default();
    let new = |what: &str| Ok::<_, io::Error>(what.to_owned());
    let spaces = UnshareFlags::NEWNS | UnshareFlags::NEWIPC | UnshareFlags::NEWUTS | UnshareFlags::NEWNET;
    sys::unshare(spaces)?;
    rustix::system::sethostname(spec.hostname.as_bytes())?;
    let loopback = sys::raise_loopback();
    let root::Built { shared, shared_devices, uptime } = root::build(spec)?;
    send_descriptor(leash, open_proc()?.as_fd())?;
    survey.note("mount-namespace", new("a root of our own: programs to read, /workspace and /tmp to write"));
    survey.note("own-layers", own_layers(&shared));
    survey.note("own-devices", own_devices(shared_devices));
    survey.note("ipc-namespace", new("new"));
    survey.note("uts-namespace", new("new"));
    survey.note("network-namespace", loopback.map(|()| "only its own loopback".to_owned()));
    survey.note("pid-namespace", first_process());

    let Go { init_pid, cgroups, memory_bytes, cpus, processes, survey: counted } =
        receive(leash).map_err(|_| io::Error::other("the supervisor has gone"))?;
    survey.0.extend(counted.0);
    survey.note("cgroup-namespace", sys::unshare(UnshareFlags::NEWCGROUP).map(|()| "new".to_owned()));
    if was_root {
        identity::become_owner_of_cargo(spec.uid, spec.gid)?;
        identity::enter_user_namespace(spec.uid, spec.gid)?;
    }
    survey.note("user-namespace", new(&format!("uid {INSIDE} inside is {} outside, and nobody else", spec.uid)));

    let mut limits = EffectiveLimits { memory_bytes, cpus, processes, ..EffectiveLimits::default() };
    limits.tmp_bytes = Some(Limit::new(spec.limits.tmp_bytes, "tmpfs"));
    survey.note("resource-limits", rlimits::set(&spec.limits, &mut limits));
    rustix::thread::set_no_new_privs(true)?;
    identity::drop_capabilities()?;
    // Guests have the same user as Ship: without this they could read and change it.
    set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    survey.note("not-dumpable", new("Ship cannot be read or traced by guests"));
    stay_on_leash(leash)?;
    survey.note("landlock", landlock_rules::put_on());
    survey.note("signal-scope", landlock_rules::scopes_signals());
    let shared = seccomp::Shared { system: !shared.is_empty(), devices: shared_devices };
    survey.note("seccomp", seccomp::put_on(shared));
    confirm(&mut survey);
    for needed in NEEDED {
        let missing = |wall: &&Wall| wall.name == needed && wall.state == WallState::Missing;
        if let Some(wall) = survey.0.iter().find(missing) {
            return Err(io::Error::other(format!("{}: {}", wall.name, wall.detail)));
        }
    }
    let walls = EffectiveWalls {
        walls: survey.0,
        limits,
        network: spec.network.clone(),
        inside_uid: INSIDE,
        outside_uid: spec.uid,
        init_pid,
        cgroups,
    };
    Ok((walls, uptime))
}

/// Whether everything that guests read of the machine is a layer of their own.
fn own_layers(shared: &[String]) -> Result<String, String> {
    if shared.is_empty() {
        return Ok("the machine's files are read through overlays of the sandbox's own".to_owned());
    }
    Err(format!("watches and flock are refused instead, record locks are not: {}", shared.join(", ")))
}

/// Through nodes of the machine's own nobody can be watched or held up, but two guests who lock them can signal.
fn own_devices(shared: bool) -> Result<String, String> {
    if shared {
        let why =
            "only root can make device nodes: these are the machine's; watches are refused, locks on them are not";
        return Err(why.to_owned());
    }
    Ok("nodes of the sandbox's own".to_owned())
}

fn first_process() -> io::Result<String> {
    match rustix::process::getpid().as_raw_nonzero().get() {
        1 => Ok("Ship is process 1".to_owned()),
        other => Err(io::Error::other(format!("Ship is process {other}"))),
    }
}

/// The kernel kills us when the supervisor ends; set last, because changes of identity undo it.
fn stay_on_leash(leash: &UnixStream) -> io::Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    let mut end = [PollFd::new(leash, PollFlags::HUP)];
    poll(&mut end, Some(&Timespec { tv_sec: 0, tv_nsec: 0 }))?;
    if end[0].revents().contains(PollFlags::HUP) {
        return Err(io::Error::other("the supervisor has gone"));
    }
    Ok(())
}

/// Compares what the calls returned with what the kernel shows.
fn confirm(survey: &mut Survey) {
    let mut status = String::new();
    let read = File::open("/proc/self/status").and_then(|mut file| file.read_to_string(&mut status));
    let field = |name: &str| status.lines().find_map(|line| Some(line.strip_prefix(name)?.strip_prefix(':')?.trim()));
    let expected = [
        ("no-new-privileges", "NoNewPrivs", "1"),
        ("seccomp", "Seccomp", "2"),
        ("capabilities", "CapBnd", "0000000000000000"),
        ("capabilities", "CapAmb", "0000000000000000"),
        ("capabilities", "CapInh", "0000000000000000"),
        ("capabilities", "CapPrm", "0000000000000000"),
        ("capabilities", "CapEff", "0000000000000000"),
    ];
    for (wall, name, wanted) in expected {
        let seen = match (&read, field(name)) {
            (Err(error), _) => Err(format!("/proc/self/status cannot be read: {error}")),
            (Ok(_), Some(seen)) if seen == wanted => Ok(format!("{name} {seen}")),
            (Ok(_), seen) => Err(format!("/proc/self/status says {name} {}", seen.unwrap_or("nothing"))),
        };
        let stands = survey.0.iter().any(|other| other.name == wall && other.state == WallState::Missing);
        if !stands || seen.is_err() {
            survey.note(wall, seen);
        }
    }
}
