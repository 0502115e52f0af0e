//! One watcher of the browser: pictures of the page that is shown, and a person's hands on it while they have control.
//!
//! Nothing of this exists while nobody watches: no screencast runs, and no browser is started for it. A watcher that is slow
//! is sent fewer pictures, the newest each time. What a page shows reaches the watcher as a picture; its title and address are
//! text. Looking does not count as use; a person in control is like a command that runs.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::extract::{Query, State};
use axum::response::{IntoResponse, Response};
use cove_core::beginning_chars;
use cove_runtime_api::{
    Controller, MAX_VIEW_WORD_BYTES, Refusal, RefusalCode, ViewCause, ViewEvent, ViewMode, ViewState, ViewTab, ViewWord,
};
use serde_json::{Value, json};
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use crate::address;
use crate::browser::{STEP, Target, Targets};
use crate::control::HeldControl;
use crate::gull::{Gull, Inner};
use crate::view_input;
use crate::view_page::{PageEvent, ShownPage};

/// Watchers of one browser at the same time; each costs the browser its pictures.
const MAX_WATCHERS: u64 = 4;
/// From the wish for a picture to the next: 12 a second at most. Each costs the browser a copy of all that it shows, and one
/// that is packed; with these a page that never rests takes less than a quarter of a processor.
const INTERVAL: Duration = Duration::from_millis(82);
/// How often tabs, titles and the agent's choice of a tab are looked at.
const LOOK: Duration = Duration::from_millis(300);
/// How long the command that runs, and the start of a browser, are waited for.
const TAKING: Duration = Duration::from_secs(60);
/// Things a person does that are taken in a second; a quick hand on a mouse stays far below.
const WORDS_PER_SECOND: u32 = 240;
/// Of a title or an address; and tabs that are listed.
const MAX_TEXT: usize = 300;
const MAX_TABS: usize = 50;

/// `GET /view/ws`
pub(crate) async fn open(
    State(gull): State<Arc<Gull>>,
    Query(mode): Query<ViewMode>,
    upgrade: WebSocketUpgrade,
) -> Response {
    let (inner, owner) = gull.parts();
    let Some(slot) = WatcherSlot::take(&inner) else {
        let message = format!("too many watch this browser: the limit is {MAX_WATCHERS}");
        let refusal = Refusal::new(429, RefusalCode::QuotaExceeded, message);
        return (axum::http::StatusCode::TOO_MANY_REQUESTS, axum::Json(refusal.body(None))).into_response();
    };
    let upgrade = upgrade.max_message_size(MAX_VIEW_WORD_BYTES).max_frame_size(MAX_VIEW_WORD_BYTES);
    upgrade.on_upgrade(move |socket| async move {
        let number = inner.control.number();
        let watcher = Watcher {
            may_control: mode.control,
            number,
            inner: inner.clone(),
            owner,
            shown: None,
            chosen: None,
            said_at: Instant::now(),
            held: None,
            taking: None,
            tabs: Vec::new(),
            told: None,
            picture: None,
            seq: 0,
            awaited: None,
            next_at: Instant::now(),
            dialog: None,
            words: (Instant::now(), 0),
        };
        tokio::select! {
            () = watcher.serve(socket) => {}
            () = inner.control.ended() => {}
        }
        drop(slot);
    })
}

/// One of the slots for watchers, of which there are only so many.
struct WatcherSlot(Arc<Inner>);

impl WatcherSlot {
    fn take(inner: &Arc<Inner>) -> Option<Self> {
        if inner.watchers.fetch_add(1, Ordering::SeqCst) >= MAX_WATCHERS {
            inner.watchers.fetch_sub(1, Ordering::SeqCst);
            return None;
        }
        Some(Self(inner.clone()))
    }
}

impl Drop for WatcherSlot {
    fn drop(&mut self) {
        self.0.watchers.fetch_sub(1, Ordering::SeqCst);
    }
}

struct Watcher {
    may_control: bool,
    number: u64,
    inner: Arc<Inner>,
    owner: Handle,
    shown: Option<ShownPage>,
    /// The tab that the person has chosen while in control.
    chosen: Option<String>,
    held: Option<HeldControl>,
    taking: Option<Taking>,
    /// When the watcher last said anything but that a picture has come.
    said_at: Instant,
    tabs: Vec<ViewTab>,
    /// What it was told last.
    told: Option<ViewState>,
    /// The newest picture that was not sent yet.
    picture: Option<Vec<u8>>,
    seq: u32,
    /// The picture that was sent and not acknowledged yet.
    awaited: Option<u32>,
    /// When the browser may be asked for the next one.
    next_at: Instant,
    dialog: Option<String>,
    /// Since when how many words were heard.
    words: (Instant, u32),
}

/// Control on its way. Dropping it gives up the place in the queue; a browser that is being started is left to start.
struct Taking {
    task: JoinHandle<Result<HeldControl, String>>,
    _wanted: oneshot::Sender<()>,
}

/// Why watching ends: the watcher has gone, or was in control for long without doing anything.
struct Gone;

impl Watcher {
    async fn serve(mut self, mut socket: WebSocket) {
        let mut changes = self.inner.control.changes();
        let mut look = tokio::time::interval(LOOK);
        look.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            // A watcher that is slow is waited for, and the browser makes no picture meanwhile.
            let is_ready = self.awaited.is_none();
            let wants = is_ready && self.picture.is_none() && self.shown.as_ref().is_some_and(ShownPage::rests);
            let done = tokio::select! {
                message = socket.recv() => match message {
                    Some(Ok(Message::Text(text))) => self.hear(&text, &mut socket).await,
                    Some(Ok(Message::Ping(_) | Message::Pong(_))) => Ok(()),
                    _ => Err(Gone),
                },
                event = ShownPage::next(&mut self.shown) => {
                    self.happened(event).await;
                    Ok(())
                }
                _ = look.tick() => {
                    self.look().await;
                    if self.has_left() { Err(Gone) } else { self.tell(&mut socket).await }
                }
                _ = changes.changed() => self.tell(&mut socket).await,
                taken = taken(&mut self.taking) => self.took(taken, &mut socket).await,
                () = std::future::ready(()), if is_ready && self.picture.is_some() => {
                    self.send_picture(&mut socket).await
                }
                () = tokio::time::sleep_until(self.next_at), if wants => {
                    self.next_at = Instant::now() + INTERVAL;
                    if let Some(shown) = &mut self.shown {
                        shown.cast().await;
                    }
                    Ok(())
                }
            };
            if done.is_err() {
                return;
            }
        }
    }

    /// Looks which page is to be shown, and whether its browser is still the same.
    async fn look(&mut self) {
        let link = self.inner.link().clone().filter(|link| !link.is_closed());
        let Some(link) = link else {
            (self.shown, self.dialog, self.tabs) = (None, None, Vec::new());
            return;
        };
        let Ok(targets) = link.call::<Targets>(None, "Target.getTargets", json!({}), LOOK).await else { return };
        let pages: Vec<Target> = targets.target_infos.into_iter().filter(|target| target.kind == "page").collect();
        let active = self.inner.agent.active_tab();
        let is_chosen = |page: &&Target| self.chosen.as_deref() == Some(page.target_id.as_str());
        let is_active = |page: &&Target| active.as_deref().is_some_and(|active| active.contains(&page.target_id));
        let wanted = pages.iter().find(is_chosen).or_else(|| pages.iter().find(is_active)).or_else(|| pages.first());
        let wanted = wanted.map(|page| page.target_id.clone());
        let now = self.shown.as_ref().map(|shown| &shown.target);
        if wanted.as_ref() != now {
            self.shown = None;
            self.dialog = None;
            if let Some(target) = wanted.clone() {
                self.shown = ShownPage::begin(link, target).await;
            }
        }
        let tabs = pages.into_iter().take(MAX_TABS).map(|page| ViewTab {
            shown: Some(&page.target_id) == wanted.as_ref(),
            id: page.target_id,
            title: cut(&page.title),
            url: cut(&page.url),
        });
        self.tabs = tabs.collect();
    }

    /// Tells how things are, if that has changed.
    async fn tell(&mut self, socket: &mut WebSocket) -> Result<(), Gone> {
        let control = match self.inner.control.holder() {
            Some(holder) if holder == self.number => Controller::You,
            Some(_) => Controller::Another,
            None if self.taking.is_some() => Controller::Taking,
            None => Controller::Agent,
        };
        let browser = self.shown.is_some();
        let state = ViewState { browser, tabs: self.tabs.clone(), control, dialog: self.dialog.clone() };
        if self.told.as_ref() == Some(&state) {
            return Ok(());
        }
        self.told = Some(state.clone());
        say(socket, &ViewEvent::State(state)).await
    }

    /// Something happened on the page.
    async fn happened(&mut self, event: Option<PageEvent>) {
        match event {
            Some(PageEvent::Picture(picture)) => {
                let Some(shown) = &mut self.shown else { return };
                if let Some(new) = shown.take(picture).await {
                    self.picture = Some(new);
                }
            }
            Some(PageEvent::Asks(question)) => self.dialog = Some(cut(&question)),
            Some(PageEvent::Answered) => self.dialog = None,
            Some(PageEvent::Other) => {}
            None => self.shown = None,
        }
    }

    /// Sends the newest picture.
    async fn send_picture(&mut self, socket: &mut WebSocket) -> Result<(), Gone> {
        let Some(picture) = self.picture.take() else { return Ok(()) };
        self.seq = self.seq.wrapping_add(1);
        self.awaited = Some(self.seq);
        let numbered = [&self.seq.to_be_bytes()[..], &picture].concat();
        send(socket, Message::Binary(numbered.into())).await
    }

    /// Whether somebody who may have control has done nothing for so long that commands need not wait any more.
    fn has_left(&self) -> bool {
        self.may_control && self.said_at.elapsed() > self.inner.options.control_timeout
    }

    async fn hear(&mut self, text: &str, socket: &mut WebSocket) -> Result<(), Gone> {
        let (since, count) = &mut self.words;
        if since.elapsed() > Duration::from_secs(1) {
            (*since, *count) = (Instant::now(), 0);
        }
        *count += 1;
        let is_too_much = *count > WORDS_PER_SECOND;
        let Ok(word) = serde_json::from_str::<ViewWord>(text) else {
            return refuse(socket, ViewCause::Unreadable, "unknown message").await;
        };
        if !matches!(word, ViewWord::Ack { .. }) {
            self.said_at = Instant::now();
        }
        match word {
            ViewWord::Ack { seq } => {
                if self.awaited == Some(seq) {
                    self.awaited = None;
                }
                return Ok(());
            }
            ViewWord::Take => return self.take(socket).await,
            ViewWord::Give => {
                (self.held, self.chosen, self.taking) = (None, None, None);
                return self.tell(socket).await;
            }
            _ => {}
        }
        let Some(held) = &mut self.held else {
            return refuse(socket, ViewCause::NoControl, "take control first").await;
        };
        if is_too_much {
            return refuse(socket, ViewCause::Unavailable, "too much at once").await;
        }
        held.act();
        self.obey(word, socket).await
    }

    /// Does what a person in control wants.
    async fn obey(&mut self, word: ViewWord, socket: &mut WebSocket) -> Result<(), Gone> {
        let Some(shown) = &self.shown else {
            return refuse(socket, ViewCause::Unavailable, "there is no page now").await;
        };
        if let Some((method, params)) = view_input::call(&word) {
            shown.tell(method, params).await;
            return Ok(());
        }
        match word {
            ViewWord::Navigate { url } => {
                if let Err(why) = address::check(&url, &self.inner.network, self.inner.options.inside.is_some()) {
                    return refuse(socket, ViewCause::NotAllowed, &why.to_string()).await;
                }
                let url = address::complete(&url);
                if !address::is_visitable(&url) {
                    return refuse(socket, ViewCause::NotAllowed, "this address is not allowed").await;
                }
                shown.tell("Page.navigate", json!({ "url": url })).await;
            }
            ViewWord::Back | ViewWord::Forward => {
                let step = if word == ViewWord::Back { "history.back()" } else { "history.forward()" };
                shown.tell("Runtime.evaluate", json!({ "expression": step })).await;
            }
            ViewWord::Tab { id } if self.tabs.iter().any(|tab| tab.id == id) => {
                let target = json!({ "targetId": id });
                let _ = shown.link.call::<Value>(None, "Target.activateTarget", target, STEP).await;
                self.chosen = Some(id);
                self.look().await;
                return self.tell(socket).await;
            }
            _ => return refuse(socket, ViewCause::Unavailable, "there is no such tab").await,
        }
        Ok(())
    }

    /// Asks for control: it comes when the command that runs has ended.
    async fn take(&mut self, socket: &mut WebSocket) -> Result<(), Gone> {
        if !self.may_control {
            return refuse(socket, ViewCause::ReadOnly, "this link may only look").await;
        }
        if self.held.is_some() || self.taking.is_some() {
            return Ok(());
        }
        if self.inner.control.is_held() {
            return refuse(socket, ViewCause::Held, "another person has control").await;
        }
        let (inner, number) = (self.inner.clone(), self.number);
        // On the owner thread: a browser that is started dies with the thread that started it.
        let (wanted, mut unwanted) = oneshot::channel();
        let task = self.owner.spawn(async move {
            let taking = async {
                let mut turn = tokio::select! {
                    turn = inner.live.clone().lock_owned() => turn,
                    _ = &mut unwanted => return Err("nobody waits for control any more".to_owned()),
                };
                if inner.control.is_held() {
                    return Err("another person has control".to_owned());
                }
                turn.ensure(&inner).await?;
                Ok(HeldControl::new(inner.clone(), number, turn))
            };
            let late = |_| "the command that runs has not ended".to_owned();
            tokio::time::timeout(TAKING, taking).await.map_err(late)?
        });
        self.taking = Some(Taking { task, _wanted: wanted });
        self.tell(socket).await
    }

    async fn took(&mut self, taken: Result<HeldControl, String>, socket: &mut WebSocket) -> Result<(), Gone> {
        self.taking = None;
        match taken {
            Ok(held) => self.held = Some(held),
            Err(why) => refuse(socket, ViewCause::Unavailable, &why).await?,
        }
        self.look().await;
        self.tell(socket).await
    }
}

async fn taken(taking: &mut Option<Taking>) -> Result<HeldControl, String> {
    match taking {
        Some(taking) => (&mut taking.task).await.unwrap_or_else(|_| Err("control was not given".to_owned())),
        None => std::future::pending().await,
    }
}

async fn refuse(socket: &mut WebSocket, cause: ViewCause, message: &str) -> Result<(), Gone> {
    say(socket, &ViewEvent::Refused { cause, message: message.to_owned() }).await
}

async fn say(socket: &mut WebSocket, event: &ViewEvent) -> Result<(), Gone> {
    let text = serde_json::to_string(event).map_err(|_| Gone)?;
    send(socket, Message::Text(text.into())).await
}

/// Who does not take a message for so long has gone.
async fn send(socket: &mut WebSocket, message: Message) -> Result<(), Gone> {
    match tokio::time::timeout(Duration::from_secs(10), socket.send(message)).await {
        Ok(Ok(())) => Ok(()),
        _ => Err(Gone),
    }
}

fn cut(text: &str) -> String {
    beginning_chars(text, MAX_TEXT).0.to_owned()
}
