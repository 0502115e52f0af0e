//! The master key to the browser is out of everybody's reach; and a Gull that is killed takes everything along.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]
#![expect(clippy::disallowed_methods, reason = "the test owns the Gull that it kills")]

mod site;

use std::collections::HashSet;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::MetadataExt;
use std::process::{Command, Stdio};

use cove_testkit::until;
use site::{Place, family, processes_of, runs};
use tokio_tungstenite::connect_async;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;

/// The secret, read as root or its own user can: from the daemon's environment.
fn secret_url(room: &std::path::Path, session: &str) -> String {
    let pid = std::fs::read_to_string(room.join(format!("s/{session}.pid"))).unwrap();
    let environment = std::fs::read(format!("/proc/{}/environ", pid.trim())).unwrap();
    let environment = String::from_utf8_lossy(&environment).into_owned();
    environment.split('\0').find_map(|entry| entry.strip_prefix("AGENT_BROWSER_CDP=")).unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_else_reaches_the_browser() {
    let place = Place::new().await;
    let session = "sandbox-reach";
    let bay = place.serve(session).await;
    bay.ok(&format!("open {}", place.url("/play"))).await;
    let room = bay.gull().private_folder();
    let url = secret_url(&room, session);
    let (address, secret) = url.strip_prefix("ws://").unwrap().split_once("/devtools/browser/").unwrap();
    assert!(secret.len() == 64 && secret.chars().all(|c| c.is_ascii_hexdigit()), "{secret}");

    let mut wrong = secret.to_owned();
    wrong.replace_range(63..64, if secret.ends_with('0') { "1" } else { "0" });
    for (path, header) in [
        ("/".to_owned(), None),
        ("/json/version".to_owned(), None),
        ("/devtools/browser/".to_owned(), None),
        (format!("/devtools/browser/{wrong}"), None),
        (format!("/devtools/browser/{}", &secret[..63]), None),
        (format!("/devtools/browser/{secret}?x"), None),
        (format!("/devtools/page/{secret}"), None),
        (format!("/devtools/browser/{secret}"), Some(("Origin", "http://127.0.0.1"))),
        (format!("/devtools/browser/{secret}"), Some(("Origin", "null"))),
        (format!("/devtools/browser/{secret}"), Some(("Host", "evil.example"))),
    ] {
        let mut request = format!("ws://{address}{path}").into_client_request().unwrap();
        if let Some((name, value)) = header {
            request.headers_mut().insert(name, value.parse().unwrap());
        }
        let refused = connect_async(request).await.unwrap_err().to_string();
        assert!(refused.contains("403"), "{path} {header:?}: {refused}");
    }
    // A page cannot get there either, even if it knew everything.
    let script = format!(
        "eval 'new Promise(done => {{ const s = new WebSocket(\"{url}\"); s.onopen = () => done(\"open\"); s.onerror = () => done(\"closed\") }})'"
    );
    assert!(bay.ok(&script).await.contains("closed"));
    assert!(bay.ok("get url").await.contains("/play"), "the honest client was disturbed");

    // The secret stands on no command line; the private folder is closed to others; none of our processes but this one
    // listens on a port.
    let ours: Vec<String> = [place.temp.path(), place.dir.path()].into_iter().flat_map(processes_of).collect();
    assert!(ours.len() >= 2, "{ours:?}");
    assert!(!ours.iter().any(|line| line.contains(secret) || line.contains("remote-debugging-port")), "{ours:?}");
    assert_eq!(std::fs::metadata(&room).unwrap().mode() & 0o777, 0o700);
    assert_eq!(std::fs::metadata(place.file(".browser")).unwrap().mode() & 0o777, 0o700);
    let listening: HashSet<String> = ["/proc/net/tcp", "/proc/net/tcp6"]
        .iter()
        .flat_map(|table| {
            std::fs::read_to_string(table).unwrap_or_default().lines().map(str::to_owned).collect::<Vec<_>>()
        })
        .filter_map(|line| {
            let fields: Vec<&str> = line.split_whitespace().collect();
            (fields.get(3) == Some(&"0A")).then(|| format!("socket:[{}]", fields[9]))
        })
        .collect();
    for line in &ours {
        let pid = line.split(':').next().unwrap();
        for fd in std::fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten() {
            let target = std::fs::read_link(fd.path()).unwrap_or_default().display().to_string();
            assert!(!listening.contains(&target), "{line} listens");
        }
    }
    // Nobody of them is root, and each renderer has its filter.
    let mut renderers = 0;
    let agents = ours.iter().filter_map(|line| line.split(':').next()?.parse().ok());
    for pid in family(bay.gull().browser_pid().await.unwrap()).into_iter().chain(agents) {
        let read = |name: &str| std::fs::read_to_string(format!("/proc/{pid}/{name}")).unwrap_or_default();
        let (line, status) = (read("cmdline"), read("status"));
        assert!(!status.contains("Uid:\t0\t"), "{line} runs as root");
        if line.contains("--type=renderer") {
            renderers += 1;
            assert!(status.contains("Seccomp:\t2") && !line.contains("--no-sandbox"), "{line}");
        }
    }
    assert!(renderers > 0);
    bay.server.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_gull_takes_everything_along() {
    let place = Place::new().await;
    let start = || {
        let mut child = Command::new(env!("CARGO_BIN_EXE_cove-gull"))
            .args([place.dir.path().to_str().unwrap(), "sandbox-killed", "127.0.0.1:0", &place.site.to_string()])
            .env("TMPDIR", place.temp.path())
            .env("COVE_GULL_TOKEN", "open sesame")
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let said: serde_json::Value = serde_json::from_str(&line).unwrap();
        (child, said["listening"].as_str().unwrap().to_owned())
    };
    let ask = |address: String, token: &'static str, cmd: String| async move {
        use tokio::io::{AsyncReadExt, AsyncWriteExt};
        let body = serde_json::json!({ "cmd": cmd, "timeout": 60 }).to_string();
        let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
        let head = format!(
            "POST /exec HTTP/1.1\r\nHost: g\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer).await;
        answer
    };
    let gone = async || {
        let nobody = || processes_of(place.temp.path()).is_empty() && processes_of(place.dir.path()).is_empty();
        until("nobody is left", async || nobody()).await;
    };

    let (mut child, address) = start();
    assert!(ask(address.clone(), "guess", "get url".to_owned()).await.starts_with("HTTP/1.1 401"));
    let answer = ask(address.clone(), "open sesame", format!("open {}", place.url("/login"))).await;
    assert!(answer.contains("\"exit_code\":0"), "{answer}");
    // Killed in the middle of a command.
    let asking = tokio::spawn(ask(address, "open sesame", "wait 30000".to_owned()));
    until("the command runs", async || runs(child.id(), "30000")).await;
    let leaders = processes_of(place.temp.path());
    let leaders: Vec<u32> = leaders.iter().filter_map(|line| line.split(':').next()?.parse().ok()).collect();
    let all: usize = leaders.iter().map(|pid| family(*pid).len()).sum();
    assert!(all >= 4, "the browser and agent-browser: {all}");
    child.kill().unwrap();
    child.wait().unwrap();
    let _ = asking.await;
    gone().await;
    until("their families are gone", async || leaders.iter().all(|pid| family(*pid).is_empty())).await;

    // The next one finds the workspace free, sweeps up the folder that the first could not remove, and ends properly.
    let (mut child, address) = start();
    let rooms = || {
        let names = std::fs::read_dir(place.temp.path()).unwrap().map(|e| e.unwrap().file_name());
        names.filter(|name| name.to_string_lossy().starts_with("cove-gull-")).count()
    };
    assert_eq!(rooms(), 1);
    assert!(ask(address, "open sesame", format!("open {}", place.url("/home"))).await.contains("\"exit_code\":0"));
    rustix::process::kill_process(
        rustix::process::Pid::from_raw(child.id().cast_signed()).unwrap(),
        rustix::process::Signal::TERM,
    )
    .unwrap();
    assert!(child.wait().unwrap().success());
    gone().await;
    assert_eq!(std::fs::read_dir(place.temp.path()).unwrap().count(), 0, "a folder was left");
}
