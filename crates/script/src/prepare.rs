//! The pipeline: limits, parse, early errors, walk, splice.

use cove_core::FaultKind;
use oxc_allocator::Allocator;
use oxc_semantic::SemanticBuilder;

use crate::lines;
use crate::options::{Language, Mode, PrepareOptions};
use crate::parse::{Parsed, finding, parse, parse_typescript};
use crate::prepared::{FreeName, Prepared};
use crate::refusal::{Finding, Refusal};
use crate::rewriter::Rewriter;

/// The longest text that is prepared.
///
/// 4 MiB: four times the largest program anyone was seen to send, small enough that the tree of the worst one (about
/// twenty bytes of arena per byte of text) fits into a worker's memory.
pub const MAX_SOURCE_BYTES: usize = 4 << 20;

/// Turns the user's text into code for an engine, or says why not.
pub fn prepare(source: &str, options: &PrepareOptions<'_>) -> Result<Prepared, Refusal> {
    if source.len() > MAX_SOURCE_BYTES {
        let message = format!("The code has {} bytes; the limit is {MAX_SOURCE_BYTES}", source.len());
        return Err(Refusal::nowhere(FaultKind::Refused, message, "Pass large data as input, not as code."));
    }
    prepare_here(source, options)
        .map_err(|finding| Refusal::from_finding(finding, source, options.file_name))
}

fn prepare_here(source: &str, options: &PrepareOptions<'_>) -> Result<Prepared, Finding> {
    let arena = Allocator::default();
    let parsed = parse(&arena, source)?;
    let language = parsed.language;
    match rewrite(source, &parsed, options)? {
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
    if let Some(error) = semantic.diagnostics.errors().map(|error| finding(error, source)).min_by_key(|f| f.offset) {
        return Err(error);
    }
    let scoping = semantic.semantic.into_scoping();
    let mut rewriter = Rewriter::new(source, parsed.language, options, &scoping);
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
        .map(|(name, offset)| FreeName { name: name.to_owned(), position: cursor.position(offset as usize) })
        .collect();
    let prepared = Prepared {
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
