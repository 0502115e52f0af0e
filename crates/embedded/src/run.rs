//! One run, as the host sees it: a job goes out, frames come in, tools are served, and a clock stands above it all.
//!
//! Nothing a child says is believed before it is checked. What does not fit ends the session with a fault that says so;
//! it never ends the host, and never makes it keep more than the limits allow.

use std::future::poll_fn;
use std::os::unix::process::ExitStatusExt;
use std::task::Poll;
use std::time::{Duration, Instant};

use cove_core::{Crash, Fault, FaultKind, Finished, Limits, Picture, RunReport, RunShape, RunUnit, SessionFate, Usage};
use cove_world::Report;

use crate::calls::Calls;
use crate::fonts::{MAX_QUESTION_BYTES, Question};
use crate::logs::Logs;
use crate::nursery::Nursery;
use crate::session::{EmbeddedSession, Leash};
use crate::sys::batch::ABORTED;
use crate::walls::max_child_bytes;
use crate::wire::{
    DyingCause, FromChild, JobFrame, MAX_CALL_BYTES, ToChild, decode_call, decode_lines, decode_picture, decode_report,
    encode_answer, encode_job, max_report_bytes, weight,
};

/// One encoded picture.
const MAX_PICTURE_BYTES: usize = 64 << 20;

/// Questions for fonts in one run: the index, and each file of it that a text may need.
const MAX_FONT_QUESTIONS: usize = 256;

/// All pictures of a run together, in a session that has more memory than that.
const MAX_PICTURES_BYTES: usize = 256 << 20;

/// While so many bytes of answers wait to be read by the child, no further tool is asked how far it is.
const FULL_BYTES: usize = 64 << 20;

/// More than this cannot gather with an honest child: it calls, and never listens.
const MAX_UNSENT_BYTES: usize = 256 << 20;

/// How long the host reads on after a kill, for the lines that were under way.
const LAST_LINES: Duration = Duration::from_millis(50);

/// How a conversation ended.
enum End {
    /// With a report.
    Report(Report),
    /// At the deadline.
    Deadline,
    /// The child has closed its end; why, if that is known.
    Closed(Option<String>),
    /// The child has aborted; why, and what it said last.
    Aborted(DyingCause, Option<String>),
    /// The child broke the rules.
    Hostile(String),
}

/// Runs one unit.
pub(crate) async fn run(session: &mut EmbeddedSession, unit: RunUnit, started: Instant) -> RunReport {
    let mut talk = Talk {
        calls: Calls::within(session.options.limits.memory_bytes),
        logs: Logs::new(
            session.options.limits.max_log_bytes,
            session.options.log_levels.clone(),
            session.options.log_sink.clone(),
        ),
        log_bytes: 0,
        pictures: Vec::new(),
        picture_bytes: 0,
        font_question: None,
        fonts_asked: 0,
    };
    let mut usage = Usage::default();
    let (result, fate) = match session.gone.clone() {
        Some(why) => (Err(Fault::new(FaultKind::EngineLost, why)), SessionFate::Lost),
        None => {
            // From here on, dropping this future kills the child.
            let leash = Leash::new(&session.process);
            session.gone = Some("a run was given up".into());
            let end = converse(session, &unit, started, &mut talk).await;
            if matches!(end, End::Report(_)) {
                talk.start_the_last_calls().await;
            }
            conclude(session, leash, end, &unit, &mut talk, &mut usage).await
        }
    };
    let effects = talk.calls.effects();
    usage.tool_calls = talk.calls.made();
    usage.wall_ms = started.elapsed().as_secs_f64() * 1e3;
    let (logs, logs_truncated) = talk.logs.finish();
    RunReport { result, logs, logs_truncated, usage, effects, fate }
}

/// What a run has gathered so far.
struct Talk {
    calls: Calls,
    logs: Logs,
    log_bytes: usize,
    pictures: Vec<Picture>,
    picture_bytes: usize,
    /// What the child waits for. It says nothing else before it has the answer.
    font_question: Option<Question>,
    fonts_asked: usize,
}

async fn converse(session: &mut EmbeddedSession, unit: &RunUnit, started: Instant, talk: &mut Talk) -> End {
    let (cell, input) = match &unit.shape {
        RunShape::Cell => (true, None),
        RunShape::FunctionBody { input } | RunShape::Script { input } => (false, input.as_ref()),
    };
    let last_value = matches!(unit.shape, RunShape::Script { .. });
    let (timeout_ms, max_operations) = (unit.timeout_ms, unit.max_operations);
    let job = JobFrame { code: &unit.code, cell, last_value, input, max_operations, timeout_ms };
    session.line.queue(ToChild::Job, |out| encode_job(&job, out));
    let deadline = started.checked_add(Duration::from_millis(timeout_ms));
    let deadline = deadline.unwrap_or_else(|| started + Duration::from_secs(86_400)).into();
    let mut deadline = std::pin::pin!(tokio::time::sleep_until(deadline));
    loop {
        // Answers first, then one write for all of them, then one read.
        let answered = poll_fn(|context| {
            while session.line.unsent_bytes() < FULL_BYTES
                && let Poll::Ready((id, answer)) = talk.calls.poll_answer(context)
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
                return match talk.hear(session) {
                    Some(End::Report(report)) => End::Report(Report { usable: false, ..report }),
                    Some(end) => end,
                    None => End::Closed(None),
                };
            }
            Err(error) => return End::Closed(Some(error.to_string())),
        }
        let calls_before = talk.calls.made();
        if let Some(end) = talk.hear(session) {
            return end;
        }
        if let Some(question) = talk.font_question.take() {
            let answer = tokio::select! {
                biased;
                () = deadline.as_mut() => return End::Deadline,
                answer = session.fonts.answer(question) => answer,
            };
            session.line.queue(ToChild::Font, |out| answer.encode(out));
            continue;
        }
        if talk.calls.made() != calls_before {
            continue;
        }
        let calls = &mut talk.calls;
        let line = &mut session.line;
        tokio::select! {
            biased;
            () = deadline.as_mut() => return End::Deadline,
            (id, answer) = poll_fn(|context| calls.poll_answer(context)), if line.unsent_bytes() < FULL_BYTES => {
                line.queue(ToChild::Answer, |out| encode_answer(id, &answer, out));
            }
            // An error shows again when the line is used.
            _ = session_ready(line) => {}
        }
    }
}

async fn session_ready(line: &crate::line::Line) {
    let _ = line.ready().await;
}

impl Talk {
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
                FromChild::Font => MAX_QUESTION_BYTES,
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
                        let started = self.calls.start(&call, &session.tools);
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
                Some(FromChild::Font) => match Question::decode(frame.payload) {
                    // An honest child asks for each file once.
                    Some(question) if self.fonts_asked < MAX_FONT_QUESTIONS => {
                        self.fonts_asked += 1;
                        self.font_question = Some(question);
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
                Some(FromChild::Accepted) | None => Err("it spoke out of turn".into()),
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

/// Turns the end of a conversation into a result, and sees to the child.
async fn conclude(
    session: &mut EmbeddedSession,
    leash: Leash,
    end: End,
    unit: &RunUnit,
    talk: &mut Talk,
    usage: &mut Usage,
) -> (Result<Finished, Fault>, SessionFate) {
    let (fault, why) = match end {
        End::Report(report) => {
            usage.operations = report.operations;
            usage.memory_bytes = report.memory_bytes;
            let pictures = std::mem::take(&mut talk.pictures);
            let result = report.result.map(|ended| Finished {
                value: ended.value,
                is_final_answer: ended.is_final_answer,
                pictures,
                canvas_error: ended.canvas_error,
                warnings: ended.warnings,
            });
            if report.usable {
                leash.let_go();
                session.gone = None;
                return (result, SessionFate::Usable);
            }
            session.gone = Some("its last run left it unusable".into());
            return (result, SessionFate::Lost);
        }
        End::Deadline => {
            session.process.kill();
            last_lines(session, talk).await;
            (Fault::timeout(unit.timeout_ms), "its last run was ended at the deadline".to_owned())
        }
        End::Closed(words) => {
            let fault = match words {
                Some(words) => Fault::new(FaultKind::EngineLost, format!("the worker died: {words}")),
                None => autopsy(&session.nursery, session.number).await,
            };
            let why = fault.message.clone();
            (fault, why)
        }
        End::Aborted(DyingCause::OutOfMemory, words) => {
            usage.memory_bytes = session.options.limits.memory_bytes;
            (Fault::memory(session.options.limits.memory_bytes), words.unwrap_or_else(|| "it ran out of memory".into()))
        }
        End::Aborted(DyingCause::Abort, words) => {
            let fault = Fault::engine_crashed(Crash::Abort, words.as_deref());
            let why = fault.message.clone();
            (fault, why)
        }
        End::Hostile(what) => {
            let why = format!("the worker broke the rules of the wire: {what}");
            (Fault::new(FaultKind::EngineLost, why.clone()), why)
        }
    };
    session.gone = Some(why);
    // Dropping the leash kills what is left.
    drop(leash);
    (Err(fault), SessionFate::Lost)
}

/// Reads what the child had written before it was killed; only console lines still count.
async fn last_lines(session: &mut EmbeddedSession, talk: &mut Talk) {
    let max_bytes = usize::try_from(session.options.limits.max_log_bytes).unwrap_or(usize::MAX);
    let reading = async {
        while let Ok(open) = session.line.fill() {
            while let Ok(Some(frame)) = session.line.next(|_| Some(MAX_PICTURE_BYTES)) {
                talk.log_bytes = talk.log_bytes.saturating_add(frame.payload.len());
                let is_log = FromChild::from_byte(frame.kind) == Some(FromChild::Logs);
                if is_log && talk.log_bytes <= max_bytes.saturating_mul(7) {
                    let _ = decode_lines(frame.payload, |line| talk.logs.add(line));
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
    Some(line.chars().filter(|letter| !letter.is_control()).take(300).collect())
}

/// What a child that is gone without a word has died of.
pub(crate) async fn autopsy(nursery: &Nursery, number: u64) -> Fault {
    let lost = |why: String| Fault::new(FaultKind::EngineLost, why);
    match nursery.cause_of_death(number).await {
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
        None if nursery.is_alive() => lost("the worker was killed".into()),
        None => lost("the worker was killed together with its zygote".into()),
    }
}

#[cfg(test)]
#[path = "run_tests.rs"]
mod tests;
