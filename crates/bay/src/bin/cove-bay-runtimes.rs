//! Ship and Gull alone, for Bay's own tests: `cove-bay-runtimes ship …` and `cove-bay-runtimes gull …` are what
//! `cove ship` and `cove gull` are.

use std::io::Write as _;
use std::process::ExitCode;

use cove_gull::{Endpoint, GullOptions, LEASE_END, Listen, lease_over, serve};
use tokio::signal::unix::{SignalKind, signal};

#[expect(clippy::disallowed_methods, reason = "speaks to the test that started it")]
fn main() -> ExitCode {
    // First: JavaScript runs in workers that are this very program.
    cove_embedded::worker::enter_if_asked();
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (code, message) = match args.split_first() {
        Some((role, rest)) if role == "ship" => cove_runtime::ship::command(rest),
        Some((role, rest)) if role == "gull" => match gull(rest) {
            Ok(()) => (0, None),
            Err(error) => (5, Some(error.to_string())),
        },
        _ => (2, Some("usage: cove-bay-runtimes ship|gull …".to_owned())),
    };
    if let Some(message) = message {
        let _ = writeln!(std::io::stderr(), "error: {message}");
    }
    ExitCode::from(code)
}

#[expect(clippy::disallowed_methods, reason = "speaks to the test that started it")]
fn gull(args: &[String]) -> Result<(), Box<dyn std::error::Error>> {
    let mut options = GullOptions::new("", "");
    let mut lease = None;
    for pair in args.chunks(2) {
        let [name, value] = pair else { return Err("every word has a value".into()) };
        match name.as_str() {
            "--workspace" => options.workspace = value.into(),
            "--session" => options.session.clone_from(value),
            "--listen" => options.listen = Listen::Unix(value.into()),
            "--allow-host" => options.network.allow_hosts.push(value.clone()),
            "--allow-private" => options.network.allow_private.push(value.clone()),
            "--state" => options.state_dir = Some(value.into()),
            "--disk" => options.disk_bytes = value.parse()?,
            "--memory" => options.memory_bytes = Some(value.parse()?),
            "--control-groups" => options.control_groups = value.parse()?,
            "--cpus" => options.cpus = Some(value.parse()?),
            "--reserved" => options.reserved_list = Some(value.into()),
            "--lease" => lease = Some(value.parse()?),
            "--process-memory" => options.process_memory_bytes = value.parse()?,
            other => return Err(format!("unknown word {other}").into()),
        }
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut ended = signal(SignalKind::terminate())?;
        let mut server = serve(options).await?;
        if let Endpoint::Unix(path) = server.endpoint() {
            writeln!(std::io::stdout().lock(), "{}", serde_json::json!({ "listening": path }))?;
        }
        tokio::select! {
            _ = ended.recv() => {}
            () = server.ended() => {}
            _ = lease_over(lease.unwrap_or_default()), if lease.is_some() => {
                let _ = tokio::time::timeout(LEASE_END, server.close()).await;
                return Ok(());
            }
        }
        server.close().await;
        Ok(())
    })
}
