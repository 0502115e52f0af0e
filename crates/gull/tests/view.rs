//! A browser that is watched, and taken over by a person: pictures, clicks, keys; commands wait meanwhile and are told.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod site;

use std::time::Duration;

use cove_runtime_api::{
    BrowserCause, Controller, EXIT_HELD, Endpoint, VIEW_HEADER_BYTES, ViewCause, ViewEvent, ViewState,
};
use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use site::{Bay, Place};
use tokio::net::TcpStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::{Error, Message};

const PATIENCE: Duration = Duration::from_secs(30);

const PLAY: &str = "<title>Play</title><body style='margin:0'><button style='position:absolute;left:100px;top:100px;width:200px;\
    height:60px' onclick='document.title=\"clicked\"'>Go</button><input id=name style='position:absolute;left:100px;top:200px;\
    width:200px;height:40px'><div style='height:5000px'></div>";
const SPIN: &str = "<title>Spin</title><canvas id=c width=600 height=400></canvas><script>const p=c.getContext('2d');let n=0;\
    (function f(){p.fillStyle='hsl('+n+++',90%,50%)';p.fillRect(0,0,600,400);requestAnimationFrame(f)})()</script>";

struct View {
    socket: WebSocketStream<TcpStream>,
    state: ViewState,
    refused: Vec<ViewCause>,
    /// Width, height and JPEG of the last picture.
    picture: Option<(u16, u16, Vec<u8>)>,
    pictures: usize,
    acks: bool,
}

impl View {
    async fn open(bay: &Bay, control: bool) -> Result<Self, u16> {
        let Endpoint::Tcp(address) = bay.server.endpoint() else { panic!("not TCP") };
        let stream = TcpStream::connect(address).await.unwrap();
        let url = format!("ws://{address}/view/ws?control={control}");
        match tokio_tungstenite::client_async(url, stream).await {
            Ok((socket, _)) => Ok(Self {
                socket,
                state: ViewState::default(),
                refused: Vec::new(),
                picture: None,
                pictures: 0,
                acks: true,
            }),
            Err(Error::Http(response)) => Err(response.status().as_u16()),
            Err(other) => panic!("{other}"),
        }
    }

    async fn say(&mut self, word: Value) {
        self.socket.send(Message::text(word.to_string())).await.unwrap();
    }

    async fn hear(&mut self) -> bool {
        let Some(Ok(message)) = self.socket.next().await else { return false };
        match message {
            Message::Text(text) => match serde_json::from_str(&text).unwrap() {
                ViewEvent::State(state) => self.state = state,
                ViewEvent::Refused { cause, .. } => self.refused.push(cause),
            },
            Message::Binary(bytes) => {
                let number = |at: usize| u16::from_be_bytes([bytes[at], bytes[at + 1]]);
                let seq = u32::from_be_bytes(bytes[..4].try_into().unwrap());
                self.picture = Some((number(4), number(6), bytes[VIEW_HEADER_BYTES..].to_vec()));
                self.pictures += 1;
                if self.acks {
                    self.say(json!({ "type": "ack", "seq": seq })).await;
                }
            }
            _ => {}
        }
        true
    }

    async fn until(&mut self, what: &str, mut seen: impl FnMut(&Self) -> bool) {
        let waiting = async {
            while !seen(self) {
                assert!(self.hear().await, "{what}: the view ended: {:?}", self.state);
            }
        };
        let ended = tokio::time::timeout(PATIENCE, waiting).await;
        assert!(ended.is_ok(), "{what}: {:?} {:?} pictures {}", self.state, self.refused, self.pictures);
    }

    async fn take(&mut self) {
        self.say(json!({ "type": "take" })).await;
        self.until("control", |view| view.state.control == Controller::You).await;
    }

    async fn give(&mut self) {
        self.say(json!({ "type": "give" })).await;
        self.until("no control", |view| view.state.control == Controller::Agent).await;
    }

    async fn click(&mut self, x: u32, y: u32) {
        for event in ["move", "down", "up"] {
            let button = if event == "move" { "none" } else { "left" };
            let word = json!({ "type": "mouse", "event": event, "x": x, "y": y, "button": button, "clicks": 1 });
            self.say(word).await;
        }
    }

    fn title(&self) -> &str {
        self.state.tabs.iter().find(|tab| tab.shown).map_or("", |tab| &tab.title)
    }
}

fn page(html: &str) -> String {
    let coded: String = html.bytes().map(|byte| format!("%{byte:02X}")).collect();
    format!("open data:text/html,{coded}")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_browser_is_watched_and_taken_over() {
    let place = Place::new().await;
    let bay = place.serve("sandbox-0123456789ab").await;

    // Whoever looks starts no browser.
    let mut looks = View::open(&bay, false).await.unwrap();
    looks.until("a first word", |view| view.state == ViewState::default()).await;
    assert_eq!(bay.gull().browser_pid().await, None);
    bay.ok(&page(PLAY)).await;
    looks.until("a picture of the agent's page", |view| view.pictures > 0 && view.title() == "Play").await;
    let (width, height, jpeg) = looks.picture.clone().unwrap();
    assert!(width >= 800 && height >= 400 && jpeg.starts_with(&[0xff, 0xd8, 0xff]), "{width} {height}");

    // Whoever may only look neither takes control nor does anything.
    looks.say(json!({ "type": "take" })).await;
    looks.until("read only", |view| view.refused == [ViewCause::ReadOnly]).await;
    looks.click(200, 130).await;
    looks.say(json!({ "type": "fly" })).await;
    looks.until("no control", |view| view.refused.contains(&ViewCause::Unreadable)).await;
    assert!(looks.refused.contains(&ViewCause::NoControl));
    assert_eq!(bay.ok("get title").await.trim(), "Play");

    // A person clicks, types, scrolls; the others see who it is.
    let mut person = View::open(&bay, true).await.unwrap();
    person.click(200, 130).await;
    person.until("not yet", |view| view.refused.contains(&ViewCause::NoControl)).await;
    person.take().await;
    looks.until("another", |view| view.state.control == Controller::Another).await;
    person.click(200, 130).await;
    person.until("the click", |view| view.title() == "clicked").await;
    person.click(200, 220).await;
    for key in ["O", "k", "Backspace"] {
        for event in ["down", "up"] {
            let code = if key == "Backspace" { 8 } else { key.to_ascii_uppercase().as_bytes()[0] };
            person.say(json!({ "type": "key", "event": event, "key": key, "key_code": code })).await;
        }
    }
    person.say(json!({ "type": "text", "text": "ла 船" })).await;
    person.say(json!({ "type": "mouse", "event": "wheel", "x": 300, "y": 300, "dy": 700 })).await;
    for bad in ["file:///etc/passwd", "javascript:alert(1)", "https://example.com/"] {
        person.say(json!({ "type": "navigate", "url": bad })).await;
    }
    person
        .until("three refusals", |view| view.refused.iter().filter(|why| **why == ViewCause::NotAllowed).count() == 3)
        .await;

    // A command waits until its deadline and is told why; one that has time runs after the hand-over, and is told, too.
    let held = bay.exec_for("get title", 1.0).await;
    assert_eq!((held.exit_code, held.cause), (EXIT_HELD, Some(BrowserCause::Held)), "{held:?}");
    assert!(held.stderr.contains("a person has control"), "{held:?}");
    let waiting = bay.exec("get value '#name'");
    let (answer, ()) = tokio::join!(waiting, person.give());
    assert_eq!((answer.exit_code, answer.stdout.trim()), (0, "Oла 船"), "{answer:?}");
    assert!(answer.stderr.contains("a person had control"), "{answer:?}");
    assert!(answer.notes.iter().any(|note| note.starts_with("a person had control")), "{answer:?}");
    assert!(!bay.exec("get title").await.stderr.contains("a person"), "it is told once");
    assert!(bay.ok("eval scrollY").await.trim().parse::<f64>().unwrap() > 100.0, "the wheel turned");

    // Twenty hand-overs: the same page, the same cookies.
    bay.ok(&format!("open {}", place.url("/login"))).await;
    bay.ok("eval \"document.cookie='kept=1'; window.mark=7\"").await;
    for _ in 0..20 {
        person.take().await;
        person.say(json!({ "type": "mouse", "event": "move", "x": 5, "y": 5 })).await;
        person.give().await;
        assert_eq!(bay.ok("eval \"document.cookie+' '+window.mark\"").await.trim().trim_matches('"'), "kept=1 7");
    }
    // A connection that breaks hands back, too.
    person.take().await;
    drop(person);
    bay.ok("get title").await;

    // Another tab that a command opens is the one that is seen.
    bay.ok(&format!("tab new {}", place.url("/second"))).await;
    looks.until("the new tab", |view| view.title() == "Second" && view.state.tabs.len() == 2).await;
    // Four may look, and no more.
    let more = [View::open(&bay, false).await.unwrap(), View::open(&bay, false).await.unwrap()];
    let last = View::open(&bay, true).await.unwrap();
    assert_eq!(View::open(&bay, false).await.err(), Some(429));
    drop((more, last));
    // A browser that ends is seen to have ended; whoever looks does not keep it.
    bay.ok("close").await;
    looks.until("no browser", |view| !view.state.browser).await;
    bay.server.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pictures_come_as_fast_as_they_are_taken_and_stop_when_nobody_looks() {
    let place = Place::new().await;
    let mut options = place.options("sandbox-0123456789ab");
    options.control_timeout = Duration::from_millis(1500);
    let bay = Bay { server: cove_gull::serve(options).await.unwrap() };
    bay.ok(&page(SPIN)).await;

    // A slow watcher: one picture, and no further one until it is acknowledged. Commands do not feel it.
    let mut slow = View::open(&bay, false).await.unwrap();
    slow.acks = false;
    slow.until("one picture", |view| view.pictures == 1).await;
    let mut quick = View::open(&bay, false).await.unwrap();
    quick.until("a picture", |view| view.pictures == 1).await;
    assert_eq!(bay.gull().watched_pages(), 2);
    let began = std::time::Instant::now();
    quick.until("many pictures", |view| view.pictures == 31).await;
    println!("live view: {:.1} pictures a second", 30.0 / began.elapsed().as_secs_f64());
    bay.ok("get title").await;
    assert_eq!(slow.pictures, 1);
    let pending = tokio::time::timeout(Duration::from_millis(300), async { while slow.hear().await {} }).await;
    assert!(pending.is_err() && slow.pictures == 1, "{}", slow.pictures);
    // The next one is how the page looks now: it differs from the first.
    let first = slow.picture.clone().unwrap();
    slow.acks = true;
    slow.say(json!({ "type": "ack", "seq": 1 })).await;
    slow.until("the next", |view| view.pictures >= 3).await;
    assert_ne!(first, slow.picture.clone().unwrap());

    // Nobody looks: no session of ours is left at the page.
    drop((slow, quick));
    cove_testkit::until("the screencasts end", async || bay.gull().watched_pages() == 0).await;

    // Who has control and does nothing loses it, and the connection.
    let mut person = View::open(&bay, true).await.unwrap();
    person.take().await;
    let ended = tokio::time::timeout(PATIENCE, async { while person.hear().await {} }).await;
    assert!(ended.is_ok(), "control was kept");
    bay.ok("get title").await;
    bay.server.close().await;
}
