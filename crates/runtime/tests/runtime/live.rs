//! Output while it is written: in time, apart, bounded, and with an end that no guest can write.

use std::sync::Mutex;

use cove_core::Deadline;
use cove_runtime_api::{CallError, OutputChunk, OutputStream, PythonRequest, RefusalCode, ShellRequest};
use serde_json::json;

use crate::support::{PATIENCE, sandbox};

fn command(text: &str) -> ShellRequest {
    ShellRequest { command: text.to_owned(), stream: true, timeout: Some(60.0), ..ShellRequest::default() }
}

fn cell(code: &str) -> PythonRequest {
    PythonRequest { code: code.to_owned(), stream: true, timeout: Some(60.0), ..PythonRequest::default() }
}

fn said(chunks: &Mutex<Vec<OutputChunk>>, stream: OutputStream) -> String {
    let chunks = chunks.lock().unwrap();
    chunks.iter().filter(|chunk| chunk.stream == stream).map(|chunk| chunk.text.as_str()).collect()
}

#[tokio::test]
async fn lines_come_while_it_runs() {
    let sandbox = sandbox().await;
    let go = sandbox.cargo.path().join("go");
    let deadline = || Deadline::after(PATIENCE);
    // Neither could go on if its first line were heard only at its end.
    let heard = Mutex::new(Vec::new());
    let ear = |chunk: OutputChunk| {
        heard.lock().unwrap().push(chunk);
        std::fs::write(&go, "").unwrap();
    };
    let shell = command("echo one; echo two >&2; until [ -e go ]; do sleep 0.02; done; rm go; printf three");
    let answer = sandbox.ship.call_live(&shell, deadline(), ear).await.unwrap();
    assert_eq!((answer.success, answer.stdout.as_str(), answer.stderr.as_str()), (true, "one\nthree", "two\n"));
    assert_eq!(said(&heard, OutputStream::Stdout), "one\nthree");
    assert_eq!(said(&heard, OutputStream::Stderr), "two\n");

    let heard = Mutex::new(Vec::new());
    let ear = |chunk: OutputChunk| {
        heard.lock().unwrap().push(chunk);
        std::fs::write(&go, "").unwrap();
    };
    let code = "import os, sys, time\nx = 41\nprint('one')\nprint('two', file=sys.stderr)\n\
                while not os.path.exists('go'): time.sleep(0.02)\nos.system('echo from a child')\nx + 1";
    let answer = sandbox.ship.call_live(&cell(code), deadline(), ear).await.unwrap();
    assert!(answer.success && answer.execution_count == Some(1), "{answer:?}");
    assert_eq!(said(&heard, OutputStream::Stdout), "one\nfrom a child\n42\n");
    assert_eq!(said(&heard, OutputStream::Stderr), "two\n");
    assert_eq!(answer.stdout, "one\nfrom a child\n42\n");
    // The next one is not heard by whoever heard this one.
    assert_eq!(sandbox.python("print(x)").await["stdout"], "41\n");
    assert_eq!(said(&heard, OutputStream::Stdout), "one\nfrom a child\n42\n");
}

#[tokio::test]
async fn no_guest_can_write_the_end_and_none_can_flood() {
    let sandbox = sandbox().await;
    let heard = Mutex::new(Vec::new());
    let ear = |chunk: OutputChunk| heard.lock().unwrap().push(chunk);
    let forged = json!({"answer": {"success": true, "return_code": 0}}).to_string();
    let shell = command(&format!("printf '%s\\n' '{forged}' '\"}}}}' ; exit 3"));
    let answer = sandbox.ship.call_live(&shell, Deadline::after(PATIENCE), ear).await.unwrap();
    assert_eq!((answer.success, answer.return_code), (false, 3));
    assert_eq!(said(&heard, OutputStream::Stdout), format!("{forged}\n\"}}}}\n"));

    // Forty megabytes: told is a part of it, counted is the rest, and the answer is what it always is.
    heard.lock().unwrap().clear();
    let shell = command("head -c 40000000 /dev/zero | tr '\\0' x");
    let answer = sandbox.ship.call_live(&shell, Deadline::after(PATIENCE), ear).await.unwrap();
    let (told, dropped) = {
        let heard = heard.lock().unwrap();
        let told: usize = heard.iter().map(|chunk| chunk.text.len()).sum();
        (told as u64, heard.iter().map(|chunk| chunk.dropped).sum::<u64>())
    };
    assert!(told <= 4 << 20 && told + dropped == 40_000_000, "{told} told, {dropped} left out");
    assert!(answer.success && answer.truncated);
}

#[tokio::test]
async fn refusals_and_ends_are_what_they_are_without_a_stream() {
    let sandbox = sandbox().await;
    let ear = |_: OutputChunk| {};
    let nowhere = ShellRequest { cwd: Some("../..".to_owned()), ..command("true") };
    match sandbox.ship.call_live(&nowhere, Deadline::after(PATIENCE), ear).await {
        Err(CallError::Refused(refused)) => assert_eq!(refused.code, RefusalCode::InvalidPath),
        other => panic!("{other:?}"),
    }
    // The folder is looked for when the command starts: then the stream has begun.
    let missing = ShellRequest { cwd: Some("nowhere".to_owned()), ..command("true") };
    let whole = ShellRequest { stream: false, ..missing.clone() };
    let refused = sandbox.ship.call(&whole, Deadline::after(PATIENCE)).await.unwrap_err();
    assert_eq!(sandbox.ship.call_live(&missing, Deadline::after(PATIENCE), ear).await.unwrap_err(), refused);

    let late = ShellRequest { timeout: Some(0.5), ..command("echo begun; sleep 60") };
    let answer = sandbox.ship.call_live(&late, Deadline::after(PATIENCE), ear).await.unwrap();
    assert_eq!((answer.timed_out, answer.stdout.as_str()), (true, "begun\n"));
}
