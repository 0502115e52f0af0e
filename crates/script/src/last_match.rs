//! `RegExp.$1` and its kin: what the last match of any regular expression has left. An engine whose built-ins are frozen
//! and shared keeps none of it, so a program that reads it is known before it runs.

use oxc_ast::ast::Expression;

use crate::rewriter::Rewriter;

/// The names, each with how a program's need of it is told.
const KEPT: &[(&str, &str)] = &[
    ("$1", "RegExp.$1"),
    ("$2", "RegExp.$2"),
    ("$3", "RegExp.$3"),
    ("$4", "RegExp.$4"),
    ("$5", "RegExp.$5"),
    ("$6", "RegExp.$6"),
    ("$7", "RegExp.$7"),
    ("$8", "RegExp.$8"),
    ("$9", "RegExp.$9"),
    ("input", "RegExp.input"),
    ("$_", "RegExp.input"),
    ("lastMatch", "RegExp.lastMatch"),
    ("$&", "RegExp.lastMatch"),
    ("lastParen", "RegExp.lastParen"),
    ("$+", "RegExp.lastParen"),
    ("leftContext", "RegExp.leftContext"),
    ("$`", "RegExp.leftContext"),
    ("rightContext", "RegExp.rightContext"),
    ("$'", "RegExp.rightContext"),
];

impl<'a> Rewriter<'a, '_> {
    /// Notes `RegExp.$1` as a name that must come from the world around the program.
    pub(crate) fn note_last_match(&mut self, object: &Expression<'a>, member: &str) {
        let Expression::Identifier(it) = object else { return };
        let is_own = |id| self.scoping.get_reference(id).symbol_id().is_some();
        if it.name != "RegExp" || it.reference_id.get().is_none_or(is_own) {
            return;
        }
        if let Some((_, need)) = KEPT.iter().find(|(name, _)| *name == member) {
            self.note_free(need, it.span.start);
        }
    }
}
