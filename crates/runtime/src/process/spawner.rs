//! A thread that does nothing but start programs.
//!
//! Walls that a thread puts on are its own and its children's: the thread that starts guests carries theirs, and Ship's
//! other threads do not.

use std::io;
use std::sync::{Arc, mpsc};

use cove_cell::OomScore;
use cove_walls::process::kill;
use cove_walls::spawn::{Spawned, Start, block_signals, spawn};
use tokio::sync::oneshot;

use super::family::Register;
use super::{Mark, Program};

/// Called before a program is started.
pub(crate) type Before = Arc<dyn Fn() + Send + Sync>;

struct SpawnOrder {
    start: Start,
    mark: Option<Mark>,
    reply: oneshot::Sender<io::Result<Program>>,
}

/// The door to the thread.
#[derive(Debug)]
pub(super) struct Spawner {
    orders: mpsc::Sender<Option<SpawnOrder>>,
}

impl Spawner {
    /// Starts the thread. `prepare` runs on it before its first program, or [sooner](Self::get_ready), and if it fails, there is none. With a score, the
    /// kernel kills its programs first when memory runs out; `before` is called before each.
    pub(super) fn new(
        name: &str,
        register: Arc<Register>,
        score: Option<Arc<OomScore>>,
        before: Before,
        prepare: impl FnOnce() -> io::Result<()> + Send + 'static,
    ) -> io::Result<Self> {
        let (orders, inbox) = mpsc::channel::<Option<SpawnOrder>>();
        std::thread::Builder::new().name(name.to_owned()).spawn(move || {
            block_signals();
            let mut prepare = Some(prepare);
            let mut refusal: Option<String> = None;
            for order in inbox {
                if let Some(prepare) = prepare.take() {
                    refusal = prepare().err().map(|error| error.to_string());
                }
                let Some(SpawnOrder { start, mark, reply }) = order else { continue };
                if reply.is_closed() {
                    continue;
                }
                before();
                let started = match &refusal {
                    Some(refusal) => Err(io::Error::other(refusal.clone())),
                    None => register
                        .starting(|| make(score.as_deref(), start, mark))
                        .map(|started| Program::new(started, mark)),
                };
                // Whoever has gone meanwhile leaves a program that ends here.
                let _ = reply.send(started);
            }
        })?;
        Ok(Self { orders })
    }

    /// Prepares the thread now, while others do something else. Nobody waits for it.
    pub(super) fn get_ready(&self) {
        let _ = self.orders.send(None);
    }

    /// Starts a program; who stops waiting for it ends it.
    pub(super) async fn start(&self, start: Start, mark: Option<Mark>) -> io::Result<Program> {
        let gone = || io::Error::other("the thread that starts programs is gone");
        let (reply, started) = oneshot::channel();
        self.orders.send(Some(SpawnOrder { start, mark, reply })).map_err(|_| gone())?;
        started.await.map_err(|_| gone())?
    }
}

/// Makes the process, with a guest's score.
fn make(score: Option<&OomScore>, start: Start, mark: Option<Mark>) -> io::Result<Spawned> {
    let Some(score) = score.filter(|score| !score.must_rest()) else {
        return spawn(start, mark.map(Mark::limits), None);
    };
    let raised = score.raise()?;
    let spawned = spawn(start, mark.map(Mark::limits), Some(score.lower()));
    drop(raised);
    let spawned = spawned?;
    score.check(spawned.pid).inspect_err(|_| kill(&spawned.handle))?;
    Ok(spawned)
}
