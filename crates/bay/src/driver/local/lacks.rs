//! What this machine lacks, seen before anybody asks for it, and the Python environment that sandboxes get.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use cove_chrome::find_browser_with;
use cove_config::{Capability, ContainerSpec, LocalDriverConfig, RuntimeType, python_in};
use cove_gull::find_agent_browser_with;

/// Where a sandbox looks for Python.
const PYTHONS: &[&str] = &["/usr/local/bin/python3", "/usr/bin/python3", "/bin/python3"];

/// How long a look counts: lists of sandboxes say the same for each of them.
const FRESH: Duration = Duration::from_secs(1);

/// What was last seen of the browser.
#[derive(Debug, Default)]
pub(super) struct Lacks {
    browser: Mutex<Option<(Instant, Option<String>)>>,
}

impl Lacks {
    /// What is missing for a container, each with the command that brings it.
    pub(super) fn of(&self, spec: &ContainerSpec, options: &LocalDriverConfig, data_dir: &Path) -> Vec<String> {
        match spec.runtime_type {
            RuntimeType::Gull => self.browser(options, data_dir).into_iter().collect(),
            RuntimeType::Ship if !spec.capabilities.contains(&Capability::Python) => Vec::new(),
            RuntimeType::Ship => {
                let has_python =
                    environment(options, data_dir).is_some() || PYTHONS.iter().any(|path| Path::new(path).exists());
                let missing = "python: there is no python3 in /usr/bin; `cove setup python` installs it";
                if has_python { Vec::new() } else { vec![missing.to_owned()] }
            }
        }
    }

    fn browser(&self, options: &LocalDriverConfig, data_dir: &Path) -> Option<String> {
        let mut seen = self.browser.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((at, found)) = &*seen
            && at.elapsed() < FRESH
        {
            return found.clone();
        }
        let commands = find_agent_browser_with(options.agent_browser.as_deref(), Some(data_dir));
        let browser = find_browser_with(options.browser.as_deref(), Some(data_dir));
        let missing = commands.err().map(|error| error.to_string());
        let missing = missing.or_else(|| browser.err().map(|error| error.to_string()));
        let found = missing.map(|why| format!("browser: {why}"));
        *seen = Some((Instant::now(), found.clone()));
        found
    }
}

/// The Python environment of sandboxes: the configured one, else the one that `cove setup` has made; none: the system's.
pub(super) fn environment(options: &LocalDriverConfig, data_dir: &Path) -> Option<PathBuf> {
    let own = python_in(data_dir);
    options.python.clone().or_else(|| own.join("bin/python3").exists().then_some(own))
}
