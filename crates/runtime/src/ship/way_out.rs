//! The inner end of the way out: a port on the sandbox's loopback, joined to the proxy's socket.
//!
//! It decides nothing: the proxy on the other side does, and a guest that speaks to the socket itself meets the same one.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use cove_network::pass_on;
use tokio::net::TcpListener;

/// Where guests find their proxy.
pub(super) const PORT: u16 = 3128;

/// As many as the proxy takes.
const MAX_CONNECTIONS: usize = 128;

/// What programs look at to find a proxy; the sandbox's own servers are reached without it.
pub(super) fn environment() -> [(&'static str, String); 6] {
    let proxy = || format!("http://127.0.0.1:{PORT}");
    let own = || "localhost,127.0.0.1,::1".to_owned();
    [
        ("http_proxy", proxy()),
        ("https_proxy", proxy()),
        ("HTTP_PROXY", proxy()),
        ("HTTPS_PROXY", proxy()),
        ("no_proxy", own()),
        ("NO_PROXY", own()),
    ]
}

/// Opens the port; connections are passed on for as long as the runtime runs.
pub(super) async fn open(socket: PathBuf) -> io::Result<()> {
    let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, PORT))).await?;
    tokio::spawn(pass_on(listener, MAX_CONNECTIONS, socket));
    Ok(())
}
