//! Changes of built-ins: which one an engine means when it says that something is frozen.
//!
//! The engine's sentence is the same for a program's own frozen object. So the text is read again, once such an assignment
//! has failed.

use cove_core::Position;
use oxc_ast::ast::{
    Argument, AssignmentExpression, AssignmentTarget, CallExpression, Expression, Program, UnaryExpression,
};
use oxc_ast_visit::{Visit, walk};

use crate::text::offset;
use crate::{Prepared, lines, prepare};

/// What programs patch.
const BUILT_IN: &[&str] = &[
    "Object",
    "Function",
    "Array",
    "Number",
    "Boolean",
    "String",
    "Symbol",
    "BigInt",
    "Math",
    "JSON",
    "Date",
    "RegExp",
    "Error",
    "TypeError",
    "RangeError",
    "Map",
    "Set",
    "WeakMap",
    "WeakSet",
    "Promise",
    "Reflect",
    "Intl",
    "ArrayBuffer",
    "Uint8Array",
    "Iterator",
    "URL",
    "URLSearchParams",
    "crypto",
    "performance",
];

/// What patches something else than by an assignment.
const PATCHERS: &[&str] = &["defineProperty", "defineProperties", "assign", "setPrototypeOf"];

impl Prepared {
    /// The built-in (`Array.prototype`, `Date`) that is changed at the place that an engine tells, or nearest to it on its
    /// line.
    pub fn built_in_changed_at(&self, position: Position) -> Option<String> {
        let wanted = offset(lines::offset_of(&self.source, position)?);
        let mut finder = Finder { places: Vec::new() };
        prepare::read(&self.source, |program: &Program<'_>| finder.visit_program(program))?;
        finder.places.retain(|(start, _)| lines::position(&self.source, *start as usize).line == position.line);
        let nearest = finder.places.into_iter().min_by_key(|(start, _)| start.abs_diff(wanted));
        nearest.map(|(_, what)| what)
    }
}

/// Collects where built-ins are changed.
struct Finder {
    places: Vec<(u32, String)>,
}

impl Finder {
    fn note(&mut self, start: u32, object: &Expression<'_>) {
        if let Some(what) = built_in(object) {
            self.places.push((start, what));
        }
    }
}

/// The built-in that an expression names: `Array`, `Array.prototype`.
fn built_in(object: &Expression<'_>) -> Option<String> {
    let known = |expression: &Expression<'_>| match expression {
        Expression::Identifier(name) => BUILT_IN.iter().find(|known| **known == name.name).copied(),
        _ => None,
    };
    match object {
        Expression::StaticMemberExpression(it) if it.property.name == "prototype" => {
            known(&it.object).map(|name| format!("{name}.prototype"))
        }
        other => known(other).map(str::to_owned),
    }
}

impl<'a> Visit<'a> for Finder {
    fn visit_assignment_expression(&mut self, it: &AssignmentExpression<'a>) {
        match &it.left {
            AssignmentTarget::StaticMemberExpression(member) => self.note(it.span.start, &member.object),
            AssignmentTarget::ComputedMemberExpression(member) => self.note(it.span.start, &member.object),
            _ => {}
        }
        walk::walk_assignment_expression(self, it);
    }

    fn visit_call_expression(&mut self, it: &CallExpression<'a>) {
        if let Expression::StaticMemberExpression(callee) = &it.callee
            && PATCHERS.contains(&callee.property.name.as_str())
            && let Some(object) = it.arguments.first().and_then(Argument::as_expression)
        {
            self.note(it.span.start, object);
        }
        walk::walk_call_expression(self, it);
    }

    fn visit_unary_expression(&mut self, it: &UnaryExpression<'a>) {
        if it.operator.is_delete()
            && let Expression::StaticMemberExpression(member) = &it.argument
        {
            self.note(it.span.start, &member.object);
        }
        walk::walk_unary_expression(self, it);
    }
}

#[cfg(test)]
mod tests {
    use cove_core::Position;

    use crate::{Mode, PrepareOptions, prepare};

    #[test]
    fn the_built_in_at_a_place() {
        let check = |source: &str, line: u32, expected: Option<&str>| {
            let prepared = prepare(source, &PrepareOptions::new(Mode::FunctionBody)).unwrap();
            let found = prepared.built_in_changed_at(Position { line, column: 3 });
            assert_eq!(found.as_deref(), expected, "{source}");
        };
        check("Array.prototype.last = function () {}", 1, Some("Array.prototype"));
        check("x.y = 1\n  Date.now = () => 0", 2, Some("Date"));
        check("Object.defineProperty(String.prototype, 'cap', { value: 1 })", 1, Some("String.prototype"));
        check("delete Array.prototype['at']; delete Array.prototype.at", 1, Some("Array.prototype"));
        check("const o = Object.freeze({})\no.x = 1\nArray.prototype.y = 2", 2, None);
        check("Object.assign({}, Array.prototype)", 1, None);
    }
}
