//! Modules given as text: their own syntax becomes calls and assignments, on the same lines.
//!
//! Imports run first, before the user's first character, as in any module; exports are assigned at the end (functions
//! at the beginning, since they are hoisted). A text with no module syntax is taken for CommonJS or UMD.

use oxc_ast::ast::{
    Declaration, ExportAllDeclaration, ExportDeclaration, ExportDefaultDeclaration, ExportDefaultDeclarationKind,
    ExportFromDeclaration, ExportNamedDeclaration, ExportSpecifier, ImportDeclaration, ImportDeclarationSpecifier,
    ImportOrExportKind, ModuleExportName, Statement,
};
use oxc_ast_visit::Visit;
use oxc_span::{GetSpan, Span};
use oxc_syntax::scope::ScopeFlags;

use crate::ambient::is_type_only;
use crate::cell::bound_names;
use crate::rewriter::Rewriter;
use crate::text::quote;

/// What a module's own syntax leaves to say at its beginning and end.
#[derive(Debug, Default)]
pub(crate) struct ModuleParts {
    /// Whether there is any: otherwise the text is CommonJS.
    pub(crate) is_es: bool,
    head: String,
    tail: String,
    loaded: u32,
}

impl<'a> Rewriter<'a, '_> {
    /// A top-level statement of a module. False if it has nothing to do with modules.
    pub(crate) fn module_statement(&mut self, statement: &Statement<'a>) -> bool {
        if is_type_only(statement) {
            // `export {}` is what makes a text a module.
            self.module.is_es |= matches!(statement, Statement::ExportNamedDeclaration(_));
            return false;
        }
        match statement {
            Statement::ImportDeclaration(it) => self.module_import(it),
            Statement::ExportAllDeclaration(it) => self.export_all(it),
            Statement::ExportDefaultDeclaration(it) => self.export_default(it),
            Statement::ExportDeclaration(it) => self.export_declaration(it),
            Statement::ExportNamedDeclaration(it) => self.export_named(it),
            Statement::ExportFromDeclaration(it) => self.export_from(it),
            _ => return false,
        }
        self.module.is_es = true;
        true
    }

    /// The wrapper of a module.
    pub(crate) fn module_frame(&self) -> (String, String) {
        if self.module.is_es {
            let head = format!("(async function(__cove_exports){{\"use strict\";{}", self.module.head);
            return (head, format!("\n;{}}})", self.module.tail));
        }
        let head = "(async function(__cove_exports){\"use strict\";const __cove_m={exports:{}};\
                    (function(module,exports,require){";
        let tail = "\n}).call(__cove_m.exports,__cove_m,__cove_m.exports,function require(__cove_s)\
                    {throw new Error(\"Cannot require \"+__cove_s+\": a module is loaded with import()\")});\
                    const __cove_x=__cove_m.exports;\
                    if(__cove_x!==null&&(typeof __cove_x===\"object\"||typeof __cove_x===\"function\"))\
                    for(const __cove_k of Object.keys(__cove_x))__cove_exports[__cove_k]=__cove_x[__cove_k];\
                    __cove_exports.default=__cove_x})";
        (head.to_owned(), tail.to_owned())
    }

    /// Loads a module at the beginning and gives the name that holds it.
    fn load(&mut self, source: &str, offset: u32) -> String {
        self.check_import(source, offset);
        let name = format!("__cove_m{}", self.module.loaded);
        self.module.loaded += 1;
        self.module.head.push_str(&format!("const {name}=await __cove_import({});", quote(source)));
        name
    }

    fn module_import(&mut self, it: &ImportDeclaration<'a>) {
        self.blank_item(it.span);
        if it.phase.is_some() {
            self.refuse_at(
                it.span.start,
                "`import source` and `import defer` are not supported",
                "Leave the word out.",
            );
        }
        let module = self.load(it.source.value.as_str(), it.source.span.start);
        for specifier in it.specifiers.iter().flatten() {
            let local = specifier.local();
            self.check_name(local.name.as_str(), local.span.start);
            let binding = match specifier {
                ImportDeclarationSpecifier::ImportSpecifier(one) if one.import_kind == ImportOrExportKind::Type => {
                    continue;
                }
                ImportDeclarationSpecifier::ImportSpecifier(one) => {
                    format!("const {}={module}[{}];", local.name, quote(&export_name(&one.imported)))
                }
                ImportDeclarationSpecifier::ImportDefaultSpecifier(_) => {
                    format!("const {}={module}.default;", local.name)
                }
                ImportDeclarationSpecifier::ImportNamespaceSpecifier(_) => format!("const {}={module};", local.name),
            };
            self.module.head.push_str(&binding);
        }
    }

    fn export_all(&mut self, it: &ExportAllDeclaration<'a>) {
        self.blank_item(it.span);
        let module = self.load(it.source.value.as_str(), it.source.span.start);
        let text = match &it.exported {
            Some(name) => format!("__cove_exports[{}]={module};", quote(&export_name(name))),
            // At the beginning, so that the module's own exports win.
            None => format!(
                "for(const __cove_k in {module})if(__cove_k!==\"default\")__cove_exports[__cove_k]={module}[__cove_k];"
            ),
        };
        self.module.head.push_str(&text);
    }

    fn export_from(&mut self, it: &ExportFromDeclaration<'a>) {
        self.blank_item(it.span);
        let module = self.load(it.source.value.as_str(), it.source.span.start);
        for specifier in value_specifiers(&it.specifiers) {
            let (to, from) = (quote(&export_name(&specifier.exported)), quote(&export_name(&specifier.local)));
            self.module.head.push_str(&format!("__cove_exports[{to}]={module}[{from}];"));
        }
    }

    fn export_named(&mut self, it: &ExportNamedDeclaration<'a>) {
        self.blank_item(it.span);
        for specifier in value_specifiers(&it.specifiers) {
            self.visit_module_export_name(&specifier.local);
            let local = export_name(&specifier.local);
            self.export_at_end(&export_name(&specifier.exported), &local);
        }
    }

    fn export_declaration(&mut self, it: &ExportDeclaration<'a>) {
        let declaration = it.declaration.span();
        self.edits.blank_after(';', it.span.start, declaration.start);
        match &it.declaration {
            Declaration::VariableDeclaration(inner) => {
                for declarator in &inner.declarations {
                    bound_names(&declarator.id, &mut |id| {
                        self.declare_top(id);
                        self.export_at_end(id.name.as_str(), id.name.as_str());
                    });
                }
                self.visit_variable_declaration(inner);
                self.end_after_type(inner.span);
            }
            Declaration::FunctionDeclaration(inner) => {
                if let Some(id) = &inner.id {
                    self.declare_top(id);
                    let export = format!("__cove_exports[{}]={};", quote(id.name.as_str()), id.name);
                    self.module.head.push_str(&export);
                }
                self.visit_function(inner, ScopeFlags::Function);
            }
            Declaration::ClassDeclaration(inner) => {
                if let Some(id) = &inner.id {
                    self.declare_top(id);
                    self.export_at_end(id.name.as_str(), id.name.as_str());
                }
                self.visit_class(inner);
            }
            Declaration::TSEnumDeclaration(inner) => {
                self.declare_top(&inner.id);
                self.export_at_end(inner.id.name.as_str(), inner.id.name.as_str());
                self.enumeration(inner);
            }
            _ => self.refuse_at(
                it.span.start,
                "Namespaces with values are not supported",
                "Use an object or separate top-level declarations.",
            ),
        }
    }

    fn export_default(&mut self, it: &ExportDefaultDeclaration<'a>) {
        let inner = it.declaration.span();
        self.edits.blank_after(';', it.span.start, inner.start);
        match &it.declaration {
            ExportDefaultDeclarationKind::FunctionDeclaration(function) => {
                match &function.id {
                    Some(id) => {
                        self.declare_top(id);
                        self.module.head.push_str(&format!("__cove_exports.default={};", id.name));
                    }
                    None => self.assign_default(inner),
                }
                self.visit_function(function, ScopeFlags::Function);
            }
            ExportDefaultDeclarationKind::ClassDeclaration(class) => {
                match &class.id {
                    Some(id) => {
                        self.declare_top(id);
                        self.export_at_end("default", id.name.as_str());
                    }
                    None => self.assign_default(inner),
                }
                self.visit_class(class);
            }
            ExportDefaultDeclarationKind::TSInterfaceDeclaration(_) => {}
            other => {
                self.edits.insert(inner.start, "__cove_exports.default=(");
                if let Some(expression) = other.as_expression() {
                    self.visit_expression(expression);
                }
                self.edits.insert(inner.end, ");");
            }
        }
    }

    fn assign_default(&mut self, inner: Span) {
        self.edits.insert(inner.start, "__cove_exports.default=");
        self.edits.insert(inner.end, ";");
    }

    fn export_at_end(&mut self, exported: &str, local: &str) {
        self.module.tail.push_str(&format!("__cove_exports[{}]={local};", quote(exported)));
    }
}

fn value_specifiers<'s, 'a>(list: &'s [ExportSpecifier<'a>]) -> impl Iterator<Item = &'s ExportSpecifier<'a>> {
    list.iter().filter(|specifier| specifier.export_kind == ImportOrExportKind::Value)
}

fn export_name(name: &ModuleExportName<'_>) -> String {
    name.name().to_string()
}
