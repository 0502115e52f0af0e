//! What the arguments of `cove run` mean: files read, JSON parsed, engines found. Fails as wrong usage, before anything runs.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, bail};
use cove_artifacts::StoreLimits;
use cove_core::{EngineChoice, ImportPolicy, Limits, NetworkPolicy, RunRequest, ToolSet};
use cove_executor::{PictureStore, Pictures, Runner, RunnerOptions};
use cove_files::{Workspace, tool_specs};

use crate::args::{EngineArg, Run};
use crate::engines;
use crate::show::Wish;

use super::{print, source};

/// A run that is ready to go.
pub(super) struct Plan {
    pub(super) runner: Runner,
    pub(super) request: RunRequest,
    pub(super) view: View,
}

/// How its end is shown to people.
pub(super) struct View {
    pub(super) artifacts: PathBuf,
    pub(super) show: Wish,
    /// What the user calls the code, in frames; `None` for standard input.
    pub(super) file: Option<String>,
}

pub(super) fn read(args: Run) -> anyhow::Result<Plan> {
    let (code, file) = if args.file == Path::new("-") {
        (source::read(std::io::stdin().lock(), "standard input")?, None)
    } else {
        (source::read_file(&args.file)?, Some(args.file.display().to_string()))
    };
    let mut request = RunRequest::new(code);
    request.input = args.input.as_deref().map(input).transpose()?;
    request.fallback = !args.no_fallback;
    request.last_value = true;
    request.engine = match args.engine {
        EngineArg::Auto => EngineChoice::Auto,
        EngineArg::Embedded => EngineChoice::Embedded,
        EngineArg::Browser => EngineChoice::Browser,
    };
    let mut limits = Limits { max_code_chars: 16 << 20, max_result_chars: 64 << 20, ..Limits::ONE_SHOT };
    limits.timeout_ms = args.limits.timeout_ms.unwrap_or(limits.timeout_ms);
    (request.timeout_ms, request.max_operations) = (limits.timeout_ms, args.limits.max_operations);
    if let Some(mib) = args.limits.memory_mb {
        limits.memory_bytes = mib << 20;
    }
    let mut imports = ImportPolicy::default();
    for (name, path) in args.module {
        imports.modules.insert(name.clone(), source::read_file(&path).with_context(|| format!("module {name}"))?);
        imports.authorized.push(name);
    }
    let tools = match &args.workspace {
        Some(folder) => tool_specs(Arc::new(Workspace::open(folder)?)),
        None => Vec::new(),
    };
    let runner = Runner::new(RunnerOptions {
        tools: ToolSet::new(tools).map_err(anyhow::Error::msg)?,
        embedded: Some(engines::embedded(&args.walls, args.font_dir, !args.no_system_fonts)),
        browser: Some(engines::browser(args.browser)),
        pictures: Pictures::Kept(Arc::new(PictureStore::at(&args.artifacts, StoreLimits::default()))),
        limits: limits.checked()?,
        imports,
        network: NetworkPolicy { allow_hosts: args.allow_host, allow_private: args.allow_private },
        // With --json everything comes at the end in one object; a person wants to see lines as they are written.
        log_sink: (!args.json).then(|| Arc::new(print::log_line) as _),
        ..RunnerOptions::default()
    });
    Ok(Plan { runner, request, view: View { artifacts: args.artifacts, show: args.show, file } })
}

fn input(text: &str) -> anyhow::Result<serde_json::Value> {
    match text.strip_prefix('@') {
        Some("") => bail!("--input @FILE needs the name of a file"),
        Some(file) => serde_json::from_str(&source::read_file(Path::new(file)).context("--input")?)
            .with_context(|| format!("--input: {file} is not JSON")),
        None => serde_json::from_str(text).context("--input is not JSON (use @FILE to read it from a file)"),
    }
}
