//! One server, as it is now: connected, being connected, or away and why.
//!
//! A connection that breaks is made anew by the next call. A call is sent once: when the connection breaks or the time is
//! over while it is under way, nobody can say whether it was done, and that is what the caller is told. It is never sent
//! again.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use http::{HeaderName, HeaderValue};
use rmcp::model::{CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, Implementation, Tool};
use rmcp::service::{NotificationContext, RunningService, ServiceError};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{RoleClient, ServiceExt as _};
use serde_json::{Map, Value};
use tokio::sync::{Mutex, Notify};

use crate::program::{Program, Starter};
use crate::servers::{Reach, ServerSpec};

/// How long a server may take to start and to list its tools: `npx` may have to fetch it first.
const START: Duration = Duration::from_secs(60);

/// How long a server that did not answer a call may take to show that it is alive.
const PING: Duration = Duration::from_secs(2);

/// A server that cannot be started is tried again after this, then after twice that, and so on up to the longest.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// The most tools of one server.
const MAX_TOOLS: usize = 20_000;

/// One server.
pub(crate) struct Connection {
    pub(crate) spec: ServerSpec,
    starter: Arc<Starter>,
    state: Mutex<State>,
    /// Rung when its list of tools has changed.
    changed: Arc<Notify>,
}

#[derive(Default)]
struct State {
    live: Option<Arc<Live>>,
    /// Why it could not be had, when it may be tried again, and after how long then.
    unavailable: Option<(String, Instant, Duration)>,
    starts: u32,
}

struct Live {
    service: RunningService<RoleClient, Client>,
    program: Option<Program>,
}

/// Why a call has no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// It was not sent: the server cannot be had.
    Unavailable(String),
    /// The server has refused it, in its own words.
    Refused(String),
    /// It was sent, and nothing is known of it: why.
    Unknown(String),
}

impl Connection {
    pub(crate) fn new(spec: ServerSpec, starter: Arc<Starter>, changed: Arc<Notify>) -> Self {
        Self { spec, starter, state: Mutex::default(), changed }
    }

    /// Its tools; connects if need be.
    pub(crate) async fn tools(&self) -> Result<Vec<Tool>, String> {
        let live = self.live().await?;
        let listing = async {
            let mut tools = Vec::new();
            let mut cursor = None;
            loop {
                let page = rmcp::model::PaginatedRequestParams::default().with_cursor(cursor);
                let page = live.service.peer().list_tools(Some(page)).await.map_err(|error| error.to_string())?;
                tools.extend(page.tools);
                cursor = page.next_cursor;
                if cursor.is_none() || tools.len() >= MAX_TOOLS {
                    tools.truncate(MAX_TOOLS);
                    return Ok(tools);
                }
            }
        };
        match tokio::time::timeout(START, listing).await {
            Ok(listed) => listed,
            Err(_) => Err(format!("it did not list its tools within {} s", START.as_secs())),
        }
    }

    /// How long a server that could not be had is left alone.
    pub(crate) async fn pause(&self) -> Duration {
        let state = self.state.lock().await;
        let again = state.unavailable.as_ref().map(|(_, again, _)| again.saturating_duration_since(Instant::now()));
        again.unwrap_or(LONGEST_PAUSE)
    }

    /// Calls a tool, once. `sent` hears of the moment from which on nobody can say that it was not done.
    pub(crate) async fn call(
        &self,
        tool: &str,
        args: Map<String, Value>,
        sent: impl FnOnce(),
    ) -> Result<CallToolResult, Trouble> {
        let live = self.live().await.map_err(Trouble::Unavailable)?;
        sent();
        let call = CallToolRequestParams::new(tool.to_owned()).with_arguments(args);
        let limit = self.spec.timeout;
        let ended = tokio::time::timeout(limit, live.service.call_tool(call)).await;
        let error = match ended {
            Ok(Ok(result)) => return Ok(result),
            Ok(Err(error)) => error,
            Err(_) => {
                self.look_after(&live).await;
                return Err(Trouble::Unknown(format!("no answer within {} s", limit.as_secs_f64())));
            }
        };
        Err(match error {
            ServiceError::McpError(error) => Trouble::Refused(error.message.into_owned()),
            ServiceError::TransportSend(error) => Trouble::Unknown(format!("the connection broke: {error}")),
            ServiceError::TransportClosed => {
                let words = live.program.as_ref().and_then(Program::last_words);
                let words = words.map(|words| format!("; it said: {words}")).unwrap_or_default();
                Trouble::Unknown(format!("the server ended while the call was under way{words}"))
            }
            other => Trouble::Unknown(other.to_string()),
        })
    }

    /// Ends it.
    pub(crate) async fn close(&self) {
        let live = self.state.lock().await.live.take();
        if let Some(mut live) = live.and_then(Arc::into_inner) {
            let program = live.program.take();
            let _ = tokio::time::timeout(PING, live.service.cancel()).await;
            if let Some(program) = program {
                program.end().await;
            }
        }
    }

    /// A server that did not answer in time is asked whether it is there. One that is not is ended, so that the next call
    /// starts it anew.
    async fn look_after(&self, live: &Arc<Live>) {
        let ping = live.service.peer().send_request(rmcp::model::ClientRequest::PingRequest(Default::default()));
        let hangs = !matches!(tokio::time::timeout(PING, ping).await, Ok(Ok(_) | Err(ServiceError::McpError(_))));
        if !hangs {
            return;
        }
        let mut state = self.state.lock().await;
        if state.live.as_ref().is_some_and(|current| Arc::ptr_eq(current, live)) {
            state.live = None;
        }
    }

    /// The connection, made now if there is none.
    async fn live(&self) -> Result<Arc<Live>, String> {
        let mut state = self.state.lock().await;
        if let Some(live) = &state.live {
            if !live.service.peer().is_transport_closed() && !live.service.is_closed() {
                return Ok(Arc::clone(live));
            }
            state.live = None;
        }
        let mut pause = FIRST_PAUSE;
        if let Some((why, again, last)) = &state.unavailable {
            if Instant::now() < *again {
                return Err(why.clone());
            }
            pause = (*last * 2).min(LONGEST_PAUSE);
        }
        state.starts += 1;
        let again = state.starts > 1;
        match tokio::time::timeout(START, self.connect()).await {
            Ok(Ok(live)) => {
                let live = Arc::new(live);
                state.live = Some(Arc::clone(&live));
                state.unavailable = None;
                if again {
                    tracing::info!(server = self.spec.name, "a server was started again");
                    self.changed.notify_one();
                }
                Ok(live)
            }
            Ok(Err(why)) => {
                state.unavailable = Some((why.clone(), Instant::now() + pause, pause));
                Err(why)
            }
            Err(_) => {
                let why = format!("it did not start within {} s", START.as_secs());
                state.unavailable = Some((why.clone(), Instant::now() + pause, pause));
                Err(why)
            }
        }
    }

    async fn connect(&self) -> Result<Live, String> {
        let client = Client { changed: Arc::clone(&self.changed) };
        match &self.spec.reach {
            Reach::Stdio { command, .. } => {
                let started = self.starter.start(&self.spec.reach).await;
                let (program, stdout, stdin) =
                    started.map_err(|error| format!("`{command}` cannot be started: {error}"))?;
                match client.serve(AsyncRwTransport::new_client(stdout, stdin)).await {
                    Ok(service) => Ok(Live { service, program: Some(program) }),
                    Err(error) => {
                        let words = program.last_words().map(|words| format!("; it said: {words}"));
                        Err(format!("`{command}` is not an MCP server: {error}{}", words.unwrap_or_default()))
                    }
                }
            }
            Reach::Http { url, headers } => {
                let _ = rustls::crypto::ring::default_provider().install_default();
                let mut custom = HashMap::new();
                for (name, value) in headers {
                    let name = HeaderName::try_from(name).map_err(|_| format!("{name:?} is not a header name"))?;
                    let mut value = HeaderValue::try_from(value)
                        .map_err(|_| format!("the value of the header {name} is invalid"))?;
                    value.set_sensitive(true);
                    custom.insert(name, value);
                }
                let config = StreamableHttpClientTransportConfig::with_uri(url.as_str()).custom_headers(custom);
                let transport = StreamableHttpClientTransport::from_config(config);
                let service = client.serve(transport).await.map_err(|error| format!("{url}: {error}"))?;
                Ok(Live { service, program: None })
            }
        }
    }
}

/// Our side of the protocol: it offers a server nothing, and hears when its tools change.
#[derive(Debug, Clone)]
struct Client {
    changed: Arc<Notify>,
}

impl rmcp::ClientHandler for Client {
    fn get_info(&self) -> ClientConfig {
        ClientConfig::new(ClientCapabilities::default(), Implementation::new("cove", env!("CARGO_PKG_VERSION")))
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.changed.notify_one();
    }
}
