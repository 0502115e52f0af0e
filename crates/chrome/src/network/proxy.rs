//! The proxy behind a port: which connections it accepts, and how many. What they may reach is `cove-network`'s decision.

use std::sync::Arc;

use cove_core::EffectGate;
use cove_network::{LiveNetwork, SandboxPorts, accept_each, converse, is_guest};
use tokio::net::{TcpListener, TcpStream};

use super::peer::user_of;

/// Connections through one port at the same time.
pub(crate) const MAX_CONNECTIONS: usize = 256;

/// Serves one port until it is aborted; its connections end with it. Only `user` is served, if one is named, and only
/// what `gate` lets out, if there is one. `inside`: the sandbox that `localhost` is.
pub(crate) async fn serve(
    listener: TcpListener,
    network: LiveNetwork,
    inside: Option<SandboxPorts>,
    user: Option<u32>,
    gate: Option<EffectGate>,
) {
    let ways = Arc::new((network, inside));
    accept_each(listener, MAX_CONNECTIONS, |client| {
        let (ways, gate) = (ways.clone(), gate.clone());
        async move {
            // A guest that another policy lets to loopback must not go on from here by this one.
            let is_guest = client.peer_addr().map_or(true, is_guest);
            let is_ours = !is_guest && user.is_none_or(|user| is_from(&client, user));
            if is_ours && gate.is_none_or(|gate| gate()) {
                let _ = converse(client, &ways.0, ways.1.as_ref()).await;
            }
        }
    })
    .await;
}

/// Whether this user is at the other end.
fn is_from(client: &TcpStream, user: u32) -> bool {
    let ends = client.peer_addr().and_then(|peer| Ok((peer, client.local_addr()?)));
    ends.is_ok_and(|(peer, own)| user_of(peer, own) == Some(user))
}
