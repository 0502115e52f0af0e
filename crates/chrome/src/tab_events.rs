//! What a guest's page does of its own accord, and what becomes of it at once.
//!
//! Dialogs are refused, navigations stopped, requests for our own origin answered or failed, whether a run is going on
//! or not. What concerns a run is put into its inbox. All of this happens on the client's task, so nothing here waits:
//! a page that says more than its inbox holds is ended.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use serde_json::json;
use serde_json::value::RawValue;
use tokio::sync::{mpsc, watch};

use crate::cdp::{BindingCalled, CdpSession, FrameNavigated, Gone, Listener, MAX_FRAME_BYTES, RequestPaused};
use crate::page::{PAGE_HTML, PAGE_URL, SYNC_URL};

/// Messages that may wait for a run to take them. The kernel itself sends no more than a run's console limit allows.
const INBOX: usize = 1 << 19;

/// Their bytes together: the largest message that is read, and half as much beside it.
const INBOX_BYTES: usize = MAX_FRAME_BYTES + MAX_FRAME_BYTES / 2;

/// Why a tab can no longer be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TabEnd {
    /// Its renderer died.
    Crashed,
    /// It was closed.
    Closed,
    /// Guest code brought it to another page.
    Navigated,
    /// It said more than can be heard.
    Flooded,
    /// It held more memory than its session may.
    Memory,
    /// The whole browser ended.
    BrowserEnded,
}

/// Something that a run has to deal with.
#[derive(Debug)]
pub(crate) enum PageEvent {
    /// A message of the kernel's.
    Message(String),
    /// A message whose sender stands still until the request is fulfilled.
    Waiting { request: String, message: String },
}

impl PageEvent {
    fn bytes(&self) -> usize {
        match self {
            Self::Message(message) | Self::Waiting { message, .. } => message.len(),
        }
    }
}

/// What waits for a run, bounded in number and in bytes: a page that says more is ended.
pub(crate) struct Inbox {
    events: mpsc::Receiver<PageEvent>,
    bytes: Arc<AtomicUsize>,
}

impl Inbox {
    /// The next event; `None` when nobody can send any more.
    pub(crate) async fn next(&mut self) -> Option<PageEvent> {
        let event = self.events.recv().await?;
        self.bytes.fetch_sub(event.bytes(), Ordering::AcqRel);
        Some(event)
    }

    /// An event that is already there.
    pub(crate) fn take(&mut self) -> Option<PageEvent> {
        let event = self.events.try_recv().ok()?;
        self.bytes.fetch_sub(event.bytes(), Ordering::AcqRel);
        Some(event)
    }
}

/// Where an inbox is filled.
struct Slot {
    events: mpsc::Sender<PageEvent>,
    bytes: Arc<AtomicUsize>,
}

impl Slot {
    /// `None`: it is full.
    fn put(&self, event: PageEvent) -> Option<()> {
        let bytes = event.bytes();
        if self.bytes.load(Ordering::Acquire) + bytes > INBOX_BYTES {
            return None;
        }
        self.bytes.fetch_add(bytes, Ordering::AcqRel);
        match self.events.try_send(event) {
            Ok(()) | Err(mpsc::error::TrySendError::Closed(_)) => Some(()),
            Err(mpsc::error::TrySendError::Full(_)) => None,
        }
    }
}

/// The listener of one tab.
pub(crate) struct TabEvents {
    session: CdpSession,
    secret: OnceLock<String>,
    served: AtomicBool,
    navigated: AtomicBool,
    arrived: watch::Sender<bool>,
    main_world: AtomicI64,
    inbox: Mutex<Option<Slot>>,
    end: watch::Sender<Option<TabEnd>>,
}

impl TabEvents {
    pub(crate) fn new(session: CdpSession) -> Self {
        Self {
            session,
            secret: OnceLock::new(),
            served: AtomicBool::new(false),
            navigated: AtomicBool::new(false),
            arrived: watch::Sender::new(false),
            main_world: AtomicI64::new(-1),
            inbox: Mutex::new(None),
            end: watch::Sender::new(None),
        }
    }

    /// Waits until the page is at our own address. Every later navigation is the guest's.
    pub(crate) async fn arrived(&self) {
        let _ = self.arrived.subscribe().wait_for(|arrived| *arrived).await;
    }

    /// What a waiting call begins with; guest code does not know it.
    pub(crate) fn set_secret(&self, secret: String) {
        let _ = self.secret.set(secret);
    }

    /// Whether the kernel has said hello.
    pub(crate) fn has_kernel(&self) -> bool {
        self.main_world.load(Ordering::Acquire) >= 0
    }

    /// Opens an inbox for a run; an earlier one is closed.
    pub(crate) fn open_inbox(&self) -> Inbox {
        let (sender, events) = mpsc::channel(INBOX);
        let bytes = Arc::new(AtomicUsize::new(0));
        let slot = Slot { events: sender, bytes: bytes.clone() };
        *self.inbox.lock().unwrap_or_else(PoisonError::into_inner) = Some(slot);
        Inbox { events, bytes }
    }

    /// Nobody listens any more.
    pub(crate) fn close_inbox(&self) {
        *self.inbox.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Marks the tab as unusable; the first reason stays.
    pub(crate) fn end(&self, why: TabEnd) {
        self.end.send_if_modified(|end| {
            let first = end.is_none();
            if first {
                *end = Some(why);
            }
            first
        });
    }

    /// Why it ended, if it has.
    pub(crate) fn ended(&self) -> Option<TabEnd> {
        *self.end.borrow()
    }

    /// To await the end.
    pub(crate) fn watch_end(&self) -> watch::Receiver<Option<TabEnd>> {
        self.end.subscribe()
    }

    fn deliver(&self, event: PageEvent) -> bool {
        let inbox = self.inbox.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(slot) = inbox.as_ref() else { return false };
        let kept = slot.put(event).is_some();
        if !kept {
            self.end(TabEnd::Flooded);
        }
        kept
    }

    fn said(&self, called: BindingCalled) {
        // The first word is the kernel's own; only the world that said it is heard from then on.
        let world = called.execution_context_id;
        let first = self.main_world.compare_exchange(-1, world, Ordering::AcqRel, Ordering::Acquire);
        if first == Err(world) {
            self.deliver(PageEvent::Message(called.payload));
        }
    }

    fn navigated(&self, navigated: &FrameNavigated<'_>) {
        if navigated.frame.parent_id.is_some() {
            return;
        }
        let first = navigated.frame.url == PAGE_URL && !self.navigated.swap(true, Ordering::AcqRel);
        if !first && self.navigated.load(Ordering::Acquire) {
            self.end(TabEnd::Navigated);
        }
    }

    fn requested(&self, paused: RequestPaused<'_>) -> bool {
        let id = paused.request_id.as_ref();
        let is_document = paused.resource_type == "Document";
        if is_document && paused.request.url == PAGE_URL && !self.served.swap(true, Ordering::AcqRel) {
            return self.session.fulfil_request(id, "text/html; charset=utf-8", PAGE_HTML.as_bytes());
        }
        if paused.request.url == SYNC_URL
            && paused.request.method == "POST"
            && let Some(body) = paused.request.post_data
            && let Some(message) = self.secret.get().and_then(|secret| body.strip_prefix(secret.as_str()))
            && self.deliver(PageEvent::Waiting { request: id.to_owned(), message: message.to_owned() })
        {
            return true;
        }
        self.session.abort_request(id)
    }
}

impl Listener for TabEvents {
    fn event(&self, method: &str, params: &RawValue) {
        let params = params.get();
        let kept_up = match method {
            "Runtime.bindingCalled" => {
                if let Ok(called) = serde_json::from_str(params) {
                    self.said(called);
                }
                true
            }
            "Fetch.requestPaused" => match serde_json::from_str(params) {
                Ok(paused) => self.requested(paused),
                Err(_) => true,
            },
            "Page.javascriptDialogOpening" => {
                self.session.post("Page.handleJavaScriptDialog", &json!({ "accept": false }))
            }
            "Page.frameNavigated" => {
                if let Ok(navigated) = serde_json::from_str(params) {
                    self.navigated(&navigated);
                }
                true
            }
            // Only now is the new document's world the one that calls reach.
            "Page.domContentEventFired" => {
                if self.navigated.load(Ordering::Acquire) {
                    self.arrived.send_replace(true);
                }
                true
            }
            _ => true,
        };
        if !kept_up {
            self.end(TabEnd::Flooded);
        }
    }

    fn gone(&self, why: Gone) {
        self.end(match why {
            Gone::Crashed => TabEnd::Crashed,
            Gone::Detached => TabEnd::Closed,
            Gone::Flooded => TabEnd::Flooded,
            Gone::BrowserEnded => TabEnd::BrowserEnded,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// However few messages it is: what a page has said and nobody has taken yet has a limit in bytes.
    #[tokio::test]
    async fn what_waits_for_a_run_has_a_limit() {
        let (sender, events) = mpsc::channel(INBOX);
        let bytes = Arc::<AtomicUsize>::default();
        let (slot, mut inbox) = (Slot { events: sender, bytes: bytes.clone() }, Inbox { events, bytes });
        let part = || PageEvent::Message("x".repeat(INBOX_BYTES / 3));
        assert!((0..3).all(|_| slot.put(part()).is_some()));
        assert!(slot.put(part()).is_none(), "a fourth part was kept");
        assert!(inbox.take().is_some() && inbox.next().await.is_some());
        assert!(slot.put(part()).is_some() && slot.put(part()).is_some() && slot.put(part()).is_none());
    }
}
