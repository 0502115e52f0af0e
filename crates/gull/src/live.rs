//! What is alive in a session: the browser, the daemon, unfinished recordings. Made on first use, remade when dead.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::agent::Daemon;
use crate::browser::{Browser, Launch};
use crate::cookies;
use crate::disk::Weighed;
use crate::gull::Inner;
use crate::link::LinkError;
use crate::stage::{Outgoing, Uploads};

const NO_PROFILE: &str =
    "cookies are kept, but what sites store will be lost with this browser: its profile cannot be reached";

/// How long a page has to answer, after a command has run out of time, before it counts as stuck. With the closing it
/// stays within the second that an answer may be late.
const PROBE: Duration = Duration::from_millis(500);

/// How long a browser may take to say that it is there.
const PING: Duration = Duration::from_secs(1);

/// How long a stuck page may take to close before the next command goes on beside it.
const CLOSING: Duration = Duration::from_secs(5);

/// What was left of the browser after a command that ran out of time.
#[derive(Debug)]
pub(crate) enum Recovered {
    NoBrowser,
    /// Only the command was ended.
    AsItWas(&'static str),
    /// The browser or its pages are others now.
    Changed(&'static str),
}

/// The living parts; whoever holds them has the turn.
#[derive(Default)]
pub(crate) struct Live {
    pub(crate) browser: Option<Browser>,
    pub(crate) daemon: Option<Daemon>,
    /// Recordings that `record stop` will finish.
    pub(crate) recordings: Vec<Outgoing>,
    /// Files that pages may still read.
    pub(crate) uploads: Uploads,
    /// Pages that are being closed.
    closing: Vec<String>,
}

impl Live {
    /// Makes sure of a browser and a daemon. Answers with notes for the client about what had to be remade.
    pub(crate) async fn ensure(&mut self, inner: &Arc<Inner>) -> Result<Vec<&'static str>, String> {
        let mut notes = Vec::new();
        if let Some(browser) = &self.browser {
            // A browser that was just killed still looks alive for some milliseconds; a question settles it in half a
            // millisecond. One that is merely busy is left to the command's own deadline.
            let asked = browser.link.call::<Value>(None, "Browser.getVersion", json!({}), PING).await;
            if asked == Err(LinkError::Gone) {
                browser.link.close();
            }
        }
        if self.browser.as_ref().is_some_and(|browser| !browser.is_alive()) {
            notes.push("the browser had ended; a new one was started. Cookies are kept, open pages are not");
            self.end_daemon().await;
            self.recordings.clear();
            inner.agent.forget_tab();
            if let Some(dead) = self.browser.take() {
                dead.end().await;
            }
        }
        self.wait_for_closing().await;
        if self.browser.is_none() {
            inner.lighten_profile();
            let launch = Launch {
                binary: inner.options.browser.as_deref(),
                browser_state: &inner.browser_state,
                disk_bytes: inner.options.disk_bytes,
                private_folder: inner.private_folder.path(),
                temp_dir: &inner.options.temp_dir,
                unprivileged_id: inner.unprivileged_id,
                process_memory_bytes: inner.options.process_memory_bytes,
                proxy: inner.proxy.as_ref(),
                governor: &inner.governor,
                timeout: inner.options.launch_timeout,
            };
            let browser = Browser::launch(&launch).await.map_err(|error| error.to_string())?;
            if !browser.has_profile {
                notes.push(NO_PROFILE);
            }
            inner.weigh(Some(Weighed { own: browser.own.clone(), ender: browser.process.ender() }));
            cookies::restore(&browser.link, &inner.browser_state.folder).await;
            inner.bridge.lead_to(Some(browser.link.clone()));
            inner.has_browser(Some(browser.link.clone()), browser.walled);
            self.browser = Some(browser);
        }
        notes.extend(self.ensure_daemon(inner).await?);
        Ok(notes)
    }

    /// Makes sure of the daemon; says so if it had to be started again.
    pub(crate) async fn ensure_daemon(&mut self, inner: &Arc<Inner>) -> Result<Option<&'static str>, String> {
        let mut note = None;
        if self.daemon.as_mut().is_some_and(|daemon| !daemon.is_alive()) {
            note = Some("agent-browser had ended and was started again; take a new snapshot before using refs");
            self.end_daemon().await;
            inner.bridge.evict();
        }
        if self.daemon.is_none() {
            let daemon = inner.agent.start_daemon().await?;
            let (governor, pid) = (inner.governor.clone(), daemon.pid());
            tokio::spawn(async move { governor.hold(pid).await });
            self.daemon = Some(daemon);
        }
        Ok(note)
    }

    /// After a command has run out of time: ends what it was doing, and closes the pages that no longer answer.
    pub(crate) async fn recover(&mut self, inner: &Arc<Inner>) -> Recovered {
        // The daemon would go on with the command; refs and routes go with it.
        self.end_daemon().await;
        inner.bridge.evict();
        self.recordings.clear();
        let Some(browser) = &self.browser else { return Recovered::NoBrowser };
        let Ok(Ok(pages)) = tokio::time::timeout(PROBE, browser.pages()).await else {
            inner.bridge.lead_to(None);
            if let Some(browser) = self.browser.take() {
                browser.process.kill();
                tokio::spawn(browser.end());
            }
            return Recovered::Changed("the browser did not answer and was ended; the next command starts a new one");
        };
        let answers = join_all(pages.iter().map(|page| browser.answers(page, PROBE))).await;
        let stuck: Vec<&String> =
            pages.iter().zip(answers).filter(|(_, answers)| !answers).map(|(page, _)| page).collect();
        if stuck.is_empty() {
            return Recovered::AsItWas(
                "the command was ended; the page is still there. Take a new snapshot before using refs",
            );
        }
        inner.agent.forget_tab();
        // A browser without a page ends: the new one comes first.
        let alone = stuck.len() == pages.len();
        if alone {
            let _ = browser.open_page().await;
        }
        for page in stuck {
            self.closing.push(page.clone());
            let (link, page) = (browser.link.clone(), page.clone());
            tokio::spawn(async move {
                let close = json!({ "targetId": page });
                let _ = link.call::<Value>(None, "Target.closeTarget", close, Duration::from_secs(5)).await;
            });
        }
        Recovered::Changed(if alone {
            "the page did not answer any more; it was closed and replaced by a blank one. Open it again to go on"
        } else {
            "the page did not answer any more; its tab was closed. `tab` lists the others"
        })
    }

    /// The browser takes half a second to close a page that spins; until then it is still listed.
    async fn wait_for_closing(&mut self) {
        let closing = std::mem::take(&mut self.closing);
        let Some(browser) = self.browser.as_ref().filter(|_| !closing.is_empty()) else { return };
        let gone = async {
            while browser.pages().await.is_ok_and(|pages| pages.iter().any(|page| closing.contains(page))) {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        let _ = tokio::time::timeout(CLOSING, gone).await;
    }

    /// Ends everything; what the browser has stored stays on the cargo.
    pub(crate) async fn close(&mut self, inner: &Inner) {
        inner.has_browser(None, false);
        inner.weigh(None);
        if let Some(browser) = &self.browser
            && browser.is_alive()
            && let Ok(text) = cookies::ask(&browser.link).await
        {
            let _ = cookies::keep(&inner.browser_state.folder, &text);
        }
        self.end_daemon().await;
        inner.bridge.lead_to(None);
        inner.agent.forget_tab();
        self.recordings.clear();
        self.uploads = Uploads::default();
        if let Some(browser) = self.browser.take() {
            browser.quit().await;
        }
        inner.lighten_profile();
    }

    pub(crate) async fn end_daemon(&mut self) {
        if let Some(daemon) = self.daemon.take() {
            daemon.end().await;
        }
    }
}
