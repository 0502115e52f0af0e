//! One running browser: launched, checked, watched, and ended with every process it has.

use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use cove_core::{EngineError, end_chars};
use cove_walls::process::kill_group;
use serde::Deserialize;
use serde_json::json;
use tokio::process::Child;
use tokio::sync::watch;
use tokio::task::AbortHandle;

use crate::cdp::{Client, call_browser};
use crate::group;
use crate::launch::{Launched, launch};
use crate::options::ChromeOptions;
use crate::pool::Pool;
use crate::profile::Profile;
use crate::tab::{Build, STEP, Tab, TabError, shared_processes};
use crate::watch::{SharedProcesses, Watch};

/// How long the last processes of a killed browser may take to disappear: moments, but fifty renderers that die at once
/// on a loaded machine have their memory to give back first.
pub(crate) const END: Duration = Duration::from_secs(10);

/// How much of the browser's complaints is shown.
const COMPLAINT_CHARS: usize = 600;

/// A browser that answers.
pub(crate) struct Browser {
    pub(crate) pid: u32,
    pub(crate) client: Client,
    pub(crate) pool: Pool,
    pub(crate) watch: Watch,
    one_at_a_time: tokio::sync::Mutex<()>,
    /// Which browser it is, once it has said so.
    build: OnceLock<Build>,
    ended: watch::Receiver<bool>,
    tasks: std::sync::Mutex<Vec<AbortHandle>>,
}

#[derive(Deserialize)]
struct Version {
    product: String,
}

impl Version {
    /// The full browser calls itself by another name, also where it shows no window.
    fn build(&self) -> Build {
        if self.product.starts_with("HeadlessChrome/") { Build::Shell } else { Build::Full }
    }
}

impl Browser {
    /// Launches a browser and makes sure of its walls. Runs on the owner thread, with which the browser would die. Once `stop`
    /// is over, a browser that is not ready yet is ended.
    pub(crate) async fn start(
        binary: &Path,
        options: &ChromeOptions,
        resolver_rules: &str,
        stop: impl Future<Output = ()>,
    ) -> Result<Arc<Self>, EngineError> {
        let Launched { child, pid, commands, answers, profile, complaints } = launch(binary, options, resolver_rules)
            .map_err(|error| {
            EngineError::Unavailable(format!("{} could not be started: {error}", binary.display()))
        })?;
        let client = Client::start(commands, answers);
        let (ending, ended) = watch::channel(false);
        let browser = Arc::new(Self {
            pid,
            client: client.clone(),
            pool: Pool::new(options.pool_size, options.pool_age),
            watch: Watch::default(),
            one_at_a_time: tokio::sync::Mutex::new(()),
            build: OnceLock::new(),
            ended,
            tasks: std::sync::Mutex::default(),
        });
        // The profile outlives the check below, because the complaints are in it.
        let checked = async {
            let version = call_browser::<Version>(&client, "Browser.getVersion", json!({}), options.launch_timeout);
            match version.await {
                Ok(version) => {
                    let _ = browser.build.set(version.build());
                    // Every page comes to us standing still; one that nobody made stays so.
                    let attach = json!({
                        "autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true,
                        "filter": [{ "type": "page" }, { "exclude": true }],
                    });
                    client.post(None, "Target.setAutoAttach", &attach);
                    browser.check_walls().await
                }
                Err(error) => Err(EngineError::Unavailable(format!(
                    "{} did not start: {error}{}",
                    binary.display(),
                    last_words(&complaints)
                ))),
            }
        };
        let checked = tokio::select! {
            checked = checked => checked,
            () = stop => Err(EngineError::Open("the engine has ended".to_owned())),
        };
        let reaped = tokio::spawn(reap(child, pid, client, profile, ending));
        match checked {
            Ok((first, shared)) => {
                browser.begin(first, SharedProcesses::new(shared));
                Ok(browser)
            }
            Err(error) => {
                browser.kill();
                let _ = reaped.await;
                Err(error)
            }
        }
    }

    /// A tab for a session: warm if the network is closed and one is ready, else made now.
    pub(crate) async fn tab(&self, proxy: Option<&str>) -> Result<Tab, TabError> {
        if proxy.is_none()
            && let Some(tab) = self.pool.take()
        {
            return Ok(tab);
        }
        self.make_tab(proxy).await
    }

    /// Whether it still answers.
    pub(crate) fn is_alive(&self) -> bool {
        !self.client.is_closed()
    }

    /// Ends a browser that is there and does not answer; the next one who needs a browser launches another.
    pub(crate) async fn end_if_silent(&self) {
        if call_browser::<Version>(&self.client, "Browser.getVersion", json!({}), STEP).await.is_err() {
            self.kill();
        }
    }

    /// Ends it: every process at once.
    pub(crate) fn kill(&self) {
        for task in self.tasks.lock().unwrap_or_else(std::sync::PoisonError::into_inner).drain(..) {
            task.abort();
        }
        self.pool.clear();
        self.client.close();
        if !self.is_gone() {
            kill_group(self.pid);
        }
    }

    /// Whether anything of it is left, process or folder.
    pub(crate) fn is_gone(&self) -> bool {
        *self.ended.borrow()
    }

    /// Waits until nothing of it is left.
    pub(crate) async fn gone(&self) {
        let mut ended = self.ended.clone();
        let _ = tokio::time::timeout(END * 2, ended.wait_for(|ended| *ended)).await;
    }

    async fn make_tab(&self, proxy: Option<&str>) -> Result<Tab, TabError> {
        let build = self.build.get().copied().unwrap_or(Build::Full);
        Tab::create(&self.client, build, proxy, &self.one_at_a_time).await
    }

    /// Makes the first tab and looks at its renderer: no seccomp filter, no service.
    async fn check_walls(&self) -> Result<(Tab, Vec<u32>), EngineError> {
        let tab = match self.make_tab(None).await {
            Ok(tab) => tab,
            Err(_) => self.make_tab(None).await.map_err(no_first_page)?,
        };
        match tab.renderers.walls() {
            Some(walls) if walls.seccomp == 2 && walls.no_new_privileges => {
                let shared = shared_processes(&self.client).await;
                Ok((tab, shared.map_err(|error| EngineError::Open(error.to_string()))?))
            }
            walls => Err(EngineError::Unavailable(format!(
                "the browser's sandbox is not in force ({walls:?}); install its helper with \
                 `apt-get install chromium-sandbox` or allow unprivileged user namespaces"
            ))),
        }
    }

    /// Starts what goes on in the background, until `kill`.
    fn begin(self: &Arc<Self>, first: Tab, shared: SharedProcesses) {
        // Also where none are kept ready: the first session takes it.
        self.pool.put(first);
        let filler = {
            let browser = self.clone();
            tokio::spawn(async move {
                browser.pool.keep(|| async { browser.make_tab(None).await.ok() }).await;
            })
        };
        let watcher = {
            let browser = self.clone();
            tokio::spawn(async move { browser.watch.keep(shared).await })
        };
        let mut tasks = self.tasks.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        tasks.extend([filler.abort_handle(), watcher.abort_handle()]);
    }
}

/// A browser that answers and cannot be used.
fn unfit(why: &str) -> EngineError {
    EngineError::Unavailable(format!(
        "this browser's pages cannot be used ({why}); install one that Cove is tested with: `cove setup browser`"
    ))
}

/// Why the first page could not be made.
fn no_first_page(error: TabError) -> EngineError {
    match error {
        TabError::Call(error) => EngineError::Open(error.to_string()),
        error => unfit(&error.to_string()),
    }
}

/// Waits for the browser's end, whoever causes it, and clears away what is left: processes, then the folder.
async fn reap(mut child: Child, pid: u32, client: Client, profile: Profile, ending: watch::Sender<bool>) {
    let _ = child.wait().await;
    client.close();
    clear_away(pid, profile, &ending).await;
}

/// Ends what is left of a browser whose first process is gone: its other processes, then its folder.
pub(crate) async fn clear_away(pid: u32, profile: Profile, ending: &watch::Sender<bool>) {
    kill_group(pid);
    group::gone(pid, END).await;
    drop(profile);
    ending.send_replace(true);
}

pub(crate) fn last_words(complaints: &Path) -> String {
    let text = std::fs::read_to_string(complaints).unwrap_or_default();
    let text = text.trim();
    if text.is_empty() { String::new() } else { format!("; it said: {}", end_chars(text, COMPLAINT_CHARS)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_full_browser_is_told_from_the_shell() {
        for (product, expected) in [
            ("HeadlessChrome/156.0.8078.79", Build::Shell),
            ("Chrome/156.0.8078.79", Build::Full),
            ("Edg/156.0.0.0", Build::Full),
            ("", Build::Full),
        ] {
            assert_eq!(Version { product: product.to_owned() }.build(), expected, "{product}");
        }
    }
}
