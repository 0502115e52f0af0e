//! Gull as a program of its own: `cove-gull WORKSPACE SESSION [LISTEN] [HOST …]`, with `COVE_GULL_CPUS` and
//! `COVE_GULL_MEMORY` (bytes) for what the browser may use.
//!
//! `cove gull` is the same with proper arguments. This one exists for containers that want nothing else, and for the
//! tests that kill a whole Gull. It prints where it listens as one line of JSON and ends with SIGTERM or SIGINT.
#![allow(clippy::print_stdout)]

use std::net::{IpAddr, SocketAddr};

use cove_gull::{GullOptions, Listen, serve};
use tokio::signal::unix::{SignalKind, signal};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let (Some(workspace), Some(session)) = (args.next(), args.next()) else {
        return Err("usage: cove-gull WORKSPACE SESSION [ADDRESS:PORT | SOCKET] [HOST …]".into());
    };
    let mut options = GullOptions::new(workspace, session);
    options.token = std::env::var("COVE_GULL_TOKEN").ok();
    options.cpus = std::env::var("COVE_GULL_CPUS").ok().map(|text| text.parse()).transpose()?;
    options.memory_bytes = std::env::var("COVE_GULL_MEMORY").ok().map(|text| text.parse()).transpose()?;
    if let Some(listen) = args.next() {
        options.listen = match listen.parse::<SocketAddr>() {
            Ok(address) => Listen::Tcp(address),
            Err(_) => Listen::Unix(listen.into()),
        };
    }
    for host in args {
        let bare = host.rsplit_once(':').map_or(host.as_str(), |(host, _)| host);
        let list = match bare.parse::<IpAddr>() {
            Ok(_) => &mut options.network.allow_private,
            Err(_) => &mut options.network.allow_hosts,
        };
        list.push(host);
    }
    let (mut term, mut int) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    let mut server = serve(options).await?;
    println!("{}", serde_json::json!({ "listening": server.endpoint().to_string() }));
    tokio::select! {
        _ = term.recv() => {}
        _ = int.recv() => {}
        () = server.ended() => {}
    }
    server.close().await;
    Ok(())
}
