//! `cove doctor`: what this machine has, seen and not guessed.
//!
//! Each wall was put up by a real worker, and by a real sandbox, and looked at from inside; Chrome and Python were started,
//! fonts were drawn with.
//! All of it is asked at the same time, each with a deadline. Something that is missing is a finding with a next step,
//! never a failure: only the embedded engine, which is part of this binary, must work.

pub(crate) mod ask;
pub(crate) mod browser;
pub(crate) mod fonts;
mod print;
pub(crate) mod python;
pub(crate) mod sandboxes;

use cove_cell::Blocker;
use cove_core::{Engine as _, RunReport, RunRequest, SessionOptions};
use cove_embedded::{EmbeddedEngine, WallReport};
use serde_json::{Value, json};

use crate::args::Doctor;
use crate::engines;
use crate::exit::Exit;
use crate::terminal::{self, PLAIN, RED, note};

/// Everything that was found.
struct Findings {
    walls: WallReport,
    trial: RunReport,
    sandboxes: sandboxes::Sandboxes,
    chrome: browser::Chrome,
    agent_browser: browser::AgentBrowser,
    python: python::Python,
    fonts: fonts::Fonts,
}

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
    let trial = session.run(&RunRequest { timeout_ms: 10_000, ..RunRequest::new("return 6 * 7") }).await;
    session.close().await?;
    let data_dir = cove_workspace::data_dir();
    let environment = cove_config::python_environment(args.python.as_deref(), data_dir.as_deref());
    let (sandboxes, chrome, agent_browser, python, fonts) = tokio::join!(
        sandboxes::sandboxes(),
        browser::chrome(args.browser),
        browser::agent_browser(data_dir.as_deref()),
        python::python(environment.as_deref()),
        fonts::fonts(&engine),
    );
    let mut chrome = chrome;
    if chrome.found && !chrome.sandbox_works && sandboxes.blocker.is_some() {
        // Its sandbox is made of the same: another browser would not help.
        chrome.next_step.clone_from(&sandboxes.next_step);
    }
    let found = Findings { walls, trial, sandboxes, chrome, agent_browser, python, fonts };
    if args.json {
        terminal::json_line(&found.to_json())?;
    } else {
        print::for_people(&found)?;
    }
    Ok(if found.runs() { Exit::Ok } else { Exit::Host })
}

impl Findings {
    /// Whether the trial run in the embedded engine gave what it should.
    fn runs(&self) -> bool {
        self.trial.result.as_ref().is_ok_and(|finished| finished.value == 42)
    }

    /// The one command that installs what is missing and can be installed; `None`: nothing.
    fn next_step(&self) -> Option<String> {
        let blocked = self.chrome.found && self.sandboxes.blocker.is_some();
        let parts = [
            (self.sandboxes.blocker == Some(Blocker::AppArmor), "apparmor"),
            (!(self.chrome.sandbox_works || blocked) || self.agent_browser.problem.is_some(), "browser"),
            (!self.python.is_complete(), "python"),
            (!self.fonts.missing().is_empty(), "fonts"),
        ];
        let lacks: Vec<&str> = parts.into_iter().filter(|(lacks, _)| *lacks).map(|(_, part)| part).collect();
        match lacks[..] {
            [] => None,
            [part] => Some(format!("cove setup {part}")),
            _ => Some("cove setup".to_owned()),
        }
    }

    /// The same facts for programs. Names stay; new ones may come.
    fn to_json(&self) -> Value {
        json!({
            "ok": self.runs() && self.walls.missing().count() == 0,
            "version": env!("CARGO_PKG_VERSION"),
            "embedded": { "runs": self.runs(), "wall_ms": self.trial.usage.wall_ms, "walls": self.walls.walls },
            "sandboxes": self.sandboxes,
            "chrome": self.chrome,
            "agent_browser": self.agent_browser,
            "python": self.python,
            "fonts": self.fonts,
            "next_step": self.next_step(),
        })
    }
}
