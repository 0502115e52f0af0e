//! Assignments: which one an engine means when it says that a name is read-only.
//!
//! QuickJS has no place for an assignment to a `const`: it tells the one that it read last, or the next. So the text is read
//! again, once such an assignment has failed.

use cove_core::Position;
use oxc_ast::ast::{
    AssignmentTargetPropertyIdentifier, BindingIdentifier, IdentifierReference, Program, SimpleAssignmentTarget,
    VariableDeclaration,
};
use oxc_ast_visit::{Visit, walk};

use crate::text::offset;
use crate::{Prepared, lines, prepare};

impl Prepared {
    /// Where the `const` is assigned that an engine means by this place: the last such place up to it, else the first. None
    /// where the text has no `const` of that name, or where a property of that name is assigned there.
    pub fn assignment_at(&self, name: &str, position: Position) -> Option<Position> {
        let wanted = offset(lines::offset_of(&self.source, position)?);
        let mut finder =
            Finder { name, wanted, places: Vec::new(), in_const: false, is_const: false, is_member: false };
        prepare::read(&self.source, |program: &Program<'_>| finder.visit_program(program))?;
        if !finder.is_const || finder.is_member {
            return None;
        }
        finder.places.sort_unstable();
        let before = finder.places.partition_point(|place| *place <= wanted);
        let place = finder.places.get(before.saturating_sub(1))?;
        Some(lines::position(&self.source, *place as usize))
    }
}

/// Collects the places where one name is assigned.
struct Finder<'n> {
    name: &'n str,
    wanted: u32,
    places: Vec<u32>,
    in_const: bool,
    /// A `const` has the name.
    is_const: bool,
    /// A property of that name is assigned at the place.
    is_member: bool,
}

impl Finder<'_> {
    fn note(&mut self, target: &IdentifierReference<'_>) {
        if target.name == self.name {
            self.places.push(target.span.start);
        }
    }
}

impl<'a> Visit<'a> for Finder<'_> {
    fn visit_variable_declaration(&mut self, it: &VariableDeclaration<'a>) {
        let outer = std::mem::replace(&mut self.in_const, it.kind.is_const());
        walk::walk_variable_declaration(self, it);
        self.in_const = outer;
    }

    fn visit_binding_identifier(&mut self, it: &BindingIdentifier<'a>) {
        self.is_const |= self.in_const && it.name == self.name;
    }

    fn visit_simple_assignment_target(&mut self, it: &SimpleAssignmentTarget<'a>) {
        match it {
            SimpleAssignmentTarget::AssignmentTargetIdentifier(target) => self.note(target),
            SimpleAssignmentTarget::StaticMemberExpression(member) if member.property.name == self.name => {
                self.is_member |= (member.span.start..=member.span.end).contains(&self.wanted);
            }
            _ => {}
        }
        walk::walk_simple_assignment_target(self, it);
    }

    fn visit_assignment_target_property_identifier(&mut self, it: &AssignmentTargetPropertyIdentifier<'a>) {
        self.note(&it.binding);
        walk::walk_assignment_target_property_identifier(self, it);
    }
}

#[cfg(test)]
mod tests {
    use cove_core::Position;

    use crate::{Mode, PrepareOptions, prepare};

    #[test]
    fn the_assignment_at_a_place() {
        let check = |source: &str, told: (u32, u32), expected: Option<(u32, u32)>| {
            let prepared = prepare(source, &PrepareOptions::new(Mode::FunctionBody)).unwrap();
            let at = prepared.assignment_at("a", Position { line: told.0, column: told.1 });
            assert_eq!(at.map(|at| (at.line, at.column)), expected, "{source}");
        };
        check("const a = 1\na = 2\nreturn a", (3, 8), Some((2, 1)));
        check("const a = 1\nb(a)\na++\nreturn a", (3, 1), Some((3, 1)));
        check("const a = 1\n;({ a } = { a: 2 }); a = 3", (2, 5), Some((2, 5)));
        check("const a = 1\n;[x, [a]] = y", (2, 14), Some((2, 7)));
        check("const a = 1\nfor (a of [1]) b()", (1, 1), Some((2, 6)));
        check("const a = 1", (1, 1), None);
        check("let a = 1\na = 2\no.a = 3", (3, 1), None);
        check("const a = 1, o = {}\no.a = 3\na = 5", (2, 1), None);
    }
}
