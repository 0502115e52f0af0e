//! Calls: which one an engine means when it says "not a function".
//!
//! QuickJS knows a call by the last place that was read before it, which lies among its arguments: of `f(g(x))` both
//! calls are at `x`. So a call with calls among its arguments gets a mark behind the last one, `1?…:undefined`: a place of its
//! own, in code that never runs and that the engine throws away. Everything else is found by reading the text again, once
//! a call has failed.

use cove_core::{Position, beginning_chars};
use oxc_ast::ast::{
    Argument, ArrowFunctionExpression, CallExpression, Class, Expression, Function, NewExpression, Program,
    TaggedTemplateExpression,
};
use oxc_ast_visit::{Visit, walk};
use oxc_span::{GetSpan, Span};
use oxc_syntax::scope::ScopeFlags;

use crate::rewriter::Rewriter;
use crate::text::offset;
use crate::{Prepared, lines, prepare};

/// How deep in other calls a call may stand to be marked: a mark is a level more for the engine's parser, too.
const MOST_DEEP: u32 = 64;

/// The longest callee that is told in full.
const MOST_CHARS: usize = 60;

/// A call as the user wrote it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// What is called: `list.items.map`.
    pub callee: String,
    /// Where to point: at the last name of it.
    pub position: Position,
    /// Whether it is a `new`.
    pub constructs: bool,
}

impl Prepared {
    /// The call that an engine means by this place.
    pub fn call_at(&self, position: Position) -> Option<Call> {
        let wanted = offset(lines::offset_of(&self.source, position)?);
        let mut finder = Finder { wanted, calls: 0, exact: None, inner: None };
        prepare::read(&self.source, |program: &Program<'_>| finder.visit_program(program))?;
        let found = finder.exact.or(finder.inner)?;
        Some(Call {
            callee: told(found.callee.source_text(&self.source), found.name.map(|name| name.source_text(&self.source))),
            position: lines::position(&self.source, found.shown as usize),
            constructs: found.constructs,
        })
    }
}

/// On one line, and not too long.
fn told(callee: &str, name: Option<&str>) -> String {
    let words: Vec<&str> = callee.split_whitespace().collect();
    let line = words.join(" ").replace(" .", ".").replace(" ?.", "?.");
    match name {
        _ if line.chars().count() <= MOST_CHARS => line,
        Some(name) => format!("….{name}"),
        None => format!("{}…", beginning_chars(&line, MOST_CHARS - 1).0),
    }
}

/// The place to point at, and the name of a member.
fn shown(callee: &Expression<'_>) -> (u32, Option<Span>) {
    match callee.get_inner_expression() {
        Expression::StaticMemberExpression(it) => (it.property.span.start, Some(it.property.span)),
        Expression::PrivateFieldExpression(it) => (it.field.span.start, Some(it.field.span)),
        Expression::ComputedMemberExpression(it) => (it.expression.span().start, None),
        Expression::Identifier(it) => (it.span.start, None),
        // `f(x)(y)`: its beginning is the inner call's.
        _ => (callee.span().end, None),
    }
}

impl<'a> Rewriter<'a, '_> {
    pub(crate) fn call(&mut self, it: &CallExpression<'a>) {
        self.calls += 1;
        self.visit_expression(&it.callee);
        if let Some(types) = &it.type_arguments {
            self.visit_ts_type_parameter_instantiation(types);
        }
        let is_super = matches!(it.callee, Expression::Super(_));
        self.arguments(&it.arguments, shown(&it.callee).0, is_super);
    }

    pub(crate) fn new_call(&mut self, it: &NewExpression<'a>) {
        self.calls += 1;
        self.visit_expression(&it.callee);
        if let Some(types) = &it.type_arguments {
            self.visit_ts_type_parameter_instantiation(types);
        }
        self.arguments(&it.arguments, shown(&it.callee).0, false);
    }

    fn arguments(&mut self, list: &oxc_allocator::ArenaVec<'a, Argument<'a>>, meant: u32, is_super: bool) {
        let last = list.last().filter(|_| self.options.mark_calls && !is_super).map(|argument| match argument {
            Argument::SpreadElement(spread) => spread.argument.span(),
            other => other.span(),
        });
        let Some(last) = last else {
            self.visit_arguments(list);
            return;
        };
        let place = self.edits.reserve(last.start);
        let before = self.calls;
        self.call_depth += 1;
        self.visit_arguments(list);
        self.call_depth -= 1;
        if self.calls > before && self.call_depth < MOST_DEEP {
            self.edits.fill(place, "1?");
            self.edits.insert_for(last.end, ":undefined", meant);
        }
    }
}

struct Found {
    callee: Span,
    name: Option<Span>,
    shown: u32,
    constructs: bool,
}

/// Looks for the call at an offset: the one that points there, else the innermost one without a mark around it.
struct Finder {
    wanted: u32,
    calls: u32,
    exact: Option<Found>,
    inner: Option<Found>,
}

impl Finder {
    fn call<'a>(&mut self, span: Span, callee: &Expression<'a>, arguments: &[Argument<'a>], constructs: bool) {
        self.calls += 1;
        self.visit_expression(callee);
        let before = self.calls;
        for argument in arguments {
            self.visit_argument(argument);
        }
        let marked = self.calls > before;
        let (shown, name) = shown(callee);
        let found = || Found { callee: callee.span(), name, shown, constructs };
        if shown == self.wanted {
            self.exact.get_or_insert_with(found);
        } else if !marked && self.inner.is_none() && (span.start..span.end).contains(&self.wanted) {
            self.inner = Some(found());
        }
    }

    fn inside(&mut self, visit: impl FnOnce(&mut Self)) {
        let calls = self.calls;
        visit(self);
        self.calls = calls;
    }
}

impl<'a> Visit<'a> for Finder {
    fn visit_call_expression(&mut self, it: &CallExpression<'a>) {
        self.call(it.span, &it.callee, &it.arguments, false);
    }

    fn visit_new_expression(&mut self, it: &NewExpression<'a>) {
        self.call(it.span, &it.callee, &it.arguments, true);
    }

    fn visit_tagged_template_expression(&mut self, it: &TaggedTemplateExpression<'a>) {
        self.calls += 1;
        walk::walk_tagged_template_expression(self, it);
        let (shown, name) = shown(&it.tag);
        if shown == self.wanted {
            self.exact.get_or_insert(Found { callee: it.tag.span(), name, shown, constructs: false });
        }
    }

    fn visit_function(&mut self, it: &Function<'a>, flags: ScopeFlags) {
        self.inside(|this| walk::walk_function(this, it, flags));
    }

    fn visit_arrow_function_expression(&mut self, it: &ArrowFunctionExpression<'a>) {
        self.inside(|this| walk::walk_arrow_function_expression(this, it));
    }

    fn visit_class(&mut self, it: &Class<'a>) {
        walk::walk_class(self, it);
    }
}

#[cfg(test)]
mod tests {
    use crate::{ColumnUnit, Mode, PrepareOptions, prepare};

    /// What is called at the column under the `^`, where the engine names a place that it read last.
    #[test]
    fn the_call_at_a_place() {
        let check = |source: &str, mark: &str, callee: &str, column: u32| {
            let options = PrepareOptions { mark_calls: true, ..PrepareOptions::new(Mode::FunctionBody) };
            let prepared = prepare(source, &options).unwrap();
            let at = u32::try_from(mark.find('^').unwrap()).unwrap() + 1;
            let call = prepared.call_at(cove_core::Position { line: 1, column: at }).unwrap();
            assert_eq!((call.callee.as_str(), call.position.column), (callee, column), "{source}");
        };
        check("[1].forEch(x => x)", "           ^", "[1].forEch", 5);
        check("a.foo(new Date())", "          ^", "Date", 11);
        check("a.foo(new Date())", "  ^", "a.foo", 3);
        check("f(g(b))", "    ^", "g", 3);
        check("f(g(b))", "^", "f", 1);
        check("foo.a(x).b(2)", "      ^", "foo.a", 5);
        check("foo.a(x).b(2)", "         ^", "foo.a(x).b", 10);
        check("s.a(x => 1, y => { foo(2) })", "    ^", "s.a", 3);
        check("a[i](x)", "     ^", "a[i]", 3);
    }

    /// A mark means the callee of its call, and changes no line.
    #[test]
    fn marks_mean_their_call() {
        let options = PrepareOptions { mark_calls: true, guards: false, ..PrepareOptions::new(Mode::FunctionBody) };
        let check = |source: &str, code: &str| {
            let prepared = prepare(source, &options).unwrap();
            assert_eq!(prepared.code, format!("(async function(input){{\"use strict\";{code}\n}})"));
            prepared
        };
        check("f(x, y)", "f(x, y)");
        check("f(x => g(x))", "f(x => g(x))");
        check("f(a, ...g(b) as T[] // c\n)", "f(a, ...1?g(b)       :undefined // c\n)");
        let prepared = check("a.f(g(h(x)))", "a.f(1?g(1?h(x):undefined):undefined)");
        let column = |text: &str| u32::try_from(prepared.code.find(text).unwrap()).unwrap() + 3;
        let place = |column| prepared.locate(1, column, ColumnUnit::Bytes).unwrap().column;
        assert_eq!((place(column(":undefined)")), place(column(":undefined)\n"))), (5, 3));
    }
}
