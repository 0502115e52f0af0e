//! JavaScript in a sandbox: what starts, what is said, what is kept, who is told.

use cove_api::{
    ErrorCode, Event, EventKind, ExecType, HistoryQuery, JavaScriptExecRequest, JavaScriptExecResult, SandboxId,
    SandboxStatus, ToolAnswer, WriteFile,
};
use cove_bay::Owner;
use cove_config::ProfileConfig;
use futures_util::StreamExt as _;
use serde_json::{Value, json};

use crate::support::{Harbour, harbour, harbour_with, until};

fn request(fields: Value) -> JavaScriptExecRequest {
    serde_json::from_value(fields).unwrap()
}

impl Harbour {
    async fn javascript(&self, id: &SandboxId, fields: Value) -> JavaScriptExecResult {
        self.bay.exec_javascript(&self.owner, id, request(fields)).await.unwrap()
    }

    async fn value(&self, id: &SandboxId, fields: Value) -> Value {
        let done = self.javascript(id, fields).await;
        assert!(done.success, "{done:?}");
        done.data.unwrap().result
    }
}

/// Code that only computes starts no cell; the first file tool does.
#[tokio::test]
async fn a_cell_starts_with_the_first_file_and_not_before() {
    let harbour = harbour().await;
    let id = harbour.create_of("javascript").await.id;
    assert_eq!(harbour.value(&id, json!({"code": "return 6 * 7"})).await, 42);
    assert_eq!(harbour.info(&id).await.status, SandboxStatus::Idle);

    let file = WriteFile { path: "a.txt".to_owned(), content: "one\n".to_owned() };
    harbour.bay.write_file(&harbour.owner, &id, file).await.unwrap();
    harbour.bay.stop_sandbox(&harbour.owner, &id).await.unwrap();
    let code = "const seen = await read({path: 'a.txt'}); await write('b.txt', 'two'); return seen.content[0].text";
    assert_eq!(harbour.value(&id, json!({"code": code})).await, "one\n");
    assert_eq!(harbour.info(&id).await.status, SandboxStatus::Ready);
    let written = harbour.bay.read_file(&harbour.owner, &id, "b.txt").await.unwrap();
    assert_eq!(written.content, "two");
    // An answer is its text, also where it came through the cell.
    let code =
        "const t = await read('a.txt', {limit: 1}); await write('c.txt', t); return [t.split('\\n'), t.nextOffset]";
    assert_eq!(harbour.value(&id, json!({"code": code})).await, json!([["one"], 2]));
    // In a session the tools are there as well, and a refusal keeps its code.
    let code = "let code; try { await read('../../etc/passwd') } catch (error) { code = error.message } code";
    let said = harbour.value(&id, json!({"code": code, "session": true})).await;
    assert!(said.as_str().unwrap().contains("outside"), "{said}");
    harbour.close().await;
}

/// The run's lines and ends are events, its tools are asked by event, and all of it is in the history.
#[tokio::test]
async fn a_run_is_heard_answered_and_recorded() {
    let harbour = harbour().await;
    let id = harbour.create_of("javascript").await.id;
    let mut events = harbour.bay.events(&harbour.owner, &id, None).await.unwrap();
    let run = harbour.javascript(
        &id,
        json!({
            "code": "console.warn('asking'); await ask({n: 1}) + 1", "session": "s", "tools": [{"name": "ask"}],
            "description": "a question", "tags": "x,y",
        }),
    );
    let answer = async {
        let mut heard: Vec<Event> = Vec::new();
        loop {
            let event = events.next().await.unwrap();
            if event.kind == EventKind::ToolCall {
                let call = event.data["call_id"].as_str().unwrap().to_owned();
                assert_eq!((&event.data["name"], &event.data["args"]), (&json!("ask"), &json!([{"n": 1}])));
                let stranger = Owner::new("stranger");
                let two = ToolAnswer { result: Some(json!(41)), error: None };
                let refused = harbour.bay.answer_tool(&stranger, &id, &call, two.clone()).await.unwrap_err();
                assert_eq!(refused.code, ErrorCode::NotFound);
                harbour.bay.answer_tool(&harbour.owner, &id, &call, two).await.unwrap();
            }
            let last = event.kind == EventKind::RunFinished;
            heard.push(event);
            if last {
                return heard;
            }
        }
    };
    let (done, heard) = tokio::join!(run, answer);
    assert_eq!(done.data.unwrap().result, 42);
    let kinds: Vec<EventKind> = heard.iter().map(|event| event.kind).collect();
    assert_eq!(kinds, [EventKind::RunStarted, EventKind::Console, EventKind::ToolCall, EventKind::RunFinished]);
    assert_eq!((&heard[1].data["level"], &heard[1].data["text"]), (&json!("warn"), &json!("asking")));
    let execution = done.execution_id.unwrap();
    assert!(heard.iter().all(|event| event.data["execution_id"] == *execution));
    let entry = harbour.bay.execution(&harbour.owner, &id, &execution).await.unwrap();
    assert_eq!((entry.exec_type.as_str(), entry.tags.as_deref()), ("javascript", Some("x,y")));
    assert_eq!(entry.output.as_deref(), Some("asking\n42"));

    // One whose caller goes away is ended, and noted.
    let mut events = harbour.bay.events(&harbour.owner, &id, None).await.unwrap();
    let runaway = harbour.javascript(&id, json!({"code": "for (;;);", "timeout": 100}));
    tokio::select! {
        _ = runaway => panic!("it cannot come to an end"),
        event = events.next() => assert_eq!(event.unwrap().kind, EventKind::RunStarted),
    }
    let event = events.next().await.unwrap();
    assert_eq!((event.kind, &event.data["success"]), (EventKind::RunFinished, &json!(false)));
    let failed = HistoryQuery { exec_type: Some(ExecType::JavaScript), ..HistoryQuery::default() };
    assert_eq!(harbour.bay.history(&harbour.owner, &id, failed).await.unwrap().total, 2);

    // With the sandbox the stream ends.
    harbour.bay.delete_sandbox(&harbour.owner, &id).await.unwrap();
    while events.next().await.is_some() {}
    harbour.close().await;
}

#[tokio::test]
async fn pictures_are_artifacts_of_their_owner_and_go_with_the_sandbox() {
    let harbour = harbour().await;
    let id = harbour.create().await.id;
    assert!(harbour.bay.list_artifacts(&harbour.owner, &id).await.unwrap().items.is_empty());
    let code = "getCanvas(30, 20).getContext('2d').fillRect(0, 0, 9, 9); return null";
    let images = harbour.javascript(&id, json!({"code": code})).await.data.unwrap().images;
    assert_eq!((images.len(), images[0].width, images[0].height), (1, Some(30), Some(20)));
    let name = &images[0].name;
    let listed = harbour.bay.list_artifacts(&harbour.owner, &id).await.unwrap().items;
    assert_eq!((listed.len(), &listed[0].name, listed[0].media_type.as_str()), (1, name, "image/png"));
    let download = harbour.bay.artifact(&harbour.owner, &id, name).await.unwrap();
    assert_eq!(download.size, Some(listed[0].size));
    let bytes: Vec<u8> = download.bytes.map(|piece| piece.unwrap()).collect::<Vec<_>>().await.concat();
    assert!(bytes.starts_with(b"\x89PNG") && bytes.len() as u64 == listed[0].size);
    for wrong in ["nope.png", "../../bay.db", "", "a1b2c3d4-e5f6-4890-abcd-ef1234567890.png"] {
        let refused = harbour.bay.artifact(&harbour.owner, &id, wrong).await.unwrap_err();
        assert_eq!(refused.code, ErrorCode::FileNotFound, "{wrong}");
    }
    let stranger = Owner::new("stranger");
    assert_eq!(harbour.bay.artifact(&stranger, &id, name).await.unwrap_err().code, ErrorCode::NotFound);
    assert_eq!(harbour.bay.list_artifacts(&stranger, &id).await.unwrap_err().code, ErrorCode::NotFound);
    let folder = harbour.dir.path().join("data/artifacts").join(&id);
    assert!(folder.is_dir());
    harbour.bay.delete_sandbox(&harbour.owner, &id).await.unwrap();
    assert!(!folder.exists());
    harbour.close().await;
}

/// A stop ends what runs and what is kept; another sandbox's session of the same name is another.
#[tokio::test]
async fn a_stop_ends_sessions_and_runs_of_that_sandbox_only() {
    let harbour = harbour().await;
    let (one, two) = (harbour.create_of("javascript").await.id, harbour.create_of("javascript").await.id);
    for (id, n) in [(&one, 1), (&two, 2)] {
        harbour.value(id, json!({"code": format!("let n = {n}; n"), "session": true})).await;
    }
    let mut events = harbour.bay.events(&harbour.owner, &one, None).await.unwrap();
    let runaway = harbour.bay.exec_javascript(
        &harbour.owner,
        &one,
        request(json!({"code": "for (;;);", "session": true, "timeout": 100})),
    );
    let stop = async {
        assert_eq!(events.next().await.unwrap().kind, EventKind::RunStarted);
        harbour.bay.stop_sandbox(&harbour.owner, &one).await.unwrap();
    };
    let (ended, ()) = tokio::join!(runaway, stop);
    assert_eq!(ended.unwrap_err().code, ErrorCode::Conflict);
    assert_eq!(harbour.value(&one, json!({"code": "typeof n", "session": true})).await, "undefined");
    assert_eq!(harbour.value(&two, json!({"code": "n", "session": true})).await, 2);
    harbour.bay.reset_javascript(&harbour.owner, &two, None).await.unwrap();
    assert_eq!(harbour.value(&two, json!({"code": "typeof n", "session": true})).await, "undefined");
    harbour.close().await;
}

/// The hosts that the profile opens are those that code reaches, in either engine; without any there is none.
#[tokio::test]
async fn the_profiles_network_holds_for_javascript() {
    let site = cove_testkit::Site::open("hello");
    let harbour = harbour_with(|config| {
        let network = cove_core::NetworkPolicy {
            allow_hosts: vec!["127.0.0.1".to_owned()],
            allow_private: vec!["127.0.0.1".to_owned()],
            ..Default::default()
        };
        config.profiles.push(ProfileConfig {
            id: "open".to_owned(),
            network: Some(network),
            ..ProfileConfig::default()
        });
    })
    .await;
    let (open, closed) = (harbour.create_of("open").await.id, harbour.create_of("javascript").await.id);
    let code = format!("return await (await fetch('http://{}/')).text()", site.address());
    for engine in ["embedded", "browser"] {
        let request = json!({"code": code, "engine": engine});
        assert_eq!(harbour.value(&open, request.clone()).await, "hello", "{engine}");
        let refused = harbour.javascript(&closed, request).await;
        assert!(!refused.success, "{engine}: {refused:?}");
    }
    harbour.close().await;
}

/// A session that keeps its variables keeps no network: what is closed meanwhile is closed for it, too.
#[tokio::test]
async fn a_network_that_changes_holds_for_sessions_of_javascript() {
    let site = cove_testkit::Site::open("hello");
    let harbour = harbour_with(|config| {
        let network = cove_core::NetworkPolicy {
            allow_private: vec!["127.0.0.1".to_owned()],
            may_allow: vec!["127.0.0.1".to_owned()],
            ..Default::default()
        };
        let of = |id: &str, network| ProfileConfig { id: id.to_owned(), network: Some(network), ..Default::default() };
        config.profiles.push(of("open", network));
    })
    .await;
    let id = harbour.create_of("open").await.id;
    let set = async |hosts: &[&str]| {
        let allow_hosts = Some(hosts.iter().map(|host| (*host).to_owned()).collect());
        harbour.bay.set_network(&harbour.owner, &id, cove_api::SetNetwork { allow_hosts }).await.unwrap()
    };
    for engine in ["embedded", "browser"] {
        let code = |code: &str| json!({"code": code, "engine": engine, "session": engine});
        let ask = format!("await (await fetch('http://{}/')).text()", site.address());
        set(&["127.0.0.1"]).await;
        assert_eq!(harbour.value(&id, code(&format!("let n = 1; {ask}"))).await, "hello", "{engine}");
        set(&[]).await;
        assert!(!harbour.javascript(&id, code(&ask)).await.success, "{engine}");
        let once = json!({"code": format!("return {ask}"), "engine": engine});
        assert!(!harbour.javascript(&id, once).await.success, "{engine}: a run without a session");
        assert_eq!(harbour.value(&id, code("n")).await, 1, "{engine}: the session is the same");
        set(&["127.0.0.1"]).await;
        assert_eq!(harbour.value(&id, code(&ask)).await, "hello", "{engine}");
    }
    let log = harbour.bay.network(&harbour.owner, &id).await.unwrap();
    let refused = log.connections.iter().filter(|one| one.verdict == cove_api::ConnectionVerdict::Refused).count();
    assert!(refused >= 4, "two of each engine: {:?}", log.connections);
    assert_eq!(log.may_allow, ["127.0.0.1"]);
    harbour.close().await;
}

#[tokio::test]
async fn who_may_not_is_told_why() {
    let harbour = harbour_with(|config| {
        config.profiles.push(ProfileConfig {
            id: "shell-only".to_owned(),
            capabilities: Some(vec![cove_config::Capability::Shell]),
            ..ProfileConfig::default()
        });
    })
    .await;
    let one = |id: &SandboxId, fields: Value| {
        let (id, bay, owner) = (id.clone(), harbour.bay.clone(), harbour.owner.clone());
        async move { bay.exec_javascript(&owner, &id, request(fields)).await.unwrap_err() }
    };
    let unable = harbour.create_of("shell-only").await.id;
    let error = one(&unable, json!({"code": "1"})).await;
    assert_eq!((error.code, &error.details["capability"]), (ErrorCode::CapabilityNotSupported, &json!("javascript")));
    let nobody = one(&"sandbox-000000000000".parse().unwrap(), json!({"code": "1"})).await;
    assert_eq!(nobody.code, ErrorCode::NotFound);
    let wish = cove_api::CreateSandbox { profile: "javascript".to_owned(), ttl: Some(1), ..Default::default() };
    let brief = harbour.bay.create_sandbox(&harbour.owner, wish, None).await.unwrap().id;
    until("it has expired", || {
        let info = harbour.info(&brief);
        async move { info.await.status == SandboxStatus::Expired }
    })
    .await;
    assert_eq!(one(&brief, json!({"code": "1"})).await.code, ErrorCode::SandboxExpired);
    let long = harbour.javascript(&harbour.create_of("javascript").await.id, json!({"code": " ".repeat(60_000)})).await;
    assert_eq!(long.data.unwrap().result["error"], "code_too_large");
    harbour.close().await;
}
