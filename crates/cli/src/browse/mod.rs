//! `cove browse`: the browser by command, from the command line.
//!
//! Without `--session` a browser lives as long as this command. With it, a server of our own keeps the browser between
//! calls; see `session.rs`. Which hosts it reaches is the person's word: those named by `--allow-host`, or, where none is,
//! those that the commands themselves open.

mod hosts;
mod print;
mod server;
mod session;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use clap::Args as ClapArgs;
use cove_core::{Deadline, NetworkPolicy};
use cove_gull::{Gull, GullOptions};
use cove_runtime_api::{BrowserAnswer, EXIT_REFUSED};

use crate::exit::Exit;
use session::Session;

#[derive(Debug, Clone, ClapArgs)]
pub(crate) struct Browse {
    /// Commands to run, one per argument: 'open http://localhost:3000' 'snapshot -i' 'click @e2'
    #[arg(required = true, value_name = "COMMAND")]
    commands: Vec<String>,
    /// Keep the browser between calls under this name; the command `close` ends it
    #[arg(long, value_name = "NAME")]
    session: Option<String>,
    /// Folder for screenshots, downloads and cookies
    #[arg(long, value_name = "DIR", default_value = "workspace")]
    workspace: PathBuf,
    /// Allow pages from this host; may be repeated [default: the hosts that the commands open]
    #[arg(long, value_name = "HOST")]
    allow_host: Vec<String>,
    /// Allow pages from this loopback or private address, as ADDRESS or ADDRESS:PORT; may be repeated
    #[arg(long, value_name = "ADDRESS")]
    allow_private: Vec<String>,
    /// Path of the browser [default: COVE_BROWSER, then the usual places]
    #[arg(long, value_name = "PATH")]
    browser: Option<PathBuf>,
    /// Time limit of each command, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 30_000, value_parser = clap::value_parser!(u64).range(1000..=300_000))]
    timeout_ms: u64,
    /// End the session after this many seconds without use
    #[arg(long, value_name = "SECONDS", default_value_t = 900, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    idle_s: u64,
    /// Continue after a failed command
    #[arg(long)]
    keep_going: bool,
    /// Print all answers as one JSON object
    #[arg(long)]
    json: bool,
    /// Be the server of a session: its folder
    #[arg(long, hide = true)]
    serve: Option<PathBuf>,
    /// The process with which the server ends
    #[arg(long, hide = true)]
    leader: Option<i32>,
}

impl Browse {
    fn options(&self, network: NetworkPolicy) -> GullOptions {
        let name = self.session.clone().unwrap_or_else(|| "browse".to_owned());
        let mut options = GullOptions::new(&self.workspace, name);
        options.network = network;
        options.browser.clone_from(&self.browser);
        options
    }
}

/// The browser of this call.
enum BrowseTarget {
    Own(Gull),
    Kept(Box<Session>),
}

impl BrowseTarget {
    async fn exec(&self, cmd: &str, deadline: Deadline) -> anyhow::Result<BrowserAnswer> {
        match self {
            Self::Own(gull) => Ok(gull.exec(cmd, deadline).await),
            Self::Kept(session) => session.exec(cmd, deadline).await,
        }
    }
}

/// One command and its answer.
struct Step {
    cmd: String,
    answer: BrowserAnswer,
    took: Duration,
}

pub(crate) async fn browse(args: Browse) -> anyhow::Result<Exit> {
    if let Some(folder) = args.serve.clone() {
        return server::serve(&args, &folder).await;
    }
    let network = hosts::wished(&args.commands, &args.allow_host, &args.allow_private);
    std::fs::create_dir_all(&args.workspace).with_context(|| args.workspace.display().to_string())?;
    let args = Browse { workspace: args.workspace.canonicalize()?, ..args };
    let (target, workspace) = match &args.session {
        None => (BrowseTarget::Own(Gull::start(args.options(network)).await?), args.workspace.clone()),
        Some(name) => {
            let session = Session::join(name, &args, network).await?;
            let workspace = session.workspace().to_owned();
            (BrowseTarget::Kept(Box::new(session)), workspace)
        }
    };
    let mut steps: Vec<Step> = Vec::new();
    let mut exit = Exit::Ok;
    for cmd in &args.commands {
        let begin = Instant::now();
        let mut answer = target.exec(cmd, Deadline::after(Duration::from_millis(args.timeout_ms))).await?;
        print::say_real_names(&mut answer, &workspace);
        if exit == Exit::Ok {
            exit = exit_of(&answer);
        }
        let step = Step { cmd: cmd.clone(), answer, took: begin.elapsed() };
        if !args.json {
            print::for_people(&step)?;
        }
        let failed = step.answer.exit_code != 0;
        steps.push(step);
        if failed && !args.keep_going {
            break;
        }
    }
    let closes = args.commands.get(steps.len().saturating_sub(1)).is_some_and(|cmd| is_close(cmd));
    match target {
        BrowseTarget::Own(gull) => gull.close().await,
        BrowseTarget::Kept(session) if closes => session.end().await?,
        BrowseTarget::Kept(_) => {}
    }
    if args.json {
        print::as_json(&steps, args.session.as_deref(), &workspace)?;
    }
    Ok(exit)
}

fn is_close(cmd: &str) -> bool {
    matches!(cmd.trim().trim_start_matches("agent-browser").trim(), "close" | "quit" | "exit")
}

fn exit_of(answer: &BrowserAnswer) -> Exit {
    match answer.exit_code {
        0 => Exit::Ok,
        EXIT_REFUSED => Exit::Refused,
        code if code < 0 => Exit::Deadline,
        _ => Exit::Guest,
    }
}
