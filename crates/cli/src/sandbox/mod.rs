//! `cove sandbox`: a client of Bay for people.
//!
//! Data on standard output: an id, a table, what code printed; everything else on standard error. `--json` prints what Bay
//! answered.

mod args;
mod copy;
mod exec;
mod left_out;
mod live;
mod logs;
mod nearest;
mod network;
mod ports;
mod processes;
mod table;
mod tree;
mod wait;

use std::io::Write as _;

use cove_api::{CreateSandbox, ErrorCode, SandboxQuery};
use cove_client::{Client, ClientError};

pub(crate) use args::Sandbox;
use args::Verb;
use network::NetworkWish;
use ports::PortWish;

use crate::exit::Exit;
use crate::terminal::{self, DIM, PLAIN, RED, YELLOW, note};

pub(crate) async fn sandbox(args: Sandbox) -> anyhow::Result<Exit> {
    args.raw.apply();
    let (url, key) = args.server.find().await;
    let bay = match Client::new(&url, key.as_deref()) {
        Ok(bay) => bay,
        Err(error) => return Ok(refused(&error)),
    };
    match dispatch(&bay, args.verb, args.json).await {
        Ok(exit) => Ok(exit),
        // Whoever read our words has read enough.
        Err(error) if is_closed_pipe(&error) => Ok(Exit::Ok),
        Err(error) => match error.downcast::<ClientError>() {
            Ok(refusal) => {
                let exit = refused(&refusal);
                nearest::hint(&bay, &refusal).await;
                Ok(exit)
            }
            Err(other) => Err(other),
        },
    }
}

fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let kind = |cause: &(dyn std::error::Error + 'static)| Some(cause.downcast_ref::<std::io::Error>()?.kind());
    error.chain().any(|cause| kind(cause) == Some(std::io::ErrorKind::BrokenPipe))
}

async fn dispatch(bay: &Client, verb: Verb, json: bool) -> anyhow::Result<Exit> {
    match verb {
        Verb::Create { profile, cargo, ttl } => {
            let wish = CreateSandbox { profile, cargo_id: cargo, ttl, ..CreateSandbox::default() };
            let info = wait::with_progress("making a sandbox", bay.create_sandbox(&wish)).await?;
            for warning in &info.warnings {
                note!("{YELLOW}warning:{PLAIN} {warning}");
            }
            if json { print_json(&info)? } else { writeln!(terminal::out(), "{}", info.id)? }
        }
        Verb::List { status } => {
            let mut items = Vec::new();
            let mut query =
                SandboxQuery { limit: Some(200), status: status.map(Into::into), ..SandboxQuery::default() };
            loop {
                let page = bay.list_sandboxes(&query).await?;
                items.extend(page.items);
                query.cursor = page.next_cursor;
                if query.cursor.is_none() {
                    break;
                }
            }
            if json { print_json(&items)? } else { table::sandboxes(&items)? }
        }
        Verb::Get { id } => {
            let info = bay.sandbox(&id).await?;
            if json { print_json(&info)? } else { table::one(&info)? }
        }
        Verb::Exec(exec) => return exec::exec(bay, exec, json).await,
        Verb::Cp { from, to } => return copy::copy(bay, &from, &to).await,
        Verb::Logs { id, process: Some(process), follow, .. } => {
            return processes::logs(bay, &id, &process, follow, json).await;
        }
        Verb::Logs { id, process: None, follow, last } => logs::logs(bay, &id, follow, last, json).await?,
        Verb::Ps { id } => processes::list(bay, &id, json).await?,
        Verb::Kill { id, process, signal } => processes::kill(bay, &id, &process, signal, json).await?,
        Verb::Ports { id, link, r#for, links, revoke } => {
            let wish = match (link, revoke) {
                (Some(port), _) => PortWish::Link(port, r#for),
                (None, Some(link)) => PortWish::Revoke(link),
                (None, None) if links => PortWish::Links,
                (None, None) => PortWish::List,
            };
            ports::ports(bay, &id, wish, json).await?;
        }
        Verb::Network { id, allow, only, none, reset } => {
            let wish = match (allow, only) {
                _ if reset => NetworkWish::Reset,
                _ if none => NetworkWish::Only(Vec::new()),
                (allow, _) if !allow.is_empty() => NetworkWish::Allow(allow),
                (_, only) if !only.is_empty() => NetworkWish::Only(only),
                _ => NetworkWish::Show,
            };
            network::network(bay, &id, wish, json).await?;
        }
        Verb::Stop { id } => bay.stop_sandbox(&id).await?,
        Verb::Rm { ids } => {
            // One that is not there is no reason to keep the others.
            let mut exit = Exit::Ok;
            for id in ids {
                if let Err(error) = bay.delete_sandbox(&id).await {
                    exit = refused(&error);
                    nearest::hint(bay, &error).await;
                }
            }
            return Ok(exit);
        }
    }
    Ok(Exit::Ok)
}

fn print_json(value: &impl serde::Serialize) -> anyhow::Result<()> {
    Ok(terminal::json_line(value)?)
}

/// Says why, and with which number the command ends.
pub(crate) fn refused(error: &ClientError) -> Exit {
    note!("{RED}error:{PLAIN} {error}");
    if let ClientError::Unreachable { .. } = error {
        note!("{DIM}hint:{PLAIN} start a server with `cove serve`, or name one with --url or COVE_URL");
    }
    match error.code() {
        Some(ErrorCode::Unauthorized) => {
            note!("{DIM}hint:{PLAIN} set the key with COVE_KEY; a local server keeps it in its data folder");
            Exit::Refused
        }
        Some(ErrorCode::Forbidden | ErrorCode::CapabilityNotSupported) => Exit::Refused,
        Some(ErrorCode::ValidationError | ErrorCode::InvalidPath) => Exit::Usage,
        Some(ErrorCode::QuotaExceeded) => Exit::Limit,
        Some(ErrorCode::Timeout) => Exit::Deadline,
        Some(ErrorCode::InternalError | ErrorCode::ShipError | ErrorCode::SessionNotReady) | None => Exit::Host,
        Some(_) => Exit::Guest,
    }
}
