//! Code that changes built-ins, which are frozen in the hardened world, and gets some of its own instead.
//!
//! A module that adds to a built-in class (`Set.prototype.toJSON = …`) means its own objects: it gets a class that extends
//! the built-in one, and nobody else sees what it adds. Only for classes that have no literals and are always made with
//! `new`. A function body that sets `console.log` or `Math.random` gets a `console` or `Math` of its own with the same
//! members. Everything else stays as it is, and the assignment throws.

use oxc_ast::ast::{AssignmentTarget, Expression, IdentifierReference, StaticMemberExpression};

use crate::options::Mode;
use crate::rewriter::Rewriter;

/// The classes that a module may have for itself.
const CLASSES: [&str; 4] = ["Map", "Set", "WeakMap", "WeakSet"];

/// The objects that a function body may have for itself.
const OBJECTS: [&str; 2] = ["console", "Math"];

impl<'a> Rewriter<'a, '_> {
    /// Notes an assignment to a property of a built-in prototype.
    pub(crate) fn note_patch(&mut self, target: &AssignmentTarget<'a>) {
        let object = match target {
            AssignmentTarget::StaticMemberExpression(it) => &it.object,
            AssignmentTarget::ComputedMemberExpression(it) => &it.object,
            _ => return,
        };
        match object {
            Expression::StaticMemberExpression(prototype) if self.options.mode == Mode::Module => {
                self.note_own_class(prototype);
            }
            Expression::Identifier(it) if self.is_body() && self.is_unresolved(it) => {
                if let Some(name) = OBJECTS.into_iter().find(|name| *name == it.name)
                    && !self.own_objects.contains(&name)
                {
                    self.own_objects.push(name);
                }
            }
            _ => {}
        }
    }

    fn is_unresolved(&self, it: &IdentifierReference<'a>) -> bool {
        let reference = it.reference_id.get().map(|id| self.scoping.get_reference(id));
        reference.is_some_and(|reference| reference.symbol_id().is_none())
    }

    fn note_own_class(&mut self, prototype: &StaticMemberExpression<'a>) {
        let Expression::Identifier(class) = &prototype.object else { return };
        if self.is_unresolved(class)
            && prototype.property.name == "prototype"
            && let Some(name) = CLASSES.into_iter().find(|name| *name == class.name)
            && !self.module.own_classes.contains(&name)
        {
            self.module.own_classes.push(name);
        }
    }

    /// The declarations of a body's own objects: the members are the built-in ones, and can be set.
    pub(crate) fn own_objects(&self) -> String {
        let object = |name: &&str| {
            format!(
                "const {name}=Object.fromEntries(Object.getOwnPropertyNames(globalThis.{name}).map((k)=>[k,globalThis.{name}[k]]));"
            )
        };
        self.own_objects.iter().map(object).collect()
    }

    /// The declarations of those classes.
    pub(crate) fn own_classes(&self) -> String {
        let class = |name: &&str| format!("const {name}=class {name} extends globalThis.{name}{{}};");
        self.module.own_classes.iter().map(class).collect()
    }
}
