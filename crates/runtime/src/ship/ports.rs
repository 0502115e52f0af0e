//! `/ports`: on which ports guests listen, and connections to them.
//!
//! Only Ship can say: it is in the sandbox's network, and nobody outside is. Nothing is looked at unless somebody asks, and
//! whoever waits for a change looks again only while there are guests. A connection goes to loopback and nowhere else, so
//! a caller of Ship reaches through it what a command in here reaches, and no more.

use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use axum::routing::{get, post};
use axum::{Json, Router};
use cove_cell::MemoryLedger;
use cove_core::Deadline;
use cove_runtime_api::{
    Call, ListeningPort, ListeningPorts, MAX_PORTS, MAX_PORTS_WAIT, PORT_PATH, PORT_PROTOCOL, PortTarget, PortsRequest,
};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::sync::{Notify, Semaphore};

use super::ShipState;
use super::carry::carry;
use super::error::{ApiError, Body, Params};

/// Between two looks while somebody waits for a change: a quarter of the second in which a port is to be noticed.
const LOOK: Duration = Duration::from_millis(250);

/// How long a program may take to accept. Usually no time: the kernel accepts for it until its queue is full.
const CONNECT: Duration = Duration::from_secs(5);

/// How long whoever asked for a connection may take to use it.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// Connections at once; each costs Ship two descriptors, of which it needs others.
const MAX_CONNECTIONS: usize = 256;

/// The kernel's word for a socket that listens.
const LISTENS: &str = "0A";

/// What is known of ports.
#[derive(Debug, Clone)]
pub(crate) struct Ports(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    /// Ship's own ports: no guest's program is there.
    own: Vec<u16>,
    seats: Arc<Semaphore>,
    /// Somebody is about to be started.
    started: Notify,
    memory: Option<MemoryLedger>,
}

impl Ports {
    pub(super) fn new(own: Vec<u16>, memory: Option<MemoryLedger>) -> Self {
        let seats = Arc::new(Semaphore::new(MAX_CONNECTIONS));
        Self(Arc::new(Inner { own, seats, started: Notify::new(), memory }))
    }

    /// Somebody is about to be started: whoever waits looks again from now on.
    pub(super) fn go_on(&self) {
        self.0.started.notify_waiters();
    }

    /// The routes of this part.
    pub(super) fn routes() -> Router<ShipState> {
        Router::new().route(PortsRequest::PATH, post(list)).route(PORT_PATH, get(connect))
    }

    fn look(&self) -> Vec<ListeningPort> {
        let mut found: BTreeMap<u16, Vec<IpAddr>> = BTreeMap::new();
        for table in ["/proc/thread-self/net/tcp", "/proc/thread-self/net/tcp6"] {
            // A kernel without IPv6 has no table of it.
            let table = std::fs::read_to_string(table).unwrap_or_default();
            for (address, port) in table.lines().skip(1).filter_map(listener) {
                let addresses = found.entry(port).or_default();
                if !addresses.contains(&address) {
                    addresses.push(address);
                }
            }
        }
        found.retain(|port, _| !self.0.own.contains(port));
        let mut listed: Vec<_> =
            found.into_iter().map(|(port, addresses)| ListeningPort { port, addresses }).take(MAX_PORTS).collect();
        listed.iter_mut().for_each(|one| one.addresses.sort());
        listed
    }

    /// The list as soon as it is another than this one, or else when the time is over.
    async fn other_than(&self, known: Option<&[ListeningPort]>, deadline: Deadline) -> Vec<ListeningPort> {
        loop {
            let started = self.0.started.notified();
            tokio::pin!(started);
            started.as_mut().enable();
            // Asked before the look: if there was nobody then, nobody listens until somebody is started.
            let alone = self.0.memory.as_ref().is_some_and(MemoryLedger::watch_sleeps);
            let ports = self.clone();
            let now = tokio::task::spawn_blocking(move || ports.look()).await.unwrap_or_default();
            let left = deadline.left();
            if left.is_zero() || known.is_none_or(|known| known != now) {
                return now;
            }
            if alone {
                let _ = tokio::time::timeout(left, started).await;
            } else {
                tokio::time::sleep(LOOK.min(left)).await;
            }
        }
    }
}

/// A line of the kernel's table, where it is of a socket that listens: `sl local remote state …`.
fn listener(line: &str) -> Option<(IpAddr, u16)> {
    let mut fields = line.split_ascii_whitespace().skip(1);
    let (local, state) = (fields.next()?, fields.nth(1)?);
    let (address, port) = local.split_once(':').filter(|_| state == LISTENS)?;
    // Words of four bytes, each in the machine's own order.
    let words = (0..address.len()).step_by(8).map(|at| u32::from_str_radix(address.get(at..at + 8)?, 16).ok());
    let bytes: Vec<u8> = words.collect::<Option<Vec<_>>>()?.into_iter().flat_map(u32::to_ne_bytes).collect();
    let address = match bytes.len() {
        4 => IpAddr::from(<[u8; 4]>::try_from(bytes).ok()?),
        16 => IpAddr::from(<[u8; 16]>::try_from(bytes).ok()?),
        _ => return None,
    };
    Some((address, u16::from_str_radix(port, 16).ok()?))
}

async fn list(
    State(state): State<ShipState>,
    Body(asked): Body<PortsRequest>,
) -> Result<Json<ListeningPorts>, ApiError> {
    let wait = Duration::try_from_secs_f64(asked.wait).ok().filter(|_| asked.wait <= MAX_PORTS_WAIT);
    let wait =
        wait.ok_or_else(|| ApiError::validation(format!("`wait` must be from 0 to {MAX_PORTS_WAIT} seconds")))?;
    let items = state.ports.other_than(asked.known.as_deref(), Deadline::after(wait)).await;
    Ok(Json(ListeningPorts { items }))
}

/// Opens a connection to a port on loopback.
async fn connect(
    State(state): State<ShipState>,
    Params(target): Params<PortTarget>,
    mut request: Request,
) -> Result<Response, ApiError> {
    let asked = request.headers().get(header::UPGRADE).map(HeaderValue::as_bytes);
    if asked != Some(PORT_PROTOCOL.as_bytes()) {
        return Err(ApiError::validation(format!("send `Connection: upgrade` and `Upgrade: {PORT_PROTOCOL}`")));
    }
    let port = target.port;
    if port == 0 || state.ports.0.own.contains(&port) {
        return Err(closed(port));
    }
    let seat = Arc::clone(&state.ports.0.seats).try_acquire_owned();
    let seat =
        seat.map_err(|_| ApiError::too_many(format!("more than {MAX_CONNECTIONS} connections to ports at once")))?;
    let guest = dial(port).await?;
    let upgrade = hyper::upgrade::on(&mut request);
    tokio::spawn(async move {
        if let Ok(Ok(caller)) = tokio::time::timeout(HANDSHAKE, upgrade).await {
            carry(TokioIo::new(caller), guest, Duration::from_secs(target.idle)).await;
        }
        drop(seat);
    });
    let mut response = Response::new(axum::body::Body::empty());
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    let headers = response.headers_mut();
    headers.insert(header::CONNECTION, HeaderValue::from_static("upgrade"));
    headers.insert(header::UPGRADE, HeaderValue::from_static(PORT_PROTOCOL));
    Ok(response)
}

/// Whoever listens on `localhost` may do so on either of its two addresses.
async fn dial(port: u16) -> Result<TcpStream, ApiError> {
    for address in [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)] {
        match tokio::time::timeout(CONNECT, TcpStream::connect((address, port))).await {
            Ok(Ok(guest)) => {
                // What is passed on was written for somebody who waits for it.
                let _ = guest.set_nodelay(true);
                return Ok(guest);
            }
            // Its queue is full: whoever listens there does not accept.
            Err(_) => {
                let message = format!("the program that listens on port {port} did not accept within {CONNECT:?}");
                return Err(ApiError::timeout(message));
            }
            Ok(Err(error)) if error.kind() == io::ErrorKind::ConnectionRefused => {}
            Ok(Err(error)) if address.is_ipv4() => return Err(ApiError::from_io(&error, &format!("port {port}"))),
            // No IPv6 here.
            Ok(Err(_)) => {}
        }
    }
    Err(closed(port))
}

fn closed(port: u16) -> ApiError {
    ApiError::port_closed(format!("no program listens on port {port}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_table_is_read_as_it_is_written() {
        let check = |local: &str, state: &str, found: Option<(&str, u16)>| {
            let line =
                format!("   0: {local} 00000000:0000 {state} 00000000:00000000 00:00000000 00000000  1000 0 1 1");
            let found = found.map(|(address, port)| (address.parse::<IpAddr>().unwrap(), port));
            assert_eq!(listener(&line), found, "{line}");
        };
        let word = |four: [u8; 4]| format!("{:08X}", u32::from_ne_bytes(four));
        check(&format!("{}:0BB8", word([127, 0, 0, 1])), "0A", Some(("127.0.0.1", 3000)));
        check(&format!("{}:0BB8", word([127, 0, 0, 1])), "01", None);
        check(&format!("{}:0050", word([0; 4]).repeat(4)), "0A", Some(("::", 80)));
        check(&format!("{}{}:0050", word([0; 4]).repeat(3), word([0, 0, 0, 1])), "0A", Some(("::1", 80)));
        for wrong in ["0100007F", "0100007F:", "01:0050", ":0050", "0100007F:10000", "zz00007F:0050"] {
            check(wrong, "0A", None);
        }
        assert_eq!(listener(""), None);
    }
}
