//! `cove doctor`: what this machine has, seen and not guessed.
//!
//! Each wall was put up by a real worker and looked at from inside; Chrome and Python were started, fonts were drawn with.
//! All of it is asked at the same time, each with a deadline. Something that is missing is a finding with a next step,
//! never a failure: only the embedded engine, which is part of this binary, must work.

pub(crate) mod ask;
pub(crate) mod browser;
pub(crate) mod fonts;
mod print;
pub(crate) mod python;

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
    /// Whether it is the kernel that holds sandboxes to their memory, as `cove serve` would find it.
    memory_is_enforced: bool,
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
    let environment = args.python.or_else(|| python::usual_environment(data_dir.as_deref()?));
    let (chrome, agent_browser, python, fonts) = tokio::join!(
        browser::chrome(args.browser),
        browser::agent_browser(data_dir.as_deref()),
        python::python(environment.as_deref()),
        fonts::fonts(&engine),
    );
    let memory_is_enforced = cove_cgroup::counts_memory();
    let found = Findings { walls, trial, memory_is_enforced, chrome, agent_browser, python, fonts };
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

    /// The one command that brings what is missing and can be brought; `None`: nothing.
    fn next_step(&self) -> Option<&'static str> {
        let browser = !self.chrome.sandbox_works || self.agent_browser.problem.is_some();
        let lacks = [browser, !self.python.is_complete(), !self.fonts.missing().is_empty()];
        match lacks {
            [false, false, false] => None,
            [true, false, false] => Some("cove setup browser"),
            [false, true, false] => Some("cove setup python"),
            [false, false, true] => Some("cove setup fonts"),
            _ => Some("cove setup"),
        }
    }

    /// The same facts for programs. Names stay; new ones may come.
    fn to_json(&self) -> Value {
        json!({
            "ok": self.runs() && self.walls.missing().count() == 0,
            "version": env!("CARGO_PKG_VERSION"),
            "embedded": { "runs": self.runs(), "wall_ms": self.trial.usage.wall_ms, "walls": self.walls.walls },
            "sandboxes": { "memory_is_enforced": self.memory_is_enforced },
            "chrome": self.chrome,
            "agent_browser": self.agent_browser,
            "python": self.python,
            "fonts": self.fonts,
            "next_step": self.next_step(),
        })
    }
}
