//! The one line to the browser: its pipe, shared by Gull itself and by agent-browser.
//!
//! Gull's own calls have ids that agent-browser never reaches, and agent-browser speaks inside a browser session that
//! was made for it: ending that session takes everything with it that agent-browser attached, watched or intercepted.
//! So a daemon that is killed leaves no listener behind, and a new one begins with nothing.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cove_chrome::{BrowserPipe, Frame, FrameReader, MAX_FRAME_BYTES};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::net::unix::pipe;
use tokio::sync::{mpsc, oneshot, watch};

/// Ids from here on are Gull's own. The protocol's ids are 32-bit numbers; agent-browser counts from one.
pub(crate) const OWN_IDS: i32 = 1_500_000_000;

/// Frames that may wait for the browser to read them.
const COMMANDS: usize = 1024;

/// Frames that may wait for agent-browser to read them; one that falls so far behind is cut off.
const ANSWERS: usize = 8192;

/// Their bytes together: the largest frame that is read, and half as much beside it. A page decides how much the browser
/// tells of it, and agent-browser how fast it listens.
const ANSWER_BYTES: usize = MAX_FRAME_BYTES + MAX_FRAME_BYTES / 2;

/// Events that may wait for one of our own listeners, and the size of one. A browser sends at most two pictures ahead; what
/// does not fit is dropped, for a listener also looks by itself.
const EVENTS: usize = 8;
const MAX_EVENT_BYTES: usize = 4 << 20;

/// Why a call has no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum LinkError {
    #[error("the browser is gone")]
    Gone,
    #[error("the browser did not answer in time")]
    Deadline,
    #[error("the browser refused: {0}")]
    Refused(String),
    #[error("the browser's answer cannot be read")]
    Unreadable,
}

type Reply = oneshot::Sender<Result<Box<RawValue>, LinkError>>;

struct Client {
    number: u64,
    session: String,
    frames: mpsc::Sender<Vec<u8>>,
    waiting_bytes: Arc<AtomicUsize>,
}

impl Client {
    /// Whether there was room for it.
    fn take(&self, frame: Vec<u8>) -> bool {
        let bytes = frame.len();
        if self.waiting_bytes.load(Ordering::Acquire) + bytes > ANSWER_BYTES {
            return false;
        }
        self.waiting_bytes.fetch_add(bytes, Ordering::AcqRel);
        self.frames.try_send(frame).is_ok()
    }
}

/// Frames on their way to a client.
pub(crate) struct Frames {
    frames: mpsc::Receiver<Vec<u8>>,
    waiting_bytes: Arc<AtomicUsize>,
}

impl Frames {
    /// The next one; `None` when the client has been cut off.
    pub(crate) async fn next(&mut self) -> Option<Vec<u8>> {
        let frame = self.frames.recv().await?;
        self.waiting_bytes.fetch_sub(frame.len(), Ordering::AcqRel);
        Some(frame)
    }
}

#[derive(Default)]
struct State {
    next_id: i32,
    clients: u64,
    pending: HashMap<i32, Reply>,
    /// Sessions of our own: their events are nobody's but a listener's.
    own_sessions: Vec<String>,
    /// Who hears the events of some of them.
    listeners: HashMap<String, mpsc::Sender<Vec<u8>>>,
    client: Option<Client>,
}

/// The line. Clones share it.
#[derive(Clone)]
pub(crate) struct Link {
    queue: mpsc::Sender<Vec<u8>>,
    state: Arc<Mutex<State>>,
    closed: Arc<watch::Sender<bool>>,
}

impl Link {
    /// Starts reading and writing on the current runtime.
    pub(crate) fn start(pipe: BrowserPipe) -> Self {
        let (queue, queued) = mpsc::channel(COMMANDS);
        let link = Self { queue, state: Arc::default(), closed: Arc::new(watch::channel(false).0) };
        tokio::spawn(write(pipe.commands, queued, link.clone()));
        tokio::spawn(read(pipe.answers, link.clone()));
        link
    }

    /// Calls the browser, or one of its pages, and reads the answer.
    pub(crate) async fn call<T: DeserializeOwned>(
        &self,
        session: Option<&str>,
        method: &str,
        params: Value,
        wait: Duration,
    ) -> Result<T, LinkError> {
        let (reply, answer) = oneshot::channel();
        let id = {
            let mut state = self.lock();
            if self.is_closed() {
                return Err(LinkError::Gone);
            }
            let id = OWN_IDS + state.next_id % 500_000_000;
            state.next_id = state.next_id.wrapping_add(1) & i32::MAX;
            state.pending.insert(id, reply);
            id
        };
        let mut message = json!({ "id": id, "method": method, "params": params });
        if let (Some(session), Some(object)) = (session, message.as_object_mut()) {
            object.insert("sessionId".to_owned(), session.into());
        }
        let exchange = async {
            self.send(message.to_string().into_bytes()).await?;
            answer.await.map_err(|_| LinkError::Gone)?
        };
        let answered = tokio::time::timeout(wait, exchange).await;
        self.lock().pending.remove(&id);
        let raw = answered.map_err(|_| LinkError::Deadline)??;
        serde_json::from_str(raw.get()).map_err(|_| LinkError::Unreadable)
    }

    /// Attaches to a page for a moment of our own.
    pub(crate) async fn attach(&self, target: &str, wait: Duration) -> Result<String, LinkError> {
        let params = json!({ "targetId": target, "flatten": true });
        let attached: Attached = self.call(None, "Target.attachToTarget", params, wait).await?;
        self.lock().own_sessions.push(attached.session_id.clone());
        Ok(attached.session_id)
    }

    /// The events of a session of our own, from now on.
    pub(crate) fn listen(&self, session: &str) -> mpsc::Receiver<Vec<u8>> {
        let (sender, events) = mpsc::channel(EVENTS);
        self.lock().listeners.insert(session.to_owned(), sender);
        events
    }

    /// How many listen.
    pub(crate) fn listeners(&self) -> usize {
        self.lock().listeners.len()
    }

    /// Tells a page something whose answer nobody needs.
    pub(crate) async fn tell(&self, session: &str, method: &str, params: Value) -> Result<(), LinkError> {
        let id = {
            let mut state = self.lock();
            let id = OWN_IDS + state.next_id % 500_000_000;
            state.next_id = state.next_id.wrapping_add(1) & i32::MAX;
            id
        };
        let message = json!({ "id": id, "method": method, "params": params, "sessionId": session });
        let sent = tokio::time::timeout(Duration::from_secs(2), self.send(message.to_string().into_bytes())).await;
        sent.map_err(|_| LinkError::Deadline)?
    }

    /// Ends a session of our own.
    pub(crate) async fn detach(&self, session: &str, wait: Duration) {
        let _ = self.call::<Value>(None, "Target.detachFromTarget", json!({ "sessionId": session }), wait).await;
        let mut state = self.lock();
        state.own_sessions.retain(|own| own != session);
        state.listeners.remove(session);
    }

    /// Lets a client in: it gets a browser session of its own and the frames that are meant for it.
    pub(crate) async fn admit(&self, wait: Duration) -> Result<(ClientSlot, Frames), LinkError> {
        let attached: Attached = self.call(None, "Target.attachToBrowserTarget", json!({}), wait).await?;
        let (frames, receiver) = mpsc::channel(ANSWERS);
        let session = attached.session_id;
        let mut state = self.lock();
        state.clients += 1;
        let number = state.clients;
        let waiting_bytes = Arc::<AtomicUsize>::default();
        state.client = Some(Client { number, session: session.clone(), frames, waiting_bytes: waiting_bytes.clone() });
        drop(state);
        Ok((ClientSlot { link: self.clone(), number, session }, Frames { frames: receiver, waiting_bytes }))
    }

    /// Whether the browser is gone.
    pub(crate) fn is_closed(&self) -> bool {
        *self.closed.borrow()
    }

    /// Waits until the browser is gone.
    pub(crate) async fn closed(&self) {
        let _ = self.closed.subscribe().wait_for(|closed| *closed).await;
    }

    /// Fails everything: the browser has ended.
    pub(crate) fn close(&self) {
        self.closed.send_replace(true);
        let mut state = self.lock();
        state.client = None;
        state.listeners.clear();
        for (_, reply) in state.pending.drain() {
            let _ = reply.send(Err(LinkError::Gone));
        }
    }

    async fn send(&self, mut frame: Vec<u8>) -> Result<(), LinkError> {
        frame.push(0);
        self.queue.send(frame).await.map_err(|_| LinkError::Gone)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives a frame of the browser's to whom it belongs.
    fn route(&self, mut frame: Vec<u8>) {
        let mut state = self.lock();
        if let Some(id) = id_of(&frame).filter(|id| *id >= OWN_IDS) {
            if let Some(reply) = state.pending.remove(&id) {
                let _ = reply.send(read_answer(&frame));
            }
            return;
        }
        let Some(session) = session_of(&frame).map(str::to_owned) else { return };
        if state.own_sessions.contains(&session) {
            if let Some(listener) = state.listeners.get(&session)
                && frame.len() <= MAX_EVENT_BYTES
            {
                let _ = listener.try_send(frame);
            }
            return;
        }
        let Some(client) = &state.client else { return };
        if client.session == session {
            // Inside its own browser session the client is at the root, where messages have no session.
            let suffix = session.len() + SESSION.len() + 2;
            frame.truncate(frame.len() - suffix);
            frame.push(b'}');
        }
        if !client.take(frame) {
            state.client = None;
        }
    }
}

/// A client's place at the line. Giving it up ends its browser session.
pub(crate) struct ClientSlot {
    link: Link,
    number: u64,
    session: String,
}

impl ClientSlot {
    /// Passes a client's message on. `session` is the one that the message names, if any.
    pub(crate) async fn pass(&self, mut message: Vec<u8>, session: Option<&str>) -> Result<(), LinkError> {
        if session.is_none() {
            while message.last().is_some_and(u8::is_ascii_whitespace) {
                message.pop();
            }
            message.pop();
            message.extend_from_slice(format!(",\"sessionId\":\"{}\"}}", self.session).as_bytes());
        }
        self.link.send(message).await
    }
}

impl Drop for ClientSlot {
    fn drop(&mut self) {
        let (link, number, session) = (self.link.clone(), self.number, std::mem::take(&mut self.session));
        {
            let mut state = link.lock();
            if state.client.as_ref().is_some_and(|client| client.number == number) {
                state.client = None;
            }
        }
        if let Ok(handle) = tokio::runtime::Handle::try_current() {
            handle.spawn(async move { link.detach(&session, Duration::from_secs(2)).await });
        }
    }
}

#[derive(Deserialize)]
struct Attached {
    #[serde(rename = "sessionId")]
    session_id: String,
}

const SESSION: &str = ",\"sessionId\":\"";

/// The id of an answer, which the browser writes first.
fn id_of(frame: &[u8]) -> Option<i32> {
    let digits = frame.strip_prefix(b"{\"id\":")?;
    let end = digits.iter().position(|byte| !byte.is_ascii_digit())?;
    std::str::from_utf8(digits.get(..end)?).ok()?.parse().ok()
}

/// The session of a message, which the browser writes last.
fn session_of(frame: &[u8]) -> Option<&str> {
    let body = frame.strip_suffix(b"\"}")?;
    let start = body.iter().rposition(|byte| *byte == b'"')?;
    let session = body.get(start + 1..)?;
    let named = body.get(..=start)?.ends_with(SESSION.as_bytes());
    let plain = !session.is_empty() && session.iter().all(u8::is_ascii_alphanumeric);
    std::str::from_utf8(session).ok().filter(|_| named && plain)
}

fn read_answer(frame: &[u8]) -> Result<Box<RawValue>, LinkError> {
    #[derive(Deserialize)]
    struct RawReply {
        result: Option<Box<RawValue>>,
        error: Option<Refused>,
    }
    #[derive(Deserialize)]
    struct Refused {
        message: String,
    }
    let answer: RawReply = serde_json::from_slice(frame).map_err(|_| LinkError::Unreadable)?;
    match answer.error {
        Some(error) => Err(LinkError::Refused(error.message)),
        None => answer.result.ok_or(LinkError::Unreadable),
    }
}

async fn write(mut commands: pipe::Sender, mut queued: mpsc::Receiver<Vec<u8>>, link: Link) {
    loop {
        let frame = tokio::select! {
            frame = queued.recv() => frame,
            () = link.closed() => None,
        };
        let Some(frame) = frame else { break };
        if commands.write_all(&frame).await.is_err() {
            break;
        }
    }
    link.close();
}

async fn read(answers: pipe::Receiver, link: Link) {
    let mut frames = FrameReader::new(answers, MAX_FRAME_BYTES);
    loop {
        match frames.next().await {
            Ok(Some(Frame::Whole(frame))) => link.route(frame),
            // Nobody can use half a frame; whoever waits for it has a deadline.
            Ok(Some(Frame::TooLarge { .. })) => {}
            Ok(None) | Err(_) => break,
        }
    }
    link.close();
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whoever listens too slowly is cut off by the weight of what waits, however few frames it is.
    #[tokio::test]
    async fn what_waits_for_a_client_has_a_limit() {
        let (sender, receiver) = mpsc::channel(ANSWERS);
        let waiting_bytes = Arc::<AtomicUsize>::default();
        let client = Client { number: 1, session: String::new(), frames: sender, waiting_bytes: waiting_bytes.clone() };
        let mut frames = Frames { frames: receiver, waiting_bytes };
        let large = || vec![b'x'; ANSWER_BYTES / 3];
        assert!(client.take(large()) && client.take(large()) && client.take(large()));
        assert!(!client.take(large()), "a fourth part was kept");
        assert!(frames.next().await.is_some());
        assert!(client.take(large()));
    }

    #[test]
    fn frames_say_whose_they_are() {
        assert_eq!(id_of(b"{\"id\":7,\"result\":{}}"), Some(7));
        assert_eq!(id_of(b"{\"method\":\"x\"}"), None);
        assert_eq!(session_of(b"{\"id\":7,\"result\":{},\"sessionId\":\"AB12\"}"), Some("AB12"));
        // A session that is only spoken of inside a message is not the message's own.
        assert_eq!(session_of(b"{\"method\":\"x\",\"params\":{\"sessionId\":\"AB12\"}}"), None);
        assert_eq!(session_of(b"{\"id\":7,\"result\":{\"a\":\",\\\"sessionId\\\":\\\"AB\"}"), None);
    }
}
