//! Broken input: cut, mangled, strange. An error with a place, or a result; never a panic.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod program;
mod table;

use cove_core::FaultKind;
use cove_script::{Mode, PrepareOptions, prepare};

const MODES: [Mode; 4] = [Mode::Cell, Mode::FunctionBody, Mode::Dynamic, Mode::Module];

/// Prepares in one mode. A refusal must say all it should; a result must be JavaScript to a parser that knows nothing
/// of types.
fn check(source: &str, mode: Mode) {
    let outcome = prepare(source, &PrepareOptions::new(mode));
    if let Ok(prepared) = &outcome {
        let arena = oxc_allocator::Allocator::default();
        let kind = oxc_span::SourceType::cjs().with_script(true).with_jsx(false);
        let parsed = oxc_parser::Parser::new(&arena, &prepared.code, kind).parse();
        assert!(parsed.diagnostics.is_empty(), "{:?}\n{source}\n-----\n{}", parsed.diagnostics, prepared.code);
    }
    if let Err(refusal) = outcome {
        let position = refusal.position.unwrap_or_else(|| panic!("no place: {}", refusal.message));
        let lines = source.replace("\r\n", "\n").split(['\n', '\r', '\u{2028}', '\u{2029}']).count();
        assert!((1..=lines).contains(&(position.line as usize)), "line {} of {lines}", position.line);
        let frame = refusal.frame.unwrap();
        assert!(frame.contains('^') && frame.lines().count() <= 7, "{frame}");
        assert!(
            !refusal.message.is_empty() && !refusal.message.contains("could not be prepared"),
            "{}",
            refusal.message
        );
        assert!(matches!(refusal.kind, FaultKind::Syntax | FaultKind::Refused | FaultKind::ImportNotAllowed));
    }
}

/// Every program of the corpus, cut off after every character.
#[test]
fn programs_cut_at_every_position() {
    for (_, source) in program::corpus() {
        for (at, _) in source.char_indices() {
            check(&source[..at], Mode::Cell);
        }
    }
}

/// Every program of the corpus, beginning at every character.
#[test]
fn programs_that_begin_at_every_position() {
    for (_, source) in program::corpus() {
        for (at, _) in source.char_indices() {
            check(&source[at..], Mode::FunctionBody);
        }
    }
}

/// Every token cut short at every position while the rest of the program follows, and every token left out or doubled.
#[test]
fn tokens_cut_left_out_and_doubled() {
    for (_, source) in program::corpus() {
        for token in tokens(&source) {
            for cut in token.clone().filter(|at| source.is_char_boundary(*at)) {
                check(&format!("{}{}", &source[..cut], &source[token.end..]), Mode::FunctionBody);
            }
            let text = &source[token.clone()];
            check(&format!("{}{text} {}", &source[..token.end], &source[token.end..]), Mode::Module);
        }
    }
}

/// Words, numbers, runs of punctuation.
fn tokens(source: &str) -> Vec<std::ops::Range<usize>> {
    let class = |char: char| (char.is_alphanumeric() || char == '_', char.is_whitespace());
    let mut out: Vec<std::ops::Range<usize>> = Vec::new();
    let mut last = None;
    for (at, char) in source.char_indices() {
        let end = at + char.len_utf8();
        match out.last_mut() {
            Some(range) if last == Some(class(char)) && class(char).0 => range.end = end,
            _ if class(char).1 => {}
            _ => out.push(at..end),
        }
        last = Some(class(char));
    }
    out
}

/// Every program of the table in every mode, whichever it was written for.
#[test]
fn every_program_in_every_mode() {
    for case in table::cases() {
        for mode in MODES {
            check(case.text(), mode);
        }
    }
}

/// Programs put together from the lines of others.
#[test]
fn programs_spliced_from_others() {
    let cases = table::cases();
    let lines: Vec<&str> = cases.iter().flat_map(|case| case.text().lines()).filter(|line| line.len() < 300).collect();
    let mut state = 0x2545_F491_4F6C_DD1D_u64;
    let mut below = |limit: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from((state >> 11) % limit as u64).unwrap()
    };
    for _ in 0..4_000 {
        let mut source = String::new();
        for _ in 0..=below(4) {
            let line = lines[below(lines.len())];
            let frames = [
                "#",
                "{ # }",
                "function f() { # }",
                "async () => { # }",
                "class A { m() { # } }",
                "if (a) { # } else b",
            ];
            source.push_str(&frames[below(frames.len())].replace('#', line));
            source.push_str(["\n", ";", " ", "\n("][below(4)]);
        }
        check(&source, MODES[below(4)]);
    }
}

/// Strange texts, one by one.
#[test]
fn strange_texts() {
    let strange = [
        "",
        " ",
        "\n",
        "\r",
        "\0",
        "\u{FEFF}",
        "\u{FEFF}\u{FEFF}",
        "\u{2028}",
        "#!",
        "#!\n",
        "#",
        "\\",
        "\\u",
        "\\u{",
        "\\u{41",
        "\"\\u{110000}\"",
        "\"\\uD800\"",
        "\\u{D800}",
        "`\\u{`",
        "'\\",
        "'\\\n",
        "/",
        "//",
        "/*",
        "/**/",
        "/[",
        "/\\",
        "`",
        "`${",
        "`${`",
        "${",
        "}",
        ")",
        "]",
        "{",
        "(",
        "[",
        ";",
        ",",
        ".",
        "..",
        "...",
        "?",
        "?.",
        "??",
        ":",
        "=",
        "=>",
        "@",
        "~",
        "!",
        "a!",
        "<",
        "<!--",
        "-->",
        "<>",
        "</>",
        "<a",
        "<a>",
        "<a/>",
        "0x",
        "0b2",
        "1_",
        "1__0",
        "08",
        "1n.",
        "1.e",
        "0..",
        "\u{0}a",
        "a\u{0}",
        "a\u{200D}b",
        "\u{1F600}",
        "é",
        "\u{202E}x",
        "async",
        "await",
        "yield",
        "let",
        "static",
        "of",
        "get",
        "set",
        "enum",
        "enum E",
        "enum E {",
        "enum E { A = }",
        "type",
        "type A",
        "type A =",
        "interface",
        "declare",
        "declare global",
        "namespace",
        "abstract",
        "abstract class",
        "class",
        "class {",
        "class A { constructor(private",
        "@a",
        "@a class",
        "function",
        "function f",
        "function f(",
        "function f(a",
        "function* ",
        "async function",
        "(a, b) =",
        "(a",
        "a =>",
        "({",
        "({a",
        "({a:",
        "([",
        "for",
        "for (",
        "for (;",
        "for (;;",
        "for (;;)",
        "for (a",
        "for (a of",
        "for (const",
        "for await",
        "while",
        "while (",
        "do",
        "do {}",
        "do {} while",
        "if",
        "if (",
        "if (a)",
        "if (a) else",
        "try",
        "try {",
        "try {}",
        "try {} catch",
        "try {} catch (",
        "try {} catch ({",
        "switch",
        "switch (a) {",
        "switch (a) { case",
        "return",
        "throw",
        "throw\n1",
        "break",
        "continue",
        "import",
        "import(",
        "import()",
        "import('a'",
        "import.",
        "import.meta",
        "import {",
        "import a",
        "import a from",
        "import 'a",
        "export",
        "export {",
        "export *",
        "export default",
        "new",
        "new.",
        "new.target",
        "super",
        "super()",
        "this",
        "delete",
        "typeof",
        "void",
        "in",
        "instanceof",
        "a as",
        "a satisfies",
        "a as const",
        "<T",
        "<T>",
        "<T>a",
        "f<",
        "f<T",
        "f<T>",
        "f<T>(",
        "let a: ",
        "let a!: ",
        "let a?: b",
        "function f(this",
        "function f(this: a,",
        "catch",
        "finally",
        "else",
        "case",
        "default",
        "with (a) b",
        "debugger",
        "var",
        "const",
        "const a",
        "const {a}",
        "using",
        "using a",
        "label:",
        "a: b: c:",
        "a\u{A0}b",
        "return\u{A0}/x/",
        "x\r\ny(",
        "'\r\n'",
        "`\r\n`",
        "1/*\r\n*/2",
        "let __cove",
        "__cove_",
        "\\u005f_cove",
        "_\\u{5f}cove_n",
        "class A { #a; #a }",
        "class A { get\n a() {} }",
        "class A { 'constructor'() {} }",
        "({__proto__: 1, __proto__: 2})",
        "function f(a = super.b) {}",
        "({ async *[Symbol.iterator]() { for await (x of y) z } })",
    ];
    for source in strange {
        for mode in MODES {
            check(source, mode);
        }
    }
}

/// Ordinary programs with any two bytes in them swapped for strange ones.
#[test]
fn programs_with_strange_characters() {
    let strange = [
        "\0", "\u{2028}", "\u{FEFF}", "`", "'", "/", "{", ")", "<", "\\", "@", "#", "😀", "\r", "<!--", "/*", "*/",
        "${",
    ];
    for (_, source) in program::corpus() {
        let places: Vec<usize> = source.char_indices().map(|(at, _)| at).step_by(7).collect();
        for (index, at) in places.iter().enumerate() {
            let insert = strange[index % strange.len()];
            check(&format!("{}{insert}{}", &source[..*at], &source[*at..]), Mode::Cell);
        }
    }
}
