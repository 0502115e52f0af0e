//! An edit changes its match and not a byte besides, whatever the file looks like.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use cove_files::{EditArgs, Replacement, Workspace};
use proptest::prelude::*;

/// A line of a file as people and programs leave them: blanks at the end, odd quotes, wide letters, tabs, bad bytes.
fn line() -> impl Strategy<Value = Vec<u8>> {
    let word = prop_oneof![
        "[a-z]{1,6}".prop_map(String::into_bytes),
        prop_oneof![
            Just("“q”"),
            Just("‘s’"),
            Just("a–b"),
            Just("x\u{a0}y"),
            Just("ＡＢ１"),
            Just("e\u{301}"),
            Just("ﬁ…"),
            Just("ｶﾞ"),
            Just("한"),
            Just("日本"),
            Just("🦀"),
            Just("\u{1112}\u{1161}"),
            Just("'"),
            Just("\""),
            Just("-"),
        ]
        .prop_map(|text| text.as_bytes().to_vec()),
        prop_oneof![Just(vec![0xff]), Just(vec![0xc3]), Just(vec![0xe2, 0x80])],
    ];
    let blanks = prop_oneof![Just(""), Just(" "), Just("   "), Just("\t"), Just(" \u{a0}"), Just("\u{3000}")];
    (blanks.clone(), prop::collection::vec(word, 0..5), blanks)
        .prop_map(|(before, words, after)| [before.as_bytes(), &words.join(&b' '), after.as_bytes()].concat())
}

fn ending() -> impl Strategy<Value = &'static [u8]> {
    prop_oneof![Just(&b"\n"[..]), Just(&b"\r\n"[..]), Just(&b"\r"[..])]
}

fn lines() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec((line(), ending()), 0..8)
        .prop_map(|lines| lines.into_iter().flat_map(|(line, ending)| [line, ending.to_vec()].concat()).collect())
}

/// One line of the text to replace: how a model writes it, and how it is in the file.
fn varied() -> impl Strategy<Value = (String, String)> {
    let part = prop_oneof![
        "[a-z0-9]{1,5}".prop_map(|word| (word.clone(), word)),
        prop_oneof![
            Just(("'", "‘")),
            Just(("'", "’")),
            Just(("\"", "“")),
            Just(("\"", "”")),
            Just(("-", "–")),
            Just(("-", "—")),
            Just(("-", "−")),
            Just((" ", "\u{a0}")),
            Just((" ", "\u{202f}")),
            Just(("(", "（")),
            Just((",", "，")),
            Just(("A", "Ａ")),
            Just(("1", "１")),
            Just(("é", "e\u{301}")),
            Just(("fi", "ﬁ")),
            Just(("ガ", "ｶﾞ")),
            Just(("é", "é")),
            Just(("日", "日")),
            Just((" ", " ")),
        ]
        .prop_map(|(plain, fancy)| (plain.to_owned(), fancy.to_owned())),
    ];
    // Each line begins and ends in a plain letter, so that what varies is inside.
    prop::collection::vec(part, 0..6).prop_map(|parts| {
        let (plain, fancy): (String, String) = parts.into_iter().unzip();
        (format!("k{plain}k"), format!("k{fancy}k"))
    })
}

fn indent() -> impl Strategy<Value = &'static str> {
    prop_oneof![Just(""), Just("  "), Just("\t"), Just("\u{3000}")]
}

fn blanks() -> impl Strategy<Value = &'static str> {
    prop_oneof![3 => Just(""), 1 => Just("  "), 1 => Just("\t"), 1 => Just("\u{a0} ")]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn everything_outside_the_match_stays(
        bom in any::<bool>(),
        before in lines(),
        middle in prop::collection::vec((indent(), varied(), blanks(), ending()), 1..4),
        whole_lines in any::<bool>(),
        after in lines(),
        new_lines in prop::collection::vec("[a-z ‘’]{0,8}", 1..4),
    ) {
        // `UNIQUE` makes the place the only one, in both spellings.
        let mut old = String::from("UNIQUE\n");
        let mut found = b"UNIQUE".to_vec();
        found.extend_from_slice(middle[0].3);
        for (index, (indent, (plain, fancy), blanks, ending)) in middle.iter().enumerate() {
            let last = index + 1 == middle.len();
            old.push_str(&format!("{indent}{plain}"));
            found.extend_from_slice(format!("{indent}{fancy}").as_bytes());
            if !last || whole_lines {
                old.push('\n');
                found.extend_from_slice(blanks.as_bytes());
                found.extend_from_slice(ending);
            }
        }
        let mut new = new_lines.join("\n");
        new.push_str("NEW");
        if whole_lines {
            new.push('\n');
        }
        // A lone CR before an LF would be one ending with it; what comes after a match in the middle of a line is text.
        let separator: &[u8] = if whole_lines { b"" } else { b";" };
        let before = if bom { [b"\xef\xbb\xbf", &before[..]].concat() } else { before };
        let after = if whole_lines { [b"z", &after[..]].concat() } else { after };
        let file = [&before[..], &found, separator, &after].concat();

        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("f"), &file).unwrap();
        let workspace = Workspace::open(dir.path()).unwrap();
        workspace.edit(EditArgs::one("f", &old, &new)).unwrap();
        let edited = std::fs::read(dir.path().join("f")).unwrap();

        prop_assert!(edited.starts_with(&before), "what comes before has changed");
        let rest = [separator, &after].concat();
        prop_assert!(edited.ends_with(&rest), "what comes after has changed");
        let inserted = String::from_utf8(edited[before.len()..edited.len() - rest.len()].to_vec()).unwrap();
        prop_assert_eq!(inserted.replace("\r\n", "\n").replace('\r', "\n"), new);
    }

    /// Two edits at once leave what is between them, and their order says nothing.
    #[test]
    fn everything_between_two_edits_stays(parts in prop::array::uniform3(lines()), swap in any::<bool>()) {
        let [before, between, after] = parts;
        let file = [&before[..], b"FIRST \xe2\x80\x9cx\xe2\x80\x9d;", &between, b";SECOND\xc2\xa0y;", &after].concat();
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("f"), &file).unwrap();
        let mut edits = vec![
            Replacement { old_text: "FIRST \"x\"".into(), new_text: "1st".into() },
            Replacement { old_text: "SECOND y".into(), new_text: "2nd".into() },
        ];
        if swap {
            edits.reverse();
        }
        let args = EditArgs { path: "f".into(), edits: Some(edits), ..Default::default() };
        Workspace::open(dir.path()).unwrap().edit(args).unwrap();
        let expected = [&before[..], b"1st;", &between, b";2nd;", &after].concat();
        prop_assert_eq!(std::fs::read(dir.path().join("f")).unwrap(), expected);
    }
}

/// What the widely copied implementation gets wrong: the other lines.
#[test]
fn other_lines_keep_their_quotes_blanks_and_endings() {
    let file = "“first”   \r\n\tcafe\u{301} – ok\t\nplain ‘target’ line  \r\nＦＵＬＬ\u{a0}\u{a0}\r\n\r\nlast…";
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("f"), file).unwrap();
    let workspace = Workspace::open(dir.path()).unwrap();
    workspace.edit(EditArgs::one("f", "plain 'target' line\n", "done\n")).unwrap();
    let expected = file.replace("plain ‘target’ line  \r\n", "done\r\n");
    assert_eq!(std::fs::read_to_string(dir.path().join("f")).unwrap(), expected);
}
