//! `/mcp` where two Bays share one PostgreSQL: a tool's call for a sandbox that lives with the other one.

use cove_testkit::processes::{below, command_line};
use cove_testkit::until;
use futures_util::StreamExt as _;
use serde_json::{Value, json};

use crate::several::two_bays;
use crate::{KEY, Served};

/// One request as an older client sends it; its answer comes as a stream of events.
fn post(served: &Served, body: &Value) -> reqwest::RequestBuilder {
    let request = served.request(KEY, "POST", "/mcp").header("accept", "application/json, text/event-stream");
    request.header("mcp-protocol-version", "2025-06-18").header("user-agent", "cove-tests/1").json(body)
}

/// All messages of the answer's stream.
async fn messages(served: &Served, body: &Value) -> Vec<Value> {
    let response = post(served, body).send().await.unwrap();
    let status = response.status();
    let text = response.text().await.unwrap();
    assert_eq!(status, 200, "{text}");
    let lines = text.lines().map(|line| line.strip_prefix("data:").unwrap_or(line));
    lines.filter_map(|line| serde_json::from_str(line).ok()).collect()
}

fn call(id: u32, tool: &str, arguments: &Value) -> Value {
    json!({
        "jsonrpc": "2.0", "id": id, "method": "tools/call",
        "params": { "name": tool, "arguments": arguments, "_meta": { "progressToken": "p" } },
    })
}

/// The answer of a tool.
async fn tool(served: &Served, name: &str, arguments: Value) -> Value {
    let mut said = messages(served, &call(1, name, &arguments)).await;
    said.pop().unwrap_or_default()["result"].take()
}

/// Whether a command runs below this server.
fn runs(served: &Served, words: &str) -> bool {
    below(served.child.id()).iter().any(|pid| command_line(*pid) == words)
}

// Several threads: a connection is closed while the test looks on.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tools_call_finds_its_sandbox_through_either_bay() {
    let (_postgres, _ground, mut a, b) = two_bays("");

    let made = tool(&a, "create_sandbox", json!({ "profile": "python-default" })).await;
    let id = made["structuredContent"]["id"].as_str().unwrap_or_else(|| panic!("{made}")).to_owned();
    tool(&a, "execute_python", json!({ "sandbox_id": id, "code": "x = 41" })).await;
    let seen = tool(&b, "execute_python", json!({ "sandbox_id": id, "code": "x + 1" })).await;
    assert_eq!(seen["structuredContent"]["output"], "42\n", "{seen}");

    // Console lines come through, and before the answer; a picture and its link, too.
    let code = "console.log('on the way'); getCanvas(8, 8).getContext('2d').fillRect(0, 0, 8, 8); return 7";
    let said = messages(&b, &call(2, "run_javascript", &json!({ "sandbox_id": id, "code": code }))).await;
    let (answer, before) = said.split_last().unwrap();
    let lines: Vec<&Value> = before.iter().map(|note| &note["params"]["message"]).collect();
    assert!(lines.iter().any(|line| line.as_str() == Some("on the way")), "{said:?}");
    let blocks = answer["result"]["content"].as_array().unwrap();
    assert!(blocks.iter().any(|block| block["type"] == "image"), "{answer}");
    let link = blocks.iter().find(|block| block["type"] == "resource_link").unwrap();
    let read = json!({ "jsonrpc": "2.0", "id": 3, "method": "resources/read", "params": { "uri": link["uri"] } });
    for served in [&a, &b] {
        let read = messages(served, &read).await;
        assert_eq!(read[0]["result"]["contents"][0]["mimeType"], "image/png", "{read:?}");
    }

    // A client that leaves the stream ends the command with the other Bay.
    let nap = |seconds: u32| json!({ "sandbox_id": id, "command": format!("exec sleep {seconds}"), "timeout": 300 });
    let stream = post(&b, &call(4, "execute_shell", &nap(4241))).send().await.unwrap().bytes_stream();
    until("the command runs", async || runs(&a, "sleep 4241")).await;
    drop(stream);
    until("the command is ended", async || !runs(&a, "sleep 4241")).await;

    // So does one that says it by the call's number.
    let mut stream = post(&b, &call(5, "execute_shell", &nap(4242))).send().await.unwrap().bytes_stream();
    until("the command runs", async || runs(&a, "sleep 4242")).await;
    let note = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 5 } });
    assert_eq!(post(&b, &note).send().await.unwrap().status(), 202);
    until("the command is ended", async || !runs(&a, "sleep 4242")).await;
    while let Some(Ok(_)) = stream.next().await {}

    // The Bay of the sandbox is gone: whoever asks the other one hears it as a tool says it, or finds it at work already.
    a.child.kill().unwrap();
    a.child.wait().unwrap();
    let answer = tool(&b, "execute_python", json!({ "sandbox_id": id, "code": "6 * 7" })).await;
    if answer["isError"] == true {
        let error = &answer["structuredContent"]["error"];
        assert!(error["code"].is_string() && error["next_step"].is_string(), "{answer}");
    } else {
        assert_eq!(answer["structuredContent"]["output"], "42\n", "{answer}");
    }
    b.close();
}
