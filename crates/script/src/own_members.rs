//! Methods that the program itself has, for a call of one that it has not: `cart.additem()` beside its own `addItem`.

use oxc_ast::ast::{
    AssignmentExpression, AssignmentTarget, Expression, MethodDefinition, ObjectProperty, Program, PropertyDefinition,
    PropertyKey,
};
use oxc_ast_visit::{Visit, walk};

use crate::{Prepared, members, prepare};

impl Prepared {
    /// Advice for `TypeError: x.additem is not a function`, where the text has a method of nearly that name.
    pub fn own_member_hint(&self, message: &str) -> Option<String> {
        let callee = message.strip_prefix("TypeError: ")?.strip_suffix(" is not a function")?;
        let (_, name) = callee.rsplit_once('.')?;
        let mut finder = Finder::default();
        prepare::read(&self.source, |program: &Program<'_>| finder.visit_program(program))?;
        let near = members::nearest_of(name, finder.names.iter().map(String::as_str))?;
        Some(format!("Did you mean `{near}`?"))
    }
}

/// Collects the names of methods.
#[derive(Default)]
struct Finder {
    names: Vec<String>,
}

impl Finder {
    fn note(&mut self, key: &PropertyKey<'_>, value: Option<&Expression<'_>>) {
        let is_function = value.is_none_or(|value| {
            matches!(value, Expression::FunctionExpression(_) | Expression::ArrowFunctionExpression(_))
        });
        if let Some(name) = key.static_name().filter(|_| is_function) {
            self.names.push(name.into_owned());
        }
    }
}

impl<'a> Visit<'a> for Finder {
    fn visit_method_definition(&mut self, it: &MethodDefinition<'a>) {
        self.note(&it.key, None);
        walk::walk_method_definition(self, it);
    }

    fn visit_property_definition(&mut self, it: &PropertyDefinition<'a>) {
        if let Some(value) = &it.value {
            self.note(&it.key, Some(value));
        }
        walk::walk_property_definition(self, it);
    }

    fn visit_object_property(&mut self, it: &ObjectProperty<'a>) {
        self.note(&it.key, Some(&it.value));
        walk::walk_object_property(self, it);
    }

    fn visit_assignment_expression(&mut self, it: &AssignmentExpression<'a>) {
        if let (
            AssignmentTarget::StaticMemberExpression(member),
            Expression::FunctionExpression(_) | Expression::ArrowFunctionExpression(_),
        ) = (&it.left, &it.right)
        {
            self.names.push(member.property.name.to_string());
        }
        walk::walk_assignment_expression(self, it);
    }
}

#[cfg(test)]
mod tests {
    use crate::{Mode, PrepareOptions, prepare};

    #[test]
    fn a_method_of_the_program_is_suggested() {
        let check = |source: &str, callee: &str, near: Option<&str>| {
            let prepared = prepare(source, &PrepareOptions::new(Mode::FunctionBody)).unwrap();
            let expected = near.map(|near| format!("Did you mean `{near}`?"));
            let message = format!("TypeError: {callee} is not a function");
            assert_eq!(prepared.own_member_hint(&message), expected, "{source}");
        };
        check("class Cart { addItem() {} } new Cart().additem()", "cart.additem", Some("addItem"));
        check("const o = { getTotal: () => 1, total: 2 }; o.getTotla()", "o.getTotla", Some("getTotal"));
        check("function A() {} A.prototype.describe = function () {}; a.descibe()", "a.descibe", Some("describe"));
        check("class Cart { render = () => 1 } cart.rendr()", "cart.rendr", Some("render"));
        check("const o = { totals: 2 }; o.total()", "o.total", None);
        check("class Cart { addItem() {} } cart.addItem()", "cart.addItem", None);
        check("class Cart { addItem() {} } f()", "f", None);
    }
}
