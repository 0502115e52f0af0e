//! Languages and time zones that a program asks for by name: not every engine has them, and a choice can be made before it runs.

use oxc_ast::ast::{CallExpression, Expression, ObjectPropertyKind};
use oxc_span::GetSpan;

use crate::rewriter::Rewriter;

/// Methods whose first argument is a language and whose second holds options.
const METHODS: &[&str] = &["toLocaleString", "toLocaleDateString", "toLocaleTimeString"];

impl<'a> Rewriter<'a, '_> {
    /// Notes literal languages and time zones of `x.toLocaleString('de-DE', { timeZone: 'Europe/Berlin' })`.
    pub(crate) fn note_locale(&mut self, it: &CallExpression<'a>) {
        let Expression::StaticMemberExpression(callee) = &it.callee else { return };
        if !METHODS.contains(&callee.property.name.as_str()) {
            return;
        }
        let mut arguments = it.arguments.iter().filter_map(|argument| argument.as_expression());
        if let Some(Expression::StringLiteral(language)) = arguments.next() {
            self.locales.push((language.value.as_str(), language.span.start));
        }
        let Some(Expression::ObjectExpression(options)) = arguments.next() else { return };
        for property in &options.properties {
            if let ObjectPropertyKind::ObjectProperty(property) = property
                && property.key.is_specific_static_name("timeZone")
                && let Expression::StringLiteral(zone) = &property.value
            {
                self.locales.push((zone.value.as_str(), zone.span().start));
            }
        }
    }
}
