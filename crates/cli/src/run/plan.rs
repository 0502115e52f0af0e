//! What the arguments of `cove run` mean: code and input read, JSON parsed. Fails as wrong usage, before anything runs.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use cove_core::{Limits, RunRequest};
use cove_executor::{Runner, RunnerOptions};

use crate::args::Run;
use crate::setting::{self, Gallery};

use super::{print, source};

/// A run that is ready to go.
pub(super) struct Plan {
    pub(super) runner: Runner,
    pub(super) request: RunRequest,
    pub(super) view: View,
}

/// How its end is shown to people.
pub(super) struct View {
    pub(super) gallery: Gallery,
    /// What the user calls the code, in frames; `None` for standard input.
    pub(super) file: Option<String>,
}

pub(super) fn read(args: Run) -> anyhow::Result<Plan> {
    let (code, file) = if args.file == Path::new("-") {
        (source::read(std::io::stdin().lock(), "standard input")?, None)
    } else {
        (source::read_file(&args.file)?, Some(args.file.display().to_string()))
    };
    let input = args.input.as_deref().map(input).transpose()?;
    let limits = Limits { max_code_chars: 16 << 20, max_result_chars: 64 << 20, ..Limits::ONE_SHOT };
    let setting = setting::read(args.setting, limits)?;
    let request = RunRequest {
        input,
        engine: setting.choice,
        fallback: setting.fallback,
        last_value: true,
        timeout_ms: setting.limits.timeout_ms,
        max_operations: setting.limits.max_operations,
        ..RunRequest::new(code)
    };
    let runner = Runner::new(RunnerOptions {
        tools: setting.tools,
        embedded: Some(setting.embedded),
        browser: Some(setting.browser),
        pictures: setting.pictures,
        limits: setting.limits,
        imports: setting.imports,
        network: setting.network,
        // With --json everything comes at the end in one object; a person wants to see lines as they are written.
        log_sink: (!args.json).then(|| Arc::new(print::log_line) as _),
        ..RunnerOptions::default()
    });
    Ok(Plan { runner, request, view: View { gallery: setting.gallery, file } })
}

fn input(text: &str) -> anyhow::Result<serde_json::Value> {
    match text.strip_prefix('@') {
        Some("") => bail!("--input @FILE needs the name of a file"),
        Some(file) => serde_json::from_str(&source::read_file(Path::new(file)).context("--input")?)
            .with_context(|| format!("--input: {file} is not JSON")),
        None => serde_json::from_str(text).context("--input is not JSON (use @FILE to read it from a file)"),
    }
}
