//! `cove sandbox` on a terminal: what guests print, name and write is shown and not obeyed. And copying past what cannot be
//! read.

use std::fs::File;
use std::io::Read as _;
use std::process::Stdio;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde_json::json;

use crate::pty::{is_harmless, terminal, watched};
use crate::{Ground, KEY, Served};

fn seen(ground: &Ground, args: &[&str]) -> (String, i32) {
    let mut command = ground.command("data");
    command.arg("sandbox").args(args).env("COVE_KEY", KEY).stdin(Stdio::null());
    watched(command)
}

#[tokio::test]
async fn a_sandboxes_words_are_shown_on_a_terminal() {
    let ground = Ground::new("");
    let served = ground.serve("data", &[]);
    let id = served.create("python-default").await;
    let id = id.as_str();
    // A file whose name and whose text reach for the terminal.
    served
        .shell(id, r#"mkdir -p d && printf 'text \033]0;x\007\033[31mred\n' > "$(printf 'd/a\033]0;x\007.txt')""#)
        .await;
    let tries: &[(&[&str], &str)] = &[
        (&["exec", id, "-c", r"printf '\033]0;x\007'"], "␛]0;x␇"),
        (&["exec", id, "-c", r"printf '\033[2J\033[H'"], "␛[2J␛[H"),
        (&["exec", id, "-c", r"printf '10%%\r50%%\r'"], "10%␍50%"),
        (&["exec", id, "-c", r"printf '\302\2332J \342\200\256'"], "<U+009B>2J <U+202E>"),
        (&["exec", id, "-c", r"printf '\033]52;c;x\007' >&2; exit 3"], "␛]52;c;x␇"),
        (&["exec", id, "-c", r"printf '\033[32mgreen\033[0m'"], "\x1b[32mgreen\x1b[0m"),
        (&["exec", id, "--python", "-c", r"print('\x1b]0;x\x07')"], "␛]0;x␇"),
        (&["exec", id, "--python", "-c", r"raise ValueError('\x1b]0;x\x07')"], "␛]0;x␇"),
        (&["exec", id, "--js", "-c", r"console.log('\x1b]0;x\x07'); return '\u202e'"], "␛]0;x␇"),
        (&["exec", id, "--js", "-c", r"throw new Error('\x1b]0;x\x07')"], "␛]0;x␇"),
        (&["exec", id, "--json", "-c", r"printf '\302\2332J'"], r"\u009b2J"),
        (&["exec", id, "-c", "# \x1b[2J"], ""),
        (&["logs", id], "␛]0;x␇"),
        (&["logs", id, "--json"], r"\u009b2J"),
        (&["cp", &format!("{id}:d/a\x1b]0;x\x07.txt"), "-"], "text ␛]0;x␇\x1b[31mred"),
        (&["cp", &format!("{id}:d/none\x1b[2J"), "-"], "none␛[2J"),
        (&["cp", &format!("{id}:d/a\x1b]0;x\x07.txt"), "."], "a␛]0;x␇.txt"),
        (&["get", "sandbox-\x1b[2J"], "error"),
        (&["list"], id),
        (&["get", id], id),
    ];
    for (args, shown) in tries {
        let (text, _) = seen(&ground, args);
        // Progress is our own: it empties its line.
        let text = text.replace("\r\x1b[K", "");
        is_harmless(&text, &format!("{args:?}"));
        assert!(text.contains(shown), "{args:?}: {shown:?} is not in {text:?}");
    }
    // As it is, for whoever asks.
    for args in [&["exec", id, "--raw", "-c", r"printf '\033]0;x\007'"][..], &["logs", id, "--raw"]] {
        let (text, _) = seen(&ground, args);
        assert!(text.contains("\x1b]0;x\x07"), "{args:?}: {text:?}");
    }
    followed(&ground, &served, id).await;
    served.close();
}

/// Console lines while they are written: what is read back by then, and what comes afterwards.
async fn followed(ground: &Ground, served: &Served, id: &str) {
    served.shell(id, r"printf 'past \033]0;x\007'").await;
    let (mut screen, theirs) = terminal();
    let mut command = ground.command("data");
    command.args(["sandbox", "logs", id, "--follow", "--last", "1"]).env("COVE_KEY", KEY).stdin(Stdio::null());
    let mut child = command.stdout(theirs.try_clone().unwrap()).stderr(theirs).spawn().unwrap();
    drop(command);
    let mut text = String::new();
    read_until(&mut screen, &mut text, "past ␛]0;x␇");
    // It listened before it read the past, so nothing that comes now is missed.
    let code = json!({ "code": r"console.log('live \x1b]0;y\x07')" });
    served.ask("POST", &format!("/v1/sandboxes/{id}/javascript/exec"), code).await;
    read_until(&mut screen, &mut text, "live ␛]0;y␇");
    child.kill().unwrap();
    child.wait().unwrap();
    is_harmless(&text.replace("\r\n", "\n"), "logs --follow");
}

fn read_until(screen: &mut File, text: &mut String, wanted: &str) {
    let patience = Timespec { tv_sec: 60, tv_nsec: 0 };
    let (mut bytes, mut piece) = (text.clone().into_bytes(), [0; 4096]);
    while !text.contains(wanted) {
        let came = poll(&mut [PollFd::new(screen, PollFlags::IN)], Some(&patience)).unwrap();
        assert_eq!(came, 1, "{wanted:?} does not come: {text:?}");
        let count = screen.read(&mut piece).unwrap();
        bytes.extend_from_slice(&piece[..count]);
        *text = String::from_utf8_lossy(&bytes).into_owned();
    }
}

/// What cannot be read is told at the end, with an exit code of its own; everything else is copied.
#[tokio::test]
async fn a_copy_goes_on_past_what_it_cannot_read() {
    let ground = Ground::new("");
    let served = ground.serve("data", &[]);
    let id = served.create("python-default").await;
    served
        .shell(
            &id,
            "mkdir -p t/shut t/open/deep && echo 1 > t/a && echo 2 > t/open/deep/b && echo 3 > t/shut/c && echo 4 > t/mute \
             && echo 5 > t/z && ln -s /etc t/link && chmod 000 t/shut t/mute",
        )
        .await;
    let run = |args: &[&str]| {
        let mut command = ground.command("data");
        command.arg("sandbox").args(args).env("COVE_KEY", KEY).stdin(Stdio::null());
        let done = command.output().unwrap();
        (done.status.code().unwrap_or(-1), String::from_utf8(done.stderr).unwrap())
    };
    let (code, said) = run(&["cp", &format!("{id}:t"), "here"]);
    assert_eq!(code, 1, "{said}");
    for part in ["3 files, 6 bytes", "1 links or special files", "2 could not be copied", "t/shut: ", "t/mute: "] {
        assert!(said.contains(part), "{part:?} is not in {said}");
    }
    let here = ground.folder.path().join("here");
    for (file, text) in [("a", "1\n"), ("open/deep/b", "2\n"), ("z", "5\n")] {
        assert_eq!(std::fs::read_to_string(here.join(file)).unwrap(), text, "{file}");
    }
    assert!(!here.join("shut/c").exists() && !here.join("mute").exists());
    // Nothing half is left either.
    let names: Vec<_> = std::fs::read_dir(&here).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names.len(), 3, "{names:?}");
    // The folder itself shut: nothing to copy, and that is an error as before.
    let (code, said) = run(&["cp", &format!("{id}:t/shut"), "shut"]);
    assert!(code != 0 && !ground.folder.path().join("shut").exists(), "{said}");

    // In: a name that is no text cannot be sent; the rest can.
    let tree = ground.folder.path().join("in");
    std::fs::create_dir_all(tree.join("sub")).unwrap();
    std::fs::write(tree.join("good"), "12").unwrap();
    std::fs::write(tree.join("sub/too"), "345").unwrap();
    let odd = <std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(b"bad\xff");
    std::fs::write(tree.join(odd), "x").unwrap();
    let (code, said) = run(&["cp", "in", &format!("{id}:in")]);
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("2 files, 5 bytes") && said.contains("1 could not be copied"), "{said}");
    assert_eq!(served.shell(&id, "cat in/good in/sub/too").await, "12345");
    // Or an ordinary user could not remove it.
    served.shell(&id, "chmod 755 t/shut").await;
    // A server that is gone is no matter of one file.
    served.close();
    let (code, said) = run(&["cp", "in", &format!("{id}:in")]);
    assert_eq!(code, 5, "{said}");
}
