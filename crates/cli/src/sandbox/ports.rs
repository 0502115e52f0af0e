//! `cove sandbox ports`: which programs listen, and links to them for browsers.

use std::io::Write as _;

use cove_api::CreatePortLink;
use cove_client::Client;

use super::{print_json, table};
use crate::terminal::{self, DIM, PLAIN, note};

/// What is to be done with a sandbox's ports.
#[derive(Debug)]
pub(super) enum PortWish {
    /// Shows those that are open.
    List,
    /// Makes a link, for so many seconds.
    Link(u16, Option<i64>),
    /// Shows the links that work.
    Links,
    /// Revokes one.
    Revoke(String),
}

pub(super) async fn ports(bay: &Client, id: &str, wish: PortWish, json: bool) -> anyhow::Result<()> {
    match wish {
        PortWish::List => {
            let list = bay.ports(id).await?;
            if json {
                return print_json(&list.items);
            }
            if list.items.is_empty() {
                note!("{DIM}no program listens in {id}{PLAIN}");
            }
            for one in &list.items {
                writeln!(terminal::out(), "{:<5}  {}", one.port, one.addresses.join(", "))?;
            }
        }
        PortWish::Link(port, seconds) => {
            // More than the server takes it refuses, with the limit.
            let seconds = seconds.map(|seconds| u32::try_from(seconds).unwrap_or(u32::MAX));
            let made = bay.create_port_link(id, &CreatePortLink { port, seconds }).await?;
            if json {
                return print_json(&made);
            }
            writeln!(terminal::out(), "{}", made.url)?;
            note!("{DIM}it works {}; revoke it with --revoke {}{PLAIN}", table::until(made.expires_at), made.id);
        }
        PortWish::Links => {
            let list = bay.port_links(id).await?;
            if json {
                return print_json(&list.items);
            }
            for link in &list.items {
                writeln!(terminal::out(), "{}  {:<5}  ends {}", link.id, link.port, table::until(link.expires_at))?;
            }
        }
        PortWish::Revoke(link_id) => bay.revoke_port_link(id, &link_id).await?,
    }
    Ok(())
}
