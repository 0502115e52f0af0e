//! Tables for people.

use std::io::Write as _;

use cove_api::{Moment, SandboxInfo, SandboxStatus};

use crate::terminal::{self, DIM, GREEN, PLAIN, RED, YELLOW};

pub(super) fn sandboxes(items: &[SandboxInfo]) -> std::io::Result<()> {
    let mut out = terminal::out();
    if items.is_empty() {
        let mut aside = terminal::aside();
        return writeln!(aside, "{DIM}no sandbox; `cove sandbox create` makes one{PLAIN}");
    }
    let widest = items.iter().map(|item| item.profile.len()).max().unwrap_or_default().max(7);
    writeln!(out, "{DIM}{:<20}  {:<8}  {:<widest$}  {:<10}  ENDS{PLAIN}", "ID", "STATUS", "PROFILE", "MADE")?;
    for item in items {
        let status = format!("{:<8}", item.status.as_str());
        let colour = match item.status {
            SandboxStatus::Ready => GREEN,
            SandboxStatus::Failed | SandboxStatus::Expired => RED,
            SandboxStatus::Starting => YELLOW,
            SandboxStatus::Idle => DIM,
        };
        let (made, ends) = (ago(item.created_at), item.expires_at.map_or_else(|| "never".to_owned(), until));
        writeln!(out, "{:<20}  {colour}{status}{PLAIN}  {:<widest$}  {made:<10}  {ends}", item.id, item.profile)?;
    }
    Ok(())
}

pub(super) fn one(item: &SandboxInfo) -> std::io::Result<()> {
    let mut out = terminal::out();
    writeln!(out, "id            {}", item.id)?;
    writeln!(out, "status        {}", item.status.as_str())?;
    writeln!(out, "profile       {}", item.profile)?;
    writeln!(out, "cargo         {}", item.cargo_id)?;
    writeln!(out, "capabilities  {}", item.capabilities.join(", "))?;
    writeln!(out, "made          {} ({})", item.created_at, ago(item.created_at))?;
    writeln!(out, "ends          {}", item.expires_at.map_or_else(|| "never".to_owned(), until))?;
    for container in item.containers.iter().flatten() {
        let version = container.version.as_deref().unwrap_or_default();
        writeln!(out, "container     {} ({} {version}), {}", container.name, container.runtime_type, container.status)?;
    }
    Ok(())
}

pub(super) fn ago(moment: Moment) -> String {
    let seconds = (Moment::now().micros() - moment.micros()).max(0) / 1_000_000;
    format!("{} ago", length(seconds))
}

pub(super) fn until(moment: Moment) -> String {
    let seconds = (moment.micros() - Moment::now().micros()) / 1_000_000;
    if seconds < 0 { "over".to_owned() } else { format!("in {}", length(seconds)) }
}

pub(super) fn length(seconds: i64) -> String {
    match seconds {
        ..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min", seconds / 60),
        3_600..172_800 => format!("{} h", seconds / 3_600),
        _ => format!("{} d", seconds / 86_400),
    }
}
