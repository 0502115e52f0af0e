//! `cove approvals`: the calls of code that wait for a person, and the decisions about them.

use std::io::Write as _;

use clap::{Args as ClapArgs, Subcommand};
use cove_api::{Approval, ApprovalDecision};
use cove_client::{Client, ClientError};

use crate::exit::Exit;
use crate::terminal::{self, DIM, PLAIN, note};
use crate::{local, sandbox};

#[derive(Debug, ClapArgs)]
pub(crate) struct Approvals {
    #[command(flatten)]
    server: local::ServerArgs,
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    verb: Option<Verb>,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// List the calls that wait (the default)
    List,
    /// Approve a call: it is made, once
    Approve {
        /// Id of the call
        id: String,
        /// Do not ask again for this tool in this session
        #[arg(long)]
        remember: bool,
    },
    /// Deny a call: the code gets an error
    Deny {
        /// Id of the call
        id: String,
        /// What the code is told
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
    },
}

pub(crate) async fn approvals(args: Approvals) -> anyhow::Result<Exit> {
    let (url, key) = args.server.find().await;
    match decide(&url, key.as_deref(), args.verb.unwrap_or(Verb::List)).await {
        Ok(list) if args.json => terminal::json_line(&list)?,
        Ok(list) => list.iter().try_for_each(show)?,
        Err(error) => return Ok(sandbox::refused(&error)),
    }
    Ok(Exit::Ok)
}

/// What is left to be shown.
async fn decide(url: &str, key: Option<&str>, verb: Verb) -> Result<Vec<Approval>, ClientError> {
    let bay = Client::new(url, key)?;
    match verb {
        Verb::List => {
            let list = bay.approvals().await?;
            if list.is_empty() {
                note!("{DIM}no calls are waiting{PLAIN}");
            }
            Ok(list)
        }
        Verb::Approve { id, remember } => {
            bay.approve(&id, &ApprovalDecision { remember, reason: None }).await?;
            Ok(Vec::new())
        }
        Verb::Deny { id, reason } => {
            bay.deny(&id, &ApprovalDecision { remember: false, reason }).await?;
            Ok(Vec::new())
        }
    }
}

fn show(approval: &Approval) -> std::io::Result<()> {
    let mut out = terminal::out();
    let Approval { id, sandbox_id, tool, args, why, .. } = approval;
    writeln!(out, "{id}  {tool}({args})")?;
    writeln!(out, "  {DIM}{sandbox_id}: {why}{PLAIN}")?;
    approval.lines.iter().try_for_each(|line| writeln!(out, "  {:>4} | {}", line.line, line.text))
}
