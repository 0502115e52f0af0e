//! `cove doctor`: walls that a real worker has put up.

use serde_json::Value;

use crate::cove;

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
    assert!(text.out.contains("seccomp") && text.code == 0, "{text:?}");
}

#[test]
fn completions_name_the_commands() {
    let done = cove(&["completions", "bash"], "");
    assert!(done.code == 0 && done.out.contains("doctor"), "{done:?}");
}
