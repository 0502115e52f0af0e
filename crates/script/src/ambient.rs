//! Statements that exist only in TypeScript, or only in modules: blanked, rewritten or refused.

use cove_core::FaultKind;
use oxc_ast::ast::{
    ImportDeclaration, ImportDeclarationSpecifier, ImportOrExportKind, Statement, TSNamespaceDeclaration,
    TSNamespaceDeclarationBody,
};
use oxc_ast_visit::{Visit, walk};
use oxc_span::{GetSpan, Span};

use crate::cell::DeclaredIn;
use crate::options::Mode;
use crate::refusal::Finding;
use crate::rewriter::Rewriter;

impl<'a> Rewriter<'a, '_> {
    /// A statement in a list, where a `;` may stand before it.
    pub(crate) fn list_statement(&mut self, statement: &Statement<'a>) {
        if is_type_only(statement) {
            self.blank_item(statement.span());
            return;
        }
        match statement {
            Statement::VariableDeclaration(it) if self.is_cell_var(it) => {
                self.cell_declaration(it, DeclaredIn::List);
            }
            Statement::TSEnumDeclaration(it) => self.enumeration(it),
            Statement::FunctionDeclaration(it) => {
                self.block_function(it);
                self.visit_statement(statement);
            }
            _ => self.visit_statement(statement),
        }
    }

    /// Any statement; in a list, `list_statement` saw it first.
    pub(crate) fn statement(&mut self, statement: &Statement<'a>) {
        match statement {
            Statement::VariableDeclaration(it) => {
                if self.is_cell_var(it) {
                    self.cell_declaration(it, DeclaredIn::Single);
                } else {
                    walk::walk_statement(self, statement);
                    self.end_after_type(it.span);
                }
            }
            Statement::ExpressionStatement(_) | Statement::ReturnStatement(_) | Statement::ThrowStatement(_) => {
                walk::walk_statement(self, statement);
                self.end_after_type(statement.span());
            }
            Statement::TSNamespaceDeclaration(it) => self.refuse_at(
                it.span.start,
                "Namespaces with values are not supported",
                "Use an object or separate top-level declarations.",
            ),
            Statement::TSImportEqualsDeclaration(it) => {
                self.refuse_at(it.span.start, "`import x = …` is not supported", "Use `await import(…)`.");
            }
            Statement::TSExportAssignment(it) => {
                self.refuse_at(it.span.start, "`export =` is not supported", "Leave it out.");
            }
            Statement::TSNamespaceExportDeclaration(it) => {
                self.refuse_at(it.span.start, "`export as namespace` is not supported", "Leave it out.");
            }
            Statement::ImportDeclaration(it) => self.import_declaration(it),
            Statement::ExportAllDeclaration(it) => self.export(it.span),
            Statement::ExportDefaultDeclaration(it) => self.export(it.span),
            Statement::ExportDeclaration(it) => self.export(it.span),
            Statement::ExportNamedDeclaration(it) => self.export(it.span),
            Statement::ExportFromDeclaration(it) => self.export(it.span),
            _ => walk::walk_statement(self, statement),
        }
    }

    fn import_declaration(&mut self, it: &ImportDeclaration<'a>) {
        let module = it.source.value.as_str();
        if it.phase.is_none() && self.imports_node(module) {
            self.node_import(it);
            return;
        }
        let hint = match self.options.imports.filter(|policy| !policy.allows(module)) {
            None => format!("Use `const module = await import({module:?});` instead."),
            Some(policy) if policy.authorized.is_empty() => {
                "There are no packages here: write it without this one.".to_owned()
            }
            Some(policy) => format!("Use `await import(…)` with one of these: {}.", policy.authorized.join(", ")),
        };
        let finding = Finding::new(FaultKind::Refused, it.span.start, "Static `import` is not allowed").hint(&hint);
        self.refuse(Finding { module: Some(module.to_owned()), ..finding });
    }

    fn export(&mut self, span: Span) {
        let hint = if self.options.mode == Mode::Cell {
            "Leave the word out: what a cell declares at its top level is there in the next one."
        } else {
            "Return the value instead."
        };
        self.refuse_at(span.start, "`export` is not allowed", hint);
    }
}

/// Whether nothing of the statement is left at run time.
pub(crate) fn is_type_only(statement: &Statement<'_>) -> bool {
    match statement {
        Statement::TSTypeAliasDeclaration(_)
        | Statement::TSInterfaceDeclaration(_)
        | Statement::TSGlobalDeclaration(_)
        | Statement::TSExternalModuleDeclaration(_) => true,
        Statement::VariableDeclaration(it) => it.declare,
        Statement::FunctionDeclaration(it) => it.declare || it.body.is_none(),
        Statement::ClassDeclaration(it) => it.declare,
        Statement::TSEnumDeclaration(it) => it.declare,
        Statement::TSNamespaceDeclaration(it) => it.declare || is_type_namespace(it),
        Statement::TSImportEqualsDeclaration(it) => it.import_kind == ImportOrExportKind::Type,
        Statement::ImportDeclaration(it) => {
            it.import_kind == ImportOrExportKind::Type
                || it.specifiers.as_ref().is_some_and(|list| !list.is_empty() && list.iter().all(is_type_specifier))
        }
        Statement::ExportAllDeclaration(it) => it.export_kind == ImportOrExportKind::Type,
        Statement::ExportNamedDeclaration(it) => {
            it.export_kind == ImportOrExportKind::Type
                || it.specifiers.iter().all(|one| one.export_kind == ImportOrExportKind::Type)
        }
        Statement::ExportFromDeclaration(it) => {
            it.export_kind == ImportOrExportKind::Type
                || (!it.specifiers.is_empty()
                    && it.specifiers.iter().all(|one| one.export_kind == ImportOrExportKind::Type))
        }
        Statement::ExportDeclaration(it) => is_type_declaration(&it.declaration),
        Statement::ExportDefaultDeclaration(it) => {
            matches!(it.declaration, oxc_ast::ast::ExportDefaultDeclarationKind::TSInterfaceDeclaration(_))
        }
        _ => false,
    }
}

fn is_type_declaration(declaration: &oxc_ast::ast::Declaration<'_>) -> bool {
    use oxc_ast::ast::Declaration;
    match declaration {
        Declaration::TSTypeAliasDeclaration(_)
        | Declaration::TSInterfaceDeclaration(_)
        | Declaration::TSGlobalDeclaration(_)
        | Declaration::TSExternalModuleDeclaration(_) => true,
        Declaration::VariableDeclaration(it) => it.declare,
        Declaration::FunctionDeclaration(it) => it.declare || it.body.is_none(),
        Declaration::ClassDeclaration(it) => it.declare,
        Declaration::TSEnumDeclaration(it) => it.declare,
        Declaration::TSNamespaceDeclaration(it) => it.declare || is_type_namespace(it),
        Declaration::TSImportEqualsDeclaration(it) => it.import_kind == ImportOrExportKind::Type,
    }
}

fn is_type_specifier(specifier: &ImportDeclarationSpecifier<'_>) -> bool {
    matches!(specifier, ImportDeclarationSpecifier::ImportSpecifier(it) if it.import_kind == ImportOrExportKind::Type)
}

/// A namespace of nothing but types has no value.
fn is_type_namespace(it: &TSNamespaceDeclaration<'_>) -> bool {
    match &it.body {
        TSNamespaceDeclarationBody::TSNamespaceDeclaration(inner) => is_type_namespace(inner),
        TSNamespaceDeclarationBody::TSModuleBlock(block) => {
            block.directives.is_empty() && block.body.iter().all(is_type_only)
        }
    }
}
