//! `/term/ws`: a person at a keyboard.

use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::UnixStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;

use crate::support::{PATIENCE, Sandbox, sandbox, until};

struct Person {
    socket: WebSocketStream<UnixStream>,
    seen: String,
}

impl Person {
    async fn sits_down(sandbox: &Sandbox, query: &str) -> Self {
        let stream = UnixStream::connect(sandbox.cell.socket()).await.unwrap();
        let address = format!("ws://ship/term/ws{query}");
        let (socket, _) = tokio_tungstenite::client_async(address, stream).await.unwrap();
        Self { socket, seen: String::new() }
    }

    async fn types(&mut self, keys: &str) {
        self.socket.send(Message::Binary(keys.to_owned().into())).await.unwrap();
    }

    async fn says(&mut self, word: Value) {
        self.socket.send(Message::Text(word.to_string().into())).await.unwrap();
    }

    /// Reads until the text appears; what was seen before it is forgotten.
    async fn sees(&mut self, text: &str) {
        let begin = tokio::time::Instant::now();
        while !self.seen.contains(text) {
            let next = tokio::time::timeout_at(begin + PATIENCE, self.socket.next()).await;
            match next {
                Ok(Some(Ok(Message::Binary(bytes)))) => self.seen.push_str(&String::from_utf8_lossy(&bytes)),
                other => panic!("{other:?} instead of {text:?} after {:?}", self.seen),
            }
        }
        let end = self.seen.find(text).unwrap() + text.len();
        self.seen.drain(..end);
    }

    /// Reads to the end; the last word.
    async fn leaves(mut self) -> Value {
        let mut last = Value::Null;
        while let Ok(Some(Ok(message))) = tokio::time::timeout(PATIENCE, self.socket.next()).await {
            match message {
                Message::Text(text) => last = serde_json::from_str(&text).unwrap(),
                Message::Close(_) => break,
                _ => {}
            }
        }
        last
    }
}

#[tokio::test]
async fn a_shell_answers_and_knows_its_size() {
    let sandbox = sandbox().await;
    let mut person = Person::sits_down(&sandbox, "?cols=100&rows=30").await;
    person.types("stty size; tty; echo $TERM\r").await;
    person.sees("30 100").await;
    person.sees("/dev/pts/0").await;
    person.sees("xterm-256color").await;
    person.says(json!({"type": "resize", "cols": 132, "rows": 43})).await;
    person.says(json!({"type": "input", "data": "stty size\r"})).await;
    person.sees("43 132").await;
    // Keys are signals here: Ctrl-C ends what runs, and job control works.
    person.sees("$ ").await;
    person.types("sleep 909\r").await;
    person.sees("sleep 909").await;
    until("it sleeps", || async { sandbox.out("ps -eo args | grep -c '[s]leep 909' || true").await == "1" }).await;
    person.types("\u{3}").await;
    person.sees("$ ").await;
    person.types("echo code $?\r").await;
    person.sees("code 130").await;
    // What is typed while the line editor still has the terminal is not a line of text: a person waits to be asked.
    person.types("printf 'na''me? '; read name\r").await;
    person.sees("name? ").await;
    person.types("Ada\r").await;
    person.types("echo \"hello, $name\"; exit 5\r").await;
    person.sees("hello, Ada\r\n").await;
    assert_eq!(person.leaves().await, json!({"type": "exit", "code": 5, "signal": null}));
}

/// Full-screen programs: they ask for the size, draw, redraw when it changes, and leave.
#[tokio::test]
async fn interactive_programs_work() {
    let sandbox = sandbox().await;
    let mut person = Person::sits_down(&sandbox, "?cols=90&rows=20").await;
    person.types("top -d 1\r").await;
    person.sees("PID USER").await;
    person.sees("shipyard").await;
    person.says(json!({"type": "resize", "cols": 60, "rows": 15})).await;
    // Programs throw away keys that were typed ahead when they take or leave the screen: a person waits.
    person.types("q").await;
    person.sees("$ ").await;
    person.types("echo ba''ck\r").await;
    person.sees("back").await;
    person.types("vi note.txt\r").await;
    person.sees("[New").await;
    person.types("ihello from vi\u{1b}:wq\r").await;
    person.sees("written").await;
    person.sees("$ ").await;
    person.types("echo le''ft\r").await;
    person.sees("left").await;
    assert_eq!(sandbox.out("cat note.txt").await, "hello from vi");
    person.types("python3\r").await;
    person.sees(">>>").await;
    person.types("print(6 * 7)\r").await;
    person.sees("\n42").await;
}

/// A closed tab leaves no process behind, not even one that left its session.
#[tokio::test]
async fn a_person_who_leaves_takes_all_along() {
    let sandbox = sandbox().await;
    let mut person = Person::sits_down(&sandbox, "").await;
    person.types("stty size; (setsid sleep 910 &); nohup sleep 910 & echo r''eady\r").await;
    person.sees("24 80").await;
    person.sees("ready").await;
    drop(person);
    until("nothing is left", || async { sandbox.out("ps -eo args | grep -c '[s]leep 910' || true").await == "0" })
        .await;
    // In the middle of what a program says, while keys wait that nobody reads, and after the terminal was let go of.
    for (keys, sign) in [
        ("(setsid sleep 911 &); while true; do echo sp''oken; done\r", "spoken"),
        ("(setsid sleep 911 &); stty raw -echo; echo de''af; sleep 911\r", "deaf"),
        ("(setsid sleep 911 &); echo s''ilent; exec sleep 911 <>/dev/null >&0 2>&0\r", "silent"),
    ] {
        let mut person = Person::sits_down(&sandbox, "").await;
        person.types(keys).await;
        person.sees(sign).await;
        person.types(&"x".repeat(512 << 10)).await;
        drop(person);
        until(sign, || async { sandbox.out("ps -eo args | grep -c '[s]leep 911' || true").await == "0" }).await;
    }
    // Two persons have two terminals.
    let mut one = Person::sits_down(&sandbox, "").await;
    let mut two = Person::sits_down(&sandbox, "").await;
    one.types("X=one; echo $X''!\r").await;
    two.types("X=two; echo $X''!\r").await;
    one.sees("one!").await;
    two.sees("two!").await;
    let patience = Duration::from_secs(10);
    assert!(tokio::time::timeout(patience, async { drop((one, two)) }).await.is_ok());
}
