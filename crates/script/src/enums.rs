//! Enums become plain objects, in place: each member stays on its own line.
//!
//! `enum E { A, B = "x" }` reads `let E=((E)=>{ E[E["A"]=0]="A"; E["B"] = "x"; return E})({});`. A `const enum` is
//! treated alike: inlining its members would need the types of other texts.

use oxc_ast::ast::{
    Expression, IdentifierReference, ObjectProperty, PropertyKind, TSEnumDeclaration, TSEnumMember, TSEnumMemberName,
};
use oxc_ast_visit::Visit;
use oxc_span::GetSpan;
use oxc_syntax::operator::{BinaryOperator, UnaryOperator};
use rustc_hash::FxHashMap;

use crate::rewriter::Rewriter;
use crate::text::{self, quote};

/// The members of an enum so far.
pub(crate) type Members = FxHashMap<String, Known>;

/// What is known of a member's value without running anything.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Known {
    Number(f64),
    /// Some number, known only at run time.
    Computed,
    Text,
}

impl<'a> Rewriter<'a, '_> {
    pub(crate) fn enumeration(&mut self, it: &TSEnumDeclaration<'a>) {
        self.check_name(it.id.name.as_str(), it.id.span.start);
        let name = it.id.name.as_str().to_owned();
        let first = it.id.symbol_id.get().is_none_or(|symbol| self.scoping.symbol_span(symbol) == it.id.span);
        let body = it.body.span;
        // A second `enum E` of the same scope adds to the first.
        let (open, close) = match (first, self.is_cell() && self.is_top_binding(it)) {
            (true, true) => (format!("{name}=(({name})=>{{"), ")({});".to_owned()),
            (true, false) => (format!("let {name}=(({name})=>{{"), ")({});".to_owned()),
            (false, _) => (format!("{name}=(({name})=>{{"), format!(")({name});")),
        };
        self.edits.blank_after(';', it.span.start, body.start + 1);
        self.edits.insert(body.start + 1, open);
        // The members of an earlier declaration are names here too.
        let mut known = it.id.symbol_id.get().and_then(|id| self.members.remove(&id)).unwrap_or_default();
        self.enums.push((name.clone(), known.keys().cloned().collect()));
        let mut previous: Option<(String, Known)> = None;
        for member in &it.body.members {
            previous = Some(self.enum_member(&name, member, previous.as_ref(), &mut known));
        }
        self.enums.pop();
        if let Some(id) = it.id.symbol_id.get() {
            self.members.insert(id, known);
        }
        self.edits.insert(body.end - 1, format!("return {name}"));
        self.edits.insert(body.end, close);
    }

    fn is_top_binding(&self, it: &TSEnumDeclaration<'a>) -> bool {
        let root = self.scoping.root_scope_id();
        it.id.symbol_id.get().is_some_and(|symbol| self.scoping.symbol_scope_id(symbol) == root)
    }

    fn enum_member(
        &mut self,
        name: &str,
        it: &TSEnumMember<'a>,
        previous: Option<&(String, Known)>,
        known: &mut Members,
    ) -> (String, Known) {
        let (key, computed) = match &it.id {
            TSEnumMemberName::Identifier(id) => (id.name.to_string(), false),
            TSEnumMemberName::String(id) => (id.value.to_string(), false),
            TSEnumMemberName::ComputedString(id) => (id.value.to_string(), true),
            TSEnumMemberName::ComputedTemplateString(id) => {
                (id.single_quasi().map(|quasi| quasi.to_string()).unwrap_or_default(), true)
            }
        };
        let mut key_end = it.id.span().end;
        if computed && let Some(close) = text::next_is(self.source, key_end, "]") {
            key_end = close + 1;
        }
        let quoted = quote(&key);
        let value = match &it.initializer {
            Some(initializer) => {
                let value = evaluate(initializer, known);
                let open = if matches!(value, Known::Text) {
                    format!("{name}[{quoted}]")
                } else {
                    format!("{name}[{name}[{quoted}]")
                };
                self.edits.replace(it.span.start, key_end, open);
                self.visit_expression(initializer);
                let close = if matches!(value, Known::Text) { ";".to_owned() } else { format!("]={quoted};") };
                self.edits.insert(it.span.end, close);
                value
            }
            None => {
                let (value, text) = match previous {
                    None => (Known::Number(0.0), "0".to_owned()),
                    Some((_, Known::Number(number))) => (Known::Number(number + 1.0), (number + 1.0).to_string()),
                    Some((last, Known::Computed)) => (Known::Computed, format!("{name}[{}]+1", quote(last))),
                    Some((_, Known::Text)) => {
                        self.refuse_at(
                            it.span.start,
                            "An enum member after a string member needs a value",
                            "Write `= …` after it.",
                        );
                        (Known::Computed, "0".to_owned())
                    }
                };
                self.edits.replace(it.span.start, key_end, format!("{name}[{name}[{quoted}]={text}]={quoted};"));
                value
            }
        };
        if let Some(comma) = text::next_is(self.source, it.span.end, ",") {
            self.edits.replace(comma, comma + 1, " ");
        }
        known.insert(key.clone(), value);
        (key, value)
    }

    /// A bare member name inside its enum is a property of it.
    pub(crate) fn enum_member_reference(&mut self, it: &IdentifierReference<'a>) {
        if let Some((name, _)) = self.enums.last() {
            self.edits.insert(it.span.start, format!("{name}."));
        }
    }

    /// Whether a name is that of a member in an earlier declaration of the enum being visited.
    pub(crate) fn is_earlier_member(&self, name: &str) -> bool {
        self.enums.last().is_some_and(|(_, members)| members.contains(name))
    }

    /// `{A}` inside an enum is `{A:E.A}`; and so it is with an imported name.
    pub(crate) fn shorthand(&mut self, it: &ObjectProperty<'a>) -> bool {
        if (self.enums.is_empty() && !self.imports_names()) || !it.shorthand || it.kind != PropertyKind::Init {
            return false;
        }
        self.edits.insert(it.span.start, format!("{}:", it.key.span().source_text(self.source)));
        self.visit_expression(&it.value);
        true
    }
}

/// Enough of constant folding to know a string from a number and to count on from a number.
fn evaluate(expression: &Expression<'_>, known: &Members) -> Known {
    match expression.get_inner_expression() {
        Expression::NumericLiteral(it) => Known::Number(it.value),
        Expression::StringLiteral(_) | Expression::TemplateLiteral(_) => Known::Text,
        Expression::Identifier(it) => known.get(it.name.as_str()).copied().unwrap_or(Known::Computed),
        Expression::StaticMemberExpression(it) => {
            known.get(it.property.name.as_str()).copied().unwrap_or(Known::Computed)
        }
        Expression::UnaryExpression(it) => match (it.operator, evaluate(&it.argument, known)) {
            (UnaryOperator::UnaryNegation, Known::Number(number)) => Known::Number(-number),
            (UnaryOperator::UnaryPlus, Known::Number(number)) => Known::Number(number),
            _ => Known::Computed,
        },
        Expression::BinaryExpression(it) => {
            let (left, right) = (evaluate(&it.left, known), evaluate(&it.right, known));
            match (it.operator, left, right) {
                (BinaryOperator::Addition, Known::Text, _) | (BinaryOperator::Addition, _, Known::Text) => Known::Text,
                _ => Known::Computed,
            }
        }
        _ => Known::Computed,
    }
}
