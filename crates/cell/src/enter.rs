//! From a freshly started process to the inside of a cell: the supervisor and the init.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;

use cove_cgroup::{Door, Groups, LimitedBy, Wanted};
use cove_walls::descriptors::{adopt, close_from, duplicate_high, place};
use cove_walls::fork::{Forked, exit_now, fork, reset_signals};
use cove_walls::identity::{
    become_user_with_capabilities, drop_capabilities, is_full_root, set_dumpable, set_no_new_privileges,
};
use cove_walls::namespaces::{UnshareFlags, raise_loopback, unshare};
use cove_walls::{SharedPage, Status, landlock_rules as landlock, namespaces, run_soon, take_short_turns};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::process::{Signal, WaitOptions, getegid, geteuid, kill_process, set_parent_process_death_signal, waitpid};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use super::attend::{Duties, attend};
use super::blocked::{WallFailure, wall};
use super::disk::DiskWatch;
use super::guests::open_proc;
use super::identity::{self, INSIDE};
use super::ledger::{LEDGER_FILES, MemoryLedger};
use super::procfs::Opened;
use super::report::{EffectiveLimits, EffectiveWalls, Survey};
use super::rlimits::RESERVED_PROCESSES;
use super::root::during;
use super::seccomp::{Conditions, Filters, Shared};
use super::spec::{Report, Spec, StartSignal, receive, receive_descriptors, send, send_descriptors};
use super::watch::{self, Scope, Watch};
use super::{Limit, landlock_rules, rlimits, root};
use crate::oom::OomScore;

/// Set by the owner; says that standard input is its line to us and standard output the listening socket.
pub(super) const ASKED: &str = "COVE_CELL";

/// What the init says first.
const HERE: u8 = b'h';

/// Without these nothing of a guest runs. Namespaces are not in the list: they cannot be missing without an error.
const NEEDED: [&str; 5] = ["capabilities", "network-namespace", "no-new-privileges", "pid-namespace", "seccomp"];

/// The walls could not be put up.
#[derive(Debug, thiserror::Error)]
#[error("the walls of the sandbox could not be put up: {0}")]
pub struct EnterError(String);

impl EnterError {
    pub(super) fn new(error: &io::Error) -> Self {
        Self(error.to_string())
    }
}

/// The inside of a cell, with all walls up: what whoever serves in here is given.
#[derive(Debug)]
pub struct Inside {
    /// Where the owner connects; it has no name in here.
    pub listener: UnixListener,
    /// The environment of guests.
    pub env: Vec<(String, String)>,
    /// How many processes guests may have.
    pub process_limit: u64,
    /// The processors that guests have and must not change; empty: all.
    pub processors: Vec<usize>,
    /// What is enforced.
    pub limits: EffectiveLimits,
    /// Who knows when memory ran out.
    pub memory: MemoryLedger,
    /// Makes guests the first to be killed when memory runs out.
    pub score: Option<OomScore>,
    /// What guests read as `/proc/uptime`, to be [kept up to date](super::tell_uptime).
    pub uptime: File,
    /// The supervisor's word about the disk, for as long as it lives.
    pub disk_news: UnixStream,
    /// The socket of the proxy that leads out, if the profile has one.
    pub way_out: Option<PathBuf>,
    /// Where this very program is in here.
    pub program: PathBuf,
}

/// The walls that are up, and what Ship needs of what was open before.
#[derive(Debug)]
struct ActiveWalls {
    walls: EffectiveWalls,
    ledger: MemoryLedger,
    score: Option<OomScore>,
    uptime: File,
}

/// What the init has of its supervisor.
struct FromSupervisor {
    supervisor_line: UnixStream,
    page: SharedPage,
    /// `/proc` as it is outside, to be written where the sandbox's own is not.
    proc: OwnedFd,
    was_root: bool,
}

impl Inside {
    fn new(listener: UnixListener, spec: Spec, up: ActiveWalls, supervisor_line: UnixStream) -> Self {
        let ActiveWalls { walls, ledger, score, uptime } = up;
        let mut env = spec.env;
        if walls.missing().any(|wall| matches!(wall.name.as_str(), "own-layers" | "own-devices")) {
            // Watches are refused: the usual watchers of files are told to look for themselves.
            for name in ["CHOKIDAR_USEPOLLING", "WATCHPACK_POLLING"] {
                if !env.iter().any(|(other, _)| other == name) {
                    env.push((name.to_owned(), "true".to_owned()));
                }
            }
        }
        Self {
            listener,
            env,
            process_limit: spec.limits.processes,
            processors: if walls.limits.processors_are_chosen() { spec.processors } else { Vec::new() },
            limits: walls.limits,
            memory: ledger,
            score,
            uptime,
            disk_news: supervisor_line,
            way_out: spec.egress.map(|_| root::EGRESS.into()),
            program: root::PROGRAM.into(),
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
    let failed = |error: io::Error| EnterError::new(&error);
    let (control, listener) = take_descriptors().map_err(failed)?;
    match supervise(&control, listener) {
        Ok(inside) => Ok(Some(inside)),
        Err(error) => match send(File::from(control), &Report::Failed(WallFailure::from(&error))) {
            // The owner knows, and says so to whoever asked.
            Ok(()) => exit_now(1),
            Err(_) => Err(failed(error)),
        },
    }
}

/// Moves the two descriptors that we were started with out of the way and closes everything else.
fn take_descriptors() -> io::Result<(OwnedFd, UnixListener)> {
    let missing = || io::Error::other("this process was not started by a supervisor of cells");
    // Whatever else the owner had open without meaning to pass it on.
    close_from(3)?;
    let null = File::options().read(true).write(true).open("/dev/null")?;
    let take = |number| -> io::Result<OwnedFd> {
        let given = adopt(number).ok_or_else(missing)?;
        let moved = duplicate_high(&given)?;
        place(&null, number)?;
        // The number stays in use, for /dev/null; it is not ours to close.
        std::mem::forget(given);
        Ok(moved)
    };
    let (control, listener) = (take(0)?, take(1)?);
    Ok((control, UnixListener::from(listener)))
}

/// The supervisor: makes the groups and the init, then waits for the owner's end or the init's.
fn supervise(control: &OwnedFd, listener: UnixListener) -> io::Result<Inside> {
    reset_signals(1..32);
    let spec: Spec = receive(File::from(control.try_clone()?))?;
    let root = is_full_root();
    let (supervisor_line, init_line) = UnixStream::pair()?;
    let page = SharedPage::new()?;
    let proc = namespaces::open_proc()?;
    if !root {
        identity::enter_user_namespace(&proc, geteuid().as_raw(), getegid().as_raw())?;
    }
    wall("pid-namespace", unshare(UnshareFlags::NEWPID))?;
    let Forked::Parent(init) = fork()? else {
        drop(init_line);
        return become_init(control, listener, spec, FromSupervisor { supervisor_line, page, proc, was_root: root });
    };
    drop((supervisor_line, listener, proc));
    // The new process begins where this one runs: until this one rests. Then it is woken, on another processor.
    (&init_line).read_exact(&mut [0]).map_err(|_| io::Error::other("the first process of the sandbox has ended"))?;
    run_soon();
    let mut go = StartSignal { init_pid: init.as_raw_nonzero().get().unsigned_abs(), ..StartSignal::default() };
    // The init builds its root meanwhile, which takes as long as all that follows.
    let network = make_network(&mut go);
    let groups = make_groups(&spec, &mut go);
    let watched = network.and_then(|network| {
        let counted = go.memory_bytes.is_some();
        let ledger = groups.memory_files().unwrap_or_default();
        let scope = if counted { Scope::Uncharged } else { Scope::Everything };
        (go.ledger, go.wait_for_watch) = (!ledger.is_empty(), scope == Scope::Everything || !root);
        let doors = groups.admit(go.init_pid)?;
        let given = [network.as_fd()].into_iter().chain(ledger.iter().map(AsFd::as_fd));
        send_descriptors(&init_line, &given.chain(doors.iter().map(AsFd::as_fd)).collect::<Vec<_>>())?;
        drop(doors);
        send(&init_line, &go)?;
        Filters::compile(Conditions::usual(counted)).map_err(io::Error::other)?.send(&init_line)?;
        // An init that could not build its root says why on its own.
        let mut opened = receive_descriptors(&init_line)?.into_iter();
        let (proc, locks) = (opened.next(), opened.next().map(File::from));
        // Meanwhile the init goes on with its walls; nobody writes before they stand.
        let disk = proc.map_or(Ok(None), |proc| watch_disk(&spec, &init_line, proc))?;
        let turn = groups.turn();
        let open = || Watch::open(go.init_pid, scope, spec.limits.memory_bytes, page, turn, locks);
        attend(Duties {
            control,
            init,
            init_line: &init_line,
            open,
            init_waits: go.wait_for_watch,
            disk,
            lease_until_ms: spec.lease_until_ms,
        })
    });
    // Whatever happened, nobody is left: the init's end is the end of its PID namespace.
    let _ = kill_process(init, Signal::KILL);
    let _ = waitpid(Some(init), WaitOptions::empty());
    groups.remove();
    if let Err(error) = watched {
        let _ = send(File::from(control.try_clone()?), &Report::Failed(WallFailure::from(&error)));
    }
    exit_now(0)
}

/// Starts to watch the workspace where it has a limit. Needs the sandbox's `/proc`, which its init hands over.
fn watch_disk(spec: &Spec, init_line: &UnixStream, proc: OwnedFd) -> io::Result<Option<DiskWatch>> {
    let Some(limit_bytes) = spec.limits.workspace_bytes else { return Ok(None) };
    DiskWatch::new(&spec.workspace, proc, init_line.try_clone()?, limit_bytes).map(Some)
}

/// A network with nothing but its own loopback, in which this process is from now on: it looks at the sockets in there.
fn make_network(go: &mut StartSignal) -> io::Result<OwnedFd> {
    wall("network-namespace", unshare(UnshareFlags::NEWNET))?;
    go.survey.note("network-namespace", raise_loopback().map(|()| "only its own loopback".to_owned()));
    Ok(rustix::fs::open("/proc/self/ns/net", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?)
}

/// The control groups that can be had, and what they hold.
fn make_groups(spec: &Spec, go: &mut StartSignal) -> Groups {
    let limits = &spec.limits;
    if !spec.control_groups {
        for controller in ["memory", "cpu", "pids"] {
            go.survey.note(format!("cgroup-{controller}"), Err::<String, _>("switched off by `control_groups: false`"));
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
        go.survey.note(format!("cgroup-{controller}"), outcome);
    }
    let guests = |limit: Limit<u64>| Limit::new(limit.value.saturating_sub(RESERVED_PROCESSES), limit.by);
    go.processes = counted.processes.map(guests);
    (go.memory_bytes, go.cpus) = (counted.memory_bytes, counted.cpus);
    go.cgroups = groups.folders().iter().map(|dir| dir.display().to_string()).collect();
    groups
}

/// Process 1 of the sandbox: walls first, report, then it is Ship.
fn become_init(control: &OwnedFd, listener: UnixListener, spec: Spec, given: FromSupervisor) -> io::Result<Inside> {
    let outcome = put_up_walls(&spec, &given);
    let report = match &outcome {
        Ok(up) => Report::Ready(Box::new(up.walls.clone())),
        Err(error) => Report::Failed(WallFailure::from(error)),
    };
    send(File::from(control.try_clone()?), &report)?;
    match outcome {
        Ok(up) => Ok(Inside::new(listener, spec, up, given.supervisor_line)),
        Err(_) => exit_now(1),
    }
}

fn put_up_walls(spec: &Spec, given: &FromSupervisor) -> io::Result<ActiveWalls> {
    let FromSupervisor { supervisor_line, page, proc, was_root } = given;
    let mut survey = Survey::default();
    let new = |what: &str| Ok::<_, io::Error>(what.to_owned());
    let gone = |_| io::Error::other("the supervisor has gone");
    { supervisor_line }.write_all(&[HERE]).map_err(gone)?;
    // Ship's turns; guests have the usual ones.
    take_short_turns();
    let spaces = UnshareFlags::NEWNS | UnshareFlags::NEWIPC | UnshareFlags::NEWUTS;
    wall("mount, IPC and UTS namespaces", unshare(spaces))?;
    let named = rustix::system::sethostname(spec.hostname.as_bytes());
    let root::Built { shared, shared_devices, opened: Opened { uptime, locks } } = root::build(spec)?;
    let own_proc = open_proc()?;
    let given = [Some(own_proc.as_fd()), locks.as_ref().map(AsFd::as_fd)];
    send_descriptors(supervisor_line, &given.into_iter().flatten().collect::<Vec<_>>())?;
    drop(locks);
    survey.note("mount-namespace", new("a root of our own: programs to read, /workspace and /tmp to write"));
    survey.note("own-layers", own_layers(&shared));
    survey.note("own-devices", own_devices(shared_devices));
    survey.note("ipc-namespace", new("new"));
    survey.note(
        "uts-namespace",
        named.map(|()| "new").map_err(|error| format!("guests see the machine's name: {error}")),
    );
    survey.note("pid-namespace", first_process());

    let mut files = receive_descriptors(supervisor_line).map_err(gone)?.into_iter();
    let network = files.next().ok_or_else(|| io::Error::other("the supervisor has gone"))?;
    move_into_link_name_space(network.as_fd(), Some(LinkNameSpaceType::Network))?;
    let StartSignal { init_pid, cgroups, memory_bytes, cpus, processes, survey: counts, ledger, wait_for_watch } =
        receive(supervisor_line).map_err(gone)?;
    survey.append(counts);
    let memory_counted = memory_bytes.is_some();
    let filters = Filters::receive(supervisor_line, Conditions::usual(memory_counted)).map_err(gone)?;
    let kept: Vec<_> = files.by_ref().take(if ledger { LEDGER_FILES } else { 0 }).map(File::from).collect();
    for door in files {
        during("joining a control group", Door::from(door).walk_through())?;
    }
    let ledger = <[File; LEDGER_FILES]>::try_from(kept).ok();
    let ledger = MemoryLedger::new(spec.limits.memory_bytes, ledger, page.clone(), Some(supervisor_line.try_clone()?));
    if !memory_counted && !landlock::is_known() {
        root::take_zero_away()?;
    }
    survey.note("cgroup-namespace", unshare(UnshareFlags::NEWCGROUP).map(|()| "new".to_owned()));
    if *was_root {
        // Ship is not killed at all: it is small, and with it the sandbox's /tmp and session would go.
        let _ = OomScore::protect(proc);
        // Whoever owns nothing but the cargo. The capabilities are kept for the next step.
        become_user_with_capabilities(spec.uid, spec.gid)?;
        identity::enter_user_namespace(proc, spec.uid, spec.gid)?;
    }
    survey.note("user-namespace", new(&format!("uid {INSIDE} inside is {} outside, and nobody else", spec.uid)));

    let mut limits = EffectiveLimits { memory_bytes, cpus, processes, ..EffectiveLimits::default() };
    if limits.cpus.is_none() && !spec.processors.is_empty() {
        #[allow(clippy::cast_precision_loss, reason = "a number of processors")]
        let count = spec.processors.len() as f64;
        limits.cpus = Some(Limit::new(count, LimitedBy::Affinity));
    }
    limits.tmp_bytes = Some(Limit::new(spec.limits.tmp_bytes, LimitedBy::Tmpfs));
    survey.note("resource-limits", rlimits::set(&spec.limits, &mut limits));
    survey.note("inotify-share", identity::bound_user_namespace(proc));
    let score = OomScore::open(proc);
    survey.note("killed-first", score.as_ref().map(|_| "guests, when memory runs out".to_owned()));
    await_watch(supervisor_line, wait_for_watch)?;
    set_no_new_privileges()?;
    drop_capabilities()?;
    // Guests have the same user as Ship: without this they could read and change it.
    set_dumpable(false)?;
    survey.note("not-dumpable", new("Ship cannot be read or traced by guests"));
    stay_on_leash(supervisor_line)?;
    survey.note("landlock", landlock_rules::put_on());
    survey.note("signal-scope", landlock_rules::scopes_signals());
    let shared = Shared { system: !shared.is_empty(), devices: shared_devices };
    survey.note("seccomp", filters.under(Conditions { shared, memory_counted }).and_then(|filters| filters.put_on()));
    confirm(&mut survey);
    for needed in NEEDED {
        if let Some(wall) = survey.get(needed).filter(|wall| wall.is_missing()) {
            return Err(io::Error::other(format!("{}: {}", wall.name, wall.detail)));
        }
    }
    let walls = EffectiveWalls {
        walls: survey.into_walls(),
        limits,
        network: spec.network.clone(),
        inside_uid: INSIDE,
        outside_uid: spec.uid,
        init_pid,
        cgroups,
    };
    Ok(ActiveWalls { walls, ledger, score: score.ok(), uptime })
}

/// Whether everything that guests read of the machine is a layer of their own.
fn own_layers(shared: &[String]) -> Result<String, String> {
    if shared.is_empty() {
        return Ok("the machine's files are read through overlays of the sandbox's own".to_owned());
    }
    Err(format!("no private overlay for {}: inotify and flock are refused, record locks work", shared.join(", ")))
}

/// Through nodes of the machine's own nobody can be watched or held up, but two guests who lock them can signal.
fn own_devices(shared: bool) -> Result<String, String> {
    if shared {
        let why = "device nodes are shared with the host (only root can create private ones): file watches are refused, file \
                   locks work";
        return Err(why.to_owned());
    }
    Ok("nodes of the sandbox's own".to_owned())
}

/// Lets the watch open its eyes, which it can only while this process may be looked into.
fn await_watch(mut supervisor_line: &UnixStream, wait: bool) -> io::Result<()> {
    supervisor_line.write_all(&[watch::LOOK])?;
    let mut word = [0];
    if wait && (supervisor_line.read_exact(&mut word).is_err() || word != [watch::LOOKING]) {
        return Err(io::Error::other("memory can neither be limited by a control group nor be watched"));
    }
    Ok(())
}

fn first_process() -> io::Result<String> {
    match rustix::process::getpid().as_raw_nonzero().get() {
        1 => Ok("Ship is process 1".to_owned()),
        other => Err(io::Error::other(format!("Ship is process {other}"))),
    }
}

/// The kernel kills us when the supervisor ends; set last, because changes of identity undo it.
fn stay_on_leash(supervisor_line: &UnixStream) -> io::Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    let mut end = [PollFd::new(supervisor_line, PollFlags::HUP)];
    poll(&mut end, Some(&Timespec { tv_sec: 0, tv_nsec: 0 }))?;
    if end[0].revents().contains(PollFlags::HUP) {
        return Err(io::Error::other("the supervisor has gone"));
    }
    Ok(())
}

/// Compares what the calls returned with what the kernel shows.
fn confirm(survey: &mut Survey) {
    let status = Status::own();
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
        let seen = match status.as_ref().map(|status| status.field(name)) {
            Err(error) => Err(format!("/proc/self/status cannot be read: {error}")),
            Ok(Some(seen)) if seen == wanted => Ok(format!("{name} {seen}")),
            Ok(seen) => Err(format!("/proc/self/status says {name} {}", seen.unwrap_or("nothing"))),
        };
        let is_missing = survey.get(wall).is_some_and(|wall| wall.is_missing());
        if !is_missing || seen.is_err() {
            survey.note(wall, seen);
        }
    }
}
