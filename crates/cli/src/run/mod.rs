//! `cove run`: one file, one fresh world, one value.

pub(crate) mod print;
pub(crate) mod source;

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use cove_core::{Limits, RunRequest};
use cove_embedded::EmbeddedEngine;
use cove_executor::{Runner, RunnerOptions};

use crate::args::Run;
use crate::exit::Exit;
use crate::run_setup::{self, Gallery};
use crate::terminal::{PLAIN, RED, note};

pub(crate) async fn run(args: Run) -> anyhow::Result<Exit> {
    let json = args.json;
    args.raw.apply();
    let plan = match read(args) {
        Ok(plan) => plan,
        Err(error) => {
            note!("{RED}error:{PLAIN} {error:#}");
            return Ok(Exit::Usage);
        }
    };
    let mut report = plan.runner.run(plan.request).await;
    report.warnings.extend(missing_walls(&plan.embedded));
    let exit = Exit::of(&report);
    if json {
        print::as_json(&report)?;
    } else {
        print::for_people(&report, &plan.view)?;
    }
    Ok(exit)
}

/// Says that code ran behind fewer walls than Cove has.
fn missing_walls(engine: &EmbeddedEngine) -> Option<String> {
    let walls = engine.walls_now()?;
    let missing: Vec<&str> = walls.missing().map(|wall| wall.name.as_str()).collect();
    let told = "`cove doctor` says why; `--strict` refuses to run without them";
    (!missing.is_empty()).then(|| format!("walls that are missing on this machine: {}; {told}", missing.join(", ")))
}

/// A run that is ready to start.
struct Plan {
    embedded: Arc<EmbeddedEngine>,
    runner: Runner,
    request: RunRequest,
    view: View,
}

/// How its end is shown to people.
struct View {
    gallery: Gallery,
    /// What the user calls the code, in frames; `None` for standard input.
    file: Option<String>,
}

/// Reads what the arguments name. Fails as wrong usage, before anything runs.
fn read(args: Run) -> anyhow::Result<Plan> {
    let (code, file) = if args.file == Path::new("-") {
        (source::read(std::io::stdin().lock(), "standard input")?, None)
    } else {
        (source::read_file(&args.file)?, Some(args.file.display().to_string()))
    };
    let input = args.input.as_deref().map(input).transpose()?;
    let limits = Limits { max_code_chars: 16 << 20, max_result_chars: 64 << 20, ..Limits::ONE_SHOT };
    let setup = run_setup::read(args.setup, limits)?;
    let request = RunRequest {
        input,
        engine: setup.choice,
        fallback: setup.fallback,
        last_value: true,
        timeout_ms: setup.limits.timeout_ms,
        max_operations: setup.limits.max_operations,
        ..RunRequest::new(code)
    };
    let runner = Runner::new(RunnerOptions {
        tools: setup.tools,
        embedded: Some(Arc::clone(&setup.embedded) as _),
        browser: Some(setup.browser),
        pictures: setup.pictures,
        limits: setup.limits,
        imports: setup.imports,
        network: setup.network,
        // With --json everything comes at the end in one object; a person wants to see lines as they are written.
        log_sink: (!args.json).then(|| Arc::new(print::log_line) as _),
        ..RunnerOptions::default()
    });
    Ok(Plan { embedded: setup.embedded, runner, request, view: View { gallery: setup.gallery, file } })
}

fn input(text: &str) -> anyhow::Result<serde_json::Value> {
    match text.strip_prefix('@') {
        Some("") => bail!("--input @FILE needs the name of a file"),
        Some(file) => serde_json::from_str(&source::read_file(Path::new(file)).context("--input")?)
            .with_context(|| format!("--input: {file} is not JSON")),
        None => serde_json::from_str(text).context("--input is not JSON (use @FILE to read it from a file)"),
    }
}
