//! What the doctor says to people: a line each, and below it what to do where something is missing.

use std::io::{self, Write};

use cove_embedded::WallState;

use super::Findings;
use super::sandboxes::Sandboxes;
use crate::terminal::{self, DIM, GREEN, PLAIN, RED, YELLOW};

pub(super) fn for_people(found: &Findings) -> io::Result<()> {
    let mut out = terminal::out();
    writeln!(out, "cove {}\n\nThe embedded engine's walls", env!("CARGO_PKG_VERSION"))?;
    for wall in &found.walls.walls {
        let active = matches!(wall.state, WallState::Active);
        line(&mut out, active, wall.name.as_str(), wall.name.purpose())?;
        writeln!(out, "    {:<20} {DIM}{}{PLAIN}", "", wall.detail)?;
    }
    sandboxes(&mut out, &found.sandboxes)?;
    programs(&mut out, found)?;
    let (took, missing) = (found.trial.usage.wall_ms, found.walls.missing().count());
    match (found.runs(), missing) {
        (false, _) => writeln!(out, "\n{RED}✗ a trial run failed{PLAIN}")?,
        (true, 0) => writeln!(out, "\n{GREEN}✓ every wall is active{PLAIN}; a trial run took {took:.2} ms")?,
        (true, n) => {
            writeln!(out, "\n{YELLOW}– {n} missing on this kernel{PLAIN}; `--strict` would refuse to start")?;
        }
    }
    match found.next_step() {
        Some(command) => writeln!(out, "{YELLOW}–{PLAIN} to install what is missing: {command}"),
        None => Ok(()),
    }
}

fn sandboxes(out: &mut impl Write, found: &Sandboxes) -> io::Result<()> {
    writeln!(out, "\nSandboxes")?;
    let facts = if found.runs { "one was made, and ran a command" } else { "cannot be made here" };
    line(out, found.runs, "sandboxes", facts)?;
    trouble(out, found.problem.as_deref(), found.next_step.as_deref())?;
    for wall in found.missing().filter(|wall| !wall.name.starts_with("cgroup-")) {
        line(out, false, &wall.name, "missing")?;
        writeln!(out, "    {:<20} {DIM}{}{PLAIN}", "", wall.detail)?;
    }
    if found.memory_is_enforced {
        return line(out, true, "memory: enforced", "by a control group");
    }
    writeln!(out, "  {YELLOW}–{PLAIN} {}", cove_cell::MEMORY_WATCHED)?;
    writeln!(out, "    {DIM}no control group that counts memory can be made here. To have one: run cove as root, or")?;
    writeln!(out, "    `systemd-run --user --scope -p Delegate=yes cove serve`, or `Delegate=yes` in its unit{PLAIN}")
}

/// Chrome, agent-browser, Python and fonts.
fn programs(out: &mut impl Write, found: &Findings) -> io::Result<()> {
    let path =
        |path: &Option<std::path::PathBuf>| path.as_ref().map_or(String::new(), |path| path.display().to_string());
    let version = |version: &Option<String>| version.clone().unwrap_or_else(|| "version unknown".to_owned());

    writeln!(out, "\nThe browser")?;
    let chrome = &found.chrome;
    if chrome.sandbox_works {
        let facts = format!("{}, its sandbox works (as user {})", version(&chrome.version), chrome.user_id);
        line(out, true, "Chrome", &facts)?;
        writeln!(out, "    {:<20} {DIM}{}{PLAIN}", "", path(&chrome.path))?;
    } else {
        let facts = if chrome.found { version(&chrome.version) } else { "missing".to_owned() };
        line(out, false, "Chrome", &facts)?;
        trouble(out, chrome.problem.as_deref(), chrome.next_step.as_deref())?;
    }
    let agent = &found.agent_browser;
    let facts = if agent.found { version(&agent.version) } else { "missing".to_owned() };
    line(out, agent.problem.is_none(), "agent-browser", &facts)?;
    trouble(out, agent.problem.as_deref(), agent.next_step.as_deref())?;

    writeln!(out, "\nPython in sandboxes")?;
    let python = &found.python;
    let facts = match python.found {
        true => format!("{} ({})", version(&python.version), path(&python.path)),
        false => "missing".to_owned(),
    };
    line(out, python.found && python.problem.is_none(), "Python", &facts)?;
    if python.found {
        for package in &python.packages {
            line(out, package.found, package.name, package.version.as_deref().unwrap_or("missing"))?;
        }
    }
    trouble(out, python.problem.as_deref(), python.next_step.as_deref())?;

    writeln!(out, "\nFonts for pictures")?;
    let fonts = &found.fonts;
    let files = match fonts.files {
        0 => "none; the built-in ones draw Latin letters".to_owned(),
        1 => "1 file".to_owned(),
        count => format!("{count} files"),
    };
    line(out, fonts.found, "system fonts", &files)?;
    line(out, fonts.cjk, "Chinese, Japanese", if fonts.cjk { "drawn" } else { "missing; drawn as boxes" })?;
    line(out, fonts.emoji, "emoji", if fonts.emoji { "in colour" } else { "no colour; a few in black and white" })?;
    trouble(out, fonts.problem.as_deref(), fonts.next_step.as_deref())
}

fn line(out: &mut impl Write, is_well: bool, name: &str, facts: &str) -> io::Result<()> {
    let (paint, mark) = if is_well { (GREEN, '✓') } else { (YELLOW, '–') };
    writeln!(out, "  {paint}{mark}{PLAIN} {name:<20} {facts}")
}

fn trouble(out: &mut impl Write, problem: Option<&str>, next_step: Option<&str>) -> io::Result<()> {
    if let Some(problem) = problem {
        writeln!(out, "    {:<20} {DIM}{problem}{PLAIN}", "")?;
    }
    match next_step {
        Some(step) => writeln!(out, "    {:<20} to do: {step}", ""),
        None => Ok(()),
    }
}
