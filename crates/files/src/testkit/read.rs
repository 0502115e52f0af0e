//! Tests 1 to 11: `read`.

use serde_json::json;

use super::{Case, Expect};

/// A PNG of one pixel.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89\0\0\0\nIDATx\x9cc\0\x01\0\0\x05\0\x01\r\n-\xb4\0\0\0\0IEND\xaeB`\x82";

fn lines(range: std::ops::RangeInclusive<u32>) -> String {
    range.map(|n| format!("Line {n}")).collect::<Vec<_>>().join("\n")
}

pub(super) fn cases() -> Vec<Case> {
    let three = "Hello, world!\nLine 2\nLine 3";
    let wide = |range: std::ops::RangeInclusive<u32>| {
        range.map(|n| format!("Line {n}: {}", "x".repeat(200))).collect::<Vec<_>>().join("\n")
    };
    vec![
        Case::new("test_read_01").file("test.txt", three).call(
            "read",
            json!({"path": "test.txt"}),
            vec![Expect::Text(three.to_owned()), Expect::OneBlock, Expect::NoDetails],
        ),
        Case::new("test_read_02").call(
            "read",
            json!({"path": "nonexistent.txt"}),
            vec![Expect::Fails("File not found: nonexistent.txt"), Expect::Fails("ENOENT")],
        ),
        Case::new("test_read_03").file("large.txt", lines(1..=2500)).call(
            "read",
            json!({"path": "large.txt"}),
            vec![Expect::Text(format!(
                "{}\n\n[Showing lines 1-2000 of 2500. Use offset=2001 to continue.]",
                lines(1..=2000)
            ))],
        ),
        Case::new("test_read_04").file("wide.txt", wide(1..=500)).call(
            "read",
            json!({"path": "wide.txt"}),
            vec![
                Expect::Text(format!(
                    "{}\n\n[Showing lines 1-243 of 500 (50.0KB limit). Use offset=244 to continue.]",
                    wide(1..=243)
                )),
                Expect::Detail("/truncation/truncatedBy", json!("bytes")),
            ],
        ),
        Case::new("test_read_05").file("offset.txt", lines(1..=100)).call(
            "read",
            json!({"path": "offset.txt", "offset": 51}),
            vec![Expect::Text(lines(51..=100)), Expect::NoDetails],
        ),
        Case::new("test_read_06").file("limit.txt", lines(1..=100)).call(
            "read",
            json!({"path": "limit.txt", "limit": 10}),
            vec![Expect::Text(format!("{}\n\n[90 more lines in file. Use offset=11 to continue.]", lines(1..=10)))],
        ),
        Case::new("test_read_07").file("both.txt", lines(1..=100)).call(
            "read",
            json!({"path": "both.txt", "offset": 41, "limit": 20}),
            vec![Expect::Text(format!("{}\n\n[40 more lines in file. Use offset=61 to continue.]", lines(41..=60)))],
        ),
        Case::new("test_read_08").file("short.txt", lines(1..=3)).call(
            "read",
            json!({"path": "short.txt", "offset": 100}),
            vec![Expect::Fails("Offset 100 is beyond end of file (3 lines total)")],
        ),
        Case::new("test_read_09").file("large.txt", lines(1..=2500)).call(
            "read",
            json!({"path": "large.txt"}),
            vec![Expect::Detail(
                "/truncation",
                json!({
                    "truncated": true,
                    "truncatedBy": "lines",
                    "totalLines": 2500,
                    "totalBytes": lines(1..=2500).len(),
                    "outputLines": 2000,
                    "outputBytes": lines(1..=2000).len(),
                    "firstLineExceedsLimit": false,
                    "maxLines": 2000,
                    "maxBytes": 51_200,
                }),
            )],
        ),
        Case::new("test_read_10").file("image.txt", PNG).call(
            "read",
            json!({"path": "image.txt"}),
            vec![Expect::Text("Read image file [image/png]".to_owned()), Expect::Image("image/png", PNG.to_vec())],
        ),
        Case::new("test_read_11").file("not-an-image.png", "definitely not a png").call(
            "read",
            json!({"path": "not-an-image.png"}),
            vec![Expect::Text("definitely not a png".to_owned()), Expect::OneBlock, Expect::NoDetails],
        ),
    ]
}
