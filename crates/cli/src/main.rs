//! The command line: arguments, what they mean, what is printed, and the exit code.
//!
//! Standard output carries data only; logs, frames, hints and names of pictures go to standard error. Each command is
//! a file of its own. Nothing below this crate prints or ends the process.

mod approvals;
mod args;
mod browse;
mod doctor;
mod engines;
mod exit;
mod files;
mod local;
mod mcp;
mod open;
mod process;
mod repl;
mod run;
mod run_setup;
mod runtimes;
mod sandbox;
mod serve;
mod setup;
mod show;
mod terminal;
mod version;

use anyhow::Context as _;
use clap::Parser;

use args::{Args, Command};
use exit::Exit;
use terminal::{PLAIN, RED, note};

fn main() -> std::process::ExitCode {
    // First, before anything is allocated or started: this very binary is also the worker that runs guest code.
    cove_embedded::worker::enter_if_asked();
    if wants_worker() {
        cove_embedded::worker::start_early();
    }
    if let Some(code) = enter_ship_if_asked() {
        return code.into();
    }
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(told) => return usage(&told),
    };
    let exit = match dispatch(args) {
        Ok(exit) => exit,
        // Whoever read our output has seen enough (`cove files grep … | head`).
        Err(error) if is_broken_pipe(&error) => Exit::Ok,
        Err(error) => {
            note!("{RED}error:{PLAIN} {error:#}");
            Exit::Host
        }
    };
    exit.into()
}

/// Must come before any thread exists: started for a sandbox, Ship forks and puts up its walls first.
fn enter_ship_if_asked() -> Option<u8> {
    let mut args = std::env::args().skip(1);
    if args.next().as_deref() != Some("ship") {
        return None;
    }
    let args: Vec<String> = args.collect();
    if let [only] = args.as_slice()
        && ["--help", "-h"].contains(&only.as_str())
    {
        return None;
    }
    let (code, message) = cove_runtime::ship::command(&args);
    if let Some(message) = message {
        note!("{RED}ship:{PLAIN} {message}");
    }
    Some(code)
}

/// What `--help` and wrong usage say. What was typed may be a file's name, and so a guest's words.
fn usage(told: &clap::Error) -> std::process::ExitCode {
    use std::io::Write as _;
    let (mut screen, exit) =
        if told.use_stderr() { (terminal::aside(), Exit::Usage) } else { (terminal::out(), Exit::Ok) };
    let words = told.render();
    let words = if screen.takes_colours() { words.ansi().to_string() } else { words.to_string() };
    let _ = screen.write_all(words.as_bytes());
    exit.into()
}

/// Whether this is a run that will need the worker: then it starts while the arguments are still being read.
fn wants_worker() -> bool {
    let mut arguments = std::env::args_os().skip(1);
    let is_run = arguments.next().is_some_and(|command| command == "run");
    is_run
        && !arguments.any(|argument| {
            matches!(
                argument.to_str(),
                Some("browser" | "chrome" | "--engine=browser" | "--engine=chrome" | "--help" | "-h")
            )
        })
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let cause = error.downcast_ref::<std::io::Error>();
    cause.is_some_and(|cause| cause.kind() == std::io::ErrorKind::BrokenPipe)
}

fn dispatch(args: Args) -> anyhow::Result<Exit> {
    if matches!(args.command, Command::Serve(_) | Command::Mcp(_) | Command::Doctor(_)) {
        // While this is the only process of its control group: afterwards a group that was given to us can be divided.
        let _ = cove_cgroup::settle();
    }
    if matches!(args.command, Command::Serve(_)) {
        // Before there are threads: it serves, and guests may keep every processor busy.
        cove_walls::take_short_turns();
    }
    match args.command {
        Command::Run(run) => in_runtime(run::run(run)),
        Command::Repl(repl) => repl::repl(repl),
        Command::Files(files) => files::files(files),
        Command::Browse(browse) => in_runtime(browse::browse(browse)),
        Command::Serve(args) => serve::serve(&args),
        Command::Mcp(args) => mcp::mcp(&args),
        Command::Sandbox(args) => in_runtime(sandbox::sandbox(args)),
        Command::Approvals(args) => in_runtime(approvals::approvals(args)),
        Command::Open(args) => in_runtime(open::open(args)),
        Command::Openapi => {
            use std::io::Write as _;
            terminal::out().write_all(cove_server::openapi_text().as_bytes())?;
            Ok(Exit::Ok)
        }
        Command::Ship(ship) => Ok(runtimes::ship(ship)),
        Command::Gull(gull) => {
            runtimes::leave_network_if_asked(&gull)?;
            in_runtime(runtimes::gull(gull))
        }
        Command::Line(line) => in_runtime(runtimes::line(line)),
        Command::Doctor(doctor) => in_runtime(doctor::doctor(doctor)),
        Command::Setup(setup) => in_runtime(setup::setup(setup)),
        Command::Version(args) => in_runtime(version::version(args)),
        Command::Completions { shell } => {
            use std::io::Write as _;
            // Into memory first: writing a script to a pipe that is closed early must not be a panic.
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut <Args as clap::CommandFactory>::command(), "cove", &mut script);
            terminal::out().write_all(&script)?;
            Ok(Exit::Ok)
        }
        Command::Man { dir } => {
            clap_mangen::generate_to(<Args as clap::CommandFactory>::command(), &dir)
                .with_context(|| format!("cannot write manual pages to {}", dir.display()))?;
            Ok(Exit::Ok)
        }
    }
}

/// One thread is enough to wait for a child process, and starts fastest.
fn in_runtime(work: impl Future<Output = anyhow::Result<Exit>>) -> anyhow::Result<Exit> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let exit = runtime.block_on(async {
        tokio::select! {
            done = work => done,
            // Dropping the work ends its sessions, and with them every process it started.
            _ = tokio::signal::ctrl_c() => Ok(Exit::Interrupted),
        }
    });
    runtime.shutdown_timeout(std::time::Duration::from_millis(200));
    exit
}
