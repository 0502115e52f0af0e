//! One tab in a browser context of its own: made ready for a guest, used by one session, then gone with all it held.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::{Value, json};
use tokio::runtime::Handle;
use tokio::sync::watch;

use crate::cdp::{CdpError, CdpSession, Client, Evaluated, Gone, call_browser};
use crate::page::{BINDING, KERNEL, PAGE_URL, SYNC_URL};
use crate::processes::BrowserProcesses;
use crate::renderer::Renderers;
use crate::tab_events::TabEvents;

/// One step of making a tab. Generous: a loaded machine starts a process in seconds.
pub(crate) const STEP: Duration = Duration::from_secs(10);

/// A context that was told to go is gone in 15 ms; a renderer that is still there after this is killed.
const GRACE: Duration = Duration::from_millis(250);

/// What guests see of a screen.
const SCREEN: (u32, u32) = (1280, 800);

/// What is really drawn: nobody looks at it, and a picture of the whole screen costs 5 MB and as many ms per tab in the
/// process that draws for all.
const WINDOW: (u32, u32) = (64, 64);

/// A run that nobody hears: what it needs of the kernel is compiled before the first guest comes.
const REHEARSAL: &str = r#"function(){this.run('(async function(input){"use strict";return [1]})',
    '{"silent":true,"body":false,"steps":null,"maxLog":1024,"maxResult":1024,"maxImages":1}')}"#;

/// Which browser makes the tab.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Build {
    /// The headless shell: a page stands still before its first request, and has one process from then on.
    Shell,
    /// The full browser: it asks for a page's address at once, so the page is led there when it is watched. It may have a
    /// second process for the window that nobody sees, and another one for the page once it has loaded.
    Full,
}

/// Why there is no tab.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TabError {
    #[error(transparent)]
    Call(#[from] CdpError),
    #[error("the page's kernel did not start: {0}")]
    Kernel(String),
    #[error("the page ended while it was being made")]
    Ended,
    #[error("the page's renderer process could not be identified")]
    NoProcess,
}

/// A tab. Dropping it ends it in the background.
pub(crate) struct Tab {
    pub(crate) session: CdpSession,
    pub(crate) events: Arc<TabEvents>,
    pub(crate) renderers: Arc<Renderers>,
    /// The debugger's handle to the kernel object.
    pub(crate) kernel: String,
    pub(crate) born: Instant,
    /// Closed when nothing of the tab is left.
    pub(crate) gone: watch::Receiver<()>,
    end: Option<End>,
}

/// What it takes to end a tab.
struct End {
    client: Client,
    handle: Handle,
    context: String,
    session: String,
    renderers: Option<Arc<Renderers>>,
    _going: watch::Sender<()>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ContextMade {
    browser_context_id: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TargetMade {
    target_id: String,
}

#[derive(Deserialize)]
struct Nothing {}

impl Tab {
    /// Makes a tab with the kernel in it. `proxy` is the only way to the network; without one there is none.
    ///
    /// Only one tab's processes may start at a time (`one_at_a_time`): that is how we know which ones are whose.
    pub(crate) async fn create(
        client: &Client,
        build: Build,
        proxy: Option<&str>,
        one_at_a_time: &tokio::sync::Mutex<()>,
    ) -> Result<Self, TabError> {
        let mut params = json!({ "disposeOnDetach": true });
        if let (Some(proxy), Some(params)) = (proxy, params.as_object_mut()) {
            params.insert("proxyServer".to_owned(), proxy.into());
            params.insert("proxyBypassList".to_owned(), "<-loopback>".into());
        }
        let alone = one_at_a_time.lock().await;
        let before = renderers(client).await?;
        let made: ContextMade = call_browser(client, "Target.createBrowserContext", params, STEP).await?;
        let context = made.browser_context_id;
        let (going, gone) = watch::channel(());
        let mut end = End {
            client: client.clone(),
            handle: Handle::current(),
            context: context.clone(),
            session: String::new(),
            renderers: None,
            _going: going,
        };
        let made = async {
            let (width, height) = WINDOW;
            let url = match build {
                Build::Shell => PAGE_URL,
                Build::Full => "about:blank",
            };
            let target = json!({ "url": url, "browserContextId": context, "width": width, "height": height });
            let target: TargetMade = call_browser(client, "Target.createTarget", target, STEP).await?;
            end.session = client.session_of(&target.target_id, STEP).await?;
            let session = CdpSession { client: client.clone(), id: end.session.clone() };
            let events = Arc::new(TabEvents::new(session.clone()));
            client.listen(&session.id, events.clone());

            // All of this is in force before the page takes its first step.
            let deny = json!({ "behavior": "deny", "browserContextId": context });
            client.send(None, "Browser.setDownloadBehavior", deny).await?;
            session.send("Page.enable", json!({})).await?;
            session.send("Fetch.enable", intercepted()).await?;
            session.send("Emulation.setDeviceMetricsOverride", screen()).await?;
            let settled = match build {
                Build::Shell => {
                    session.send("Runtime.runIfWaitingForDebugger", json!({})).await?;
                    // Others may begin while the page loads.
                    None
                }
                Build::Full => {
                    session.call::<Nothing>("Runtime.runIfWaitingForDebugger", json!({}), STEP).await?;
                    session.send("Page.navigate", json!({ "url": PAGE_URL })).await?;
                    Some(settle(&session, &events).await?)
                }
            };
            let pids = tokio::time::timeout(STEP, fresh_renderers(client, build, &before)).await;
            drop(alone);
            let pids = pids.map_err(|_| TabError::NoProcess)??;
            let renderers = Arc::new(Renderers::open(&pids).ok_or(TabError::NoProcess)?);
            end.renderers = Some(renderers.clone());
            let kernel = match settled {
                Some(kernel) => kernel,
                None => settle(&session, &events).await?,
            };
            // A page that changed its process on the way would be watched in the wrong place.
            if renderers.is_broken().await {
                return Err(TabError::NoProcess);
            }
            Ok((session, events, renderers, kernel))
        }
        .await;
        match made {
            Ok((session, events, renderers, kernel)) => {
                Ok(Self { session, events, renderers, kernel, born: Instant::now(), gone, end: Some(end) })
            }
            Err(error) => {
                end.now().await;
                Err(error)
            }
        }
    }

    /// Whether a guest may still be let in.
    pub(crate) fn is_alive(&self) -> bool {
        self.events.ended().is_none()
    }

    /// Parameters of a call of the kernel's: `body` is the body of a function whose `this` is the kernel.
    pub(crate) fn kernel_call(&self, declaration: &str, arguments: &[Value]) -> Value {
        let arguments: Vec<Value> = arguments.iter().map(|value| json!({ "value": value })).collect();
        json!({
            "functionDeclaration": declaration,
            "objectId": self.kernel,
            "arguments": arguments,
            "silent": true,
            "returnByValue": true,
        })
    }
}

impl Drop for Tab {
    fn drop(&mut self) {
        if let Some(end) = self.end.take() {
            let handle = end.handle.clone();
            drop(handle.spawn(end.now()));
        }
    }
}

impl End {
    async fn now(self) {
        self.client.end(&self.session, Gone::Detached);
        let dispose = json!({ "browserContextId": self.context });
        let disposed = call_browser::<Nothing>(&self.client, "Target.disposeBrowserContext", dispose, STEP);
        let Some(renderers) = self.renderers else {
            let _ = disposed.await;
            return;
        };
        let killed = async {
            if !renderers.gone_within(GRACE).await {
                renderers.kill();
                renderers.gone_within(STEP).await;
            }
        };
        let _ = tokio::join!(disposed, killed);
    }
}

/// Requests that the host answers itself: synchronous calls, and every document. Whatever else a page asks of its own
/// address ends where every name ends, in the resolver, and costs the host nothing.
fn intercepted() -> Value {
    json!({ "patterns": [{ "urlPattern": SYNC_URL }, { "urlPattern": "*", "resourceType": "Document" }] })
}

fn screen() -> Value {
    let (width, height) = SCREEN;
    json!({
        "width": width, "height": height, "screenWidth": width, "screenHeight": height,
        "deviceScaleFactor": 1, "mobile": false,
    })
}

/// Starts the kernel as soon as the page is at our own address.
async fn settle(session: &CdpSession, events: &TabEvents) -> Result<String, TabError> {
    let ended = async {
        let _ = events.watch_end().wait_for(Option::is_some).await;
    };
    tokio::select! {
        arrived = tokio::time::timeout(STEP, events.arrived()) => arrived.map_err(|_| TabError::Ended)?,
        () = ended => return Err(TabError::Ended),
    }
    // A page's world is made when it is first needed, and a binding goes only into worlds that are there.
    session.send("Runtime.evaluate", json!({ "expression": "1" })).await?;
    session.send("Runtime.addBinding", json!({ "name": BINDING })).await?;
    let started: Evaluated = session.call("Runtime.evaluate", json!({ "expression": *KERNEL }), STEP).await?;
    if let Some(thrown) = started.exception_details {
        let what = thrown.exception.and_then(|exception| exception.description).unwrap_or(thrown.text);
        return Err(TabError::Kernel(what));
    }
    if events.ended().is_some() {
        return Err(TabError::Ended);
    }
    let kernel = started.result.object_id.filter(|_| events.has_kernel());
    let kernel = kernel.ok_or_else(|| TabError::Kernel("it said nothing".to_owned()))?;
    let rehearsal = json!({ "functionDeclaration": REHEARSAL, "objectId": kernel, "silent": true });
    session.send("Runtime.callFunctionOn", rehearsal).await?;
    Ok(kernel)
}

/// The renderers that were not there before. They are started a moment after their tab.
async fn fresh_renderers(client: &Client, build: Build, before: &[u32]) -> Result<Vec<u32>, TabError> {
    loop {
        let fresh: Vec<u32> = renderers(client).await?.into_iter().filter(|pid| !before.contains(pid)).collect();
        match (fresh.len(), build) {
            (0, _) => tokio::time::sleep(Duration::from_millis(2)).await,
            (1, Build::Shell) | (_, Build::Full) => return Ok(fresh),
            (_, Build::Shell) => return Err(TabError::NoProcess),
        }
    }
}

async fn renderers(client: &Client) -> Result<Vec<u32>, CdpError> {
    Ok(processes(client).await?.renderers())
}

/// The processes that belong to no tab.
pub(crate) async fn shared_processes(client: &Client) -> Result<Vec<u32>, CdpError> {
    Ok(processes(client).await?.shared())
}

async fn processes(client: &Client) -> Result<BrowserProcesses, CdpError> {
    call_browser(client, BrowserProcesses::METHOD, json!({}), STEP).await
}
