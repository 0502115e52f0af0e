//! Files on their way in, in whichever order their form has: checked first, streamed to their place, kept nowhere else.

use std::path::Path;
use std::time::Duration;

use axum::body::Bytes;
use cove_testkit::until;
use futures_util::StreamExt as _;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::refusals::quay::{Quay, answer, config};
use crate::{Ground, KEY, PATIENCE, Served};

const FORM: &str = "multipart/form-data; boundary=b";

/// A form with the file first; `path` may be missing.
fn file_first(file: impl futures_util::Stream<Item = Bytes> + Send + 'static, path: Option<&str>) -> reqwest::Body {
    let head = "--b\r\ncontent-disposition: form-data; name=\"file\"; filename=\"f\"\r\n\r\n";
    let path = path.map(|path| format!("--b\r\ncontent-disposition: form-data; name=\"path\"\r\n\r\n{path}\r\n"));
    let tail = format!("\r\n{}--b--\r\n", path.unwrap_or_default());
    let one = |text: String| futures_util::stream::iter([Bytes::from(text)]);
    let all = one(head.to_owned()).chain(file).chain(one(tail));
    reqwest::Body::wrap_stream(all.map(Ok::<_, std::io::Error>))
}

async fn upload(served: &Served, id: &str, body: reqwest::Body) -> (u16, Value) {
    let request = served.request(KEY, "POST", &format!("/v1/sandboxes/{id}/filesystem/upload"));
    let response = request.header("content-type", FORM).body(body).send().await.unwrap();
    (response.status().as_u16(), response.json().await.unwrap_or_default())
}

fn pieces(count: usize) -> impl futures_util::Stream<Item = Bytes> + Send + 'static {
    futures_util::stream::iter((0..count).map(|_| Bytes::from_static(&[b'x'; 64 << 10])))
}

/// Whether a process has a file below this folder open, also one without a name.
fn has_open(pid: u32, folder: &Path) -> bool {
    let open = std::fs::read_dir(format!("/proc/{pid}/fd")).unwrap().flatten();
    open.filter_map(|fd| std::fs::read_link(fd.path()).ok()).any(|path| path.starts_with(folder))
}

#[tokio::test]
async fn a_file_before_its_path_flows_straight_to_its_place() {
    let ground = Ground::new("");
    let temporary = ground.folder.path().join("tmp");
    std::fs::create_dir(&temporary).unwrap();
    let served = ground.serve_with("data", &[], &[("TMPDIR", temporary.to_str().unwrap())]);
    let id = served.create("python-default").await;
    served.shell(&id, "true").await;

    // Half of it is there, and lies in the workspace: nowhere else.
    let (more, rest) = tokio::sync::mpsc::channel::<Bytes>(1);
    let rest =
        futures_util::stream::unfold(rest, |mut rest| async move { rest.recv().await.map(|piece| (piece, rest)) });
    let sending = upload(&served, &id, file_first(pieces(64).chain(rest), Some("late/named.bin")));
    let looking = async {
        for _ in 0..64 {
            more.send(Bytes::from_static(&[b'y'; 64 << 10])).await.unwrap();
        }
        assert!(!has_open(served.child.id(), &temporary), "it is spooled");
        assert_eq!(std::fs::read_dir(&temporary).unwrap().count(), 0);
        drop(more);
    };
    let ((status, body), ()) = tokio::join!(sending, looking);
    assert_eq!((status, &body["size"], &body["path"]), (200, &json!(8 << 20), &json!("late/named.bin")), "{body}");
    let sum = served.shell(&id, "head -c 4194304 late/named.bin | tr -d x | wc -c; wc -c < late/named.bin").await;
    assert_eq!(sum.split_whitespace().collect::<Vec<_>>(), ["0", "8388608"]);

    // A path that leads out, or none: refused, and nothing stays.
    let (status, body) = upload(&served, &id, file_first(pieces(4), Some("../outside"))).await;
    assert_eq!((status, &body["error"]["code"]), (400, &json!("invalid_path")), "{body}");
    let (status, body) = upload(&served, &id, file_first(pieces(4), None)).await;
    assert_eq!((status, &body["detail"][0]["loc"][1]), (422, &json!("path")), "{body}");
    assert_eq!(served.shell(&id, "ls -A").await, "late\nskills");

    // More than the cargo has room for.
    let (status, cargo) = served.ask("POST", "/v1/cargos", json!({ "size_limit_mb": 1 })).await;
    assert_eq!(status, 201, "{cargo}");
    let wish = json!({ "profile": "python-default", "cargo_id": cargo["id"] });
    let small = served.ask("POST", "/v1/sandboxes", wish).await.1["id"].as_str().unwrap().to_owned();
    let (status, body) = upload(&served, &small, file_first(pieces(48), Some("much.bin"))).await;
    assert_eq!((status, &body["error"]["code"]), (429, &json!("quota_exceeded")), "{body}");
    assert_eq!(served.shell(&small, "ls -A").await, "skills");
    assert!(!has_open(served.child.id(), &temporary) && std::fs::read_dir(&temporary).unwrap().count() == 0);
    served.close();
}

/// A caller that goes away in the middle leaves nothing in the workspace.
#[tokio::test]
async fn an_upload_that_breaks_off_leaves_nothing() {
    let ground = Ground::new("");
    let served = ground.serve("data", &[]);
    let id = served.create("python-default").await;
    served.shell(&id, "true").await;
    let address = served.url.trim_start_matches("http://").to_owned();
    for order in ["file", "path"] {
        let mut stream = TcpStream::connect(&address).await.unwrap();
        let field =
            |name: &str| format!("--b\r\ncontent-disposition: form-data; name=\"{name}\"; filename=\"f\"\r\n\r\n");
        let first = if order == "path" { format!("{}half.bin\r\n", field("path")) } else { String::new() };
        let head = format!(
            "POST /v1/sandboxes/{id}/filesystem/upload HTTP/1.1\r\nhost: bay\r\nauthorization: Bearer {KEY}\r\n\
             content-type: {FORM}\r\ncontent-length: 100000000\r\n\r\n{first}{}",
            field("file")
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        stream.write_all(&vec![b'x'; 4 << 20]).await.unwrap();
    }
    until("nothing is left", async || served.shell(&id, "ls -A").await == "skills").await;
    // Both are gone from the server's side, too: as many may come as before.
    let (status, body) = upload(&served, &id, file_first(pieces(4), Some("whole.bin"))).await;
    assert_eq!((status, &body["size"]), (200, &json!(256 << 10)), "{body}");
    assert_eq!(served.shell(&id, "ls -A").await, "skills\nwhole.bin");
    served.close();
}

/// A file that trickles is let go, and so is one that takes longer than all of it may.
#[tokio::test]
async fn an_upload_has_a_pace_and_an_end() {
    let folder = tempfile::tempdir().unwrap();
    let mut bay = config(folder.path());
    bay.driver.local.program = Some(env!("CARGO_BIN_EXE_cove").into());
    let quay = Quay::open(bay, |options| {
        options.body_grace = Duration::from_millis(500);
        options.upload_wait = Duration::from_secs(2);
    })
    .await;
    let id = quay.create(json!({ "profile": "python-default" })).await;
    let exec = quay.request("POST", &format!("/v1/sandboxes/{id}/shell/exec")).bearer_auth(KEY);
    assert_eq!(answer(exec.json(&json!({ "command": "true" }))).await.0, 200);
    for (piece, word) in [(1, "bytes per second"), (64 << 10, "did not arrive within 2 s")] {
        let mut stream = TcpStream::connect(quay.address()).await.unwrap();
        let head = format!(
            "POST /v1/sandboxes/{id}/filesystem/upload HTTP/1.1\r\nhost: bay\r\nauthorization: Bearer {KEY}\r\n\
             content-type: {FORM}\r\ncontent-length: 100000000\r\n\r\n\
             --b\r\ncontent-disposition: form-data; name=\"file\"; filename=\"f\"\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        let (mut reader, mut writer) = stream.into_split();
        // The pause is what is tested: a client that writes slowly, for as long as it is listened to.
        let drip = tokio::spawn(async move {
            let bytes = vec![b'x'; piece];
            while writer.write_all(&bytes).await.is_ok() {
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        });
        let mut said = vec![0; 4_096];
        let count = tokio::time::timeout(PATIENCE, reader.read(&mut said)).await.expect("it was taken").unwrap();
        let said = String::from_utf8_lossy(&said[..count]).into_owned();
        assert!(said.starts_with("HTTP/1.1 408") && said.contains(word), "{piece}: {said}");
        drip.abort();
    }
    quay.close().await;
}
