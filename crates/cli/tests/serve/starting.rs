//! A start that cannot be: each says what is wrong, and what to do about it.

use std::net::TcpListener;
use std::process::Command;

use cove_walls::identity::set_no_new_privileges;
use cove_walls::seccomp::{Action, Calls};

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
        ("open.yaml", "server:\n  host: 0.0.0.0\nsecurity:\n  allow_anonymous: true\n"),
        ("anonymous.yaml", "security:\n  allow_anonymous: true\n"),
        ("stars.yaml", "server:\n  cors_origins: ['*']\n"),
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
    // What would weaken the door does not start, whichever way it is said.
    check(&["--port", "0", "--config", "open.yaml"], &["open.yaml:4", "allow_anonymous", "127.0.0.1"]);
    check(&["--port", "0", "--config", "anonymous.yaml", "--host", "0.0.0.0"], &["allow_anonymous", "127.0.0.1"]);
    check(&["--port", "0", "--config", "stars.yaml"], &["stars.yaml:2", "\"*\""]);
    check(&["--port", "0", "--database-url", "mysql://x"], &["mysql://x", "sqlite:", "postgresql://"]);
}

/// Data folders in odd places: each is refused at the start, with the reason and the way out.
#[test]
fn an_odd_data_folder_is_refused_with_a_way_out() {
    let ground = Ground::new("");
    std::fs::create_dir(ground.folder.path().join("disk")).unwrap();
    let prepared = |script: &str| ground.command_on(script, "data");
    let refused = |mut command: Command, words: &[&str]| {
        let done = command.args(["serve", "--port", "0", "--data-dir", "disk"]).output().unwrap();
        let said = String::from_utf8(done.stderr).unwrap();
        assert!(!done.status.success() && !said.contains("panicked"), "{command:?}: {said}");
        for word in words {
            assert!(said.contains(word), "{word:?} is not in {said:?}");
        }
    };
    let read_only = "mount --bind disk disk; mount -o remount,bind,ro disk; exec \"$@\"";
    refused(prepared(read_only), &["Read-only", "--data-dir"]);
    for full in ["size=64k", "size=16m,nr_inodes=3"] {
        let script = format!("mount -t tmpfs -o {full} none disk; exec \"$@\"");
        refused(prepared(&script), &["No space left", "--data-dir"]);
    }
    let long = format!("BAY_RUNTIME_DIR=$PWD/{} exec \"$@\"", "long/".repeat(20));
    refused(prepared(&long), &["longer than", "BAY_RUNTIME_DIR"]);
    let new_proc = ["--user", "--map-root-user", "--mount", "--pid", "--fork", "--kill-child"];
    let on_proc = |mount: &str| {
        ground.command_in(
            &new_proc,
            &format!("mount -t {mount} none /proc; BAY_RUNTIME_DIR=$PWD/run exec \"$@\""),
            "data",
        )
    };
    refused(on_proc("proc -o subset=pid"), &["/proc/uptime", "subset=pid"]);
    refused(on_proc("tmpfs"), &["/proc"]);
    // As on NFS without a lock service.
    std::thread::scope(|scope| {
        let without_locks = scope.spawn(|| {
            set_no_new_privileges().unwrap();
            let filter = Calls::of(&[&[libc::SYS_flock]]).compile(Action::Fail(libc::ENOLCK), Action::Allow).unwrap();
            filter.put_on().unwrap();
            let mut command = ground.command("data");
            command.current_dir(ground.folder.path());
            refused(command, &["no locks", "--data-dir"]);
        });
        without_locks.join().unwrap();
    });
}

/// A data folder whose name has a blank and an umlaut; no file in it or in `/tmp` may be executed; `TMPDIR` is too long for
/// sockets: the server starts, and its sandboxes work.
#[tokio::test]
async fn odd_places_that_can_work_do() {
    let ground = Ground::new("");
    let folder = ground.folder.path();
    let is_root = rustix::process::geteuid().is_root();
    let namespaces = if is_root { &["--mount"][..] } else { &["--user", "--map-root-user", "--mount"] };
    // A fresh /tmp, and the test's own folder in its place.
    let script = "here=$PWD
        mount -t tmpfs -o noexec,mode=1777 none /tmp
        mkdir -p \"$here\"
        mount --no-canonicalize --bind /proc/self/cwd \"$here\"
        mount -o remount,bind,noexec \"$here\"
        cd \"$here\"
        for place in /tmp/true ./true; do cp /bin/true $place; ! $place 2>/dev/null; done
        exec \"$@\"";
    let (long, data) = (folder.join("long/".repeat(20)), "Mein Ordner ü");
    std::fs::create_dir_all(&long).unwrap();
    std::fs::write(folder.join("plain.yaml"), format!("security:\n  api_key: {}\n", crate::KEY)).unwrap();
    let mut command = ground.command_in(namespaces, script, data);
    command.args(["serve", "--port", "0", "--json", "--config", "plain.yaml"]);
    command.env("TMPDIR", &long).env_remove("XDG_RUNTIME_DIR");
    let served = ground.start(command);
    // A browser becomes another user, and a user namespace of one has none.
    let id = served.create(if is_root { "browser-python" } else { "python-default" }).await;
    assert_eq!(served.shell(&id, "echo kept > file; cat file").await, "kept");
    let code = serde_json::json!({ "code": "open('file').read().strip()" });
    let (status, answer) = served.ask("POST", &format!("/v1/sandboxes/{id}/python/exec"), code).await;
    assert!(status == 200 && answer["output"].as_str().unwrap().contains("kept"), "{status} {answer}");
    if is_root {
        let shot = serde_json::json!({ "commands": ["open data:text/html,<h1>Ahoy</h1>", "screenshot page.png"] });
        let (status, answer) = served.ask("POST", &format!("/v1/sandboxes/{id}/browser/exec_batch"), shot).await;
        assert_eq!((status, &answer["success"]), (200, &serde_json::json!(true)), "{answer}");
    }
    assert!(folder.join(data).is_dir());
    served.close();
}

/// With too few descriptors a server says so and does not start; with few it takes fewer connections, and is well.
#[tokio::test]
async fn descriptors_are_enough_or_the_start_says_so() {
    let ground = Ground::new("");
    let limited = |limit: &str, more: &[&str]| {
        let served = ground.command("data");
        let mut command = Command::new("sh");
        command.args(["-c", "ulimit -n \"$0\" && exec \"$@\"", limit]).arg(served.get_program());
        command.args(["serve", "--port", "0", "--json", "--config"]).arg(&ground.config).args(more);
        for (name, value) in served.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command
    };
    let done = limited("64", &[]).output().unwrap();
    let said = String::from_utf8(done.stderr).unwrap();
    assert!(!done.status.success() && said.contains("64 files") && said.contains("ulimit -n"), "{said}");

    let mut served = ground.start(limited("256", &[]));
    let address = served.url.trim_start_matches("http://").to_owned();
    let mut silent = Vec::new();
    for _ in 0..400 {
        silent.push(tokio::net::TcpStream::connect(&address).await.unwrap());
    }
    for _ in 0..5 {
        let health = reqwest::Client::builder().no_proxy().timeout(crate::PATIENCE).build().unwrap();
        assert_eq!(health.get(format!("{}/health", served.url)).send().await.unwrap().status(), 200);
    }
    let id = served.create("python-default").await;
    assert_eq!(served.shell(&id, "echo 42").await, "42", "there are descriptors for work, too");
    let open = std::fs::read_dir(format!("/proc/{}/fd", served.child.id())).unwrap().count();
    assert!(open < 256, "{open}");
    drop(silent);
    served.signal("TERM");
    assert_eq!(served.wait().code(), Some(0));
}
