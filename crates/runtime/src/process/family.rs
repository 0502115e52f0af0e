//! All programs of one Ship: who starts them, and who is told of their end.

use std::collections::HashMap;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cove_cell::{GuestWalls, OomScore};
use cove_walls::spawn::{Spawned, Start, Whose, is_child, mark_of, reap};
use cove_walls::take_usual_turns;
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::oneshot;

use super::spawner::{Before, Spawner};
use super::tree::Tree;
use super::{Mark, Program};

/// Ended processes that are reaped in one go: a fork bomb's are many, and Ship has other things to do.
const MAX_REAPED: usize = 512;

/// How far this process is responsible for others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rank {
    /// Process 1 of a sandbox with walls: all orphans fall to it, and guests get walls of their own.
    Init,
    /// A program of its own, to which orphans fall.
    Alone,
    /// A part of some other program, whose children are not ours.
    Part,
}

/// A program that was just started, and how its end will be told.
#[derive(Debug)]
pub(super) struct Registered {
    pub(super) process: Spawned,
    pub(super) status: oneshot::Receiver<i32>,
}

/// Who waits for whose end.
#[derive(Debug, Default)]
pub(super) struct Register(Mutex<Book>);

#[derive(Debug, Default)]
struct Book {
    waiting: HashMap<i32, oneshot::Sender<i32>>,
    /// How many are between their start and their entry here.
    starting: usize,
    /// Who ended meanwhile, and how; kept only as long as somebody is starting.
    early: HashMap<i32, i32>,
}

impl Register {
    fn book(&self) -> MutexGuard<'_, Book> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a program and enters it; one that ends in between is not lost.
    pub(super) fn starting(&self, spawn: impl FnOnce() -> io::Result<Spawned>) -> io::Result<Registered> {
        self.book().starting += 1;
        // Not locked meanwhile: making a process may take long, and Ship must not wait for it.
        let spawned = spawn();
        let mut book = self.book();
        book.starting -= 1;
        let registered = spawned.map(|process| {
            let (told, status) = oneshot::channel();
            match book.early.remove(&process.pid) {
                Some(end) => drop(told.send(end)),
                None => drop(book.waiting.insert(process.pid, told)),
            }
            Registered { process, status }
        });
        if book.starting == 0 {
            book.early.clear();
        }
        registered
    }

    fn ended(&self, pid: i32, status: i32) {
        let mut book = self.book();
        match book.waiting.remove(&pid) {
            Some(told) => drop(told.send(status)),
            None if book.starting > 0 => drop(book.early.insert(pid, status)),
            None => {}
        }
    }

    /// Reaps what has ended; `true`: there may be more.
    fn reap_ended(&self, rank: Rank) -> bool {
        if rank == Rank::Part {
            let known: Vec<_> = self.book().waiting.keys().copied().collect();
            for (pid, status) in known.into_iter().filter_map(|pid| reap(Whose::Child(pid))) {
                self.ended(pid, status);
            }
            return false;
        }
        for _ in 0..MAX_REAPED {
            let Some((pid, status)) = reap(Whose::Any) else { return false };
            self.ended(pid, status);
        }
        true
    }
}

/// The processes that Ship has started.
#[derive(Debug)]
pub(crate) struct Family {
    /// Starts what guests run.
    guests: Spawner,
    /// Starts what serves guests: they can neither signal nor trace it where the kernel knows the rule for that.
    own: Spawner,
    register: Arc<Register>,
    first: u64,
    next: AtomicU64,
    rank: Rank,
}

impl Family {
    /// An empty family whose ended processes are reaped by a task of the current runtime. `score` makes all of it the first to be
    /// killed when memory runs out; none where the kernel does not let us choose. `before` is called before each member.
    pub(crate) fn found(
        rank: Rank,
        score: Option<OomScore>,
        before: Before,
        walls: GuestWalls,
    ) -> io::Result<Arc<Self>> {
        let (register, score) = (Arc::new(Register::default()), score.map(Arc::new));
        // Ship may have short turns; what guests' code runs in has not.
        let usual = || {
            take_usual_turns(0);
            Ok(())
        };
        let own = Spawner::new("own-programs", Arc::clone(&register), score.clone(), Arc::clone(&before), usual)?;
        let walls = move || if rank == Rank::Init { walls.put_on() } else { Ok(()) };
        let guests = Spawner::new("guests-programs", Arc::clone(&register), score, before, walls)?;
        let first = Mark::first_program()?;
        let family = Arc::new(Self { guests, own, register, first, next: AtomicU64::new(first), rank });
        let mut ends = signal(SignalKind::child())?;
        let weak = Arc::downgrade(&family);
        tokio::spawn(async move {
            while ends.recv().await.is_some() {
                let Some(family) = weak.upgrade() else { break };
                while family.register.reap_ended(family.rank) {
                    tokio::task::yield_now().await;
                }
            }
        });
        Ok(family)
    }

    /// Prepares for the first guest. All threads of this process must be there by now.
    pub(crate) fn get_ready(&self) {
        self.guests.get_ready();
    }

    /// Starts a program that guests run or can change. Who stops waiting for it ends it.
    pub(crate) async fn start(&self, start: Start) -> io::Result<Program> {
        let mark = Mark::of_program(self.next.fetch_add(1, Ordering::Relaxed));
        self.guests.start(start, Some(mark)).await
    }

    /// Starts a program of ours that serves guests. It has no mark: it ends what it starts by itself.
    pub(crate) async fn start_own(&self, start: Start) -> io::Result<Program> {
        self.own.start(start, None).await
    }

    /// Whether a process that loses its parents falls to us, so that we are told of its end.
    pub(crate) fn has_orphans(&self) -> bool {
        self.rank != Rank::Part
    }

    /// A program that another one of ours has made of itself, and that has fallen to us. Its mark must be this one.
    pub(crate) fn adopt(&self, pid: i32, mark: Mark) -> io::Result<Program> {
        let refuse = |why: &str| Err(io::Error::other(why.to_owned()));
        let Some(number) = Pid::from_raw(pid) else { return refuse("it has no number") };
        // Locked: it must not be reaped between the look and the entry.
        let mut book = self.register.book();
        if !is_child(pid) {
            return refuse("it is not our child");
        }
        let handle = pidfd_open(number, PidfdFlags::empty())?;
        if mark_of(pid) != Some(mark.limits()) {
            return refuse("it has another mark");
        }
        let (told, status) = oneshot::channel();
        book.waiting.insert(pid, told);
        drop(book);
        let process = Spawned { pid, handle, trouble: nothing()? };
        Ok(Program::new(Registered { process, status }, Some(mark)))
    }

    /// Ends everybody; returns when they are gone, or after a moment.
    pub(crate) async fn end_all(&self) {
        Tree::Between(self.first, self.next.load(Ordering::Relaxed)).end().await;
    }
}

/// A pipe that says nothing.
fn nothing() -> io::Result<OwnedFd> {
    Ok(rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC | rustix::pipe::PipeFlags::NONBLOCK)?.0)
}
