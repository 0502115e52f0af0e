//! `/javascript/…`: runs, sessions, pictures and files, inside the walls.

use std::time::{Duration, Instant};

use hyper::Method;
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::{PATIENCE, Sandbox, sandbox, until};

async fn run(sandbox: &Sandbox, code: &str) -> Value {
    sandbox.ok("/javascript/exec", json!({"code": code})).await
}

async fn cell(sandbox: &Sandbox, code: &str) -> Value {
    sandbox.ok("/javascript/exec", json!({"code": code, "session": true})).await
}

#[tokio::test]
async fn a_run_answers_with_all_it_has() {
    let sandbox = sandbox().await;
    let answer = run(&sandbox, "console.log('a'); console.warn('b'); return {six: 6}").await;
    assert_eq!(answer["success"], true, "{answer}");
    assert_eq!(answer["data"]["result"], json!({"six": 6}));
    assert_eq!((&answer["data"]["logs"], &answer["output"]), (&json!("a\nb"), &json!("a\nb\n{\"six\":6}")));
    assert_eq!(answer["data"]["engine"]["name"], "embedded");
    assert!(answer["error"].is_null() && answer["execution_time_ms"].is_u64());
    let body = json!({"code": "return (input.n as number) * 2", "input": {"n": 21}, "engine": "embedded"});
    assert_eq!(sandbox.ok("/javascript/exec", body).await["data"]["result"], 42);
    // What goes wrong is the guest's, and is told with its place.
    let answer = run(&sandbox, "const a = 1;\nreturn a.b.c").await;
    assert_eq!((&answer["success"], &answer["data"]["error"]["line"]), (&json!(false), &json!(2)), "{answer}");
    assert!(answer["error"].as_str().unwrap().contains("TypeError"), "{answer}");
    let begin = Instant::now();
    let answer = sandbox.ok("/javascript/exec", json!({"code": "for (;;) {}", "timeout": 0.3})).await;
    assert_eq!((&answer["success"], &answer["timed_out"]), (&json!(false), &json!(true)), "{answer}");
    assert!(begin.elapsed() < Duration::from_secs(10), "{:?}", begin.elapsed());
    // Wishes that cannot be met.
    for (body, status, code) in [
        (json!({"code": "1", "engine": "chrome"}), 400, "capability_not_supported"),
        (json!({"code": "1", "engine": "browser"}), 400, "capability_not_supported"),
        (json!({"code": "1", "engine": "node"}), 422, "validation_error"),
        (json!({"code": 1}), 422, "validation_error"),
        (json!({"code": "1", "timeout": 0}), 422, "validation_error"),
        (json!({"code": "1", "session": ""}), 422, "validation_error"),
        (json!({"code": "1", "session": "a b"}), 422, "validation_error"),
        (json!({"code": "1", "max_operations": 0}), 422, "validation_error"),
    ] {
        sandbox.refused("/javascript/exec", body, status, code).await;
    }
}

/// Tools read and write the same files as everybody else in here, and lead nowhere else.
#[tokio::test]
async fn files_are_the_workspaces() {
    let sandbox = sandbox().await;
    sandbox.out("printf 'one\\ntwo\\n' > in.txt").await;
    let code = "const text = (await read({path: 'in.txt'})).content[0].text;
        await write({path: 'out/copy.txt', content: text.toUpperCase()});
        await edit('out/copy.txt', 'TWO', 'three');
        const found = await find({pattern: '*.txt'});
        return [text, JSON.stringify(found), JSON.stringify(await grep({pattern: 'three'})), JSON.stringify(await ls())]";
    let answer = run(&sandbox, code).await;
    assert_eq!(answer["success"], true, "{answer}");
    assert!(answer["data"]["result"][1].as_str().unwrap().contains("out/copy.txt"), "{answer}");
    assert!(answer["data"]["result"][2].as_str().unwrap().contains("three"), "{answer}");
    assert_eq!(sandbox.out("cat out/copy.txt; stat -c %U out/copy.txt").await, "ONE\nthree\nshipyard");
    for path in ["/etc/passwd", "../etc/passwd", "/proc/1/environ"] {
        let body = json!({"code": "return (await read({path: input})).content", "input": path});
        let answer = sandbox.ok("/javascript/exec", body).await;
        assert_eq!(answer["success"], false, "{path}: {answer}");
    }
}

#[tokio::test]
async fn pictures_are_files_of_the_workspace() {
    let sandbox = sandbox().await;
    let draw =
        "const c = getCanvas(40, 20); const x = c.getContext('2d'); x.fillStyle = 'red'; x.fillRect(0, 0, 40, 20);";
    for body in [json!({"code": draw}), json!({"code": draw, "session": "draws"})] {
        let answer = sandbox.ok("/javascript/exec", body.clone()).await;
        let image = answer["data"]["images"][0].as_str().unwrap_or_else(|| panic!("{body}: {answer}")).to_owned();
        assert!(image.starts_with("artifacts/") && image.ends_with(".png"), "{image}");
        let meta = sandbox.out(&format!("cat {}", image.replace(".png", ".meta"))).await;
        let meta: Value = serde_json::from_str(&meta).unwrap();
        assert_eq!((&meta["width"], &meta["height"]), (&json!(40), &json!(20)), "{meta}");
        let download = format!("/fs/download?path={image}");
        let picture = sandbox.ship.send(Method::GET, &download, "", Default::default()).await.unwrap();
        let bytes = http_body_util::BodyExt::collect(picture.into_body()).await.unwrap().to_bytes();
        assert_eq!(&bytes[..8], b"\x89PNG\r\n\x1a\n");
    }
}

#[tokio::test]
async fn sessions_remember_and_can_be_ended() {
    let sandbox = sandbox().await;
    assert_eq!(cell(&sandbox, "let n = 1; n").await["data"]["result"], 1);
    assert_eq!(cell(&sandbox, "n += 41").await["data"]["result"], 42);
    let other = sandbox.ok("/javascript/exec", json!({"code": "typeof n", "session": "other"})).await;
    assert_eq!((&other["data"]["result"], &other["data"]["session"]), (&json!("undefined"), &json!("other")));
    let answer = cell(&sandbox, "final_answer(n)").await;
    assert_eq!((&answer["data"]["is_final_answer"], &answer["data"]["result"]), (&json!(true), &json!(42)));
    // An exception leaves the state; a run that must be killed does not, and says so.
    assert_eq!(cell(&sandbox, "throw new Error('x')").await["state_lost"], false);
    assert_eq!(cell(&sandbox, "n").await["data"]["result"], 42);
    let body = json!({"code": "for (;;) {}", "session": true, "timeout": 0.3});
    let answer = sandbox.ok("/javascript/exec", body).await;
    assert_eq!((&answer["timed_out"], &answer["state_lost"]), (&json!(true), &json!(true)), "{answer}");
    assert_eq!(cell(&sandbox, "typeof n").await["data"]["result"], "undefined");
    assert_eq!(sandbox.ok("/javascript/reset", json!({"session": "other"})).await["ended"], 1);
    assert_eq!(sandbox.ok("/javascript/reset", json!({"all": true})).await["ended"], 1);
    assert_eq!(sandbox.ok("/javascript/reset", json!({})).await["ended"], 0);
    // There is a bound, and it is told.
    for number in 0..9 {
        let body = json!({"code": "1", "session": format!("s{number}")});
        let answer = sandbox.ok("/javascript/exec", body).await;
        assert_eq!(answer["success"], json!(number < 8), "{number}: {answer}");
    }
}

#[tokio::test]
async fn console_lines_come_while_the_code_runs() {
    let sandbox = sandbox().await;
    let mut lines = Vec::new();
    // The second line waits for a file that appears only after the first was heard.
    let code = "console.log('first'); while (!(await ls()).content[0].text.includes('go')) {} console.error('second'); return 7";
    let cargo = sandbox.cargo.path().to_owned();
    let heard = |line: cove_core::LogLine| {
        if line.text == "first" {
            std::fs::write(cargo.join("go"), "").unwrap();
        }
        lines.push((line.level, line.text));
    };
    let (status, answer) = sandbox.ship.javascript(&json!({"code": code}), PATIENCE, heard).await.unwrap();
    assert_eq!((status.as_u16(), &answer["data"]["result"]), (200, &json!(7)), "{answer}");
    let expected = [(cove_core::LogLevel::Log, "first".to_owned()), (cove_core::LogLevel::Error, "second".to_owned())];
    assert_eq!(lines, expected);
    let (status, answer) =
        sandbox.ship.javascript(&json!({"code": "", "engine": "chrome"}), PATIENCE, |_| {}).await.unwrap();
    assert_eq!((status.as_u16(), &answer["error"]["code"]), (400, &json!("capability_not_supported")));
}

/// Nobody waits: the run ends. Somebody kills the engine: the next run has another.
#[tokio::test]
async fn the_room_is_replaced_when_it_is_gone() {
    let sandbox = sandbox().await;
    let room = "ps -eo args | grep -c '[_]_javascript' || true";
    assert_eq!(sandbox.out(room).await, "0");
    let body = json!({"code": "for (;;) {}", "timeout": 600});
    let gone = sandbox.ship.json(Method::POST, "/javascript/exec", Some(&body), Duration::from_secs(2)).await;
    assert!(gone.is_err());
    cell(&sandbox, "let kept = 1").await;
    assert_eq!(sandbox.out(room).await, "1");
    let (_, meta) = sandbox.get("/meta").await;
    let walls = &meta["capabilities"]["javascript"]["walls"];
    for wall in ["seccomp", "landlock-files", "no-new-privileges", "capabilities", "resource-limits"] {
        assert!(walls["active"].as_array().unwrap().contains(&json!(wall)), "{wall}: {walls}");
    }
    sandbox.signal("__javascript", Signal::KILL);
    until("nothing is left of it", || async {
        sandbox.out("pgrep -fc 'cove-w[o]rker|__javas[c]ript' || true").await == "0"
    })
    .await;
    assert_eq!(cell(&sandbox, "typeof kept").await["data"]["result"], "undefined");
    // Stopped instead of killed: it does not answer, so it is ended.
    sandbox.signal("__javascript", Signal::STOP);
    let answer = sandbox.ok("/javascript/exec", json!({"code": "1", "timeout": 0.2})).await;
    assert_eq!((&answer["success"], &answer["state_lost"]), (&json!(false), &json!(true)), "{answer}");
    assert_eq!(run(&sandbox, "return 3").await["data"]["result"], 3);
}
