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
        import fs from 'fs';
        import path from 'node:path';
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
            missing: told(() => fs.readFileSync('nope.txt')), link: told(() => fs.symlinkSync('a.txt', 'b.txt'))[1],
            outside: told(() => fs.readFileSync('../../etc/passwd'))[0],
        }";
    for engine in ["embedded", "browser", "auto"] {
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
        assert!(got["link"].as_str().unwrap().contains("files and folders only"), "{object}");
        assert_eq!(got["outside"], "ENOENT", "the root of what code sees is its workspace");
        assert_eq!(std::fs::read_to_string(folder.path().join("out/data.json")).unwrap(), "{\"n\":1}");
    }
    let done = cove_in(std::path::Path::new("."), &["run", "-"], "return require('fs').readFileSync('a.txt')");
    assert!(done.code == 1 && done.err.contains("this run has no workspace"), "{done:?}");
}

/// Everything that programs do to files, and what they ask of them, is as in Node: the same program ends alike in Node, in
/// both engines, and in a sandbox.
#[test]
fn fs_does_what_node_does() {
    const PROGRAM: &str = r#"
        const fs = require('fs'), path = require('path');
        const told = (run) => { try { const value = run(); return value === undefined ? 'done' : value } catch (e) { return [e.code, e.message] } };
        const bytes = Buffer.from(Array.from({ length: 300 }, (_, i) => i % 256));
        fs.writeFileSync('bin', bytes);
        fs.appendFileSync('bin', new Uint8Array([1, 2]));
        const answers = [
            Buffer.isBuffer(fs.readFileSync('bin')), fs.readFileSync('bin').equals(Buffer.concat([bytes, Buffer.from([1, 2])])),
            fs.readFileSync('bin', 'base64').slice(-8), fs.readFileSync('bin', 'hex').length, fs.readFileSync('bin', 'latin1').length,
            told(() => fs.writeFileSync('x.json', { a: 1 })), told(() => fs.mkdirSync('d')), told(() => fs.mkdirSync('d')),
            told(() => fs.mkdirSync('d/e/f', { recursive: true })) === 'done', told(() => fs.mkdirSync('d/e/f', { recursive: true })),
            told(() => fs.mkdirSync('no/such')), told(() => fs.writeFileSync('d/e/f/deep.txt', 'deep')), told(() => fs.rmdirSync('d')),
            told(() => fs.rmSync('d')), told(() => fs.unlinkSync('d')), told(() => fs.unlinkSync('nope')), told(() => fs.rmSync('nope')), told(() => fs.rmSync('nope', { force: true })),
            told(() => fs.renameSync('bin', 'd/bin')), fs.existsSync('bin'), told(() => fs.renameSync('bin', 'x')),
            told(() => fs.copyFileSync('d/bin', 'copy')), fs.statSync('copy').size, told(() => fs.copyFileSync('nope', 'x')),
            told(() => fs.copyFileSync('d/bin', 'copy', fs.constants.COPYFILE_EXCL)), told(() => fs.cpSync('d', 'd2', { recursive: true })),
            fs.readdirSync('d2'), fs.readdirSync('d2', { recursive: true }), fs.readdirSync('.').sort(), told(() => fs.readdirSync('copy')), told(() => fs.readFileSync('d')),
            fs.readdirSync('d2', { withFileTypes: true }).map((e) => [e.name, e.isFile(), e.isDirectory(), e.path]),
            told(() => fs.writeFileSync('copy', 'new', { flag: 'wx' })), told(() => fs.writeFileSync('copy', '!', { flag: 'a' })), fs.readFileSync('copy').length,
            told(() => fs.truncateSync('copy', 3)), [...fs.readFileSync('copy')], told(() => fs.chmodSync('copy', 0o755)), (fs.statSync('copy').mode & 0o777).toString(8),
            Math.abs(Date.now() - fs.statSync('copy').mtimeMs) < 600000, fs.statSync('copy').mtime instanceof Date, fs.statSync('copy').isFile(), fs.lstatSync('d').isDirectory(),
            fs.statSync('nope', { throwIfNoEntry: false }) === undefined, told(() => fs.accessSync('nope')), told(() => fs.accessSync('copy')),
            /^tmp-.{6}$/.test(fs.mkdtempSync('tmp-')), told(() => fs.rmSync('d', { recursive: true })), told(() => fs.rmdirSync('d2/e/f/deep.txt')),
            fs.existsSync('d'), fs.existsSync('d2/e/f/deep.txt'), told(() => fs.readFileSync(null)), told(() => fs.readFileSync('copy', 'utf8').length),
        ];
        await fs.promises.writeFile('p.txt', 'promised');
        await fs.promises.rename('p.txt', 'q.txt');
        answers.push(await fs.promises.readFile('q.txt', 'utf8'), await fs.promises.unlink('q.txt').then(() => fs.existsSync('q.txt')));
        answers.push(await fs.promises.stat('q.txt').catch((e) => [e.code, e.syscall, e.path]));
        answers.push(await new Promise((done) => fs.readFile('nope', (error, data) => done([error.code, data === undefined]))));
        const big = 'x'.repeat(9000000) + 'ü';
        fs.writeFileSync('big', big);
        answers.push(fs.statSync('big').size, fs.readFileSync('big', 'utf8') === big);
        return answers;"#;
    let folder = tempfile::tempdir().unwrap();
    let script = format!(
        "process.chdir({:?});(async()=>{{{PROGRAM}}})().then((value)=>process.stdout.write(JSON.stringify(value)))",
        folder.path()
    );
    let node: Value = serde_json::from_slice(&cove_testkit::ask_node(&script, b"")).unwrap();
    for engine in ["embedded", "browser"] {
        let folder = tempfile::tempdir().unwrap();
        let args = ["run", "-", "--workspace", ".", "--engine", engine];
        let done = cove_in(folder.path(), &args, PROGRAM);
        assert_eq!(done.code, 0, "{done:?}");
        let here: Value = serde_json::from_str(&done.out).unwrap();
        for (at, (here, node)) in here.as_array().unwrap().iter().zip(node.as_array().unwrap()).enumerate() {
            assert_eq!(here, node, "{engine}: answer {at}");
        }
    }
}
