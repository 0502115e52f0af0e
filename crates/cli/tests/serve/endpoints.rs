//! Every operation, with its success and what it refuses.

use serde_json::{Value, json};

use crate::asked::{Seen, path_of};
use crate::{Ground, KEY, OTHER, Served, skills};

const NOBODY: &str = "sandbox-000000000000";
const PAGE: &str =
    "data:text/html,<title>Cove</title><button onclick=\"document.title='Clicked'\">Go</button><input aria-label=Name>";

#[tokio::test]
async fn every_endpoint_does_its_work_and_refuses_what_it_must() {
    let ground = Ground::new("");
    let served = ground.serve("data", &[]);
    let mut seen = Seen::default();
    let s = &mut seen;

    assert_eq!(s.check(&served, "health", &[], "", Value::Null, "success").await["status"], "ok");
    let profiles = s.check(&served, "list_profiles", &[], "detail=true", Value::Null, "success").await;
    assert!(profiles["items"].as_array().unwrap().iter().any(|one| one["id"] == "browser-python"), "{profiles}");

    let id = life(&served, s).await;
    let id = id.as_str();
    code(&served, s, id).await;
    files(&served, s, id).await;
    ports(&served, s, id).await;
    network(&served, s, id).await;
    processes(&served, s, id).await;
    browser(&served, s).await;
    history(&served, s, id).await;
    cargos(&served, s, id).await;
    skills::life(&served, s, id).await;
    over(&served, s).await;

    let report = s.check(&served, "run_collector", &[], "", json!({ "tasks": ["idle_session"] }), "success").await;
    let tasks: Vec<&str> =
        report["results"].as_array().unwrap().iter().map(|one| one["task"].as_str().unwrap()).collect();
    assert_eq!(tasks, ["idle_session"], "only those that were asked for");
    s.check(&served, "run_collector", &[], "", json!({ "tasks": ["nonsense"] }), "validation_error").await;
    s.check(&served, "get_collector", &[], "", Value::Null, "success").await;

    s.check(&served, "stop_sandbox", &[("id", id)], "", Value::Null, "success").await;
    let stopped = s.check(&served, "get_sandbox", &[("id", id)], "", Value::Null, "success").await;
    assert_eq!(stopped["status"], "idle", "{stopped}");
    assert_eq!(served.shell(id, "cat kept.txt").await, "kept", "the cargo stays");
    s.check(&served, "delete_sandbox", &[("id", id)], "", Value::Null, "success").await;
    s.check(&served, "delete_sandbox", &[("id", id)], "", Value::Null, "success").await;
    s.check(&served, "get_sandbox", &[("id", id)], "", Value::Null, "not_found").await;
    s.check(&served, "delete_sandbox", &[("id", NOBODY)], "", Value::Null, "not_found").await;
    seen.complete();
    served.close();
}

/// A sandbox, made and looked at.
async fn life(served: &Served, s: &mut Seen) -> String {
    let made = s.check(served, "create_sandbox", &[], "", json!({ "ttl": 3600 }), "success").await;
    let id = made["id"].as_str().unwrap().to_owned();
    assert_eq!((&made["profile"], &made["containers"]), (&json!("python-default"), &Value::Null), "{made}");
    s.check(served, "create_sandbox", &[], "", json!({ "profile": "nobody" }), "validation_error").await;
    s.check(served, "create_sandbox", &[], "", json!({ "cargo_id": "ws-000000000000" }), "not_found").await;
    s.check(served, "create_sandbox", &[], "", json!({ "ttl": "x" }), "422").await;
    let list = s.check(served, "list_sandboxes", &[], "limit=1", Value::Null, "success").await;
    assert_eq!(list["items"][0]["id"], id.as_str());
    s.check(served, "list_sandboxes", &[], "cursor=nonsense", Value::Null, "validation_error").await;
    s.check(served, "list_sandboxes", &[], "limit=999", Value::Null, "422").await;
    let own = [("id", id.as_str())];
    s.check(served, "get_sandbox", &own, "", Value::Null, "success").await;
    let longer = s.check(served, "extend_ttl", &own, "", json!({ "extend_by": 600 }), "success").await;
    assert!(longer["expires_at"].as_str() > made["expires_at"].as_str(), "{longer}");
    s.check(served, "extend_ttl", &own, "", json!({ "extend_by": 0 }), "422").await;
    s.check(served, "keepalive", &own, "", Value::Null, "success").await;
    let idle = s.check(served, "get_sandbox", &own, "", Value::Null, "success").await;
    assert_eq!(idle["status"], "idle", "a keepalive starts nothing");
    for operation in ["get_sandbox", "keepalive", "stop_sandbox", "stream_events", "list_artifacts", "list_history"] {
        s.check(served, operation, &[("id", NOBODY)], "", Value::Null, "not_found").await;
    }
    id
}

async fn ports(served: &Served, s: &mut Seen, id: &str) {
    let own = [("id", id)];
    let list = s.check(served, "list_ports", &own, "", Value::Null, "success").await;
    assert_eq!(list, json!({ "items": [] }));
    s.check(served, "create_port_link", &own, "", json!({ "port": 0 }), "422").await;
    s.check(served, "create_port_link", &own, "", json!({ "port": 80, "seconds": 2_592_001 }), "422").await;
    let made = s.check(served, "create_port_link", &own, "", json!({ "port": 80 }), "success").await;
    assert!(made["url"].as_str().unwrap().starts_with(&format!("http://80-{id}.localhost:")), "{made}");
    let list = s.check(served, "list_port_links", &own, "", Value::Null, "success").await;
    assert_eq!((&list["items"][0]["id"], &list["items"][0]["url"]), (&made["id"], &Value::Null), "{list}");
    let link = [("id", id), ("link_id", made["id"].as_str().unwrap())];
    s.check(served, "revoke_port_link", &link, "", Value::Null, "success").await;
    s.check(served, "revoke_port_link", &link, "", Value::Null, "not_found").await;
    for operation in ["list_ports", "list_port_links"] {
        s.check(served, operation, &[("id", NOBODY)], "", Value::Null, "not_found").await;
    }
}

async fn network(served: &Served, s: &mut Seen, id: &str) {
    let own = [("id", id)];
    let closed = json!({ "allow_hosts": [], "may_allow": [], "connections": [] });
    assert_eq!(s.check(served, "get_network", &own, "", Value::Null, "success").await, closed);
    assert_eq!(s.check(served, "set_network", &own, "", json!({ "allow_hosts": [] }), "success").await, closed);
    assert_eq!(s.check(served, "set_network", &own, "", json!({ "allow_hosts": null }), "success").await, closed);
    for (hosts, expected) in [
        (json!(["example.com"]), "forbidden"),
        (json!(["169.254.169.254"]), "forbidden"),
        (json!(["localhost:80"]), "forbidden"),
        (json!(["http://example.com/"]), "validation_error"),
        (json!(["*"]), "validation_error"),
        (json!("example.com"), "422"),
    ] {
        s.check(served, "set_network", &own, "", json!({ "allow_hosts": hosts }), expected).await;
    }
    for operation in ["get_network", "set_network"] {
        s.check(served, operation, &[("id", NOBODY)], "", json!({ "allow_hosts": [] }), "not_found").await;
    }
}

async fn processes(served: &Served, s: &mut Seen, id: &str) {
    let own = [("id", id)];
    let wish = json!({ "argv": ["cat"], "name": "cat", "input": true });
    let made = s.check(served, "start_process", &own, "", wish, "success").await;
    assert_eq!((&made["process_id"], &made["running"]), (&json!("cat"), &json!(true)), "{made}");
    s.check(served, "start_process", &own, "", json!({ "argv": [] }), "422").await;
    s.check(served, "start_process", &own, "", json!({ "argv": ["true"], "cwd": "../x" }), "invalid_path").await;
    let list = s.check(served, "list_processes", &own, "", Value::Null, "success").await;
    assert_eq!(list["processes"][0]["process_id"], "cat", "{list}");
    s.check(served, "list_processes", &[("id", NOBODY)], "", Value::Null, "not_found").await;
    let cat = [("id", id), ("process_id", "cat")];
    let nobody = [("id", id), ("process_id", "nobody")];
    s.check(served, "write_process", &cat, "", json!({ "text": "meow", "end": true }), "success").await;
    s.check(served, "write_process", &cat, "", json!({ "data": "not base64" }), "validation_error").await;
    s.check(served, "resize_process", &cat, "", json!({ "cols": 80, "rows": 24 }), "conflict").await;
    s.check(served, "signal_process", &cat, "", json!({ "signal": 99 }), "422").await;
    let bay = cove_client::Client::new(&served.url, Some(KEY)).unwrap();
    let mut frames = bay.follow_process(id, "cat", Some(0)).await.unwrap();
    s.note("follow_process", 200, &Value::Null);
    while frames.next().await.unwrap().is_some() {}
    let shown = s.check(served, "get_process", &cat, "", Value::Null, "success").await;
    assert_eq!((&shown["stdout"], &shown["return_code"]), (&json!("meow"), &json!(0)), "{shown}");
    s.check(served, "signal_process", &cat, "", json!({}), "success").await;
    let wish = json!({ "argv": ["sleep", "600"], "name": "on-terminal", "terminal": {} });
    s.check(served, "start_process", &own, "", wish, "success").await;
    let terminal = [("id", id), ("process_id", "on-terminal")];
    s.check(served, "resize_process", &terminal, "", json!({ "cols": 100, "rows": 40 }), "success").await;
    s.check(served, "signal_process", &terminal, "", json!({ "signal": 9 }), "success").await;
    for (operation, body) in [
        ("get_process", Value::Null),
        ("follow_process", Value::Null),
        ("write_process", json!({})),
        ("signal_process", json!({})),
        ("resize_process", json!({})),
    ] {
        s.check(served, operation, &nobody, "", body, "not_found").await;
    }
    let query = cove_api::WatchQuery::default();
    bay.watch_folder(id, &query).await.unwrap();
    s.note("watch_folder", 200, &Value::Null);
    s.check(served, "watch_folder", &own, "path=nothing", Value::Null, "file_not_found").await;
}

async fn code(served: &Served, s: &mut Seen, id: &str) {
    let own = [("id", id)];
    let said = s
        .check(
            served,
            "exec_shell",
            &own,
            "",
            json!({ "command": "echo kept > kept.txt; pwd", "tags": "a,b" }),
            "success",
        )
        .await;
    assert_eq!(
        (&said["output"], &said["exit_code"], &said["command"]),
        (&json!("/workspace\n"), &json!(0), &Value::Null)
    );
    let failed =
        s.check(served, "exec_shell", &own, "", json!({ "command": "exit 3", "include_code": true }), "success").await;
    assert_eq!(
        (&failed["success"], &failed["exit_code"], &failed["command"]),
        (&json!(false), &json!(3), &json!("exit 3"))
    );
    let late = s.check(served, "exec_shell", &own, "", json!({ "command": "sleep 60", "timeout": 1 }), "success").await;
    assert!(late["success"] == false && !late["error"].as_str().unwrap().is_empty(), "{late}");
    served.shell(id, "ln -s /etc out").await;
    for cwd in ["../..", "/etc", "out"] {
        let refused =
            s.check(served, "exec_shell", &own, "", json!({ "command": "ls", "cwd": cwd }), "invalid_path").await;
        assert_eq!(refused["error"]["details"]["field"], "cwd", "{refused}");
    }
    s.check(served, "exec_shell", &own, "", json!({}), "422").await;
    s.check(served, "exec_shell", &[("id", NOBODY)], "", json!({ "command": "ls" }), "not_found").await;

    s.check(served, "exec_python", &own, "", json!({ "code": "x = 20" }), "success").await;
    let said = s.check(served, "exec_python", &own, "", json!({ "code": "x + 1" }), "success").await;
    assert_eq!(
        (said["output"].as_str().unwrap().trim(), &said["data"]["execution_count"]),
        ("21", &json!(2)),
        "{said}"
    );
    let failed = s.check(served, "exec_python", &own, "", json!({ "code": "1/0" }), "success").await;
    assert!(failed["success"] == false && failed["error"].as_str().unwrap().contains("ZeroDivisionError"), "{failed}");
    s.check(served, "exec_python", &own, "", json!({ "code": "1", "timeout": 301 }), "422").await;
    s.check(served, "exec_python", &[("id", NOBODY)], "", json!({ "code": "1" }), "not_found").await;

    let said = s
        .check(
            served,
            "exec_javascript",
            &own,
            "",
            json!({ "code": "return input.a + 1", "input": { "a": 41 } }),
            "success",
        )
        .await;
    assert_eq!(said["data"]["result"], 42, "{said}");
    s.check(served, "exec_javascript", &own, "", json!({ "code": "let n = 1", "session": true }), "success").await;
    let kept =
        s.check(served, "exec_javascript", &own, "", json!({ "code": "n + 1", "session": true }), "success").await;
    assert_eq!(kept["data"]["result"], 2, "{kept}");
    s.check(served, "reset_javascript", &own, "", Value::Null, "success").await;
    let forgotten =
        s.check(served, "exec_javascript", &own, "", json!({ "code": "typeof n", "session": true }), "success").await;
    assert_eq!(forgotten["data"]["result"], "undefined", "{forgotten}");
    s.check(served, "exec_javascript", &own, "", json!({ "code": "1", "engine": "steam" }), "validation_error").await;
    s.check(served, "exec_javascript", &[("id", NOBODY)], "", json!({ "code": "1" }), "not_found").await;
    s.check(served, "reset_javascript", &[("id", NOBODY)], "", Value::Null, "not_found").await;
    let call = [("id", id), ("call_id", "call-1")];
    s.check(served, "answer_tool", &call, "", json!({ "result": 1 }), "not_found").await;
    tool(served, s, id).await;
    approvals(served, s, id).await;
    artifacts(served, s, id).await;
}

/// Code calls a tool of the caller's own, and the caller answers.
async fn tool(served: &Served, s: &mut Seen, id: &str) {
    let bay = cove_client::Client::new(&served.url, Some(KEY)).unwrap();
    let mut events = bay.events(id, None).await.unwrap();
    s.note("stream_events", 200, &Value::Null);
    let code = json!({ "code": "await ask({ q: 6 })", "session": "tools", "tools": [{ "name": "ask" }] });
    let run = served.request(KEY, "POST", &format!("/v1/sandboxes/{id}/javascript/exec")).json(&code).send();
    let answer = async {
        while let Some(event) = events.next().await.unwrap() {
            if event.kind == cove_api::EventKind::ToolCall {
                let call = [("id", id), ("call_id", event.data["call_id"].as_str().unwrap())];
                s.check(served, "answer_tool", &call, "", json!({ "result": 42 }), "success").await;
                return;
            }
        }
        panic!("no call came");
    };
    let (done, ()) = tokio::join!(run, answer);
    let done: Value = done.unwrap().json().await.unwrap();
    assert_eq!(done["data"]["result"], 42, "{done}");
}

/// Code calls tools that a person must allow: one is approved, one denied.
async fn approvals(served: &Served, s: &mut Seen, id: &str) {
    let bay = cove_client::Client::new(&served.url, Some(KEY)).unwrap();
    let mut events = bay.events(id, None).await.unwrap();
    let code = json!({
        "code": "const paid = await pay(7); try { await pay(8) } catch (e) { [paid, e.message] }",
        "session": "asked", "timeout": 20, "tools": [{ "name": "pay", "ask": true }],
    });
    let run = served.request(KEY, "POST", &format!("/v1/sandboxes/{id}/javascript/exec")).json(&code).send();
    let deciding = async {
        let mut ends = Vec::new();
        while ends.len() < 2 {
            let event = events.next().await.unwrap().expect("the run goes on");
            match event.kind {
                cove_api::EventKind::ApprovalAsked => {
                    let list = s.check(served, "list_approvals", &[], "", Value::Null, "success").await;
                    assert_eq!(list["items"][0]["id"], event.data["id"], "{list}");
                    let theirs = served.request(OTHER, "GET", "/v1/approvals").send().await.unwrap();
                    assert_eq!(
                        theirs.json::<Value>().await.unwrap(),
                        json!({ "items": [] }),
                        "another owner sees nothing"
                    );
                    let own = [("approval_id", event.data["id"].as_str().unwrap())];
                    let approve = event.data["args"] == json!([7]);
                    let operation = if approve { "approve_call" } else { "deny_call" };
                    s.check(served, operation, &own, "", json!({ "reason": "too much" }), "success").await;
                    s.check(served, operation, &own, "", json!({}), "not_found").await;
                }
                cove_api::EventKind::ToolCall => {
                    let call = [("id", id), ("call_id", event.data["call_id"].as_str().unwrap())];
                    s.check(served, "answer_tool", &call, "", json!({ "result": "paid" }), "success").await;
                }
                cove_api::EventKind::ApprovalEnded => ends.push(event.data["end"].clone()),
                _ => {}
            }
        }
        assert_eq!(ends, ["approved", "denied"]);
    };
    let (done, ()) = tokio::join!(run, deciding);
    let done: Value = done.unwrap().json().await.unwrap();
    assert_eq!(done["data"]["result"][0], "paid", "{done}");
    assert!(done["data"]["result"][1].as_str().unwrap().contains("a person has denied it: too much"), "{done}");
}

async fn artifacts(served: &Served, s: &mut Seen, id: &str) {
    let own = [("id", id)];
    let draw = "getCanvas(8, 8).getContext('2d').fillRect(0, 0, 4, 4); return 1";
    let drawn = s.check(served, "exec_javascript", &own, "", json!({ "code": draw }), "success").await;
    let list = s.check(served, "list_artifacts", &own, "", Value::Null, "success").await;
    let names: Vec<&str> = list["items"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert!(!names.is_empty(), "{drawn} {list}");
    let (method, path) = path_of("get_artifact", &[("id", id), ("name", names[0])], "");
    let response = served.request(KEY, &method, &path).send().await.unwrap();
    assert_eq!(response.headers()["content-type"], "image/png");
    s.note("get_artifact", response.status().as_u16(), &Value::Null);
    assert!(response.bytes().await.unwrap().starts_with(b"\x89PNG"));
    s.check(served, "get_artifact", &[("id", id), ("name", "nothing.png")], "", Value::Null, "file_not_found").await;
}

async fn files(served: &Served, s: &mut Seen, id: &str) {
    let own = [("id", id)];
    s.check(served, "write_file", &own, "", json!({ "path": "a/b.txt", "content": "hello ä" }), "success").await;
    let read = s.check(served, "read_file", &own, "path=a/b.txt", Value::Null, "success").await;
    assert_eq!(read["content"], "hello ä");
    s.check(served, "read_file", &own, "path=a/../a/b.txt", Value::Null, "success").await;
    s.check(served, "read_file", &own, "path=nothing.txt", Value::Null, "file_not_found").await;
    for (path, reason) in
        [("", "empty_path"), ("%00", "null_byte"), ("/etc/passwd", "absolute_path"), ("../x", "path_traversal")]
    {
        let refused = s.check(served, "read_file", &own, &format!("path={path}"), Value::Null, "invalid_path").await;
        assert_eq!(refused["error"]["details"]["reason"], reason, "{path}");
    }
    s.check(served, "write_file", &own, "", json!({ "path": "../x", "content": "" }), "invalid_path").await;
    s.check(served, "read_file", &own, "", Value::Null, "422").await;
    let hidden =
        s.check(served, "write_file", &own, "", json!({ "path": "a/.hidden", "content": "" }), "success").await;
    assert_eq!(hidden["status"], "ok");
    let list = s.check(served, "list_directory", &own, "path=a", Value::Null, "success").await;
    let names: Vec<&str> =
        list["entries"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert!(names.contains(&".hidden") && names.contains(&"b.txt"), "{list}");
    s.check(served, "list_directory", &own, "", Value::Null, "success").await;
    s.check(served, "list_directory", &own, "path=nowhere", Value::Null, "file_not_found").await;

    let bytes: Vec<u8> = (0..300_000_u32).map(|n| (n % 251) as u8).collect();
    let upload = async |order: &[&str]| {
        let mut form = reqwest::multipart::Form::new();
        for field in order {
            form = match *field {
                "path" => form.text("path", "up/data.bin"),
                _ => form.part("file", reqwest::multipart::Part::bytes(bytes.clone()).file_name("x")),
            };
        }
        let (method, path) = path_of("upload_file", &own, "");
        let response = served.request(KEY, &method, &path).multipart(form).send().await.unwrap();
        (response.status().as_u16(), response.json::<Value>().await.unwrap())
    };
    for order in [["path", "file"], ["file", "path"]] {
        let (status, body) = upload(&order).await;
        s.note("upload_file", status, &body);
        assert_eq!((status, &body["size"], &body["path"]), (200, &json!(300_000), &json!("up/data.bin")), "{body}");
    }
    for (order, missing) in [(["path"], "file"), (["file"], "path")] {
        let (status, body) = upload(&order).await;
        s.note("upload_file", status, &body);
        assert_eq!((status, &body["detail"][0]["loc"][1]), (422, &json!(missing)), "{body}");
    }
    s.check(served, "upload_file", &own, "", json!({}), "422").await;
    let (method, path) = path_of("download_file", &own, "path=up/data.bin");
    let response = served.request(KEY, &method, &path).send().await.unwrap();
    s.note("download_file", response.status().as_u16(), &Value::Null);
    assert!(response.headers()["content-disposition"].to_str().unwrap().contains("data.bin"));
    assert_eq!(response.bytes().await.unwrap(), bytes);
    s.check(served, "download_file", &own, "path=nothing", Value::Null, "file_not_found").await;
    let found = s
        .check(served, "call_file_tool", &[("id", id), ("tool", "grep")], "", json!({ "pattern": "hello" }), "success")
        .await;
    assert!(found.to_string().contains("b.txt"), "{found}");
    s.check(served, "call_file_tool", &[("id", id), ("tool", "hammer")], "", json!({}), "not_found").await;
    s.check(served, "delete_file", &own, "path=a", Value::Null, "success").await;
    s.check(served, "delete_file", &own, "path=a", Value::Null, "file_not_found").await;
}

async fn browser(served: &Served, s: &mut Seen) {
    let plain = served.create("javascript").await;
    let refused = s
        .check(
            served,
            "exec_browser",
            &[("id", &plain)],
            "",
            json!({ "cmd": "open about:blank" }),
            "capability_not_supported",
        )
        .await;
    assert_eq!(refused["error"]["details"]["capability"], "browser", "{refused}");
    assert!(refused["error"]["details"]["available"].is_array());
    let idle = s.check(served, "get_sandbox", &[("id", &plain)], "", Value::Null, "success").await;
    assert_eq!(idle["status"], "idle", "nothing starts for what is refused");
    s.check(served, "delete_sandbox", &[("id", &plain)], "", Value::Null, "success").await;

    let id = served.create("browser-python").await;
    let own = [("id", id.as_str())];
    let said = s.check(served, "browser_navigate", &own, "", json!({ "url": PAGE }), "success").await;
    assert_eq!(said["success"], true, "{said}");
    let snapshot = s.check(served, "browser_snapshot", &own, "", json!({}), "success").await;
    let text = snapshot["output"].as_str().unwrap();
    let reference = |name: &str| {
        let line = text.lines().find(|line| line.contains(name)).unwrap_or_else(|| panic!("{name} is not in {text}"));
        format!("@{}", line.split("ref=").nth(1).unwrap().split(']').next().unwrap())
    };
    s.check(
        served,
        "browser_fill",
        &own,
        "",
        json!({ "ref": reference("Name"), "text": "a 'b' \"c\"; --x" }),
        "success",
    )
    .await;
    let clicked = s.check(served, "browser_click", &own, "", json!({ "ref": reference("Go") }), "success").await;
    assert_eq!(clicked["success"], true, "{clicked}");
    let title = s
        .check(
            served,
            "exec_browser",
            &own,
            "",
            json!({ "cmd": "get title", "include_trace": true, "learn": true }),
            "success",
        )
        .await;
    assert!(title["output"].as_str().unwrap().contains("Clicked") && title["trace_ref"].is_string(), "{title}");
    let trace = [("id", id.as_str()), ("trace_ref", title["trace_ref"].as_str().unwrap())];
    let trace = s.check(served, "get_browser_trace", &trace, "", Value::Null, "success").await;
    let inner = &trace["trace"];
    assert_eq!(
        (&trace["trace_ref"], &inner["kind"], &inner["success"], &inner["total_steps"], &inner["completed_steps"]),
        (&title["trace_ref"], &json!("browser_exec_trace"), &json!(true), &json!(1), &json!(1)),
        "{trace}"
    );
    assert_eq!(inner["steps"][0]["cmd"], "get title", "{trace}");
    let payload = [("payload_ref", title["trace_ref"].as_str().unwrap())];
    let payload = s.check(served, "get_payload", &payload, "", Value::Null, "success").await;
    assert_eq!(payload["payload"], *inner, "one object, by either way");
    let learn = json!({ "cmd": "get url", "learn": true, "include_trace": false });
    let learnt = s.check(served, "exec_browser", &own, "", learn, "success").await;
    assert_eq!(learnt["trace_ref"], Value::Null, "{learnt}");
    let entry = [("id", id.as_str()), ("execution_id", learnt["execution_id"].as_str().unwrap())];
    let entry = s.check(served, "get_execution", &entry, "", Value::Null, "success").await;
    let kept = entry["payload_ref"].as_str().unwrap();
    assert!(kept.starts_with("blob:"), "{entry}");
    let kept =
        s.check(served, "get_browser_trace", &[("id", &id), ("trace_ref", kept)], "", Value::Null, "success").await;
    assert_eq!(kept["trace"]["steps"][0]["cmd"], "get url", "{kept}");
    s.check(
        served,
        "get_browser_trace",
        &[("id", &id), ("trace_ref", "blob:blob-000000000000")],
        "",
        Value::Null,
        "not_found",
    )
    .await;
    let shot = s.check(served, "browser_screenshot", &own, "", json!({ "path": "shots/page.png" }), "success").await;
    assert_eq!(shot["success"], true, "{shot}");
    assert_eq!(served.shell(&id, "head -c 4 shots/page.png | tail -c 3").await, "PNG", "one workspace for both");
    s.check(served, "browser_screenshot", &own, "", json!({ "path": "../../x.png" }), "invalid_path").await;
    let batch = json!({ "commands": ["get title", "no-such-command", "get url"], "stop_on_error": true });
    let batch = s.check(served, "exec_browser_batch", &own, "", batch, "success").await;
    assert_eq!(
        (&batch["success"], &batch["total_steps"], &batch["completed_steps"]),
        (&json!(false), &json!(3), &json!(2)),
        "{batch}"
    );
    s.check(served, "exec_browser_batch", &own, "", json!({ "commands": [] }), "422").await;
    s.check(served, "exec_browser", &own, "", json!({ "cmd": "" }), "validation_error").await;
    for operation in [
        "browser_navigate",
        "browser_snapshot",
        "browser_click",
        "browser_fill",
        "browser_screenshot",
        "exec_browser_batch",
    ] {
        let body = json!({ "url": "about:blank", "ref": "@e1", "text": "", "commands": ["get url"] });
        s.check(served, operation, &[("id", NOBODY)], "", body, "not_found").await;
    }
    // The seed's own path, without a version.
    let (status, body) =
        served.ask("POST", &format!("/sandboxes/{id}/browser/exec"), json!({ "cmd": "get url" })).await;
    assert!(status == 200 && body["stdout"].as_str().unwrap().contains("data:"), "{body}");
    skills::replay(served, s, &id).await;
    s.check(served, "delete_sandbox", &own, "", Value::Null, "success").await;
}

async fn history(served: &Served, s: &mut Seen, id: &str) {
    let own = [("id", id)];
    let all = s.check(served, "list_history", &own, "limit=500", Value::Null, "success").await;
    let (entries, total) = (all["entries"].as_array().unwrap(), all["total"].as_u64().unwrap());
    assert_eq!(entries.len() as u64, total, "{all}");
    let tagged =
        s.check(served, "list_history", &own, "tags=a&exec_type=shell&success_only=true", Value::Null, "success").await;
    assert_eq!(tagged["total"], 1, "{tagged}");
    s.check(served, "list_history", &own, "limit=0", Value::Null, "422").await;
    for operation in ["list_history", "get_last_execution"] {
        s.check(served, operation, &own, "exec_type=ruby", Value::Null, "422").await;
    }
    for (kind, some) in
        [("python", true), ("shell", true), ("javascript", true), ("browser", false), ("browser_batch", false)]
    {
        let list = s.check(served, "list_history", &own, &format!("exec_type={kind}"), Value::Null, "success").await;
        assert_eq!(list["total"].as_u64() > Some(0), some, "{kind}: {list}");
    }
    let last = s.check(served, "get_last_execution", &own, "exec_type=python", Value::Null, "success").await;
    assert_eq!(last["code"], "1/0", "{last}");
    s.check(served, "get_last_execution", &own, "exec_type=browser", Value::Null, "not_found").await;
    let one = [("id", id), ("execution_id", last["id"].as_str().unwrap())];
    let noted = s.check(served, "annotate_execution", &one, "", json!({ "notes": "why?" }), "success").await;
    assert_eq!(noted["notes"], "why?");
    let again = s.check(served, "get_execution", &one, "", Value::Null, "success").await;
    assert_eq!(again["notes"], "why?");
    let none = [("id", id), ("execution_id", "exec-000000000000")];
    s.check(served, "get_execution", &none, "", Value::Null, "not_found").await;
    s.check(served, "annotate_execution", &none, "", json!({}), "not_found").await;
}

async fn cargos(served: &Served, s: &mut Seen, id: &str) {
    let made = s.check(served, "create_cargo", &[], "", json!({ "size_limit_mb": 8 }), "success").await;
    let cargo = made["id"].as_str().unwrap();
    assert_eq!((&made["size_limit_mb"], &made["managed"]), (&json!(8), &json!(false)), "{made}");
    s.check(served, "create_cargo", &[], "", json!({ "size_limit_mb": 65_537 }), "422").await;
    let list = s.check(served, "list_cargos", &[], "limit=200", Value::Null, "success").await;
    let ids = |list: &Value| -> Vec<String> {
        list["items"].as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(ids(&list), [cargo], "no sandbox's own");
    let sandbox = s.check(served, "get_sandbox", &[("id", id)], "", Value::Null, "success").await;
    let list = s.check(served, "list_cargos", &[], "managed=true", Value::Null, "success").await;
    assert!(ids(&list).iter().any(|one| sandbox["cargo_id"] == one.as_str()), "{list}");
    assert!(list["items"].as_array().unwrap().iter().all(|one| one["managed"] == true), "{list}");
    s.check(served, "get_cargo", &[("id", cargo)], "", Value::Null, "success").await;
    s.check(served, "get_cargo", &[("id", "ws-000000000000")], "", Value::Null, "not_found").await;
    let user = s.check(served, "create_sandbox", &[], "", json!({ "cargo_id": cargo }), "success").await;
    s.check(served, "delete_cargo", &[("id", cargo)], "", Value::Null, "conflict").await;
    let user = [("id", user["id"].as_str().unwrap())];
    let large = json!({ "path": "large", "content": "x".repeat(9 << 20) });
    s.check(served, "write_file", &user, "", large, "quota_exceeded").await;
    s.check(served, "delete_sandbox", &user, "", Value::Null, "success").await;
    s.check(served, "delete_cargo", &[("id", cargo)], "", Value::Null, "success").await;
    s.check(served, "delete_cargo", &[("id", cargo)], "", Value::Null, "not_found").await;
    // What is another's is not there.
    for path in [format!("/v1/sandboxes/{id}"), format!("/v1/sandboxes/{id}/history"), format!("/v1/cargos/{cargo}")] {
        let response = served.request(OTHER, "GET", &path).send().await.unwrap();
        assert_eq!(response.status(), 404, "{path}");
    }
    let list: Value = served.request(OTHER, "GET", "/v1/sandboxes").send().await.unwrap().json().await.unwrap();
    assert_eq!(list["items"], json!([]));
    let exec =
        served.request(OTHER, "POST", &format!("/v1/sandboxes/{id}/shell/exec")).json(&json!({ "command": "id" }));
    assert_eq!(exec.send().await.unwrap().status(), 404);
}

/// Past its end a sandbox is refused at once; one without an end cannot be prolonged.
async fn over(served: &Served, s: &mut Seen) {
    let endless = served.create("python-default").await;
    s.check(served, "extend_ttl", &[("id", &endless)], "", json!({ "extend_by": 60 }), "sandbox_ttl_infinite").await;
    s.check(served, "delete_sandbox", &[("id", &endless)], "", Value::Null, "success").await;
    let short = s.check(served, "create_sandbox", &[], "", json!({ "ttl": 1 }), "success").await;
    let own = [("id", short["id"].as_str().unwrap())];
    cove_testkit::until("it is over", async || {
        s.check(served, "get_sandbox", &own, "", Value::Null, "success").await["status"] == "expired"
    })
    .await;
    s.check(served, "exec_shell", &own, "", json!({ "command": "id" }), "sandbox_expired").await;
    s.check(served, "exec_python", &own, "", json!({ "code": "1" }), "sandbox_expired").await;
    s.check(served, "exec_javascript", &own, "", json!({ "code": "1" }), "sandbox_expired").await;
    s.check(served, "read_file", &own, "path=x", Value::Null, "sandbox_expired").await;
    s.check(served, "extend_ttl", &own, "", json!({ "extend_by": 60 }), "sandbox_expired").await;
    s.check(served, "keepalive", &own, "", Value::Null, "sandbox_expired").await;
    s.check(served, "delete_sandbox", &own, "", Value::Null, "success").await;
}
