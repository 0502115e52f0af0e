//! Answers to the page: tools at work, modules, and code that the page made up itself.

use std::collections::HashMap;

use cove_core::{Effects, ImportPolicy, ToolCall, ToolError, ToolSpec};
use cove_script::{Mode, PrepareOptions, prepare};
use serde_json::{Value, json};
use tokio::task::{Id, JoinSet};

use crate::message::read_json;
use crate::tab::Tab;

/// A tool's answer, as JSON text.
const MAX_ANSWER_BYTES: usize = 64 << 20;

/// The text of one module. The largest libraries have a quarter of it.
const MAX_MODULE_BYTES: usize = 8 << 20;

/// Arguments of calls that have not been answered yet, as JSON text: four of the largest. As values they take several
/// times as much.
const MAX_WAITING_BYTES: usize = 64 << 20;

/// Calls of one run that may be at work.
const MAX_WORKING: usize = 4096;

/// Where an answer goes.
#[derive(Debug, Clone)]
pub(crate) enum To {
    /// A promise of the kernel's.
    Promise(u64),
    /// An intercepted request, behind which the page stands still.
    Request(String),
}

/// What the page is told.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum PageReply {
    Ok(Value),
    Failed { kind: &'static str, message: String, code: Option<String> },
}

impl PageReply {
    fn text(&self) -> String {
        match self {
            Self::Ok(value) => json!({ "ok": value.to_string() }).to_string(),
            Self::Failed { kind, message, code } => {
                json!({ "kind": kind, "message": message, "code": code }).to_string()
            }
        }
    }

    /// The call is not made: its run is about to be ended.
    pub(crate) fn ended() -> Self {
        Self::tool_failed(ToolError::new("the run is about to be ended"))
    }

    fn tool_failed(error: ToolError) -> Self {
        Self::Failed { kind: "tool", message: error.message, code: error.code }
    }
}

/// The tool calls of one run. Dropping it cancels those that have not answered.
#[derive(Default)]
pub(crate) struct Calls {
    working: JoinSet<Result<Value, ToolError>>,
    addresses: HashMap<Id, (To, usize)>,
    waiting_bytes: usize,
    made: u64,
}

impl Calls {
    /// Starts a call; an unknown tool and unreadable arguments are answers too.
    pub(crate) fn start(&mut self, tools: &[ToolSpec], name: &str, args: &str, to: To) -> Option<(To, PageReply)> {
        let Some(spec) = tools.iter().find(|tool| tool.name == name) else {
            return Some((to, PageReply::tool_failed(ToolError::new(format!("there is no tool named `{name}`")))));
        };
        let bytes = args.len();
        // The page holds itself to this, too; its host does not rely on it.
        if self.working.len() >= MAX_WORKING || self.waiting_bytes.saturating_add(bytes) > MAX_WAITING_BYTES {
            return Some((
                to,
                PageReply::tool_failed(ToolError::new("too much waits for an answer; await earlier calls")),
            ));
        }
        let Ok(Value::Array(args)) = read_json(args) else {
            return Some((to, PageReply::tool_failed(ToolError::new("the arguments cannot be read"))));
        };
        self.made += 1;
        let tool = spec.tool.clone();
        let working = self.working.spawn(async move { tool.call(ToolCall { args }).await });
        self.waiting_bytes += bytes;
        self.addresses.insert(working.id(), (to, bytes));
        None
    }

    /// The next answer; pending while nothing is at work. A tool that panics has failed like any other.
    pub(crate) async fn next(&mut self) -> (To, PageReply) {
        loop {
            let (id, answer) = match self.working.join_next_with_id().await {
                None => std::future::pending().await,
                Some(Ok((id, Ok(value)))) => (id, PageReply::Ok(value)),
                Some(Ok((id, Err(error)))) => (id, PageReply::tool_failed(error)),
                Some(Err(broken)) => (broken.id(), PageReply::tool_failed(ToolError::new("the tool broke"))),
            };
            if let Some((to, bytes)) = self.addresses.remove(&id) {
                self.waiting_bytes = self.waiting_bytes.saturating_sub(bytes);
                return (to, answer);
            }
        }
    }

    pub(crate) fn made(&self) -> u64 {
        self.made
    }

    /// What the run may have done to the outside if it ended now.
    pub(crate) fn effects(&mut self) -> Effects {
        // Those that have answered, but whose answer the page did not wait for.
        while self.working.try_join_next().is_some() {}
        match (self.made, self.working.is_empty()) {
            (0, _) => Effects::None,
            (_, true) => Effects::Committed,
            (_, false) => Effects::Unknown,
        }
    }
}

/// Sends an answer; a page that is gone does not hear it, and the run will see that it is gone.
pub(crate) async fn send(tab: &Tab, to: To, answer: &PageReply) {
    let mut text = answer.text();
    if text.len() > MAX_ANSWER_BYTES {
        let message = format!("its answer is {} bytes of JSON; the limit is {MAX_ANSWER_BYTES}", text.len());
        text = PageReply::tool_failed(ToolError::new(message)).text();
    }
    match to {
        To::Promise(id) => {
            let call = tab.kernel_call("function(i,a){this.settle(i,a)}", &[id.into(), text.into()]);
            let _ = tab.session.send("Runtime.callFunctionOn", call).await;
        }
        To::Request(request) => {
            tab.session.fulfil_request(&request, "application/json", text.as_bytes());
        }
    }
}

/// Loads a module into the page, or says why not. Its `import` is one that knows whose it is.
pub(crate) async fn import(tab: &Tab, policy: &ImportPolicy, id: u64, name: &str) {
    match module(policy, name) {
        Ok(code) => {
            let source = format!("(__cove_import=>(\n{code}\n))");
            let call = tab.kernel_call("function(i,s){return this.module(i,s)}", &[id.into(), source.into()]);
            let _ = tab.session.send("Runtime.callFunctionOn", call).await;
        }
        Err(answer) => send(tab, To::Promise(id), &answer).await,
    }
}

fn module(policy: &ImportPolicy, name: &str) -> Result<String, PageReply> {
    let failed = |kind, message| Err(PageReply::Failed { kind, message, code: None });
    if !policy.allows(name) {
        return failed("import", policy.refusal(name));
    }
    let Some(source) = policy.modules.get(name) else {
        return failed("missing", policy.missing(name));
    };
    if source.len() > MAX_MODULE_BYTES {
        return failed("range", format!("module {name} is longer than {MAX_MODULE_BYTES} bytes"));
    }
    // No guards: a module's text comes from the host, and a library may loop where a cell should not.
    let options = PrepareOptions { guards: false, file_name: name, ..PrepareOptions::new(Mode::Module) };
    match prepare(source, &options) {
        Ok(prepared) => Ok(format!("{}\n//# sourceURL={}\n", prepared.code, one_word(name))),
        Err(refusal) => failed("syntax", format!("{name}: {}", refusal.message)),
    }
}

/// Prepares text for `eval` and its relatives.
pub(crate) fn dynamic(code: &str, tool_names: &[String]) -> PageReply {
    let options = PrepareOptions { guards: true, tool_names, ..PrepareOptions::new(Mode::Dynamic) };
    match prepare(code, &options) {
        Ok(prepared) => PageReply::Ok(Value::String(prepared.code)),
        Err(refusal) => PageReply::Failed { kind: "syntax", message: refusal.message, code: None },
    }
}

/// A name that ends no comment and no line.
fn one_word(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() || "-_./@".contains(c) { c } else { '_' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_tools_have_been_asked_has_a_limit() {
        let never = ToolSpec::new("never", |_| async move { std::future::pending().await });
        let tools = [never];
        let mut calls = Calls::default();
        let large = format!("[\"{}\"]", "x".repeat(MAX_WAITING_BYTES / 4));
        let mut start = |args: &str| calls.start(&tools, "never", args, To::Promise(1)).is_none();
        assert!((0..3).all(|_| start(&large)));
        assert!(!start(&large), "a fourth large call was started");
        assert!(start("[]"));
        assert!((0..MAX_WORKING - 4).all(|_| start("[]")));
        assert!(!start("[]"), "one call too many was started");
    }

    #[test]
    fn modules_are_loaded_by_the_list_only() {
        let policy = ImportPolicy {
            authorized: vec!["good".to_owned(), "missing".to_owned(), "broken".to_owned()],
            modules: [("good", "export const a = 1"), ("broken", "export const ="), ("evil", "1")]
                .map(|(name, text)| (name.to_owned(), text.to_owned()))
                .into(),
        };
        let kind = |name: &str| match module(&policy, name) {
            Ok(_) => "loaded",
            Err(PageReply::Failed { kind, .. }) => kind,
            Err(PageReply::Ok(_)) => "?",
        };
        assert_eq!(["good", "missing", "broken", "evil"].map(kind), ["loaded", "missing", "syntax", "import"]);
    }
}
