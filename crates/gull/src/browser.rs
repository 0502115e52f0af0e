//! The browser of a sandbox: launched with a folder that stays, given its cookies, looked at before it is used.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use cove_chrome::{
    BrowserFolder, BrowserProcesses, NetworkProxy, StandaloneBrowser, StandaloneOptions, find_browser, is_sandboxed,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::browser_state::BrowserState;
use crate::disk;
use crate::governor::Governor;
use crate::link::{Link, LinkError};
use crate::walls::{Reach, ruleset};

/// A call that any living browser answers.
pub(crate) const STEP: Duration = Duration::from_secs(5);

/// What a page has for itself, in pixels.
const WINDOW: (u32, u32) = (1280, 720);

/// What a launch needs.
pub(crate) struct Launch<'a> {
    pub(crate) binary: Option<&'a Path>,
    pub(crate) browser_state: &'a BrowserState,
    pub(crate) disk_bytes: u64,
    /// agent-browser's private folder: uploads are read and downloads written there.
    pub(crate) private_folder: &'a Path,
    pub(crate) temp_dir: &'a Path,
    pub(crate) unprivileged_id: u32,
    pub(crate) process_memory_bytes: u64,
    pub(crate) proxy: Option<&'a NetworkProxy>,
    pub(crate) governor: &'a Arc<Governor>,
    pub(crate) timeout: Duration,
}

/// A browser that answers, and the line to it.
pub(crate) struct Browser {
    pub(crate) process: StandaloneBrowser,
    pub(crate) link: Link,
    /// Whether it lives under Landlock.
    pub(crate) walled: bool,
    /// Whether what sites store is kept beyond its end.
    pub(crate) has_profile: bool,
    /// Its temporary folder.
    pub(crate) own: PathBuf,
}

/// Why a browser could not be launched.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LaunchError {
    /// Its own sandbox could not be set up, or is not in force.
    #[error("{0}")]
    NoSandbox(String),
    /// Anything else.
    #[error("{0}")]
    Other(String),
}

/// How a launch is tried.
#[derive(Debug, Clone, Copy)]
struct Way {
    is_walled: bool,
    has_profile: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Targets {
    pub(crate) target_infos: Vec<Target>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Target {
    pub(crate) target_id: String,
    #[serde(rename = "type")]
    pub(crate) kind: String,
    #[serde(default)]
    pub(crate) title: String,
    #[serde(default)]
    pub(crate) url: String,
}

#[derive(Deserialize)]
struct Evaluated {
    result: EvaluatedValue,
}

#[derive(Deserialize)]
struct EvaluatedValue {
    value: Vec<i64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Window {
    window_id: i64,
    bounds: Bounds,
}

#[derive(Deserialize)]
struct Bounds {
    width: i64,
    height: i64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Made {
    target_id: String,
}

/// Where the active page is: the one that `active` names, else the first.
pub(crate) async fn url_of(link: &Link, active: Option<&str>, wait: Duration) -> Option<String> {
    let targets: Targets = link.call(None, "Target.getTargets", json!({}), wait).await.ok()?;
    let mut pages = targets.target_infos.into_iter().filter(|target| target.kind == "page").collect::<Vec<_>>();
    let place =
        pages.iter().position(|page| active.is_some_and(|active| active.contains(&page.target_id))).unwrap_or(0);
    (place < pages.len()).then(|| pages.swap_remove(place).url)
}

impl Browser {
    /// Launches it; must run on the owner thread.
    ///
    /// Where its own sandbox needs privileges that an ordinary user gives up for Landlock, it is launched without that
    /// wall. A profile that guests can write to is then left out, for their symlinks would be followed; the same holds on
    /// kernels that have no Landlock. A profile that the browser's user cannot get to, and that cannot be mounted for
    /// him, is left out, too. Cookies are kept in any case.
    pub(crate) async fn launch(launch: &Launch<'_>) -> Result<Self, LaunchError> {
        let binary = find_browser(launch.binary).map_err(|error| LaunchError::Other(error.to_string()))?;
        let first = match Self::try_launch(&binary, launch, Way { is_walled: true, has_profile: true }).await {
            Ok(browser) => return Ok(browser),
            Err(error) => error,
        };
        // Anything but its sandbox may have been the load of the machine, and is tried once more.
        let is_walled = !matches!(first, LaunchError::NoSandbox(_));
        Self::try_launch(&binary, launch, Way { is_walled, has_profile: !launch.browser_state.is_shut }).await
    }

    async fn try_launch(binary: &Path, launch: &Launch<'_>, way: Way) -> Result<Self, LaunchError> {
        let mut options = StandaloneOptions {
            data_dir: launch.browser_state.data_path.clone(),
            is_mounted: launch.browser_state.is_shut,
            file_bytes: disk::file_bytes(launch.disk_bytes),
            temp_dir: launch.temp_dir.to_owned(),
            unprivileged_id: launch.unprivileged_id,
            process_memory_bytes: launch.process_memory_bytes,
            window: WINDOW,
            proxy_port: launch.proxy.map(NetworkProxy::port),
        };
        let told = |error: io::Error| LaunchError::Other(format!("the browser could not be started: {error}"));
        let browser_folder = BrowserFolder::create(&options).map_err(told)?;
        let own = browser_folder.path().to_owned();
        let rules = way.is_walled.then(|| {
            ruleset(&Reach {
                read: binary.parent().into_iter().collect(),
                write: vec![&own, launch.private_folder],
                write_opened: Some(&launch.browser_state.data),
                port: options.proxy_port,
            })
        });
        let rules = rules.flatten();
        let has_profile = way.has_profile && (rules.is_some() || launch.browser_state.is_private);
        if !has_profile {
            (options.data_dir, options.is_mounted) = (own.join("data"), false);
        }
        let walled = rules.is_some();
        let (process, pipe) = StandaloneBrowser::launch(binary, browser_folder, &options, rules).map_err(told)?;
        let browser = Self { process, link: Link::start(pipe), walled, has_profile, own };
        // Its first process is held while it starts; what that one has started before is held once it answers, and
        // whoever comes later is a child of somebody who is.
        let pid = browser.process.pid();
        let (checked, ()) = tokio::join!(browser.check(launch.timeout), launch.governor.hold(pid));
        match checked {
            Ok(()) => {
                launch.governor.hold(pid).await;
                Ok(browser)
            }
            Err(error) => {
                let message = format!("the browser did not start: {error}{}", browser.process.last_words());
                let no_sandbox = matches!(error, LaunchError::NoSandbox(_)) || browser.process.lacks_sandbox();
                browser.end().await;
                Err(if no_sandbox { LaunchError::NoSandbox(message) } else { LaunchError::Other(message) })
            }
        }
    }

    /// Waits for its first answer, makes sure of a page, and looks at its renderers: no seccomp filter, no service.
    async fn check(&self, wait: Duration) -> Result<(), LaunchError> {
        let told = |error: LinkError| LaunchError::Other(error.to_string());
        self.link.call::<Value>(None, "Browser.getVersion", json!({}), wait).await.map_err(told)?;
        let pages = self.pages().await.map_err(told)?;
        let page = match pages.into_iter().next() {
            Some(page) => page,
            None => self.open_page().await.map_err(told)?,
        };
        // A page that answers has a renderer; before that there is none to look at.
        if !self.answers(&page, wait).await {
            return Err(LaunchError::Other("its first page does not answer".to_owned()));
        }
        let processes: BrowserProcesses =
            self.link.call(None, BrowserProcesses::METHOD, json!({}), STEP).await.map_err(told)?;
        let renderers = processes.renderers();
        if renderers.is_empty() {
            return Err(LaunchError::Other("it has no renderer".to_owned()));
        }
        if renderers.into_iter().all(is_sandboxed) {
            // A picture of another size is no reason to have no browser.
            let _ = self.fit_window(&page).await;
            let permissions = json!({ "permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"] });
            let _ = self.link.call::<Value>(None, "Browser.grantPermissions", permissions, STEP).await;
            return Ok(());
        }
        Err(LaunchError::NoSandbox(
            "the browser's sandbox is not in force; install its helper with `apt-get install chromium-sandbox` or allow \
             unprivileged user namespaces"
                .to_owned(),
        ))
    }

    /// Makes the window as large as a page of the usual size needs: the full browser keeps some of it for itself.
    async fn fit_window(&self, page: &str) -> Result<(), LinkError> {
        let session = self.link.attach(page, STEP).await?;
        let question = json!({ "expression": "[innerWidth, innerHeight]", "returnByValue": true });
        let seen = self.link.call::<Evaluated>(Some(&session), "Runtime.evaluate", question, STEP).await;
        self.link.detach(&session, STEP).await;
        let missing = match seen?.result.value[..] {
            [width, height] => (i64::from(WINDOW.0) - width, i64::from(WINDOW.1) - height),
            _ => (0, 0),
        };
        if missing == (0, 0) {
            return Ok(());
        }
        let target = json!({ "targetId": page });
        let window: Window = self.link.call(None, "Browser.getWindowForTarget", target, STEP).await?;
        let bounds = json!({ "width": window.bounds.width + missing.0, "height": window.bounds.height + missing.1 });
        let wanted = json!({ "windowId": window.window_id, "bounds": bounds });
        self.link.call::<Value>(None, "Browser.setWindowBounds", wanted, STEP).await.map(drop)
    }

    /// The ids of its pages.
    pub(crate) async fn pages(&self) -> Result<Vec<String>, LinkError> {
        let targets: Targets = self.link.call(None, "Target.getTargets", json!({}), STEP).await?;
        Ok(targets
            .target_infos
            .into_iter()
            .filter(|target| target.kind == "page")
            .map(|target| target.target_id)
            .collect())
    }

    /// Opens a blank page and gives its id.
    pub(crate) async fn open_page(&self) -> Result<String, LinkError> {
        let made: Made = self.link.call(None, "Target.createTarget", json!({ "url": "about:blank" }), STEP).await?;
        Ok(made.target_id)
    }

    /// Whether a page answers within `wait`. A dialog that blocks it is dismissed first.
    pub(crate) async fn answers(&self, page: &str, wait: Duration) -> bool {
        let asked = async {
            let session = self.link.attach(page, wait).await?;
            let link = &self.link;
            let dismiss =
                link.call::<Value>(Some(&session), "Page.handleJavaScriptDialog", json!({ "accept": false }), wait);
            let _ = dismiss.await;
            let answer =
                link.call::<Value>(Some(&session), "Runtime.evaluate", json!({ "expression": "1" }), wait).await;
            let link = self.link.clone();
            tokio::spawn(async move { link.detach(&session, STEP).await });
            answer
        };
        tokio::time::timeout(wait, asked).await.is_ok_and(|answer| answer.is_ok())
    }

    /// Whether it is there and the pipe to it open.
    pub(crate) fn is_alive(&self) -> bool {
        !self.link.is_closed() && !self.process.is_gone()
    }

    /// Ends it as a user would, so that it writes down what it has; after a moment, ends it anyway.
    pub(crate) async fn quit(self) {
        if self.is_alive() {
            let asked = self.link.call::<Value>(None, "Browser.close", json!({}), Duration::from_secs(2));
            let _ = asked.await;
            self.link.close();
            let _ = tokio::time::timeout(Duration::from_secs(2), self.process.gone()).await;
        }
        self.end().await;
    }

    /// Ends it at once.
    pub(crate) async fn end(self) {
        self.link.close();
        self.process.kill();
        self.process.gone().await;
    }
}
