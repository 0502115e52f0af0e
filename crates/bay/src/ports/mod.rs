//! Ports of a sandbox: which programs listen, connections to them, and the addresses by which people reach them.
//!
//! Nothing here starts a session: where nothing runs, nothing listens. What listens is reached through the runtime inside,
//! because nobody else is in the sandbox's network.

mod connection;
mod links;
mod watch;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use cove_api::{BayError, ErrorCode, PortInfo, PortList, SandboxId};
use cove_config::{ContainerSpec, RuntimeType};
use cove_core::Deadline;
use cove_network::{ByteStream, SandboxPorts};
use cove_runtime_api::{CallError, ListeningPort, PortTarget, PortsRequest};
use hyper_util::rt::TokioIo;

pub use connection::PortConnection;
pub use links::{OPEN_PATH, PortVisit};

use crate::router::broken;
use crate::session::{LiveContainer, LiveSession, SessionPlan};
use crate::{Bay, BayResult, Owner};

/// How long the runtime may take to say what listens.
const LIST: Duration = Duration::from_secs(10);

/// How long a connection may take, a place among the others included.
const CONNECT: Duration = Duration::from_secs(15);

/// Connections to the ports of one session at once. A browser opens six to one server.
pub(crate) const MAX_OF_SESSION: usize = 128;

/// Without a byte, where the profile's sessions have no such end.
const IDLE: Duration = Duration::from_secs(24 * 3600);

/// What an address of a port is made from.
const PORT_PLACE: &str = "{port}";
const ID_PLACE: &str = "{id}";

impl Bay {
    /// The ports on which programs in a sandbox listen.
    pub async fn ports(&self, owner: &Owner, id: &SandboxId) -> BayResult<PortList> {
        self.alive_row(owner, id).await?;
        let Some((_, ship)) = self.ship_of(id) else { return Ok(PortList::default()) };
        match ship.client.call(&PortsRequest::default(), Deadline::after(LIST)).await {
            Ok(listed) => Ok(PortList { items: self.port_infos(id, &listed.items) }),
            // Its runtime is gone, and with it all that listened.
            Err(CallError::NoConnection(_) | CallError::Unreachable(_)) => Ok(PortList::default()),
            Err(error) => Err(broken(&error)),
        }
    }

    /// Opens a connection to a port on the loopback of a sandbox. Every byte of it is the program's that listens there. While
    /// it is open the session is in use, unless the profile says otherwise.
    pub async fn open_port(&self, owner: &Owner, id: &SandboxId, port: u16) -> BayResult<PortConnection> {
        let row = self.alive_row(owner, id).await?;
        let profile = self.profile_of(&row)?;
        self.connect_port(id, port, profile.ports_keep_awake).await
    }

    /// The way of a sandbox's browser to the programs beside it.
    pub(crate) fn inside(&self, plan: &SessionPlan, spec: &ContainerSpec) -> Option<SandboxPorts> {
        let is_ship = |spec: &ContainerSpec| spec.runtime_type == RuntimeType::Ship;
        if is_ship(spec) || !plan.profile.containers.iter().any(is_ship) {
            return None;
        }
        let (bay, id) = (Arc::downgrade(&self.inner), plan.sandbox_id.clone());
        Some(SandboxPorts::new(move |port| {
            let (bay, id) = (bay.clone(), id.clone());
            Box::pin(async move {
                let bay = Self { inner: bay.upgrade().ok_or(io::ErrorKind::NotConnected)? };
                // The command that the browser works on is the use.
                let opened = bay.connect_port(&id, port, false).await;
                Ok(Box::new(opened.map_err(|error| io::Error::other(error.message))?) as Box<dyn ByteStream>)
            })
        }))
    }

    async fn connect_port(&self, id: &SandboxId, port: u16, is_use: bool) -> BayResult<PortConnection> {
        let deadline = Deadline::after(CONNECT);
        let Some((session, ship)) = self.ship_of(id) else {
            let message = format!("the sandbox does not run, so no program listens on port {port}: start one first");
            return Err(BayError::new(ErrorCode::PortClosed, message).with("port", port));
        };
        let late = |_| CallError::Timeout(CONNECT);
        let place = tokio::time::timeout_at(deadline.at().into(), Arc::clone(&session.port_places).acquire_owned());
        let Ok(Ok(place)) = place.await else {
            let message = format!("too many connections to ports of this sandbox: the limit is {MAX_OF_SESSION}");
            return Err(BayError::new(ErrorCode::QuotaExceeded, message).with("retry_after_ms", 1_000));
        };
        let in_use = is_use.then(|| self.inner.sessions.enter(&session));
        let idle = match session.profile.idle_timeout {
            0 => IDLE,
            seconds => Duration::from_secs(seconds).min(IDLE),
        };
        let opening = async { ship.client.connect().await?.port(PortTarget { port, idle: idle.as_secs() }).await };
        let opened = tokio::time::timeout_at(deadline.at().into(), opening).await.map_err(late);
        let opened = opened.and_then(|opened| opened).map_err(|error| broken(&error).with("port", port))?;
        Ok(PortConnection::new(TokioIo::new(opened), idle, (place, in_use)))
    }

    /// Where a browser reaches a port, by a link.
    pub fn port_url(&self, id: &SandboxId, port: u16) -> String {
        self.url_template(id).replace(PORT_PLACE, &port.to_string())
    }

    /// The address of any port of a sandbox; `{port}` stands for its number. Guests are told it as well.
    pub(crate) fn url_template(&self, id: &SandboxId) -> String {
        let configured = self.inner.config.server.ports_url.clone();
        configured.unwrap_or_else(|| usual_template(self.own_address())).replace(ID_PLACE, id)
    }

    /// What the address of a port looks like here, with `{port}` and `{id}`.
    pub fn ports_url(&self) -> String {
        self.inner.config.server.ports_url.clone().unwrap_or_else(|| usual_template(self.own_address()))
    }

    /// The domain, with its port if it has one, in which each port of a sandbox has a name: `PORT-ID.` before this.
    pub fn ports_domain(&self) -> String {
        let template = self.ports_url();
        let rest = template.split_once("{port}-{id}.").map_or("localhost", |(_, rest)| rest);
        rest.trim_end_matches('/').to_owned()
    }

    fn port_infos(&self, id: &SandboxId, listed: &[ListeningPort]) -> Vec<PortInfo> {
        let info = |one: &ListeningPort| PortInfo {
            port: one.port,
            addresses: one.addresses.iter().map(ToString::to_string).collect(),
            url: self.port_url(id, one.port),
        };
        listed.iter().map(info).collect()
    }

    /// The session of a sandbox and the runtime in it that programs run in, where both are there.
    fn ship_of(&self, id: &SandboxId) -> Option<(Arc<LiveSession>, Arc<LiveContainer>)> {
        let session = self.inner.sessions.get(id)?;
        let ship = session.all().into_iter().find(|container| container.spec.runtime_type == RuntimeType::Ship)?;
        Some((session, ship))
    }
}

/// Names below `localhost` are this machine, to every browser, and each is an origin of its own.
fn usual_template(own: Option<SocketAddr>) -> String {
    let port = own.map_or(cove_config::DEFAULT_PORT, |address| address.port());
    format!("http://{PORT_PLACE}-{ID_PLACE}.localhost:{port}/")
}
