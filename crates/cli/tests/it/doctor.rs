//! `cove doctor`: walls that a real worker has put up, and programs that were really started.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::{Value, json};

use crate::{cove, cove_with};

#[test]
fn doctor_shows_each_wall_and_a_trial_run() {
    let done = cove(&["doctor", "--json"], "");
    assert_eq!(done.code, 0, "{done:?}");
    let object: Value = serde_json::from_str(&done.out).unwrap();
    assert_eq!(object["embedded"]["runs"], true);
    let walls = object["embedded"]["walls"].as_array().unwrap();
    for name in ["seccomp", "no-new-privileges", "resource-limits", "no-environment", "no-descriptors"] {
        assert!(walls.iter().any(|wall| wall["name"] == name && wall["state"] == "active"), "{name}: {object}");
    }
    let text = cove(&["doctor"], "");
    for word in ["seccomp", "Chrome", "agent-browser", "Python", "matplotlib", "emoji"] {
        assert!(text.out.contains(word) && text.code == 0, "{word}: {text:?}");
    }
}

/// Chrome runs in these tests, so the doctor sees it run, sandboxed and not as root; and it draws with the fonts.
#[test]
fn what_is_there_was_tried() {
    let done = cove(&["doctor", "--json"], "");
    let object: Value = serde_json::from_str(&done.out).unwrap();
    let chrome = &object["chrome"];
    assert_eq!((&chrome["found"], &chrome["sandbox_works"]), (&json!(true), &json!(true)), "{object}");
    assert!(chrome["version"].as_str().unwrap().contains(|c: char| c.is_ascii_digit()), "{object}");
    assert!(chrome["user_id"].as_u64().unwrap() > 0 && chrome["next_step"].is_null(), "{object}");
    let fonts = &object["fonts"];
    for fact in ["found", "cjk", "emoji"] {
        assert!(fonts[fact].is_boolean(), "{object}");
    }
    let complete = ["found", "cjk", "emoji"].iter().all(|fact| fonts[fact] == true);
    assert_eq!(fonts["next_step"].is_null(), complete, "{object}");
}

/// Nothing of it is there: that is told with a next step each, and is no failure.
#[test]
fn what_is_missing_has_a_next_step() {
    let folder = tempfile::tempdir().unwrap();
    let nothing = [("COVE_AGENT_BROWSER", "/nowhere/agent-browser")];
    let args = ["doctor", "--browser", "/nowhere/chrome", "--python", "/nowhere/venv"];
    let done = cove_with(folder.path(), &nothing, &[&args[..], &["--json"]].concat(), "");
    assert_eq!(done.code, 0, "{done:?}");
    let object: Value = serde_json::from_str(&done.out).unwrap();
    for (part, step) in
        [("chrome", "--browser"), ("agent_browser", "COVE_AGENT_BROWSER"), ("python", "python3 -m venv /nowhere/venv")]
    {
        assert_eq!((&object[part]["found"], &object[part]["path"]), (&json!(false), &Value::Null), "{part}: {object}");
        assert!(object[part]["problem"].is_string(), "{part}: {object}");
        assert!(object[part]["next_step"].as_str().unwrap().contains(step), "{part}: {object}");
    }
    assert_eq!(object["python"]["packages"].as_array().unwrap().len(), 5, "{object}");
    let done = cove_with(folder.path(), &nothing, &args, "");
    assert_eq!((done.code, done.out.matches("to do: ").count() >= 3), (0, true), "{done:?}");
    // It ends with the one command for all of it.
    assert_eq!(object["next_step"], "cove setup", "{object}");
    assert!(done.out.trim_end().ends_with("to install what is missing: cove setup"), "{done:?}");
}

/// What is there is seen; what would be brought is said, and nothing is done.
#[test]
fn setup_says_what_it_would_do() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let args = ["setup", "--dry-run", "--data-dir", data.to_str().unwrap()];
    let done = cove_with(folder.path(), &[("COVE_AGENT_BROWSER", "/nowhere/agent-browser")], &args, "");
    assert_eq!((done.code, done.out.as_str()), (0, ""), "{done:?}");
    for word in ["✓ browser: /", "setup: installing agent-browser", "from npm in", "✓ fonts"] {
        assert!(done.err.contains(word), "{word}: {done:?}");
    }
    let python = format!("setup: making a Python environment in {}/python", data.display());
    assert!(done.err.contains(&python) || done.err.contains("✓ Python"), "{done:?}");
    assert!(!data.exists());
    // Offline, where nothing may be installed (an ordinary user's run of the tests): what to copy where.
    let nothing = [("COVE_AGENT_BROWSER", "/nowhere/agent-browser"), ("PATH", "/nowhere"), ("PIP_NO_INDEX", "1")];
    if !rustix::process::geteuid().is_root() {
        let args = ["setup", "browser", "--data-dir", data.to_str().unwrap()];
        let done = cove_with(folder.path(), &nothing, &args, "");
        let copied = format!("{}) to {}/agent-browser", cove_gull::native_name(), data.display());
        assert!(done.code == 5 && done.err.contains(&copied), "{done:?}");
    }
}

/// What was copied by hand into the data folder is found, and made executable.
#[test]
fn the_data_folder_is_looked_into() {
    let folder = tempfile::tempdir().unwrap();
    let real = cove_gull::find_agent_browser(None).unwrap();
    let copy = folder.path().join("agent-browser").join(cove_gull::native_name());
    std::fs::create_dir_all(copy.parent().unwrap()).unwrap();
    std::fs::copy(real, &copy).unwrap();
    std::fs::set_permissions(&copy, std::fs::Permissions::from_mode(0o644)).unwrap();
    let done = cove_with(folder.path(), &[("COVE_DATA_DIR", folder.path().to_str().unwrap())], &["version", "-v"], "");
    let line = done.out.lines().find(|line| line.trim_start().starts_with("agent-browser")).unwrap();
    assert!(done.code == 0 && line.contains(copy.to_str().unwrap()) && line.contains("0.41.0"), "{done:?}");
    for part in ["cove 0.", "program", "system", "data folder", "browser", "Python 3.", "fonts  ", "containers  "] {
        assert!(done.out.contains(part), "{part}: {done:?}");
    }
}

#[test]
fn alone_it_says_what_to_begin_with() {
    for args in [&[][..], &["help"], &["--help"]] {
        let done = cove(args, "");
        let said = format!("{}{}", done.out, done.err);
        for word in ["cove run hello.js", "cove setup", "cove browse", "cove serve", "cove mcp", "Usage: cove"] {
            assert!(said.contains(word), "{args:?}, {word}: {said}");
        }
        assert!(said.find("cove run hello.js") < said.find("Usage:"), "{said}");
    }
}

fn python(folder: &Path, script: &str) {
    let path = folder.join("bin/python3");
    std::fs::create_dir_all(folder.join("bin")).unwrap();
    std::fs::write(&path, script).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// What a program says of its packages is taken; one that never answers is given up, and so is one that never stops talking.
#[test]
fn a_program_that_is_asked_has_a_deadline() {
    let folder = tempfile::tempdir().unwrap();
    let environment = folder.path().to_str().unwrap();
    let args = ["doctor", "--json", "--browser", "/nowhere/chrome", "--python", environment];
    let ask = |script: &str| {
        python(folder.path(), script);
        let done = cove_with(folder.path(), &[], &args, "");
        assert_eq!(done.code, 0, "{done:?}");
        serde_json::from_str::<Value>(&done.out).unwrap()["python"].take()
    };
    let found =
        ask("#!/bin/sh\necho '{\"version\": \"3.14.1\", \"packages\": [\"9.1\", null, null, \"13.0\", \"3.1\"]}'\n");
    assert_eq!((&found["found"], &found["version"]), (&json!(true), &json!("3.14.1")), "{found}");
    assert_eq!(found["packages"][1], json!({ "name": "NumPy", "found": false, "version": null }), "{found}");
    assert_eq!(found["next_step"], format!("{environment}/bin/python3 -m pip install numpy pandas"), "{found}");
    // A browser that is none is found, and its trouble is told.
    let done = cove_with(folder.path(), &[], &["doctor", "--json", "--browser", "/bin/false"], "");
    let chrome = serde_json::from_str::<Value>(&done.out).unwrap()["chrome"].take();
    assert_eq!((done.code, &chrome["found"], &chrome["sandbox_works"]), (0, &json!(true), &json!(false)), "{chrome}");
    assert_eq!(chrome["next_step"], "cove setup browser", "{chrome}");
    let silent = ask("#!/bin/sh\nexec tail -f /dev/null\n");
    assert!(silent["problem"].as_str().unwrap().contains("did not answer within 5 s"), "{silent}");
    let endless = ask("#!/bin/sh\nexec yes\n");
    assert!(endless["problem"].is_string() && endless["next_step"].is_string(), "{endless}");
}

#[test]
fn completions_and_manual_pages_name_the_commands() {
    let done = cove(&["completions", "bash"], "");
    assert!(done.code == 0 && done.out.contains("doctor"), "{done:?}");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    let done = cove(&["man", path], "");
    assert!(done.code == 0 && done.out.is_empty(), "{done:?}");
    for (page, word) in [("cove.1", "doctor"), ("cove-run.1", "timeout"), ("cove-sandbox-create.1", "profile")] {
        let text = std::fs::read_to_string(folder.path().join(page)).unwrap();
        assert!(text.contains(word), "{page}: {text}");
    }
    let done = cove(&["man", "/nowhere"], "");
    assert!(done.code == 5 && done.err.contains("/nowhere"), "{done:?}");
}

/// Where the stack may not be deep, that is said, and what there is of it is used.
#[test]
fn a_shallow_stack_is_told() {
    let shell = |rest: &str| {
        let line = format!("ulimit -s 8192 && exec '{}' {rest}", env!("CARGO_BIN_EXE_cove"));
        let done = std::process::Command::new("bash").args(["-c", &line]).output().unwrap();
        (done.status.code(), String::from_utf8_lossy(&done.stdout).into_owned())
    };
    let (code, out) = shell("doctor");
    assert!(code == Some(0) && out.contains("a stack of 8 MiB only"), "{out}");
    let (code, out) =
        shell("run --engine embedded - <<< 'const f = (n) => n === 0 ? 0 : 1 + f(n - 1); return f(2500)'");
    assert_eq!((code, out.trim()), (Some(0), "2500"));
    assert!(!cove(&["doctor"], "").out.contains("MiB only"), "this machine's own stack is deep enough");
}
