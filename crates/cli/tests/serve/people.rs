//! `cove sandbox`, as people use it.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::Stdio;

use serde_json::Value;

use crate::{Ground, KEY};

struct Done {
    code: i32,
    out: String,
    err: String,
}

fn run(ground: &Ground, args: &[&str], input: &str) -> Done {
    let mut child = ground.command("data");
    child.arg("sandbox").args(args).env("COVE_KEY", KEY);
    let mut child = child.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let done = child.wait_with_output().unwrap();
    Done {
        code: done.status.code().unwrap_or(-1),
        out: String::from_utf8(done.stdout).unwrap(),
        err: String::from_utf8(done.stderr).unwrap(),
    }
}

#[test]
fn people_make_use_and_delete_sandboxes() {
    let ground = Ground::new("");
    let served = ground.serve("data", &[]);
    let made = run(&ground, &["create", "--ttl", "1h"], "");
    let id = made.out.trim().to_owned();
    assert!(made.code == 0 && id.starts_with("sandbox-") && id.len() == 20, "{} {}", made.out, made.err);
    let id = id.as_str();
    let check = |args: &[&str], input: &str, code: i32, out: &str, err: &str| {
        let done = run(&ground, args, input);
        assert_eq!(done.code, code, "{args:?}: {} {}", done.out, done.err);
        assert!(done.out.contains(out), "{args:?}: {out:?} is not in {:?}", done.out);
        assert!(done.err.contains(err), "{args:?}: {err:?} is not in {:?}", done.err);
    };
    check(&["exec", id, "--", "echo", "a b"], "", 0, "a b\n", "");
    check(&["exec", id, "-c", "echo $((6 * 7))"], "", 0, "42\n", "");
    check(&["exec", id, "--", "false"], "", 1, "", "exit code 1");
    check(&["exec", id, "--python", "-c", "print(6 * 7)"], "", 0, "42\n", "");
    check(&["exec", id, "--python", "-"], "print('from input')", 0, "from input\n", "");
    check(&["exec", id, "--js", "-c", "return 6 * 7"], "", 0, "42", "");
    check(&["exec", id, "--js", "-c", "throw new Error('no')"], "", 1, "", "no");
    check(&["exec", id, "--browser", "get url"], "", 4, "", "capability_not_supported");
    check(&["exec", id], "", 2, "", "nothing to run");
    check(&["cp", "-", &format!("{id}:in/a.txt")], "hello", 0, "", "5 bytes");
    check(&["cp", &format!("{id}:in/a.txt"), "-"], "", 0, "hello", "");
    std::fs::write(ground.folder.path().join("script.py"), "print('guessed')").unwrap();
    check(&["exec", id, "script.py"], "", 0, "guessed\n", "");
    check(&["cp", "script.py", &format!("{id}:")], "", 0, "", "16 bytes");
    check(&["cp", &format!("{id}:script.py"), "back.py"], "", 0, "", "16 bytes");
    assert_eq!(std::fs::read_to_string(ground.folder.path().join("back.py")).unwrap(), "print('guessed')");
    check(&["cp", "a", "b"], "", 5, "", "ID:PATH");
    // Folders, both ways; links stay where they are. A file that cannot be had leaves nothing half.
    let tree = ground.folder.path().join("tree/inner");
    std::fs::create_dir_all(&tree).unwrap();
    std::fs::write(tree.join("a.bin"), [0, 159, 146, 150]).unwrap();
    std::fs::write(tree.join("../b.txt"), "b").unwrap();
    std::os::unix::fs::symlink("/etc/passwd", tree.join("link")).unwrap();
    check(&["cp", "tree", &format!("{id}:")], "", 0, "", "2 files, 5 bytes");
    check(&["cp", "tree", &format!("{id}:again")], "", 0, "", "1 links or special files were left out");
    check(
        &["exec", id, "-c", "ln -s /etc tree/out; find tree again -type f | sort"],
        "",
        0,
        "again/b.txt\nagain/inner/a.bin\ntree/b.txt\ntree/inner/a.bin\n",
        "",
    );
    check(&["cp", &format!("{id}:tree"), "here"], "", 0, "", "2 files, 5 bytes to here");
    assert_eq!(std::fs::read(ground.folder.path().join("here/inner/a.bin")).unwrap(), [0, 159, 146, 150]);
    assert!(!ground.folder.path().join("here/out").exists());
    check(&["cp", &format!("{id}:nothing"), "nothing"], "", 1, "", "file_not_found");
    check(&["cp", &format!("{id}:script.py"), "/nowhere/script.py"], "", 5, "", "/nowhere/script.py");
    assert!(!ground.folder.path().join("nothing").exists());
    // What was probably meant.
    check(&["get", &id[..id.len() - 1]], "", 1, "", &format!("did you mean {id}?"));
    check(&["create", "--profile", "python-defalt"], "", 2, "", "there are python-default, browser-python, javascript");
    // Who has read enough closes the pipe, and that is no error.
    let mut long = ground.command("data");
    long.args(["sandbox", "exec", id, "--", "seq", "1", "200000"]).env("COVE_KEY", KEY);
    let mut long = long.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(long.stdout.take());
    let long = long.wait_with_output().unwrap();
    assert_eq!((long.status.code(), String::from_utf8_lossy(&long.stderr).as_ref()), (Some(0), ""));
    check(&["list"], "", 0, id, "");
    check(&["get", id], "", 0, "python-default", "");
    check(&["logs", id], "", 0, "print(6 * 7)", "");
    let list: Value = serde_json::from_str(&run(&ground, &["list", "--json"], "").out).unwrap();
    assert_eq!(list[0]["id"], id);
    check(&["stop", id], "", 0, "", "");
    check(&["rm", "sandbox-000000000000", id], "", 1, "", "sandbox-000000000000");
    check(&["rm", id], "", 0, "", "");
    check(&["get", id], "", 1, "", "not_found");
    check(&["get", id, "--key", "wrong"], "", 4, "", "COVE_KEY");
    check(&["list"], "", 0, "", "no sandbox");
    served.close();
    check(&["list"], "", 5, "", "cove serve");
}

/// What Python and commands write is printed as it comes, each stream to its own, and nothing twice.
#[test]
fn output_is_printed_as_it_comes() {
    let ground = Ground::new("");
    let served = ground.serve("data", &[]);
    let made = run(&ground, &["create"], "");
    let id = made.out.trim();
    let command = "echo one; echo two >&2; until [ -e go ]; do sleep 0.05; done; rm go; printf three";
    let code = "import os, sys, time\nprint('one')\nprint('two', file=sys.stderr)\n\
                while not os.path.exists('go'): time.sleep(0.05)\nos.remove('go'); print('three')";
    for args in [&["-c", command][..], &["--python", "-c", code]] {
        let mut command = ground.command("data");
        command.args(["sandbox", "exec", id]).args(args).env("COVE_KEY", KEY);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap());
        let mut said = String::new();
        lines.read_line(&mut said).unwrap();
        assert_eq!(said, "one\n", "before it has ended: it waits for the file");
        assert_eq!(run(&ground, &["exec", id, "--", "touch", "go"], "").code, 0);
        lines.read_to_string(&mut said).unwrap();
        let done = child.wait_with_output().unwrap();
        assert_eq!((done.status.code(), said.as_str()), (Some(0), "one\nthree\n"));
        assert_eq!(String::from_utf8(done.stderr).unwrap(), "two\n");
    }
    // A failure's words are not said twice either; what could not be told in time comes at the end.
    let failed = run(&ground, &["exec", id, "-c", "echo out; echo err >&2; exit 3"], "");
    assert_eq!(
        (failed.code, failed.out.as_str(), failed.err.matches("err").count()),
        (1, "out\n", 1),
        "{}",
        failed.err
    );
    let much = run(&ground, &["exec", id, "-c", "head -c 9000000 /dev/zero | tr '\\0' x"], "");
    assert!(much.code == 0 && much.out.contains("bytes left out"), "{}", much.out.len());
    served.close();
}
