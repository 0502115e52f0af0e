//! Languages that a program asks for by name: not every engine has them, and a choice can be made before it runs.

use oxc_ast::ast::{Argument, CallExpression, Expression, NewExpression};

use crate::rewriter::Rewriter;

/// Methods that take a language, and the place of it among their arguments.
const METHODS: &[(&str, usize)] =
    &[("toLocaleString", 0), ("toLocaleDateString", 0), ("toLocaleTimeString", 0), ("localeCompare", 1)];

/// Classes of `Intl` that work with the data of a language, which is their first argument.
const CLASSES: &[&str] = &[
    "Collator",
    "DateTimeFormat",
    "DisplayNames",
    "ListFormat",
    "NumberFormat",
    "PluralRules",
    "RelativeTimeFormat",
    "Segmenter",
];

impl<'a> Rewriter<'a, '_> {
    /// Notes the literal language of `x.toLocaleString('de-DE')` and `Intl.NumberFormat('de-DE')`.
    pub(crate) fn note_locale(&mut self, it: &CallExpression<'a>) {
        let Expression::StaticMemberExpression(callee) = &it.callee else { return };
        let method = METHODS.iter().find(|(name, _)| *name == callee.property.name.as_str());
        let place = method.map(|(_, place)| *place).or_else(|| is_formatter(&it.callee).then_some(0));
        if let Some(language) = place.and_then(|place| it.arguments.get(place)) {
            self.note_language(language);
        }
    }

    /// The same of `new Intl.NumberFormat('de-DE')`.
    pub(crate) fn note_formatter(&mut self, it: &NewExpression<'a>) {
        if let Some(language) = it.arguments.first().filter(|_| is_formatter(&it.callee)) {
            self.note_language(language);
        }
    }

    /// One language; of several the first that an engine knows is taken, which is no question to ask here.
    fn note_language(&mut self, argument: &Argument<'a>) {
        let language = match argument {
            Argument::StringLiteral(language) => language,
            Argument::ArrayExpression(list) => match list.elements.as_slice() {
                [only] => match only.as_expression() {
                    Some(Expression::StringLiteral(language)) => language,
                    _ => return,
                },
                _ => return,
            },
            _ => return,
        };
        self.locales.push((language.value.as_str(), language.span.start));
    }
}

/// Whether this is `Intl.NumberFormat` or another class that needs the data of a language.
fn is_formatter(callee: &Expression<'_>) -> bool {
    let Expression::StaticMemberExpression(member) = callee else { return false };
    let Expression::Identifier(object) = &member.object else { return false };
    object.name == "Intl" && CLASSES.contains(&member.property.name.as_str())
}
