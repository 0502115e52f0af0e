//! The server of a session: a Gull on a socket that only its owner can reach, until nobody needs it any more.

use std::path::Path;
use std::time::Duration;

use cove_core::NetworkPolicy;
use cove_gull::{Listen, serve as serve_gull};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use tokio::signal::unix::{SignalKind, signal};

use super::Browse;
use super::session::{RECORD, SOCKET};
use crate::exit::Exit;

/// How often it is looked whether anybody used it.
const LOOK: Duration = Duration::from_millis(500);

pub(super) async fn serve(args: &Browse, folder: &Path) -> anyhow::Result<Exit> {
    let socket = folder.join(SOCKET);
    // Left by one that was killed; whoever starts us holds the session's lock.
    let _ = std::fs::remove_file(&socket);
    let network = NetworkPolicy {
        allow_hosts: args.allow_host.clone(),
        allow_private: args.allow_private.clone(),
        ..NetworkPolicy::default()
    };
    let mut options = args.options(network);
    options.listen = Listen::Unix(socket);
    let mut ended = signal(SignalKind::terminate())?;
    let mut server = serve_gull(options).await?;
    let idle = Duration::from_secs(args.idle_s);
    let gull = server.gull().clone();
    let unused = async {
        loop {
            tokio::time::sleep(LOOK).await;
            if gull.idle_for().is_some_and(|unused| unused >= idle) {
                return;
            }
        }
    };
    tokio::select! {
        _ = ended.recv() => {}
        () = unused => {}
        () = leader_gone(args.leader) => {}
        () = server.ended() => {}
    }
    let _ = std::fs::remove_file(folder.join(RECORD));
    server.close().await;
    Ok(Exit::Ok)
}

/// Waits for the end of the process that leads the terminal's session; for ever where there is none.
async fn leader_gone(leader: Option<i32>) {
    let opened = leader.and_then(Pid::from_raw).and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
    match opened {
        Some(leader) if cove_walls::process::ended(&leader).await.is_ok() => {}
        _ => std::future::pending().await,
    }
}
