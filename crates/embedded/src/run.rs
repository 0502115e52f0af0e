//! One run, as the host sees it: a request goes out, frames come in, tools are served, and a clock stands above it all.
//!
//! Nothing a child says is believed before it is checked. What does not fit ends the session with a fault that says so;
//! it never ends the host, and never makes it keep more than the limits allow.

use std::future::poll_fn;
use std::os::unix::process::ExitStatusExt;
use std::pin::Pin;
use std::task::Poll;
use std::time::{Duration, Instant};

use cove_core::{
    Crash, Fault, FaultKind, Limits, Picture, RunClock, RunReport, RunRequest, Session as _, SessionFate,
    beginning_chars,
};

use crate::calls::{Calls, failure};
use crate::fonts::{FontRequest, MAX_FONT_REQUEST_BYTES};
use crate::logs::Logs;
use crate::session::{EmbeddedSession, KillGuard};
use crate::sys::batch::ABORTED;
use crate::walls::max_child_bytes;
use crate::wire::{
    DyingCause, FromChild, MAX_CALL_BYTES, ToChild, decode_call, decode_lines, decode_picture, decode_report,
    encode_answer, encode_request, max_report_bytes, weight,
};
use crate::worker_pool::WorkerPool;

/// One encoded picture.
const MAX_PICTURE_BYTES: usize = 64 << 20;

/// Questions for fonts in one run: the index, and each file of it that a text may need.
const MAX_FONT_REQUESTS: usize = 256;

/// All pictures of a run together, in a session that has more memory than that.
const MAX_PICTURES_BYTES: usize = 256 << 20;

/// While so many bytes of answers wait to be read by the child, no further tool is asked how far it is.
const FULL_BYTES: usize = 64 << 20;

/// More than this cannot gather with an honest child: it calls, and never listens.
const MAX_UNSENT_BYTES: usize = 256 << 20;

/// How long the host reads on after a kill, for the lines that were under way.
const LAST_LINES: Duration = Duration::from_millis(50);

/// How a conversation ended.
#[allow(
    clippy::large_enum_variant,
    reason = "made once a run and taken apart at once; a box would be one more allocation"
)]
enum End {
    /// With a report.
    Report(RunReport),
    /// At the deadline.
    Deadline,
    /// The child has closed its end; why, if that is known.
    Closed(Option<String>),
    /// The child has aborted; why, and what it said last.
    Aborted(DyingCause, Option<String>),
    /// The child broke the rules.
    Hostile(String),
}

/// Runs one request.
pub(crate) async fn run(session: &mut EmbeddedSession, request: &RunRequest, started: Instant) -> RunReport {
    let mut conversation = Conversation {
        calls: Calls::within(session.options.limits.memory_bytes),
        logs: Logs::new(
            session.options.limits.max_log_bytes,
            session.options.log_levels.clone(),
            session.options.log_sink.clone(),
        ),
        log_bytes: 0,
        pictures: Vec::new(),
        picture_bytes: 0,
        font_request: None,
        fonts_asked: 0,
    };
    let mut report = match session.gone.clone() {
        Some(why) => RunReport::new(Err(Fault::new(FaultKind::EngineLost, why)), SessionFate::Lost),
        None => {
            // From here on, dropping this future kills the child.
            let guard = KillGuard::new(&session.process);
            session.gone = Some("a run was given up".into());
            let end = converse(session, request, started, &mut conversation).await;
            if matches!(end, End::Report(_)) {
                conversation.start_the_last_calls().await;
            }
            conclude(session, guard, end, request, &mut conversation).await
        }
    };
    report.effects = conversation.calls.effects();
    report.usage.tool_calls = conversation.calls.made();
    report.usage.wall_ms = started.elapsed().as_secs_f64() * 1e3;
    (report.logs, report.logs_truncated) = conversation.logs.finish();
    report
}

/// What a run has gathered so far.
struct Conversation {
    calls: Calls,
    logs: Logs,
    log_bytes: usize,
    pictures: Vec<Picture>,
    picture_bytes: usize,
    /// What the child waits for. It says nothing else before it has the answer.
    font_request: Option<FontRequest>,
    fonts_asked: usize,
}

async fn converse(
    session: &mut EmbeddedSession,
    request: &RunRequest,
    started: Instant,
    conversation: &mut Conversation,
) -> End {
    session.line.queue(ToChild::Run, |out| encode_request(request, out));
    let budget = Duration::from_millis(request.timeout_ms);
    let mut clock = RunClock::begin(session.options.holds.clone(), budget, started, session.cpu_clock());
    let deadline = started.checked_add(budget);
    let deadline = deadline.unwrap_or_else(|| started + Duration::from_secs(86_400)).into();
    let mut deadline = std::pin::pin!(tokio::time::sleep_until(deadline));
    loop {
        // Answers first, then one write for all of them, then one read.
        let answered = poll_fn(|context| {
            while session.line.unsent_bytes() < FULL_BYTES
                && let Poll::Ready((id, answer)) = conversation.calls.poll_answer(context)
            {
                session.line.queue(ToChild::Answer, |out| encode_answer(id, &answer, out));
            }
            Poll::Ready(())
        });
        answered.await;
        if session.line.unsent_bytes() > MAX_UNSENT_BYTES {
            return End::Hostile("it calls tools and does not read their answers".into());
        }
        // A line that breaks while we write may still hold something to read: the reading finds out.
        let _ = session.line.send();
        match session.line.fill() {
            Ok(true) => {}
            Ok(false) => {
                return match conversation.hear(session) {
                    Some(End::Report(report)) => End::Report(RunReport { fate: SessionFate::Lost, ..report }),
                    Some(end) => end,
                    None => End::Closed(None),
                };
            }
            Err(error) => return End::Closed(Some(error.to_string())),
        }
        let calls_before = conversation.calls.made();
        if let Some(end) = conversation.hear(session) {
            return end;
        }
        if let Some(asked) = conversation.font_request.take() {
            let answer = tokio::select! {
                biased;
                () = run_out(&mut clock, deadline.as_mut()) => return End::Deadline,
                answer = session.fonts.answer(asked) => answer,
            };
            session.line.queue(ToChild::Font, |out| answer.encode(out));
            continue;
        }
        if conversation.calls.made() != calls_before {
            continue;
        }
        let calls = &mut conversation.calls;
        let line = &mut session.line;
        tokio::select! {
            biased;
            () = run_out(&mut clock, deadline.as_mut()) => return End::Deadline,
            (id, answer) = poll_fn(|context| calls.poll_answer(context)), if line.unsent_bytes() < FULL_BYTES => {
                line.queue(ToChild::Answer, |out| encode_answer(id, &answer, out));
            }
            // An error shows again when the line is used.
            _ = session_ready(line) => {}
        }
    }
}

/// Comes when the time is over that the run may take; while a person is asked, it stands still.
async fn run_out(clock: &mut RunClock, mut deadline: Pin<&mut tokio::time::Sleep>) {
    loop {
        deadline.as_mut().await;
        let Some(left) = clock.left() else { return };
        deadline.as_mut().reset(tokio::time::Instant::now() + left);
    }
}

async fn session_ready(line: &crate::line::Line) {
    let _ = line.ready().await;
}

impl Conversation {
    /// Code may call a tool and end without waiting for it. Such a call is made, too: its future is polled once, and
    /// only then dropped with the run.
    async fn start_the_last_calls(&mut self) {
        poll_fn(|context| {
            while self.calls.poll_answer(context).is_ready() {}
            Poll::Ready(())
        })
        .await;
    }

    /// Takes in every whole frame that has arrived. `Some`: the conversation is over.
    fn hear(&mut self, session: &mut EmbeddedSession) -> Option<End> {
        let limits = session.options.limits;
        let max_log_bytes = usize::try_from(limits.max_log_bytes).unwrap_or(usize::MAX);
        let limit = |kind: u8| {
            Some(match FromChild::from_byte(kind)? {
                FromChild::Logs => max_log_bytes + (64 << 10),
                FromChild::Call => MAX_CALL_BYTES,
                FromChild::Picture => MAX_PICTURE_BYTES,
                FromChild::Report => max_report_bytes(limits.max_result_chars),
                FromChild::Refused | FromChild::Dying => 64 << 10,
                FromChild::Font => MAX_FONT_REQUEST_BYTES,
                FromChild::Accepted => return None,
            })
        };
        loop {
            let frame = match session.line.next(limit) {
                Ok(Some(frame)) => frame,
                Ok(None) => return None,
                Err(error) => return Some(End::Hostile(error.to_string())),
            };
            let heard = match FromChild::from_byte(frame.kind) {
                Some(FromChild::Logs) => {
                    self.log_bytes += frame.payload.len();
                    // An honest child stops at the limit; five bytes of head per line are the most it adds.
                    if self.log_bytes > max_log_bytes.saturating_mul(7) + (64 << 10) {
                        return Some(End::Hostile("it floods the console".into()));
                    }
                    decode_lines(frame.payload, |line| self.logs.add(line)).map_err(|error| error.to_string())
                }
                Some(FromChild::Call) => match decode_call(frame.payload) {
                    Ok(call) => {
                        let id = call.id;
                        let started = match &session.options.gate {
                            Some(gate) if !gate() => Ok(Some(failure("the run is about to be ended".to_owned()))),
                            _ => self.calls.start(&call, &session.tools),
                        };
                        if let Ok(Some(failed)) = &started {
                            session.line.queue(ToChild::Answer, |out| encode_answer(id, failed, out));
                        }
                        started.map(drop).map_err(|error| error.to_string())
                    }
                    Err(error) => Err(error.to_string()),
                },
                Some(FromChild::Picture) => decode_picture(frame.payload)
                    .map_err(|error| error.to_string())
                    .and_then(|picture| self.keep_picture(picture, &limits)),
                Some(FromChild::Font) => match FontRequest::decode(frame.payload) {
                    // An honest child asks for each file once.
                    Some(request) if self.fonts_asked < MAX_FONT_REQUESTS => {
                        self.fonts_asked += 1;
                        self.font_request = Some(request);
                        return None;
                    }
                    _ => Err("it asks for fonts again and again".into()),
                },
                // An honest child has held the same value in its own memory.
                Some(FromChild::Report) if weight(frame.payload) as u64 > max_child_bytes(limits.memory_bytes) => {
                    Err("its report is heavier than its memory".into())
                }
                Some(FromChild::Report) => {
                    let report = match decode_report(frame.payload) {
                        Ok(report) => report,
                        Err(error) => return Some(End::Hostile(error.to_string())),
                    };
                    return Some(match session.line.has_rest() {
                        true => End::Hostile("it went on after the end of its run".into()),
                        false => End::Report(report),
                    });
                }
                Some(FromChild::Refused) => {
                    let why = String::from_utf8_lossy(frame.payload).into_owned();
                    return Some(End::Closed(Some(format!("the world could not be set up: {why}"))));
                }
                Some(FromChild::Dying) => {
                    let (cause, words) = DyingCause::read(frame.payload);
                    return Some(End::Aborted(cause, last_words(words)));
                }
                Some(FromChild::Accepted) | None => Err("it sent a message that was not expected".into()),
            };
            if let Err(error) = heard {
                return Some(End::Hostile(error));
            }
        }
    }

    fn keep_picture(&mut self, picture: Picture, limits: &Limits) -> Result<(), String> {
        let max_images = limits.max_images;
        // Pixels take half of a session's memory at most, and a PNG is hardly larger than its pixels.
        let most = usize::try_from(limits.memory_bytes).unwrap_or(usize::MAX).min(MAX_PICTURES_BYTES);
        self.picture_bytes += picture.png.len();
        if self.pictures.len() >= usize::try_from(max_images).unwrap_or(usize::MAX) {
            return Err(format!("it sent more than {max_images} pictures"));
        }
        if self.picture_bytes > most {
            return Err("its pictures are too large".into());
        }
        self.pictures.push(picture);
        Ok(())
    }
}

/// Turns the end of a conversation into a report, and sees to the child.
async fn conclude(
    session: &mut EmbeddedSession,
    guard: KillGuard,
    end: End,
    request: &RunRequest,
    conversation: &mut Conversation,
) -> RunReport {
    let (fault, why) = match end {
        End::Report(mut report) => {
            if let Ok(finished) = &mut report.result {
                finished.pictures = std::mem::take(&mut conversation.pictures);
            }
            match report.fate {
                SessionFate::Usable => {
                    guard.disarm();
                    session.gone = None;
                }
                SessionFate::Lost => session.gone = Some("its last run left it unusable".into()),
            }
            return report;
        }
        End::Deadline => {
            session.process.kill();
            last_lines(session, conversation).await;
            (Fault::timeout(request.timeout_ms), "its last run was ended at the deadline".to_owned())
        }
        End::Closed(words) => {
            let fault = match words {
                Some(words) => Fault::new(FaultKind::EngineLost, format!("the worker died: {words}")),
                None => fault_of_death(&session.pool, session.number).await,
            };
            let why = fault.message.clone();
            (fault, why)
        }
        End::Aborted(DyingCause::OutOfMemory, words) => {
            (Fault::memory(session.options.limits.memory_bytes), words.unwrap_or_else(|| "it ran out of memory".into()))
        }
        End::Aborted(DyingCause::Abort, words) => {
            let fault = Fault::engine_crashed(Crash::Abort, words.as_deref());
            let why = fault.message.clone();
            (fault, why)
        }
        End::Hostile(what) => {
            let why = format!("the worker broke the protocol: {what}");
            (Fault::new(FaultKind::EngineLost, why.clone()), why)
        }
    };
    session.gone = Some(why);
    // Dropping the guard kills what is left.
    drop(guard);
    let mut report = RunReport::new(Err(fault), SessionFate::Lost);
    if report.fault().is_some_and(|fault| fault.kind == FaultKind::Memory) {
        report.usage.memory_bytes = session.options.limits.memory_bytes;
    }
    report
}

/// Reads what the child had written before it was killed; only console lines still count.
async fn last_lines(session: &mut EmbeddedSession, conversation: &mut Conversation) {
    let max_bytes = usize::try_from(session.options.limits.max_log_bytes).unwrap_or(usize::MAX);
    let reading = async {
        while let Ok(open) = session.line.fill() {
            while let Ok(Some(frame)) = session.line.next(|_| Some(MAX_PICTURE_BYTES)) {
                conversation.log_bytes = conversation.log_bytes.saturating_add(frame.payload.len());
                let is_log = FromChild::from_byte(frame.kind) == Some(FromChild::Logs);
                if is_log && conversation.log_bytes <= max_bytes.saturating_mul(7) {
                    let _ = decode_lines(frame.payload, |line| conversation.logs.add(line));
                }
            }
            if !open {
                return;
            }
            session_ready(&session.line).await;
        }
    };
    let _ = tokio::time::timeout(LAST_LINES, reading).await;
}

/// What a child said while it died, cut to one line.
pub(crate) fn last_words(bytes: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(bytes);
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    let line: String = line.chars().filter(|letter| !letter.is_control()).collect();
    Some(beginning_chars(&line, 300).0.to_owned())
}

/// What a child that is gone without a word has died of.
pub(crate) async fn fault_of_death(pool: &WorkerPool, number: u64) -> Fault {
    let lost = |why: String| Fault::new(FaultKind::EngineLost, why);
    match pool.cause_of_death(number).await {
        Some(status) => match (status.signal(), status.code()) {
            (Some(signal), _) => match Crash::of_signal(signal) {
                Some(crash) => Fault::engine_crashed(crash, None),
                None => lost(format!("the worker died (signal {signal})")),
            },
            // It could not say its last words: it was in the middle of something else.
            (None, Some(ABORTED)) => Fault::engine_crashed(Crash::Abort, None),
            (None, Some(code)) => lost(format!("the worker ended (exit code {code})")),
            (None, None) => lost("the worker died".into()),
        },
        None if pool.is_alive() => lost("the worker was killed".into()),
        None => lost("the worker was killed together with its zygote".into()),
    }
}

#[cfg(test)]
#[path = "run_tests.rs"]
mod tests;
