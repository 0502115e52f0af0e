//! What was typed. What it means is decided in each command's own file.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};

/// What people want first.
const FIRST: &str = "\
Five things to begin with:
  cove run hello.js                        run JavaScript or TypeScript in a sandboxed process
  cove setup                               install what this machine lacks: a browser, Python packages
  cove browse 'open http://localhost:3000' 'screenshot page.png'
                                           drive a browser by command
  cove serve                               sandboxes with Python, a shell, files and a browser
  cove mcp                                 all of it as tools for an agent";

/// As usual, with those before the list of all commands.
const TEMPLATE: &str = "{about-with-newline}\n{before-help}{usage-heading} {usage}\n\n{all-args}{after-help}";

/// A sheltered place for the code that AI agents write.
#[derive(Debug, Parser)]
#[command(name = "cove", version, about, max_term_width = 100, arg_required_else_help = true)]
#[command(before_help = FIRST, help_template = TEMPLATE)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a JavaScript or TypeScript file in a sandboxed process and print its value as JSON
    Run(Run),
    /// Keep a session open, run what you type and show its values as Node does
    Repl(Repl),
    /// Read, write, edit and search files, confined to one folder
    Files(crate::files::Files),
    /// Drive a browser with commands: open pages, read them, click, fill, take screenshots
    Browse(crate::browse::Browse),
    /// Serve sandboxes over HTTP (Bay)
    Serve(crate::serve::Serve),
    /// Serve tools for agents (Model Context Protocol), over standard streams or HTTP
    Mcp(crate::mcp::Mcp),
    /// Create sandboxes, run code in them and copy files: a client of `cove serve`
    Sandbox(crate::sandbox::Sandbox),
    /// List, approve or deny tool calls that wait for a person
    Approvals(crate::approvals::Approvals),
    /// Open the page of a running `cove serve` in a browser, logged in
    Open(crate::open::Open),
    /// Print the OpenAPI document of `cove serve`
    Openapi,
    /// Serve Python, shell, files and a terminal for one sandbox (the work runtime)
    Ship(crate::runtimes::Ship),
    /// Serve browser commands for one sandbox (the browser runtime)
    Gull(crate::runtimes::Gull),
    /// Join a Pod's runtime with Bay, for the Kubernetes driver
    #[command(hide = true)]
    Line(crate::runtimes::Line),
    /// Check what this machine has: sandboxing features, Chrome, agent-browser, Python, fonts
    Doctor(Doctor),
    /// Install what this machine lacks: a browser, a Python environment, fonts
    Setup(crate::setup::Setup),
    /// Print the version; with --verbose, every part that is found here
    Version(crate::version::Version),
    /// Print shell completions
    Completions {
        /// Which shell
        shell: clap_complete::Shell,
    },
    /// Write the manual pages of all commands into a folder
    Man {
        /// The folder; it must exist
        dir: PathBuf,
    },
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Run {
    /// The file, or `-` for standard input. Its text is a function body: `return` gives the value
    pub(crate) file: PathBuf,
    /// The variable `input`: JSON, or `@FILE` to read it from a file
    #[arg(long, value_name = "JSON|@FILE")]
    pub(crate) input: Option<String>,
    #[command(flatten)]
    pub(crate) setup: SetupArgs,
    /// Print one JSON object with result, images, logs, engine and usage
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) raw: RawArg,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Repl {
    #[command(flatten)]
    pub(crate) setup: SetupArgs,
    #[command(flatten)]
    pub(crate) raw: RawArg,
}

/// What code runs in and what it may reach: the same for one file and for a session.
#[derive(Debug, ClapArgs)]
pub(crate) struct SetupArgs {
    /// Which engine runs the code
    #[arg(long, value_enum, default_value_t = EngineArg::Auto)]
    pub(crate) engine: EngineArg,
    /// Fail instead of falling back when the requested engine is missing
    #[arg(long)]
    pub(crate) no_fallback: bool,
    /// Path of the browser [default: COVE_BROWSER, then the usual places]
    #[arg(long, value_name = "PATH")]
    pub(crate) browser: Option<PathBuf>,
    /// Allow `fetch` to reach this host: `example.com`, `*.example.com`, `example.com:8443`; may be repeated
    #[arg(long, value_name = "HOST")]
    pub(crate) allow_host: Vec<String>,
    /// Allow this loopback or private address for an allowed host; may be repeated
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) allow_private: Vec<String>,
    /// Folder with additional fonts for canvas text; may be repeated
    #[arg(long, value_name = "DIR")]
    pub(crate) font_dir: Vec<PathBuf>,
    /// Ignore the machine's own fonts, so that pictures are the same on every machine
    #[arg(long)]
    pub(crate) no_system_fonts: bool,
    /// Folder for pictures that the code draws
    #[arg(long, value_name = "DIR", default_value = "artifacts")]
    pub(crate) artifacts: PathBuf,
    /// Show pictures in the terminal: their paths, and the pictures themselves where the terminal can
    #[arg(long, value_enum, value_name = "HOW", default_value_t = crate::show::Wish::Auto)]
    pub(crate) show: crate::show::Wish,
    /// Give the code the file tools `read`, `write`, `edit`, `grep`, `find`, `ls` on this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,
    /// Make a module importable: `import("NAME")` gives what FILE exports; may be repeated
    #[arg(long, value_name = "NAME=FILE", value_parser = module)]
    pub(crate) module: Vec<(String, PathBuf)>,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    #[command(flatten)]
    pub(crate) walls: WallArgs,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Doctor {
    /// Print the same facts as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Path of the browser to look at [default: COVE_BROWSER, then the usual places]
    #[arg(long, value_name = "PATH")]
    pub(crate) browser: Option<PathBuf>,
    /// Python environment to check (the server's `driver.local.python`) [default: the one of `cove setup`, then the system's]
    #[arg(long, value_name = "DIR")]
    pub(crate) python: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) walls: WallArgs,
}

#[derive(Debug, Clone, ClapArgs)]
pub(crate) struct LimitArgs {
    /// Time limit of a run, in milliseconds
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..=86_400_000))]
    pub(crate) timeout_ms: Option<u64>,
    /// Maximum number of loop iterations
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1 << 50))]
    pub(crate) max_operations: Option<u64>,
    /// Memory limit of the code, in MiB
    #[arg(long, value_name = "MIB", value_parser = clap::value_parser!(u64).range(4..=16_384))]
    pub(crate) memory_mb: Option<u64>,
}

#[derive(Debug, Clone, ClapArgs)]
pub(crate) struct WallArgs {
    /// Refuse to start if this kernel lacks one of the sandboxing features
    #[arg(long)]
    pub(crate) strict: bool,
}

#[derive(Debug, Clone, ClapArgs)]
pub(crate) struct RawArg {
    /// Pass escape sequences in the output to the terminal; otherwise only colours are passed
    #[arg(long, global = true)]
    pub(crate) raw: bool,
}

impl RawArg {
    pub(crate) fn apply(&self) {
        if self.raw {
            crate::terminal::pass_everything();
        }
    }
}

/// Which engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum EngineArg {
    /// Embedded, unless the program needs a feature that only a browser has
    Auto,
    /// The hardened engine inside this binary
    Embedded,
    /// Headless Chrome; `chrome` is the same
    #[value(alias = "chrome")]
    Browser,
}

fn module(text: &str) -> Result<(String, PathBuf), String> {
    match text.split_once('=') {
        Some((name, file)) if !name.is_empty() && !file.is_empty() => Ok((name.to_owned(), file.into())),
        _ => Err("expected NAME=FILE".to_owned()),
    }
}
