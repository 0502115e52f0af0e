//! Calls of tools, as the program writes them: which name, at what place, and with which names of arguments.
//!
//! Found in the parsed program, without running it: so a call with a wrong name of an argument can be told before anything
//! has an effect, and a person who is asked about a call can be shown its line in words that are not the guest's claim.

use cove_core::Position;
use oxc_ast::ast::{Argument, CallExpression, Expression, ObjectExpression, ObjectPropertyKind, PropertyKey};
use oxc_ast_visit::{Visit, walk};
use oxc_span::GetSpan as _;

use crate::{lines, prepare};

/// Places of one program that are listed.
const MAX_PLACES: usize = 1_000;

/// One call of a function whose name is written out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolPlace {
    /// Its name: `github.create_issue`; of `callTool("github.create_issue", …)` the name in quotes.
    pub name: String,
    /// Where it begins.
    pub position: Position,
    /// The names of its arguments and where they stand; `None`: they are not written out here.
    pub arguments: Option<Vec<(String, Position)>>,
}

/// All calls `a.b(…)`, `a["b"](…)` and `call_by_name("a.b", …)` whose first name is one of `roots`.
pub fn tool_places(source: &str, roots: &[&str], call_by_name: &str) -> Vec<ToolPlace> {
    let mut finder = Finder { source, roots, call_by_name, places: Vec::new() };
    prepare::read(source, |program| finder.visit_program(program));
    finder.places
}

struct Finder<'s> {
    source: &'s str,
    roots: &'s [&'s str],
    call_by_name: &'s str,
    places: Vec<ToolPlace>,
}

impl<'a> Visit<'a> for Finder<'_> {
    fn visit_call_expression(&mut self, it: &CallExpression<'a>) {
        if self.places.len() < MAX_PLACES
            && let Some(place) = self.place(it)
        {
            self.places.push(place);
        }
        walk::walk_call_expression(self, it);
    }
}

impl Finder<'_> {
    fn place(&self, it: &CallExpression<'_>) -> Option<ToolPlace> {
        let mut names = Vec::new();
        path(&it.callee, &mut names)?;
        let first = *names.first()?;
        let by_name = names.len() == 1 && first == self.call_by_name;
        if !by_name && (names.len() < 2 || !self.roots.contains(&first)) {
            return None;
        }
        let (name, rest) = match (by_name, it.arguments.first()) {
            (true, Some(Argument::StringLiteral(name))) => (name.value.to_string(), &it.arguments[1..]),
            (true, _) => return None,
            (false, _) => (names.join("."), &it.arguments[..]),
        };
        let arguments = match rest {
            [] => Some(Vec::new()),
            [Argument::ObjectExpression(object)] => self.keys(object),
            _ => None,
        };
        Some(ToolPlace { name, position: self.position(it.callee.span().start), arguments })
    }

    fn keys(&self, object: &ObjectExpression<'_>) -> Option<Vec<(String, Position)>> {
        let key = |property: &ObjectPropertyKind<'_>| {
            let ObjectPropertyKind::ObjectProperty(property) = property else { return None };
            let name = match &property.key {
                PropertyKey::StaticIdentifier(name) => name.name.to_string(),
                PropertyKey::StringLiteral(name) => name.value.to_string(),
                _ => return None,
            };
            Some((name, self.position(property.key.span().start)))
        };
        object.properties.iter().map(key).collect()
    }

    fn position(&self, offset: u32) -> Position {
        lines::position(self.source, offset as usize)
    }
}

/// The names of `a.b["c"]`, if nothing else is in it.
fn path<'a>(callee: &'a Expression<'_>, names: &mut Vec<&'a str>) -> Option<()> {
    match callee.get_inner_expression() {
        Expression::Identifier(it) => names.push(it.name.as_str()),
        Expression::StaticMemberExpression(it) => {
            path(&it.object, names)?;
            names.push(it.property.name.as_str());
        }
        Expression::ComputedMemberExpression(it) => {
            let Expression::StringLiteral(name) = &it.expression else { return None };
            path(&it.object, names)?;
            names.push(name.value.as_str());
        }
        _ => return None,
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_found_with_the_names_of_their_arguments() {
        let check = |source: &str, expected: &[(&str, u32, Option<&[&str]>)]| {
            let places = tool_places(source, &["github", "tools"], "callTool");
            let told: Vec<(&str, u32, Option<Vec<&str>>)> = places
                .iter()
                .map(|place| {
                    let names = place.arguments.as_ref();
                    let names = names.map(|names| names.iter().map(|(name, _)| name.as_str()).collect());
                    (place.name.as_str(), place.position.line, names)
                })
                .collect();
            let expected: Vec<_> =
                expected.iter().map(|(name, line, names)| (*name, *line, names.map(<[&str]>::to_vec))).collect();
            assert_eq!(told, expected, "{source}");
        };
        check("await github.create_issue({title, 'body': 1})", &[("github.create_issue", 1, Some(&["title", "body"]))]);
        check("1;\ntools['github']['create-issue']()", &[("tools.github.create-issue", 2, Some(&[]))]);
        check("callTool('github.x', {a: github.y({...b})})", &[("github.x", 1, Some(&["a"])), ("github.y", 1, None)]);
        check("github.a(b); other.c({}); github(1); callTool(name)", &[("github.a", 1, None)]);
        check("github.a({b: 1} as T)", &[("github.a", 1, None)]);
        check("github.a({", &[]);
    }
}
