//! `cove repl`, driven through its standard input.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Command, Stdio};

use cove_testkit::ask_node;

use crate::{Done, cove, cove_in};

/// Texts that the prompt writes are no values.
fn values(done: &Done) -> Vec<&str> {
    done.out.lines().filter(|line| !line.starts_with('>')).collect()
}

#[test]
fn state_is_kept_and_values_are_shown() {
    let done =
        cove(&["repl"], "let a = 20\nconst f = (x: number) => x * 2\na + f(11)\nconsole.log('hi')\n.exit\nnever\n");
    assert_eq!(done.code, 0, "{done:?}");
    assert!(values(&done).contains(&"42"), "{done:?}");
    assert!(done.err.contains("hi") && !done.err.contains("never"), "{done:?}");
}

#[test]
fn an_error_shows_its_frame_and_the_session_goes_on() {
    let done = cove(&["repl"], "let a = 1\na.b.c\na + 1\n");
    assert_eq!(done.code, 0, "{done:?}");
    assert!(done.err.contains("ERR_RUNTIME_EXCEPTION") && done.err.contains("a.b.c"), "{done:?}");
    assert!(values(&done).contains(&"2"), "{done:?}");
}

#[test]
fn a_killed_run_begins_a_new_session() {
    let done = cove(&["repl", "--timeout-ms", "50"], "let a = 1\nwhile (true) {}\ntypeof a\n");
    assert!(done.err.contains("ERR_EXEC_TIMEOUT") && done.err.contains("a new one begins"), "{done:?}");
    assert!(values(&done).contains(&"'undefined'"), "{done:?}");
}

/// One expression a line; none starts with what a statement starts with.
const SHOWN: &[&str] = &[
    "undefined",
    "null",
    "-0",
    "12345678901234567890n",
    "Symbol('s')",
    "'it\\'s'",
    "'two\\nlines'",
    "[1, 'two', [3, [4, [5, [6]]]]]",
    "({ a: 1, 'b-c': { d: { e: { f: 1 } } }, [Symbol('k')]: undefined })",
    "new Map([['a', { n: 1 }], [{ key: true }, new Set([1, 'x'])]])",
    "new Set()",
    "new (class Point { constructor() { this.x = 1; this.y = [2] } })",
    "new (class List extends Array {})",
    "class Empty {}, class Named { static size = 2 }",
    "Array.from({ length: 120 }, (_, i) => i * i)",
    "[1, , 3]",
    "(x) => x",
    "Math.max",
    "/a+/gi",
    "new Date(0)",
    "new Uint8Array([1, 2, 3])",
    "Object.create(null)",
    "Promise.resolve(7).then",
    "[Promise.resolve(7)].length",
    "(() => { const me = { name: 'me' }; me.self = me; return me })()",
    "({ get a() { return 1 }, set b(v) {} })",
    "Array.from({ length: 30 }, (_, i) => 'item ' + i)",
    "({ text: 'x'.repeat(100), more: 'y'.repeat(30) })",
];

/// What Node's own REPL writes for each of them.
fn as_node_shows(expressions: &[&str]) -> Vec<String> {
    let script = "const { writer } = require('repl');\
        const list = JSON.parse(require('fs').readFileSync(0, 'utf8'));\
        process.stdout.write(JSON.stringify(list.map((text) => writer(eval(`(${text})`)))));";
    serde_json::from_slice(&ask_node(script, &serde_json::to_vec(expressions).unwrap())).unwrap()
}

fn check_against_node(engine: &str) {
    let expected = as_node_shows(SHOWN);
    // A string between two values: nothing else shows as it does.
    let input: String = SHOWN.iter().map(|expression| format!("({expression})\n'next value'\n")).collect();
    let done = cove(&["repl", "--engine", engine], &input);
    assert_eq!(done.code, 0, "{done:?}");
    let lines = values(&done).join("\n") + "\n";
    let shown: Vec<&str> = lines.split_terminator("'next value'\n").map(|text| text.trim_end_matches('\n')).collect();
    let pairs = SHOWN.iter().zip(expected.iter().zip(&shown));
    let wrong: Vec<String> = pairs
        .filter(|(_, (node, here))| node != here)
        .map(|(expression, (node, here))| format!("{expression}\n--- node\n{node}\n--- here\n{here}"))
        .collect();
    assert!(
        wrong.is_empty() && shown.len() == SHOWN.len(),
        "{} of {}:\n{}",
        wrong.len(),
        shown.len(),
        wrong.join("\n\n")
    );
}

#[test]
fn values_are_shown_as_node_shows_them() {
    check_against_node("embedded");
}

#[test]
fn values_of_chrome_are_shown_as_node_shows_them() {
    check_against_node("chrome");
}

/// An error that is a value is shown with its text; one that is thrown ends the cell.
#[test]
fn errors_are_values_too() {
    let done = cove(&["repl"], "new RangeError('too far')\nthrow new RangeError('thrown')\n");
    assert!(values(&done).iter().any(|line| line.starts_with("RangeError: too far")), "{done:?}");
    assert!(done.err.contains("RangeError: thrown"), "{done:?}");
}

/// The file tools and the modules of `cove run`.
#[test]
fn a_session_has_a_workspace_and_modules() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("work")).unwrap();
    std::fs::write(folder.path().join("twice.js"), "export const twice = (n) => n * 2").unwrap();
    let args = ["repl", "--workspace", "work", "--module", "sums=twice.js"];
    let input = "const { twice } = await import('sums')\ntwice(21)\n\
                 await write({ path: 'a.txt', content: 'of the session' })\n`${await read({ path: 'a.txt' })}`\n";
    let done = cove_in(folder.path(), &args, input);
    assert!(values(&done).contains(&"42"), "{done:?}");
    assert!(done.out.contains("of the session"), "{done:?}");
    assert_eq!(std::fs::read_to_string(folder.path().join("work/a.txt")).unwrap(), "of the session");
    // What cannot be read is wrong usage, before anything starts.
    let done = cove_in(folder.path(), &["repl", "--module", "sums=twise.js"], "1\n");
    assert!(done.code == 2 && done.err.contains("did you mean twice.js?"), "{done:?}");
}

/// A picture is saved and named in the cell that drew it, and shown where the terminal can.
#[test]
fn pictures_are_named_and_shown() {
    let folder = tempfile::tempdir().unwrap();
    let input = "getCanvas(40, 30).getContext('2d').fillRect(0, 0, 20, 30); 'drawn'\n'quiet'\n";
    for engine in ["embedded", "browser"] {
        let args = ["repl", "--engine", engine, "--artifacts", "pics", "--show", "kitty"];
        let done = cove_in(folder.path(), &args, input);
        assert!(values(&done).contains(&"'drawn'"), "{done:?}");
        assert!(done.err.contains("\x1b_G"), "{done:?}");
        let named: Vec<&str> = done.err.lines().filter_map(|line| line.strip_prefix("picture ")).collect();
        assert_eq!(named.len(), 1, "{done:?}");
        assert!(std::fs::read(folder.path().join(named[0])).unwrap().starts_with(b"\x89PNG"), "{done:?}");
    }
}

/// With `auto` the first line decides; later ones keep the session that they have.
#[test]
fn auto_takes_the_browser_for_a_first_line_that_needs_it() {
    let tag = "document.createElement('p').tagName\n";
    let done = cove(&["repl"], &format!("{tag}let seen = 1\nseen + 1\n"));
    assert!(values(&done).contains(&"'P'") && values(&done).contains(&"2"), "{done:?}");
    assert!(done.err.contains("Chrome runs this session"), "{done:?}");
    let done = cove(&["repl"], &format!("let seen = 1\n{tag}seen + 1\n.reset\n{tag}"));
    assert!(done.err.contains(".reset, then the same line again"), "{done:?}");
    assert!(values(&done).contains(&"2") && values(&done).contains(&"'P'"), "{done:?}");
}

#[test]
fn without_a_browser_the_embedded_engine_has_the_session() {
    let missing = ["repl", "--engine", "chrome", "--browser", "/nowhere/chrome"];
    let done = cove(&missing, "let a = 40\na + 2\n");
    assert!(done.code == 0 && values(&done).contains(&"42"), "{done:?}");
    assert_eq!(done.err.matches("the embedded engine runs the code instead").count(), 1, "{done:?}");
    let done = cove(&[&missing[..], &["--no-fallback"]].concat(), "1\n");
    assert!(done.code == 5 && done.err.contains("cove setup browser"), "{done:?}");
}

/// Ctrl-C ends the line that runs, and its session; the prompt stays.
#[test]
fn an_interrupt_ends_the_line_and_not_the_prompt() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_cove"))
        .args(["repl", "--timeout-ms", "60000"])
        .env("XDG_STATE_HOME", folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(b"let kept = 1\nconsole.log('it runs'); while (true) {}\n").unwrap();
    let mut aside = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    // Console lines come while the code runs.
    while !line.contains("it runs") {
        line.clear();
        assert!(aside.read_line(&mut line).unwrap() > 0, "it ended");
    }
    rustix::process::kill_process(rustix::process::Pid::from_child(&child), rustix::process::Signal::INT).unwrap();
    input.write_all(b"typeof kept\n").unwrap();
    drop(input);
    let (mut out, mut err) = (String::new(), String::new());
    aside.read_to_string(&mut err).unwrap();
    child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    assert!(child.wait().unwrap().success(), "{out} {err}");
    assert!(err.contains("interrupted") && err.contains("a new one begins"), "{err}");
    assert!(out.contains("'undefined'"), "{out}");
}
