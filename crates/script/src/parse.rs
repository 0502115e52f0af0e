//! The one parse: JavaScript first, TypeScript only if that fails.
//!
//! The goal is "module", which means strict mode, top-level `await` and no HTML-like comments. If neither language
//! fits, the complaint of the parse that got farther is the one the user hears.

use cove_core::FaultKind;
use oxc_allocator::Allocator;
use oxc_ast::ast::{JSXElement, JSXFragment, Program};
use oxc_ast_visit::Visit;
use oxc_diagnostics::OxcDiagnostic;
use oxc_parser::{ParseOptions, Parser, ParserReturn};
use oxc_span::{SourceType, Span};

use crate::options::Language;
use crate::refusal::Finding;

/// A text that parsed.
pub(crate) struct Parsed<'a> {
    pub(crate) program: Program<'a>,
    pub(crate) language: Language,
    /// `await` is a name in it, so it belongs into a function that is not async.
    pub(crate) plain: bool,
}

/// Parses `source`, or says what is wrong with it. `body`: it is the body of a function, which may ask for its
/// `new.target`, and a text in which `await` is a name will do, too.
pub(crate) fn parse<'a>(arena: &'a Allocator, source: &'a str, body: bool) -> Result<Parsed<'a>, Finding> {
    let javascript = run(arena, source, Language::JavaScript, false);
    if javascript.diagnostics.iter().all(|diagnostic| body && is_fine_in_a_body(diagnostic)) {
        return Ok(Parsed { program: javascript.program, language: Language::JavaScript, plain: false });
    }
    match parse_typescript(arena, source) {
        Ok(parsed) => Ok(parsed),
        Err(typescript) => {
            if body && let Some(parsed) = parse_plain(arena, source) {
                return Ok(parsed);
            }
            let javascript = first(&javascript, source);
            Err(if typescript.offset > javascript.offset { typescript } else { javascript })
        }
    }
}

/// The goal is "module", where there is no function around the text.
fn is_fine_in_a_body(diagnostic: &OxcDiagnostic) -> bool {
    diagnostic.message == "Unexpected new.target expression"
}

/// Parses `source` as a text in which `await` is a name.
pub(crate) fn parse_plain<'a>(arena: &'a Allocator, source: &'a str) -> Option<Parsed<'a>> {
    if !source.contains("await") {
        return None;
    }
    let plain = Parser::new(arena, source, SourceType::cjs()).with_options(options()).parse();
    plain.diagnostics.is_empty().then_some(Parsed {
        program: plain.program,
        language: Language::JavaScript,
        plain: true,
    })
}

/// Parses `source` as TypeScript.
pub(crate) fn parse_typescript<'a>(arena: &'a Allocator, source: &'a str) -> Result<Parsed<'a>, Finding> {
    let typescript = run(arena, source, Language::TypeScript, false);
    if typescript.diagnostics.is_empty() {
        return Ok(Parsed { program: typescript.program, language: Language::TypeScript, plain: false });
    }
    Err(first(&typescript, source))
}

/// Where the first tag is in a text that is neither JavaScript nor TypeScript and fine as TSX. The tags in it may hide
/// brackets from `nesting::bound`: whoever calls this must have room for `nesting::loose`.
pub(crate) fn first_tag(source: &str) -> Option<u32> {
    let arena = Allocator::default();
    let parsed = run(&arena, source, Language::TypeScript, true);
    if !parsed.diagnostics.is_empty() {
        return None;
    }
    let mut first = FirstTag(None);
    first.visit_program(&parsed.program);
    first.0
}

struct FirstTag(Option<u32>);

impl FirstTag {
    fn seen(&mut self, span: Span) {
        self.0 = Some(self.0.map_or(span.start, |first| first.min(span.start)));
    }
}

impl<'a> Visit<'a> for FirstTag {
    fn visit_jsx_element(&mut self, it: &JSXElement<'a>) {
        self.seen(it.span);
    }

    fn visit_jsx_fragment(&mut self, it: &JSXFragment<'a>) {
        self.seen(it.span);
    }
}

fn options() -> ParseOptions {
    ParseOptions { allow_return_outside_function: true, ..ParseOptions::default() }
}

fn run<'a>(arena: &'a Allocator, source: &'a str, language: Language, jsx: bool) -> ParserReturn<'a> {
    let kind = SourceType::mjs().with_jsx(jsx).with_typescript(language == Language::TypeScript);
    Parser::new(arena, source, kind).with_options(options()).parse()
}

fn first(parsed: &ParserReturn<'_>, source: &str) -> Finding {
    parsed
        .diagnostics
        .iter()
        .map(|diagnostic| finding(diagnostic, source))
        .min_by_key(|finding| finding.offset)
        .unwrap_or_else(|| Finding::new(FaultKind::Syntax, 0, "The text could not be parsed"))
}

/// The parser's complaint in our words: one sentence, one place.
pub(crate) fn finding(diagnostic: &OxcDiagnostic, source: &str) -> Finding {
    // Of a name declared twice, the second place is the wrong one.
    let again = diagnostic.message.contains("already been declared");
    let label = if again { diagnostic.labels.last() } else { diagnostic.labels.first() };
    let offset = label.map_or(crate::text::offset(source.len()), |label| label.offset());
    let message = diagnostic
        .message
        .trim_end_matches('.')
        // That the text is parsed as a module is our affair.
        .replace("HTML comments are not allowed in modules", "HTML-like comments are not allowed")
        .replace(" and at the top levels of modules", " and at the top level")
        .replace(|char: char| char.is_control(), "\u{FFFD}");
    let mut finding = Finding::new(FaultKind::Syntax, offset, message);
    finding.hint = diagnostic.help.as_ref().map(ToString::to_string);
    finding
}
