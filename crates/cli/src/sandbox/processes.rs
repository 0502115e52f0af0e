//! `cove sandbox exec --detach`, `ps`, `logs ID PROCESS` and `kill`: processes that run on by themselves.

use std::io::Write as _;

use anyhow::Context as _;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cove_api::{CreateProcess, ProcessFrame, ProcessInfo, ProcessStatus, ProcessStream};
use cove_client::Client;

use super::{print_json, table, wait};
use crate::exit::Exit;
use crate::terminal::{self, DIM, GREEN, PLAIN, RED, note};

/// Starts a command line and leaves it running.
pub(super) async fn start(
    bay: &Client,
    id: &str,
    command: String,
    (name, restart): (Option<String>, bool),
    json: bool,
) -> anyhow::Result<Exit> {
    let argv = ["/bin/bash".to_owned(), "-lc".to_owned(), command].to_vec();
    let wish = CreateProcess { argv, name, restart, ..CreateProcess::default() };
    let started = wait::with_progress(&format!("{id} starts"), bay.start_process(id, &wish)).await?;
    if json {
        print_json(&started)?;
    } else {
        writeln!(terminal::out(), "{}", started.process_id)?;
    }
    Ok(Exit::Ok)
}

pub(super) async fn list(bay: &Client, id: &str, json: bool) -> anyhow::Result<()> {
    let list = bay.processes(id).await?.processes;
    if json {
        return print_json(&list);
    }
    if list.is_empty() {
        note!("{DIM}no process was left running in {id}{PLAIN}");
        return Ok(());
    }
    let widest = list.iter().map(|one| one.process_id.len()).max().unwrap_or_default().max(4);
    let mut out = terminal::out();
    writeln!(out, "{DIM}{:<widest$}  {:<7}  {:<12}  {:<8}  COMMAND{PLAIN}", "NAME", "PID", "STATUS", "RUNS")?;
    for one in &list {
        let colour = match one.status {
            ProcessStatus::Running => GREEN,
            ProcessStatus::Completed => DIM,
            ProcessStatus::Failed | ProcessStatus::Killed | ProcessStatus::TimedOut => RED,
        };
        let pid = one.pid.map(|pid| pid.to_string()).unwrap_or_default();
        let runs = table::length(i64::try_from(one.running_ms / 1_000).unwrap_or(i64::MAX));
        let command = one.command.lines().next().unwrap_or_default();
        let status = format!("{:<12}", status(one));
        writeln!(out, "{:<widest$}  {pid:<7}  {colour}{status}{PLAIN}  {runs:<8}  {command}", one.process_id)?;
    }
    Ok(())
}

fn status(info: &ProcessInfo) -> String {
    match (info.status, info.signal, info.return_code) {
        (ProcessStatus::Running, ..) => "running".to_owned(),
        (ProcessStatus::Killed, ..) => "killed".to_owned(),
        (ProcessStatus::TimedOut, ..) => "timed out".to_owned(),
        (_, Some(signal), _) => format!("signal {signal}"),
        (_, None, code) => format!("exited {}", code.unwrap_or_default()),
    }
}

/// What a process has written, and with `follow` what it writes until its end.
pub(super) async fn logs(bay: &Client, id: &str, process: &str, follow: bool, json: bool) -> anyhow::Result<Exit> {
    if !follow {
        let info = bay.process(id, process).await?;
        if json {
            print_json(&info)?;
        } else if let Some(output) = &info.output {
            terminal::out().write_all(output.stdout.as_bytes())?;
            terminal::aside().write_all(output.stderr.as_bytes())?;
        }
        return Ok(Exit::Ok);
    }
    let mut frames = bay.follow_process(id, process, Some(0)).await?;
    while let Some(frame) = frames.next().await? {
        if json {
            print_json(&frame)?;
        }
        match frame {
            ProcessFrame::Output(chunk) if !json => {
                let bytes = STANDARD.decode(&chunk.data).context("the server sent output that is not base64")?;
                if chunk.dropped > 0 {
                    note!("{DIM}… {} bytes are no longer kept{PLAIN}", chunk.dropped);
                }
                match chunk.stream {
                    ProcessStream::Stderr => terminal::aside().write_all(&bytes)?,
                    ProcessStream::Stdout | ProcessStream::Terminal => terminal::out().write_all(&bytes)?,
                }
            }
            ProcessFrame::Ended(info) => {
                note!("{DIM}{}{PLAIN}", info.error.clone().unwrap_or_else(|| status(&info)));
                return Ok(if info.return_code == Some(0) { Exit::Ok } else { Exit::Guest });
            }
            ProcessFrame::Process(_) | ProcessFrame::Output(_) | ProcessFrame::Alive => {}
        }
    }
    Ok(Exit::Ok)
}

pub(super) async fn kill(bay: &Client, id: &str, process: &str, signal: i32, json: bool) -> anyhow::Result<()> {
    let info = bay.signal_process(id, process, signal).await?;
    if json { print_json(&info) } else { Ok(()) }
}
