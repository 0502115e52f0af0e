//! Classes: modifiers, members without a body, parameter properties.

use oxc_ast::ast::{
    AccessorProperty, AccessorPropertyType, BindingPattern, CallExpression, Class, ClassElement, Expression,
    FormalParameter, Function, MethodDefinition, MethodDefinitionKind, MethodDefinitionType, PropertyDefinition,
    PropertyDefinitionType, PropertyKey, Statement,
};
use oxc_ast_visit::Visit;
use oxc_span::{GetSpan, Span};
use oxc_syntax::scope::ScopeFlags;

use crate::rewriter::Rewriter;
use crate::text;

impl<'a> Rewriter<'a, '_> {
    pub(crate) fn class(&mut self, it: &Class<'a>) {
        self.visit_decorators(&it.decorators);
        if it.r#abstract {
            self.blank_modifiers(it.span.start, it.body.span.start, None);
        }
        if let Some(id) = &it.id {
            self.visit_binding_identifier(id);
        }
        if let Some(parameters) = &it.type_parameters {
            self.visit_ts_type_parameter_declaration(parameters);
        }
        if let Some(heritage) = &it.heritage {
            self.visit_class_heritage(heritage);
        }
        if let Some(last) = it.implements.last() {
            let heritage = it.heritage.as_ref().map(|heritage| {
                heritage.type_arguments.as_ref().map_or(heritage.expression.span().end, |types| types.span.end)
            });
            let before = heritage
                .or(it.type_parameters.as_ref().map(|parameters| parameters.span.end))
                .or(it.id.as_ref().map(|id| id.span.end));
            let from = match before {
                Some(before) => text::skip_trivia(self.source, before),
                None => self.implements_of_anonymous(it.span),
            };
            self.edits.blank(from, last.span.end);
        }
        self.declare_parameter_properties(it);
        let derived = std::mem::replace(&mut self.derived, it.heritage.is_some());
        self.visit_class_body(&it.body);
        self.derived = derived;
    }

    /// `class implements T {}` has nothing before the word but `class`.
    fn implements_of_anonymous(&self, span: Span) -> u32 {
        let mut at = text::skip_trivia(self.source, span.start);
        loop {
            let end = text::word_end(self.source, at);
            let word = Span::new(at, end).source_text(self.source);
            if word == "implements" || end == at {
                return at;
            }
            at = text::skip_trivia(self.source, end);
        }
    }

    pub(crate) fn method(&mut self, it: &MethodDefinition<'a>) {
        self.visit_decorators(&it.decorators);
        if it.value.body.is_none() || it.r#type == MethodDefinitionType::TSAbstractMethodDefinition {
            self.blank_item(it.span);
            return;
        }
        if self.is_typescript() {
            self.blank_modifiers(it.span.start, it.key.span().start, Some(';'));
        }
        self.visit_property_key(&it.key);
        if it.optional {
            self.blank_mark(self.key_end(&it.key, it.computed), "?");
        }
        if it.kind == MethodDefinitionKind::Constructor {
            self.parameter_properties(&it.value);
        }
        self.visit_function(&it.value, ScopeFlags::Function);
    }

    pub(crate) fn property(&mut self, it: &PropertyDefinition<'a>) {
        self.visit_decorators(&it.decorators);
        if it.declare || it.r#type == PropertyDefinitionType::TSAbstractPropertyDefinition {
            self.blank_item(it.span);
            return;
        }
        if self.is_typescript() {
            self.blank_modifiers(it.span.start, it.key.span().start, Some(';'));
        }
        self.visit_property_key(&it.key);
        if it.optional || it.definite {
            self.blank_mark(self.key_end(&it.key, it.computed), if it.optional { "?" } else { "!" });
        }
        if let Some(annotation) = &it.type_annotation {
            self.visit_ts_type_annotation(annotation);
        }
        if let Some(value) = &it.value {
            self.visit_expression(value);
        }
        self.end_after_type(it.span);
    }

    pub(crate) fn accessor(&mut self, it: &AccessorProperty<'a>) {
        self.visit_decorators(&it.decorators);
        if it.r#type == AccessorPropertyType::TSAbstractAccessorProperty {
            self.blank_item(it.span);
            return;
        }
        self.refuse_at(it.span.start, "`accessor` fields are not supported", "Write a getter and a setter instead.");
    }

    /// Behind the key, and behind its bracket if it is computed.
    fn key_end(&self, key: &PropertyKey<'a>, computed: bool) -> u32 {
        let end = key.span().end;
        if computed { text::next_is(self.source, end, "]").map_or(end, |at| at + 1) } else { end }
    }

    /// Parameter properties are fields before all others, as TypeScript's own compiler writes them.
    fn declare_parameter_properties(&mut self, it: &Class<'a>) {
        let constructor = it.body.body.iter().find_map(|element| match element {
            ClassElement::MethodDefinition(method) if method.kind == MethodDefinitionKind::Constructor => {
                method.value.body.as_ref().map(|_| &method.value)
            }
            _ => None,
        });
        let fields: String = constructor
            .iter()
            .flat_map(|function| self.property_names(function))
            .map(|(name, _)| format!("{name};"))
            .collect();
        if !fields.is_empty() {
            self.edits.insert(it.body.span.start + 1, fields);
        }
    }

    /// The names of a constructor's parameter properties, and where each begins.
    fn property_names(&self, it: &Function<'a>) -> Vec<(&'a str, u32)> {
        let is_property = |one: &&FormalParameter<'a>| one.accessibility.is_some() || one.readonly || one.r#override;
        let name = |one: &FormalParameter<'a>| match &one.pattern {
            BindingPattern::BindingIdentifier(id) => Some((id.span.source_text(self.source), one.span.start)),
            _ => None,
        };
        it.params.items.iter().filter(is_property).filter_map(name).collect()
    }

    /// `constructor(private x: T)` assigns `this.x=x`, first of all or right after `super()`.
    fn parameter_properties(&mut self, it: &Function<'a>) {
        let names = self.property_names(it);
        let first = names.first().map_or(0, |(_, start)| *start);
        let assignments: String = names.iter().map(|(name, _)| format!("this.{name}={name};")).collect();
        let Some(body) = it.body.as_ref().filter(|_| !assignments.is_empty()) else { return };
        if !self.derived {
            match body.directives.last() {
                Some(last) => self.edits.insert(last.span.end, format!(";{assignments}")),
                None => self.edits.insert(body.span.start + 1, assignments),
            }
            return;
        }
        match body.statements.iter().find(|statement| is_super_call(statement)) {
            Some(call) => self.edits.insert(call.span().end, format!(";{assignments}")),
            None => self.refuse_at(
                first,
                "A parameter property needs `super()` as a statement of its own in this constructor",
                "Call `super(…);` first, or assign the property by hand.",
            ),
        }
    }
}

fn is_super_call(statement: &Statement<'_>) -> bool {
    let Statement::ExpressionStatement(it) = statement else { return false };
    matches!(&it.expression, Expression::CallExpression(call) if is_super(call))
}

fn is_super(call: &CallExpression<'_>) -> bool {
    matches!(call.callee, Expression::Super(_))
}
