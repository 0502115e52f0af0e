//! Which calls of wrapped tools are made at once, refused, or shown to a person first.
//!
//! The first rule whose pattern and conditions fit decides. Where none fits, the tool's own hints do: what says that it
//! destroys is asked for, everything else is made. Hints are a server's own words, so whoever does not trust a server
//! writes a rule for it.

use globset::{Glob, GlobBuilder, GlobMatcher};
use serde::Deserialize;
use serde_json::{Map, Value};

/// What becomes of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Verdict {
    /// It is made.
    Allow,
    /// It is refused.
    Deny,
    /// A person decides.
    Ask,
}

/// One rule, as the file has it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rule {
    /// `server.tool`, where `*` stands for anything.
    pub(crate) tool: String,
    /// What becomes of a call that fits.
    #[serde(rename = "do")]
    pub(crate) verdict: Verdict,
    /// Arguments that must fit, too: a name, and a pattern for its text. `**` crosses folders, `*` does not.
    #[serde(default)]
    pub(crate) when: Map<String, Value>,
}

/// All rules, in their order.
#[derive(Debug, Clone, Default)]
pub struct ApprovalRules(Vec<Read>);

#[derive(Debug, Clone)]
struct Read {
    tool: GlobMatcher,
    verdict: Verdict,
    when: Vec<(String, GlobMatcher)>,
}

/// What a tool says of itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Hints {
    /// It changes nothing.
    pub(crate) read_only: Option<bool>,
    /// It may destroy something.
    pub(crate) destructive: Option<bool>,
    /// Twice is once.
    pub(crate) idempotent: Option<bool>,
}

impl Hints {
    /// Whether a call that may have been made can be made again without harm.
    pub(crate) fn is_repeatable(self) -> bool {
        self.read_only == Some(true) || self.idempotent == Some(true)
    }

    /// What a call does to the outside, in one word.
    pub(crate) fn effect(self) -> &'static str {
        match (self.read_only, self.destructive) {
            (Some(true), _) => "reads",
            (_, Some(true)) => "may destroy",
            _ => "may change",
        }
    }
}

impl ApprovalRules {
    pub(crate) fn new(rules: &[Rule]) -> Result<Self, String> {
        rules.iter().map(Read::new).collect::<Result<_, _>>().map(Self)
    }

    /// What becomes of a call of `server.tool` with these arguments.
    pub(crate) fn verdict(&self, name: &str, hints: Hints, args: &Map<String, Value>) -> Verdict {
        if let Some(rule) = self.0.iter().find(|rule| rule.fits(name, args)) {
            return rule.verdict;
        }
        match (hints.read_only, hints.destructive) {
            (Some(true), _) => Verdict::Allow,
            (_, Some(true)) => Verdict::Ask,
            _ => Verdict::Allow,
        }
    }
}

impl Read {
    fn new(rule: &Rule) -> Result<Self, String> {
        let told = |error: globset::Error| format!("the pattern of {:?} cannot be read: {error}", rule.tool);
        let tool = Glob::new(&rule.tool).map_err(told)?.compile_matcher();
        let mut when = Vec::new();
        for (name, pattern) in &rule.when {
            let Value::String(pattern) = pattern else {
                return Err(format!("`when.{name}` of {:?} must be a pattern, written as a string", rule.tool));
            };
            let glob = GlobBuilder::new(pattern).literal_separator(true).build().map_err(told)?;
            when.push((name.clone(), glob.compile_matcher()));
        }
        Ok(Self { tool, verdict: rule.verdict, when })
    }

    fn fits(&self, name: &str, args: &Map<String, Value>) -> bool {
        let argument = |(name, pattern): &(String, GlobMatcher)| match args.get(name) {
            Some(Value::String(text)) => resolved(text).is_some_and(|text| pattern.is_match(text)),
            Some(value @ (Value::Number(_) | Value::Bool(_))) => pattern.is_match(value.to_string()),
            _ => false,
        };
        self.tool.is_match(name) && self.when.iter().all(argument)
    }
}

/// A path as its words mean it, so that `/work/../etc` is not below `/work`. `None`: it leads above its own beginning.
fn resolved(text: &str) -> Option<String> {
    if !text.split('/').any(|part| part == "..") {
        return Some(text.to_owned());
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in text.split('/') {
        match part {
            ".." => {
                parts.pop().filter(|part| !part.is_empty())?;
            }
            "." => {}
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_first_rule_that_fits_decides() {
        let rules = json!([
            {"tool": "fs.write_*", "do": "allow", "when": {"path": "/work/**"}},
            {"tool": "fs.write_*", "do": "ask"},
            {"tool": "github.delete_*", "do": "deny"},
        ]);
        let rules: Vec<Rule> = serde_json::from_value(rules).unwrap();
        let rules = ApprovalRules::new(&rules).unwrap();
        let none = Hints::default();
        let reads = Hints { read_only: Some(true), ..none };
        let destroys = Hints { destructive: Some(true), ..none };
        for (name, hints, args, expected) in [
            ("fs.write_file", none, json!({"path": "/work/a/b.txt"}), Verdict::Allow),
            ("fs.write_file", none, json!({"path": "/work/../etc/passwd"}), Verdict::Ask),
            ("fs.write_file", none, json!({"path": "/etc/passwd"}), Verdict::Ask),
            ("fs.write_file", reads, json!({}), Verdict::Ask),
            ("github.delete_repo", none, json!({}), Verdict::Deny),
            ("other.thing", none, json!({}), Verdict::Allow),
            ("other.thing", reads, json!({}), Verdict::Allow),
            ("other.thing", destroys, json!({}), Verdict::Ask),
        ] {
            assert_eq!(rules.verdict(name, hints, args.as_object().unwrap()), expected, "{name} {args}");
        }
    }

    #[test]
    fn a_path_means_what_its_words_mean() {
        for (text, expected) in [
            ("/a/../b", Some("/b")),
            ("/a/b/../../c", Some("/c")),
            ("/../b", None),
            ("../b", None),
            ("a/./b", Some("a/./b")),
            ("a/./../b", Some("b")),
        ] {
            assert_eq!(resolved(text).as_deref(), expected, "{text}");
        }
    }
}
