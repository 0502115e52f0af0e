//! `cove repl`, driven through its standard input.

use crate::cove;

#[test]
fn state_is_kept_and_values_are_shown() {
    let done =
        cove(&["repl"], "let a = 20\nconst f = (x: number) => x * 2\na + f(11)\nconsole.log('hi')\n.exit\nnever\n");
    assert_eq!(done.code, 0, "{done:?}");
    let shown: Vec<&str> = done.out.lines().filter(|line| !line.starts_with('>')).collect();
    assert!(shown.contains(&"42"), "{done:?}");
    assert!(done.err.contains("hi") && !done.err.contains("never"), "{done:?}");
}

#[test]
fn an_error_shows_its_frame_and_the_session_goes_on() {
    let done = cove(&["repl"], "let a = 1\na.b.c\na + 1\n");
    assert_eq!(done.code, 0, "{done:?}");
    assert!(done.err.contains("ERR_RUNTIME_EXCEPTION") && done.err.contains("a.b.c"), "{done:?}");
    assert!(done.out.contains('2'), "{done:?}");
}

#[test]
fn a_killed_run_begins_a_new_session() {
    let done = cove(&["repl", "--timeout-ms", "50"], "let a = 1\nwhile (true) {}\ntypeof a\n");
    assert!(done.err.contains("ERR_EXEC_TIMEOUT") && done.err.contains("a new one begins"), "{done:?}");
    assert!(done.out.contains("\"undefined\""), "{done:?}");
}
