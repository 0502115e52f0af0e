//! Step guards in loops, and `catch` and `finally` that let the end of a run through.

use oxc_ast::ast::{BindingPattern, CatchClause, Statement};
use oxc_ast_visit::Visit;
use oxc_span::{GetSpan, Span};

use crate::rewriter::Rewriter;
use crate::text;

/// Counts down one number per turn of a loop: a comparison and a decrement, nothing allocated, nothing called.
const GUARD: &str = "if(--__cove_n<0)__cove_stop();";
const GUARD_OPEN: &str = "{if(--__cove_n<0)__cove_stop();";

impl<'a> Rewriter<'a, '_> {
    /// Visits the body of a loop with a guard as its first statement. The guard stands inside the body, so labels,
    /// `continue` and the bindings of each turn stay what they were.
    pub(crate) fn loop_body(&mut self, body: &Statement<'a>) {
        if !self.guards {
            self.visit_statement(body);
            return;
        }
        if let Statement::BlockStatement(block) = body {
            self.edits.insert(block.span.start + 1, GUARD);
            self.visit_statement(body);
        } else {
            let span = body.span();
            self.edits.insert(span.start, GUARD_OPEN);
            self.visit_statement(body);
            self.edits.insert(span.end, "}");
        }
    }

    /// Every `catch` first asks whether the run is over; if so, nothing is caught.
    pub(crate) fn catch_clause(&mut self, it: &CatchClause<'a>) {
        let body = it.body.span;
        let Some(param) = &it.param else {
            self.edits.insert(body.start, "(__cove_e)");
            self.edits.insert(body.start + 1, "__cove_catch(__cove_e);");
            self.visit_block_statement(&it.body);
            return;
        };
        if let BindingPattern::BindingIdentifier(id) = &param.pattern {
            let name = id.span.source_text(self.source);
            self.edits.insert(body.start + 1, format!("__cove_catch({name});"));
            self.visit_catch_parameter(param);
            self.visit_block_statement(&it.body);
            return;
        }
        // `catch({a}){…}` becomes `catch(__cove_e){__cove_catch(__cove_e);let {a}=__cove_e; {…}}`: nothing is moved.
        let pattern = param.pattern.span();
        self.edits.insert(pattern.start, "__cove_e){__cove_catch(__cove_e);let ");
        self.visit_catch_parameter(param);
        let end = param.type_annotation.as_ref().map_or(pattern.end, |annotation| annotation.span.end);
        self.edits.insert(end, "=__cove_e;");
        if let Some(close) = text::next_is(self.source, end, ")") {
            self.edits.replace(close, close + 1, " ");
        }
        self.visit_block_statement(&it.body);
        self.edits.insert(body.end, "}");
    }

    /// `return`, `break` and `continue` inside `finally` would throw away the end of a run: they ask first.
    pub(crate) fn jump(&mut self, span: Span, visit: impl FnOnce(&mut Self)) {
        if self.finally == 0 {
            visit(self);
            return;
        }
        // A declaration has no value, so that of a text given to `eval` stays what it was.
        self.edits.insert(span.start, "{let __cove_j=__cove_catch(0);");
        visit(self);
        self.edits.insert(span.end, "}");
    }
}
