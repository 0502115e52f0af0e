//! `cove ship`: Ship as a program of its own, inside a sandbox or without one.

use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::time::Duration;

use cove_runtime_api::OwnerLease;

use super::options::DEFAULT_PORT;
use super::{IPythonUse, Listen, Rank, ShipOptions, serve};
use cove_cell::{Inside, PodWalls};

const USAGE: &str = "usage: ship [--listen ADDRESS:PORT|unix:PATH]… [--workspace DIR] [--env NAME=VALUE]…
            [--python PROGRAM] [--ipython auto|always|never] [--preload MODULE,…]
            [--contained [--pod-processes COUNT] [--egress SOCKET] [--lease SECONDS:FILE]]";

/// Threads for work on files.
const FILE_THREADS: usize = 4;

/// Longer than any machine runs.
const FOREVER: Duration = Duration::from_secs(u32::MAX as u64);

/// Starts all threads for file work: what keeps guests off Ship's threads knows those that are there before the first
/// guest. Each waits until the last one is there, so that none gets the work of two.
fn start_file_threads() {
    let all = std::sync::Arc::new(std::sync::Barrier::new(FILE_THREADS));
    for _ in 0..FILE_THREADS {
        let all = std::sync::Arc::clone(&all);
        drop(tokio::task::spawn_blocking(move || all.wait()));
    }
}

/// Runs Ship until its listeners end; returns the exit code and, where there is one, what to tell the user.
///
/// Must be called first thing in `main`, before any thread is started: when it was started by a
/// [`LocalCell`](cove_cell::LocalCell), this process first puts up its own walls.
pub fn command(args: &[String]) -> (u8, Option<String>) {
    if let Some(ended) = super::javascript::enter_if_asked(args) {
        return ended;
    }
    let inside = match cove_cell::enter() {
        Ok(inside) => inside,
        Err(error) => return (5, Some(error.to_string())),
    };
    let parsed = parse(args);
    let contained = parsed.as_ref().is_ok_and(|parsed| parsed.contained);
    let pod = parsed.as_ref().ok().and_then(|parsed| parsed.pod);
    let walled = inside.is_some() || contained;
    let lease = parsed.as_ref().ok().and_then(|parsed| parsed.lease.clone());
    let mut parsed = parsed.map(|parsed| parsed.options);
    if let Ok(options) = &mut parsed {
        let all = std::env::args().skip(1);
        let before = all.len().saturating_sub(args.len());
        options.program_args = all.take(before).collect();
    }
    let options = match (inside, parsed) {
        (_, Err(problem)) => return (2, Some(format!("{problem}\n{USAGE}"))),
        (Some(inside), Ok(options)) => behind_walls(inside, options),
        (None, Ok(options)) if contained => match in_container(options, pod) {
            Ok(options) => options,
            Err(problem) => return (5, Some(problem)),
        },
        (None, Ok(options)) => {
            // Otherwise the end of a program that has lost its parents would be told to somebody else.
            let _ = rustix::process::set_child_subreaper(rustix::process::Pid::from_raw(1));
            ShipOptions { rank: Rank::Alone, ..options }
        }
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(FILE_THREADS)
        // A guest may use up all processes; the threads that Ship has, it keeps.
        .thread_keep_alive(FOREVER)
        .build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => return (5, Some(format!("no runtime: {error}"))),
    };
    let served = runtime.block_on(async {
        start_file_threads();
        let mut ship = serve(options).await?;
        if walled {
            // Signals come from guests only: their owner ends a cell otherwise.
            tokio::select! {
                () = ship.wait() => {}
                () = silence(lease) => {}
            }
        } else {
            use tokio::signal::unix::{SignalKind, signal};
            let (mut term, mut int) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
            tokio::select! {
                () = ship.wait() => {}
                _ = term.recv() => {}
                _ = int.recv() => {}
            }
        }
        ship.end().await;
        Ok::<_, super::ShipError>(())
    });
    match served {
        Ok(()) => (0, None),
        Err(error) => (5, Some(error.to_string())),
    }
}

/// Waits until the owner is gone for good; for ever where nobody is to be watched.
async fn silence(lease: Option<OwnerLease>) {
    match lease {
        Some(lease) => lease.over().await,
        None => std::future::pending().await,
    }
}

/// What Ship is told in a container of somebody else's. Its sockets are opened first: afterwards nothing outside of the
/// workspace can be written.
fn in_container(options: ShipOptions, pod: Option<PodWalls>) -> Result<ShipOptions, String> {
    let mut listen = Vec::new();
    for place in options.listen {
        listen.push(match place {
            Listen::Tcp(address) => Listen::GuestPort(address),
            Listen::Unix(path) => match UnixListener::bind(&path) {
                Ok(listener) => Listen::Opened(listener),
                Err(error) => return Err(format!("cannot listen on {}: {error}", path.display())),
            },
            other => other,
        });
    }
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let inside = cove_cell::contain(pod).map_err(|error| error.to_string())?;
    let mut env = options.env;
    // As the image has it.
    if let Ok(path) = std::env::var("PATH")
        && !env.iter().any(|(name, _)| name == "PATH")
    {
        env.push(("PATH".to_owned(), path));
    }
    Ok(ShipOptions {
        listen,
        env,
        process_limit: pod.map(|pod| pod.processes),
        limits: Some(inside.limits),
        memory: inside.memory,
        score: inside.score,
        program,
        rank: Rank::Init,
        ..options
    })
}

/// What Ship is told inside of a cell.
fn behind_walls(inside: Inside, options: ShipOptions) -> ShipOptions {
    // Whoever reaches a port in here is a guest; all else is asked by the socket, which has no name in here.
    let guests = |listen| if let Listen::Tcp(address) = listen { Listen::GuestPort(address) } else { listen };
    let mut listen: Vec<_> = options.listen.into_iter().map(guests).collect();
    listen.push(Listen::Opened(inside.listener));
    ShipOptions {
        listen,
        env: inside.env,
        workspace: "/workspace".into(),
        process_limit: Some(inside.process_limit),
        disk_news: Some(inside.disk_news),
        processors: inside.processors,
        limits: Some(inside.limits),
        memory: Some(inside.memory),
        score: inside.score,
        uptime: Some(inside.uptime),
        way_out: inside.way_out,
        program: inside.program,
        rank: Rank::Init,
        ..options
    }
}

/// What the command line says.
#[derive(Debug)]
struct Parsed {
    options: ShipOptions,
    /// Whether this is process 1 of a container of somebody else's.
    contained: bool,
    /// That container is one of a Pod's.
    pod: Option<PodWalls>,
    /// It ends when its owner is silent for too long.
    lease: Option<OwnerLease>,
}

fn parse(args: &[String]) -> Result<Parsed, String> {
    let mut options = ShipOptions { listen: Vec::new(), ..ShipOptions::default() };
    let (mut contained, mut pod, mut lease) = (false, None, None);
    let mut args = args.iter();
    while let Some(name) = args.next() {
        let mut value = || args.next().cloned().ok_or_else(|| format!("{name} needs a value"));
        match name.as_str() {
            "--listen" => {
                let value = value()?;
                options.listen.push(match value.strip_prefix("unix:") {
                    Some(path) => Listen::Unix(PathBuf::from(path)),
                    None => Listen::Tcp(value.parse().map_err(|_| format!("{value:?} is not an address with a port"))?),
                });
            }
            "--contained" => contained = true,
            "--pod-processes" => {
                let processes = value()?.parse().map_err(|_| "--pod-processes needs a number".to_owned())?;
                pod = Some(PodWalls { processes });
            }
            "--lease" => lease = Some(value()?.parse()?),
            "--egress" => options.way_out = Some(PathBuf::from(value()?)),
            "--workspace" => options.workspace = PathBuf::from(value()?),
            "--python" => options.python = value()?,
            "--env" => {
                let value = value()?;
                let (name, value) = value.split_once('=').ok_or_else(|| format!("{value:?} is not NAME=VALUE"))?;
                options.env.push((name.to_owned(), value.to_owned()));
            }
            "--preload" => options.preload = Some(value()?.split(',').map(str::to_owned).collect()),
            "--ipython" => {
                options.ipython = match value()?.as_str() {
                    "auto" => IPythonUse::Auto,
                    "always" => IPythonUse::Always,
                    "never" => IPythonUse::Never,
                    other => return Err(format!("{other:?} is neither auto, always nor never")),
                }
            }
            other => return Err(format!("unknown argument {other:?}")),
        }
    }
    if options.listen.is_empty() {
        options.listen.push(Listen::Tcp(([0, 0, 0, 0], DEFAULT_PORT).into()));
    }
    Ok(Parsed { options, contained, pod, lease })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_read_or_named() {
        let parse = |words: &[&str]| parse(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
        let words = ["--listen", "127.0.0.1:1", "--listen", "unix:/x", "--env", "A=b=c", "--contained"];
        let Parsed { options, contained, .. } = parse(&words).unwrap();
        assert_eq!((options.listen.len(), contained), (2, true));
        assert_eq!(options.env, [("A".to_owned(), "b=c".to_owned())]);
        assert_eq!(parse(&[]).unwrap().options.listen.len(), 1);
        for wrong in [&["--listen"][..], &["--listen", "x"], &["--env", "x"], &["--ipython", "x"], &["x"]] {
            assert!(parse(wrong).is_err(), "{wrong:?}");
        }
    }
}
