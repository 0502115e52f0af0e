//! The pipeline: limits, parse, early errors, walk, splice.

use std::borrow::Cow;

use cove_core::{FaultKind, Position};
use oxc_allocator::Allocator;
use oxc_ast::ast::Program;
use oxc_semantic::SemanticBuilder;

use crate::habits;
use crate::lines;
use crate::nesting::{self, MAX_BRACKETS, Nesting};
use crate::options::{Language, Mode, PrepareOptions};
use crate::parse::{Parsed, finding, first_tag, parse, parse_plain, parse_typescript};
use crate::prepared::{FreeName, Prepared};
use crate::redeclared;
use crate::refusal::{Finding, SourceRefusal};
use crate::rewriter::Rewriter;
use crate::stack::{self, Ran};

/// The longest text that is prepared.
///
/// 4 MiB: four times the largest program anyone was seen to send, small enough that the tree of the worst one (about
/// twenty bytes of arena per byte of text) fits into a worker's memory.
pub const MAX_SOURCE_BYTES: usize = 4 << 20;

/// Stack per unit of nesting, in bytes.
///
/// Measured over every construct of the grammar, unoptimised: 450 bytes at worst (nested type arguments), 230 for
/// most. `tests/depth.rs` runs each of them at the limit.
/// A fuzzer's instrumentation makes every frame several times as large.
#[allow(unexpected_cfgs, reason = "set by cargo-fuzz")]
const BYTES_PER_UNIT: usize = if cfg!(fuzzing) { 8 << 10 } else { 512 };

/// The deepest nesting that is prepared, in units of `nesting`.
///
/// 12 MiB of stack at most. It holds a sum of twelve thousand terms, which no person writes and few engines run; and a
/// few of the early-error checks take the square of the depth.
const MAX_UNITS: u64 = 24 << 10;

/// The longest text that is tried as JSX, only to word a refusal better.
const MAX_JSX_BYTES: usize = 64 << 10;

/// What may be used of the caller's own stack without asking: half of what the smallest thread here has left.
const OWN_STACK_BYTES: usize = 512 << 10;

/// What the pipeline uses whatever the text.
const BASE_STACK_BYTES: usize = 128 << 10;

/// Turns the user's text into code for an engine, or says why not.
pub fn prepare(source: &str, options: &PrepareOptions<'_>) -> Result<Prepared, SourceRefusal> {
    if source.len() > MAX_SOURCE_BYTES {
        let message = format!("The code has {} bytes; the limit is {MAX_SOURCE_BYTES}", source.len());
        return Err(SourceRefusal::nowhere(FaultKind::Refused, message, "Pass large data as input, not as code."));
    }
    let bare = if matches!(options.mode, Mode::FunctionBody | Mode::Cell) {
        habits::without_fence(source)
    } else {
        Cow::Borrowed(source)
    };
    let source = bare.as_ref();
    let nesting = nesting::bound(source);
    let mut finding = match with_room(nesting, || prepare_here(source, options)) {
        Ok(Ok(prepared)) => return Ok(prepared),
        Ok(Err(finding)) | Err(finding) => finding,
    };
    // Fine as TSX and with a tag in it, so the user wrote JSX: say that instead of "unexpected token".
    if finding.kind == FaultKind::Syntax
        && source.contains('<')
        && source.len() <= MAX_JSX_BYTES
        && let Ok(Some(tag)) = with_room(Nesting { units: nesting::loose(source), ..nesting }, || first_tag(source))
    {
        finding = Finding::new(FaultKind::Refused, tag, "JSX is not supported")
            .hint("Build elements with plain function calls instead of JSX tags.");
    }
    Err(SourceRefusal::from_finding(finding, source, options.file_name))
}

/// Runs `work` where there is enough stack for this much nesting.
fn with_room<R>(nesting: Nesting, work: impl FnOnce() -> R) -> Result<R, Finding> {
    let refused = |message: &str| Finding::new(FaultKind::Refused, nesting.deepest, message);
    if nesting.units > MAX_UNITS || nesting.brackets > MAX_BRACKETS {
        return Err(refused("The code is nested too deeply")
            .hint("Split long expressions and deep brackets into several statements."));
    }
    let bytes = usize::try_from(nesting.units).map_or(usize::MAX, |units| BASE_STACK_BYTES + units * BYTES_PER_UNIT);
    let ran = if bytes <= OWN_STACK_BYTES { stack::here(work) } else { stack::on_fresh(bytes, work) };
    match ran {
        Ran::Done(result) => Ok(result),
        Ran::NoMemory => Err(refused("There is not enough memory to read code nested this deeply")
            .hint("Split long expressions and deep brackets into several statements.")),
        Ran::Panicked => Err(refused("This program could not be prepared: the parser failed")
            .hint("Please report the program; rewriting it may help.")),
    }
}

/// Reads a text once more and shows the tree to `work`. `None`: it does not parse.
pub(crate) fn read(source: &str, work: impl FnOnce(&Program<'_>)) -> Option<()> {
    with_room(nesting::bound(source), || {
        let arena = Allocator::default();
        let parsed = parse(&arena, source, true).ok()?;
        work(&parsed.program);
        Some(())
    })
    .ok()
    .flatten()
}

fn prepare_here(source: &str, options: &PrepareOptions<'_>) -> Result<Prepared, Finding> {
    let arena = Allocator::default();
    let parsed = parse(&arena, source, options.mode == Mode::FunctionBody)?;
    let language = parsed.language;
    let rewritten = rewrite(source, &parsed, options).or_else(|finding| {
        // A name `await` inside a function is found only now.
        let is_name = options.mode == Mode::FunctionBody && !parsed.plain && finding.message.contains("'await'");
        match parse_plain(&arena, source).filter(|_| is_name) {
            Some(plain) => rewrite(source, &plain, options).map_err(|_| finding),
            None => Err(finding),
        }
    });
    match rewritten? {
        Rewritten::Done(prepared) => Ok(prepared),
        // `f<T>(x)` is a comparison in JavaScript and a call in TypeScript. Nobody means the comparison.
        Rewritten::LooksGeneric(prepared) => match parse_typescript(&arena, source) {
            Ok(parsed) if language == Language::JavaScript => match rewrite(source, &parsed, options)? {
                Rewritten::Done(prepared) | Rewritten::LooksGeneric(prepared) => Ok(prepared),
            },
            _ => Ok(prepared),
        },
    }
}

enum Rewritten {
    Done(Prepared),
    LooksGeneric(Prepared),
}

fn rewrite(source: &str, parsed: &Parsed<'_>, options: &PrepareOptions<'_>) -> Result<Rewritten, Finding> {
    let semantic = SemanticBuilder::new_compiler().build(&parsed.program);
    let scoping = semantic.semantic.into_scoping();
    let errors = semantic
        .diagnostics
        .errors()
        .filter(|error| options.mode == Mode::Module || !redeclared::is_legal(error, &scoping));
    if let Some(error) = errors.map(|error| finding(error, source)).min_by_key(|f| f.offset) {
        return Err(error);
    }
    let mut rewriter = Rewriter::new(source, parsed, options, &scoping);
    rewriter.program(&parsed.program);
    let looks_generic = rewriter.looks_generic && parsed.language == Language::JavaScript;
    let finished = rewriter.finish(&parsed.program)?;
    let (code, segments) = finished.edits.apply(source, &finished.head, &finished.tail).map_err(|overlap| {
        Finding::new(FaultKind::Refused, overlap.0, "This program could not be prepared (overlapping edits)")
    })?;
    let mut cursor = lines::Cursor::new(source);
    let free_names = finished
        .free_names
        .into_iter()
        .map(|(name, offset)| free_name(name, finished.needed.contains(name), cursor.position(offset as usize)))
        .collect();
    let mut cursor = lines::Cursor::new(source);
    let locales = finished
        .locales
        .into_iter()
        .map(|(name, offset)| free_name(name, true, cursor.position(offset as usize)))
        .collect();
    let prepared = Prepared {
        locales,
        returns: finished.returns,
        takes_last: finished.takes_last,
        code,
        language: parsed.language,
        free_names,
        declared: finished.declared,
        source: source.to_owned(),
        segments,
    };
    Ok(if looks_generic { Rewritten::LooksGeneric(prepared) } else { Rewritten::Done(prepared) })
}

/// Whether loops are guarded: always in a cell, for its step counter is a promise.
pub(crate) fn guards(options: &PrepareOptions<'_>) -> bool {
    options.guards || options.mode == Mode::Cell
}

fn free_name(name: &str, needed: bool, position: Position) -> FreeName {
    FreeName { name: name.to_owned(), needed, position }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `nesting` relies on: a reading ends where a bracket does not fit or a text is not closed, because the
    /// parser ends there. If it went on, the depth behind would overflow this stack.
    #[test]
    fn the_parser_stops_where_brackets_do_not_fit() {
        const BEGUN: &[&str] = &[
            "(",
            "[",
            "x={",
            "{",
            "f(",
            "a[",
            "`${",
            "x={a:",
            "x={[",
            "class A{",
            "class A{m(){",
            "class A{a=",
            "(a=>(",
            "(a,(b",
            "async(",
            "function f(",
            "function f(){",
            "if(",
            "for(",
            "switch(a){",
            "switch(a){case 1:",
            "try{",
            "new X(",
            "import(",
            "let {a",
            "let [a",
            "let {a:",
            "a?.(",
            "x=>{",
            "do{",
            "a++/(",
            "label:{",
            "a?b:(",
            "let a:{",
            "let a:[",
            "let a:(",
            "let a:A<{",
            "f<(",
            "f<{",
            "type a={",
            "interface a{",
            "enum a{",
            "declare namespace a{",
            "@a(",
            "x as (",
            "class A<(",
            "function f<[",
            "let a:`${",
            "a!(",
            "abstract class A{",
            "for await(",
            "export {",
            "import {",
            "class A{static{",
            "x={get a(){",
            "function*f(){yield(",
            "import a from {",
        ];
        const ENDED: &[&str] = &[")", "]", "}", "'\n", "\"\n", "=/a\n"];
        const DEEP: &[&str] = &["(", "[", "{", "f(", "x={a:", "!", "`${", "()=>{", "class A{m(){", "if(a)", "let a:A<"];
        for (begun, ended) in BEGUN.iter().flat_map(|begun| ENDED.iter().map(move |ended| (begun, ended))) {
            let open = begun.rfind(['(', '[', '{']).and_then(|at| begun.get(at..=at));
            if matches!((open, *ended), (Some("("), ")") | (Some("["), "]") | (Some("{"), "}")) {
                continue;
            }
            for deep in DEEP {
                let source = format!("{begun}{ended}{}", deep.repeat(20_000));
                let ran = stack::on_fresh(1 << 20, || prepare_here(&source, &PrepareOptions::cell()).is_err());
                assert!(matches!(ran, Ran::Done(true)), "{begun}{ended}{deep}");
            }
        }
    }
}
