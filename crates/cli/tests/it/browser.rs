//! `cove run` with a browser, and without one.

use serde_json::{Value, json};

use crate::{cove, cove_in};

fn json_run(args: &[&str], code: &str) -> (i32, Value) {
    let done = cove(&[&["run", "-", "--json"], args].concat(), code);
    (done.code, serde_json::from_str(&done.out).unwrap_or_else(|_| panic!("{done:?}")))
}

/// The program itself says where it belongs.
#[test]
fn auto_takes_the_engine_that_the_program_needs() {
    let (code, object) = json_run(&[], "return document.createElement('p').tagName");
    assert_eq!((code, &object["result"], &object["engine"]["name"]), (0, &json!("P"), &json!("browser")), "{object}");
    assert!(object["engine"]["because"].as_str().unwrap().contains("`document`"), "{object}");
    let (code, object) = json_run(&[], "return 'document'.length");
    assert_eq!((code, &object["result"], &object["engine"]["name"]), (0, &json!(8), &json!("embedded")), "{object}");
    let (code, object) = json_run(&["--engine", "browser"], "return typeof window");
    assert_eq!((code, &object["result"]), (0, &json!("object")), "{object}");
    assert_eq!(
        object["engine"],
        json!({ "name": "browser", "reason": "asked_for", "because": "asked for", "fallback_used": false })
    );
}

/// What the embedded engine lacks is tried in Chrome, also where nobody saw it coming.
#[test]
fn auto_learns_from_failure() {
    let (code, object) = json_run(&[], "console.log('once'); return NodeFilter.SHOW_TEXT");
    assert_eq!((code, &object["result"], &object["engine"]["name"]), (0, &json!(4), &json!("browser")), "{object}");
    assert_eq!((&object["engine"]["reason"], &object["logs"]), (&json!("missing_feature"), &json!("once")), "{object}");
    let done = cove(&["run", "-"], "console.log('once'); return NodeFilter.SHOW_TEXT");
    assert_eq!((done.out.trim(), done.err.matches("once").count()), ("4", 1), "{done:?}");
    let (code, object) = json_run(&["--browser", "/nowhere/chrome"], "return NodeFilter.SHOW_TEXT");
    assert_eq!((code, &object["engine"]["reason"]), (1, &json!("needs_no_browser")), "{object}");
}

/// No browser: the embedded engine runs the code and says so, unless that was forbidden.
#[test]
fn without_a_browser_the_embedded_engine_runs() {
    let missing = ["--browser", "/nowhere/chrome", "--engine", "browser"];
    let (code, object) = json_run(&missing, "return 6 * 7");
    assert_eq!((code, &object["result"], &object["engine"]["name"]), (0, &json!(42), &json!("embedded")), "{object}");
    assert_eq!(object["engine"]["fallback_used"], true);
    assert_eq!(object["engine"]["reason"], "no_browser");
    assert!(object["warnings"][0].as_str().unwrap().contains("browser_not_available"), "{object}");
    let (code, object) = json_run(&[&missing[..], &["--no-fallback"]].concat(), "return 6 * 7");
    assert_eq!(
        (code, &object["ok"], &object["error"]["error"]),
        (5, &json!(false), &json!("browser_not_available")),
        "{object}"
    );
    assert!(object["error"]["message"].as_str().unwrap().contains("cove setup browser"), "{object}");
}

/// A drawing ends as a PNG in the folder that was named, whichever engine drew it.
#[test]
fn a_drawing_becomes_a_picture() {
    let folder = tempfile::tempdir().unwrap();
    let code = "const c = getCanvas(40, 30); c.getContext('2d').fillRect(0, 0, 20, 30); return 'drawn'";
    let done = cove_in(folder.path(), &["run", "-", "--json", "--engine", "browser", "--artifacts", "pics"], code);
    let object: Value = serde_json::from_str(&done.out).unwrap();
    let name = object["images"][0].as_str().unwrap_or_else(|| panic!("{object}"));
    let png = std::fs::read(folder.path().join("pics").join(name)).unwrap();
    assert!(png.starts_with(b"\x89PNG"), "{name}");
}
