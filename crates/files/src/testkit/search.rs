//! Tests 30 to 33: `grep`, `find`, `ls`.

use serde_json::json;

use super::{Case, Expect};

pub(super) fn cases() -> Vec<Case> {
    let text = |text: &str| vec![Expect::Text(text.to_owned())];
    vec![
        Case::new("test_grep_30").file("example.txt", "first line\nmatch line\nlast line").call(
            "grep",
            json!({"pattern": "match", "path": "example.txt"}),
            text("example.txt:2: match line"),
        ),
        Case::new("test_grep_31")
            .file("context.txt", "before\nmatch one\nafter\nmiddle\nmatch two\nafter two")
            .call(
                "grep",
                json!({"pattern": "match", "path": "context.txt", "limit": 1, "context": 1}),
                vec![
                    Expect::Text(
                        "context.txt-1- before\ncontext.txt:2: match one\ncontext.txt-3- after\n\n\
                         [1 matches limit reached. Use limit=2 for more, or refine pattern]"
                            .to_owned(),
                    ),
                    Expect::Lacks("match two".to_owned()),
                    Expect::Detail("/matchLimitReached", json!(1)),
                ],
            )
            .call("grep", json!({"pattern": "nowhere"}), text("No matches found")),
        Case::new("test_find_32")
            .file(".secret/hidden.txt", "hidden")
            .file("visible.txt", "visible")
            .file(".gitignore", "ignored.txt\n")
            .file("ignored.txt", "ignored")
            .file(".git/config.txt", "git")
            .file("node_modules/pkg/readme.txt", "module")
            .call("find", json!({"pattern": "**/*.txt"}), text(".secret/hidden.txt\nvisible.txt"))
            .call("find", json!({"pattern": "*.none"}), text("No files found matching pattern")),
        Case::new("test_ls_33")
            .file(".hidden-file", "secret")
            .folder(".hidden-dir")
            .file("Beta.txt", "")
            .file("alpha.txt", "")
            .folder("empty")
            .call("ls", json!({}), text(".hidden-dir/\n.hidden-file\nalpha.txt\nBeta.txt\nempty/"))
            .call("ls", json!({"path": "empty"}), text("(empty directory)"))
            .call("ls", json!({"path": "missing"}), vec![Expect::Fails("Path not found: missing")])
            .call("ls", json!({"path": "alpha.txt"}), vec![Expect::Fails("Not a directory: alpha.txt")]),
    ]
}
