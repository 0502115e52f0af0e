//! `cove files`: the same tools, the same words, by hand.

use serde_json::{Value, json};

use crate::{Done, cove_in};

#[test]
fn the_six_tools_work_by_hand() {
    let folder = tempfile::tempdir().unwrap();
    let files = |args: &[&str], input: &str| -> Done { cove_in(folder.path(), &[&["files"], args].concat(), input) };
    let check = |args: &[&str], input: &str, out: &str| {
        let done = files(args, input);
        assert_eq!((done.code, done.out.as_str(), done.err.as_str()), (0, out, ""), "{args:?}");
    };
    check(&["write", "a/b.txt", "--content", "-"], "one\ntwo\n", "Successfully wrote 8 bytes to a/b.txt\n");
    check(&["read", "a/b.txt", "--limit", "1"], "", "one\n\n[2 more lines in file. Use offset=2 to continue.]\n");
    check(&["edit", "a/b.txt", "--old", "two", "--new", "zwei"], "", "Successfully replaced text in a/b.txt.\n");
    check(&["grep", "ZWEI", "--ignore-case"], "", "a/b.txt:2: zwei\n");
    check(&["find", "*.txt"], "", "a/b.txt\n");
    check(&["ls"], "", "a/\n");
    check(&["ls", "--workspace", "a"], "", "b.txt\n");
}

#[test]
fn a_failure_has_a_code() {
    let folder = tempfile::tempdir().unwrap();
    let done = cove_in(folder.path(), &["files", "read", "../x", "--json"], "");
    let object: Value = serde_json::from_str(&done.out).unwrap();
    assert_eq!((done.code, &object["error"]["code"]), (1, &json!("invalid_path")), "{done:?}");
    let done = cove_in(folder.path(), &["files", "read", "nowhere"], "");
    assert_eq!((done.code, done.out.as_str()), (1, ""));
    assert!(done.err.contains("File not found: nowhere"), "{done:?}");
}

/// `cove run --workspace` gives code the tools, and only that folder.
#[test]
fn code_gets_the_tools_of_its_workspace() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("secret"), "outside").unwrap();
    std::fs::create_dir(folder.path().join("w")).unwrap();
    let code = "await write('a.txt', 'hello'); const r = await readTool({ path: 'a.txt' }); \
                let out; try { await read('../secret') } catch (e) { out = e.message } \
                return [r.content[0].text, out.includes('Invalid path')]";
    let done = cove_in(folder.path(), &["run", "-", "--workspace", "w"], code);
    assert_eq!((done.code, done.out.as_str()), (0, "[\"hello\",true]\n"), "{done:?}");
    assert_eq!(std::fs::read_to_string(folder.path().join("w/a.txt")).unwrap(), "hello");
}
