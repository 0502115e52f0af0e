//! A command line becomes words, by the rules of a POSIX shell, without one.
//!
//! Quotes and backslashes mean what they mean in a shell; nothing else does. `$`, `` ` ``, `;`, `|`, `&`, `>` and `*`
//! are letters. So is `#`, where a shell (and every splitting library) would begin a comment: `click #submit` is the
//! most usual command there is.

use crate::refusal::CommandRefusal;

/// A command line that is longer is refused unread. A large script for `eval` has some ten kilobytes.
pub(crate) const MAX_LINE_BYTES: usize = 256 << 10;

/// More words than any command has; a list of files to upload may be long.
const MAX_WORDS: usize = 512;

/// Splits a command line. A newline outside quotes separates words as a space does.
pub(crate) fn split(line: &str) -> Result<Vec<String>, CommandRefusal> {
    if line.len() > MAX_LINE_BYTES {
        return Err(CommandRefusal::new(format!(
            "the command has {} bytes; the limit is {MAX_LINE_BYTES}",
            line.len()
        )));
    }
    if line.contains('\0') {
        return Err(CommandRefusal::new("the command holds a NUL character"));
    }
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            ' ' | '\t' | '\n' | '\r' => words.extend(word.take()),
            '\'' => single(&mut chars, word.get_or_insert_default())?,
            '"' => double(&mut chars, word.get_or_insert_default())?,
            '\\' => match chars.next() {
                Some('\n') => {}
                Some(escaped) => word.get_or_insert_default().push(escaped),
                None => return Err(CommandRefusal::new("the command ends with a backslash")),
            },
            other => word.get_or_insert_default().push(other),
        }
        if words.len() > MAX_WORDS {
            return Err(CommandRefusal::new(format!("the command has more than {MAX_WORDS} words")));
        }
    }
    words.extend(word);
    Ok(words)
}

fn single(chars: &mut std::str::Chars<'_>, word: &mut String) -> Result<(), CommandRefusal> {
    for c in chars.by_ref() {
        match c {
            '\'' => return Ok(()),
            other => word.push(other),
        }
    }
    Err(CommandRefusal::new("a single quote (') is never closed"))
}

fn double(chars: &mut std::str::Chars<'_>, word: &mut String) -> Result<(), CommandRefusal> {
    while let Some(c) = chars.next() {
        match c {
            '"' => return Ok(()),
            '\\' => match chars.next() {
                Some('\n') => {}
                Some(escaped @ ('"' | '\\' | '$' | '`')) => word.push(escaped),
                Some(other) => word.extend(['\\', other]),
                None => break,
            },
            other => word.push(other),
        }
    }
    Err(CommandRefusal::new("a double quote (\") is never closed"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_become_words_as_in_a_shell() {
        for (line, expected) in [
            ("snapshot -i", vec!["snapshot", "-i"]),
            ("  click   #submit ", vec!["click", "#submit"]),
            ("fill @e1 'it is; $(x) `y`'", vec!["fill", "@e1", "it is; $(x) `y`"]),
            (r#"fill @e1 "a \"b\" \$c \d""#, vec!["fill", "@e1", r#"a "b" $c \d"#]),
            (r"fill @e1 it\'s\ me", vec!["fill", "@e1", "it's me"]),
            ("fill @e1 ''", vec!["fill", "@e1", ""]),
            ("a'b'\"c\"d", vec!["abcd"]),
            ("open x\nclick y", vec!["open", "x", "click", "y"]),
            ("eval 'a\nb'", vec!["eval", "a\nb"]),
            ("a; b | c > d & e", vec!["a;", "b", "|", "c", ">", "d", "&", "e"]),
            ("ü 日本 \u{a0}", vec!["ü", "日本", "\u{a0}"]),
            ("", vec![]),
            ("a \\\n b", vec!["a", "b"]),
        ] {
            assert_eq!(split(line).unwrap(), expected, "{line:?}");
        }
    }

    #[test]
    fn unfinished_lines_are_refused() {
        for line in ["fill 'x", "fill \"x", "x\\", "a\0b", "\"\\"] {
            assert!(split(line).is_err(), "{line:?}");
        }
        assert!(split(&"a ".repeat(600)).is_err());
        assert!(split(&"a".repeat(MAX_LINE_BYTES + 1)).is_err());
    }
}
