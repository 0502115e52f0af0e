//! `cove run`: value on standard output, the rest on standard error, one exit code per kind of end.

use serde_json::{Value, json};

use crate::{cove, cove_in};

/// Code in, value out.
#[test]
fn the_value_is_on_standard_output() {
    let check = |args: &[&str], code: &str, expected: Value| {
        let done = cove(&[&["run", "-"], args].concat(), code);
        assert_eq!(done.code, 0, "{code}: {done:?}");
        assert_eq!(serde_json::from_str::<Value>(&done.out).unwrap(), expected, "{code}");
        assert_eq!(done.out.lines().count(), 1, "{code}: a pipe gets one line");
    };
    check(&[], "return 1 + 1", json!(2));
    check(&[], "", json!(null));
    check(&[], "const a = 20\na + 1", json!(21));
    check(&["--input", r#"{"a": [1, "ä"]}"#], "return input", json!({"a": [1, "ä"]}));
    check(&[], "const n: number = 3; return n satisfies number", json!(3));
    check(&["--engine", "embedded"], "return await Promise.resolve('x')", json!("x"));
}

/// A picture that cannot be had fails the run, and it is said whose fault that is; the value is there all the same.
#[test]
fn a_picture_that_cannot_be_had_has_its_exit_code() {
    let draw = |filter: &str| {
        format!("const c = getCanvas(80, 80).getContext('2d'); {filter} c.fillRect(10, 10, 50, 50); return 7")
    };
    // The drawing's own fault.
    for filter in ["c.filter = 'blur(1e9px)';", "c.filter = 'blur(99999999px) blur(99999999px)';"] {
        let done = cove(&["run", "-", "--engine", "embedded", "--memory-mb", "64"], &draw(filter));
        assert_eq!((done.code, done.out.as_str()), (1, "7\n"), "{filter}: {done:?}");
        assert!(done.err.contains("canvas_export_failed"), "{filter}: {done:?}");
    }
    // The host's: pictures cannot be kept where a file stands in the way of their folder.
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("taken"), "").unwrap();
    let done = cove_in(folder.path(), &["run", "-", "--engine", "embedded", "--artifacts", "taken"], &draw(""));
    assert_eq!((done.code, done.out.as_str()), (5, "7\n"), "{done:?}");
    assert!(done.err.contains("canvas_export_failed"), "{done:?}");
}

/// Each kind of end has its number, and says on standard error what happened.
#[test]
fn every_end_has_its_exit_code() {
    let check = |args: &[&str], code: &str, exit: i32, said: &str| {
        let done = cove(&[&["run", "-"], args].concat(), code);
        assert_eq!(done.code, exit, "{code}: {done:?}");
        assert!(done.err.contains(said), "{code}: {said:?} is not in {}", done.err);
        assert_eq!(done.out, "", "{code}: a failed run writes no value");
    };
    check(&[], "throw new TypeError('no')", 1, "TypeError: no");
    check(&[], "let x = ;", 1, "let x = ;");
    check(&[], "return 1n", 1, "non_json_serializable_return");
    check(&["--input", "{"], "", 2, "--input is not JSON");
    check(&["--timeout-ms", "0"], "", 2, "--timeout-ms");
    check(&["--module", "x"], "", 2, "NAME=FILE");
    check(&["--font-dir", "/nowhere"], "", 2, "there is no such folder");
    check(&["--max-operations", "100"], "while (true) {}", 3, "Max operations exceeded (100)");
    check(
        &["--memory-mb", "16"],
        "const a = []; for (;;) a.push('x'.repeat(1000) + a.length)",
        3,
        "Memory limit exceeded",
    );
    check(&[], "import fs from 'fs'", 4, "import");
    check(&[], "import _ from 'lodash'", 4, "There are no packages here");
    check(&[], "await import('fs')", 4, "Import not allowed: fs");
    check(&["--timeout-ms", "50"], "while (true) {}", 124, "timed out after 50ms");
    check(&["--timeout-ms", "50"], "return Array(1e9).join('x')", 124, "timed out after 50ms");
    check(&["--engine", "embedded", "--memory-mb", "3"], "", 2, "--memory-mb");
}

/// What cannot be read is wrong usage, and says what to do about it.
#[test]
fn a_file_that_cannot_be_read_is_wrong_usage() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("parts")).unwrap();
    std::fs::write(folder.path().join("summary.ts"), "return 1").unwrap();
    std::fs::write(folder.path().join("latin.js"), b"return 1\n// caf\xe9").unwrap();
    let check = |args: &[&str], said: &str| {
        let done = cove_in(folder.path(), &[&["run"], args].concat(), "return 1");
        assert_eq!((done.code, done.out.as_str()), (2, ""), "{args:?}: {done:?}");
        assert_eq!(done.err, format!("error: {said}\n"), "{args:?}");
    };
    check(&["nowhere.js"], "nowhere.js: no such file");
    check(&["sumary.ts"], "sumary.ts: no such file; did you mean summary.ts?");
    check(&["./summray.ts"], "./summray.ts: no such file; did you mean ./summary.ts?");
    check(&["parts"], "parts is a folder; name a file in it");
    check(&["latin.js"], "latin.js is not UTF-8 text (line 2)");
    check(&["-", "--input", "@"], "--input @FILE needs the name of a file");
    check(&["-", "--input", "@none.json"], "--input: none.json: no such file");
    check(&["-", "--module", "x=none.js"], "module x: none.js: no such file");
    // A device that never ends is not read for ever.
    let done = cove_in(folder.path(), &["run", "/dev/zero"], "");
    assert!(done.code == 2 && done.err.contains("which is the limit"), "{done:?}");
}

/// A frame says the file's own name, so that an editor can go there; standard input has none.
#[test]
fn frames_name_the_file() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("bad.ts"), "const list: any[] = []\nlist[0].x").unwrap();
    let done = cove_in(folder.path(), &["run", "bad.ts"], "");
    assert!(done.code == 1 && done.err.contains(" --> bad.ts:2:1\n"), "{done:?}");
    let done = cove_in(folder.path(), &["run", "-"], "null.x");
    assert!(done.code == 1 && done.err.contains(" --> code.js:1:1\n"), "{done:?}");
}

/// Whoever reads the output may stop at any time: no panic, no complaint.
#[test]
fn a_closed_pipe_is_no_trouble() {
    use std::process::{Command, Stdio};
    for args in [&["completions", "bash"][..], &["openapi"], &["run", "-"]] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_cove"))
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        // `run` has its code only now: by then nobody listens.
        let _ = std::io::Write::write_all(&mut child.stdin.take().unwrap(), b"return 'x'.repeat(1e6)");
        let output = child.wait_with_output().unwrap();
        assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()), (Some(0), ""), "{args:?}");
    }
}

#[test]
fn console_lines_go_to_standard_error() {
    let done = cove(&["run", "-"], "console.log('one', { a: 1 }); console.error('two'); return 'v'");
    assert_eq!((done.out.as_str(), done.err.as_str()), ("\"v\"\n", "one { a: 1 }\ntwo\n"));
}

/// The object of `--json`, field by field.
#[test]
fn json_prints_one_object() {
    let done =
        cove(&["run", "-", "--json"], "console.log('hi'); let n = 0; for (const x of [1, 2, 3]) n += x; return n");
    let object: Value = serde_json::from_str(&done.out).unwrap();
    assert_eq!((done.code, done.err.as_str()), (0, ""));
    assert_eq!(
        (&object["ok"], &object["result"], &object["images"], &object["logs"]),
        (&json!(true), &json!(6), &json!([]), &json!("hi"))
    );
    assert_eq!(object["engine"]["name"], "embedded");
    assert!(object["usage"]["wall_ms"].as_f64().unwrap() > 0.0);

    let done = cove(&["run", "-", "--json"], "console.log('so far');\nnull.x");
    let object: Value = serde_json::from_str(&done.out).unwrap();
    assert_eq!(done.code, 1);
    assert_eq!(
        (&object["ok"], &object["error"]["error"], &object["error"]["line"]),
        (&json!(false), &json!("js_execution_failed"), &json!(2))
    );
    assert_eq!(
        (&object["effects"], &object["retry"], &object["logs"]),
        (&json!("none"), &json!("safe"), &json!("so far"))
    );
    assert!(object["error"]["frame"].as_str().unwrap().contains("null.x"), "{object}");
}

#[test]
fn modules_come_from_files() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("twice.js"), "export default x => 2 * x\nexport const name = 'twice'").unwrap();
    std::fs::write(folder.path().join("main.js"), "const m = await import('twice'); return [m.default(21), m.name]")
        .unwrap();
    let done = cove_in(folder.path(), &["run", "main.js", "--module", "twice=twice.js"], "");
    assert_eq!((done.code, done.out.as_str()), (0, "[42,\"twice\"]\n"), "{done:?}");
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 2, "a run that draws nothing leaves nothing: {left:?}");
}

/// The README's first command.
#[test]
fn the_first_example_shows_every_wall_holding() {
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/hello.js");
    let done = cove(&["run", example, "--input", r#"{"name": "Ada"}"#], "");
    let value: Value = serde_json::from_str(&done.out).unwrap();
    assert_eq!((&value["hello"], &value["walls_held"]), (&json!("Ada"), &json!("7 of 7")), "{done:?}");
}

/// `fetch` reaches what the command line names, in the engine that the program needs.
#[test]
fn opened_hosts_are_reached() {
    let server = cove_testkit::Site::open("welcome");
    let address = server.address().to_string();
    let code = format!("return await (await fetch('http://{address}/')).text()");
    let closed = cove(&["run", "-"], &code);
    assert!(closed.code == 1 && closed.err.contains("fetch is closed in this session"), "{closed:?}");
    let other = cove(&["run", "-", "--allow-host", "example.com"], &code);
    assert!(
        other.code == 1 && other.err.contains("not on the list of opened hosts (this session has: example.com)"),
        "{other:?}"
    );
    let private = cove(&["run", "-", "--allow-host", &address], &code);
    assert!(private.code == 1 && private.err.contains("private address"), "{private:?}");
    let done = cove(&["run", "-", "--json", "--allow-host", &address, "--allow-private", &address], &code);
    let object: Value = serde_json::from_str(&done.out).unwrap();
    assert_eq!((&object["result"], &object["engine"]["name"]), (&json!("welcome"), &json!("embedded")), "{object}");
    assert_eq!(server.visits(), 1, "only who was let in came");
}

/// Where the host stands on the globe is not the guest's business, in either engine.
#[test]
fn guests_see_utc() {
    let code =
        "const d = new Date(2024, 6, 1); return [d.getTimezoneOffset(), d.toISOString(), new Date(0).getHours()]";
    for engine in ["embedded", "browser"] {
        let folder = tempfile::tempdir().unwrap();
        let zone = [("TZ", "Asia/Kolkata")];
        let done = crate::cove_with(folder.path(), &zone, &["run", "-", "--engine", engine], code);
        let seen: Value = serde_json::from_str(&done.out).unwrap_or_else(|_| panic!("{done:?}"));
        assert_eq!(seen, json!([0, "2024-07-01T00:00:00.000Z", 0]), "{engine}");
    }
}
