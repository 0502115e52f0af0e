//! The output of Python and of commands while it is written: as events, and to whoever asked inside this process.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use cove_api::{ErrorCode, Event, EventKind, OutputChunk, ShellExecRequest};
use cove_bay::{EventStream, Timed};
use futures_util::StreamExt as _;
use serde_json::json;

use crate::support::{harbour, python, shell};

/// Everything up to the end of the run.
async fn heard(events: &mut EventStream, mut each: impl AsyncFnMut(&Event)) -> Vec<Event> {
    let mut all = Vec::new();
    loop {
        let event = events.next().await.unwrap();
        each(&event).await;
        let last = event.kind == EventKind::RunFinished;
        all.push(event);
        if last {
            return all;
        }
    }
}

#[tokio::test]
async fn output_is_an_event_while_it_is_written() {
    let harbour = harbour().await;
    let id = harbour.create().await.id;
    harbour.out(&id, "true").await;
    let mut events = harbour.bay.events(&harbour.owner, &id, None).await.unwrap();
    let request = ShellExecRequest {
        output_tag: Some("mine".to_owned()),
        ..shell("echo one; echo two >&2; until [ -e go ]; do sleep 0.05; done; echo three")
    };
    let run = harbour.bay.exec_shell(&harbour.owner, &id, request);
    // It could not go on if its first line were told only at its end.
    let listen = heard(&mut events, async |event| {
        if event.kind == EventKind::Output {
            let go = cove_api::WriteFile { path: "go".to_owned(), content: String::new() };
            harbour.bay.write_file(&harbour.owner, &id, go).await.unwrap();
        }
    });
    let (done, all) = tokio::join!(run, listen);
    let done = done.unwrap();
    assert_eq!((done.success, done.output.as_str()), (true, "one\nthree\ntwo\n"));
    let execution_id = done.execution_id.unwrap();
    let mut texts = [String::new(), String::new()];
    for event in all.iter().filter(|event| event.kind == EventKind::Output) {
        assert_eq!((&event.data["tag"], &event.data["execution_id"]), (&json!("mine"), &json!(execution_id)));
        let stream = usize::from(event.data["stream"] == "stderr");
        texts[stream].push_str(event.data["text"].as_str().unwrap());
    }
    assert_eq!(texts, ["one\nthree\n", "two\n"]);

    // Somebody follows the sandbox: no tag is needed.
    let (done, all) = tokio::join!(harbour.python(&id, "print('hello')"), heard(&mut events, async |_| {}));
    assert_eq!(done.output, "hello\n");
    let kinds: Vec<EventKind> = all.iter().map(|event| event.kind).collect();
    assert_eq!(kinds, [EventKind::RunStarted, EventKind::Output, EventKind::RunFinished]);
    assert_eq!((&all[1].data["text"], &all[1].data["tag"]), (&json!("hello\n"), &json!(null)));

    let wrong = ShellExecRequest { output_tag: Some("a b".to_owned()), ..shell("true") };
    let refused = harbour.bay.exec_shell(&harbour.owner, &id, wrong).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::ValidationError);
    harbour.close().await;
}

#[tokio::test]
async fn nobody_listens_nothing_is_told_and_a_sink_hears_its_own_run() {
    let harbour = harbour().await;
    let id = harbour.create().await.id;
    harbour.out(&id, "echo quiet").await;
    let mut events = harbour.bay.events(&harbour.owner, &id, Some(0)).await.unwrap();
    let past = heard(&mut events, async |_| {}).await;
    assert!(past.iter().all(|event| event.kind != EventKind::Output), "{past:?}");
    drop(events);

    let words: Arc<Mutex<Vec<OutputChunk>>> = Arc::default();
    let ear = Arc::clone(&words);
    let output = Some(Arc::new(move |chunk: &OutputChunk| ear.lock().unwrap().push(chunk.clone())) as _);
    let timed = Timed { output, ..Timed::new(python("for n in range(3): print(n)"), Duration::from_secs(30)) };
    assert!(harbour.bay.exec_python(&harbour.owner, &id, timed).await.unwrap().success);
    let said: String = words.lock().unwrap().iter().map(|chunk| chunk.text.as_str()).collect();
    assert_eq!(said, "0\n1\n2\n");
    harbour.close().await;
}
