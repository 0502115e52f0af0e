//! Refused before anything starts.

use std::time::Duration;

use reqwest::RequestBuilder;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::quay::{Quay, answer, config, profile, refused};
use super::{
    BROKEN, CARGO_USED, ENDING, ENDLESS, EXPIRED, INCAPABLE, KEY_REUSED, LARGE, LATE, NO_ADMIN, NO_KEY, NO_PROFILE,
    NOT_IN_PROFILE, NOT_THERE, ODD, QUERIES, TOO_MANY, UNFIT_BODY, UNFIT_QUERY, UNRIPE, Way, names,
};
use crate::asked::path_of;
use crate::{KEY, OTHER, PATIENCE};

const NOBODY: &str = "sandbox-000000000000";

fn same(_: &str, request: RequestBuilder) -> RequestBuilder {
    request
}

/// An operation's address.
fn at(operation: &str, sandbox: &str, query: &str) -> (String, String) {
    let names = names(operation, sandbox);
    let names: Vec<(&str, &str)> = names.iter().map(|(name, value)| (*name, value.as_str())).collect();
    path_of(operation, &names, query)
}

/// Sends a head and some of a body as they are, and reads the answer.
async fn raw(quay: &Quay, operation: &str, sandbox: &str, headers: &str, body: &str) -> (u16, Value) {
    let (method, path) = at(operation, sandbox, "");
    let mut stream = TcpStream::connect(quay.address()).await.unwrap();
    let head = format!("{method} {path} HTTP/1.1\r\nhost: bay\r\nauthorization: Bearer {KEY}\r\n{headers}\r\n{body}");
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut said = String::new();
    // What was not read of a body makes the end of the connection a rude one, after the answer.
    let _ = tokio::time::timeout(PATIENCE, stream.read_to_string(&mut said)).await.expect("no end");
    let (head, body) = said.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{operation}: {said:?}"));
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (status, serde_json::from_str(body).unwrap_or_else(|_| panic!("{operation}: {said}")))
}

/// A form is looked at only where its sandbox is there; every other body comes first.
fn target<'a>(operation: &str, there: &'a str) -> &'a str {
    if operation == "upload_file" { there } else { NOBODY }
}

async fn refuses_raw(quay: &Quay, way: &Way, there: &str, request: impl Fn(&str) -> (String, String)) {
    let asked = way.all().map(|operation| {
        let (headers, body) = request(operation);
        async move { (operation, raw(quay, operation, target(operation, there), &headers, &body).await) }
    });
    for (operation, answer) in futures_util::future::join_all(asked).await {
        refused(operation, &answer, way);
    }
}

const FORM: &str = "content-type: multipart/form-data; boundary=b\r\nconnection: close\r\n";
const JSON: &str = "content-type: application/json\r\nconnection: close\r\n";

#[tokio::test]
async fn what_does_not_get_past_the_door() {
    let folder = tempfile::tempdir().unwrap();
    let quay = Quay::open(config(folder.path()), |options| {
        options.body_read = Duration::from_millis(300);
        options.max_upload_bytes = 8;
    })
    .await;
    let there = quay.create(json!({})).await;
    quay.refuses(&NO_KEY, NOBODY, |_, request| {
        let (client, request) = request.build_split();
        let mut request = request.unwrap();
        request.headers_mut().remove("authorization");
        RequestBuilder::from_parts(client, request)
    })
    .await;
    refuses_raw(&quay, &LARGE, &there, |operation| match operation {
        "upload_file" => {
            (format!("{FORM}content-length: {}\r\n", cove_server::limits::MAX_FORM_BYTES + 9), String::new())
        }
        _ => (format!("{JSON}content-length: {}\r\n", cove_server::limits::MAX_JSON_BYTES + 1), String::new()),
    })
    .await;
    refuses_raw(&quay, &LATE, &there, |operation| {
        let kind = if operation == "upload_file" { FORM } else { JSON };
        (format!("{kind}content-length: 100\r\n"), "{".to_owned())
    })
    .await;
    refuses_raw(&quay, &BROKEN, &there, |_| {
        (format!("{JSON}transfer-encoding: chunked\r\n"), "no size\r\n".to_owned())
    })
    .await;
    quay.refuses(&UNFIT_BODY, NOBODY, |operation, _| {
        let (method, path) = at(operation, target(operation, &there), "");
        quay.request(&method, &path).bearer_auth(KEY).json(&json!([]))
    })
    .await;
    quay.refuses(&UNFIT_QUERY, NOBODY, |operation, _| {
        let name = QUERIES.iter().find(|(known, _)| *known == operation).unwrap().1;
        let value = if name == "detail" { "true" } else { "1" };
        let (method, path) = at(operation, NOBODY, &format!("{name}={value}&{name}={value}"));
        quay.request(&method, &path).bearer_auth(KEY)
    })
    .await;
    quay.refuses(&NOT_THERE, NOBODY, same).await;
    quay.refuses(&NO_ADMIN, NOBODY, |operation, _| quay.fitting(operation, NOBODY).bearer_auth(OTHER)).await;
    let many: Vec<String> = (0..21).map(|n| n.to_string()).collect();
    let endless = quay.create(json!({})).await;
    quay.refuses(&ODD, &endless, |operation, request| match operation {
        "list_history" => request.query(&[("tags", many.join(","))]),
        "list_candidates" => request.query(&[("status", "nonsense")]),
        "list_releases" => request.query(&[("stage", "nonsense")]),
        "get_payload" => quay.request("GET", "/v1/skills/payloads/s3%3Abucket%2Fkey").bearer_auth(KEY),
        "create_candidate" => request.json(&json!({ "skill_key": "s", "source_execution_ids": ["exec-000000000000"] })),
        "stream_events" | "follow_process" => request.header("last-event-id", "x"),
        "set_network" => request.json(&json!({ "allow_hosts": ["http://example.com/"] })),
        _ => request.query(&[("cursor", "nonsense")]),
    })
    .await;
    quay.refuses(&ENDLESS, &endless, same).await;
    quay.refuses(&NOT_IN_PROFILE, &endless, |_, request| request.json(&json!({ "allow_hosts": ["example.com"] })))
        .await;

    // Bay ends before its server does: what makes something is told to come back.
    quay.bay.close(Duration::from_secs(5)).await;
    quay.refuses(&ENDING, NOBODY, same).await;
    quay.close().await;
}

#[tokio::test]
async fn too_many_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let quay = Quay::open(config(folder.path()), |options| options.max_requests = 0).await;
    quay.refuses(&TOO_MANY, NOBODY, same).await;
    quay.close().await;
}

#[tokio::test]
async fn what_the_state_of_things_forbids() {
    let folder = tempfile::tempdir().unwrap();
    let mut first = config(folder.path());
    first.profiles = vec![profile("shell", &["shell"]), profile("python", &["python"])];
    let quay = Quay::open(first, |_| {}).await;

    let short = quay.create(json!({ "ttl": 1 })).await;
    let (shell, python) =
        (quay.create(json!({ "profile": "shell" })).await, quay.create(json!({ "profile": "python" })).await);
    quay.refuses(&INCAPABLE, NOBODY, |operation, _| {
        let sandbox = if operation == "exec_shell" || operation.ends_with("process") || operation.ends_with("processes")
        {
            &python
        } else {
            &shell
        };
        quay.fitting(operation, sandbox).bearer_auth(KEY)
    })
    .await;

    let once = |operation: &str, key: &str, change: Value| {
        let (method, path) = at(operation, &short, "");
        quay.request(&method, &path).bearer_auth(KEY).header("idempotency-key", key).json(&change)
    };
    for (operation, one, other) in [
        ("create_sandbox", json!({}), json!({ "ttl": 5 })),
        ("create_cargo", json!({}), json!({ "size_limit_mb": 5 })),
        ("extend_ttl", json!({ "extend_by": 1 }), json!({ "extend_by": 2 })),
    ] {
        let (status, made) = answer(once(operation, operation, one)).await;
        assert!(status < 300, "{operation}: {made}");
        refused(operation, &answer(once(operation, operation, other)).await, &KEY_REUSED);
        refused(operation, &answer(once(operation, "no key", json!({}))).await, &KEY_REUSED);
    }

    // Used by a sandbox.
    let (_, cargo) = answer(quay.request("POST", "/v1/cargos").bearer_auth(KEY)).await;
    let cargo = cargo["id"].as_str().unwrap();
    quay.create(json!({ "cargo_id": cargo })).await;
    let delete = quay.request("DELETE", &format!("/v1/cargos/{cargo}")).bearer_auth(KEY);
    refused("delete_cargo", &answer(delete).await, &CARGO_USED);
    unripe(&quay, &shell).await;

    cove_testkit::until("it is over", async || {
        answer(quay.fitting("get_sandbox", &short).bearer_auth(KEY)).await.1["status"] == "expired"
    })
    .await;
    quay.refuses(&EXPIRED, &short, same).await;
    quay.close().await;

    // The same records without those profiles.
    let quay = Quay::open(config(folder.path()), |_| {}).await;
    quay.refuses(&NO_PROFILE, &shell, same).await;
    quay.close().await;
}

/// Candidates and releases that are not where they would have to be.
async fn unripe(quay: &Quay, sandbox: &str) {
    // It fails, because nothing can start here; it is in the history all the same.
    answer(quay.fitting("exec_shell", sandbox).bearer_auth(KEY)).await;
    let (_, last) = answer(quay.fitting("get_last_execution", sandbox).bearer_auth(KEY)).await;
    let wish = json!({ "skill_key": "s", "source_execution_ids": [last["id"]] });
    let (_, made) = answer(quay.request("POST", "/v1/skills/candidates").bearer_auth(KEY).json(&wish)).await;
    let path = format!("/v1/skills/candidates/{}", made["id"].as_str().unwrap());
    let post = |path: String, body: Value| quay.request("POST", &path).bearer_auth(KEY).json(&body);
    let promoted = answer(post(format!("{path}/promote"), json!({}))).await;
    refused("promote_candidate", &promoted, &UNRIPE);
    answer(post(format!("{path}/evaluate"), json!({ "passed": true }))).await;
    let (status, release) = answer(post(format!("{path}/promote"), json!({}))).await;
    assert_eq!(status, 200, "{release}");
    let deleted = answer(quay.request("DELETE", &path).bearer_auth(KEY)).await;
    refused("delete_candidate", &deleted, &UNRIPE);
    let back = format!("/v1/skills/releases/{}/rollback", release["id"].as_str().unwrap());
    refused("rollback_release", &answer(post(back, json!({}))).await, &UNRIPE);
    assert_eq!(UNRIPE.all().count(), 3);
}
