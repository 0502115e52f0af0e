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
    /// Arguments that must fit, too: a name, and a pattern for its text. `**` crosses folders, `*` does not. To be allowed
    /// every element of a list must fit; to be refused or asked for, one element does, or what cannot be read.
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

/// Whose verdict it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Says {
    /// A rule's.
    Rule,
    /// No rule fits: it follows from what the tool says of itself.
    Hint,
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

    /// What becomes of a call of `server.tool` with these arguments, and who says so.
    pub(crate) fn verdict(&self, name: &str, hints: Hints, args: &Map<String, Value>) -> (Verdict, Says) {
        if let Some(rule) = self.0.iter().find(|rule| rule.fits(name, args)) {
            return (rule.verdict, Says::Rule);
        }
        let verdict = match (hints.read_only, hints.destructive) {
            (Some(true), _) => Verdict::Allow,
            (_, Some(true)) => Verdict::Ask,
            _ => Verdict::Allow,
        };
        (verdict, Says::Hint)
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
            if pattern.split('/').any(|part| part == "..") {
                return Err(format!("`when.{name}` of {:?} has `..`: write the folder that it means", rule.tool));
            }
            let pattern = resolved(pattern).unwrap_or_else(|| pattern.clone());
            let glob = GlobBuilder::new(&pattern).literal_separator(true).build().map_err(told)?;
            when.push((name.clone(), glob.compile_matcher()));
        }
        Ok(Self { tool, verdict: rule.verdict, when })
    }

    fn fits(&self, name: &str, args: &Map<String, Value>) -> bool {
        let argument = |(name, pattern): &(String, GlobMatcher)| {
            args.get(name).is_some_and(|value| match self.verdict {
                Verdict::Allow => all_fit(pattern, value),
                Verdict::Deny | Verdict::Ask => may_fit(pattern, value),
            })
        };
        self.tool.is_match(name) && self.when.iter().all(argument)
    }
}

/// Whether a value is certainly what a pattern means: of a list each element.
fn all_fit(pattern: &GlobMatcher, value: &Value) -> bool {
    match value {
        Value::String(text) => resolved(text).is_some_and(|text| pattern.is_match(text)),
        Value::Number(_) | Value::Bool(_) => pattern.is_match(value.to_string()),
        Value::Array(items) => !items.is_empty() && items.iter().all(|item| all_fit(pattern, item)),
        Value::Object(_) | Value::Null => false,
    }
}

/// Whether a value may be what a pattern means: of a list any element, and whatever cannot be read.
fn may_fit(pattern: &GlobMatcher, value: &Value) -> bool {
    match value {
        // `/etc/` is the folder `/etc`, and what holds for everything in a folder holds for the folder.
        Value::String(text) => resolved(text).is_none_or(|text| {
            let bare = text.trim_end_matches('/');
            [text.as_str(), bare, &format!("{bare}/")].iter().any(|text| pattern.is_match(text))
        }),
        Value::Number(_) | Value::Bool(_) => pattern.is_match(value.to_string()),
        Value::Array(items) => items.iter().any(|item| may_fit(pattern, item)),
        Value::Object(_) => true,
        Value::Null => false,
    }
}

/// A path as its words mean it: `/work/../etc`, `//etc` and `/./etc` are `/etc`. `None`: it leads above its own beginning,
/// and only its server knows where that is.
fn resolved(text: &str) -> Option<String> {
    let from_root = text.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in text.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.pop().is_none() && !from_root => return None,
            ".." => {}
            part => parts.push(part),
        }
    }
    let (root, folder) = (if from_root { "/" } else { "" }, text.ends_with('/') && !parts.is_empty());
    Some(format!("{root}{}{}", parts.join("/"), if folder { "/" } else { "" }))
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
            assert_eq!(rules.verdict(name, hints, args.as_object().unwrap()).0, expected, "{name} {args}");
        }
    }

    /// What a guest can write instead of `/etc/passwd` and `/work/a`, before a rule of each kind.
    #[test]
    fn no_other_spelling_gets_past_a_rule() {
        let fits = |verdict: &str, pattern: &str, value: &Value| {
            let rule: Rule =
                serde_json::from_value(json!({"tool": "fs.*", "do": verdict, "when": {"path": pattern}})).unwrap();
            Read::new(&rule).unwrap().fits("fs.read", json!({"path": value}).as_object().unwrap())
        };
        for (value, etc, work) in [
            (json!("/etc/passwd"), true, false),
            (json!("//etc/passwd"), true, false),
            (json!("///etc///passwd"), true, false),
            (json!("/./etc/passwd"), true, false),
            (json!("/etc/./passwd"), true, false),
            (json!("/a/../etc/passwd"), true, false),
            (json!("/a//../etc/passwd"), true, false),
            (json!("/../etc/passwd"), true, false),
            (json!("/work/../etc/passwd"), true, false),
            (json!("/work/a/../../../etc/passwd"), true, false),
            (json!("/etc"), true, false),
            (json!("/etc/"), true, false),
            (json!("/etc/."), true, false),
            (json!("../etc/passwd"), true, false),
            (json!("a/../../etc/passwd"), true, false),
            (json!(["/work/a", "/etc/passwd"]), true, false),
            (json!(["/work/a", ["//etc/passwd"]]), true, false),
            (json!({"path": "/etc/passwd"}), true, false),
            (json!([{"path": "/work/a"}]), true, false),
            (json!([]), false, false),
            (json!(null), false, false),
            (json!("/work/a"), false, true),
            (json!("/work//a"), false, true),
            (json!("/work/b/../a"), false, true),
            (json!(["/work/a", "/work/b"]), false, true),
            (json!("/workshop/a"), false, false),
            (json!("notes.txt"), false, false),
            (json!(7), false, false),
        ] {
            assert_eq!(fits("deny", "/etc/**", &value), etc, "deny {value}");
            assert_eq!(fits("ask", "/etc//**", &value), etc, "ask {value}");
            assert_eq!(fits("allow", "/work/**", &value), work, "allow {value}");
        }
        let address = json!("https://example.com/a");
        assert!(fits("allow", "https://example.com/**", &address) && !fits("deny", "https://other.org/**", &address));
        let rule = json!({"tool": "a.*", "do": "deny", "when": {"path": "/a/../b"}});
        assert!(ApprovalRules::new(&[serde_json::from_value(rule).unwrap()]).unwrap_err().contains("`..`"));
    }

    #[test]
    fn a_path_means_what_its_words_mean() {
        for (text, expected) in [
            ("/a/../b", Some("/b")),
            ("/a/b/../../c", Some("/c")),
            ("/../b", Some("/b")),
            ("../b", None),
            ("a/../../b", None),
            ("a/./b", Some("a/b")),
            ("a/./../b", Some("b")),
            ("//a//b//", Some("/a/b/")),
            ("/", Some("/")),
            ("", Some("")),
        ] {
            assert_eq!(resolved(text).as_deref(), expected, "{text}");
        }
    }
}
