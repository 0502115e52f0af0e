//! The worker: the program that the host starts, from its first instruction to the last.
//!
//! One program, three lives. It starts as a plain process and leaves everything that it shares with others; it becomes
//! the *zygote*, which builds one hardened world and never runs guest code; and it forks *session
//! processes*, each of which serves one session and then ends. Any program can be its own worker by calling [`enter_if_asked`] first in `main`.

mod port;
pub(crate) mod session_process;
pub(crate) mod start;
mod zygote;

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// The argument that turns a program into the worker. No user types it.
pub const WORKER_ARGUMENT: &str = "__cove-worker";

/// The argument that turns a program into a probe of the walls; see [`probe`](crate::probe).
pub(crate) const PROBE_ARGUMENT: &str = "__cove-probe";

/// The worker's own argument where many children will be forked.
pub(crate) const MANY_ARGUMENT: &str = "many";

/// Whether this program can be started as its own worker.
static CAN_BE_WORKER: AtomicBool = AtomicBool::new(false);

/// Becomes the worker if this process was started as one, and then never returns; otherwise remembers that it could.
///
/// The first line of `main`, before any thread is started and before arguments are read:
///
/// ```
/// cove_embedded::worker::enter_if_asked();
/// // … the program itself
/// ```
pub fn enter_if_asked() {
    let mut arguments = std::env::args_os().skip(1);
    match arguments.next() {
        Some(argument) if argument == WORKER_ARGUMENT => main(),
        Some(argument) if argument == PROBE_ARGUMENT => {
            crate::probe::main(arguments.next().as_ref().and_then(|behind| behind.to_str()))
        }
        _ => CAN_BE_WORKER.store(true, Ordering::Relaxed),
    }
}

/// Starts the worker now, for the first engine of this process that keeps at most one spare child.
///
/// For a program that knows from its first argument that it will run code: the worker gets ready while the program reads
/// the rest of its arguments. After [`enter_if_asked`], else nothing happens. A worker that nobody uses ends with the
/// program.
pub fn start_early() {
    crate::launch::start_early();
}

/// The worker itself, for a program that is nothing else.
///
/// Expects the control socket as its standard input; started in any other way it ends at once.
pub fn main() -> ! {
    zygote::main()
}

/// What a worker of a test does with the source of a run before it runs it.
static BEFORE_RUNS: OnceLock<fn(&str)> = OnceLock::new();

/// For a worker program that exists only in tests, to crash when the code says so. Call it before [`main`]; a program that
/// does not call it, and no other does, has no such way in.
#[doc(hidden)]
pub fn before_each_run(act: fn(&str)) {
    let _ = BEFORE_RUNS.set(act);
}

/// Does what a test's worker does before a run.
fn before_run(source: &str) {
    if let Some(act) = BEFORE_RUNS.get() {
        act(source);
    }
}

/// Whether [`enter_if_asked`] was called in this process.
pub(crate) fn can_be_worker() -> bool {
    CAN_BE_WORKER.load(Ordering::Relaxed)
}
