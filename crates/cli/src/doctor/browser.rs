//! Chrome, for code that needs a browser, and agent-browser, for browser commands.

use std::path::{Path, PathBuf};
use std::time::Duration;

use cove_chrome::{BrowserNotFound, ChromeEngine, ChromeOptions, find_browser};
use cove_core::{Engine as _, RunRequest, SessionOptions};
use cove_gull::{AGENT_BROWSER_VERSION, AgentBrowserNotFound, find_agent_browser_with};
use serde::Serialize;

use super::ask;

/// For Chrome to start and run one line. It takes half a second; a cold disk on a loaded machine takes longer.
const TRIAL: Duration = Duration::from_secs(10);

/// How to get a Chrome with its sandbox, and agent-browser.
const INSTALL: &str = "cove setup browser";

/// What there is of Chrome.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Chrome {
    pub(crate) found: bool,
    pub(crate) path: Option<PathBuf>,
    pub(crate) version: Option<String>,
    /// The user that it runs as: never root.
    pub(crate) user_id: u32,
    /// Whether it started, its own sandbox was seen in force, and code ran in it.
    pub(crate) sandbox_works: bool,
    pub(crate) problem: Option<String>,
    pub(crate) next_step: Option<String>,
}

pub(crate) async fn chrome(given: Option<PathBuf>) -> Chrome {
    let options = ChromeOptions { browser: given, pool_size: 1, launch_timeout: TRIAL, ..ChromeOptions::default() };
    let own = rustix::process::geteuid();
    let user_id = if own.is_root() { options.unprivileged_id } else { own.as_raw() };
    let path = match find_browser(options.browser.as_deref()) {
        Ok(path) => path,
        Err(error) => {
            let next_step = match &error {
                BrowserNotFound::Nowhere => format!("{INSTALL}; or name a browser with COVE_BROWSER"),
                BrowserNotFound::Snap(_) => INSTALL.to_owned(),
                BrowserNotFound::NotAProgram(_) => "correct --browser or COVE_BROWSER, or leave it out".to_owned(),
            };
            let problem = match error {
                BrowserNotFound::Nowhere => "no Chrome or Chromium was found".to_owned(),
                BrowserNotFound::NotAProgram(path) => format!("{} is not a program", path.display()),
                BrowserNotFound::Snap(path) => {
                    format!("{} belongs to a snap, whose launcher hides the browser from Cove", path.display())
                }
            };
            return Chrome { user_id, problem: Some(problem), next_step: Some(next_step), ..Chrome::default() };
        }
    };
    let (version, trial) = tokio::join!(ask::version(&path), tokio::time::timeout(TRIAL, trial(options)));
    let (problem, next_step) = match trial {
        Ok(Ok(())) => (None, None),
        Ok(Err(why)) => (Some(why), Some(INSTALL.to_owned())),
        Err(_) => (
            Some(format!("it did not run a line of code within {} s", TRIAL.as_secs())),
            Some(format!("see why: {} --headless --dump-dom about:blank", path.display())),
        ),
    };
    Chrome {
        found: true,
        version: version.ok(),
        user_id,
        sandbox_works: problem.is_none(),
        next_step,
        problem,
        path: Some(path),
    }
}

/// A real run: the engine looks at the renderer's sandbox before the first one.
async fn trial(options: ChromeOptions) -> Result<(), String> {
    let engine = ChromeEngine::new(options);
    let mut session = engine.open(SessionOptions::one_shot()).await.map_err(|error| error.to_string())?;
    let report = session.run(&RunRequest { timeout_ms: 5_000, ..RunRequest::new("return 6 * 7") }).await;
    let _ = session.close().await;
    engine.close().await;
    match report.result {
        Ok(finished) if finished.value == 42 => Ok(()),
        Ok(finished) => Err(format!("a trial run gave {} for 6 * 7", finished.value)),
        Err(fault) => Err(fault.message),
    }
}

/// What there is of agent-browser.
#[derive(Debug, Default, Serialize)]
pub(crate) struct AgentBrowser {
    pub(crate) found: bool,
    pub(crate) path: Option<PathBuf>,
    pub(crate) version: Option<String>,
    /// The version that Cove's table of commands was written for.
    pub(crate) expected_version: &'static str,
    pub(crate) problem: Option<String>,
    pub(crate) next_step: Option<String>,
}

pub(crate) async fn agent_browser(data_dir: Option<&Path>) -> AgentBrowser {
    let nothing = AgentBrowser { expected_version: AGENT_BROWSER_VERSION, ..AgentBrowser::default() };
    let path = match find_agent_browser_with(None, data_dir) {
        Ok(path) => path,
        Err(AgentBrowserNotFound::Nowhere) => {
            return AgentBrowser {
                problem: Some("agent-browser was not found".to_owned()),
                next_step: Some(format!("{INSTALL}; or name its native binary with COVE_AGENT_BROWSER")),
                ..nothing
            };
        }
        Err(AgentBrowserNotFound::NotExecutable(path)) => {
            return AgentBrowser {
                problem: Some(format!("{} cannot be executed", path.display())),
                next_step: Some(format!("chmod +x {}", path.display())),
                ..nothing
            };
        }
        Err(AgentBrowserNotFound::NotAProgram(path)) => {
            return AgentBrowser {
                problem: Some(format!("{} is not a program", path.display())),
                next_step: Some("correct COVE_AGENT_BROWSER, or leave it out".to_owned()),
                ..nothing
            };
        }
    };
    let said = ask::version(&path).await;
    // `agent-browser 0.41.0`
    let version = said.as_ref().ok().and_then(|line| line.split_whitespace().last()).map(str::to_owned);
    let problem = match &said {
        Err(error) => Some(error.to_string()),
        Ok(_) if version.as_deref() != Some(AGENT_BROWSER_VERSION) => {
            Some(format!("Cove was written for version {AGENT_BROWSER_VERSION}; another one may refuse commands"))
        }
        Ok(_) => None,
    };
    let next_step = problem.is_some().then(|| INSTALL.to_owned());
    AgentBrowser { found: true, path: Some(path), version, problem, next_step, ..nothing }
}
