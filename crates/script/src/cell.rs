//! Cells: top-level declarations become properties of the global object, in place.
//!
//! `let`, `const` and `class` at the top level, and `var` wherever it is function-scoped to the cell, turn into
//! assignments on the same line. A `;` takes the place of the keyword: without it `foo ⏎ let [a] = b` would become a
//! call of `foo`.

use oxc_ast::ast::{
    BindingIdentifier, BindingPattern, Class, Function, Statement, VariableDeclaration, VariableDeclarationKind,
    VariableDeclarator,
};
use oxc_ast_visit::Visit;
use oxc_syntax::scope::ScopeFlags;

use crate::options::Mode;
use crate::rewriter::Rewriter;
use crate::text::quote;

/// Names per call in the prologue: engines have a limit on arguments, the smallest 65,535.
const ARGUMENTS: usize = 10_000;

/// Where a declaration stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DeclaredIn {
    /// In a list of statements.
    List,
    /// Alone, as the body of an `if`, a loop or a label.
    Single,
    /// In the head of a `for(;;)`.
    For,
    /// In the head of a `for-in` or `for-of`.
    ForEach,
}

impl<'a> Rewriter<'a, '_> {
    /// A statement of the program itself.
    pub(crate) fn top_statement(&mut self, statement: &Statement<'a>) {
        if self.options.mode == Mode::Module && self.module_statement(statement) {
            return;
        }
        match statement {
            Statement::VariableDeclaration(it) if !it.declare => {
                for declarator in &it.declarations {
                    bound_names(&declarator.id, &mut |id| self.declare_top(id));
                }
                if self.is_cell() {
                    self.cell_declaration(it, DeclaredIn::List);
                    return;
                }
            }
            Statement::FunctionDeclaration(it) if !it.declare && it.body.is_some() => {
                if let Some(id) = &it.id {
                    self.declare_top(id);
                }
                if self.is_cell() && it.id.is_some() {
                    self.cell_function(it);
                    return;
                }
            }
            Statement::ClassDeclaration(it) if !it.declare => {
                if let Some(id) = &it.id {
                    self.declare_top(id);
                }
                if self.is_cell() && it.id.is_some() {
                    self.cell_class(it);
                    return;
                }
            }
            Statement::TSEnumDeclaration(it) if !it.declare => self.declare_top(&it.id),
            _ => {}
        }
        self.list_statement(statement);
    }

    /// Whether a `var` here belongs to the cell, however deep in blocks it stands.
    pub(crate) fn is_cell_var(&self, it: &VariableDeclaration<'a>) -> bool {
        self.is_cell() && self.functions == 0 && it.kind == VariableDeclarationKind::Var && !it.declare
    }

    /// A declaration whose names are properties of the global object.
    pub(crate) fn cell_declaration(&mut self, it: &VariableDeclaration<'a>, place: DeclaredIn) {
        let start = it.span.start;
        let keyword = match it.kind {
            VariableDeclarationKind::Const => 5,
            VariableDeclarationKind::Var | VariableDeclarationKind::Let => 3,
            VariableDeclarationKind::Using | VariableDeclarationKind::AwaitUsing => {
                self.refuse_at(
                    start,
                    "`using` cannot stand at the top level of a cell",
                    "Put it into a block, so that it has an end.",
                );
                return;
            }
        };
        let stop = if place == DeclaredIn::List { ";" } else { " " };
        self.edits.replace(start, start + keyword, stop);
        let mut names = Vec::new();
        for declarator in &it.declarations {
            bound_names(&declarator.id, &mut |id| {
                names.push(quote(id.name.as_str()));
                self.declare_top(id);
            });
            self.cell_declarator(declarator, it.kind, place);
        }
        let Some(last) = it.declarations.last() else { return };
        if it.kind == VariableDeclarationKind::Const {
            self.edits.insert(last.span.end, format!(",__cove_lock({})", names.join(",")));
        }
        if let BindingPattern::BindingIdentifier(id) = &last.id
            && matches!(place, DeclaredIn::List | DeclaredIn::Single)
            && self.captured.contains(&start)
        {
            let name = id.span.source_text(self.source);
            self.edits.insert(last.span.end, format!(",__cove_v={name}"));
        }
        // `let x ⏎ [a] = b` is two statements, `x=void 0 ⏎ [a] = b` would be one.
        if matches!(place, DeclaredIn::List | DeclaredIn::Single) && !it.span.source_text(self.source).ends_with(';') {
            self.edits.insert(it.span.end, ";");
        }
    }

    fn cell_declarator(&mut self, it: &VariableDeclarator<'a>, kind: VariableDeclarationKind, place: DeclaredIn) {
        let wrap = match &it.id {
            // `for (var async of x)` is fine, `for (async of x)` is not.
            BindingPattern::BindingIdentifier(id) => place == DeclaredIn::ForEach && id.name == "async",
            _ => place != DeclaredIn::ForEach,
        };
        if wrap {
            self.edits.insert(it.span.start, "(");
        }
        self.visit_variable_declarator(it);
        if it.init.is_none() && kind == VariableDeclarationKind::Let {
            self.edits.insert(it.span.end, "=void 0");
        }
        if wrap {
            self.edits.insert(it.span.end, ")");
        }
    }

    /// Stays a declaration, hoisted as ever, under a name of ours; the prologue hands it to the global object.
    fn cell_function(&mut self, it: &Function<'a>) {
        if let Some(id) = &it.id {
            self.edits.replace(id.span.start, id.span.end, format!("__cove_f_{}", id.name));
            self.hoisted.push(id.name.to_string());
        }
        self.visit_function(it, ScopeFlags::Function);
    }

    fn cell_class(&mut self, it: &Class<'a>) {
        if let Some(id) = &it.id {
            self.edits.insert(it.span.start, format!(";{}=", id.span.source_text(self.source)));
        }
        self.visit_class(it);
        self.edits.insert(it.span.end, ";");
    }

    /// What runs before the user's first character, on the user's first line.
    pub(crate) fn cell_head(&self) -> String {
        let mut head = String::from("(async function(){\"use strict\";let __cove_v;");
        for names in self.declared.chunks(ARGUMENTS) {
            let names: Vec<String> = names.iter().map(|name| quote(name)).collect();
            head.push_str(&format!("__cove_decl({});", names.join(",")));
        }
        for name in &self.hoisted {
            head.push_str(&format!("{name}=__cove_fn(__cove_f_{name},{});", quote(name)));
        }
        head
    }
}

/// Every name that a pattern binds.
pub(crate) fn bound_names<'p, 'a>(pattern: &'p BindingPattern<'a>, tell: &mut impl FnMut(&'p BindingIdentifier<'a>)) {
    match pattern {
        BindingPattern::BindingIdentifier(id) => tell(id),
        BindingPattern::ObjectPattern(it) => {
            it.properties.iter().for_each(|property| bound_names(&property.value, tell));
            it.rest.iter().for_each(|rest| bound_names(&rest.argument, tell));
        }
        BindingPattern::ArrayPattern(it) => {
            it.elements.iter().flatten().for_each(|element| bound_names(element, tell));
            it.rest.iter().for_each(|rest| bound_names(&rest.argument, tell));
        }
        BindingPattern::AssignmentPattern(it) => bound_names(&it.left, tell),
    }
}
