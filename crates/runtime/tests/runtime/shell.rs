//! `/shell/…`: commands, their trees, and those left running.

use std::time::{Duration, Instant};

use hyper::Method;
use serde_json::{Value, json};

use crate::support::{Sandbox, sandbox, sandbox_with, until};

#[tokio::test]
async fn the_world_inside_is_the_promised_one() {
    let sandbox = sandbox_with(|options| options.env.push(("GREETING".to_owned(), "a:b=c d".to_owned()))).await;
    for (command, expected) in [
        ("whoami", "shipyard"),
        ("id -u; id -g", "1000\n1000"),
        ("pwd", "/workspace"),
        ("echo $HOME $USER $SHELL", "/workspace shipyard /bin/bash"),
        ("echo $GREETING", "a:b=c d"),
        ("python3 -c 'import os; print(os.environ[\"GREETING\"])'", "a:b=c d"),
        ("hostname", "cove"),
        ("getent passwd shipyard | cut -d: -f6", "/workspace"),
        ("echo hi > /workspace/x && cat x && stat -c %U x", "hi\nshipyard"),
        ("echo t > /tmp/t && cat /tmp/t", "t"),
        ("grep -c ^ID= /etc/os-release", "1"),
        ("ls -A /sys /run /opt /mnt | grep -v : | xargs", ""),
        ("ls -A /home; readlink -f /home/user", "user\n/workspace"),
        ("head -2 /workspace/skills/python-sandbox/SKILL.md | tail -1", "name: python-sandbox"),
        ("cat /proc/1/comm", "cove-ship"),
        ("ls -A /var/run/docker.sock /run/docker.sock 2>/dev/null | wc -l", "0"),
        // Ship, bash and what bash runs: nobody else is there.
        ("ls /proc | grep -c '^[0-9]*$' | awk '$1 < 7 {print \"few\"}'", "few"),
        ("cat < /dev/null; head -c 3 /dev/zero | wc -c; test -c /dev/urandom && echo yes", "3\nyes"),
    ] {
        assert_eq!(sandbox.out(command).await, expected, "{command}");
    }
    let inside = "import urllib.request as u
for path in ['health', 'meta']: print(u.urlopen(f'http://127.0.0.1:8123/{path}').read()[:10])";
    assert_eq!(sandbox.python(inside).await["stdout"], "b'{\"status\":'\nb'{\"runtime\"'\n");
    let missing: Vec<_> = sandbox.cell.walls().missing().collect();
    assert!(rustix::process::geteuid().as_raw() != 0 || missing.is_empty(), "{missing:?}");
}

#[tokio::test]
async fn commands_answer_with_all_they_have() {
    let sandbox = sandbox().await;
    for (command, stdout, stderr, code, signal) in [
        ("echo out; echo err >&2; exit 3", "out\n", "err\n", 3, None),
        ("true", "", "", 0, None),
        ("printf 'no newline'", "no newline", "", 0, None),
        ("nonexistent-command 2>/dev/null", "", "", 127, None),
        ("kill -9 $$", "", "", 137, Some(9)),
        ("kill -TERM $$", "", "", 143, Some(15)),
        ("cat; echo end of input", "end of input\n", "", 0, None),
        ("printf '\\xff\\xfeA'", "\u{fffd}\u{fffd}A", "", 0, None),
        ("for i in 1 2 3; do echo $i; done | tac", "3\n2\n1\n", "", 0, None),
        ("(exit 7)", "", "", 7, None),
    ] {
        let answer = sandbox.shell(command).await;
        assert_eq!((&answer["stdout"], &answer["stderr"]), (&json!(stdout), &json!(stderr)), "{command}: {answer}");
        assert_eq!((&answer["return_code"], &answer["signal"]), (&json!(code), &json!(signal)), "{command}: {answer}");
        assert_eq!(answer["success"], json!(code == 0));
        assert_eq!(answer["error"].is_null(), signal.is_none());
        assert_eq!(answer["timed_out"], false);
    }
}

#[tokio::test]
async fn cwd_and_env_are_obeyed_or_refused() {
    let sandbox = sandbox().await;
    sandbox.out("mkdir -p 'a b/c' && touch file && ln -s /etc out && ln -s 'a b' in").await;
    for (cwd, expected) in [
        ("a b/c", "/workspace/a b/c"),
        ("/workspace/a b", "/workspace/a b"),
        (".", "/workspace"),
        ("", "/workspace"),
        ("in/c", "/workspace/a b/c"),
    ] {
        let answer = sandbox.ok("/shell/exec", json!({"command": "pwd -P", "cwd": cwd})).await;
        assert_eq!(answer["stdout"], format!("{expected}\n"), "{cwd}");
    }
    for (cwd, status, code) in [
        ("missing", 404, "file_not_found"),
        ("file", 400, "not_a_directory"),
        ("..", 400, "invalid_path"),
        ("/etc", 400, "invalid_path"),
        ("out", 400, "invalid_path"),
        ("a\0b", 400, "invalid_path"),
    ] {
        sandbox.refused("/shell/exec", json!({"command": "pwd", "cwd": cwd}), status, code).await;
    }
    let body = json!({"command": "echo \"$A|$B|$HOME\"", "env": {"A": "1:2=3", "B": "", "HOME": "/tmp"}});
    assert_eq!(sandbox.ok("/shell/exec", body).await["stdout"], "1:2=3||/tmp\n");
    for wrong in [
        json!({}),
        json!({"command": 1}),
        json!({"command": "a\0b"}),
        json!({"command": "x", "timeout": 0}),
        json!({"command": "x", "timeout": -1}),
        json!({"command": "x", "timeout": 1e9}),
        json!({"command": "x", "env": {"A=B": "1"}}),
        json!({"command": "x", "env": {"A": 1}}),
    ] {
        sandbox.refused("/shell/exec", wrong, 422, "validation_error").await;
    }
}

/// How many processes with this command line there are inside.
async fn count(sandbox: &Sandbox, pattern: &str) -> u32 {
    // The brackets keep the search from finding itself.
    let command = format!("ps -eo args | grep -c '[s]leep {pattern}' || true");
    sandbox.out(&command).await.parse().unwrap()
}

/// Whatever a command does to hide its children, its time-out ends them all and keeps what was said.
#[tokio::test]
async fn a_time_out_ends_the_whole_tree() {
    let sandbox = sandbox().await;
    let double_fork = "import os,time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execvp('sleep', ['sleep', '900'])
    os._exit(0)
os.wait(); time.sleep(900)";
    for command in [
        "sleep 900".to_owned(),
        "sleep 900 & sleep 900 & wait".to_owned(),
        "(sleep 900 &); sleep 900".to_owned(),
        "setsid sleep 900 & wait".to_owned(),
        "nohup setsid sleep 900 > /dev/null 2>&1 & sleep 900".to_owned(),
        "trap '' TERM INT HUP QUIT; sleep 900; sleep 900".to_owned(),
        format!("python3 -c \"{double_fork}\""),
        "bash -c 'bash -c \"sleep 900; :\"; :'; :".to_owned(),
        "while true; do sleep 900 & done".to_owned(),
        // Its parent is Ship, whom it cannot stop.
        "(setsid sleep 900 &); kill -STOP $PPID; sleep 900".to_owned(),
        // Each forks and goes, so that no look finds two of them in the same place.
        "f() { (sleep 900 & f &) }; f; sleep 900".to_owned(),
    ] {
        let begin = Instant::now();
        let body = json!({"command": format!("echo before; {command}"), "timeout": 0.5});
        let answer = sandbox.ok("/shell/exec", body).await;
        assert!(begin.elapsed() < Duration::from_secs(20), "{command} took {:?}", begin.elapsed());
        assert_eq!((&answer["timed_out"], &answer["success"]), (&json!(true), &json!(false)), "{command}: {answer}");
        assert_eq!(answer["return_code"], -1);
        assert!(answer["stdout"].as_str().unwrap().starts_with("before\n"), "{command}: {answer}");
        assert!(answer["error"].as_str().unwrap().contains("timed out after 0.5s"), "{answer}");
        assert_eq!(count(&sandbox, "900").await, 0, "{command}");
    }
}

#[tokio::test]
async fn what_a_command_leaves_running_goes_on() {
    let sandbox = sandbox().await;
    // The first holds the output pipe, the second does not; neither keeps the answer back, neither dies of it.
    for (command, name) in [("sleep 901 & echo up", "901"), ("nohup sleep 902 >/dev/null 2>&1 & echo up", "902")] {
        assert_eq!(sandbox.out(command).await, "up");
        assert_eq!(count(&sandbox, name).await, 1, "{command}");
    }
    sandbox.out("(while true; do echo tick; sleep 0.01; done) & echo $! > pid").await;
    // It would die of a broken pipe at its next line; that it does not has no event.
    sandbox.out("sleep 0.3; kill -0 $(cat pid)").await;
}

#[tokio::test]
async fn output_is_bounded_with_head_and_tail() {
    let sandbox = sandbox().await;
    let answer = sandbox.shell("seq 1 300000; seq 1 300000 >&2").await;
    for stream in ["stdout", "stderr"] {
        let text = answer[stream].as_str().unwrap();
        assert!(text.len() < 300 << 10, "{}", text.len());
        assert!(text.starts_with("1\n2\n3\n") && text.ends_with("\n300000\n"), "{stream}");
        assert!(text.contains("bytes left out"));
    }
    assert_eq!((&answer["truncated"], &answer["success"]), (&json!(true), &json!(true)));
    let answer = sandbox.ok("/shell/exec", json!({"command": "yes", "timeout": 0.5})).await;
    assert_eq!(answer["timed_out"], true);
    assert!(answer["stdout"].as_str().unwrap().starts_with("y\ny\n"));
}

/// Nobody waits for the answer any more: the command ends.
#[tokio::test]
async fn a_client_that_goes_away_ends_its_command() {
    let sandbox = sandbox().await;
    let body = json!({"command": "sleep 903", "timeout": 600});
    let gone = sandbox.ship.json(Method::POST, "/shell/exec", Some(&body), Duration::from_millis(300)).await;
    assert!(gone.is_err());
    until("the command has ended", || async { count(&sandbox, "903").await == 0 }).await;
}

/// Guests may kill whatever is theirs; Ship goes on.
#[tokio::test]
async fn ship_survives_what_guests_kill() {
    let sandbox = sandbox().await;
    sandbox.python("x = 1").await;
    let answer = sandbox.shell("kill -9 $PPID; kill -STOP $PPID; kill -9 $$").await;
    assert_eq!((&answer["return_code"], &answer["signal"]), (&json!(137), &json!(9)), "{answer}");
    for command in ["kill -9 1", "kill -STOP 1", "kill -TERM 1", "kill -INT 1", "kill -9 -1"] {
        sandbox.shell(command).await;
        assert_eq!(sandbox.out("echo alive").await, "alive", "after {command}");
    }
    let answer = sandbox.python("x").await;
    assert_eq!(answer["state_lost"], true, "{answer}");
}

async fn job(sandbox: &Sandbox, body: Value) -> String {
    let mut body = body;
    body["background"] = true.into();
    let answer = sandbox.ok("/shell/exec", body).await;
    assert_eq!((&answer["success"], &answer["return_code"]), (&json!(true), &json!(0)), "{answer}");
    assert!(answer["pid"].as_i64().is_some_and(|pid| pid > 1));
    answer["process_id"].as_str().unwrap().to_owned()
}

async fn ended(sandbox: &Sandbox, id: &str) -> Value {
    until("the job has ended", || async { sandbox.get(&format!("/shell/processes/{id}")).await.1["running"] == false })
        .await;
    sandbox.get(&format!("/shell/processes/{id}")).await.1
}

#[tokio::test]
async fn background_processes_are_listed_read_and_ended() {
    let sandbox = sandbox().await;
    let quick = job(&sandbox, json!({"command": "echo done; echo oops >&2; exit 4"})).await;
    let slow = job(&sandbox, json!({"command": "echo up; (setsid sleep 906 &); sleep 907"})).await;
    let timed = job(&sandbox, json!({"command": "echo t; sleep 908", "timeout": 0.3})).await;

    let answer = ended(&sandbox, &quick).await;
    assert_eq!((&answer["stdout"], &answer["stderr"]), (&json!("done\n"), &json!("oops\n")));
    assert_eq!((&answer["return_code"], &answer["status"]), (&json!(4), &json!("failed")));
    let answer = ended(&sandbox, &timed).await;
    assert_eq!((&answer["status"], &answer["stdout"]), (&json!("timed_out"), &json!("t\n")), "{answer}");

    let (_, list) = sandbox.get("/shell/processes").await;
    let list = list["processes"].as_array().unwrap();
    assert_eq!(list.len(), 3);
    assert_eq!((&list[1]["process_id"], &list[1]["status"]), (&json!(slow), &json!("running")));
    until("there is output", || async { sandbox.get(&format!("/shell/processes/{slow}")).await.1["stdout"] == "up\n" })
        .await;
    let answer = sandbox.ok(&format!("/shell/processes/{slow}/kill"), json!({})).await;
    assert_eq!((&answer["status"], &answer["signal"]), (&json!("killed"), &json!(9)), "{answer}");
    assert_eq!(count(&sandbox, "90").await, 0);
    // Ending what has ended changes nothing.
    let again = sandbox.ok(&format!("/shell/processes/{slow}/kill"), json!({})).await;
    assert_eq!(again["status"], "killed");
    sandbox.refused("/shell/processes/nobody/kill", json!({}), 404, "not_found").await;
    assert_eq!(sandbox.get("/shell/processes/nobody").await.0, 404);
}
