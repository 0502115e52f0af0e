//! The bridge: agent-browser speaks WebSocket, the browser a pipe.
//!
//! Whoever can speak to the browser owns every page in it, so the bridge is as narrow as it can be: loopback only, a
//! path of 64 random hex digits, no browser as a client (a page that guessed the port would send an `Origin`), one
//! client at a time, and a look at every message. The secret goes to agent-browser in its environment, which only its
//! own user and root can read, never on a command line.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::{AbortHandle, JoinSet};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::handshake::server::{ErrorResponse, Request, Response};
use tokio_tungstenite::tungstenite::http::StatusCode;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::{WebSocketStream, accept_hdr_async_with_config};

use crate::guard::{Refusal, Verdict, look};
use crate::link::Link;
use crate::secret;

/// For a handshake, and for the browser to make a session.
const STEP: Duration = Duration::from_secs(5);

/// The largest message in either direction: a large page's picture in base64.
const MAX_MESSAGE_BYTES: usize = cove_chrome::MAX_FRAME_BYTES;

/// Handshakes at the same time; there is one honest client.
const MAX_HANDSHAKES: usize = 8;

/// The bridge to whatever browser is the current one. Dropping it closes it.
pub(crate) struct Bridge {
    address: SocketAddr,
    secret: String,
    link: Arc<Mutex<Option<Link>>>,
    evict: watch::Sender<u64>,
    serving: AbortHandle,
    address_refused: Arc<AtomicBool>,
}

struct Shared {
    path: String,
    host: [String; 2],
    private_folder: PathBuf,
    link: Arc<Mutex<Option<Link>>>,
    /// One client at a time.
    turn: Arc<tokio::sync::Mutex<()>>,
    evict: watch::Receiver<u64>,
    /// Whether the guard has refused an address: agent-browser repeats the refusal in words of its own.
    address_refused: Arc<AtomicBool>,
}

impl Bridge {
    /// Opens the bridge on a port of the system's choice, on the current runtime.
    pub(crate) async fn open(private_folder: PathBuf) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let secret = secret::hex(32)?;
        let link = Arc::new(Mutex::new(None));
        let (evict, evicted) = watch::channel(0);
        let address_refused = Arc::<AtomicBool>::default();
        let shared = Shared {
            path: format!("/devtools/browser/{secret}"),
            host: [address.to_string(), format!("localhost:{}", address.port())],
            private_folder,
            link: link.clone(),
            turn: Arc::default(),
            evict: evicted,
            address_refused: Arc::clone(&address_refused),
        };
        let serving = tokio::spawn(serve(listener, Arc::new(shared))).abort_handle();
        Ok(Self { address, secret, link, evict, serving, address_refused })
    }

    /// Where agent-browser connects to.
    pub(crate) fn url(&self) -> String {
        format!("ws://{}/devtools/browser/{}", self.address, self.secret)
    }

    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }

    /// Leads to this browser from now on; a client of the one before is cut off.
    pub(crate) fn lead_to(&self, link: Option<Link>) {
        *self.link.lock().unwrap_or_else(PoisonError::into_inner) = link;
        self.evict();
    }

    /// Whether an address was refused since this was asked before.
    pub(crate) fn take_address_refused(&self) -> bool {
        self.address_refused.swap(false, Ordering::Relaxed)
    }

    /// Cuts the present client off.
    pub(crate) fn evict(&self) {
        self.evict.send_modify(|count| *count += 1);
    }
}

impl Drop for Bridge {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

async fn serve(listener: TcpListener, shared: Arc<Shared>) {
    let seats = Arc::new(Semaphore::new(MAX_HANDSHAKES));
    let mut clients = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    let Ok(seat) = seats.clone().try_acquire_owned() else { continue };
                    let shared = shared.clone();
                    clients.spawn(async move {
                        let _ = stream.set_nodelay(true);
                        if let Ok(Ok(socket)) = tokio::time::timeout(STEP, greet(stream, &shared)).await {
                            carry(socket, &shared).await;
                        }
                        drop(seat);
                    });
                }
                Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
            },
            Some(_) = clients.join_next() => {}
        }
    }
}

type Socket = WebSocketStream<TcpStream>;

/// The handshake: everything that does not know the secret is turned away with the same answer.
async fn greet(stream: TcpStream, shared: &Shared) -> Result<Socket, tokio_tungstenite::tungstenite::Error> {
    let mut config = WebSocketConfig::default();
    config.max_message_size = Some(MAX_MESSAGE_BYTES);
    config.max_frame_size = Some(MAX_MESSAGE_BYTES);
    let check = |request: &Request, response: Response| -> Result<Response, ErrorResponse> {
        let host = request.headers().get("host").and_then(|host| host.to_str().ok()).unwrap_or_default();
        let known = shared.host.iter().any(|own| own == host);
        let foreign = request.headers().contains_key("origin");
        let secret = secret::same(request.uri().path(), &shared.path) && request.uri().query().is_none();
        if known && !foreign && secret {
            return Ok(response);
        }
        let mut refusal = ErrorResponse::new(None);
        *refusal.status_mut() = StatusCode::FORBIDDEN;
        Err(refusal)
    };
    accept_hdr_async_with_config(stream, check, Some(config)).await
}

/// Carries messages between one client and the browser until either has enough.
async fn carry(mut socket: Socket, shared: &Shared) {
    // The client before may still be on its way out.
    let Ok(_turn) = tokio::time::timeout(STEP, shared.turn.lock()).await else { return };
    let mut evict = shared.evict.clone();
    evict.mark_unchanged();
    let link = shared.link.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let Some(link) = link else { return };
    let Ok((seat, mut frames)) = link.admit(STEP).await else { return };
    loop {
        tokio::select! {
            frame = frames.next() => {
                let Some(frame) = frame else { break };
                let text = String::from_utf8(frame).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
                if socket.send(Message::text(text)).await.is_err() {
                    break;
                }
            }
            message = socket.next() => match message {
                Some(Ok(Message::Text(text))) => match look(&text, &shared.private_folder) {
                    Verdict::Pass(session) => {
                        if seat.pass(text.as_bytes().to_vec(), session.as_deref()).await.is_err() {
                            break;
                        }
                    }
                    Verdict::Answer(Refusal { answer, of_address }) => {
                        shared.address_refused.fetch_or(of_address, Ordering::Relaxed);
                        if socket.send(Message::text(answer)).await.is_err() {
                            break;
                        }
                    }
                    Verdict::Drop => break,
                },
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
                _ => break,
            },
            _ = evict.changed() => break,
        }
    }
    let _ = tokio::time::timeout(Duration::from_millis(100), socket.close(None)).await;
}
