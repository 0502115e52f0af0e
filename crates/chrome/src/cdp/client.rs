//! Calls and events: each call gets its answer, its deadline, or the reason why neither will come.
//!
//! The browser never answers a call to a page that has crashed, and says nothing when it dies itself. So whoever waits
//! is told by the client: on a crash, a detach or the end of the pipe all calls of that session fail at once.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::Value;
use serde_json::value::RawValue;
use tokio::io::{AsyncRead, AsyncWriteExt};
use tokio::net::unix::pipe;
use tokio::sync::{Notify, mpsc, oneshot};

use super::frame::{Attached, Detached, Incoming, frame, number_after};
use super::wire::{Frame, FrameReader, MAX_FRAME_BYTES};

/// Commands that may wait to be written. The browser reads quickly; a full queue means that it has stopped.
const QUEUE: usize = 8192;

/// Commands of one session that nobody waits for and that the browser has not answered yet. Only a page that makes its
/// host answer faster than the browser can take it comes here; it must not fill the queue of all the others.
const MAX_POSTED: usize = 512;

/// How long a command may wait for its place in the queue.
const QUEUE_WAIT: Duration = Duration::from_secs(5);

/// Why a call has no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum CdpError {
    #[error("the browser is gone")]
    Closed,
    #[error("the page is gone")]
    Gone,
    #[error("the browser did not answer {0} in time")]
    Deadline(String),
    #[error("the browser refused {method}: {message}")]
    Refused { method: String, message: String },
    #[error("the browser's answer is too large")]
    TooLarge,
    #[error("the browser's answer to {0} cannot be read")]
    Unreadable(String),
}

/// Hears the events of one session, on the client's own task: it must neither block nor wait.
pub(crate) trait Listener: Send + Sync {
    /// An event of the session.
    fn event(&self, method: &str, params: &RawValue);
    /// The session is over; nothing further will come.
    fn gone(&self, why: Gone);
}

/// How a session ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Gone {
    Crashed,
    Detached,
    Flooded,
    BrowserEnded,
}

type Reply = oneshot::Sender<Result<Box<RawValue>, CdpError>>;

/// A call that has no answer yet.
struct Pending {
    session: Option<String>,
    /// `None`: nobody waits.
    reply: Option<Reply>,
}

#[derive(Default)]
struct State {
    closed: bool,
    pending: HashMap<u64, Pending>,
    /// Calls without a waiter, by session.
    posted: HashMap<String, usize>,
    listeners: HashMap<String, Arc<dyn Listener>>,
    /// Sessions by target, until whoever made the target takes them.
    arrivals: HashMap<String, String>,
}

/// Targets that nobody has asked for yet. They stand still until somebody does, and go with their context.
const MAX_ARRIVALS: usize = 1024;

/// A connection to one browser; clones share it.
#[derive(Clone)]
pub(crate) struct Client {
    queue: mpsc::Sender<Vec<u8>>,
    next_id: Arc<AtomicU64>,
    state: Arc<Mutex<State>>,
    closing: Arc<Notify>,
    arrived: Arc<Notify>,
}

impl Client {
    /// Starts reading and writing on the current runtime.
    pub(crate) fn start(commands: pipe::Sender, answers: pipe::Receiver) -> Self {
        let (queue, queued) = mpsc::channel(QUEUE);
        let client = Self {
            queue,
            next_id: Arc::new(AtomicU64::new(1)),
            state: Arc::default(),
            closing: Arc::default(),
            arrived: Arc::default(),
        };
        tokio::spawn(write(commands, queued, client.clone()));
        tokio::spawn(read(answers, client.clone()));
        client
    }

    /// Calls `method` and waits for its answer, at most `wait`.
    pub(crate) async fn call(
        &self,
        session: Option<&str>,
        method: &str,
        params: Value,
        wait: Duration,
    ) -> Result<Box<RawValue>, CdpError> {
        let (reply, answer) = oneshot::channel();
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let frame = frame(id, session, method, &params);
        {
            let mut state = self.lock();
            if state.closed {
                return Err(CdpError::Closed);
            }
            state.pending.insert(id, Pending { session: session.map(str::to_owned), reply: Some(reply) });
        }
        // Forgets the call when this future is dropped, too.
        let _forget = Forget { client: self, id };
        let exchange = async {
            self.queue.send(frame).await.map_err(|_| CdpError::Closed)?;
            answer.await.map_err(|_| CdpError::Closed)?
        };
        match tokio::time::timeout(wait, exchange).await {
            Err(_) => Err(CdpError::Deadline(method.to_owned())),
            Ok(Err(CdpError::Refused { message, .. })) => Err(CdpError::Refused { method: method.to_owned(), message }),
            Ok(result) => result,
        }
    }

    /// Calls `method` without waiting for anything; `false` when there is no room or the browser is gone.
    pub(crate) fn post(&self, session: Option<&str>, method: &str, params: &Value) -> bool {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        if let Some(session) = session {
            let mut state = self.lock();
            let posted = state.posted.entry(session.to_owned()).or_default();
            if *posted >= MAX_POSTED {
                return false;
            }
            *posted += 1;
            state.pending.insert(id, Pending { session: Some(session.to_owned()), reply: None });
        }
        self.queue.try_send(frame(id, session, method, params)).is_ok()
    }

    /// Calls `method` and waits only until there is room in the queue.
    pub(crate) async fn send(&self, session: Option<&str>, method: &str, params: Value) -> Result<(), CdpError> {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let queued = self.queue.send_timeout(frame(id, session, method, &params), QUEUE_WAIT).await;
        queued.map_err(|_| CdpError::Deadline(method.to_owned()))
    }

    /// Hears a session's events from now on.
    pub(crate) fn listen(&self, session: &str, listener: Arc<dyn Listener>) {
        let mut state = self.lock();
        if state.closed {
            drop(state);
            listener.gone(Gone::BrowserEnded);
        } else {
            state.listeners.insert(session.to_owned(), listener);
        }
    }

    /// The session of a target that was made a moment ago; it comes by itself, and stands still until it is told to go.
    pub(crate) async fn session_of(&self, target: &str, wait: Duration) -> Result<String, CdpError> {
        let arrival = async {
            loop {
                let arrived = self.arrived.notified();
                tokio::pin!(arrived);
                arrived.as_mut().enable();
                {
                    let mut state = self.lock();
                    if state.closed {
                        return Err(CdpError::Closed);
                    }
                    if let Some(session) = state.arrivals.remove(target) {
                        return Ok(session);
                    }
                }
                arrived.await;
            }
        };
        let late = || CdpError::Deadline("Target.attachedToTarget".to_owned());
        tokio::time::timeout(wait, arrival).await.map_err(|_| late())?
    }

    /// Ends a session from this side: its calls fail, its listener hears why.
    pub(crate) fn end(&self, session: &str, why: Gone) {
        let (listener, failed) = {
            let mut state = self.lock();
            let ids: Vec<u64> = state
                .pending
                .iter()
                .filter(|(_, pending)| pending.session.as_deref() == Some(session))
                .map(|(id, _)| *id)
                .collect();
            let failed: Vec<Reply> = ids.iter().filter_map(|id| state.pending.remove(id)?.reply).collect();
            state.posted.remove(session);
            (state.listeners.remove(session), failed)
        };
        for reply in failed {
            let _ = reply.send(Err(CdpError::Gone));
        }
        if let Some(listener) = listener {
            listener.gone(why);
        }
    }

    /// Whether the pipe is closed.
    pub(crate) fn is_closed(&self) -> bool {
        self.lock().closed
    }

    /// Fails everything: the browser has ended.
    pub(crate) fn close(&self) {
        let (pending, listeners) = {
            let mut state = self.lock();
            state.closed = true;
            (std::mem::take(&mut state.pending), std::mem::take(&mut state.listeners))
        };
        self.closing.notify_one();
        self.arrived.notify_waiters();
        for reply in pending.into_values().filter_map(|pending| pending.reply) {
            let _ = reply.send(Err(CdpError::Closed));
        }
        for listener in listeners.into_values() {
            listener.gone(Gone::BrowserEnded);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn answered(&self, id: u64, result: Result<Box<RawValue>, CdpError>) {
        let mut state = self.lock();
        match state.pending.remove(&id) {
            Some(Pending { reply: Some(reply), .. }) => {
                drop(state);
                let _ = reply.send(result);
            }
            Some(Pending { session: Some(session), reply: None }) => {
                if let Some(posted) = state.posted.get_mut(&session) {
                    *posted = posted.saturating_sub(1);
                }
            }
            _ => {}
        }
    }

    fn take(&self, bytes: &[u8]) {
        let Ok(message) = serde_json::from_slice::<Incoming<'_>>(bytes) else { return };
        match (message.id, message.method) {
            (Some(id), _) => {
                let result = match (message.result, message.error) {
                    (_, Some(error)) => {
                        Err(CdpError::Refused { method: String::new(), message: error.message.into_owned() })
                    }
                    (Some(result), None) => Ok(result.to_owned()),
                    (None, None) => Err(CdpError::Unreadable(String::new())),
                };
                self.answered(id, result);
            }
            (None, Some(method)) => match (&*method, message.session_id.as_deref(), message.params) {
                ("Inspector.targetCrashed", Some(session), _) => self.end(session, Gone::Crashed),
                ("Target.attachedToTarget", None, Some(params)) => {
                    if let Ok(attached) = serde_json::from_str::<Attached<'_>>(params.get()) {
                        let mut state = self.lock();
                        if state.arrivals.len() < MAX_ARRIVALS {
                            let target = attached.target_info.target_id.into_owned();
                            state.arrivals.insert(target, attached.session_id.into_owned());
                        }
                        drop(state);
                        self.arrived.notify_waiters();
                    }
                }
                ("Target.detachedFromTarget", _, Some(params)) => {
                    if let Ok(detached) = serde_json::from_str::<Detached<'_>>(params.get()) {
                        self.lock().arrivals.retain(|_, session| *session != detached.session_id);
                        self.end(&detached.session_id, Gone::Detached);
                    }
                }
                (method, Some(session), Some(params)) => {
                    let listener = self.lock().listeners.get(session).cloned();
                    if let Some(listener) = listener {
                        listener.event(method, params);
                    }
                }
                _ => {}
            },
            (None, None) => {}
        }
    }

    /// A frame that was too large: an answer fails, an event costs its session the life.
    fn refuse(&self, head: &[u8], tail: &[u8]) {
        let head = String::from_utf8_lossy(head);
        if let Some(id) = number_after(&head, "{\"id\":") {
            self.answered(id, Err(CdpError::TooLarge));
            return;
        }
        let tail = String::from_utf8_lossy(tail);
        if let Some((_, rest)) = tail.rsplit_once("\"sessionId\":\"")
            && let Some((session, _)) = rest.split_once('"')
        {
            self.end(session, Gone::Flooded);
        }
    }
}

struct Forget<'a> {
    client: &'a Client,
    id: u64,
}

impl Drop for Forget<'_> {
    fn drop(&mut self) {
        self.client.lock().pending.remove(&self.id);
    }
}

async fn write(mut commands: pipe::Sender, mut queued: mpsc::Receiver<Vec<u8>>, client: Client) {
    loop {
        let frame = tokio::select! {
            frame = queued.recv() => frame,
            () = client.closing.notified() => None,
        };
        let Some(frame) = frame else { break };
        if client.is_closed() || commands.write_all(&frame).await.is_err() {
            break;
        }
    }
    client.close();
}

async fn read(answers: impl AsyncRead + Unpin, client: Client) {
    let mut frames = FrameReader::new(answers, MAX_FRAME_BYTES);
    loop {
        match frames.next().await {
            Ok(Some(Frame::Whole(bytes))) => client.take(&bytes),
            Ok(Some(Frame::TooLarge { head, tail })) => client.refuse(&head, &tail),
            Ok(None) | Err(_) => break,
        }
    }
    client.close();
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// A browser made of two pipes: what it reads, what it writes.
    fn connect() -> (Client, pipe::Receiver, pipe::Sender) {
        let (commands, browser_reads) = pipe::pipe().unwrap();
        let (browser_writes, answers) = pipe::pipe().unwrap();
        (Client::start(commands, answers), browser_reads, browser_writes)
    }

    #[tokio::test]
    async fn calls_end_with_an_answer_or_a_reason() {
        let (client, _reads, mut browser) = connect();
        let long = Duration::from_secs(30);
        browser.write_all(b"{\"id\":1,\"result\":{\"a\":1}}\0").await.unwrap();
        browser.write_all(b"{\"id\":2,\"error\":{\"code\":-1,\"message\":\"no\"}}\0not json\0").await.unwrap();
        // The answers wait in the pipe until the calls have been made.
        let (one, two) = tokio::join!(call_x(&client, None, long), call_x(&client, None, long),);
        assert_eq!(one.unwrap().get(), "{\"a\":1}");
        assert!(matches!(two, Err(CdpError::Refused { message, .. }) if message == "no"));
        let slow = client.call(None, "Slow.call", json!({}), Duration::from_millis(1)).await;
        assert_eq!(slow.unwrap_err(), CdpError::Deadline("Slow.call".to_owned()));
        assert!(client.lock().pending.is_empty());

        let crash = async {
            browser.write_all(b"{\"method\":\"Inspector.targetCrashed\",\"params\":{},\"sessionId\":\"S\"}\0").await
        };
        let (lost, _) = tokio::join!(call_x(&client, Some("S"), long), crash);
        assert_eq!(lost.unwrap_err(), CdpError::Gone);

        let waiting = call_x(&client, None, long);
        let (lost, ()) = tokio::join!(waiting, async { drop(browser) });
        assert_eq!(lost.unwrap_err(), CdpError::Closed);
        assert!(client.is_closed());
    }

    async fn call_x(client: &Client, session: Option<&str>, wait: Duration) -> Result<Box<RawValue>, CdpError> {
        client.call(session, "X.y", json!({}), wait).await
    }
}
