//! The table: one small program per file under `suite/<mode>/`, and beside it what becomes of it.
//!
//! `COVE_BLESS=1` writes the expected files anew. Read every line of the difference before keeping it: nothing else
//! stands between a wrong rewrite and the suite.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod table;

use table::{Case, cases};

/// Every program becomes what its `.out` says, to the byte.
#[test]
fn programs_become_what_the_table_says() {
    let bless = std::env::var_os("COVE_BLESS").is_some();
    let mut wrong = Vec::new();
    let all = cases();
    for case in &all {
        let actual = case.outcome();
        if bless {
            std::fs::write(case.expected_path(), &actual).unwrap();
        } else if std::fs::read_to_string(case.expected_path()).ok().as_ref() != Some(&actual) {
            wrong.push(format!("{}:\n{actual}", case.name()));
        }
    }
    assert!(all.len() >= 150, "the table shrank to {} programs", all.len());
    assert!(wrong.is_empty(), "{} of {} differ\n\n{}", wrong.len(), all.len(), wrong.join("\n\n"));
}

/// No expected file without a program.
#[test]
fn no_expected_file_is_left_over() {
    let known: Vec<_> = cases().iter().map(Case::expected_path).collect();
    for mode in std::fs::read_dir(table::folder()).unwrap() {
        for file in std::fs::read_dir(mode.unwrap().path()).unwrap() {
            let path = file.unwrap().path();
            let is_out = path.extension().is_some_and(|extension| extension == "out");
            assert!(!is_out || known.contains(&path), "{} has no program", path.display());
        }
    }
}

/// Lines stay the user's own: each line of the program begins the same line of the prepared text, or is blanked there,
/// and every place maps to its own line.
#[test]
fn every_place_maps_back_to_its_own_line() {
    for case in cases() {
        let Ok(prepared) = case.prepare() else { continue };
        let lines = js_lines(case.text());
        let out = js_lines(&prepared.code);
        assert!(out.len() >= lines.len(), "{}", case.name());
        for (index, line) in out.iter().enumerate() {
            let number = u32::try_from(index).unwrap() + 1;
            let mut last = 0;
            for column in 1..=u32::try_from(line.chars().count()).unwrap() {
                let Some(place) = prepared.locate(number, column, cove_script::ColumnUnit::Chars) else { continue };
                assert_eq!(place.line, number, "{} {number}:{column}", case.name());
                assert!(place.column >= last, "{} {number}:{column} goes backwards", case.name());
                last = place.column;
            }
        }
    }
}

/// A word that stands once in the program and once in the prepared text maps to where it stood.
#[test]
fn every_word_maps_back_to_where_it_stood() {
    let mut seen = 0;
    for case in cases() {
        let Ok(prepared) = case.prepare() else { continue };
        let out = js_lines(&prepared.code);
        for (index, line) in js_lines(case.text()).iter().enumerate() {
            let words = line.split(|char: char| !char.is_alphanumeric());
            for word in words.filter(|word| word.len() > 2 && !OURS.contains(word)) {
                // Imports are spelt out anew at the head.
                let once = case.mode() != "module"
                    && case.text().matches(word).count() == 1
                    && prepared.code.matches(word).count() == 1;
                let (Some(from), Some(to), true) = (line.find(word), out[index].find(word), once) else { continue };
                let number = u32::try_from(index).unwrap() + 1;
                let wanted = u32::try_from(line[..from].chars().count()).unwrap() + 1;
                let units = [
                    (cove_script::ColumnUnit::Bytes, to),
                    (cove_script::ColumnUnit::Chars, out[index][..to].chars().count()),
                    (cove_script::ColumnUnit::Utf16, out[index][..to].encode_utf16().count()),
                ];
                for (unit, column) in units {
                    let place = prepared.locate(number, u32::try_from(column).unwrap() + 1, unit);
                    let place = place.map(|place| (place.line, place.column));
                    assert_eq!(place, Some((number, wanted)), "{}: {word} in {unit:?}", case.name());
                }
                seen += 1;
            }
        }
    }
    assert!(seen > 200, "only {seen} words were followed");
}

/// Words that the wrapper and the splices use too.
const OURS: [&str; 8] = ["let", "const", "async", "function", "return", "void", "catch", "default"];

/// Lines as JavaScript counts them.
fn js_lines(text: &str) -> Vec<String> {
    text.replace("\r\n", "\n").split(['\n', '\r', '\u{2028}', '\u{2029}']).map(str::to_owned).collect()
}
