//! Type arguments that JavaScript reads as comparisons: `new Map<string, number>(x)`, `f<A<B>>(x)`.
//!
//! A text that is JavaScript is read as such; only where it compares what nobody compares is it read again as TypeScript.

use oxc_ast::ast::{BinaryExpression, Expression};
use oxc_syntax::operator::BinaryOperator;

/// TypeScript's own names for types.
const TYPES: &[&str] =
    &["any", "string", "number", "boolean", "unknown", "object", "never", "void", "symbol", "bigint", "undefined"];

/// Whether a comparison is the head or the whole of a call with type arguments.
pub(crate) fn is_generic(it: &BinaryExpression<'_>, source: &str) -> bool {
    match it.operator {
        // `f<T>(x)`
        BinaryOperator::GreaterThan => {
            is_argument(&it.right)
                && matches!(&it.left, Expression::BinaryExpression(left)
                    if left.operator == BinaryOperator::LessThan && matches!(left.right, Expression::Identifier(_)))
        }
        // `new Map<…`: a fresh object is compared with nothing. `f<A<B>>(x)`: nor is anything with a shifted type.
        BinaryOperator::LessThan => {
            matches!(&it.left, Expression::NewExpression(new) if !new.span.source_text(source).ends_with(')'))
                || closes(&it.right)
        }
        _ => false,
    }
}

/// Whether a list holds the two halves of a call with several type arguments: `f<string`, `number>(x)`.
pub(crate) fn is_generic_list<'a: 'e, 'e>(list: impl Iterator<Item = Option<&'e Expression<'a>>>) -> bool {
    let mut open = false;
    for item in list {
        let Some(mut item) = item else {
            open = false;
            continue;
        };
        while let Expression::AssignmentExpression(assignment) = item {
            item = &assignment.right;
        }
        if open && closes(item) {
            return true;
        }
        open = opens(item) || open && is_type(item);
    }
    false
}

fn opens(item: &Expression<'_>) -> bool {
    matches!(item, Expression::BinaryExpression(it) if it.operator == BinaryOperator::LessThan && is_type(&it.right))
}

fn closes(item: &Expression<'_>) -> bool {
    let Expression::BinaryExpression(it) = item else { return false };
    let closing = matches!(
        it.operator,
        BinaryOperator::GreaterThan | BinaryOperator::ShiftRight | BinaryOperator::ShiftRightZeroFill
    );
    closing && is_argument(&it.right) && is_type(&it.left)
}

fn is_argument(item: &Expression<'_>) -> bool {
    matches!(item, Expression::ParenthesizedExpression(_) | Expression::TemplateLiteral(_))
}

/// A name for a type: the language's own, or one that begins as classes do (`Row`, not `ROW` or `N`).
fn is_type(item: &Expression<'_>) -> bool {
    let Expression::Identifier(id) = item else { return false };
    let mut chars = id.name.chars();
    TYPES.contains(&id.name.as_str())
        || chars.next().is_some_and(char::is_uppercase) && chars.next().is_some_and(char::is_lowercase)
}
