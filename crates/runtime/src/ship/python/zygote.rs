//! The zygote: an interpreter with its modules imported that runs no cell, and is copied for each life of the kernel.
//!
//! A copy is there in milliseconds and shares its memory with the original; importing numpy and matplotlib again takes
//! most of a second and 60 MB. It lives inside the walls of its one sandbox and serves nobody else. Guests have its user
//! and may kill or stop it: then the next copy costs a start, and nothing else is lost.

use std::io;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use rustix::process::Signal;

use super::interpreter::{Interpreter, Ready, Recipe, Role};
use crate::process::{Capture, Family, Mark, Program};
use crate::ship::frames::Frames;

/// A copy takes a few milliseconds; a zygote that needs this long is not well, and starting another is the cure.
const COPY_LIMIT: Duration = Duration::from_secs(5);

/// An interpreter that waits to be copied.
pub(super) struct Zygote {
    program: Program,
    mark: Mark,
    copies: u64,
    frames: Frames,
}

/// What comes of a start that was to be a zygote.
pub(super) enum Started {
    Zygote(Zygote),
    /// Something that it imported keeps threads, of which a copy would have none: it runs the cells itself.
    Interpreter(Box<Interpreter>),
}

impl Zygote {
    /// Starts Python and imports what the recipe names.
    pub(super) async fn start(recipe: &Recipe) -> io::Result<Started> {
        let (started, ready) = Interpreter::launch(recipe, Role::Zygote).await?;
        if !ready.zygote {
            return Ok(Started::Interpreter(Box::new(started)));
        }
        let Interpreter { program, frames, out, err, .. } = started;
        let mark = program.mark().ok_or(io::ErrorKind::InvalidInput)?;
        // What its modules say later on is nobody's output.
        out.forget();
        err.forget();
        Ok(Started::Zygote(Self { program, mark, copies: 0, frames }))
    }

    /// Whether it lives.
    pub(super) fn is_alive(&mut self) -> bool {
        self.program.ended().now_or_never().is_none()
    }

    /// A copy that is wanted now.
    pub(super) async fn copy_now(&mut self, recipe: &Recipe) -> io::Result<Interpreter> {
        self.copy(recipe).await?.arrive().await
    }

    /// Begins a copy: an interpreter as fresh as if it had just been started. A zygote that fails here is to be ended.
    pub(super) async fn copy(&mut self, recipe: &Recipe) -> io::Result<PendingCopy> {
        if !self.is_alive() {
            return Err(io::Error::other("it has ended"));
        }
        let (frames, line) = Frames::pair()?;
        let (out, output) = Capture::open(recipe.output_limit_bytes)?;
        let (err, error) = Capture::open(recipe.output_limit_bytes)?;
        let mark = self.mark.of_copy(self.copies);
        self.copies += 1;
        // A guest may have stopped it.
        self.program.signal(Signal::CONT);
        let word = mark.limits().map(u64::to_ne_bytes).concat();
        let sent = self.frames.writer.pass(&word, [line.as_fd(), output.as_fd(), error.as_fd()]);
        tokio::time::timeout(COPY_LIMIT, sent).await.map_err(late)??;
        // The ends that were passed are dropped here: from now on they are the copy's alone.
        Ok(PendingCopy { frames, out, err, mark, family: Arc::clone(&recipe.family) })
    }
}

/// A copy on its way.
pub(super) struct PendingCopy {
    frames: Frames,
    out: Capture,
    err: Capture,
    mark: Mark,
    family: Arc<Family>,
}

impl PendingCopy {
    /// Waits until it is there. If it does not come, its zygote is to be ended.
    pub(super) async fn arrive(self) -> io::Result<Interpreter> {
        tokio::time::timeout(COPY_LIMIT, self.unhurried()).await.unwrap_or_else(|elapsed| Err(late(elapsed)))
    }

    async fn unhurried(self) -> io::Result<Interpreter> {
        let Self { mut frames, out, err, mark, family } = self;
        let ready: Ready = frames.reader.receive().await?;
        let program = family.adopt(ready.pid, mark)?;
        let mut copy = Interpreter { program, frames, out, err, version: ready.version, ipython: false };
        if copy.is_untouched() {
            Ok(copy)
        } else {
            Err(io::Error::other("guest code changed the preloaded interpreter"))
        }
    }
}

fn late(_: tokio::time::error::Elapsed) -> io::Error {
    io::Error::other(format!("no response within {COPY_LIMIT:?}"))
}
