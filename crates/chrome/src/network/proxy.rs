//! The proxy behind a port: which connections it accepts, and how many. What they may reach is `cove-network`'s decision.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use cove_core::EffectGate;
use cove_network::{AddressRule, converse, is_guest};
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::peer::user_of;

/// Connections through one port at the same time.
const MAX_CONNECTIONS: usize = 256;

/// Serves one port until it is aborted; its connections end with it. Only `user` is served, if one is named, and only
/// what `gate` lets out, if there is one.
pub(crate) async fn serve(listener: TcpListener, rule: AddressRule, user: Option<u32>, gate: Option<EffectGate>) {
    let rule = Arc::new(rule);
    let seats = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let mut connections = JoinSet::new();
    loop {
        let Ok(seat) = seats.clone().acquire_owned().await else { return };
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((client, peer)) => {
                    let (rule, gate) = (rule.clone(), gate.clone());
                    connections.spawn(async move {
                        // A guest that another policy lets to loopback must not go on from here by this one.
                        let is_ours = !is_guest(peer) && user.is_none_or(|user| is_from(&client, user));
                        if is_ours && gate.is_none_or(|gate| gate()) {
                            let _ = converse(client, &rule).await;
                        }
                        drop(seat);
                    });
                }
                // Out of descriptors, most likely: others must end first.
                Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
            },
            Some(_) = connections.join_next() => {}
        }
    }
}

/// Passes connections on to another proxy's socket until it is aborted; they end with it.
pub(crate) async fn pass_on(listener: TcpListener, socket: PathBuf) {
    let seats = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let mut connections = JoinSet::new();
    loop {
        let Ok(seat) = seats.clone().acquire_owned().await else { return };
        while connections.try_join_next().is_some() {}
        match listener.accept().await {
            Ok((mut client, _)) => {
                let socket = socket.clone();
                connections.spawn(async move {
                    if let Ok(mut proxy) = UnixStream::connect(socket).await {
                        let _ = copy_bidirectional(&mut client, &mut proxy).await;
                    }
                    drop(seat);
                });
            }
            Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
        }
    }
}

/// Whether this user is at the other end.
fn is_from(client: &TcpStream, user: u32) -> bool {
    let ends = client.peer_addr().and_then(|peer| Ok((peer, client.local_addr()?)));
    ends.is_ok_and(|(peer, own)| user_of(peer, own) == Some(user))
}
