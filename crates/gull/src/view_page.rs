//! The page that a watcher is shown: a session of its own with it, and a screencast in that.
//!
//! The browser sends a further picture only when it has heard of the last ones, so whoever is slow is sent fewer.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::runtime::Handle;
use tokio::sync::mpsc;

use crate::browser::STEP;
use crate::link::Link;

/// The largest picture, in pixels, and how well it is packed, of 100.
const SIZE: (u32, u32) = (1280, 1280);
const QUALITY: u32 = 60;

/// One page, as one watcher has it. Dropping it ends its session, and the screencast with that.
pub(crate) struct ShownPage {
    pub(crate) link: Link,
    pub(crate) target: String,
    pub(crate) session: String,
    events: mpsc::Receiver<Vec<u8>>,
    /// Pictures that the browser waits to hear of.
    unheard: Vec<i64>,
    /// Whether it may have dropped one since.
    dropped: bool,
    /// Whether no pictures are made for now.
    rests: bool,
}

/// What happened on the page.
pub(crate) enum PageEvent {
    /// A picture, after its number: width and height (two bytes each, big-endian), then JPEG.
    Picture(Vec<u8>),
    /// It asks something, and waits.
    Asks(String),
    /// The question is answered.
    Answered,
    /// Nothing that a watcher sees.
    Other,
}

#[derive(Deserialize)]
struct Event {
    method: String,
    #[serde(default)]
    params: Value,
}

impl ShownPage {
    /// Begins to show a page.
    pub(crate) async fn begin(link: Link, target: String) -> Option<Self> {
        let session = link.attach(&target, STEP).await.ok()?;
        let events = link.listen(&session);
        let page = Self { link, target, session, events, unheard: Vec::new(), dropped: false, rests: false };
        page.tell("Page.enable", json!({})).await;
        page.start_cast().await;
        Some(page)
    }

    /// Tells the page something whose answer nobody needs.
    pub(crate) async fn tell(&self, method: &str, params: Value) {
        let _ = self.link.tell(&self.session, method, params).await;
    }

    /// What happens next; `None`: the browser is gone. Waits for ever where no page is shown.
    pub(crate) async fn next(page: &mut Option<Self>) -> Option<PageEvent> {
        match page {
            Some(page) => page.events.recv().await.map(|frame| page.read(&frame)),
            None => std::future::pending().await,
        }
    }

    fn read(&mut self, frame: &[u8]) -> PageEvent {
        let Ok(Event { method, params }) = serde_json::from_slice(frame) else { return PageEvent::Other };
        match method.as_str() {
            "Page.screencastFrame" => self.picture(&params),
            "Page.javascriptDialogOpening" => {
                PageEvent::Asks(params["message"].as_str().unwrap_or_default().to_owned())
            }
            "Page.javascriptDialogClosed" => PageEvent::Answered,
            _ => PageEvent::Other,
        }
    }

    fn picture(&mut self, params: &Value) -> PageEvent {
        self.unheard.extend(params["sessionId"].as_i64());
        // With two under way the browser drops what it sees until it hears from us.
        self.dropped |= self.unheard.len() > 1;
        let pixels = |name: &str| params["metadata"][name].as_f64().unwrap_or_default().clamp(0.0, 65_535.0);
        let Some(jpeg) = params["data"].as_str().and_then(|text| BASE64.decode(text).ok()) else {
            return PageEvent::Other;
        };
        let mut picture = Vec::with_capacity(4 + jpeg.len());
        for side in ["deviceWidth", "deviceHeight"] {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped just above")]
            picture.extend_from_slice(&(pixels(side) as u16).to_be_bytes());
        }
        picture.extend_from_slice(&jpeg);
        PageEvent::Picture(picture)
    }

    /// Lets the browser send a further picture; says whether it may have dropped one meanwhile.
    pub(crate) async fn heard(&mut self) -> bool {
        for unheard in std::mem::take(&mut self.unheard) {
            self.tell("Page.screencastFrameAck", json!({ "sessionId": unheard })).await;
        }
        std::mem::take(&mut self.dropped)
    }

    /// Asks for a picture of how the page is now, though nothing moves on it.
    pub(crate) async fn cast_again(&mut self) {
        self.rest().await;
        self.rests = false;
        self.start_cast().await;
    }

    /// Lets the browser make no more pictures: each costs it as much as drawing, whether it is sent or not.
    pub(crate) async fn rest(&mut self) {
        (self.unheard, self.dropped, self.rests) = (Vec::new(), false, true);
        self.tell("Page.stopScreencast", json!({})).await;
    }

    /// Whether it makes none.
    pub(crate) fn rests(&self) -> bool {
        self.rests
    }

    async fn start_cast(&self) {
        let params = json!({ "format": "jpeg", "quality": QUALITY, "maxWidth": SIZE.0, "maxHeight": SIZE.1 });
        self.tell("Page.startScreencast", params).await;
    }
}

impl Drop for ShownPage {
    fn drop(&mut self) {
        let (link, session) = (self.link.clone(), std::mem::take(&mut self.session));
        if let Ok(handle) = Handle::try_current() {
            handle.spawn(async move { link.detach(&session, Duration::from_secs(2)).await });
        }
    }
}
