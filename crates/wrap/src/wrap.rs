//! All wrapped servers together: what code and models see of them.

use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use cove_core::{BoxFuture, ToolCall, ToolError, ToolSpec};
use serde_json::{Value, json};
use tokio::sync::{Notify, watch};

use crate::answer::{self, Blob, Handles};
use crate::arguments::{arguments, names_of, search_args};
use crate::calls::{CallEnd, RunCalls, shortened};
use crate::catalog::{Catalog, Entry, namespaces};
use crate::connection::{Connection, Trouble};
use crate::program::Starter;
use crate::rules::{ApprovalRules, Says, Verdict};
use crate::servers::{LeftOut, Servers};
use crate::types::required;

/// What defines the namespaces in a session.
const PRELUDE: &str = include_str!("prelude.js");

/// What a search shows unless it is told how many, and at most.
const FOUND: usize = 8;
const MAX_FOUND: usize = 50;

/// Calls of one server that may be under way at once; further ones wait for their turn.
const AT_ONCE: usize = 64;

/// A person is asked whether a call may be made. `Err`: why not.
pub type AskFn = Arc<dyn Fn(Question) -> BoxFuture<'static, Result<(), String>> + Send + Sync>;

/// What a person is asked.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// `server.tool`.
    pub tool: String,
    /// Its arguments.
    pub args: Value,
    /// Why a person is asked.
    pub why: String,
    /// The lines of code that make such a call: their numbers and what they say.
    pub lines: Vec<(u32, String)>,
}

/// A run of a session's code.
#[derive(Clone)]
pub struct CodeRun {
    /// The code.
    pub code: Arc<str>,
    /// Its calls.
    pub calls: Arc<RunCalls>,
    /// Whether there is a person who can be asked; if not, what needs one is refused at once.
    pub has_people: bool,
}

/// One session of code: it outlives its runs, and so do its tools.
#[derive(Default)]
pub struct CodeSession {
    run: Mutex<Option<CodeRun>>,
    /// One run at a time.
    pub turn: tokio::sync::Mutex<()>,
}

impl CodeSession {
    /// The run of this moment.
    pub fn enter(&self, run: CodeRun) {
        *self.run.lock().unwrap_or_else(PoisonError::into_inner) = Some(run);
    }

    fn run(&self) -> Option<CodeRun> {
        self.run.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl std::fmt::Debug for CodeSession {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CodeSession").finish_non_exhaustive()
    }
}

/// The tools of a server, or why they could not be had.
type Tools = Result<Vec<Arc<Entry>>, String>;

/// The wrapped servers.
pub struct Wrap {
    connections: Vec<Arc<Connection>>,
    turns: Vec<tokio::sync::Semaphore>,
    namespaces: Vec<Arc<str>>,
    rules: ApprovalRules,
    /// Whether code is looked at before it runs.
    checks: bool,
    left_out: Vec<LeftOut>,
    /// Of each server its tools, or why they could not be had; `None`: not known yet.
    listed: Mutex<Vec<Option<Tools>>>,
    catalog: RwLock<Arc<Catalog>>,
    /// Held by whoever makes the catalog anew.
    building: tokio::sync::Mutex<()>,
    /// How many servers are known, one way or the other.
    known: watch::Sender<usize>,
    changes: watch::Sender<()>,
    handles: Handles,
}

impl std::fmt::Debug for Wrap {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Wrap").field("namespaces", &self.namespaces).finish_non_exhaustive()
    }
}

impl Wrap {
    /// Connects to all servers, in the background and at once.
    pub fn start(servers: Servers) -> std::io::Result<Arc<Self>> {
        let starter = Arc::new(Starter::new()?);
        let names = namespaces(servers.servers.iter().map(|spec| spec.name.as_str()));
        let mut connections = Vec::new();
        let mut bells = Vec::new();
        for spec in servers.servers {
            let changed = Arc::new(Notify::new());
            bells.push(Arc::clone(&changed));
            connections.push(Arc::new(Connection::new(spec, Arc::clone(&starter), changed)));
        }
        let count = connections.len();
        let wrap = Arc::new(Self {
            turns: connections.iter().map(|_| tokio::sync::Semaphore::new(AT_ONCE)).collect(),
            connections,
            namespaces: names,
            rules: servers.rules,
            checks: servers.checks,
            left_out: servers.left_out,
            listed: Mutex::new(vec![None; count]),
            catalog: RwLock::default(),
            building: tokio::sync::Mutex::default(),
            known: watch::channel(0).0,
            changes: watch::channel(()).0,
            handles: Handles::default(),
        });
        for (number, changed) in bells.into_iter().enumerate() {
            let wrap = Arc::downgrade(&wrap);
            tokio::spawn(async move {
                loop {
                    let Some(wrap) = wrap.upgrade() else { return };
                    let again = wrap.list(number).await;
                    drop(wrap);
                    // A server that is not there is tried again, though nothing calls it while nobody knows its tools.
                    match again {
                        None => changed.notified().await,
                        Some(pause) => drop(tokio::time::timeout(pause, changed.notified()).await),
                    }
                }
            });
        }
        Ok(wrap)
    }

    /// Waits until every server has listed its tools or failed, at most so long.
    pub async fn ready(&self, within: Duration) {
        let mut known = self.known.subscribe();
        let all = self.connections.len();
        let _ = tokio::time::timeout(within, known.wait_for(|known| *known >= all)).await;
    }

    /// Ends all connections and the programs behind them.
    pub async fn close(&self) {
        for connection in &self.connections {
            connection.close().await;
        }
    }

    /// What there is, in about so many characters: the tools of each server, and the servers that are not available.
    pub fn listing(&self, most: usize) -> String {
        let missing = told_missing(&self.unavailable(), most / 3);
        let left = most.saturating_sub(missing.len());
        let mut text = self.catalog().listing(&self.namespaces, left);
        text.push_str(&missing);
        text
    }

    /// The servers that are not available, and why.
    pub(crate) fn unavailable(&self) -> Vec<(String, String)> {
        let listed = self.listed.lock().unwrap_or_else(PoisonError::into_inner);
        let one = |(name, listed): (&Arc<str>, &Option<Result<_, String>>)| match listed {
            Some(Ok(_)) => None,
            Some(Err(why)) => Some((name.to_string(), why.clone())),
            None => Some((name.to_string(), "it has not answered yet".to_owned())),
        };
        let left_out = self.left_out.iter().map(|left| (left.name.clone(), left.why.clone()));
        self.namespaces.iter().zip(listed.iter()).filter_map(one).chain(left_out).collect()
    }

    /// How many tools there are.
    pub fn count(&self) -> usize {
        self.catalog().entries().len()
    }

    /// The declarations of the tools that a search finds.
    pub fn search(&self, query: &str, most: Option<usize>) -> Vec<String> {
        let most = most.unwrap_or(FOUND).clamp(1, MAX_FOUND);
        self.catalog().find(query, most).into_iter().map(|entry| entry.declaration()).collect()
    }

    /// The declarations of these tools; for a server's name those of all its tools.
    pub fn describe(&self, names: &[String]) -> Vec<Result<String, String>> {
        let catalog = self.catalog();
        let mut told = Vec::new();
        for name in names {
            let own = |server: &usize| self.connections.get(*server).is_some_and(|known| known.spec.name == *name);
            let by_own_name = (0..self.connections.len()).find(own);
            match self.namespaces.iter().position(|known| **known == **name).or(by_own_name) {
                Some(server) => {
                    let own = catalog.entries().iter().filter(|entry| entry.server == server).take(MAX_FOUND);
                    told.extend(own.map(|entry| Ok(entry.declaration())));
                }
                None => told.push(catalog.resolve(name).map(|entry| entry.declaration()).map_err(|no| no.message)),
            }
        }
        told
    }

    /// What a handle of an answer stands for.
    pub fn blob(&self, handle: &str) -> Option<Blob> {
        self.handles.get(handle)
    }

    /// The text that defines the namespaces in a session that has [`tools`](Self::tools).
    pub fn prelude(&self) -> String {
        let names: Vec<&str> = self.namespaces.iter().map(|name| &**name).collect();
        PRELUDE.replace("NAMES }", &format!("{} }}", names.join(", "))).replace("SERVERS", &json!(names).to_string())
    }

    /// The functions that code of this session calls. `ask` asks a person.
    pub fn tools(self: &Arc<Self>, session: &Arc<CodeSession>, ask: AskFn) -> Vec<ToolSpec> {
        let (wrap, session) = (Arc::clone(self), Arc::clone(session));
        let call = ToolSpec::new("callTool", move |call: ToolCall| {
            let (wrap, session, ask) = (Arc::clone(&wrap), Arc::clone(&session), Arc::clone(&ask));
            async move { wrap.call(&session, &ask, call.args).await }
        });
        let wrap = Arc::clone(self);
        let search = ToolSpec::new("search_tools", move |call: ToolCall| {
            let wrap = Arc::clone(&wrap);
            async move {
                let (query, most) = search_args(&call.args)?;
                Ok(json!(wrap.search(&query, most)))
            }
        });
        let wrap = Arc::clone(self);
        let describe = ToolSpec::new("describe_tools", move |call: ToolCall| {
            let wrap = Arc::clone(&wrap);
            async move {
                let told = wrap.describe(&names_of(&call.args));
                Ok(told.into_iter().map(|one| json!(one.unwrap_or_else(|no| no))).collect())
            }
        });
        let wrap = Arc::clone(self);
        let list = ToolSpec::new("listTools", move |call: ToolCall| {
            let wrap = Arc::clone(&wrap);
            async move { Ok(wrap.names(call.args.first().and_then(Value::as_str))) }
        });
        let wrap = Arc::clone(self);
        let open = ToolSpec::new("openHandle", move |call: ToolCall| {
            let wrap = Arc::clone(&wrap);
            async move {
                let handle = match call.args.first() {
                    Some(Value::Object(made)) => made.get("handle").and_then(Value::as_str),
                    other => other.and_then(Value::as_str),
                };
                let handle = handle.ok_or_else(|| ToolError::new("openHandle takes a handle of an answer"))?;
                wrap.handles.open(handle).map_err(ToolError::new)
            }
        });
        vec![call, search, describe, list.sync(), open]
    }

    fn names(&self, server: Option<&str>) -> Value {
        let catalog = self.catalog();
        let own = catalog.entries().iter().filter(|entry| server.is_none_or(|server| *entry.namespace == *server));
        match server {
            Some(_) => own.map(|entry| json!(entry.name)).collect(),
            None => own.map(|entry| json!(entry.full_name())).collect(),
        }
    }

    /// Makes a call of code: `(name, arguments)`.
    async fn call(&self, session: &CodeSession, ask: &AskFn, args: Vec<Value>) -> Result<Value, ToolError> {
        let mut args = args.into_iter();
        let Some(Value::String(name)) = args.next() else {
            return Err(ToolError::new("callTool takes the name of a tool, `server.tool`, and an object of arguments"));
        };
        let catalog = self.catalog();
        let entry = match catalog.resolve(&name) {
            Ok(entry) => Arc::clone(entry),
            Err(unknown) => return Err(self.why_unknown(&name, unknown.message)),
        };
        drop(catalog);
        let args = arguments(&entry, args.collect())?;
        let run = session.run().ok_or_else(|| ToolError::new("no run is under way"))?;
        let full_name = entry.full_name();
        let note = run.calls.begin(&full_name, &args, entry.hints);
        let told = |what: &str, why: &str| {
            let args = shortened(&Value::Object(args.clone()).to_string());
            format!("{full_name}({args}) {what}: {why}")
        };
        let (verdict, says) = self.rules.verdict(&full_name, entry.hints, &args);
        match verdict {
            Verdict::Allow => {}
            Verdict::Deny => {
                note.end(CallEnd::Denied);
                return Err(coded("call_denied", told("was not made", "a rule of `approvals` refuses it")));
            }
            Verdict::Ask if !run.has_people => {
                note.end(CallEnd::Denied);
                let why = format!(
                    "a person must allow it, and this client cannot ask one; the user can add {{\"tool\": \"{full_name}\", \
                     \"do\": \"allow\"}} to `approvals` in the servers' file"
                );
                return Err(coded("call_denied", told("was not made", &why)));
            }
            Verdict::Ask => {
                let question = Question {
                    tool: full_name.clone(),
                    args: Value::Object(args.clone()),
                    why: why_asked(says).to_owned(),
                    lines: self.lines_of(&run.code, &full_name),
                };
                if let Err(why) = ask(question).await {
                    note.end(CallEnd::Denied);
                    return Err(coded("call_denied", told("was not made", &why)));
                }
            }
        }
        let Some((connection, turns)) = self.connections.get(entry.server).zip(self.turns.get(entry.server)) else {
            note.end(CallEnd::NotMade);
            return Err(ToolError::new(told("was not made", "its server is gone")));
        };
        let Ok(_turn) = turns.acquire().await else {
            note.end(CallEnd::NotMade);
            return Err(ToolError::new(told("was not made", "the wrapper is shutting down")));
        };
        match connection.call(&entry.name, args.clone(), || note.sent()).await {
            Ok(result) => match answer::value(result, entry.output.as_ref(), &self.handles) {
                Ok(value) => {
                    note.end(CallEnd::Done);
                    entry.learn(&value);
                    Ok(value)
                }
                Err(why) => {
                    note.end(CallEnd::Failed);
                    Err(coded("tool_failed", told("failed", &why)))
                }
            },
            Err(Trouble::Unavailable(why)) => {
                note.end(CallEnd::NotMade);
                Err(coded("server_not_available", told("was not made", &why)))
            }
            Err(Trouble::Refused(why)) => {
                note.end(CallEnd::Failed);
                Err(coded("tool_failed", format!("{}\n  {}", told("was refused", &why), entry.signature())))
            }
            Err(Trouble::Unknown(why)) => {
                note.end(CallEnd::Unknown);
                let sure =
                    if entry.hints.is_repeatable() { "calling it again is safe" } else { "it may have been done" };
                Err(coded("call_unknown", told("has no answer", &format!("{why}; {sure}"))))
            }
        }
    }

    /// A name that is no tool's may be one of a server that is not there.
    fn why_unknown(&self, name: &str, message: String) -> ToolError {
        let server = name.split('.').find(|part| !matches!(*part, "tools" | "codemode")).unwrap_or_default();
        match self.unavailable().into_iter().find(|(name, _)| name == server) {
            Some((server, why)) => {
                coded("server_not_available", format!("the server {server} is not available: {why}"))
            }
            None => coded("unknown_tool", message),
        }
    }

    /// What is wrong with the names of arguments in code, before any of it runs: each with its frame and the signature.
    pub fn check(&self, code: &str) -> Option<String> {
        if !self.checks {
            return None;
        }
        let catalog = self.catalog();
        let mut roots: Vec<&str> = self.namespaces.iter().map(|name| &**name).collect();
        roots.extend(["tools", "codemode"]);
        for place in cove_script::tool_places(code, &roots, "callTool") {
            let (Some(entry), Some(given)) = (catalog.get(&place.name), place.arguments) else { continue };
            let Some(known) = entry.input.get("properties").and_then(Value::as_object) else { continue };
            let open = !matches!(entry.input.get("additionalProperties"), None | Some(Value::Bool(false)))
                || entry.input.contains_key("patternProperties");
            let strange = given.iter().find(|(name, _)| !known.contains_key(name)).filter(|_| !open);
            let missing = required(&entry.input).into_iter().find(|name| !given.iter().any(|(given, _)| given == name));
            let (position, label) = match (strange, missing) {
                (Some((name, position)), _) => {
                    (*position, format!("`{name}` is not an argument of {}", entry.full_name()))
                }
                (None, Some(name)) => (place.position, format!("{} needs `{name}`", entry.full_name())),
                (None, None) => continue,
            };
            let frame = cove_script::code_frame(code, position, &label, "code.js");
            return Some(format!("{label}\n{frame}\n{}", entry.signature()));
        }
        None
    }

    /// The lines of code that call a tool, as far as they name it.
    fn lines_of(&self, code: &str, tool: &str) -> Vec<(u32, String)> {
        let catalog = self.catalog();
        let mut roots: Vec<&str> = self.namespaces.iter().map(|name| &**name).collect();
        roots.extend(["tools", "codemode"]);
        let places = cove_script::tool_places(code, &roots, "callTool").into_iter();
        let calls = places.filter(|place| catalog.get(&place.name).is_some_and(|entry| entry.full_name() == tool));
        let mut lines: Vec<u32> = calls.map(|place| place.position.line).collect();
        lines.dedup();
        let text = |line: u32| code.lines().nth(line as usize - 1).unwrap_or_default().trim().to_owned();
        lines.into_iter().map(|line| (line, text(line))).collect()
    }

    fn catalog(&self) -> Arc<Catalog> {
        Arc::clone(&self.catalog.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Rung whenever there are other tools than before.
    pub fn changes(&self) -> watch::Receiver<()> {
        self.changes.subscribe()
    }

    /// Asks a server for its tools and makes the catalog anew. If it is not there: after how long to try again.
    async fn list(&self, number: usize) -> Option<Duration> {
        let (connection, namespace) = self.connections.get(number).zip(self.namespaces.get(number))?;
        let listed = connection.tools().await;
        let again = match &listed {
            Ok(_) => None,
            Err(why) => {
                tracing::warn!(server = connection.spec.name, why, "a wrapped server is not there");
                Some(connection.pause().await)
            }
        };
        let entries = listed.map(|tools| {
            tools
                .into_iter()
                .map(|tool| Arc::new(Entry::new(number, &connection.spec.name, namespace, tool)))
                .collect::<Vec<_>>()
        });
        {
            let mut listed = self.listed.lock().unwrap_or_else(PoisonError::into_inner);
            let place = listed.get_mut(number)?;
            let is_news = !matches!((&*place, &entries), (Some(Err(before)), Err(now)) if before == now);
            *place = Some(entries);
            if !is_news {
                return again;
            }
        }
        // One at a time: two that list at once must not end with the catalog of the one that knew less.
        let _building = self.building.lock().await;
        let (all, known) = {
            let listed = self.listed.lock().unwrap_or_else(PoisonError::into_inner);
            (listed.iter().flatten().flatten().flatten().cloned().collect(), listed.iter().flatten().count())
        };
        // Thousands of tools take a while to index.
        let Ok(catalog) = tokio::task::spawn_blocking(move || Catalog::new(all)).await else { return again };
        *self.catalog.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(catalog);
        self.known.send_replace(known);
        self.changes.send_replace(());
        again
    }
}

fn why_asked(says: Says) -> &'static str {
    match says {
        Says::Hint => "its server says that it may destroy something",
        Says::Rule => "a rule of `approvals` asks for it",
    }
}

/// The servers that are not available, in at most so many characters.
fn told_missing(missing: &[(String, String)], most: usize) -> String {
    let mut text = String::new();
    for (number, (name, why)) in missing.iter().enumerate() {
        let line = format!("{name} is not available: {}\n", shortened(why));
        let last = format!("and {} more servers are not available\n", missing.len() - number);
        let room = if number + 1 == missing.len() { 0 } else { last.len() };
        if text.len() + line.len() + room > most {
            text.push_str(&last);
            break;
        }
        text.push_str(&line);
    }
    text
}

pub(crate) fn coded(code: &str, message: String) -> ToolError {
    ToolError { message, code: Some(code.to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_that_are_not_there_leave_room_for_the_others() {
        let away = |count: usize| {
            (0..count).map(|number| (format!("server{number}"), "x".repeat(150))).collect::<Vec<(String, String)>>()
        };
        assert_eq!(told_missing(&away(0), 100), "");
        assert!(told_missing(&away(1), 1_000).starts_with("server0 is not available: xxx"));
        let many = told_missing(&away(100), 1_000);
        assert!(many.len() <= 1_000 && many.ends_with("more servers are not available\n"), "{many}");
        assert_eq!(told_missing(&away(3), 60), "and 3 more servers are not available\n");
    }
}
