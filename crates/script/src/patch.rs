//! Modules that add to a built-in class: `Set.prototype.toJSON = …`.
//!
//! Built-in classes are frozen in the hardened world. A library that adds to one of these means its own objects: it gets
//! a class of its own that extends the built-in one, and nobody else sees what it adds. Only for classes that have no
//! literals and are always made with `new`; others stay as they are, and the assignment throws.

use oxc_ast::ast::{AssignmentTarget, Expression};

use crate::options::Mode;
use crate::rewriter::Rewriter;

/// The classes that a module may have for itself.
const CLASSES: [&str; 4] = ["Map", "Set", "WeakMap", "WeakSet"];

impl<'a> Rewriter<'a, '_> {
    /// Notes an assignment to a property of a built-in prototype.
    pub(crate) fn note_patch(&mut self, target: &AssignmentTarget<'a>) {
        if self.options.mode != Mode::Module {
            return;
        }
        let prototype = match target {
            AssignmentTarget::StaticMemberExpression(it) => &it.object,
            AssignmentTarget::ComputedMemberExpression(it) => &it.object,
            _ => return,
        };
        let Expression::StaticMemberExpression(prototype) = prototype else { return };
        let Expression::Identifier(class) = &prototype.object else { return };
        let reference = class.reference_id.get().map(|id| self.scoping.get_reference(id));
        let free = reference.is_some_and(|reference| reference.symbol_id().is_none());
        if free
            && prototype.property.name == "prototype"
            && let Some(name) = CLASSES.into_iter().find(|name| *name == class.name)
            && !self.module.own_classes.contains(&name)
        {
            self.module.own_classes.push(name);
        }
    }

    /// The declarations of those classes.
    pub(crate) fn own_classes(&self) -> String {
        let class = |name: &&str| format!("const {name}=class {name} extends globalThis.{name}{{}};");
        self.module.own_classes.iter().map(class).collect()
    }
}
