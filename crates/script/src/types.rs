//! Types are blanked where they stand.
//!
//! Spaces for characters, line ends kept. The care is in what a blank can do to the text around it: join two
//! statements, put a line end between `return` and its value, turn an object literal into a block.

use oxc_ast::ast::{
    ArrowFunctionExpression, Expression, FormalParameter, TSThisParameter, TSTypeAssertion, VariableDeclarator,
};
use oxc_ast_visit::{Visit, walk};
use oxc_span::{GetSpan, Span};

use crate::lines::has_terminator;
use crate::rewriter::Rewriter;
use crate::text;

impl<'a> Rewriter<'a, '_> {
    pub(crate) fn blank(&mut self, span: Span) {
        self.edits.blank(span.start, span.end);
    }

    /// Blanks a whole statement or class member. `;` keeps its neighbours apart.
    pub(crate) fn blank_item(&mut self, span: Span) {
        self.edits.blank_after(';', span.start, span.end);
    }

    /// Ends a statement or field that ended in a type and had no semicolon of its own: `x as T ⏎ (y)` is two
    /// statements, `x ⏎ (y)` is one.
    pub(crate) fn end_after_type(&mut self, span: Span) {
        if self.is_typescript() && self.edits.blank_end() == span.end && !span.source_text(self.source).ends_with(';') {
            self.edits.insert(span.end, ";");
        }
    }

    /// Blanks a one-character mark (`?` or `!`) if it comes next.
    pub(crate) fn blank_mark(&mut self, at: u32, mark: &str) {
        if let Some(at) = text::next_is(self.source, at, mark) {
            self.edits.blank(at, at + 1);
        }
    }

    /// Blanks the modifiers among the words from `start` to `end`. Tells whether there were any.
    pub(crate) fn blank_modifiers(&mut self, start: u32, end: u32, first: Option<char>) {
        let mut at = text::skip_trivia(self.source, start);
        let mut first = first;
        while at < end {
            let word_end = text::word_end(self.source, at);
            if word_end == at {
                return;
            }
            let word = Span::new(at, word_end).source_text(self.source);
            if matches!(word, "public" | "private" | "protected" | "readonly" | "override" | "abstract" | "declare") {
                match first {
                    Some(char) => self.edits.blank_after(char, at, word_end),
                    None => self.edits.blank(at, word_end),
                }
            }
            first = None;
            at = text::skip_trivia(self.source, word_end);
        }
    }

    /// `x as T`, `x satisfies T`, `x!`, `x<T>`: everything behind the expression goes.
    pub(crate) fn blank_behind(&mut self, expression: &Expression<'a>, span: Span) {
        self.visit_expression(expression);
        self.edits.blank(expression.span().end, span.end);
    }

    /// `<T>x` becomes `(  x)`: the parenthesis keeps `{` from opening a block and holds a line end after `return`.
    pub(crate) fn type_assertion(&mut self, it: &TSTypeAssertion<'a>) {
        self.edits.blank_after('(', it.span.start, it.expression.span().start);
        self.visit_expression(&it.expression);
        self.edits.insert(it.span.end, ")");
    }

    /// `this: T` among the parameters, with its comma.
    pub(crate) fn this_parameter(&mut self, it: &TSThisParameter<'a>) {
        self.blank(it.span);
        self.blank_mark(it.span.end, ",");
    }

    pub(crate) fn parameter(&mut self, it: &FormalParameter<'a>) {
        self.visit_decorators(&it.decorators);
        let pattern = it.pattern.span();
        if it.accessibility.is_some() || it.readonly || it.r#override {
            self.blank_modifiers(it.span.start, pattern.start, None);
        }
        self.visit_binding_pattern(&it.pattern);
        if it.optional {
            self.blank_mark(pattern.end, "?");
        }
        if let Some(annotation) = &it.type_annotation {
            self.visit_ts_type_annotation(annotation);
        }
        if let Some(initializer) = &it.initializer {
            self.visit_expression(initializer);
        }
    }

    pub(crate) fn declarator(&mut self, it: &VariableDeclarator<'a>) {
        self.visit_binding_pattern(&it.id);
        if it.definite {
            self.blank_mark(it.id.span().end, "!");
        }
        if let Some(annotation) = &it.type_annotation {
            self.visit_ts_type_annotation(annotation);
        }
        if let Some(init) = &it.init {
            self.visit_expression(init);
        }
    }

    /// An arrow function may have no line end before its `(` (after `async` or `return`) nor before its `=>`. Types
    /// there may: then the parenthesis moves to the other side of the blank.
    pub(crate) fn arrow(&mut self, it: &ArrowFunctionExpression<'a>) {
        let params = it.params.span;
        if let Some(parameters) = &it.type_parameters {
            let gap = Span::new(parameters.span.start, params.start);
            if has_terminator(gap.source_text(self.source)) {
                self.edits.insert(gap.start, "(");
                self.edits.replace(params.start, params.start + 1, " ");
            }
        }
        let moved = it
            .return_type
            .as_ref()
            .filter(|annotation| has_terminator(Span::new(params.end, annotation.span.end).source_text(self.source)));
        if let Some(annotation) = moved {
            self.edits.replace(params.end - 1, params.end, " ");
            self.blank(annotation.span);
            self.edits.insert(annotation.span.end, ")");
            if let Some(parameters) = &it.type_parameters {
                self.visit_ts_type_parameter_declaration(parameters);
            }
            self.visit_formal_parameters(&it.params);
            self.visit_arrow_function_body(&it.body);
        } else {
            walk::walk_arrow_function_expression(self, it);
        }
    }
}
