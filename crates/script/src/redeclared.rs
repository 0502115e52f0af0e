//! Functions and `var`s declared twice: an error at the top of a module, fine in a function, which is what our texts are.

use oxc_diagnostics::OxcDiagnostic;
use oxc_semantic::Scoping;
use oxc_syntax::symbol::SymbolFlags;

/// What may be declared again at the top level.
pub(crate) const AGAIN: SymbolFlags =
    SymbolFlags::Function.union(SymbolFlags::FunctionScopedVariable).union(SymbolFlags::AsyncOrGeneratorFunction);

/// Whether a complaint is about a function or a `var` at the top level that is there already as one of the two.
pub(crate) fn is_legal(error: &OxcDiagnostic, source: &str, scoping: &Scoping) -> bool {
    let [first, again] = error.labels.as_slice() else { return false };
    if !error.message.contains("has already been declared") {
        return false;
    }
    let name = source.get(first.offset() as usize..(first.offset() + first.len()) as usize).unwrap_or_default();
    let Some(symbol) = scoping.get_root_binding(name.into()) else { return false };
    let mut places: Vec<u32> = scoping.symbol_redeclarations(symbol).iter().map(|other| other.span.start).collect();
    places.push(scoping.symbol_span(symbol).start);
    AGAIN.contains(scoping.symbol_flags(symbol))
        && scoping.symbol_redeclarations(symbol).iter().all(|other| AGAIN.contains(other.flags))
        && [first, again].iter().all(|label| places.contains(&label.offset()))
}
