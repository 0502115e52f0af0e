//! From a freshly started process to the inside of a cell: the supervisor and the init.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixListener;

use cove_cgroup::{Groups, Wanted};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{
    DumpableBehavior, PidfdFlags, Signal, WaitOptions, getegid, geteuid, kill_process, pidfd_open,
    set_dumpable_behavior, set_parent_process_death_signal, waitpid,
};
use rustix::thread::UnshareFlags;

use super::identity::{self, INSIDE};
use super::report::{EffectiveLimits, EffectiveWalls, Survey, Wall, WallState};
use super::rlimits::RESERVED_PROCESSES;
use super::spec::{Go, Report, Spec, receive, send};
use super::{Limit, landlock_rules, rlimits, root, seccomp};
use crate::process::Rank;
use crate::ship::{Listen, ShipOptions};
use crate::sys;

/// Set by the owner; says that standard input is its line to us and standard output the listening socket.
pub(super) const ASKED: &str = "COVE_CELL";

/// Without these nothing of a guest runs. Namespaces are not in the list: they cannot be missing without an error.
const NEEDED: [&str; 5] = ["capabilities", "network-namespace", "no-new-privileges", "pid-namespace", "seccomp"];

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
    /// Held open by the supervisor for as long as it lives.
    _leash: OwnedFd,
}

impl Inside {
    /// What Ship is told in here.
    pub(crate) fn ship_options(self, options: ShipOptions) -> ShipOptions {
        let watched = self.walls.limits.memory_bytes.as_ref().filter(|limit| limit.by == "watchdog");
        // Whoever reaches a port in here is a guest; all else is asked by the socket, which has no name in here.
        let guests = |listen| if let Listen::Tcp(address) = listen { Listen::Doorstep(address) } else { listen };
        let mut listen: Vec<_> = options.listen.into_iter().map(guests).collect();
        listen.push(Listen::Opened(self.listener));
        ShipOptions {
            listen,
            env: self.spec.env,
            workspace: "/workspace".into(),
            process_limit: Some(self.spec.limits.processes),
            watch_workspace_bytes: self.spec.limits.workspace_bytes,
            watch_memory_bytes: watched.map(|limit| limit.value),
            limits: Some(self.walls.limits),
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
    let (leash, collar) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
    if !root {
        identity::enter_user_namespace(geteuid().as_raw(), getegid().as_raw())?;
    }
    sys::unshare(UnshareFlags::NEWPID)?;
    let Some(init) = sys::fork()? else {
        drop(collar);
        return become_init(control, listener, spec, leash, root);
    };
    drop((leash, listener));
    let mut go = Go { init_pid: init.as_raw_nonzero().get().unsigned_abs(), ..Go::default() };
    // The init builds its root meanwhile: joining a group may take as long as all of that.
    let groups = make_groups(&spec, &mut go);
    let attached = groups.attach(go.init_pid);
    let watched = attached.and_then(|()| {
        send(File::from(collar.try_clone()?), &go)?;
        watch(control, init)
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

/// Returns when the owner has gone or the init has ended.
fn watch(control: &OwnedFd, init: rustix::process::Pid) -> io::Result<()> {
    let ended = pidfd_open(init, PidfdFlags::empty())?;
    loop {
        let mut both = [
            // No bytes are expected any more; only the end of the line is.
            PollFd::new(control, PollFlags::RDHUP | PollFlags::HUP),
            PollFd::new(&ended, PollFlags::IN),
        ];
        match poll(&mut both, None) {
            Ok(_) if both.iter().any(|one| !one.revents().is_empty()) => return Ok(()),
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
}

/// Process 1 of the sandbox: walls first, report, then it is Ship.
fn become_init(
    control: &OwnedFd,
    listener: UnixListener,
    spec: Spec,
    leash: OwnedFd,
    was_root: bool,
) -> io::Result<Inside> {
    let outcome = put_up_walls(&spec, &leash, was_root);
    let report = match &outcome {
        Ok(walls) => Report::Ready(Box::new(walls.clone())),
        Err(error) => Report::Failed(error.to_string()),
    };
    send(File::from(control.try_clone()?), &report)?;
    match outcome {
        Ok(walls) => Ok(Inside { listener, spec, walls, _leash: leash }),
        Err(_) => sys::exit_now(1),
    }
}

fn put_up_walls(spec: &Spec, leash: &OwnedFd, was_root: bool) -> io::Result<EffectiveWalls> {
    let mut survey = Survey::default();
    let new = |what: &str| Ok::<_, io::Error>(what.to_owned());
    let spaces = UnshareFlags::NEWNS | UnshareFlags::NEWIPC | UnshareFlags::NEWUTS | UnshareFlags::NEWNET;
    sys::unshare(spaces)?;
    rustix::system::sethostname(spec.hostname.as_bytes())?;
    let loopback = sys::raise_loopback();
    root::build(spec)?;
    survey.note("mount-namespace", new("a root of our own: programs to read, /workspace and /tmp to write"));
    survey.note("ipc-namespace", new("new"));
    survey.note("uts-namespace", new("new"));
    survey.note("network-namespace", loopback.map(|()| "only its own loopback".to_owned()));
    survey.note("pid-namespace", first_process());

    let Go { init_pid, cgroups, memory_bytes, cpus, processes, survey: counted } =
        receive(File::from(leash.try_clone()?)).map_err(|_| io::Error::other("the supervisor has gone"))?;
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
    survey.note("seccomp", seccomp::put_on());
    confirm(&mut survey);
    for needed in NEEDED {
        let missing = |wall: &&Wall| wall.name == needed && wall.state == WallState::Missing;
        if let Some(wall) = survey.0.iter().find(missing) {
            return Err(io::Error::other(format!("{}: {}", wall.name, wall.detail)));
        }
    }
    Ok(EffectiveWalls {
        walls: survey.0,
        limits,
        network: spec.network.clone(),
        inside_uid: INSIDE,
        outside_uid: spec.uid,
        init_pid,
        cgroups,
    })
}

fn first_process() -> io::Result<String> {
    match rustix::process::getpid().as_raw_nonzero().get() {
        1 => Ok("Ship is process 1".to_owned()),
        other => Err(io::Error::other(format!("Ship is process {other}"))),
    }
}

/// The kernel kills us when the supervisor ends; set last, because changes of identity undo it.
fn stay_on_leash(leash: &OwnedFd) -> io::Result<()> {
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
