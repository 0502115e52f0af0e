//! One Python process: started, spoken to, ended.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use cove_runtime_api::{OutputStream, PythonResult};
use futures_util::FutureExt;
use rustix::process::Signal;
use serde::{Deserialize, Serialize};

use super::IPythonUse;
use crate::process::{Capture, End, Family, Hearer, Live, Program};
use crate::ship::causes::Causes;
use crate::ship::frames::{FramedProcess, FramedStart, Frames};
use crate::ship::fs::workspace::GuestFiles;

/// The Python side.
const LOOP: &str = concat!(include_str!("loop.py"), include_str!("zygote.py"));

/// Reads the loop itself from the socket: on a command line it would show in every `ps`.
const BOOT: &str = "import os,sys,struct
f=int(sys.argv[1])
n=struct.unpack('>I',os.read(f,4))[0]
b=b''
while len(b)<n:b+=os.read(f,n-len(b)) or exit()
exec(compile(b,'<cove>','exec'),{'__name__':'cove'})";

/// What an interpreter needs to start.
#[derive(Debug, Clone)]
pub(crate) struct Recipe {
    pub(crate) python: String,
    pub(crate) env: Vec<(String, String)>,
    pub(crate) ipython: IPythonUse,
    /// Modules to import ahead of the first cell; `None`: Python starts with its first cell.
    pub(crate) preload: Option<Vec<String>>,
    pub(crate) family: Arc<Family>,
    pub(crate) workspace: Arc<GuestFiles>,
    pub(crate) output_limit_bytes: usize,
    pub(crate) processes: Option<u64>,
    /// Who knows why it was ended by force.
    pub(crate) causes: Causes,
}

/// A live interpreter.
pub(super) struct Interpreter {
    pub(super) program: Program,
    pub(super) frames: Frames,
    pub(super) out: Capture,
    pub(super) err: Capture,
    pub(super) version: String,
    pub(super) ipython: bool,
}

/// What a new process is to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// It runs cells.
    Worker,
    /// It imports the recipe's modules and waits to be copied.
    Zygote,
}

impl Role {
    fn as_str(self) -> &'static str {
        match self {
            Self::Worker => "worker",
            Self::Zygote => "zygote",
        }
    }
}

/// Its first word.
#[derive(Debug, Deserialize)]
pub(super) struct Ready {
    pub(super) version: String,
    pub(super) zygote: bool,
    pub(super) pid: i32,
}

/// A piece of code, as the loop is sent it.
#[derive(Debug, Serialize)]
pub(crate) struct Cell {
    pub(super) code: String,
    /// Environment variables for this cell alone.
    pub(super) env: BTreeMap<String, String>,
    /// Whether the value of the last expression is not printed.
    pub(super) value_apart: bool,
}

/// The loop's answer to one cell.
#[derive(Debug, Deserialize)]
pub(super) struct CellAnswer {
    pub(super) count: u64,
    pub(super) error: Option<PythonError>,
    pub(super) images: Vec<String>,
    #[serde(default)]
    pub(super) results: Vec<PythonResult>,
    #[serde(default)]
    pub(super) ipython: bool,
}

#[derive(Debug, Deserialize)]
pub(super) struct PythonError {
    pub(super) name: String,
    #[serde(default)]
    pub(super) message: String,
    pub(super) traceback: String,
}

/// What happens while a cell runs or none does.
pub(super) enum Event {
    Answer(io::Result<CellAnswer>),
    Ended(End),
    Output,
}

impl Interpreter {
    /// Starts one that runs cells.
    pub(super) async fn start(recipe: &Recipe) -> io::Result<Self> {
        Ok(Self::launch(recipe, Role::Worker).await?.0)
    }

    /// Starts Python and waits for its first word.
    pub(super) async fn launch(recipe: &Recipe, role: Role) -> io::Result<(Self, Ready)> {
        let ahead = recipe.preload.as_deref().unwrap_or_default().join(",");
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        let wanted = FramedStart {
            program: recipe.python.clone(),
            args: [words(&["-I", "-u", "-c", BOOT]), words(&[recipe.ipython.as_str(), role.as_str(), &ahead])],
            env: recipe.env.clone(),
            workspace: &recipe.workspace,
            processes: recipe.processes,
            output_bytes: [recipe.output_limit_bytes; 2],
        };
        let mut started = FramedProcess::start(wanted, |start| recipe.family.start(start)).await?;
        let ready: Ready = started.first(Some(LOOP.as_bytes())).await?;
        let FramedProcess { program, frames, mut out, err } = started;
        out.drain();
        Ok((Self { program, frames, out, err, version: ready.version.clone(), ipython: false }, ready))
    }

    /// Hands over a cell.
    pub(super) async fn send(&mut self, cell: &Cell) -> io::Result<()> {
        let body = serde_json::to_vec(cell)?;
        self.frames.writer.send(&body).await
    }

    /// Who else hears what it writes from now on.
    pub(super) fn tell(&mut self, live: Option<&Live>) {
        self.out.tell(live.map(|live| Hearer::Live(live.clone(), OutputStream::Stdout)));
        self.err.tell(live.map(|live| Hearer::Live(live.clone(), OutputStream::Stderr)));
    }

    /// Waits for whatever comes next. May be dropped and called again.
    pub(super) async fn next(&mut self) -> Event {
        tokio::select! {
            biased;
            answer = self.frames.reader.receive() => {
                self.drain();
                // A broken socket usually means that the process ends; how it ended says more than that it broke.
                match answer {
                    Err(_) => Event::Ended(self.end().await),
                    answer => Event::Answer(answer),
                }
            }
            end = self.program.ended() => {
                self.drain();
                Event::Ended(end)
            }
            () = self.out.fill() => Event::Output,
            () = self.err.fill() => Event::Output,
        }
    }

    /// Whether nobody has killed it or spoken for it while it was waiting.
    pub(super) fn is_untouched(&mut self) -> bool {
        // Bounded, so that one that writes for ever does not keep us here.
        for _ in 0..64 {
            match self.next().now_or_never() {
                None => {
                    self.out.kept.take();
                    self.err.kept.take();
                    return true;
                }
                Some(Event::Output) => {}
                Some(Event::Answer(_) | Event::Ended(_)) => return false,
            }
        }
        false
    }

    fn drain(&mut self) {
        self.out.drain();
        self.err.drain();
    }

    /// As Ctrl-C would.
    pub(super) fn interrupt(&self) {
        self.program.signal(Signal::INT);
    }

    /// Ends the process and everything it has started, at once.
    pub(super) async fn kill(&mut self) {
        self.program.end_tree().await;
        self.drain();
    }

    /// Ends the process and everything it has started; how it ended, if it was ending anyway.
    pub(super) async fn end(&mut self) -> End {
        // Long enough for a process that is ending anyway to say how.
        let natural = tokio::time::timeout(Duration::from_millis(50), self.program.ended()).await;
        let forced = self.program.end_tree().await.end;
        self.drain();
        natural.unwrap_or(forced)
    }
}
