//! The value of a cell: which statement may give it, and how it is kept.
//!
//! The last expression statement counts, also as the end of a trailing `if`, `try`, block, label or `switch`; and the
//! last plain declaration. Declarations of functions, classes and types are looked through, as JavaScript itself does.

use oxc_ast::ast::{Expression, ExpressionStatement, Program, Statement, VariableDeclarationKind};
use oxc_ast_visit::Visit;
use oxc_span::GetSpan;

use crate::rewriter::Rewriter;

impl<'a> Rewriter<'a, '_> {
    /// Marks the statements of a cell whose value may be the cell's.
    pub(crate) fn mark_value(&mut self, program: &Program<'a>) {
        if !self.mark_list(&program.body, true)
            && let Some(directive) = program.directives.last()
        {
            // A cell that is nothing but a string: a directive to the parser, a value to the user.
            let span = directive.expression.span;
            self.captured.insert(span.start);
            self.edits.insert(span.start, "__cove_v=(");
            self.edits.insert(span.end, ")");
        }
    }

    /// Whether the list has a statement that decides the value.
    fn mark_list(&mut self, list: &[Statement<'a>], top: bool) -> bool {
        list.iter().rev().any(|statement| self.mark(statement, top))
    }

    fn mark(&mut self, statement: &Statement<'a>, top: bool) -> bool {
        match statement {
            Statement::ExpressionStatement(it) => {
                self.captured.insert(it.span.start);
            }
            Statement::VariableDeclaration(it) if it.declare => return false,
            Statement::VariableDeclaration(it) if top || it.kind == VariableDeclarationKind::Var => {
                self.captured.insert(it.span.start);
            }
            Statement::BlockStatement(it) => return self.mark_list(&it.body, false),
            Statement::IfStatement(it) => {
                self.mark(&it.consequent, false);
                if let Some(alternate) = &it.alternate {
                    self.mark(alternate, false);
                }
            }
            Statement::TryStatement(it) => {
                self.mark_list(&it.block.body, false);
                if let Some(handler) = &it.handler {
                    self.mark_list(&handler.body.body, false);
                }
            }
            Statement::LabeledStatement(it) => return self.mark(&it.body, false),
            Statement::SwitchStatement(it) => {
                for case in &it.cases {
                    self.mark_list(&case.consequent, false);
                }
            }
            Statement::EmptyStatement(_)
            | Statement::BreakStatement(_)
            | Statement::FunctionDeclaration(_)
            | Statement::ClassDeclaration(_)
            | Statement::TSTypeAliasDeclaration(_)
            | Statement::TSInterfaceDeclaration(_)
            | Statement::TSEnumDeclaration(_)
            | Statement::TSExternalModuleDeclaration(_)
            | Statement::TSNamespaceDeclaration(_)
            | Statement::TSGlobalDeclaration(_) => return false,
            _ => {}
        }
        true
    }

    /// Visits an expression statement and, if it is marked, keeps its value.
    pub(crate) fn expression_statement(&mut self, it: &ExpressionStatement<'a>) {
        if !self.captured.contains(&it.span.start) {
            self.visit_expression(&it.expression);
            return;
        }
        let span = it.expression.span();
        // `0,` keeps an anonymous function anonymous: a plain assignment would name it.
        let open = if is_anonymous(&it.expression) { "__cove_v=(0," } else { "__cove_v=(" };
        // An engine may mean the expression by where its statement begins.
        self.edits.insert_for(span.start, open, span.start);
        self.visit_expression(&it.expression);
        self.edits.insert(span.end, ")");
    }
}

/// Whether a list of statements has a `return` of its own, at any depth of blocks.
pub(crate) fn returns(list: &[Statement<'_>]) -> bool {
    list.iter().any(|statement| match statement {
        Statement::ReturnStatement(_) => true,
        Statement::BlockStatement(it) => returns(&it.body),
        Statement::IfStatement(it) => {
            returns(std::slice::from_ref(&it.consequent))
                || it.alternate.as_ref().is_some_and(|other| returns(std::slice::from_ref(other)))
        }
        Statement::TryStatement(it) => {
            returns(&it.block.body)
                || it.handler.as_ref().is_some_and(|handler| returns(&handler.body.body))
                || it.finalizer.as_ref().is_some_and(|last| returns(&last.body))
        }
        Statement::LabeledStatement(it) => returns(std::slice::from_ref(&it.body)),
        Statement::SwitchStatement(it) => it.cases.iter().any(|case| returns(&case.consequent)),
        Statement::ForStatement(it) => returns(std::slice::from_ref(&it.body)),
        Statement::ForInStatement(it) => returns(std::slice::from_ref(&it.body)),
        Statement::ForOfStatement(it) => returns(std::slice::from_ref(&it.body)),
        Statement::WhileStatement(it) => returns(std::slice::from_ref(&it.body)),
        Statement::DoWhileStatement(it) => returns(std::slice::from_ref(&it.body)),
        _ => false,
    })
}

fn is_anonymous(expression: &Expression<'_>) -> bool {
    match expression.get_inner_expression() {
        Expression::ArrowFunctionExpression(_) => true,
        Expression::FunctionExpression(it) => it.id.is_none(),
        Expression::ClassExpression(it) => it.id.is_none(),
        _ => false,
    }
}
