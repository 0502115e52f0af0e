//! A start that cannot be: each says what is wrong, and what to do about it.

use std::net::TcpListener;

use crate::Ground;

#[test]
fn what_keeps_a_server_from_starting_is_said_with_a_way_out() {
    let ground = Ground::new("");
    let folder = ground.folder.path();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    for (name, text) in [
        ("file", ""),
        ("number.yaml", "server:\n  port: x\n"),
        ("number.toml", "[server]\nport = 99999999\n"),
        ("open.toml", "[server\n"),
        ("typo.yaml", "servr:\n  port: 1\nserver:\n  port: y\n"),
    ] {
        std::fs::write(folder.join(name), text).unwrap();
    }
    let check = |args: &[&str], words: &[&str]| {
        let done = ground.command("data").arg("serve").args(args).output().unwrap();
        let said = String::from_utf8(done.stderr).unwrap();
        assert!(!done.status.success() && done.stdout.is_empty(), "{args:?}: {said}");
        for word in words {
            assert!(said.contains(word), "{args:?}: {word:?} is not in {said:?}");
        }
        assert!(!said.contains("panicked"), "{args:?}: {said}");
    };
    check(&["--port", &port], &["in use", "--port"]);
    check(&["--port", "70000"], &["70000", "65535"]);
    check(&["--port", "0", "--host", "192.0.2.1"], &["192.0.2.1", "--host"]);
    check(&["--port", "0", "--host", "no such name"], &["no such name", "--host"]);
    check(&["--port", "0", "--data-dir", "file"], &["file", "--data-dir"]);
    check(&["--port", "0", "--data-dir", "file/below"], &["file/below", "--data-dir"]);
    check(&["--config", "number.yaml"], &["number.yaml:2"]);
    check(&["--config", "number.toml"], &["number.toml:2"]);
    check(&["--config", "open.toml"], &["open.toml:1"]);
    check(&["--config", "typo.yaml"], &["typo.yaml:4"]);
    check(&["--config", "nowhere.yaml"], &["nowhere.yaml"]);
    check(&["--port", "0", "--database-url", "mysql://x"], &["mysql://x", "sqlite:", "postgresql://"]);
}
