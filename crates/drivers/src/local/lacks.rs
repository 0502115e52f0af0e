//! What this machine lacks, seen before anybody asks for it, or when it was tried.

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use cove_cell::CellError;
use cove_chrome::find_browser_with;
use cove_config::{Capability, ContainerSpec, LocalDriverConfig, RuntimeType, python_environment, system_python};
use cove_gull::find_agent_browser_with;
use cove_walls::landlock_rules::{self, SINCE};

/// How long a look counts: lists of sandboxes say the same for each of them.
const FRESH: Duration = Duration::from_secs(1);

/// How much is told of why a browser did not start: it may have said a lot.
const MAX_REASON: usize = 400;

/// What was last seen.
#[derive(Debug, Default)]
pub(super) struct Lacks {
    browser: Mutex<Option<(Instant, Option<String>)>>,
    /// Why the browser that is there did not start.
    unstarted: Mutex<Option<String>>,
    cells: Mutex<Cells>,
}

/// Whether cells can be made.
#[derive(Debug, Default)]
enum Cells {
    /// Nobody has tried.
    #[default]
    Untried,
    /// The last one was made.
    Made,
    /// The last one was not.
    Refused { at: Instant, why: String },
}

impl Lacks {
    /// What is missing for a container, each with the command that brings it.
    pub(super) fn of(&self, spec: &ContainerSpec, options: &LocalDriverConfig, data_dir: &Path) -> Vec<String> {
        match spec.runtime_type {
            RuntimeType::Gull => {
                let absent = self.browser(options, data_dir);
                absent.or_else(|| locked(&self.unstarted).clone()).into_iter().collect()
            }
            RuntimeType::Ship => {
                let environment = python_environment(options.python.as_deref(), Some(data_dir));
                let wants_python = spec.capabilities.contains(&Capability::Python);
                let no_python = wants_python && environment.is_none() && system_python().is_none();
                let python = "python: there is no python3 in /usr/bin; `cove setup python` installs it";
                let refused = match &*locked(&self.cells) {
                    Cells::Refused { why, .. } => Some(why.clone()),
                    Cells::Untried | Cells::Made => None,
                };
                let all = [refused, no_python.then(|| python.to_owned()), landlock(landlock_rules::version())];
                all.into_iter().flatten().collect()
            }
        }
    }

    /// A cell was made, or was not.
    pub(super) fn saw_cell<T>(&self, made: &Result<T, CellError>) {
        let seen = match made {
            Ok(_) => Cells::Made,
            Err(CellError::Walls(failure)) => {
                let more = if failure.blocker.is_some() { "" } else { "; `cove doctor` shows what stands in the way" };
                Cells::Refused {
                    at: Instant::now(),
                    why: format!("sandbox: it cannot be started here: {failure}{more}"),
                }
            }
            // The order's own trouble, or a passing one.
            Err(CellError::Options(_) | CellError::Start(_) | CellError::Timeout(_)) => return,
        };
        *locked(&self.cells) = seen;
    }

    /// Whether nobody needs to try: one was made, or none a moment ago. The machine may be put right at any time.
    pub(super) fn knows_cells(&self) -> bool {
        match &*locked(&self.cells) {
            Cells::Untried => false,
            Cells::Made => true,
            Cells::Refused { at, .. } => at.elapsed() < FRESH,
        }
    }

    /// A browser was started, or was not.
    pub(super) fn saw_browser(&self, started: Result<(), &str>) {
        *locked(&self.unstarted) = started.err().map(|why| {
            let line: String = why.lines().next().unwrap_or_default().chars().take(MAX_REASON).collect();
            format!("browser: it did not start: {line}; `cove doctor` shows more")
        });
    }

    fn browser(&self, options: &LocalDriverConfig, data_dir: &Path) -> Option<String> {
        let mut seen = locked(&self.browser);
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

/// What is not closed by this version of Landlock.
fn landlock(version: i32) -> Option<String> {
    let walls = [
        (SINCE.files, "5.13", "files are closed by mounts alone"),
        (SINCE.network, "6.7", "JavaScript's network is closed by its namespace and its filter of system calls alone"),
        (SINCE.scope, "6.12", "guests can stop and kill the process that runs JavaScript"),
    ];
    let absent: Vec<_> = walls.into_iter().filter(|(since, ..)| version < *since).collect();
    let (_, linux, _) = absent.last()?;
    let lost: Vec<_> = absent.iter().map(|(.., lost)| *lost).collect();
    let found = if version == 0 { "no Landlock".to_owned() } else { format!("only version {version} of Landlock") };
    Some(format!("walls: there is {found} on this machine: {}; Linux {linux} or later has all of it", lost.join(", ")))
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_version_of_landlock_says_what_it_does_not_close() {
        assert_eq!(landlock(SINCE.scope), None);
        for (version, said, linux) in [
            (0, &["no Landlock", "files", "network", "guests can"][..], "6.12"),
            (1, &["version 1", "network", "guests can"][..], "6.12"),
            (SINCE.network, &["version 4", "guests can"][..], "6.12"),
        ] {
            let told = landlock(version).unwrap();
            for word in said.iter().chain([&linux]) {
                assert!(told.contains(word), "{word}: {told}");
            }
            assert_eq!(told.contains("files are"), version == 0, "{told}");
        }
    }

    #[test]
    fn a_browser_that_did_not_start_is_told_until_one_does() {
        let lacks = Lacks::default();
        lacks.saw_browser(Err("the first line\nand what else it said"));
        let told = locked(&lacks.unstarted).clone().unwrap();
        assert!(told.contains("the first line; `cove doctor`") && !told.contains("what else"), "{told}");
        lacks.saw_browser(Ok(()));
        assert_eq!(*locked(&lacks.unstarted), None);
    }
}
