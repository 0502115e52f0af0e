//! Modules given as text: their own syntax becomes calls and assignments, on the same lines.
//!
//! Exports are getters, made before anything runs, and an imported name is read from its module at each use: so modules
//! that import one another see what the other has by then, as they do in any engine. Imports run before the user's
//! first character. A text with no module syntax is CommonJS or UMD, in `commonjs`.

use oxc_ast::ast::{
    Declaration, ExportAllDeclaration, ExportDeclaration, ExportDefaultDeclaration, ExportDefaultDeclarationKind,
    ExportFromDeclaration, ExportNamedDeclaration, ExportSpecifier, IdentifierReference, ImportDeclaration,
    ImportDeclarationSpecifier, ImportOrExportKind, ModuleExportName, Program, Statement,
};
use oxc_ast_visit::Visit;
use oxc_span::{GetSpan, Span};
use oxc_syntax::scope::ScopeFlags;
use oxc_syntax::symbol::SymbolId;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::ambient::is_type_only;
use crate::cell::bound_names;
use crate::rewriter::Rewriter;
use crate::text::quote;

/// What a module's own syntax leaves to say at its beginning and end.
#[derive(Debug, Default)]
pub(crate) struct ModuleParts {
    /// Whether there is any: otherwise the text is CommonJS.
    pub(crate) is_es: bool,
    /// The exports.
    live: String,
    /// The imports, in their order.
    head: String,
    loaded: u32,
    /// What stands for an imported name.
    imported: FxHashMap<SymbolId, String>,
    /// What a CommonJS text requires by a literal name, in order.
    pub(crate) required: Vec<String>,
    pub(crate) required_seen: FxHashSet<String>,
    /// Whether a text requires what is not written as a literal.
    pub(crate) requires_any: bool,
    /// Modules of Node's that a body imports.
    pub(crate) node_imports: Vec<String>,
    /// The names that a body imports from them.
    pub(crate) node_bindings: String,
    /// Built-in classes of which the module has its own.
    pub(crate) own_classes: Vec<&'static str>,
}

impl<'a> Rewriter<'a, '_> {
    /// What a module takes from others, wherever it says so: names may be used above their import.
    pub(crate) fn module_imports(&mut self, program: &Program<'a>) {
        for statement in program.body.iter().filter(|statement| !is_type_only(statement)) {
            match statement {
                Statement::ImportDeclaration(it) => self.module_import(it),
                Statement::ExportAllDeclaration(it) => self.export_all(it),
                Statement::ExportFromDeclaration(it) => self.export_from(it),
                _ => continue,
            }
            self.module.is_es = true;
        }
    }

    /// What stands for a name that is imported.
    pub(crate) fn imported(&self, it: &IdentifierReference<'a>) -> Option<&str> {
        let reference = self.scoping.get_reference(it.reference_id.get()?);
        self.module.imported.get(&reference.symbol_id()?).map(String::as_str)
    }

    pub(crate) fn imports_names(&self) -> bool {
        !self.module.imported.is_empty()
    }

    /// A top-level statement of a module. False if it has nothing to do with modules.
    pub(crate) fn module_statement(&mut self, statement: &Statement<'a>) -> bool {
        if is_type_only(statement) {
            // `export {}` is what makes a text a module.
            self.module.is_es |= matches!(statement, Statement::ExportNamedDeclaration(_));
            return false;
        }
        match statement {
            // Done by `module_imports`.
            Statement::ImportDeclaration(_)
            | Statement::ExportAllDeclaration(_)
            | Statement::ExportFromDeclaration(_) => {}
            Statement::ExportDefaultDeclaration(it) => self.export_default(it),
            Statement::ExportDeclaration(it) => self.export_declaration(it),
            Statement::ExportNamedDeclaration(it) => self.export_named(it),
            _ => return false,
        }
        self.module.is_es = true;
        true
    }

    /// The wrapper of a module.
    pub(crate) fn module_frame(&self) -> (String, String) {
        if !self.module.is_es {
            return self.commonjs_frame();
        }
        // From outside, for the module may have an `Object` of its own.
        let head = format!(
            "((__cove_define)=>async function(__cove_exports){{\"use strict\";const __cove_live=(__cove_k,__cove_g)=>\
             {{__cove_define(__cove_exports,__cove_k,{{get:__cove_g,enumerable:true,configurable:true}})}};{}{}{}",
            self.own_classes(),
            self.module.live,
            self.module.head
        );
        (head, "\n;})(Object.defineProperty)".to_owned())
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
            let read = match specifier {
                ImportDeclarationSpecifier::ImportSpecifier(one) if one.import_kind == ImportOrExportKind::Type => {
                    continue;
                }
                ImportDeclarationSpecifier::ImportSpecifier(one) => member(&module, &export_name(&one.imported)),
                ImportDeclarationSpecifier::ImportDefaultSpecifier(_) => format!("{module}.default"),
                ImportDeclarationSpecifier::ImportNamespaceSpecifier(_) => {
                    self.module.head.push_str(&format!("const {}={module};", local.name));
                    continue;
                }
            };
            if let Some(symbol) = local.symbol_id.get() {
                self.module.imported.insert(symbol, read);
            }
        }
    }

    fn export_all(&mut self, it: &ExportAllDeclaration<'a>) {
        self.blank_item(it.span);
        let module = self.load(it.source.value.as_str(), it.source.span.start);
        let text = match &it.exported {
            Some(name) => format!("__cove_live({},()=>{module});", quote(&export_name(name))),
            // The module's own exports are there already, and win.
            None => format!(
                "for(const __cove_k in {module})if(__cove_k!==\"default\"&&!(__cove_k in __cove_exports))\
                 __cove_live(__cove_k,()=>{module}[__cove_k]);"
            ),
        };
        self.module.head.push_str(&text);
    }

    fn export_from(&mut self, it: &ExportFromDeclaration<'a>) {
        self.blank_item(it.span);
        let module = self.load(it.source.value.as_str(), it.source.span.start);
        for specifier in value_specifiers(&it.specifiers) {
            let read = member(&module, &export_name(&specifier.local));
            self.export_live(&export_name(&specifier.exported), &read);
        }
    }

    fn export_named(&mut self, it: &ExportNamedDeclaration<'a>) {
        self.blank_item(it.span);
        for specifier in value_specifiers(&it.specifiers) {
            let read = match &specifier.local {
                ModuleExportName::IdentifierReference(it) => self.imported(it).map(str::to_owned),
                _ => None,
            };
            let read = read.unwrap_or_else(|| {
                self.visit_module_export_name(&specifier.local);
                export_name(&specifier.local)
            });
            self.export_live(&export_name(&specifier.exported), &read);
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
                        self.export_live(id.name.as_str(), id.name.as_str());
                    });
                }
                self.visit_variable_declaration(inner);
                self.end_after_type(inner.span);
            }
            Declaration::FunctionDeclaration(inner) => {
                if let Some(id) = &inner.id {
                    self.declare_top(id);
                    self.export_live(id.name.as_str(), id.name.as_str());
                }
                self.visit_function(inner, ScopeFlags::Function);
            }
            Declaration::ClassDeclaration(inner) => {
                if let Some(id) = &inner.id {
                    self.declare_top(id);
                    self.export_live(id.name.as_str(), id.name.as_str());
                }
                self.visit_class(inner);
            }
            Declaration::TSEnumDeclaration(inner) => {
                self.declare_top(&inner.id);
                self.export_live(inner.id.name.as_str(), inner.id.name.as_str());
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
                        self.export_live("default", id.name.as_str());
                    }
                    None => self.assign_default(inner),
                }
                self.visit_function(function, ScopeFlags::Function);
            }
            ExportDefaultDeclarationKind::ClassDeclaration(class) => {
                match &class.id {
                    Some(id) => {
                        self.declare_top(id);
                        self.export_live("default", id.name.as_str());
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

    /// An export that is read when it is asked for.
    fn export_live(&mut self, exported: &str, read: &str) {
        self.module.live.push_str(&format!("__cove_live({},()=>{read});", quote(exported)));
    }
}

/// A property of a module, as code.
fn member(module: &str, name: &str) -> String {
    let mut bytes = name.bytes();
    let word = bytes.next().is_some_and(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'$'))
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$'));
    if word { format!("{module}.{name}") } else { format!("{module}[{}]", quote(name)) }
}

fn value_specifiers<'s, 'a>(list: &'s [ExportSpecifier<'a>]) -> impl Iterator<Item = &'s ExportSpecifier<'a>> {
    list.iter().filter(|specifier| specifier.export_kind == ImportOrExportKind::Value)
}

fn export_name(name: &ModuleExportName<'_>) -> String {
    name.name().to_string()
}
