//! `cove sandbox network`: what a sandbox may reach while it runs, and what it has reached.

use std::io::Write as _;

use cove_api::{SandboxNetwork, SetNetwork};
use cove_client::Client;

use super::print_json;
use crate::terminal::{self, DIM, PLAIN, note};

/// What is to be done with a sandbox's network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NetworkWish {
    /// Shows it.
    Show,
    /// Opens these hosts beside those that are open.
    Allow(Vec<String>),
    /// Opens these and no others.
    Only(Vec<String>),
    /// As the profile has it.
    Reset,
}

pub(super) async fn network(bay: &Client, id: &str, wish: NetworkWish, json: bool) -> anyhow::Result<()> {
    let hosts = match wish {
        NetworkWish::Show => {
            let network = bay.network(id).await?;
            return if json { print_json(&network) } else { show(&network) };
        }
        NetworkWish::Allow(more) => {
            let mut hosts = bay.network(id).await?.allow_hosts;
            hosts.extend(more.into_iter().filter(|host| !hosts.contains(host)).collect::<Vec<_>>());
            Some(hosts)
        }
        NetworkWish::Only(hosts) => Some(hosts),
        NetworkWish::Reset => None,
    };
    let network = bay.set_network(id, &SetNetwork { allow_hosts: hosts }).await?;
    if json {
        return print_json(&network);
    }
    opened(&network)
}

fn opened(network: &SandboxNetwork) -> anyhow::Result<()> {
    if network.allow_hosts.is_empty() {
        note!("{DIM}no host is open{PLAIN}");
    }
    for host in &network.allow_hosts {
        writeln!(terminal::out(), "{host}")?;
    }
    Ok(())
}

fn show(network: &SandboxNetwork) -> anyhow::Result<()> {
    opened(network)?;
    let closed: Vec<&str> =
        network.may_allow.iter().filter(|host| !network.allow_hosts.contains(host)).map(String::as_str).collect();
    if !closed.is_empty() {
        note!("{DIM}can be opened with --allow: {}{PLAIN}", closed.join(", "));
    }
    for one in network.connections.iter().rev() {
        let (host, port, verdict) = (&one.host, one.port, one.verdict.as_str());
        writeln!(terminal::out(), "{}  {verdict:<11}  {host}:{port}  ↑{} ↓{}", one.at, one.up_bytes, one.down_bytes)?;
    }
    Ok(())
}
