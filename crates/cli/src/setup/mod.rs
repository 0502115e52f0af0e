//! `cove setup`: installs what this machine lacks, and says each thing before it does it.
//!
//! What is there is left alone, and counts as there only if it works: the same trials as `cove doctor`. Packages of the
//! system need root or `sudo`; everything else lies in the data folder, where only Cove looks. What cannot be had here is
//! told with what to copy where, so that a machine without a network can be set up by hand.

mod app_armor;
mod browser;
mod command;
mod container;
mod fonts;
mod node;
mod npm_shell;
mod python;
mod system;

use std::cell::OnceCell;
use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueEnum};

use crate::exit::Exit;
use crate::terminal::{DIM, GREEN, PLAIN, RED, YELLOW, note};

#[derive(Debug, ClapArgs)]
pub(crate) struct Setup {
    /// What to install
    #[arg(value_enum, default_value_t = Part::All)]
    part: Part,
    /// Data folder [default: COVE_DATA_DIR, then ~/.local/share/cove]
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Only say what would be done
    #[arg(long)]
    dry_run: bool,
}

/// What can be brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// Everything below that this machine lacks
    All,
    /// Chrome's headless shell and agent-browser
    Browser,
    /// A Python environment for sandboxes: IPython, NumPy, pandas, Pillow, matplotlib
    Python,
    /// Fonts for pictures: Latin, Chinese, Japanese, emoji
    Fonts,
    /// AppArmor profile that allows user namespaces (needed on Ubuntu)
    Apparmor,
    /// Print the seccomp profile for a container in which Cove makes sandboxes
    ContainerProfile,
}

/// Why something could not be brought, and what a person can do.
#[derive(Debug)]
struct Failure {
    why: String,
    /// Each is one way.
    instead: Vec<String>,
}

/// What the parts share.
struct Site {
    data_dir: PathBuf,
    dry_run: bool,
    /// What fetches packages of npm's; sought when it is needed.
    node: OnceCell<node::Node>,
}

impl Site {
    /// Says what is done next; `false`: it is only said.
    fn begin(&self, what: &str) -> bool {
        note!("setup: {what}");
        !self.dry_run
    }

    fn is_there(what: &str) {
        note!("{GREEN}✓{PLAIN} {what}");
    }
}

pub(crate) async fn setup(args: Setup) -> anyhow::Result<Exit> {
    let data_dir = match args.data_dir {
        Some(folder) => folder,
        None => cove_config::Config::default().data_dir()?,
    };
    let site = Site { data_dir: std::path::absolute(data_dir)?, dry_run: args.dry_run, node: OnceCell::new() };
    let mut exit = Exit::Ok;
    if args.part == Part::ContainerProfile {
        container::print()?;
        return Ok(Exit::Ok);
    }
    for part in [Part::Apparmor, Part::Browser, Part::Python, Part::Fonts] {
        if args.part != Part::All && args.part != part {
            continue;
        }
        let failures = match part {
            Part::Browser => vec![browser::chrome(&site).await, browser::agent_browser(&site).await],
            Part::Python => vec![python::python(&site).await],
            Part::Apparmor => vec![app_armor::app_armor(&site, args.part == Part::Apparmor).await],
            Part::Fonts | Part::All | Part::ContainerProfile => vec![fonts::fonts(&site).await],
        };
        // Pictures are drawn without more fonts, too: who has asked for everything gets what can be had.
        let is_needed = part != Part::Fonts || args.part == Part::Fonts;
        for failure in failures.into_iter().filter_map(Result::err) {
            let mark = if is_needed { format!("{RED}✗{PLAIN}") } else { format!("{YELLOW}–{PLAIN}") };
            note!("{mark} {}", failure.why);
            for way in &failure.instead {
                note!("    {DIM}or:{PLAIN} {way}");
            }
            if is_needed {
                exit = Exit::Host;
            }
        }
    }
    if exit == Exit::Ok && !args.dry_run {
        note!("setup: done; `cove doctor` shows what this machine has");
    }
    Ok(exit)
}
