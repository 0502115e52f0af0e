//! The session host with its real engines: what a run says, what a session keeps, and that nothing outlives its end.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use cove_core::{NetworkPolicy, RunReport};
use cove_testkit::until;
use tempfile::TempDir;
use tokio::sync::mpsc;

use super::result_of;
use super::*;

struct Stage {
    host: Arc<JavaScriptHost>,
    idle: Duration,
    files: Vec<cove_core::ToolSpec>,
    folder: TempDir,
}

/// What was heard: a console line, or a call with its id.
#[derive(Debug, PartialEq)]
enum Word {
    Line(String),
    Call { id: String, name: String, args: Vec<Value> },
}

struct Ear(mpsc::UnboundedSender<Word>);

impl RunListener for Ear {
    fn console(&self, line: &LogLine) {
        let _ = self.0.send(Word::Line(line.text.clone()));
    }
    fn tool_called(&self, call_id: &str, name: &str, args: Vec<Value>) {
        let _ = self.0.send(Word::Call { id: call_id.to_owned(), name: name.to_owned(), args });
    }
}

fn sandbox(number: u32) -> SandboxId {
    format!("sandbox-{number:012x}").parse().unwrap()
}

impl Stage {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let host = Arc::new(JavaScriptHost::new(
            folder.path().join("artifacts"),
            EngineOptions::default(),
            Duration::from_secs(60),
        ));
        Self { host, idle: Duration::from_secs(60), files: Vec::new(), folder }
    }

    fn context(&self) -> RunContext {
        RunContext {
            owner: sandbox(1).to_string(),
            tools: self.files.clone(),
            network: NetworkPolicy::default(),
            live_network: None,
            pictures: Pictures::Kept(self.host.pictures(&sandbox(1))),
            idle_timeout: Some(self.idle),
            host_tools: None,
        }
    }

    async fn hear(&self, request: RunRequest) -> (BayResult<RunReport>, mpsc::UnboundedReceiver<Word>) {
        let (ear, words) = mpsc::unbounded_channel();
        (self.host.run(self.context(), request, Arc::new(Ear(ear))).await, words)
    }

    async fn run(&self, request: RunRequest) -> BayResult<JavaScriptExecResult> {
        self.hear(request).await.0.map(result_of)
    }

    async fn value(&self, request: RunRequest) -> Value {
        let result = self.run(request).await.unwrap();
        assert!(result.success, "{result:?}");
        result.data.unwrap().result
    }
}

fn once(code: &str) -> RunRequest {
    RunRequest { engine: EngineChoice::Auto, timeout_ms: 20_000, ..RunRequest::new(code) }
}

fn cell(code: &str) -> RunRequest {
    RunRequest { session: Some("s".to_owned()), ..once(code) }
}

#[tokio::test]
async fn a_run_says_what_it_did() {
    let stage = Stage::new();
    let request =
        RunRequest { input: Some(json!([1, 2])), ..once("console.log('a'); console.warn('b'); return input.length") };
    let (outcome, mut words) = stage.hear(request).await;
    assert_eq!(words.recv().await.unwrap(), Word::Line("a".to_owned()));
    let result = result_of(outcome.unwrap());
    assert_eq!((result.success, result.output.as_str()), (true, "a\nb\n2"));
    assert_eq!(result.data.unwrap().engine.unwrap().name, "embedded");

    let failed = stage.run(once("const a = 1;\nnope()")).await.unwrap();
    let error = failed.error.unwrap();
    assert!(error.starts_with("js_execution_failed: ReferenceError") && error.contains("2 | nope()"), "{error}");
    assert_eq!(failed.data.unwrap().result["line"], 2);
    assert!(!stage.folder.path().join("artifacts").exists(), "who draws nothing leaves nothing");

    let late = stage.run(RunRequest { timeout_ms: 300, ..once("for (;;);") }).await.unwrap();
    assert_eq!(late.data.unwrap().result["error"], "execution_timeout");
    stage.host.close().await;
}

#[tokio::test]
async fn pictures_come_from_either_engine() {
    let stage = Stage::new();
    for (code, engine) in [
        ("getCanvas(40, 30).getContext('2d').fillRect(0, 0, 9, 9); return 1", "embedded"),
        ("document.title = 'x'; getCanvas(40, 30).getContext('2d').fillRect(0, 0, 9, 9); return 1", "browser"),
    ] {
        let data = stage.run(once(code)).await.unwrap().data.unwrap();
        assert_eq!((data.result, data.engine.unwrap().name.as_str()), (json!(1), engine));
        let [image] = &data.images[..] else { panic!("{:?}", data.images) };
        assert_eq!((image.width, image.height), (Some(40), Some(30)));
        assert!(stage.folder.path().join("artifacts").join(sandbox(1)).join(&image.name).is_file());
    }
    let in_session = stage.run(cell("getCanvas(8, 8).getContext('2d').fillRect(0, 0, 9, 9); 'drawn'")).await.unwrap();
    let data = in_session.data.unwrap();
    assert_eq!((data.result, data.images.len()), (json!("drawn"), 1));
    assert_eq!(stage.host.pictures(&sandbox(1)).store().unwrap().list().unwrap().len(), 3);
    stage.host.close().await;
}

#[tokio::test]
async fn a_session_keeps_its_state_until_it_ends() {
    let stage = Stage::new();
    stage.value(cell("let n = 40")).await;
    assert_eq!(stage.value(RunRequest { input: Some(json!(2)), ..cell("n + input") }).await, 42);
    let other = RunRequest { session: Some("other".to_owned()), ..cell("typeof n") };
    assert_eq!(stage.value(other).await, "undefined");
    let answered = stage.run(cell("final_answer(n)")).await.unwrap().data.unwrap();
    assert_eq!((answered.result, answered.is_final), (json!(40), true));

    let asked = stage.run(RunRequest { engine: EngineChoice::Browser, ..cell("1") }).await.unwrap_err();
    assert_eq!(asked.code, ErrorCode::Conflict);

    let late = stage.run(RunRequest { timeout_ms: 300, ..cell("for (;;);") }).await.unwrap();
    assert!(!late.success && late.data.unwrap().warnings[0].contains("is lost"));
    assert_eq!(stage.value(cell("typeof n")).await, "undefined");

    stage.value(cell("let n = 1")).await;
    stage.host.end(&sandbox(1), Some("s")).await;
    assert_eq!(stage.value(cell("typeof n")).await, "undefined");
    stage.host.close().await;
}

#[tokio::test]
async fn a_page_can_be_a_session() {
    let stage = Stage::new();
    let page = |code: &str| RunRequest { engine: EngineChoice::Browser, ..cell(code) };
    stage.value(page("document.body.innerHTML = '<b>hi</b>'; 0")).await;
    assert_eq!(stage.value(cell("document.body.textContent")).await, "hi");
    stage.host.close().await;
}

#[tokio::test]
async fn who_asked_answers_the_tools() {
    let stage = Stage::new();
    for session in [None, Some("s".to_owned())] {
        let code = if session.is_none() { "return await ask(1, 'x')" } else { "await ask(1, 'x')" };
        let request = RunRequest { session: session.clone(), tools: vec!["ask".to_owned()], ..once(code) };
        let (ear, mut words) = mpsc::unbounded_channel();
        let run = stage.host.run(stage.context(), request, Arc::new(Ear(ear)));
        let answer = async {
            let Some(Word::Call { id, name, args }) = words.recv().await else { panic!("no call") };
            assert_eq!((name.as_str(), args), ("ask", vec![json!(1), json!("x")]));
            let answer = ToolAnswer { result: Some(json!({"y": 7})), error: None };
            let elsewhere = stage.host.answer_call(&sandbox(2), &id, answer.clone());
            assert_eq!(elsewhere.unwrap_err().code, ErrorCode::NotFound);
            stage.host.answer_call(&sandbox(1), &id, answer.clone()).unwrap();
            assert_eq!(stage.host.answer_call(&sandbox(1), &id, answer).unwrap_err().code, ErrorCode::NotFound);
        };
        let (outcome, ()) = tokio::join!(run, answer);
        assert_eq!(outcome.unwrap().answer(), json!({"y": 7}));
    }
    // A later run of the session that does not offer the tool is told so, and a name twice is refused.
    let refused = stage.run(cell("await ask(2)")).await.unwrap();
    assert!(refused.error.unwrap().contains("`ask` has no handler"));
    let twice = RunRequest { tools: vec!["a".to_owned(), "a".to_owned()], ..cell("1") };
    assert_eq!(stage.run(twice).await.unwrap_err().code, ErrorCode::ValidationError);
    stage.host.close().await;
}

/// Whether any process below this one computes, looked at until it does (or does not) several times in a row.
async fn settles(computing: bool) -> bool {
    let until = Instant::now() + Duration::from_secs(10);
    let mut in_a_row = 0;
    while Instant::now() < until {
        in_a_row = if busy_below(std::process::id()) == computing { in_a_row + 1 } else { 0 };
        if in_a_row == 8 {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    false
}

fn busy_below(root: u32) -> bool {
    let mut parents = std::collections::HashMap::new();
    let mut busy = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Ok(pid) = entry.file_name().to_string_lossy().parse::<u32>() else { continue };
        let Ok(stat) = std::fs::read_to_string(entry.path().join("stat")) else { continue };
        let after = stat.rsplit(')').next().unwrap_or_default();
        let mut fields = after.split_whitespace();
        let (state, parent) = (fields.next().unwrap_or_default(), fields.next().unwrap_or_default());
        parents.insert(pid, parent.parse::<u32>().unwrap_or(0));
        if state == "R" {
            busy.push(pid);
        }
    }
    busy.into_iter().filter(|pid| *pid != root).any(|pid| {
        std::iter::successors(Some(pid), |pid| parents.get(pid).copied().filter(|parent| *parent > 1))
            .any(|p| p == root)
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_outlives_its_end() {
    let stage = Arc::new(Stage::new());
    stage.value(once("return 1")).await;
    for request in [|| once("for (;;);"), || cell("for (;;);")] {
        // The caller goes away.
        let run = tokio::spawn({
            let stage = Arc::clone(&stage);
            async move { stage.run(RunRequest { timeout_ms: 60_000, ..request() }).await }
        });
        assert!(settles(true).await, "it runs");
        run.abort();
        let _ = run.await;
        assert!(settles(false).await, "it is gone with its caller");

        // The sandbox is stopped.
        let run = tokio::spawn({
            let stage = Arc::clone(&stage);
            async move { stage.run(RunRequest { timeout_ms: 60_000, ..request() }).await }
        });
        assert!(settles(true).await, "it runs");
        stage.host.end(&sandbox(1), None).await;
        assert_eq!(run.await.unwrap().unwrap_err().code, ErrorCode::Conflict);
        assert!(settles(false).await, "it is gone with its sandbox");
    }
    assert_eq!(stage.value(cell("1 + 1")).await, 2);
    stage.host.close().await;
}

#[tokio::test]
async fn idle_sessions_end_and_their_number_is_bounded() {
    let stage = Stage { idle: Duration::from_millis(200), ..Stage::new() };
    stage.value(cell("let n = 1")).await;
    until("the idle session has ended", async || stage.host.sessions() == 0).await;

    let stage = Stage::new();
    for n in 0..16 {
        stage.value(RunRequest { session: Some(format!("s{n}")), ..cell("1") }).await;
    }
    let full = stage.run(RunRequest { session: Some("one more".to_owned()), ..cell("1") }).await.unwrap_err();
    assert_eq!(full.code, ErrorCode::QuotaExceeded);
    stage.host.end(&sandbox(1), Some("s3")).await;
    stage.value(RunRequest { session: Some("one more".to_owned()), ..cell("1") }).await;
    stage.host.close().await;
}

#[tokio::test]
async fn file_tools_reach_both_kinds_of_runs() {
    let calls = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&calls);
    let read = cove_core::ToolSpec::new("read", move |call| {
        heard.lock().unwrap().push(call.args);
        async { Ok(json!("text")) }
    });
    let stage = Stage { files: vec![read], ..Stage::new() };
    assert_eq!(stage.value(once("return await read('a.txt')")).await, "text");
    assert_eq!(stage.value(cell("await read({path: 'b.txt'})")).await, "text");
    assert_eq!(*calls.lock().unwrap(), [vec![json!("a.txt")], vec![json!({"path": "b.txt"})]]);
    let taken = RunRequest { tools: vec!["read".to_owned()], ..once("return 1") };
    assert_eq!(stage.run(taken).await.unwrap_err().code, ErrorCode::ValidationError);
    stage.host.close().await;
}

#[test]
fn requests_are_checked_at_the_door() {
    let check = |fields: Value, word: &str| {
        let mut request = json!({"code": "1"});
        request.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        let call = JavaScriptCall::from(serde_json::from_value::<JavaScriptExecRequest>(request).unwrap());
        let error = run_request(&call.request, call.timeout).unwrap_err();
        assert!(error.code == ErrorCode::ValidationError && error.message.contains(word), "{error}");
    };
    check(json!({"timeout": 0}), "`timeout`");
    check(json!({"timeout": 301}), "`timeout`");
    check(json!({"engine": "node"}), "`engine`");
    check(json!({"session": ""}), "`session`");
    check(json!({"session": "a b"}), "`session`");
    check(json!({"tools": vec![json!({"name": "x"}); 65]}), "`tools`");
}
