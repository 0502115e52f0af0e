//! Guests' words on a person's terminal: a real pseudo-terminal, with this test as the one who looks at it.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::pty::{is_harmless, terminal, watched, watched_as_is};

/// A command that reads `input`.
fn command(folder: &Path, args: &[&str], input: &str) -> Command {
    let file = folder.join("stdin");
    std::fs::write(&file, input).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_cove"));
    command.args(args).current_dir(folder).env("XDG_STATE_HOME", folder).stdin(File::open(&file).unwrap());
    command
}

fn seen(folder: &Path, args: &[&str], input: &str) -> (String, i32) {
    watched(command(folder, args, input))
}

fn run(code: &str, args: &[&str]) -> (String, i32) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("code.js"), code).unwrap();
    let words = [&["run", "code.js", "--engine", "embedded"], args].concat();
    seen(folder.path(), &words, "")
}

/// Each way to reach for the terminal by `cove run`, and what a person sees instead.
#[test]
fn escape_sequences_are_shown() {
    let tries: &[(&str, &str)] = &[
        // The two of the attack: a title by the console, the clipboard by an error.
        (r#"console.log("\x1b]0;x\x07")"#, "␛]0;x␇"),
        (r#"throw new Error("\x1b]52;c;ZXZpbA==\x07")"#, "␛]52;c;ZXZpbA==␇"),
        (r#"console.log("\x1b[2J\x1b[H")"#, "␛[2J␛[H"),
        (r#"console.error("\x1b[1A\x1b[2Kfine")"#, "␛[1A␛[2Kfine"),
        (r#"console.warn("\x1bc")"#, "␛c"),
        (r#"console.info("\x1b[?1049h\x1b[?25l")"#, "␛[?1049h␛[?25l"),
        (r#"console.log("\x1bP+q544e\x1b\\")"#, "␛P+q544e␛\\"),
        (r#"console.log("\x1b_Gf=100;AAAA\x1b\\")"#, "␛_Gf=100;AAAA␛\\"),
        (r#"console.log("\x1b]8;;https://evil\x07click\x1b]8;;\x07")"#, "␛]8;;https://evil␇click"),
        (r#"console.log("\x1b[6n\x1b[c\x05")"#, "␛[6n␛[c␅"),
        (r#"console.log("safe\rEVIL")"#, "safe␍EVIL"),
        (r#"console.log("secret\b\b\b\b\b\bpublic")"#, "secret␈"),
        (r#"console.log("\x07\x0b\x0c\x0e\x7f")"#, "␇␋␌␎␡"),
        (r#"console.log("\u009b2J\u009d0;x\u009c")"#, "<U+009B>2J<U+009D>0;x<U+009C>"),
        (r#"console.log("user\u202etxt.exe")"#, "user<U+202E>txt.exe"),
        (r#"console.log("\u2066a\u2069\u200b\ufeff")"#, "<U+2066>a<U+2069><U+200B><U+FEFF>"),
        (r#"console.log("\x1b[8mhidden")"#, "␛[8mhidden"),
        (r#"console.log("%s", "\x1b]0;x\x07")"#, "␛]0;x␇"),
        (r#"console.log("\x1b]0;"); console.log("x\x07")"#, "␛]0;\nx␇"),
        (r#"console.log("\x1b"); console.log("[2J")"#, "␛\n[2J"),
        (r#"return "\u009b2J\u202e""#, r#""\u009b2J\u202e""#),
        (r#"return { "\u202ekey": ["\x1b]0;x\x07"] }"#, r#""\u202ekey""#),
        (r#"return "\x1b]0;x\x07""#, r#""\u001b]0;x\u0007""#),
        (r#"class X extends Error { name = "\x1b]0;x\x07" } throw new X("y")"#, "␛]0;x␇"),
        (r#"throw { toString() { return "\x1b[2J" }, "\x1b[3J": "\x1b[4h" }"#, "U"),
        (r#"throw "\u009b2J""#, "<U+009B>2J"),
        (r#"Promise.reject(new Error("\x1b[2J")); await null; return 1"#, "␛[2J"),
        (
            r#"setTimeout(() => { throw new Error("\x1b[2J") }); await new Promise(r => setTimeout(r, 5)); return 1"#,
            "␛[2J",
        ),
        ("const x = '\x1b]0;x\x07';\n x.y.z", "x.y.z"),
        ("const a = 1; a\x1b[2J", "code.js"),
        ("import '\x1b]0;x\x07'", "code.js"),
        (r#"await import("\x1b]0;x\x07")"#, "␛]0;x␇"),
        (r#"getCanvas("\x1b]0;x\x07.png", 1e9, 1e9)"#, "."),
    ];
    for (code, shown) in tries {
        let (text, _) = run(code, &[]);
        is_harmless(&text, code);
        assert!(text.contains(shown), "{code}: {shown:?} is not in {text:?}");
    }
    assert!(tries.len() >= 20);
}

#[test]
fn colours_pass_and_do_not_leak() {
    let (text, code) =
        run(r#"console.log("\x1b[32mgreen\x1b[0m \x1b[38;5;8mgrey"); console.log("next"); return 1"#, &[]);
    is_harmless(&text, "colours");
    assert_eq!(code, 0);
    assert!(text.contains("\x1b[32mgreen\x1b[0m \x1b[38;5;8mgrey\n\x1b[0mnext"), "{text:?}");
    // Our own words are coloured as before, also around a guest's.
    let (text, _) = run(r#"console.error("\x1b[2J"); throw new Error("no")"#, &[]);
    assert!(
        text.contains("\x1b[1;31m␛[2J\x1b[0m") && text.contains("\x1b[1;31mjs_execution_failed:\x1b[0m"),
        "{text:?}"
    );
}

#[test]
fn whoever_wants_everything_gets_it() {
    let code = r#"console.log("\x1b]0;x\x07\u202e"); return "\u009b""#;
    let (text, _) = run(code, &["--raw"]);
    assert!(text.contains("\x1b]0;x\x07\u{202e}") && text.contains('\u{9b}'), "{text:?}");
    // Nor is anything changed on its way to a file or a pipe, where our own colours are left out.
    let done = crate::cove(
        &["run", "-", "--engine", "embedded"],
        r#"console.error("\x1b]0;x\x07\x1b[31mr\u202e"); return "\u009b""#,
    );
    assert_eq!((done.out.as_str(), done.err.as_str()), ("\"\u{9b}\"\n", "\x1b]0;x\x07\x1b[31mr\u{202e}\n"));
    let done = crate::cove(&["run", "-", "--engine", "embedded"], r#"throw new Error("\x1b[2Jx")"#);
    assert!(done.err.starts_with("js_execution_failed: Error: \x1b[2Jx\n"), "{done:?}");
}

/// A terminal without colours gets none of anybody's, and no controls either.
#[test]
fn a_terminal_without_colours_gets_none() {
    let folder = tempfile::tempdir().unwrap();
    let code = r#"console.error("\x1b[31mred\x1b[0m \x1b[2J"); return 1"#;
    std::fs::write(folder.path().join("code.js"), code).unwrap();
    for variable in [("NO_COLOR", "1"), ("TERM", "dumb")] {
        let mut command = command(folder.path(), &["run", "code.js", "--engine", "embedded"], "");
        // A build server's log is taken for one that has colours, whatever its terminal says.
        command.env("TERM", "xterm").env_remove("CLICOLOR_FORCE").env_remove("CI").envs([variable]);
        let (text, _) = watched_as_is(command);
        assert!(text.contains("red ␛[2J") && !text.contains('\x1b'), "{variable:?}: {text:?}");
    }
}

/// One stream a terminal, the other a file: each by what it is.
#[test]
fn each_stream_is_looked_at_for_itself() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("code.js"), r#"console.log("\x1b[2J"); return "\u202e""#).unwrap();
    let (mut screen, theirs) = terminal();
    let mut command = Command::new(env!("CARGO_BIN_EXE_cove"));
    command.args(["run", "code.js", "--engine", "embedded"]).current_dir(folder.path()).env("TERM", "xterm");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(theirs);
    let child = command.spawn().unwrap();
    drop(command);
    let mut shown = String::new();
    let _ = screen.read_to_string(&mut shown);
    let out = child.wait_with_output().unwrap().stdout;
    assert_eq!(String::from_utf8(out).unwrap(), "\"\u{202e}\"\n");
    assert!(shown.contains("␛[2J"), "{shown:?}");
}

#[test]
fn the_repl_shows_them_too() {
    let folder = tempfile::tempdir().unwrap();
    let input = "console.log('\\x1b]0;x\\x07')\nthrow new Error('\\x1b]52;c;x\\x07')\n'\\u009b2J'\n({ ['\\u202e']: 1 })\n.\\x1b\n.exit\n";
    let (text, code) = seen(folder.path(), &["repl"], input);
    assert_eq!(code, 0, "{text:?}");
    is_harmless(&text, "repl");
    for shown in ["␛]0;x␇", "␛]52;c;x␇", r"'\x9B2J'", "'<U+202E>'"] {
        assert!(text.contains(shown), "{shown:?} is not in {text:?}");
    }
    let (text, _) = seen(folder.path(), &["repl", "--raw"], "console.log('\\x1b]0;x\\x07')\n.exit\n");
    assert!(text.contains("\x1b]0;x\x07"), "{text:?}");
}

/// Names of files, their texts, and what was typed: a shell's `*` types what a guest has named.
#[test]
fn names_and_texts_of_files_are_shown() {
    let folder = tempfile::tempdir().unwrap();
    let evil = "a\x1b]0;x\x07\u{202e}.js";
    std::fs::write(folder.path().join(evil), "text \x1b[2J\r\nmore \u{9b}2J\n").unwrap();
    let checks: &[(&[&str], &str)] = &[
        (&["files", "ls"], "<U+202E>.js"),
        (&["files", "find", "*.js"], "<U+202E>.js"),
        (&["files", "read", evil], "text ␛[2J"),
        (&["files", "grep", "more"], "<U+202E>.js"),
        (&["files", "grep", "more", "--json"], r"\u202e"),
        (&["files", "read", "no\x1b[2J"], "no␛[2J"),
        (&["run", evil], "␛]0;x␇"),
        (&["run", "no\x1b[2J.js"], "no␛[2J.js"),
        (&["run", "a", evil], "␛]0;x␇"),
        (&["nothing\x1b[2J"], "nothing␛[2J"),
        (&["run", evil, "--input", "\x1b[2J"], "--input"),
        (&["run", evil, "--artifacts", "\x1b[2J"], "␛]0;x␇"),
        (&["sandbox", "get", "sandbox-\x1b[2J", "--url", "http://127.0.0.1:9"], "127.0.0.1:9"),
        (&["sandbox", "list", "--url", "\x1b[2J"], "␛[2J"),
        (&["sandbox", "cp", "\x1b[2J", "x"], "ID:PATH"),
        (&["browse", "--session", "\x1b[2J", "snapshot"], "a session's name"),
    ];
    for (args, shown) in checks {
        let (text, _) = seen(folder.path(), args, "");
        is_harmless(&text, &format!("{args:?}"));
        assert!(text.contains(shown), "{args:?}: {shown:?} is not in {text:?}");
    }
}

/// Help is coloured for a terminal and plain for a pipe, as ever.
#[test]
fn help_is_as_ever() {
    let folder = tempfile::tempdir().unwrap();
    let (text, code) = seen(folder.path(), &["--help"], "");
    assert!(code == 0 && text.contains("\x1b[1m") && text.contains("Usage:"), "{text:?}");
    let done = crate::cove(&["--help"], "");
    assert!(done.code == 0 && done.out.contains("Usage: cove") && !done.out.contains('\x1b'), "{done:?}");
    let done = crate::cove(&["run"], "");
    assert!(done.code == 2 && done.out.is_empty() && done.err.contains("<FILE>"), "{done:?}");
}

#[test]
fn the_doctor_is_coloured_and_harmless() {
    let folder = tempfile::tempdir().unwrap();
    let (text, _) = seen(folder.path(), &["doctor"], "");
    is_harmless(&text, "doctor");
    assert!(text.contains("\x1b[1;32m✓\x1b[0m"), "{text:?}");
    // Whether the kernel enforces the memory limit, and where it does not, how to have that.
    let watched = text.contains("memory: watched, not enforced") && text.contains("Delegate=yes");
    assert_ne!(text.contains("memory: enforced"), watched, "{text:?}");
}
