//! Functions and `var`s declared twice: an error at the top of a module, fine in a function, which is what our texts are.

use oxc_diagnostics::OxcDiagnostic;
use oxc_semantic::Scoping;
use oxc_syntax::symbol::{SymbolFlags, SymbolId};

/// What may be declared again at the top level.
pub(crate) const AGAIN: SymbolFlags =
    SymbolFlags::Function.union(SymbolFlags::FunctionScopedVariable).union(SymbolFlags::AsyncOrGeneratorFunction);

/// Whether a complaint is about a function or a `var` at the top level that is there already as one of the two.
pub(crate) fn is_legal(error: &OxcDiagnostic, scoping: &Scoping) -> bool {
    let [first, again] = error.labels.as_slice() else { return false };
    if !error.message.contains("has already been declared") {
        return false;
    }
    let is_at = |symbol: SymbolId, offset: u32| {
        scoping.symbol_span(symbol).start == offset
            || scoping.symbol_redeclarations(symbol).iter().any(|other| other.span.start == offset)
    };
    // By place, for a name may be spelt in several ways.
    let mut symbols = scoping.get_bindings(scoping.root_scope_id()).values().copied();
    symbols.find(|symbol| is_at(*symbol, first.offset()) && is_at(*symbol, again.offset())).is_some_and(|symbol| {
        AGAIN.contains(scoping.symbol_flags(symbol))
            && scoping.symbol_redeclarations(symbol).iter().all(|other| AGAIN.contains(other.flags))
    })
}
