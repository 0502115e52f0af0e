//! The browser by command, beside Python on the same files.

use std::os::unix::fs::PermissionsExt as _;

use cove_api::{
    Barrier, BrowserBatchRequest, BrowserExecRequest, ErrorCode, ExecType, FillRequest, HistoryQuery, NavigateRequest,
    ScreenshotRequest, SnapshotRequest, TraceContent, TraceKind,
};
use cove_config::{Config, ContainerConfig, ProfileConfig};
use cove_core::SandboxId;
use cove_testkit::processes::words;

use crate::support::{Harbour, alive, below, harbour, harbour_with, until};

pub(crate) fn command(cmd: &str) -> BrowserExecRequest {
    BrowserExecRequest {
        cmd: cmd.to_owned(),
        timeout: 60,
        description: None,
        tags: None,
        learn: false,
        include_trace: false,
    }
}

const PAGE: &str = "data:text/html,<title>Page</title><label>Name <input id=a></label><button>Go</button>";

/// The browser's runtime is started by the first call that needs it, and its skill is there before. In a warm sandbox it
/// waits already.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_browser_is_started_when_it_is_needed() {
    let harbour = harbour().await;
    let id = harbour.create_of("browser-python").await.id;
    assert!(harbour.python(&id, "x = 42").await.success);
    assert_eq!(containers(&harbour, &id).await, ["ship"]);
    assert!(harbour.out(&id, "cat skills/*/SKILL.md").await.contains("screenshot"));
    let opened = harbour.bay.exec_browser(&harbour.owner, &id, command("open about:blank")).await.unwrap();
    assert!(opened.success, "{opened:?}");
    assert_eq!(containers(&harbour, &id).await, ["ship", "gull"]);
    assert!(harbour.python(&id, "assert x == 42").await.success);
    harbour.close().await;
    let warm = |config: &mut Config| {
        let named = |name: &str| ContainerConfig { name: name.to_owned(), ..ContainerConfig::default() };
        let containers = vec![named("ship"), named("gull")];
        let (id, warm_pool_size) = ("browser-python".to_owned(), 1);
        config.profiles = vec![ProfileConfig { id, warm_pool_size, containers, ..ProfileConfig::default() }];
    };
    let harbour = harbour_with(warm).await;
    until("the pool is full", || async { harbour.bay.warm_ready("browser-python").await.unwrap() == 1 }).await;
    let id = harbour.create_of("browser-python").await.id;
    assert_eq!(containers(&harbour, &id).await, ["ship", "gull"]);
    harbour.close().await;
}

/// `localhost` is the sandbox, with the network closed: what a program serves there the browser shows, and nothing opens with it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_browser_finds_the_programs_of_its_own_sandbox() {
    let outside = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let closed = outside.local_addr().unwrap().port();
    let harbour = harbour().await;
    let (bay, owner) = (&harbour.bay, &harbour.owner);
    let id = harbour.create_of("browser-python").await.id;
    let browse = async |cmd: &str| bay.exec_browser(owner, &id, command(cmd)).await.unwrap();
    harbour.out(&id, "mkdir w && echo '<title>Inside</title><h1>Hello</h1>' > w/index.html").await;
    harbour.out(&id, "cd w && nohup python3 -m http.server 3000 --bind 127.0.0.1 >/dev/null 2>&1 & true").await;
    until("it listens", || async { bay.ports(owner, &id).await.unwrap().items.iter().any(|one| one.port == 3000) })
        .await;
    for url in ["http://localhost:3000", "http://127.0.0.1:3000/index.html"] {
        let opened = browse(&format!("open {url}")).await;
        assert!(opened.success, "{url}: {opened:?}");
        assert_eq!(browse("get title").await.output.trim(), "Inside", "{url}");
    }
    // Where nobody listens inside, this machine's own programs are not found in their place; nor is anything else.
    browse(&format!("open http://localhost:{closed}")).await;
    let missed = browse("get text body").await;
    assert!(missed.output.contains("cannot be reached"), "{missed:?}");
    outside.set_nonblocking(true).unwrap();
    assert!(outside.accept().is_err(), "the machine's own port was asked");
    for url in ["http://example.com", "http://10.0.0.1", "http://0.0.0.0:3000", "http://localhost.example:3000"] {
        assert!(!browse(&format!("open {url}")).await.success, "{url}");
    }
    harbour.close().await;
}

async fn containers(harbour: &Harbour, id: &SandboxId) -> Vec<String> {
    harbour.info(id).await.containers.into_iter().flatten().map(|container| container.name).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_are_opened_filled_and_pictured() {
    let harbour = harbour().await;
    let (bay, owner) = (&harbour.bay, &harbour.owner);
    let id = harbour.create_of("browser-python").await.id;
    let opened = bay.browser_navigate(owner, &id, NavigateRequest { url: PAGE.to_owned(), timeout: 60 }).await.unwrap();
    assert!(opened.success, "{opened:?}");
    let seen = SnapshotRequest { interactive: true, timeout: 60 };
    let seen = bay.browser_snapshot(owner, &id, seen).await.unwrap();
    assert!(seen.output.contains("Name") && seen.output.contains("Go"), "{seen:?}");
    let text = "it's; $(x) \"q\" \\ `y`";
    let fill = FillRequest { reference: "#a".to_owned(), text: text.to_owned(), timeout: 60 };
    assert!(bay.browser_fill(owner, &id, fill).await.unwrap().success);
    let value = bay.exec_browser(owner, &id, command("get value '#a'")).await.unwrap();
    assert_eq!(value.output.trim(), text, "{value:?}");
    let picture = ScreenshotRequest { path: Some("shots/page one.png".to_owned()), full_page: true, timeout: 60 };
    let shot = bay.browser_screenshot(owner, &id, picture).await.unwrap();
    assert!(shot.success, "{shot:?}");
    assert_eq!(harbour.out(&id, "head -c 4 'shots/page one.png' | tail -c 3").await, "PNG");
    assert_eq!(
        bay.read_file(owner, &id, "skills/browser-automation/SKILL.md").await.unwrap().content.lines().next(),
        Some("---")
    );
    assert_eq!(harbour.info(&id).await.containers.unwrap().len(), 2);

    // A batch is one entry, with a trace.
    let batch = |commands: &[&str], stop_on_error| BrowserBatchRequest {
        commands: commands.iter().map(|line| (*line).to_owned()).collect(),
        timeout: 60,
        stop_on_error,
        description: Some("three".to_owned()),
        tags: Some("a,b".to_owned()),
        learn: true,
        include_trace: true,
    };
    let done = bay.exec_browser_batch(owner, &id, batch(&["get title", "nonsense", "get title"], false)).await.unwrap();
    assert_eq!((done.total_steps, done.results.len(), done.success), (3, 3, false), "{done:?}");
    assert_eq!((done.results[0].stdout.trim(), done.results[2].exit_code), ("Page", 0));
    let stopped = bay.exec_browser_batch(owner, &id, batch(&["nonsense", "get title"], true)).await.unwrap();
    assert_eq!(stopped.results.len(), 1);
    let trace = bay.browser_trace(owner, &id, &done.trace_ref.unwrap()).await.unwrap();
    assert_eq!(trace.execution_id, done.execution_id);
    let TraceContent { kind, success, total_steps, completed_steps, steps } = trace.trace;
    assert_eq!((kind, success, total_steps, completed_steps), (TraceKind::BrowserBatchTrace, false, 3, 3));
    assert_eq!((steps.len(), steps[1]["cmd"].as_str()), (3, Some("nonsense")));
    assert_eq!(bay.browser_trace(owner, &id, "blob:blob-000000000000").await.unwrap_err().code, ErrorCode::NotFound);
    let query = HistoryQuery { exec_type: Some(ExecType::BrowserBatch), ..HistoryQuery::default() };
    let history = bay.history(owner, &id, query).await.unwrap();
    assert_eq!((history.total, history.entries[1].learn_enabled), (2, true), "{history:?}");
    assert_eq!(history.entries[0].barrier, Some(Barrier::NotAllowed), "{history:?}");

    // What may be learnt from is kept for whoever learns, without being asked for; anything else is not.
    for (learn, kept) in [(true, true), (false, false)] {
        let done = bay.exec_browser(owner, &id, BrowserExecRequest { learn, ..command("get title") }).await.unwrap();
        assert!(done.recorded && done.trace_ref.is_none(), "{done:?}");
        let entry = bay.execution(owner, &id, &done.execution_id.unwrap()).await.unwrap();
        assert_eq!(entry.payload_ref.is_some(), kept, "{entry:?}");
        if let Some(reference) = entry.payload_ref {
            let trace = bay.browser_trace(owner, &id, &reference).await.unwrap().trace;
            assert_eq!((trace.kind, trace.success, trace.total_steps), (TraceKind::BrowserExecTrace, true, 1));
            assert_eq!(trace.steps[0]["cmd"], "get title");
            let payload = bay.payload(owner, &reference).await.unwrap();
            assert_eq!((payload.kind.as_str(), payload.payload), (trace.kind.as_str(), serde_json::json!(trace)));
            // A skill that is made of it takes it along, and it can still be seen here.
            let wish = serde_json::json!({
                "skill_key": "look", "source_execution_ids": [entry.id], "payload_ref": reference,
            });
            bay.create_candidate(owner, serde_json::from_value(wish).unwrap()).await.unwrap();
            assert_eq!(bay.browser_trace(owner, &id, &reference).await.unwrap().trace, trace);
            let other = bay.browser_trace(owner, &harbour.create().await.id, &reference).await.unwrap_err();
            assert_eq!(other.code, ErrorCode::NotFound);
        }
    }

    // The profile opens no host: said at once, as a result.
    let closed = bay.exec_browser(owner, &id, command("open https://example.com")).await.unwrap();
    assert!(!closed.success && closed.error.unwrap().contains("example.com"));
    let mut wrong = command("get title");
    wrong.timeout = 301;
    assert_eq!(bay.exec_browser(owner, &id, wrong).await.unwrap_err().code, ErrorCode::ValidationError);
    let other = harbour.create().await.id;
    let refused = bay.exec_browser(owner, &other, command("get title")).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::CapabilityNotSupported);

    // Gull dies, Ship does not notice; the next command has a new one.
    harbour.python(&id, "x = 7").await;
    let is_gull = |pid: &u32| words(*pid).get(1).is_some_and(|word| word == "gull");
    let gull = below(std::process::id()).into_iter().find(is_gull);
    let gull = gull.unwrap();
    rustix::process::kill_process(
        rustix::process::Pid::from_raw(gull.cast_signed()).unwrap(),
        rustix::process::Signal::KILL,
    )
    .unwrap();
    let again = bay.exec_browser(owner, &id, command("open about:blank")).await;
    let again = match again {
        Ok(done) => done,
        Err(_) => bay.exec_browser(owner, &id, command("open about:blank")).await.unwrap(),
    };
    assert!(again.success, "{again:?}");
    assert!(harbour.python(&id, "x").await.output.contains('7'), "Python's state is kept");

    let all = below(std::process::id());
    bay.stop_sandbox(owner, &id).await.unwrap();
    assert!(!all.iter().any(|pid| alive(*pid)), "stop leaves no browser");
    harbour.close().await;
}

/// Whatever a guest puts where the browser once kept its state, or where its skill lies: the sandbox comes back, files and
/// all, and nobody is shown a path of the host's.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_guest_cannot_keep_its_sandbox_from_starting() {
    let harbour = harbour().await;
    let (bay, owner) = (&harbour.bay, &harbour.owner);
    let id = harbour.create_of("browser-python").await.id;
    let host = harbour.dir.path().to_str().unwrap().to_owned();
    for trick in [
        "rm -rf .browser skills; ln -s /x .browser; ln -s /x skills",
        "rm -rf .browser skills; ln -s .browser .browser; ln -s skills skills",
        "rm -rf .browser skills; echo x > .browser; echo x > skills",
        "rm -rf .browser skills; mkfifo .browser skills",
        "rm -rf .browser skills; mkdir -m 000 .browser skills",
        "chmod 755 .browser skills; rm -rf .browser skills; mkdir -p .browser/data; ln -s /etc .browser/data/Default; ln -s / .browser/cookies.json",
    ] {
        harbour.out(&id, &format!("{trick}; echo kept > note.txt")).await;
        bay.stop_sandbox(owner, &id).await.unwrap();
        let note = bay.read_file(owner, &id, "note.txt").await;
        assert_eq!(note.unwrap_or_else(|error| panic!("{trick}: {error:?}")).content.trim(), "kept", "{trick}");
        let opened = bay.exec_browser(owner, &id, command(&format!("open '{PAGE}'"))).await.unwrap();
        assert!(opened.success, "{trick}: {opened:?}");
        let said = serde_json::to_string(&opened).unwrap();
        assert!(!said.contains(&host), "{trick}: {said}");
    }
    // Its state is beside the cargo, counts with it, and goes with it.
    let cargos = harbour.dir.path().join("data/cargos");
    let states = || {
        let names = std::fs::read_dir(&cargos).unwrap().flatten().map(|entry| entry.file_name().into_string().unwrap());
        names.filter(|name| name.starts_with(".browser-")).collect::<Vec<_>>()
    };
    let [state] = states().try_into().unwrap();
    assert!(cargos.join(&state).join("data").is_dir());
    assert_eq!(harbour.out(&id, "ls -A .browser/data 2>/dev/null | grep -c Local || true").await, "0");
    bay.delete_sandbox(owner, &id).await.unwrap();
    crate::support::until("the state is gone", || async { states().is_empty() }).await;
    harbour.close().await;
}

/// A browser runtime whose answers do not have the shape that Bay knows.
const GARBLED: &str = r#"#!/usr/bin/env python3
import http.server, json, socketserver, sys
size = int.from_bytes(sys.stdin.buffer.read(4))
path = json.loads(sys.stdin.buffer.read(size))["socket"]
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def address_string(self): return ""
    def log_message(self, *words): pass
    def say(self, answer):
        body = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def do_GET(self):
        walls = {"browser_sandbox": True, "landlock_browser": True, "landlock_agent": True}
        meta = {"runtime": "gull", "runtime_type": "browser", "version": "0", "api_version": "v1", "session": "", "workspace": "/workspace",
                "agent_browser": "0", "capabilities": {"browser": {}}, "limits": None, "walls": walls}
        self.say({**meta, "status": "healthy"})
    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        self.say({"results": "none", "success": True})
server = socketserver.ThreadingUnixStreamServer(path, Handler)
server.daemon_threads = True
print(json.dumps({"listening": path}), flush=True)
server.serve_forever()
"#;

/// A command that has finished is never recorded as one whose caller went away.
#[tokio::test]
async fn an_answer_that_cannot_be_read_is_recorded_as_that() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("garbled");
    std::fs::write(&program, GARBLED).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let harbour = harbour_with(|config| {
        config.driver.local.program = Some(program);
        let gull = ContainerConfig { name: "gull".to_owned(), ..ContainerConfig::default() };
        config.profiles.push(ProfileConfig {
            id: "only-browser".to_owned(),
            containers: vec![gull],
            ..Default::default()
        });
    })
    .await;
    let (bay, owner) = (&harbour.bay, &harbour.owner);
    let id = harbour.create_of("only-browser").await.id;
    let batch = BrowserBatchRequest {
        commands: vec!["get title".to_owned()],
        timeout: 60,
        stop_on_error: true,
        description: None,
        tags: None,
        learn: false,
        include_trace: false,
    };
    let unread = bay.exec_browser_batch(owner, &id, batch).await.unwrap_err();
    assert_eq!(unread.code, ErrorCode::ShipError, "{unread}");
    assert_eq!(bay.exec_browser(owner, &id, command("get title")).await.unwrap_err().code, ErrorCode::ShipError);
    crate::support::until("both are in the history", || async {
        bay.history(owner, &id, HistoryQuery::default()).await.unwrap().total == 2
    })
    .await;
    for entry in bay.history(owner, &id, HistoryQuery::default()).await.unwrap().entries {
        let invalid = entry.error.as_deref().is_some_and(|error| error.contains("the runtime's answer cannot be read"));
        assert!(!entry.success && invalid, "{entry:?}");
    }
    harbour.close().await;
}
