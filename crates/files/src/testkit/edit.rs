//! Tests 14 to 29: `edit`.

use serde_json::json;

use super::{Case, Expect};

/// A case of one file, one replacement, and what the file holds then.
fn replaces(name: &'static str, content: &'static str, old: &str, new: &str, after: &'static str) -> Case {
    Case::new(name).file("edit.txt", content).call(
        "edit",
        json!({"path": "edit.txt", "oldText": old, "newText": new}),
        vec![
            Expect::Text("Successfully replaced text in edit.txt.".to_owned()),
            Expect::File("edit.txt", after.as_bytes().to_vec()),
        ],
    )
}

/// A case of one file and a replacement that is refused; the file stays.
fn refuses(name: &'static str, content: &'static str, old: &str, words: &'static str) -> Case {
    Case::new(name).file("edit.txt", content).call(
        "edit",
        json!({"path": "edit.txt", "oldText": old, "newText": "new"}),
        vec![Expect::Fails(words), Expect::File("edit.txt", content.as_bytes().to_vec())],
    )
}

const NOT_FOUND: &str = "Could not find the exact text in edit.txt. The old text must match exactly including all \
                         whitespace and newlines.";

pub(super) fn cases() -> Vec<Case> {
    let mut first = replaces("test_edit_14", "Hello, world!", "world", "testing", "Hello, testing!");
    if let Some(step) = first.steps.first_mut() {
        step.expect.extend([
            Expect::DetailContains("/diff", "-1 Hello, world!"),
            Expect::DetailContains("/diff", "+1 Hello, testing!"),
            Expect::Detail("/firstChangedLine", json!(1)),
        ]);
    }
    vec![
        first,
        refuses("test_edit_15", "Hello, world!", "nonexistent", NOT_FOUND),
        refuses(
            "test_edit_16",
            "foo foo foo",
            "foo",
            "Found 3 occurrences of the text in edit.txt. The text must be unique. Please provide more context to make \
             it unique.",
        ),
        replaces(
            "test_edit_17",
            "line one   \nline two  \nline three\n",
            "line one\nline two\n",
            "replaced\n",
            "replaced\nline three\n",
        ),
        replaces(
            "test_edit_18",
            "console.log(‘hello’);\n",
            "console.log('hello');",
            "console.log('world');",
            "console.log('world');\n",
        ),
        replaces(
            "test_edit_19",
            "const msg = “Hello”;\n",
            "const msg = \"Hello\";",
            "const msg = \"Bye\";",
            "const msg = \"Bye\";\n",
        ),
        replaces(
            "test_edit_20",
            "range: 1–5\nbreak—here\n",
            "range: 1-5\nbreak-here",
            "range: 10-50\nbreak--here",
            "range: 10-50\nbreak--here\n",
        ),
        replaces("test_edit_21", "hello\u{a0}world\n", "hello world", "hello universe", "hello universe\n"),
        replaces(
            "test_edit_22",
            "const a = ‘exact’;\nconst a = 'exact';\n",
            "const a = 'exact';",
            "const a = 'changed';",
            "const a = ‘exact’;\nconst a = 'changed';\n",
        ),
        refuses("test_edit_23", "completely different content\n", "this does not exist", NOT_FOUND),
        refuses("test_edit_24", "hello world   \nhello world\n", "hello world", "Found 2 occurrences"),
        replaces(
            "test_edit_25",
            "line one\r\nline two\r\nline three\r\n",
            "line two\nline three\n",
            "replaced\n",
            "line one\r\nreplaced\r\n",
        ),
        replaces(
            "test_edit_26",
            "first\r\nsecond\r\nthird\r\n",
            "second\n",
            "REPLACED\nTWICE\n",
            "first\r\nREPLACED\r\nTWICE\r\nthird\r\n",
        ),
        replaces("test_edit_27", "first\nsecond\nthird\n", "second\n", "REPLACED\r\n", "first\nREPLACED\nthird\n"),
        refuses("test_edit_28", "hello\r\nworld\r\n---\r\nhello\nworld\n", "hello\nworld\n", "Found 2 occurrences"),
        replaces(
            "test_edit_29",
            "\u{feff}first\r\nsecond\r\nthird\r\n",
            "second\n",
            "REPLACED\n",
            "\u{feff}first\r\nREPLACED\r\nthird\r\n",
        ),
    ]
}
