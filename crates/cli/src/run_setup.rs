//! What the options that `cove run` and `cove repl` share mean: engines found, tools, modules, pictures, the network.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context as _;
use cove_artifacts::StoreLimits;
use cove_core::{Engine, EngineChoice, ImportPolicy, Limits, NetworkPolicy, ToolSet};
use cove_embedded::EmbeddedEngine;
use cove_executor::{PictureStore, Pictures};
use cove_files::{Workspace, tool_specs};

use crate::args::{EngineArg, SetupArgs};
use crate::engines;
use crate::run::source;
use crate::show::Wish;

/// What code runs in. Nothing of it has started yet.
pub(crate) struct RunSetup {
    pub(crate) choice: EngineChoice,
    pub(crate) fallback: bool,
    pub(crate) embedded: Arc<EmbeddedEngine>,
    pub(crate) browser: Arc<dyn Engine>,
    pub(crate) tools: ToolSet,
    pub(crate) imports: ImportPolicy,
    pub(crate) network: NetworkPolicy,
    pub(crate) pictures: Pictures,
    pub(crate) limits: Limits,
    pub(crate) gallery: Gallery,
}

/// Where a person finds the pictures, and how they are shown.
pub(crate) struct Gallery {
    pub(crate) folder: PathBuf,
    pub(crate) show: Wish,
}

/// Reads what was named. Fails as wrong usage, before anything runs.
pub(crate) fn read(args: SetupArgs, mut limits: Limits) -> anyhow::Result<RunSetup> {
    limits.timeout_ms = args.limits.timeout_ms.unwrap_or(limits.timeout_ms);
    limits.max_operations = args.limits.max_operations;
    if let Some(mib) = args.limits.memory_mb {
        limits.memory_bytes = mib << 20;
    }
    for folder in &args.font_dir {
        anyhow::ensure!(folder.is_dir(), "--font-dir {}: there is no such folder", folder.display());
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
    Ok(RunSetup {
        choice: match args.engine {
            EngineArg::Auto => EngineChoice::Auto,
            EngineArg::Embedded => EngineChoice::Embedded,
            EngineArg::Browser => EngineChoice::Browser,
        },
        fallback: !args.no_fallback,
        embedded: engines::embedded(&args.walls, args.font_dir, !args.no_system_fonts),
        browser: engines::browser(args.browser),
        tools: ToolSet::new(tools).map_err(anyhow::Error::msg)?,
        imports,
        network: NetworkPolicy {
            allow_hosts: args.allow_host,
            allow_private: args.allow_private,
            ..NetworkPolicy::default()
        },
        pictures: Pictures::Kept(Arc::new(PictureStore::at(&args.artifacts, StoreLimits::default()))),
        limits: limits.checked()?,
        gallery: Gallery { folder: args.artifacts, show: args.show },
    })
}
