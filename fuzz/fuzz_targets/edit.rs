//! `edit` on any bytes: it answers or refuses, and what it did not replace is as it was.
//!
//! The wanted text is mostly cut out of the file and made plain, so that both the exact and the careless search find
//! something to do.
#![no_main]

use cove_files::{Replacement, preview};
use libfuzzer_sys::fuzz_target;

type Input<'a> = (&'a [u8], Vec<(u16, u8, u8, &'a str)>);

fuzz_target!(|input: Input<'_>| {
    let (content, cuts) = input;
    let replacements: Vec<Replacement> = cuts
        .into_iter()
        .take(4)
        .map(|(from, length, style, text)| {
            let from = usize::from(from) % (content.len() + 1);
            let to = (from + usize::from(length)).min(content.len());
            let cut = String::from_utf8_lossy(&content[from..to]).into_owned();
            let old_text = match style % 4 {
                0 => cut,
                1 => cut.replace(['\u{2018}', '\u{2019}'], "'").replace('\u{2013}', "-").replace('\u{a0}', " "),
                2 => cut.lines().map(str::trim_end).collect::<Vec<_>>().join("\n"),
                _ => text.to_owned(),
            };
            Replacement { old_text, new_text: text.to_owned() }
        })
        .collect();
    let Ok(edited) = preview(content, &replacements, "file") else { return };
    let (mut old_at, mut new_at) = (0, 0);
    for (old, new) in &edited.changes {
        assert_eq!(content[old_at..old.start], edited.content[new_at..new.start], "a byte before a match has changed");
        (old_at, new_at) = (old.end, new.end);
    }
    assert_eq!(content[old_at..], edited.content[new_at..], "a byte behind the last match has changed");
    assert!(edited.first_changed_line >= 1);
});
