//! The session process: a forked child that serves one session and then ends.

use std::os::fd::OwnedFd;
use std::panic::{AssertUnwindSafe, catch_unwind};

use cove_core::{Fault, FaultKind, Limits, RunReport, RunRequest, SessionFate};
use cove_walls::descriptors::{adopt, close_from, place};
use cove_walls::fork::exit_now;
use cove_world::{Setup, ToolDecl, World};
use rustix::pipe::{PipeFlags, pipe_with};

use super::port::{Inbox, Received, SocketPort};
use crate::sys::{batch, heap};
use crate::walls::{self, Shared};
use crate::wire::{FromChild, ToChild, decode_request, max_report_bytes, report_parts};

/// Lives until the host lets go of the session.
pub(super) fn live(world: &mut World, socket: &OwnedFd, shared: &mut Shared, calm: bool) -> ! {
    if let Some(inbox) = settle(socket, shared) {
        heap::have(shared.fresh);
        serve(world, inbox, shared.base_bytes, calm);
    }
    exit_now(1)
}

/// Gives up everything but the one socket, and puts up the last walls.
pub(crate) fn settle(socket: &OwnedFd, shared: &mut Shared) -> Option<Inbox> {
    // Over the control socket: from here on the zygote's line to the host is out of reach.
    place(socket, batch::SOCKET).ok()?;
    close_from(batch::SOCKET + 1).ok()?;
    give_last_words()?;
    batch::install();
    walls::finish_in_child(shared.child_filter.as_mut()).then_some(())?;
    Some(Inbox::new(adopt(batch::SOCKET)?))
}

/// What this process writes to its standard error stays with it, for the moment of an abort.
fn give_last_words() -> Option<()> {
    let (read, write) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK).ok()?;
    place(&write, 2).ok()?;
    place(&read, batch::LAST_WORDS).ok()?;
    if std::os::fd::AsRawFd::as_raw_fd(&read) == batch::LAST_WORDS {
        let _ = std::os::fd::IntoRawFd::into_raw_fd(read);
    }
    Some(())
}

/// Goes through the motions of a run, so that the first real one finds what it needs at hand. In the zygote, once for
/// all; and in a child that has time.
pub(super) fn rehearse(world: &mut World) {
    const SETUP: &[u8] = br#"{"seed": []}"#;
    // It refuses, as it should; reading it was the point.
    let _ = decode::<Setup>(SETUP);
    world.rehearse();
    let _ = report_parts(lost(String::new()));
}

fn serve(world: &mut World, mut inbox: Inbox, base_bytes: u64, calm: bool) {
    // A spare child has time: it touches the pages now that its first run would otherwise wait for.
    if calm && inbox.is_quiet() {
        rehearse(world);
    }
    let mut limits = Limits::default();
    loop {
        let Received::Frame(kind, payload) = inbox.next(None) else { exit_now(0) };
        match kind {
            ToChild::Setup => {
                let setup = decode::<Setup>(&payload);
                if let Ok(setup) = &setup {
                    limits = setup.limits;
                }
                say(setup.and_then(|setup| set_up(world, &setup, base_bytes)), false);
            }
            ToChild::Variables => {
                say(decode(&payload).and_then(|all| world.set_variables(&all).map_err(|e| e.to_string())), true);
            }
            ToChild::Tools => {
                let tools = decode::<Vec<ToolDecl>>(&payload);
                say(tools.and_then(|tools| world.set_tools(&tools).map_err(|e| e.to_string())), true);
            }
            ToChild::Run => {
                let report = match decode_request(&payload) {
                    Ok(request) => {
                        super::before_run(&request.code);
                        run(world, &request, &mut inbox, &limits)
                    }
                    Err(error) => lost(error),
                };
                send_report(report, &limits);
            }
            // An answer to a question of a run that has ended meanwhile.
            ToChild::Answer | ToChild::Font => {}
        }
    }
}

fn set_up(world: &mut World, setup: &Setup, base_bytes: u64) -> Result<(), String> {
    walls::cap_memory(base_bytes, setup.limits.memory_bytes).map_err(|error| format!("memory limit: {error}"))?;
    world.configure(setup).map_err(|error| error.to_string())
}

fn decode<T: serde::de::DeserializeOwned>(payload: &[u8]) -> Result<T, String> {
    serde_json::from_slice(payload).map_err(|error| error.to_string())
}

/// Tells the host how a request has ended; a success only if it is waited for.
fn say(outcome: Result<(), String>, waited_for: bool) {
    match outcome {
        Ok(()) if waited_for => batch::send_frame(FromChild::Accepted, &[]),
        Ok(()) => {}
        Err(why) => batch::send_frame(FromChild::Refused, &[why.as_bytes()]),
    }
}

fn run(world: &mut World, request: &RunRequest, inbox: &mut Inbox, limits: &Limits) -> RunReport {
    let mut port = SocketPort::new(inbox, limits.max_log_bytes);
    // A panic is a fault of ours; it ends this session, and says so, instead of a silent death.
    catch_unwind(AssertUnwindSafe(|| world.run(request, &mut port)))
        .unwrap_or_else(|_| lost("the engine panicked".to_owned()))
}

/// Sends a report, and sees to it that the host will not take a large one for an attack.
fn send_report(report: RunReport, limits: &Limits) {
    let (fate, usage) = (report.fate, report.usage);
    let (mut head, mut value) = report_parts(report);
    let most = max_report_bytes(limits.max_result_chars);
    if head.len() + value.len() > most {
        let length = u64::try_from(head.len() + value.len()).unwrap_or(u64::MAX);
        let fault = Fault::result_too_large(limits.max_result_chars, length);
        (head, value) = report_parts(RunReport { usage, ..RunReport::new(Err(fault), fate) });
    }
    batch::send_frame(FromChild::Report, &[&head, &value]);
}

fn lost(why: String) -> RunReport {
    RunReport::new(Err(Fault::new(FaultKind::EngineLost, why)), SessionFate::Lost)
}
