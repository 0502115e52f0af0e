//! Tests 12 and 13: `write`. That concurrent writes are whole is a test of its own (`tests/hostile.rs`).

use serde_json::json;

use super::{Case, Expect};

pub(super) fn cases() -> Vec<Case> {
    vec![
        Case::new("test_write_12")
            .call(
                "write",
                json!({"path": "write-test.txt", "content": "Test content"}),
                vec![
                    Expect::Text("Successfully wrote 12 bytes to write-test.txt".to_owned()),
                    Expect::File("write-test.txt", b"Test content".to_vec()),
                    Expect::NoDetails,
                ],
            )
            .call(
                "write",
                json!({"path": "write-test.txt", "content": "größer €"}),
                vec![
                    Expect::Text("Successfully wrote 12 bytes to write-test.txt".to_owned()),
                    Expect::File("write-test.txt", "größer €".as_bytes().to_vec()),
                ],
            ),
        Case::new("test_write_13").call(
            "write",
            json!({"path": "nested/dir/test.txt", "content": "Nested content"}),
            vec![
                Expect::Text("Successfully wrote 14 bytes to nested/dir/test.txt".to_owned()),
                Expect::File("nested/dir/test.txt", b"Nested content".to_vec()),
            ],
        ),
    ]
}
