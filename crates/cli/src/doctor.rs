//! `cove doctor`: what this machine has, seen and not guessed.
//!
//! Each wall was put up by a real worker and looked at from inside; the trial run at the end is a real run.

use std::io::Write as _;

use cove_core::{Engine as _, RunRequest, SessionOptions};
use cove_embedded::{EmbeddedEngine, WallState};
use serde_json::json;

use crate::args::Doctor;
use crate::engines;
use crate::exit::Exit;
use crate::terminal::{self, DIM, GREEN, PLAIN, RED, YELLOW, note};

pub(crate) async fn doctor(args: Doctor) -> anyhow::Result<Exit> {
    let engine = EmbeddedEngine::new(engines::embedded_options(&args.walls));
    let walls = match engine.walls().await {
        Ok(walls) => walls,
        Err(error) => {
            note!("{RED}error:{PLAIN} {error}");
            return Ok(Exit::Host);
        }
    };
    let mut session = engine.open(SessionOptions::one_shot()).await?;
    let report = session.run(&RunRequest { timeout_ms: 10_000, ..RunRequest::new("return 6 * 7") }).await;
    session.close().await?;
    let runs = report.result.as_ref().is_ok_and(|finished| finished.value == 42);
    let missing = walls.missing().count();
    // Whether it is the kernel that holds sandboxes to their memory, as `cove serve` would find it.
    let enforced = cove_cgroup::counts_memory();
    if args.json {
        let object = json!({
            "ok": runs && missing == 0,
            "version": env!("CARGO_PKG_VERSION"),
            "embedded": { "runs": runs, "wall_ms": report.usage.wall_ms, "walls": walls.walls },
            "sandboxes": { "memory_is_enforced": enforced },
        });
        terminal::json_line(&object)?;
        return Ok(if runs { Exit::Ok } else { Exit::Host });
    }
    let mut out = terminal::out();
    writeln!(out, "cove {}\n\nThe embedded engine's walls", env!("CARGO_PKG_VERSION"))?;
    for wall in &walls.walls {
        let (paint, mark) = match wall.state {
            WallState::Active => (GREEN, '✓'),
            WallState::Missing => (YELLOW, '–'),
        };
        writeln!(out, "  {paint}{mark}{PLAIN} {:<20} {}", wall.name.as_str(), wall.name.purpose())?;
        writeln!(out, "    {:<20} {DIM}{}{PLAIN}", "", wall.detail)?;
    }
    writeln!(out, "\nThe limits of sandboxes")?;
    if enforced {
        writeln!(out, "  {GREEN}✓{PLAIN} memory: enforced     {DIM}by a control group{PLAIN}")?;
    } else {
        writeln!(out, "  {YELLOW}–{PLAIN} {}", cove_cell::MEMORY_WATCHED)?;
        writeln!(
            out,
            "    {DIM}no control group that counts memory can be made here. To have one: run cove as root, or"
        )?;
        writeln!(
            out,
            "    `systemd-run --user --scope -p Delegate=yes cove serve`, or `Delegate=yes` in its unit{PLAIN}"
        )?;
    }
    let took = report.usage.wall_ms;
    match (runs, missing) {
        (false, _) => writeln!(out, "\n{RED}✗ a trial run failed{PLAIN}"),
        (true, 0) => writeln!(out, "\n{GREEN}✓ every wall stands{PLAIN}; a trial run took {took:.2} ms"),
        (true, n) => {
            writeln!(out, "\n{YELLOW}– {n} missing on this kernel{PLAIN}; `--strict` would refuse to start")
        }
    }?;
    Ok(if runs { Exit::Ok } else { Exit::Host })
}
