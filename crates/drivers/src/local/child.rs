//! Bay's children, which die with it.
//!
//! The kernel ends a child when the *thread* that made it ends. Threads of a runtime come and go, so one thread of ours,
//! which never ends, makes all such children.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{OnceLock, mpsc};

use cove_walls::{ChildSetup, Group};
use rustix::process::{Pid, Signal, kill_process};
use tokio::process::{Child, Command};
use tokio::sync::oneshot;

struct Order {
    program: PathBuf,
    args: Vec<String>,
    env: Vec<(String, OsString)>,
    runtime: tokio::runtime::Handle,
    answer: oneshot::Sender<io::Result<Child>>,
}

/// Starts a program that dies with this process, however that ends.
pub(super) async fn start(program: &Path, args: Vec<String>, env: Vec<(String, OsString)>) -> io::Result<Child> {
    static MOTHER: OnceLock<Option<mpsc::Sender<Order>>> = OnceLock::new();
    let mother = MOTHER.get_or_init(|| {
        let (send, orders) = mpsc::channel::<Order>();
        let thread = std::thread::Builder::new().name("cove-children".to_owned());
        let lives = thread.spawn(move || {
            for order in orders {
                let made = spawn(&order);
                let _ = order.answer.send(made);
            }
        });
        lives.ok().map(|_| send)
    });
    let gone = || io::Error::other("the thread that starts children is gone");
    let (answer, made) = oneshot::channel();
    let runtime = tokio::runtime::Handle::current();
    let order = Order { program: program.to_owned(), args, env, runtime, answer };
    mother.as_ref().ok_or_else(gone)?.send(order).map_err(|_| gone())?;
    made.await.map_err(|_| gone())?
}

#[expect(clippy::disallowed_methods, reason = "this file owns Gull's processes")]
fn spawn(order: &Order) -> io::Result<Child> {
    let _inside = order.runtime.enter();
    let mut command = Command::new(&order.program);
    let (input, output, errors) = super::gull::streams();
    command.args(&order.args).env_clear().envs(order.env.iter().map(|(name, value)| (name, value)));
    command.stdin(input).stdout(output).stderr(errors).kill_on_drop(true);
    ChildSetup { group: Group::Process, ..ChildSetup::default() }.apply(command.as_std_mut())?;
    command.spawn()
}

/// Asks a child to end.
pub(super) fn ask_to_end(child: &Child) {
    if let Some(pid) = child.id().and_then(|pid| Pid::from_raw(pid.cast_signed())) {
        let _ = kill_process(pid, Signal::TERM);
    }
}
