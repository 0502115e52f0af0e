//! What is iterated: which pattern, spread or loop an engine means when it says that a value is not iterable.
//!
//! QuickJS has no place for that: it tells what it read before. So the text is read again, once it has failed.

use cove_core::Position;
use oxc_ast::ast::{
    Argument, ArrayAssignmentTarget, ArrayExpressionElement, ArrayPattern, ForOfStatement, Program, SpreadElement,
};
use oxc_ast_visit::{Visit, walk};
use oxc_span::GetSpan;

use crate::text::offset;
use crate::{Prepared, lines, prepare};

impl Prepared {
    /// The first place from this one on where something is iterated.
    pub fn iterated_from(&self, position: Position) -> Option<Position> {
        let wanted = offset(lines::offset_of(&self.source, position)?);
        let mut finder = Finder { wanted, first: None };
        prepare::read(&self.source, |program: &Program<'_>| finder.visit_program(program))?;
        finder.first.map(|place| lines::position(&self.source, place as usize))
    }
}

struct Finder {
    wanted: u32,
    first: Option<u32>,
}

impl Finder {
    fn note(&mut self, start: u32) {
        if start >= self.wanted && self.first.is_none_or(|first| start < first) {
            self.first = Some(start);
        }
    }
}

impl<'a> Visit<'a> for Finder {
    fn visit_array_pattern(&mut self, it: &ArrayPattern<'a>) {
        self.note(it.span.start);
        walk::walk_array_pattern(self, it);
    }

    fn visit_array_assignment_target(&mut self, it: &ArrayAssignmentTarget<'a>) {
        self.note(it.span.start);
        walk::walk_array_assignment_target(self, it);
    }

    fn visit_for_of_statement(&mut self, it: &ForOfStatement<'a>) {
        self.note(it.right.span().start);
        walk::walk_for_of_statement(self, it);
    }

    fn visit_argument(&mut self, it: &Argument<'a>) {
        if let Argument::SpreadElement(spread) = it {
            self.spread(spread);
        }
        walk::walk_argument(self, it);
    }

    fn visit_array_expression_element(&mut self, it: &ArrayExpressionElement<'a>) {
        if let ArrayExpressionElement::SpreadElement(spread) = it {
            self.spread(spread);
        }
        walk::walk_array_expression_element(self, it);
    }
}

impl Finder {
    fn spread(&mut self, it: &SpreadElement<'_>) {
        self.note(it.argument.span().start);
    }
}
