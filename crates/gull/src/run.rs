//! One command, from its words to its answer.

use std::sync::Arc;

use cove_core::Deadline;
use cove_runtime_api::{BrowserAnswer, BrowserCause, EXIT_FAILED, EXIT_HELD};
use serde_json::{Value, json};
use tokio::sync::OwnedMutexGuard;

use crate::agent::{Ended, Ran};
use crate::answer::{timed_out, timed_out_words};
use crate::gull::Inner;
use crate::hints::{self, Sign};
use crate::live::{Live, Recovered};
use crate::plan::{Plan, Rules, Word};
use crate::refusal::CommandRefusal;
use crate::stage::{Incoming, Outgoing, Staged, discard, publish, rename_in, stage};

/// What the browser says to a question that was on its way while the page changed.
const LEFT: &str = "Inspected target navigated or closed";

/// Said to a command that waited in vain.
const HELD: &str = "a person has control of this browser; the command did not run";
const AFTER_HELD: &str = "try again later, and take a new snapshot first";

/// How the words of a command begin that found no daemon. A page cannot say this: its own words come after others.
const NO_DAEMON: &[&str] = &[
    "✗ Failed to start daemon",
    "{\"error\":\"Failed to start daemon",
    "{\"success\":false,\"data\":null,\"error\":\"Failed to start daemon",
];

/// How a command is handed to agent-browser.
struct Call {
    words: Vec<String>,
    /// For `batch`: the commands as JSON, where no word can be taken for a flag of the program.
    input: Option<Vec<u8>>,
    incoming: Vec<Incoming>,
    outgoing: Vec<Outgoing>,
    /// One command that went the way of a batch, whose answer has to be unwrapped.
    wrapped: Option<Wrapped>,
    stops_recording: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Wrapped {
    Text,
    Json,
}

/// Runs a command line. Never takes longer than until a second after `deadline`.
pub(crate) async fn exec(inner: Arc<Inner>, line: String, deadline: Deadline) -> BrowserAnswer {
    let over = deadline.at().into();
    let name_file = |prefix: &str, ending: &str| inner.name_file(prefix, ending);
    let inside = inner.options.inside.is_some();
    let plan = match Plan::read(&line, &Rules { network: &inner.network, inside, name_file: &name_file }) {
        Ok(plan) => plan,
        Err(refusal) => return refusal.answer(),
    };
    if plan == Plan::Help {
        return BrowserAnswer { stdout: crate::plan::help(), ..BrowserAnswer::default() };
    }
    let Ok(turn) = tokio::time::timeout_at(over, inner.live.clone().lock_owned()).await else {
        if inner.control.is_held() {
            return BrowserAnswer::refused(BrowserCause::Held, EXIT_HELD, HELD, Some(AFTER_HELD.to_owned()));
        }
        let mut answer = timed_out(deadline);
        answer.note("an earlier command was still running");
        return answer;
    };
    inner.used();
    if plan == Plan::Close {
        return close(&inner, turn).await;
    }
    // A launch that outlasts this command goes on, and the next one finds the browser.
    let ensured = {
        let inner = inner.clone();
        let mut turn = turn;
        tokio::spawn(async move {
            let notes = turn.ensure(&inner).await;
            (turn, notes)
        })
    };
    let (mut turn, notes) = match tokio::time::timeout_at(over, ensured).await {
        Ok(Ok((turn, Ok(notes)))) => (turn, notes),
        Ok(Ok((_, Err(why)))) => return not_started(why),
        Ok(Err(_)) => return not_started("the browser could not be started".to_owned()),
        Err(_) => {
            let mut answer = timed_out(deadline);
            answer.note("the browser is still being started");
            return answer;
        }
    };
    let mut answer = match prepare(plan, &inner) {
        Ok(call) => perform(&inner, &mut turn, call, deadline).await,
        Err(refusal) => refusal.answer(),
    };
    for note in notes {
        answer.note(note);
    }
    for note in inner.take_notes() {
        answer.note(note);
    }
    inner.used();
    inner.cookies_changed();
    answer
}

fn not_started(why: String) -> BrowserAnswer {
    BrowserAnswer::refused(BrowserCause::NotStarted, EXIT_FAILED, why, None)
}

async fn close(inner: &Arc<Inner>, mut turn: OwnedMutexGuard<Live>) -> BrowserAnswer {
    let open = turn.browser.is_some();
    turn.close(inner).await;
    let said = if open { "✓ Browser closed\n" } else { "✓ Browser was not open\n" };
    BrowserAnswer { stdout: said.to_owned(), ..BrowserAnswer::default() }
}

fn prepare(plan: Plan, inner: &Inner) -> Result<Call, CommandRefusal> {
    let stage_words = |words: &[Word]| stage(words, &inner.private_folder, &inner.cargo);
    match plan {
        Plan::One { words, json, literal } => {
            let Staged { words, incoming, outgoing } = stage_words(&words)?;
            let begins = |expected: &[&str]| expected.iter().zip(&words).all(|(a, b)| a == b);
            let stops_recording = begins(&["record", "stop"]) || begins(&["record", "restart"]);
            if !literal {
                return Ok(Call { words, input: None, incoming, outgoing, wrapped: None, stops_recording });
            }
            let inside: Vec<&String> = words.iter().filter(|word| *word != "--json").collect();
            let mut call = vec!["batch".to_owned()];
            call.extend(json.then(|| "--json".to_owned()));
            let input = Some(json!([inside]).to_string().into_bytes());
            let wrapped = Some(if json { Wrapped::Json } else { Wrapped::Text });
            Ok(Call { words: call, input, incoming, outgoing, wrapped, stops_recording })
        }
        Plan::Batch { options, commands } => {
            let mut all = Vec::new();
            let (mut incoming, mut outgoing) = (Vec::new(), Vec::new());
            for command in &commands {
                let staged = stage_words(command)?;
                all.push(staged.words);
                incoming.extend(staged.incoming);
                outgoing.extend(staged.outgoing);
            }
            let stops_recording = all.iter().any(|words| words.first().is_some_and(|word| word == "record"));
            let words = std::iter::once("batch".to_owned()).chain(options).collect();
            let input = Some(json!(all).to_string().into_bytes());
            Ok(Call { words, input, incoming, outgoing, wrapped: None, stops_recording })
        }
        Plan::Close | Plan::Help => Err(CommandRefusal::new("this command is not handed to agent-browser")),
    }
}

async fn perform(
    inner: &Arc<Inner>,
    live: &mut OwnedMutexGuard<Live>,
    call: Call,
    deadline: Deadline,
) -> BrowserAnswer {
    let over = deadline.at().into();
    let Some(link) = live.browser.as_ref().map(|browser| browser.link.clone()) else {
        return BrowserAnswer::failed(EXIT_FAILED, "✗ the browser is gone");
    };
    inner.bridge.take_address_refused();
    let mut again = true;
    let mut note = None;
    let Ran { stdout, stderr, ended } = loop {
        let ran = match inner.agent.run(&call.words, call.input.clone(), over, link.closed()).await {
            Ok(ran) => ran,
            Err(error) => {
                return BrowserAnswer::failed(EXIT_FAILED, format!("✗ agent-browser could not be started: {error}"));
            }
        };
        // It found no daemon and may not start one: nothing has happened yet, so the command is simply made again.
        let unheard = NO_DAEMON.iter().any(|sign| ran.stderr.starts_with(sign) || ran.stdout.starts_with(sign));
        if !(again && unheard && matches!(ran.ended, Ended::Code(1))) {
            break ran;
        }
        again = false;
        inner.agent.learn();
        live.end_daemon().await;
        inner.bridge.evict();
        if let Err(why) = live.ensure_daemon(inner).await {
            return BrowserAnswer::failed(EXIT_FAILED, format!("✗ {why}"));
        }
        note = Some("agent-browser had ended and was started again; take a new snapshot before using refs");
    };
    let mut answer = BrowserAnswer { stdout, stderr, ..BrowserAnswer::default() };
    match ended {
        Ended::Code(code) => answer.exit_code = code,
        Ended::Deadline => {
            answer.time_out(timed_out_words(deadline));
            match live.recover(inner).await {
                Recovered::NoBrowser => {}
                Recovered::AsItWas(how) => answer.explain(how),
                Recovered::Changed(note) => answer.note(note),
            }
        }
        Ended::Lost => {
            answer.exit_code = EXIT_FAILED;
            answer.add_line("✗ the browser ended while the command ran; the next command starts a new one");
        }
    }
    // agent-browser asks the page that it has just left, now and then; it has gone where it was sent.
    if answer.exit_code == EXIT_FAILED
        && call.words.first().is_some_and(|word| matches!(word.as_str(), "back" | "forward" | "reload"))
        && (answer.stderr.contains(LEFT) || answer.stdout.contains(LEFT))
    {
        let mut words = vec!["get".to_owned(), "url".to_owned()];
        words.extend(call.words.iter().filter(|word| *word == "--json").cloned());
        if let Ok(Ran { stdout, stderr, ended: Ended::Code(exit_code) }) =
            inner.agent.run(&words, None, over, link.closed()).await
        {
            answer = BrowserAnswer { stdout, stderr, exit_code, ..BrowserAnswer::default() };
        }
    }
    if let Some(wrapped) = call.wrapped {
        unwrap(&mut answer, wrapped);
    }
    for file in &call.incoming {
        rename_in(&mut answer.stdout, &file.staged, &file.path);
        rename_in(&mut answer.stderr, &file.staged, &file.path);
    }
    live.uploads.keep(call.incoming);
    if let Some(note) = note {
        answer.note(note);
    }
    deliver(inner, live, &call.outgoing, call.stops_recording, &mut answer);
    if answer.exit_code == EXIT_FAILED {
        if inner.bridge.take_address_refused() {
            answer.advise(hints::ADDRESSES);
        } else if let Some(found) = Sign::find(&answer.stderr).or_else(|| Sign::find(&answer.stdout)) {
            answer.cause = found.cause;
            answer.advise(found.hint);
        }
    }
    answer
}

/// Brings the files that were written to the workspace, and says their names there.
fn deliver(inner: &Inner, live: &mut Live, outgoing: &[Outgoing], stops_recording: bool, answer: &mut BrowserAnswer) {
    let mut due: Vec<Outgoing> = Vec::new();
    if stops_recording {
        due.append(&mut live.recordings);
    }
    for file in outgoing {
        if file.later && answer.exit_code == 0 {
            live.recordings.push(file.clone());
            rename_in(&mut answer.stdout, &file.staged, &file.path);
        } else {
            due.push(file.clone());
        }
    }
    for file in due {
        rename_in(&mut answer.stdout, &file.staged, &file.path);
        rename_in(&mut answer.stderr, &file.staged, &file.path);
        if answer.exit_code < 0 {
            discard(&file.staged);
            continue;
        }
        match publish(&file, &inner.cargo) {
            Ok(true) => {}
            Ok(false) => {
                discard(&file.staged);
                if answer.exit_code == 0 {
                    answer.note(format!("nothing was written to /workspace/{}", file.path));
                }
            }
            Err(error) => {
                discard(&file.staged);
                answer.exit_code = EXIT_FAILED;
                // agent-browser believes that it is where it was told to put it.
                let kept = answer.stdout.lines().filter(|line| !line.ends_with(&format!("/workspace/{}", file.path)));
                answer.stdout = kept.map(|line| format!("{line}\n")).collect();
                answer.add_line(&format!("✗ /workspace/{} could not be written: {error}", file.path));
            }
        }
    }
}

/// Takes the one answer out of a batch of one.
fn unwrap(answer: &mut BrowserAnswer, wrapped: Wrapped) {
    match wrapped {
        Wrapped::Text => {
            let trimmed = answer.stdout.trim_end_matches('\n').len();
            answer.stdout.truncate(trimmed);
            answer.stdout.push('\n');
        }
        Wrapped::Json => {
            let Ok(Value::Array(list)) = serde_json::from_str::<Value>(&answer.stdout) else { return };
            let Some(one) = list.into_iter().next() else { return };
            let field = |name: &str| one.get(name).cloned().unwrap_or(Value::Null);
            let json = json!({ "success": field("success"), "data": field("result"), "error": field("error") });
            answer.stdout = format!("{json}\n");
        }
    }
}
