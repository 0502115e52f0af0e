//! `/fs/…`, `/upload`, `/download`, `/health`, `/meta`.

use bytes::Bytes;
use cove_runtime_api::{CallError, RefusalCode, ToolRequest};
use http_body_util::BodyExt;
use hyper::Method;
use serde_json::{Value, json};

use crate::support::{PATIENCE, Sandbox, sandbox};

#[tokio::test]
async fn a_file_lives_its_life() {
    let sandbox = sandbox().await;
    let made = sandbox.ok("/fs/create_file", json!({"path": "a/b/c.txt", "content": "one\ntwo\nthree\n"})).await;
    assert_eq!((&made["success"], &made["path"]), (&json!(true), &json!("/workspace/a/b/c.txt")));
    assert_eq!(sandbox.out("stat -c '%a %U' a/b/c.txt").await, "644 shipyard");
    for (extra, content) in [
        (json!({}), "one\ntwo\nthree\n"),
        (json!({"offset": 2}), "two\nthree\n"),
        (json!({"offset": 2, "limit": 1}), "two\n"),
        (json!({"limit": 1}), "one\n"),
        (json!({"offset": 9}), ""),
        (json!({"encoding": "latin-1"}), "one\ntwo\nthree\n"),
        (json!({"offset": null, "limit": null}), "one\ntwo\nthree\n"),
    ] {
        let mut body = json!({"path": "/workspace/a/b/c.txt"});
        body.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        let read = sandbox.ok("/fs/read_file", body).await;
        assert_eq!((&read["content"], &read["size"]), (&json!(content), &json!(14)), "{extra}");
    }
    sandbox.ok("/fs/write_file", json!({"path": "a/b/c.txt", "content": "four\n", "mode": "a"})).await;
    sandbox.ok("/fs/write_file", json!({"path": "new.txt", "content": "x", "mode": "a"})).await;
    let edited =
        sandbox.ok("/fs/edit_file", json!({"path": "a/b/c.txt", "old_string": "two\n", "new_string": "2\n"})).await;
    assert_eq!((&edited["replacements"], &edited["size"]), (&json!(1), &json!(17)));
    let edit = json!({"path": "a/b/c.txt", "old_string": "o", "new_string": "0", "replace_all": true});
    assert_eq!(sandbox.ok("/fs/edit_file", edit).await["replacements"], 2);
    assert_eq!(sandbox.out("cat a/b/c.txt new.txt").await, "0ne\n2\nthree\nf0ur\nx");
    // Permissions outlive a rewrite; a symlink inside stays one.
    sandbox.out("chmod 755 new.txt && ln -s new.txt link").await;
    sandbox.ok("/fs/write_file", json!({"path": "new.txt", "content": "y"})).await;
    sandbox.ok("/fs/write_file", json!({"path": "link", "content": "z"})).await;
    assert_eq!(sandbox.out("stat -c %a new.txt; cat new.txt; readlink link").await, "755\nznew.txt");
    sandbox.ok("/fs/create_file", json!({"path": "run.sh", "content": "#!/bin/sh\necho ran\n", "mode": 493})).await;
    assert_eq!(sandbox.out("./run.sh").await, "ran");
    sandbox.ok("/fs/delete_file", json!({"path": "a"})).await;
    sandbox.ok("/fs/delete_file", json!({"path": "link"})).await;
    assert_eq!(sandbox.out("ls").await, "new.txt\nrun.sh\nskills");
}

#[tokio::test]
async fn folders_show_everything_in_them() {
    let sandbox = sandbox().await;
    sandbox.out("mkdir -p d/.git 'd/z dir' && printf 12345 > d/.hidden && touch d/b d/a && ln -s a d/l").await;
    let listing = sandbox.ok("/fs/list_dir", json!({"path": "d"})).await;
    let files = listing["files"].as_array().unwrap();
    let names: Vec<_> = files.iter().map(|file| file["name"].as_str().unwrap()).collect();
    assert_eq!(names, [".git", "z dir", ".hidden", "a", "b", "l"]);
    assert_eq!(listing["current_path"], "/workspace/d");
    let hidden = &files[2];
    assert_eq!((&hidden["path"], &hidden["size"]), (&json!("/workspace/d/.hidden"), &json!(5)));
    assert_eq!((&hidden["is_file"], &hidden["is_dir"]), (&json!(true), &json!(false)));
    assert!(hidden["modified_time"].as_f64().unwrap() > 1.7e9);
    assert_eq!((&files[0]["size"], &files[0]["is_dir"]), (&Value::Null, &json!(true)));
    assert_eq!(files[5]["is_symlink"], true);
    let few = sandbox.ok("/fs/list_dir", json!({"path": "d", "show_hidden": false})).await;
    assert_eq!(few["files"].as_array().unwrap().len(), 4);
    let root = sandbox.ok("/fs/list_dir", json!({})).await;
    assert_eq!(root["current_path"], "/workspace");
}

/// Each refusal has its code; none of them changes anything.
#[tokio::test]
async fn refusals_have_their_codes() {
    let sandbox = sandbox().await;
    sandbox
        .out("mkdir d && echo aa > f && ln -s /etc e && ln -s /etc/passwd p && ln -s loop loop && mkfifo fifo")
        .await;
    sandbox.out("printf '\\xff' > bin && truncate -s 20M big && touch locked && chmod 0 locked").await;
    let name = format!("../cove-{}", std::process::id());
    let outside =
        [name.as_str(), "../x", "/etc/passwd", "d/../../x", "p", "e/passwd", "loop", "a\0b", "", "/workspacex"];
    for path in outside {
        for (endpoint, body) in [
            ("/fs/read_file", json!({"path": path})),
            ("/fs/write_file", json!({"path": path, "content": "x"})),
            ("/fs/edit_file", json!({"path": path, "old_string": "a", "new_string": "b"})),
            ("/fs/list_dir", json!({"path": path})),
        ] {
            sandbox.refused(endpoint, body, 400, "invalid_path").await;
        }
    }
    for (endpoint, body, status, code) in [
        ("/fs/read_file", json!({"path": "none"}), 404, "file_not_found"),
        ("/fs/read_file", json!({"path": "d/none/x"}), 404, "file_not_found"),
        ("/fs/read_file", json!({"path": "d"}), 400, "not_a_file"),
        ("/fs/read_file", json!({"path": "fifo"}), 400, "not_a_file"),
        ("/fs/read_file", json!({"path": "f/x"}), 400, "not_a_directory"),
        ("/fs/read_file", json!({"path": "bin"}), 400, "not_text"),
        ("/fs/read_file", json!({"path": "big"}), 413, "file_too_large"),
        ("/fs/read_file", json!({"path": "locked"}), 403, "forbidden"),
        ("/fs/read_file", json!({"path": "f", "encoding": "klingon"}), 400, "validation_error"),
        ("/fs/read_file", json!({}), 422, "validation_error"),
        ("/fs/read_file", json!({"path": 7}), 422, "validation_error"),
        ("/fs/read_file", json!([]), 422, "validation_error"),
        ("/fs/write_file", json!({"path": "d", "content": ""}), 400, "not_a_file"),
        ("/fs/write_file", json!({"path": ".", "content": ""}), 400, "invalid_path"),
        ("/fs/write_file", json!({"path": "f", "content": "", "mode": "x"}), 422, "validation_error"),
        ("/fs/create_file", json!({"path": "e/new"}), 400, "invalid_path"),
        ("/fs/edit_file", json!({"path": "f", "old_string": "q", "new_string": ""}), 400, "text_not_found"),
        ("/fs/edit_file", json!({"path": "f", "old_string": "a", "new_string": ""}), 400, "not_unique"),
        ("/fs/edit_file", json!({"path": "f", "old_string": "", "new_string": ""}), 400, "validation_error"),
        ("/fs/delete_file", json!({"path": "none"}), 404, "file_not_found"),
        ("/fs/delete_file", json!({"path": "."}), 400, "invalid_path"),
        ("/fs/delete_file", json!({"path": "e/passwd"}), 400, "invalid_path"),
        ("/fs/list_dir", json!({"path": "f"}), 400, "not_a_directory"),
        ("/fs/list_dir", json!({"path": "none"}), 404, "file_not_found"),
        ("/nowhere", json!({}), 404, "not_found"),
    ] {
        sandbox.refused(endpoint, body, status, code).await;
    }
    assert_eq!(sandbox.out("cat f; ls | xargs").await, "aa\nbig bin d e f fifo locked loop p skills");
    assert!(!sandbox.cargo.path().join(name).exists());
}

fn form(parts: &[(&str, Option<&str>, &[u8])]) -> (String, Bytes) {
    let mut body = Vec::new();
    for (name, file, bytes) in parts {
        let file = file.map(|file| format!("; filename=\"{file}\"")).unwrap_or_default();
        body.extend(format!("--cut\r\nContent-Disposition: form-data; name=\"{name}\"{file}\r\n\r\n").bytes());
        body.extend_from_slice(bytes);
        body.extend(b"\r\n");
    }
    body.extend(b"--cut--\r\n");
    ("multipart/form-data; boundary=cut".to_owned(), body.into())
}

async fn upload(sandbox: &Sandbox, parts: &[(&str, Option<&str>, &[u8])]) -> (u16, Value) {
    let (kind, body) = form(parts);
    let answer = sandbox.ship.send(Method::POST, "/upload", &kind, body).await.unwrap();
    let status = answer.status().as_u16();
    (status, serde_json::from_slice(&answer.into_body().collect().await.unwrap().to_bytes()).unwrap())
}

async fn download(sandbox: &Sandbox, path: &str) -> (u16, Bytes) {
    let path = format!("/download?path={path}");
    let answer = sandbox.ship.send(Method::GET, &path, "", Bytes::new()).await.unwrap();
    (answer.status().as_u16(), answer.into_body().collect().await.unwrap().to_bytes())
}

#[tokio::test]
async fn bytes_go_in_and_out_unchanged() {
    let sandbox = sandbox().await;
    // 8 MiB of every byte there is, in an order that shows a swapped block.
    let bytes: Vec<u8> = (0..1_u32 << 21).flat_map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
    let (status, answer) = upload(&sandbox, &[("file", Some("x"), &bytes), ("file_path", None, b"up/data.bin")]).await;
    assert_eq!((status, &answer["size"]), (200, &json!(bytes.len())), "{answer}");
    assert_eq!(answer["file_path"], "/workspace/up/data.bin");
    let (status, back) = download(&sandbox, "up/data.bin").await;
    assert!(status == 200 && back == bytes);
    let (status, answer) = upload(&sandbox, &[("file", Some("named.txt"), b"hello")]).await;
    assert_eq!((status, &answer["path"]), (200, &json!("/workspace/named.txt")));
    for (parts, status, code) in [
        (vec![("file_path", None, &b"x"[..])], 422, "validation_error"),
        (vec![("file", Some("x"), b"1"), ("file_path", None, b"../x")], 400, "invalid_path"),
        (vec![("file_path", None, b"/etc/x"), ("file", Some("x"), b"1")], 400, "invalid_path"),
        (vec![("file", Some("../../x"), b"1")], 400, "invalid_path"),
        (vec![("file", Some("x"), b"1"), ("file_path", None, b"up")], 400, "not_a_file"),
    ] {
        let (got, answer) = upload(&sandbox, &parts).await;
        assert_eq!((got, answer["error"]["code"].as_str()), (status, Some(code)), "{answer}");
    }
    for (path, status) in [("none", 404), ("..%2fx", 400), ("up", 400), ("%2fetc%2fpasswd", 400)] {
        assert_eq!(download(&sandbox, path).await.0, status, "{path}");
    }
    // What was refused has left no draft behind.
    assert_eq!(sandbox.out("ls -A | xargs").await, "named.txt skills up");
}

#[tokio::test]
async fn it_says_what_it_is() {
    let sandbox = sandbox().await;
    assert_eq!(sandbox.get("/health").await.1["status"], "healthy");
    let (status, meta) = sandbox.get("/meta").await;
    assert_eq!((status.as_u16(), &meta["runtime"]["name"]), (200, &json!("ship")));
    assert_eq!(meta["workspace"]["mount_path"], "/workspace");
    let capabilities: Vec<_> = meta["capabilities"].as_object().unwrap().keys().collect();
    assert_eq!(capabilities, ["filesystem", "shell", "python", "javascript", "terminal", "ports"]);
    // The built-in skill is renewed at each start; others' skills are left alone.
    sandbox
        .out("mkdir -p skills/mine && echo mine > skills/mine/SKILL.md && echo x > skills/python-sandbox/SKILL.md")
        .await;
}

/// The tools of JavaScript sessions, through the client that Bay uses.
#[tokio::test]
async fn file_tools_work_inside() {
    let sandbox = sandbox().await;
    let call = async |tool: &str, args: Vec<Value>| {
        let request = ToolRequest { tool: tool.to_owned(), args };
        sandbox.ship.call(&request, PATIENCE.into()).await
    };
    call("write", vec![json!({"path": "src/a.txt", "content": "one\ntwo\n"})]).await.unwrap();
    call("editTool", vec![json!("src/a.txt"), json!("two"), json!("2")]).await.unwrap();
    let text = call("read", vec![json!({"path": "src/a.txt"})]).await.unwrap();
    assert_eq!(text["content"][0]["text"], "one\n2\n", "{text}");
    let found = call("grep", vec![json!({"pattern": "^2"})]).await.unwrap();
    assert!(found["content"][0]["text"].as_str().unwrap().contains("src/a.txt:2"), "{found}");
    assert_eq!(sandbox.out("stat -c %U src/a.txt").await, "shipyard");
    for (path, code) in [("../x", RefusalCode::InvalidPath), ("none", RefusalCode::FileNotFound)] {
        match call("read", vec![json!(path)]).await {
            Err(CallError::Refused(refusal)) => assert_eq!(refusal.code, code, "{path}"),
            other => panic!("{path}: {other:?}"),
        }
    }
    sandbox.refused("/fs/tool", json!({"tool": "rm"}), 422, "validation_error").await;
}
