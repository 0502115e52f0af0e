//! What Bay does for a Pod while it has it: signs of life, a watch over the size of its cargo, and the way out of its guests.

use std::sync::Arc;
use std::time::Duration;

use cove_network::{LiveNetwork, SandboxPorts, converse};
use cove_runtime_api::line::{GUEST_CAME, Line, LineUse, OUTGROWN};
use rustix::net::sockopt::set_socket_keepalive;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

/// So many signs of life fit into the longest silence.
const SIGNS: u32 = 6;

/// After a failure to reach the Pod.
const REST: Duration = Duration::from_millis(500);

/// Connections that wait for a guest: so many can come at the same moment without waiting for us.
const WAITING: usize = 4;

/// Connections of guests at the same time, the waiting ones among them.
const MAX_CONNECTIONS: usize = 128;

/// Gives signs of life; comes back when the cargo has outgrown its limit (0: it has none).
pub(super) async fn hold(line: &Line, limit_bytes: u64, outlive: Duration) {
    loop {
        if let Ok(stream) = line.open(LineUse::Hold { limit_bytes }).await {
            let (mut told, mut signs) = stream.into_split();
            let give = async {
                while signs.write_all(b".").await.is_ok() {
                    tokio::time::sleep(outlive / SIGNS).await;
                }
            };
            let mut word = [0; OUTGROWN.len()];
            tokio::select! {
                () = give => {}
                heard = told.read_exact(&mut word) => if heard.is_ok() && word == OUTGROWN {
                    return;
                },
            }
        }
        tokio::time::sleep(REST).await;
    }
}

/// Serves guests who want out, for as long as it is not dropped. Every host and address is looked at here, as elsewhere.
pub(super) async fn way_out(line: Line, network: Option<LiveNetwork>, inside: Option<SandboxPorts>) {
    let Some(network) = network else {
        return std::future::pending().await;
    };
    let seats = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let (mut waiting, mut conversations) = (JoinSet::new(), JoinSet::new());
    loop {
        while waiting.len() < WAITING {
            let (line, seats) = (line.clone(), Arc::clone(&seats));
            waiting.spawn(async move {
                let seat = seats.acquire_owned().await.ok()?;
                let mut stream = line.open(LineUse::WayOut).await.ok()?;
                // It may wait for days; without this nobody would notice that the node has forgotten it.
                let _ = set_socket_keepalive(&stream, true);
                let mut word = [0; GUEST_CAME.len()];
                stream.read_exact(&mut word).await.ok()?;
                (word == GUEST_CAME).then_some((stream, seat))
            });
        }
        tokio::select! {
            Some(came) = waiting.join_next() => match came {
                Ok(Some((stream, seat))) => {
                    let (network, inside) = (network.clone(), inside.clone());
                    conversations.spawn(async move {
                        let _ = converse(stream, &network, inside.as_ref()).await;
                        drop(seat);
                    });
                }
                _ => tokio::time::sleep(REST).await,
            },
            Some(_) = conversations.join_next() => {}
        }
    }
}
