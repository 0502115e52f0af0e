//! Beyond the matrix: the rest of what the contract says, and what the tools promise besides.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

use cove_core::{FS_TOOL, ToolCall};
use cove_files::{FileTool, Stop, Workspace, tool_specs};
use serde_json::{Value, json};

struct Room {
    dir: tempfile::TempDir,
    workspace: Workspace,
}

impl Room {
    fn new(files: &[(&str, &str)]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        for (path, content) in files {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content).unwrap();
        }
        let workspace = Workspace::open(dir.path()).unwrap();
        Self { dir, workspace }
    }

    fn path(&self) -> &Path {
        self.dir.path()
    }

    /// The text of the answer, or `code: message`.
    fn call(&self, tool: &str, args: Value) -> String {
        match self.workspace.call(FileTool::from_name(tool).unwrap(), args, &Stop::default()) {
            Ok(result) => result.first_text().to_owned(),
            Err(error) => format!("{}: {}", error.code, error.message),
        }
    }

    fn content(&self, path: &str) -> String {
        std::fs::read_to_string(self.path().join(path)).unwrap()
    }
}

/// One file, one edit: what the file holds then, or what is refused.
fn check_edit(content: &str, old: &str, new: &str, expected: Result<&str, &str>) {
    let room = Room::new(&[("f", content)]);
    let answer = room.call("edit", json!({"path": "f", "oldText": old, "newText": new}));
    match expected {
        Ok(after) => {
            assert_eq!(answer, "Successfully replaced text in f.", "{old:?}");
            assert_eq!(room.content("f"), after);
        }
        Err(code) => {
            assert!(answer.starts_with(code), "{old:?}: {answer}");
            assert_eq!(room.content("f"), content);
        }
    }
}

#[test]
fn fuzzy_means_nfkc_but_not_indentation() {
    check_edit("f（ａ，ｂ）＝ＡＢＣ１２３", "(a,b)=ABC123", "()", Ok("f()"));
    check_edit("un cafe\u{301}!", "café!", "thé", Ok("un thé"));
    check_edit("un café!", "cafe\u{301}!", "thé", Ok("un thé"));
    check_edit("\tif “x”:\n", "    if \"x\":\n", "", Err("text_not_found"));
    check_edit("\u{a0}\u{a0}if “x”\n", "  if \"x\"\n", "", Err("text_not_found"));
    check_edit("  if “x”\n", "  if \"x\"\n", "  pass\n", Ok("  pass\n"));
    check_edit("same\n", "same\n", "same\n", Err("no_change: No changes made to f. "));
    check_edit("a", "", "b", Err("invalid_args"));
    check_edit("aaa", "aa", "b", Err("not_unique"));
    check_edit("", "a", "b", Err("text_not_found"));
}

#[test]
fn several_edits_are_made_all_or_not_at_all() {
    let room = Room::new(&[("f", "one\ntwo\nthree\n")]);
    let edit = |edits: Value| room.call("edit", json!({"path": "f", "edits": edits}));
    let bad = edit(json!([{"oldText": "one", "newText": "1"}, {"oldText": "four", "newText": "4"}]));
    assert!(bad.starts_with("text_not_found: edits[1]: Could not find the exact text in f."), "{bad}");
    let bad = edit(json!([{"oldText": "one\ntwo", "newText": "1"}, {"oldText": "two\nthree", "newText": "2"}]));
    assert_eq!(bad, "overlapping_edits: edits[0] and edits[1] overlap in f. Merge them into one edit.");
    assert_eq!(room.content("f"), "one\ntwo\nthree\n");
    // The second text is looked for in the file as it was, not in what the first edit made of it.
    let good = edit(json!([{"oldText": "three", "newText": "one"}, {"oldText": "one", "newText": "three"}]));
    assert_eq!(good, "Successfully replaced 2 texts in f.");
    assert_eq!(room.content("f"), "three\ntwo\none\n");
    let both = room.call(
        "edit",
        json!({"path": "f", "oldText": "a", "newText": "b", "edits": [{"oldText": "a", "newText": "b"}]}),
    );
    assert!(both.starts_with("invalid_args: edit: give either"), "{both}");
    assert!(room.call("edit", json!({"path": "f", "oldText": "a"})).contains("`newText` is missing"));
    assert!(
        room.call("edit", json!({"path": "g", "oldText": "a", "newText": "b"})).contains("File not found: g (ENOENT)")
    );
}

#[test]
fn long_lines_binaries_and_empty_files() {
    let room = Room::new(&[
        ("long.txt", &format!("short\n{}\nend", "x".repeat(60_000))),
        ("empty", ""),
        ("bom", "\u{feff}a\r\n"),
    ]);
    std::fs::write(room.path().join("bin"), [b"\x7fELF\0\0".as_slice(), &[0; 2994]].concat()).unwrap();
    std::fs::write(room.path().join("latin"), b"caf\xe9 au lait et croissant").unwrap();
    assert_eq!(
        room.call("read", json!({"path": "long.txt", "offset": 2})),
        "[Line 2 is 58.6KB, exceeds 50.0KB limit. Use grep, or read with offset, or run code on the file.]"
    );
    assert_eq!(
        room.call("read", json!({"path": "long.txt"})),
        "short\n\n[Showing lines 1-1 of 3 (50.0KB limit). Use offset=2 to continue.]"
    );
    assert_eq!(room.call("read", json!({"path": "long.txt", "offset": 3})), "end");
    assert_eq!(room.call("read", json!({"path": "bin"})), "Read binary file (2.9KB)");
    assert_eq!(room.call("read", json!({"path": "latin"})), "caf\u{fffd} au lait et croissant");
    assert_eq!(room.call("read", json!({"path": "empty"})), "");
    assert_eq!(room.call("read", json!({"path": "bom"})), "\u{feff}a\r\n");
    assert!(room.call("read", json!({"path": "empty", "offset": 2})).starts_with("offset_beyond_end"));
    assert_eq!(room.call("read", json!({"path": "empty", "offset": 0})), "");
}

#[test]
fn images_that_are_too_large_are_named_not_shown() {
    let room = Room::new(&[]);
    for (name, magic, mime) in [
        ("a", &b"\x89PNG\r\n\x1a\n"[..], "image/png"),
        ("b", b"\xff\xd8\xff\xe0", "image/jpeg"),
        ("c", b"GIF89a", "image/gif"),
        ("d", b"RIFF\x10\0\0\0WEBP", "image/webp"),
    ] {
        std::fs::write(room.path().join(name), magic).unwrap();
        assert_eq!(room.call("read", json!({"path": name})), format!("Read image file [{mime}]"));
        std::fs::OpenOptions::new().write(true).open(room.path().join(name)).unwrap().set_len(11 << 20).unwrap();
        let text = room.call("read", json!({"path": name}));
        assert_eq!(text, format!("Read image file [{mime}] (11.0MB, not shown: over 10.0MB)"));
    }
}

#[test]
fn paths_are_what_people_mean() {
    let room = Room::new(&[("a b.txt", "plain"), ("sub/Screenshot at 10.00\u{202f}AM.txt", "narrow")]);
    for path in
        ["a b.txt", "a\u{a0}b.txt", "@a b.txt", "/workspace/a b.txt", "./sub/../a b.txt", "sub//../a\u{3000}b.txt"]
    {
        assert_eq!(room.call("read", json!({"path": path})), "plain", "{path}");
    }
    for path in ["sub/Screenshot at 10.00\u{202f}AM.txt", "sub/Screenshot at 10.00 AM.txt"] {
        assert_eq!(room.call("read", json!({"path": path})), "narrow", "{path}");
    }
    room.call("edit", json!({"path": "sub/Screenshot at 10.00 AM.txt", "oldText": "narrow", "newText": "wide"}));
    assert_eq!(room.content("sub/Screenshot at 10.00\u{202f}AM.txt"), "wide");
    assert_eq!(
        room.call("write", json!({"path": "n\u{a0}w.txt", "content": ""})),
        "Successfully wrote 0 bytes to n\u{a0}w.txt"
    );
    assert_eq!(room.content("n w.txt"), "");
    assert!(room.call("write", json!({"path": "folder/", "content": ""})).starts_with("invalid_path"));
    assert!(room.call("write", json!({"path": "", "content": ""})).starts_with("invalid_path"));
    assert!(room.call("write", json!({"path": "a b.txt/x", "content": ""})).starts_with("not_a_directory"));
    assert!(room.call("read", json!({"path": ""})).starts_with("not_a_file"));
}

#[test]
fn a_written_file_keeps_its_mode() {
    let room = Room::new(&[("run.sh", "#!/bin/sh\n"), ("secret", "x")]);
    let set = |path: &str, mode| {
        std::fs::set_permissions(room.path().join(path), std::fs::Permissions::from_mode(mode)).unwrap();
    };
    let mode = |path: &str| std::fs::metadata(room.path().join(path)).unwrap().permissions().mode() & 0o7777;
    set("run.sh", 0o755);
    set("secret", 0o600);
    room.call("write", json!({"path": "run.sh", "content": "#!/bin/sh\necho\n"}));
    room.call("edit", json!({"path": "secret", "oldText": "x", "newText": "y"}));
    assert_eq!((mode("run.sh"), mode("secret")), (0o755, 0o600));
}

/// UTF-16 is read as text, in lines like any other, and not edited as if it were UTF-8.
#[test]
fn two_byte_text_is_read_and_not_edited() {
    let room = Room::new(&[]);
    let text: String = (1..=2500).map(|line| format!("Zeile {line} – ä😀\r\n")).collect();
    for (name, mark, order) in
        [("le", [0xff, 0xfe], u16::to_le_bytes as fn(u16) -> [u8; 2]), ("be", [0xfe, 0xff], u16::to_be_bytes)]
    {
        let bytes: Vec<u8> = mark.into_iter().chain(text.encode_utf16().flat_map(order)).collect();
        std::fs::write(room.path().join(name), &bytes).unwrap();
        assert_eq!(room.call("read", json!({"path": name, "offset": 2500})), "Zeile 2500 – ä😀\r\n",);
        assert!(
            room.call("read", json!({"path": name}))
                .ends_with("Zeile 2000 – ä😀\r\n\n[Showing lines 1-2000 of 2501. Use offset=2001 to continue.]"),
        );
        assert_eq!(
            room.call("grep", json!({"pattern": "Zeile 7 – ä", "path": name})),
            format!("{name}:7: Zeile 7 – ä😀")
        );
        let refused = room.call("edit", json!({"path": name, "oldText": "1", "newText": "é"}));
        assert!(refused.starts_with("not_utf8: "), "{refused}");
        assert_eq!(std::fs::read(room.path().join(name)).unwrap(), bytes);
    }
}

#[test]
fn grep_says_what_it_left_out() {
    let room = Room::new(&[
        ("b/two.rs", "fn main() {}\nlet x = 1;\nfn other() {}\n"),
        ("a.rs", "// fn main\r\n"),
        ("a-z.txt", "Fn Main\n"),
        ("skip/x.rs", "fn main\n"),
        ("skip/keep.rs", "fn main\n"),
        (".gitignore", "skip/*\n!keep.rs\n*.log\n"),
        ("x.log", "fn main\n"),
        ("b/.gitignore", "/local.rs\n"),
        ("b/local.rs", "fn main\n"),
        ("c/local.rs", "fn main\n"),
        ("wide.js", &format!("let needle = '{}';\n", "é".repeat(600))),
    ]);
    std::fs::write(room.path().join("bin.rs"), b"fn main\n\0").unwrap();
    assert_eq!(
        room.call("grep", json!({"pattern": "fn main"})),
        "a.rs:1: // fn main\nb/two.rs:1: fn main() {}\nc/local.rs:1: fn main\nskip/keep.rs:1: fn main"
    );
    assert_eq!(
        room.call("grep", json!({"pattern": "FN MAIN", "ignoreCase": true, "glob": "*.txt"})),
        "a-z.txt:1: Fn Main"
    );
    assert_eq!(room.call("grep", json!({"pattern": "main()", "literal": true})), "b/two.rs:1: fn main() {}");
    assert_eq!(room.call("grep", json!({"pattern": "fn", "path": "b", "glob": "!two.rs"})), "No matches found");
    assert_eq!(room.call("grep", json!({"pattern": "fn", "path": "b/local.rs"})), "b/local.rs:1: fn main");
    assert_eq!(
        room.call("grep", json!({"pattern": "fn", "path": "/workspace/b", "context": 1})),
        "b/two.rs:1: fn main() {}\nb/two.rs-2- let x = 1;\nb/two.rs:3: fn other() {}"
    );
    assert_eq!(
        room.call("grep", json!({"pattern": "fn main", "limit": 2})),
        "a.rs:1: // fn main\nb/two.rs:1: fn main() {}\n\n[2 matches limit reached. Use limit=4 for more, or refine pattern]"
    );
    assert_eq!(room.call("grep", json!({"pattern": "^// fn main$"})), "a.rs:1: // fn main");
    // Exactly as many as there are: nothing is left out, so nothing is said.
    assert!(!room.call("grep", json!({"pattern": "fn main", "limit": 4})).contains('['));
    let wide = room.call("grep", json!({"pattern": "needle"}));
    assert!(
        wide.ends_with("é... [truncated]\n\n[Some lines are cut at 500 characters. Use read to see whole lines]"),
        "{wide}"
    );
    assert_eq!(wide.lines().next().unwrap().chars().count(), "wide.js:1: ".len() + 500 + "... [truncated]".len());
    assert_eq!(
        room.call("grep", json!({"pattern": "x", "path": "nowhere"})),
        "file_not_found: Path not found: nowhere"
    );
}

#[test]
fn context_blocks_are_set_apart() {
    let text: String = (1..=20).map(|n| format!("{}{n}\n", if n % 8 == 0 { "hit " } else { "" })).collect();
    let room = Room::new(&[("a", &text), ("b", "hit\n")]);
    assert_eq!(
        room.call("grep", json!({"pattern": "hit", "context": 1})),
        "a-7- 7\na:8: hit 8\na-9- 9\n--\na-15- 15\na:16: hit 16\na-17- 17\n--\nb:1: hit"
    );
}

#[test]
fn answers_stay_below_the_limit_of_bytes() {
    let line = "x".repeat(400);
    let files: Vec<(String, String)> = (0..300).map(|n| (format!("f{n:03}"), format!("{line}\n"))).collect();
    let room = Room::new(&files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect::<Vec<_>>());
    let grep = room.call("grep", json!({"pattern": "x", "limit": 1000}));
    assert!(grep.len() < 52_000 && grep.ends_with("[50.0KB limit reached]"), "{}", &grep[grep.len() - 100..]);
    assert!(grep.starts_with("f000:1: xxx"));
}

#[test]
fn find_knows_names_paths_and_folders() {
    let room = Room::new(&[
        ("src/a.rs", ""),
        ("src/deep/b.rs", ""),
        ("c.rs", ""),
        ("src/node_modules/d.rs", ""),
        ("deep", ""),
    ]);
    assert_eq!(room.call("find", json!({"pattern": "*.rs"})), "c.rs\nsrc/a.rs\nsrc/deep/b.rs");
    assert_eq!(room.call("find", json!({"pattern": "src/*.rs"})), "src/a.rs");
    assert_eq!(room.call("find", json!({"pattern": "deep"})), "deep\nsrc/deep/");
    assert_eq!(room.call("find", json!({"pattern": "*.rs", "path": "src"})), "src/a.rs\nsrc/deep/b.rs");
    assert_eq!(room.call("find", json!({"pattern": "deep/*", "path": "src"})), "src/deep/b.rs");
    assert_eq!(room.call("find", json!({"pattern": "*.rs", "path": "src/node_modules"})), "src/node_modules/d.rs");
    assert_eq!(room.call("find", json!({"pattern": "*", "path": "c.rs"})), "not_a_directory: Not a directory: c.rs");
}

/// The same answer every time, whichever thread is quicker, and with every limit a prefix of the whole.
#[test]
fn searches_answer_in_order() {
    let files: Vec<(String, String)> =
        (0..400).map(|n| (format!("d{}/e{}/f{n}.txt", n % 7, n % 31), format!("match {n}\nmatch again\n"))).collect();
    let room = Room::new(&files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect::<Vec<_>>());
    let lines = |tool: &str, pattern: &str, limit: usize| -> Vec<String> {
        let text = room.call(tool, json!({"pattern": pattern, "limit": limit}));
        text.split("\n\n[").next().unwrap().lines().map(str::to_owned).collect()
    };
    for (tool, pattern, all) in [("find", "*.txt", 400), ("grep", "match", 800)] {
        let whole = lines(tool, pattern, 10_000);
        assert_eq!(whole.len(), all);
        let mut sorted = whole.clone();
        sorted.sort_by_key(|line| line.split(':').next().unwrap().replace('/', "\0"));
        assert_eq!(whole, sorted);
        for limit in [1, 2, 3, 50, 99, 399, all] {
            assert_eq!(lines(tool, pattern, limit), whole[..limit.min(all)], "{tool} with limit {limit}");
        }
    }
}

#[test]
fn tools_are_lenient_about_arguments_and_clear_about_errors() {
    let room = Room::new(&[("a.txt", "one\ntwo\n")]);
    let specs = tool_specs(Arc::new(Workspace::open(room.path()).unwrap()));
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let call = |name: &str, args: Value| {
        let Value::Array(args) = args else { unreachable!() };
        let spec = specs.iter().find(|spec| spec.name == name).unwrap();
        runtime.block_on(spec.tool.call(ToolCall { args }))
    };
    let text = |value: Value| value["content"][0]["text"].as_str().unwrap().to_owned();
    assert_eq!(text(call("read", json!(["a.txt"])).unwrap()), "one\ntwo\n");
    assert_eq!(text(call("readTool", json!(["a.txt", {"offset": 2}])).unwrap()), "two\n");
    assert_eq!(text(call("write", json!(["b.txt", "x"])).unwrap()), "Successfully wrote 1 bytes to b.txt");
    assert_eq!(text(call("edit", json!(["b.txt", "x", "y"])).unwrap()), "Successfully replaced text in b.txt.");
    assert_eq!(text(call("grep", json!(["two", "."])).unwrap()), "a.txt:2: two");
    assert_eq!(text(call("find", json!(["*.txt"])).unwrap()), "a.txt\nb.txt");
    assert_eq!(text(call("ls", json!([])).unwrap()), "a.txt\nb.txt");
    let error = call("read", json!(["../x"])).unwrap_err();
    assert_eq!(error.code.as_deref(), Some("invalid_path"));
    let error = call("read", json!([{"file": "x"}])).unwrap_err();
    assert_eq!(error.message, "read: there is no parameter `file`; known are `path`, `offset`, `limit`");
    // Six tools with three names each, and what `fs` is made of, which no code can name.
    assert_eq!(specs.len(), 19);
    for spec in specs.iter().filter(|spec| spec.name != FS_TOOL) {
        assert!(spec.description.contains("Example: ") && spec.schema.is_some(), "{}", spec.name);
    }
}
