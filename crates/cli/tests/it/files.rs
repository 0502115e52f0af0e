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

/// `require('fs')` works on the workspace in every form that programs write, in both engines, and says what to write where
/// it does not.
#[test]
fn programs_may_use_fs_on_their_workspace() {
    let code = r"
        const fs = require('fs'), path = require('node:path');
        const { readFile, writeFile } = require('fs/promises');
        fs.writeFileSync('a.txt', 'one\ntwo\r\n');
        fs.appendFileSync('./a.txt', 'three');
        const big = Array.from({ length: 5000 }, (_, i) => `line ${i} ü`).join('\n') + '\n';
        await writeFile(path.join(__dirname, 'deep/er', 'big.txt'), big);
        fs.mkdirSync('out', { recursive: true });
        fs.writeFileSync('out/data.json', JSON.stringify({ n: 1 }));
        const told = (run) => { try { run(); return 'nothing' } catch (e) { return [e.code, e.message] } };
        const back = await new Promise((done) => fs.readFile('a.txt', 'utf8', (error, text) => done([error, text])));
        const { readdir } = await import('node:fs/promises');
        return {
            text: fs.readFileSync('/workspace/a.txt', 'utf8'), back,
            same: (await readFile('deep/er/big.txt', { encoding: 'utf-8' })) === big,
            bytes: fs.readFileSync('a.txt').length, json: JSON.parse(fs.readFileSync('out/data.json')).n,
            list: await readdir('.'), deep: fs.readdirSync('.', { recursive: true }).length,
            folders: fs.readdirSync('.', { withFileTypes: true }).filter((e) => e.isDirectory()).map((e) => e.name),
            stat: [fs.statSync('a.txt').isFile(), fs.statSync('a.txt').size, fs.statSync('deep').isDirectory()],
            exists: [fs.existsSync('a.txt'), fs.existsSync('nope/x'), fs.existsSync('out')],
            missing: told(() => fs.readFileSync('nope.txt')), rm: told(() => fs.unlinkSync('a.txt'))[1],
            outside: told(() => fs.readFileSync('../../etc/passwd'))[0],
        }";
    for engine in ["embedded", "browser"] {
        let folder = tempfile::tempdir().unwrap();
        let done = cove_in(folder.path(), &["run", "-", "--workspace", ".", "--json", "--engine", engine], code);
        let object: Value = serde_json::from_str(&done.out).unwrap_or_else(|_| panic!("{done:?}"));
        let got = &object["result"];
        assert_eq!((done.code, &got["text"]), (0, &json!("one\ntwo\r\nthree")), "{engine}: {object}");
        assert_eq!(got["back"], json!([null, "one\ntwo\r\nthree"]));
        assert_eq!(
            (&got["same"], &got["bytes"], &got["json"]),
            (&json!(true), &json!(14), &json!(1)),
            "{engine}: {object}"
        );
        assert_eq!(got["list"], json!(["a.txt", "deep", "out"]));
        assert_eq!((&got["deep"], &got["folders"]), (&json!(6), &json!(["deep", "out"])), "{engine}: {object}");
        assert_eq!(got["stat"], json!([true, 14, true]));
        assert_eq!(got["exists"], json!([true, false, true]));
        assert_eq!(got["missing"], json!(["ENOENT", "ENOENT: no such file or directory, open 'nope.txt'"]));
        assert!(got["rm"].as_str().unwrap().contains("use the shell"), "{object}");
        assert_eq!(got["outside"], "ENOENT", "the root of what code sees is its workspace");
        assert_eq!(std::fs::read_to_string(folder.path().join("out/data.json")).unwrap(), "{\"n\":1}");
    }
    let done = cove_in(std::path::Path::new("."), &["run", "-"], "return require('fs').readFileSync('a.txt')");
    assert!(done.code == 1 && done.err.contains("this run has no workspace"), "{done:?}");
}
