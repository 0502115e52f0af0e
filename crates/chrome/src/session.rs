//! One session: a tab, what was put into it, and whether it can still be used.

use std::sync::Arc;

use cove_core::{
    BoxFuture, EngineError, LogLevel, NetworkPolicy, RunReport, RunRequest, Session, SessionFate, SessionOptions,
    ToolMode, ToolSet, ToolSpec,
};
use serde_json::{Map, Value, json};
use tokio::sync::{OwnedSemaphorePermit, watch};
use uuid::Uuid;

use crate::browser::Browser;
use crate::cdp::Evaluated;
use crate::network::Lease;
use crate::page::SYNC_URL;
use crate::run::{self, Guest};
use crate::tab::{STEP, Tab};
use crate::watch::Watched;

/// Variables of one call, as JSON text: a page takes more, a host should not have to.
const MAX_VARIABLES_BYTES: usize = 64 << 20;

/// What every frame of a session that counts begins with: loops in WebAssembly could not be counted. The main world's is
/// taken away by the kernel.
const FRAMES: &str = "delete globalThis.WebAssembly";

/// A session in the browser. Dropping it ends its tab, whatever the tab is doing.
pub(crate) struct ChromeSession {
    /// `None` once the session is lost; taken out while a run goes on, so that dropping the run ends the tab.
    guest: Option<Guest>,
    tools: Vec<ToolSpec>,
    runs: u64,
    /// Whether steps are counted here; known with the first run.
    counts: Option<bool>,
    gone: watch::Receiver<()>,
    _seat: OwnedSemaphorePermit,
    _network: Option<Lease>,
}

impl ChromeSession {
    /// Lets a guest into a fresh tab.
    pub(crate) fn begin(
        tab: Tab,
        browser: &Arc<Browser>,
        options: SessionOptions,
        seat: OwnedSemaphorePermit,
        network: Option<Lease>,
    ) -> Self {
        let watched = Watched::new(tab.renderers.clone(), tab.events.clone(), options.limits.memory_bytes);
        let watched = Arc::new(watched);
        browser.watch.add(&watched);
        let secret = Uuid::new_v4().simple().to_string();
        tab.events.set_secret(secret.clone());
        let settings = json!({
            "levels": options.log_levels.iter().map(|level| letter(*level)).collect::<String>(),
            "secret": secret,
            "syncUrl": SYNC_URL,
            "clock": options.clock,
            "random": match options.random {
                // As text: a seed of 64 bits does not fit a JavaScript number.
                cove_core::Random::Seeded(seed) => json!({ "seeded": seed.to_string() }),
                other => json!(other),
            },
        });
        // Not awaited: the page takes calls in order, and the first run is behind this one.
        let call = tab.kernel_call("function(s){this.configure(s)}", &[settings.to_string().into()]);
        if !tab.session.post("Runtime.callFunctionOn", &call) {
            tab.events.end(crate::tab_events::TabEnd::BrowserEnded);
        }
        let options = SessionOptions { network: NetworkPolicy::default(), ..options };
        let gone = tab.gone.clone();
        Self {
            guest: Some(Guest { tab, watched, options }),
            gone,
            tools: Vec::new(),
            runs: 0,
            counts: None,
            _seat: seat,
            _network: network,
        }
    }

    fn guest(&self) -> Result<&Guest, EngineError> {
        let guest = self.guest.as_ref().filter(|guest| guest.tab.is_alive());
        guest.ok_or_else(|| EngineError::Gone("its page has ended".to_owned()))
    }

    /// Calls the kernel between runs.
    async fn call_kernel(&self, declaration: &str, argument: String) -> Result<(), EngineError> {
        let tab = &self.guest()?.tab;
        let call = tab.kernel_call(declaration, &[argument.into()]);
        let called: Result<Evaluated, _> = tab.session.call("Runtime.callFunctionOn", call, STEP).await;
        match called {
            Ok(Evaluated { exception_details: None, .. }) => Ok(()),
            Ok(Evaluated { exception_details: Some(thrown), .. }) => {
                let what = thrown.exception.and_then(|exception| exception.description).unwrap_or(thrown.text);
                Err(EngineError::Invalid(what.lines().next().unwrap_or_default().to_owned()))
            }
            Err(error) => Err(EngineError::Gone(error.to_string())),
        }
    }
}

impl Session for ChromeSession {
    fn send_variables(&mut self, variables: Map<String, Value>) -> BoxFuture<'_, Result<(), EngineError>> {
        Box::pin(async move {
            if let Some(name) = variables.keys().find(|name| name.starts_with("__cove") || *name == "final_answer") {
                return Err(EngineError::Invalid(format!("`{name}` is a name that Cove reserves")));
            }
            let text = Value::Object(variables).to_string();
            if text.len() > MAX_VARIABLES_BYTES {
                return Err(EngineError::Invalid(format!(
                    "the variables are {} bytes of JSON; the limit is {MAX_VARIABLES_BYTES}",
                    text.len()
                )));
            }
            self.call_kernel("function(v){this.variables(v)}", text).await
        })
    }

    fn send_tools(&mut self, tools: ToolSet) -> BoxFuture<'_, Result<(), EngineError>> {
        Box::pin(async move {
            let list: Vec<Value> =
                tools.iter().map(|tool| json!({ "name": tool.name, "sync": tool.mode == ToolMode::Sync })).collect();
            self.call_kernel("function(t){this.tools(t)}", Value::Array(list).to_string()).await?;
            for tool in tools.iter() {
                self.tools.retain(|known| known.name != tool.name);
                self.tools.push(tool.clone());
            }
            Ok(())
        })
    }

    fn run<'a>(&'a mut self, request: &'a RunRequest) -> BoxFuture<'a, RunReport> {
        Box::pin(async move {
            self.runs += 1;
            let Some(guest) = self.guest.take() else { return run::lost_before_it_began() };
            if self.counts == Some(false) && request.max_operations.is_some() {
                self.guest = Some(guest);
                return run::cannot_count();
            }
            if self.counts.is_none() && request.max_operations.is_some() {
                // In force before the run, for the page takes calls in order.
                let frames = json!({ "source": FRAMES });
                if guest.tab.session.send("Page.addScriptToEvaluateOnNewDocument", frames).await.is_err() {
                    return run::lost_before_it_began();
                }
            }
            self.counts.get_or_insert(request.max_operations.is_some());
            let report = run::run(&guest, &self.tools, self.runs, request).await;
            if report.fate == SessionFate::Usable {
                self.guest = Some(guest);
            }
            report
        })
    }

    fn close(mut self: Box<Self>) -> BoxFuture<'static, Result<(), EngineError>> {
        Box::pin(async move {
            drop(self.guest.take());
            // Resolves, with an error, when the tab's end has come to its end.
            let _ = self.gone.changed().await;
            Ok(())
        })
    }
}

/// How the kernel knows a level: by its first letter.
fn letter(level: LogLevel) -> char {
    match level {
        LogLevel::Debug => 'd',
        LogLevel::Log => 'l',
        LogLevel::Info => 'i',
        LogLevel::Warn => 'w',
        LogLevel::Error => 'e',
    }
}
