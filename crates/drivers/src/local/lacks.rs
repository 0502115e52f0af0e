//! What this machine lacks, seen before anybody asks for it.

use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use cove_chrome::find_browser_with;
use cove_config::{Capability, ContainerSpec, LocalDriverConfig, RuntimeType, python_environment, system_python};
use cove_gull::find_agent_browser_with;

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
            RuntimeType::Ship => {
                let environment = python_environment(options.python.as_deref(), Some(data_dir));
                let wants_python = spec.capabilities.contains(&Capability::Python);
                let no_python = wants_python && environment.is_none() && system_python().is_none();
                let python = "python: there is no python3 in /usr/bin; `cove setup python` installs it";
                let landlock = "walls: there is no Landlock on this machine: files are closed by mounts alone; Linux 5.13 or later has it";
                let all = [(no_python, python), (!cove_walls::landlock_rules::is_known(), landlock)];
                all.into_iter().filter(|(is_missing, _)| *is_missing).map(|(_, told)| told.to_owned()).collect()
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
