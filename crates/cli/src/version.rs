//! `cove version`: which Cove this is, and with `--verbose` every part of it that is found here.

use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use clap::Args as ClapArgs;
use tokio::net::UnixStream;

use crate::doctor::{ask, python};
use crate::exit::Exit;
use crate::terminal::{self, DIM, PLAIN};

/// For the container engine to take a connection.
const ANSWER: Duration = Duration::from_secs(1);

#[derive(Debug, ClapArgs)]
pub(crate) struct Version {
    /// Also name every part that is found on this machine, with its version and its path
    #[arg(long, short)]
    verbose: bool,
}

pub(crate) async fn version(args: Version) -> anyhow::Result<Exit> {
    let mut out = terminal::out();
    writeln!(out, "cove {}", env!("CARGO_PKG_VERSION"))?;
    if !args.verbose {
        return Ok(Exit::Ok);
    }
    let data_dir = cove_workspace::data_dir();
    let browser = cove_chrome::find_browser(None).map_err(|error| error.to_string());
    let agent = cove_gull::find_agent_browser(None).map_err(|error| error.to_string());
    let environment = cove_config::python_environment(None, data_dir.as_deref());
    let (browser, agent, python, containers, fonts) = tokio::join!(
        program(browser.as_deref()),
        program(agent.as_deref()),
        python::python(environment.as_deref()),
        container_engine(),
        tokio::task::spawn_blocking(cove_embedded::system_font_files),
    );
    let python = match (&python.version, &python.path) {
        (Some(version), Some(path)) => format!("Python {version}  {DIM}{}{PLAIN}", path.display()),
        _ => python.problem.unwrap_or_default(),
    };
    let own = std::env::current_exe().map_or_else(|error| error.to_string(), |path| path.display().to_string());
    let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let folder = data_dir.map_or_else(|| "none: HOME is not set".to_owned(), |folder| folder.display().to_string());
    let system = format!("Linux {} on {}", kernel.trim(), std::env::consts::ARCH);
    for (part, found) in [
        ("program", own),
        ("system", system),
        ("data folder", folder),
        ("browser", browser),
        ("agent-browser", agent),
        ("Python", python),
        ("fonts", format!("{} files of the system", fonts.unwrap_or_default())),
        ("containers", containers),
    ] {
        writeln!(out, "  {part:<14} {found}")?;
    }
    Ok(Exit::Ok)
}

/// Where the container engine answers that the driver `docker` would use.
async fn container_engine() -> String {
    let named = std::env::var("DOCKER_HOST").ok().filter(|named| !named.is_empty());
    let place = named.unwrap_or_else(|| "unix:///var/run/docker.sock".to_owned());
    let Some(path) = place.strip_prefix("unix://") else {
        return format!("{place} is not a socket of this machine");
    };
    match tokio::time::timeout(ANSWER, UnixStream::connect(path)).await {
        Ok(Ok(_)) => format!("an engine at {path}"),
        Ok(Err(error)) => format!("no engine at {path}: {error}"),
        Err(_) => format!("the engine at {path} takes no connections"),
    }
}

/// A program's version and path, or why there is none.
async fn program(found: Result<&Path, &String>) -> String {
    let path = match found {
        Ok(path) => path,
        Err(why) => return why.clone(),
    };
    let said = ask::version(path).await.unwrap_or_else(|error| error.to_string());
    format!("{said}  {DIM}{}{PLAIN}", path.display())
}
