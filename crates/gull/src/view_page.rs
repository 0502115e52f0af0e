//! The page that a watcher is shown: a session of its own with it, and a screencast in that.
//!
//! While a screencast runs, the browser copies and packs every frame that it draws, sent or not. So the screencast rests
//! after each picture until the next one is wanted. A new one begins with a picture of how the page is then; if nothing has
//! changed it is left to run, and costs nothing until something does.

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
    /// The newest picture.
    last: Vec<u8>,
    /// Whether the screencast has made no picture since it began.
    is_fresh: bool,
    /// Whether no pictures are made for now.
    rests: bool,
}

/// What happened on the page.
pub(crate) enum PageEvent {
    /// A picture.
    Picture(Picture),
    /// It asks something, and waits.
    Asks(String),
    /// The question is answered.
    Answered,
    /// Nothing that a watcher sees.
    Other,
}

/// A picture of the page.
pub(crate) struct Picture {
    /// What the browser calls it.
    id: i64,
    /// Width and height (two bytes each, big-endian), then JPEG.
    bytes: Vec<u8>,
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
        let mut page = Self { link, target, session, events, last: Vec::new(), is_fresh: true, rests: true };
        page.tell("Page.enable", json!({})).await;
        page.cast().await;
        Some(page)
    }

    /// Tells the page something whose answer nobody needs.
    pub(crate) async fn tell(&self, method: &str, params: Value) {
        let _ = self.link.tell(&self.session, method, params).await;
    }

    /// What happens next; `None`: the browser is gone. Waits for ever where no page is shown.
    pub(crate) async fn next(page: &mut Option<Self>) -> Option<PageEvent> {
        match page {
            Some(page) => page.events.recv().await.map(|frame| Self::read(&frame)),
            None => std::future::pending().await,
        }
    }

    fn read(frame: &[u8]) -> PageEvent {
        let Ok(Event { method, params }) = serde_json::from_slice(frame) else { return PageEvent::Other };
        match method.as_str() {
            "Page.screencastFrame" => read_picture(&params).map_or(PageEvent::Other, PageEvent::Picture),
            "Page.javascriptDialogOpening" => {
                PageEvent::Asks(params["message"].as_str().unwrap_or_default().to_owned())
            }
            "Page.javascriptDialogClosed" => PageEvent::Answered,
            _ => PageEvent::Other,
        }
    }

    /// Takes a picture that has come; `None`: it shows nothing new.
    pub(crate) async fn take(&mut self, picture: Picture) -> Option<Vec<u8>> {
        let is_new = picture.bytes != self.last;
        if std::mem::take(&mut self.is_fresh) && !is_new {
            self.tell("Page.screencastFrameAck", json!({ "sessionId": picture.id })).await;
            return None;
        }
        if !self.rests {
            self.rests = true;
            self.tell("Page.stopScreencast", json!({})).await;
        }
        is_new.then(|| {
            self.last.clone_from(&picture.bytes);
            picture.bytes
        })
    }

    /// Whether the browser makes no pictures until it is asked again.
    pub(crate) fn rests(&self) -> bool {
        self.rests
    }

    /// Asks for a picture of how the page is now, and for one when it changes.
    pub(crate) async fn cast(&mut self) {
        (self.rests, self.is_fresh) = (false, true);
        let params = json!({ "format": "jpeg", "quality": QUALITY, "maxWidth": SIZE.0, "maxHeight": SIZE.1 });
        self.tell("Page.startScreencast", params).await;
    }
}

fn read_picture(params: &Value) -> Option<Picture> {
    let jpeg = BASE64.decode(params["data"].as_str()?).ok()?;
    let mut bytes = Vec::with_capacity(4 + jpeg.len());
    for side in ["deviceWidth", "deviceHeight"] {
        let pixels = params["metadata"][side].as_f64().unwrap_or_default().clamp(0.0, 65_535.0);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped just above")]
        bytes.extend_from_slice(&(pixels as u16).to_be_bytes());
    }
    bytes.extend_from_slice(&jpeg);
    Some(Picture { id: params["sessionId"].as_i64()?, bytes })
}

impl Drop for ShownPage {
    fn drop(&mut self) {
        let (link, session) = (self.link.clone(), std::mem::take(&mut self.session));
        if let Ok(handle) = Handle::try_current() {
            handle.spawn(async move { link.detach(&session, Duration::from_secs(2)).await });
        }
    }
}
