//! All tools of all servers: found by whatever name a model writes, by search, and listed within a budget.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Map, Value};

use crate::learn::Shape;
use crate::rules::Hints;
use crate::search::{Index, Texts};
use crate::types::{arg_names, args_of, comment, is_identifier, property, type_of};

/// Names that are told where one is not known.
const NEAREST: usize = 3;

/// How like a name must be to be told at all.
const LIKE: f64 = 0.7;

/// Names that namespaces may not have: they are the code's own, or they are no names.
const TAKEN: &[&str] = &[
    "tools",
    "codemode",
    "callTool",
    "searchTools",
    "search_tools",
    "describeTools",
    "describe_tools",
    "openHandle",
    "input",
    "console",
    "fetch",
    "fs",
    "require",
    "process",
    "module",
    "exports",
    "global",
    "globalThis",
    "crypto",
    "URL",
    "Math",
    "JSON",
    "Date",
    "Object",
    "Array",
    "String",
    "Number",
    "Promise",
    "Map",
    "Set",
    "Symbol",
    "Intl",
    "Buffer",
    "performance",
    "path",
    "os",
    "read",
    "write",
    "edit",
    "grep",
    "find",
    "ls",
    "final_answer",
    "getCanvas",
    "arguments",
    "await",
    "break",
    "case",
    "catch",
    "class",
    "const",
    "continue",
    "debugger",
    "default",
    "delete",
    "do",
    "else",
    "enum",
    "eval",
    "export",
    "extends",
    "false",
    "finally",
    "for",
    "function",
    "if",
    "implements",
    "import",
    "in",
    "instanceof",
    "interface",
    "let",
    "new",
    "null",
    "package",
    "private",
    "protected",
    "public",
    "return",
    "static",
    "super",
    "switch",
    "this",
    "throw",
    "true",
    "try",
    "typeof",
    "undefined",
    "var",
    "void",
    "while",
    "with",
    "yield",
];

/// One tool of one server.
#[derive(Debug)]
pub(crate) struct Entry {
    /// The server's place in the file.
    pub(crate) server: usize,
    /// The server's own name, as the file has it.
    pub(crate) server_name: Arc<str>,
    /// The server's namespace in code.
    pub(crate) namespace: Arc<str>,
    /// The tool's own name, as the server knows it.
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) input: Map<String, Value>,
    pub(crate) output: Option<Value>,
    pub(crate) hints: Hints,
    /// What its answers were like; for tools that declare no type of it.
    learnt: Mutex<Option<(Shape, u32)>>,
}

impl Entry {
    pub(crate) fn new(server: usize, server_name: &str, namespace: &Arc<str>, tool: rmcp::model::Tool) -> Self {
        let hints = tool.annotations.as_ref().map(|hints| Hints {
            read_only: hints.read_only_hint,
            destructive: hints.destructive_hint,
            idempotent: hints.idempotent_hint,
        });
        Self {
            server,
            server_name: server_name.into(),
            namespace: Arc::clone(namespace),
            name: tool.name.into_owned(),
            description: tool.description.map(std::borrow::Cow::into_owned).unwrap_or_default(),
            input: Arc::unwrap_or_clone(tool.input_schema),
            output: tool.output_schema.map(|schema| Value::Object(Arc::unwrap_or_clone(schema))),
            hints: hints.unwrap_or_default(),
            learnt: Mutex::new(None),
        }
    }

    /// `github.create_issue`, as it is called in code.
    pub(crate) fn path(&self) -> String {
        if is_identifier(&self.name) {
            format!("{}.{}", self.namespace, self.name)
        } else {
            format!("{}[{}]", self.namespace, property(&self.name))
        }
    }

    /// `server.tool`, as rules and lists have it.
    pub(crate) fn full_name(&self) -> String {
        format!("{}.{}", self.server_name, self.name)
    }

    /// What the answer is: what the schema says, else what was learnt, and then it says so.
    pub(crate) fn answer_type(&self) -> String {
        if let Some(schema) = &self.output {
            return type_of(crate::answer::only_result(schema).unwrap_or(schema));
        }
        match &*self.learnt.lock().unwrap_or_else(PoisonError::into_inner) {
            Some((shape, 1)) => format!("{} /* learnt from 1 answer */", shape.to_type()),
            Some((shape, count)) => format!("{} /* learnt from {count} answers */", shape.to_type()),
            None => "unknown".to_owned(),
        }
    }

    /// Takes note of an answer.
    pub(crate) fn learn(&self, answer: &Value) {
        /// A type is known well enough then.
        const ENOUGH: u32 = 20;
        if self.output.is_some() {
            return;
        }
        let mut learnt = self.learnt.lock().unwrap_or_else(PoisonError::into_inner);
        *learnt = Some(match learnt.take() {
            None => (Shape::of(answer), 1),
            Some((shape, count)) if count >= ENOUGH => (shape, count),
            Some((shape, count)) => (shape.merged(Shape::of(answer)), count + 1),
        });
    }

    /// Its whole declaration, with the words about it.
    pub(crate) fn declaration(&self) -> String {
        let mut text = String::new();
        if !self.description.trim().is_empty() {
            text.push_str(&format!("/** {} */\n", comment(&self.description, 600)));
        }
        text + &self.signature()
    }

    /// Its declaration on one line.
    pub(crate) fn signature(&self) -> String {
        let args = args_of(&Value::Object(self.input.clone()));
        let optional = if crate::types::required(&self.input).is_empty() { "?" } else { "" };
        format!("{}(args{optional}: {args}): Promise<{}>", self.path(), self.answer_type())
    }

    /// The shortest that is worth reading: its name and the names of its arguments.
    pub(crate) fn short(&self) -> String {
        format!("{}({{{}}})", property(&self.name), arg_names(&self.input).join(", "))
    }

    /// By which it is found: its namespace and its server's own name, each with its own.
    fn keys(&self) -> Vec<String> {
        let mut keys = vec![key(&format!("{}{}", self.namespace, self.name)), key(&self.full_name())];
        keys.dedup();
        keys
    }
}

/// All tools.
#[derive(Debug, Default)]
pub(crate) struct Catalog {
    entries: Vec<Arc<Entry>>,
    /// By namespace and name without anything but letters and digits.
    by_key: HashMap<String, Vec<usize>>,
    /// By name alone, the same way.
    by_name: HashMap<String, Vec<usize>>,
    index: Index,
}

/// A name that is no tool's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unknown {
    pub(crate) message: String,
}

impl Catalog {
    pub(crate) fn new(entries: Vec<Arc<Entry>>) -> Self {
        let (mut by_key, mut by_name): (HashMap<_, Vec<_>>, HashMap<_, Vec<_>>) = Default::default();
        for (number, entry) in entries.iter().enumerate() {
            for key in entry.keys() {
                by_key.entry(key).or_default().push(number);
            }
            by_name.entry(key(&entry.name)).or_default().push(number);
        }
        let index = Index::new(entries.iter().map(|entry| {
            let properties = entry.input.get("properties").and_then(Value::as_object);
            let words = properties.into_iter().flatten().map(|(name, _)| name.as_str());
            let words = std::iter::once(entry.description.as_str()).chain(words).collect();
            Texts { server: &entry.namespace, name: &entry.name, words }
        }));
        Self { entries, by_key, by_name, index }
    }

    pub(crate) fn entries(&self) -> &[Arc<Entry>] {
        &self.entries
    }

    /// The tool that a name means, in any of the forms that models write: `github.create_issue`, `create-issue`,
    /// `mcp__github__create_issue`.
    pub(crate) fn resolve(&self, name: &str) -> Result<&Arc<Entry>, Unknown> {
        self.get(name).ok_or_else(|| self.unknown(name))
    }

    /// The same, for those who do not want to know what is nearest: that is looked for among all tools.
    pub(crate) fn get(&self, name: &str) -> Option<&Arc<Entry>> {
        let wanted = key(name);
        let bare = ["mcp", "tools", "codemode"].iter().find_map(|word| wanted.strip_prefix(word));
        let found = std::iter::once(wanted.as_str()).chain(bare).find_map(|wanted| {
            self.by_key.get(wanted).or_else(|| self.by_name.get(wanted).filter(|found| found.len() == 1))
        });
        let exact =
            |number: &&usize| self.entries.get(**number).is_some_and(|entry| name.ends_with(entry.name.as_str()));
        let found = found.and_then(|found| found.iter().find(exact).or_else(|| found.first()));
        found.and_then(|number| self.entries.get(*number))
    }

    /// The tools that a search finds, best first.
    pub(crate) fn find(&self, query: &str, most: usize) -> Vec<&Arc<Entry>> {
        self.index.find(query, most).into_iter().filter_map(|number| self.entries.get(number)).collect()
    }

    fn unknown(&self, name: &str) -> Unknown {
        let shown: String = name.chars().take(80).collect();
        let near = self.nearest(name);
        let mut message = format!("there is no tool {shown:?}");
        if near.is_empty() {
            message.push_str("; find one with `await search_tools(\"…\")`");
        } else {
            message.push_str(". The nearest:");
            for entry in near {
                message.push_str("\n  ");
                message.push_str(&comment(&entry.signature(), 400));
            }
        }
        Unknown { message }
    }

    fn nearest(&self, name: &str) -> Vec<&Arc<Entry>> {
        let wanted = key(name);
        // Letters count for typing errors, words for names that only mean the same.
        let mut like: Vec<(f64, &Arc<Entry>)> = self
            .by_key
            .iter()
            .filter(|(key, _)| key.len().abs_diff(wanted.len()) <= 12)
            .filter_map(|(key, numbers)| {
                let entry = self.entries.get(*numbers.first()?)?;
                Some((strsim::normalized_damerau_levenshtein(key, &wanted), entry))
            })
            .filter(|(like, _)| *like >= LIKE)
            .collect();
        like.sort_by(|(a, one), (b, other)| b.total_cmp(a).then_with(|| one.name.cmp(&other.name)));
        let mut near: Vec<&Arc<Entry>> = like.into_iter().map(|(_, entry)| entry).take(NEAREST).collect();
        for entry in self.find(name, NEAREST) {
            if near.len() < NEAREST && !near.iter().any(|known| Arc::ptr_eq(known, entry)) {
                near.push(entry);
            }
        }
        near
    }

    /// A list of what there is that takes about so many characters, shared fairly: every server gets the same part, what
    /// one does not need goes to the others.
    pub(crate) fn listing(&self, namespaces: &[Arc<str>], most: usize) -> String {
        let mut of: Vec<Vec<&Arc<Entry>>> = vec![Vec::new(); namespaces.len()];
        for entry in &self.entries {
            if let Some(tools) = of.get_mut(entry.server) {
                tools.push(entry);
            }
        }
        let mut lines: Vec<Vec<String>> =
            of.iter().map(|tools| tools.iter().map(|tool| tool.short()).collect()).collect();
        let head = |server: usize, shown: usize| match lines_of(&of, server) {
            all if all == shown => format!("{}:", namespaces[server]),
            all => format!("{} ({shown} of {all} shown):", namespaces[server]),
        };
        let mut left = most.saturating_sub(namespaces.iter().map(|name| name.len() + 30).sum());
        let mut shown = vec![0; namespaces.len()];
        // Round by round one more tool of each, until nothing fits.
        let mut open: Vec<usize> = (0..namespaces.len()).collect();
        while !open.is_empty() {
            open.retain(|server| {
                let Some(line) = lines[*server].get(shown[*server]) else { return false };
                let Some(rest) = left.checked_sub(line.len() + 2) else { return false };
                left = rest;
                shown[*server] += 1;
                true
            });
        }
        let mut text = String::new();
        for (server, lines) in lines.iter_mut().enumerate() {
            if lines.is_empty() {
                continue;
            }
            lines.truncate(shown[server]);
            let line = format!("{} {}\n", head(server, shown[server]), lines.join("; "));
            if text.len() + line.len() > most {
                text.push_str(&format!("and {} more servers\n", namespaces.len() - server));
                break;
            }
            text.push_str(&line);
        }
        text
    }
}

fn lines_of(of: &[Vec<&Arc<Entry>>], server: usize) -> usize {
    of.get(server).map_or(0, Vec::len)
}

/// Letters and digits only, in lower case: what names that mean the same have in common.
fn key(name: &str) -> String {
    name.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).take(200).collect()
}

/// A namespace for each server: its name as code can write it, each once.
pub(crate) fn namespaces<'a>(servers: impl Iterator<Item = &'a str>) -> Vec<Arc<str>> {
    let mut taken: HashSet<String> = TAKEN.iter().map(|name| (*name).to_owned()).collect();
    let mut names = Vec::new();
    for server in servers {
        let plain: String =
            server.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '_' }).take(60).collect();
        let plain = if is_identifier(&plain) { plain } else { format!("_{plain}") };
        let mut name = plain.clone();
        let mut number = 1;
        while !taken.insert(name.clone()) {
            number += 1;
            name = if number == 2 { format!("{plain}_server") } else { format!("{plain}_{number}") };
        }
        names.push(Arc::from(name));
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use rmcp::model::Tool;
    use serde_json::json;

    fn catalog(tools: &[(&str, &str, &str)]) -> (Catalog, Vec<Arc<str>>) {
        let mut servers: Vec<&str> = tools.iter().map(|(server, ..)| *server).collect();
        servers.dedup();
        let names = namespaces(servers.iter().copied());
        let entries = tools.iter().map(|(server, name, about)| {
            let number = servers.iter().position(|known| known == server).unwrap();
            let schema = json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]});
            let schema = Arc::new(schema.as_object().unwrap().clone());
            let tool = Tool::new(name.to_string(), about.to_string(), schema);
            Arc::new(Entry::new(number, server, &names[number], tool))
        });
        (Catalog::new(entries.collect()), names)
    }

    #[test]
    fn a_tool_is_found_by_every_name_that_means_it() {
        let (catalog, _) = catalog(&[
            ("github", "create-issue", "Create an issue"),
            ("github", "list_issues", ""),
            ("fs", "read_file", "Read a file"),
            ("git", "list_issues", ""),
        ]);
        for name in [
            "github.create-issue",
            "github.create_issue",
            "github.createIssue",
            "mcp__github__create_issue",
            "tools.github.create_issue",
            "codemode.github.create_issue",
            "github/create-issue",
            "create_issue",
        ] {
            assert_eq!(catalog.resolve(name).unwrap().full_name(), "github.create-issue", "{name}");
        }
        assert_eq!(catalog.resolve("git.list_issues").unwrap().full_name(), "git.list_issues");
        let unknown = catalog.resolve("github.crate_isue").unwrap_err().message;
        assert!(unknown.contains("github[\"create-issue\"](args: { path: string }): Promise<unknown>"), "{unknown}");
        assert!(catalog.resolve("list_issues").is_err(), "two servers have it");
        assert!(catalog.resolve("zebra.stripes").unwrap_err().message.contains("search_tools"));
    }

    #[test]
    fn namespaces_are_names_and_each_is_there_once() {
        let names = namespaces(["my-server", "my server", "fetch", "2nd", "class", "é"].into_iter());
        let names: Vec<&str> = names.iter().map(|name| &**name).collect();
        assert_eq!(names, ["my_server", "my_server_server", "fetch_server", "_2nd", "class_server", "_"]);
    }

    #[test]
    fn a_listing_keeps_its_budget_and_is_fair() {
        let many: Vec<(String, String)> = (0..500).map(|n| ("big".to_owned(), format!("tool_{n}"))).collect();
        let mut tools: Vec<(&str, &str, &str)> = many.iter().map(|(a, b)| (a.as_str(), b.as_str(), "")).collect();
        tools.push(("small", "one", ""));
        let (catalog, names) = catalog(&tools);
        let text = catalog.listing(&names, 1_000);
        assert!(text.len() <= 1_000 && text.contains("of 500 shown") && text.contains("small: one({path})"), "{text}");
    }

    #[test]
    fn what_is_learnt_is_marked() {
        let (catalog, _) = catalog(&[("fs", "stat", "")]);
        let entry = catalog.resolve("fs.stat").unwrap();
        entry.learn(&json!({"size": 1}));
        entry.learn(&json!({"size": 2, "link": "x"}));
        assert_eq!(entry.answer_type(), "{ size: number; link?: string } /* learnt from 2 answers */");
    }
}
