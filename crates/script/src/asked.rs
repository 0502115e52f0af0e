//! Guards: `typeof window !== 'undefined'` asks whether a name is there, and what stands behind it does not need the name.

use oxc_ast::ast::*;
use oxc_ast_visit::Visit;
use oxc_syntax::operator::{BinaryOperator, LogicalOperator, UnaryOperator};

use crate::rewriter::Rewriter;

impl<'a> Rewriter<'a, '_> {
    /// Walks what is reached only where this test holds.
    pub(crate) fn behind(&mut self, test: &Expression<'a>, walk: impl FnOnce(&mut Self)) {
        let before = self.guarded.len();
        collect(test, &mut self.guarded);
        walk(self);
        self.guarded.truncate(before);
    }

    /// Whether the name at hand is needed: neither only asked for its type, nor behind its own guard.
    pub(crate) fn is_needed(&self, name: &str) -> bool {
        !self.asks_type && !self.guarded.contains(&name)
    }

    pub(crate) fn guarded_if(&mut self, it: &IfStatement<'a>) {
        self.visit_expression(&it.test);
        self.behind(&it.test, |rewriter| rewriter.visit_statement(&it.consequent));
        if let Some(alternate) = &it.alternate {
            self.visit_statement(alternate);
        }
    }

    pub(crate) fn guarded_choice(&mut self, it: &ConditionalExpression<'a>) {
        self.visit_expression(&it.test);
        self.behind(&it.test, |rewriter| rewriter.visit_expression(&it.consequent));
        self.visit_expression(&it.alternate);
    }

    pub(crate) fn guarded_chain(&mut self, it: &LogicalExpression<'a>) {
        self.visit_expression(&it.left);
        match it.operator {
            LogicalOperator::And => self.behind(&it.left, |rewriter| rewriter.visit_expression(&it.right)),
            LogicalOperator::Or | LogicalOperator::Coalesce => self.visit_expression(&it.right),
        }
    }
}

/// The names that are there where a test holds.
fn collect<'a>(test: &Expression<'a>, names: &mut Vec<&'a str>) {
    match test.without_parentheses() {
        Expression::LogicalExpression(it) if it.operator == LogicalOperator::And => {
            collect(&it.left, names);
            collect(&it.right, names);
        }
        Expression::BinaryExpression(it) => {
            let sides = [(&it.left, &it.right), (&it.right, &it.left)];
            names.extend(sides.iter().find_map(|(asked, kind)| there(asked, it.operator, kind)));
        }
        _ => {}
    }
}

fn there<'a>(asked: &Expression<'a>, operator: BinaryOperator, kind: &Expression<'a>) -> Option<&'a str> {
    use BinaryOperator::{Equality, Inequality, StrictEquality, StrictInequality};
    let (Expression::UnaryExpression(asked), Expression::StringLiteral(kind)) = (asked, kind) else { return None };
    let Expression::Identifier(name) = &asked.argument else { return None };
    let holds = match operator {
        Inequality | StrictInequality => kind.value == "undefined",
        Equality | StrictEquality => kind.value != "undefined",
        _ => false,
    };
    (asked.operator == UnaryOperator::Typeof && holds).then(|| name.name.as_str())
}
