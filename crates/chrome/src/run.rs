//! One run: the prepared text goes into the page, messages come out, and a report is made of them.
//!
//! Everything that a run waits for is in one `select!`, with the deadline first: no guest, no tool and no page can be
//! waited for longer than the run may take.

use std::sync::Arc;
use std::time::{Duration, Instant};

use base64::Engine as _;
use cove_core::{
    Deadline, Fault, FaultKind, Finished, LAST_VALUE, LogLine, Picture, PictureFailure, RunClock, RunReport,
    RunRequest, RunShape, SessionFate, SessionOptions, ToolSpec, Usage, shorten_shown,
};
use cove_script::{Mode, PrepareOptions, prepare};
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::cdp::{CdpError, Evaluated};
use crate::fault::{self, Program};
use crate::message::{Done, Message, read_json};
use crate::page_reply::{self, Calls, PageReply, To};
use crate::tab::Tab;
use crate::tab_events::{Inbox, PageEvent, TabEnd};
use crate::watch::Watched;

/// Who is in the page, and under which rules.
pub(crate) struct Guest {
    pub(crate) tab: Tab,
    pub(crate) watched: Arc<Watched>,
    pub(crate) options: SessionOptions,
}

/// How a run can end.
enum End {
    /// With what of the value was lost on its way to JSON.
    Finished(Box<Finished>, Vec<String>),
    /// A failure of the guest's own: the session lives on.
    Failed(Fault),
    /// A failure that took the page with it.
    Lost(Fault),
}

/// A run of a session whose page is gone already.
pub(crate) fn lost_before_it_began() -> RunReport {
    RunReport::new(Err(Fault::new(FaultKind::EngineLost, "the session's page is gone")), SessionFate::Lost)
}

/// A run that wants its steps counted where text has run that counts none.
pub(crate) fn cannot_count() -> RunReport {
    let message = "this session has run code without a step limit, so steps cannot be counted in it; open another one";
    RunReport::refused(FaultKind::Refused, message)
}

/// Runs one request, the session's `number`-th.
pub(crate) async fn run(guest: &Guest, tools: &[ToolSpec], number: u64, request: &RunRequest) -> RunReport {
    let began = Instant::now();
    let mut logs = Logs::new(&guest.options);
    let mut calls = Calls::default();
    let mut operations = 0;
    let end = match start(guest, tools, number, request) {
        Ok(started) => follow(guest, tools, request, started, &mut logs, &mut calls, &mut operations, began).await,
        Err(fault) => End::Failed(*fault),
    };
    guest.tab.events.close_inbox();
    guest.watched.look();
    let usage = Usage {
        wall_ms: began.elapsed().as_secs_f64() * 1000.0,
        operations,
        memory_bytes: guest.watched.peak_bytes(),
        tool_calls: calls.made(),
    };
    let effects = calls.effects();
    let (result, warnings, lives_on) = match end {
        End::Finished(finished, warnings) => (Ok(*finished), warnings, true),
        End::Failed(fault) => (Err(fault), Vec::new(), true),
        End::Lost(fault) => (Err(fault), Vec::new(), false),
    };
    let fate = if lives_on && guest.tab.is_alive() { SessionFate::Usable } else { SessionFate::Lost };
    let (logs, logs_truncated) = (logs.lines, logs.truncated);
    RunReport { logs, logs_truncated, usage, effects, warnings, ..RunReport::new(result, fate) }
}

/// What was made of the request before anything ran.
struct Started {
    prepared: cove_script::Prepared,
    tool_names: Vec<String>,
    file_name: &'static str,
    script_name: String,
    settings: Value,
}

fn start(guest: &Guest, tools: &[ToolSpec], number: u64, request: &RunRequest) -> Result<Started, Box<Fault>> {
    let tool_names: Vec<String> = tools.iter().map(|tool| tool.name.clone()).collect();
    let (mode, input, body) = match request.shape {
        RunShape::FunctionBody => (Mode::FunctionBody, request.input.as_ref(), true),
        RunShape::Cell => (Mode::Cell, None, false),
    };
    let options = PrepareOptions {
        guards: request.max_operations.is_some(),
        tool_names: &tool_names,
        imports: Some(&guest.options.imports),
        last_value: request.last_value,
        ..PrepareOptions::new(mode)
    };
    let file_name = PrepareOptions::new(mode).file_name;
    let prepared = prepare(&request.code, &options).map_err(|refusal| Box::new(Fault::from(refusal)))?;
    let limits = &guest.options.limits;
    // Every field but the input, whose absence means something; the page reads own properties only.
    let mut settings = json!({
        "silent": false,
        "body": body,
        "inspect": request.inspect,
        "steps": request.max_operations,
        "maxLog": limits.max_log_bytes,
        "maxResult": limits.max_result_chars,
        "maxImages": limits.max_images,
    });
    if let (Some(input), Some(settings)) = (input, settings.as_object_mut()) {
        settings.insert("input".to_owned(), input.clone());
    }
    let script_name = match mode {
        Mode::Cell => format!("cell-{number}.js"),
        _ if number == 1 => file_name.to_owned(),
        _ => format!("code-{number}.js"),
    };
    Ok(Started { prepared, tool_names, file_name, script_name, settings })
}

/// For the kernel's answer to a call whose run has no time left: the browser's last words are worth more than its silence.
const ANSWER: Duration = Duration::from_secs(1);

#[expect(clippy::too_many_arguments, reason = "the run's own state, taken apart so that it can be borrowed in parts")]
async fn follow(
    guest: &Guest,
    tools: &[ToolSpec],
    request: &RunRequest,
    started: Started,
    logs: &mut Logs,
    calls: &mut Calls,
    operations: &mut u64,
    began: Instant,
) -> End {
    let tab = &guest.tab;
    let program =
        Program { prepared: &started.prepared, script_name: started.script_name, file_name: started.file_name };
    let source = format!("{}\n//# sourceURL={}\n", started.prepared.code, program.script_name);
    let mut inbox = tab.events.open_inbox();
    let mut ended = tab.events.watch_end();
    let budget = Duration::from_millis(request.timeout_ms);
    let mut clock = RunClock::begin(guest.options.holds.clone(), budget, began, None);
    let until = Deadline::after(budget.saturating_sub(began.elapsed()));
    let deadline = tokio::time::sleep_until(until.at().into());
    // The kernel compiles it: where it stands, and nowhere else, the counter has a name.
    let call = tab.kernel_call("function(p,s){this.run(p,s)}", &[source.into(), started.settings.to_string().into()]);
    let begun = tab.session.call::<Evaluated>("Runtime.callFunctionOn", call, until.backstop(ANSWER).left());
    tokio::pin!(deadline, begun);
    let mut has_begun = false;
    loop {
        let event = tokio::select! {
            biased;
            () = &mut deadline => {
                if let Some(left) = clock.left() {
                    deadline.as_mut().reset(tokio::time::Instant::now() + left);
                    continue;
                }
                drain(&mut inbox, logs);
                return End::Lost(Fault::timeout(request.timeout_ms));
            }
            Some(event) = inbox.next() => event,
            (to, answer) = calls.next() => {
                page_reply::send(tab, to, &answer).await;
                continue;
            }
            result = &mut begun, if !has_begun => {
                has_begun = true;
                match result {
                    Ok(Evaluated { exception_details: Some(details), .. }) => return End::Failed(program.refused(details)),
                    Ok(_) | Err(CdpError::Gone | CdpError::Closed | CdpError::Deadline(_)) => {}
                    Err(error) => return End::Lost(Fault::new(FaultKind::EngineLost, error.to_string())),
                }
                continue;
            }
            end = first_end(&mut ended) => {
                if let Some(done) = drain(&mut inbox, logs) {
                    return conclude(guest, request, &program, done, operations);
                }
                guest.watched.look();
                let near = guest.watched.was_near_its_limit();
                return End::Lost(fault::lost(end, guest.options.limits.memory_bytes, near));
            }
        };
        let (message, waiting) = match event {
            PageEvent::Message(message) => (message, None),
            PageEvent::Waiting { request, message } => (message, Some(request)),
        };
        let to = |id| waiting.clone().map_or(To::Promise(id), To::Request);
        match Message::read(&message) {
            Some(Message::Log { level, text }) => logs.add(LogLine { level, text }),
            Some(Message::Cut) => logs.truncated = true,
            Some(Message::Tool { id, name, args }) => {
                let started = match &guest.options.gate {
                    Some(gate) if !gate() => Some((to(id), PageReply::ended())),
                    _ => calls.start(tools, &name, &args, to(id)),
                };
                if let Some((to, answer)) = started {
                    page_reply::send(tab, to, &answer).await;
                }
            }
            Some(Message::Import { id, name }) => {
                page_reply::import(tab, &guest.options.imports, id, &name).await;
            }
            Some(Message::Dynamic { id, code }) => {
                page_reply::send(tab, to(id), &page_reply::dynamic(&code, &started.tool_names)).await;
            }
            Some(Message::Done(done)) => {
                return conclude(guest, request, &program, *done, operations);
            }
            Some(Message::Hello) => {}
            None => {
                if let Some(waiting) = waiting {
                    let failed = PageReply::Failed { kind: "tool", message: "unreadable".to_owned(), code: None };
                    page_reply::send(tab, To::Request(waiting), &failed).await;
                }
            }
        }
    }
}

/// Why the tab ended, as soon as it does.
async fn first_end(ended: &mut watch::Receiver<Option<TabEnd>>) -> TabEnd {
    ended.wait_for(Option::is_some).await.ok().and_then(|end| *end).unwrap_or(TabEnd::Closed)
}

/// Takes what the page had still said; its end, if that was among it.
fn drain(inbox: &mut Inbox, logs: &mut Logs) -> Option<Done> {
    while let Some(event) = inbox.take() {
        let PageEvent::Message(message) = event else { continue };
        match Message::read(&message) {
            Some(Message::Log { level, text }) => logs.add(LogLine { level, text }),
            Some(Message::Cut) => logs.truncated = true,
            Some(Message::Done(done)) => return Some(*done),
            _ => {}
        }
    }
    None
}

/// Whether what the page says about its steps can be: within the limit, and spent exactly where it says so.
fn can_be(done: &Done, max_operations: Option<u64>) -> bool {
    match max_operations {
        None => done.operations == 0 && !done.steps,
        Some(limit) => done.operations <= limit && (!done.steps || done.operations == limit),
    }
}

fn conclude(guest: &Guest, request: &RunRequest, program: &Program<'_>, done: Done, operations: &mut u64) -> End {
    let limits = &guest.options.limits;
    if !can_be(&done, request.max_operations) {
        return End::Lost(Fault::new(FaultKind::EngineLost, "the page's report about its run cannot be true"));
    }
    *operations = done.operations;
    if done.steps {
        return End::Failed(Fault::max_operations(request.max_operations.unwrap_or_default()));
    }
    if let Some(thrown) = done.thrown {
        return End::Failed(program.thrown(thrown));
    }
    let unfit = |why: &str| End::Failed(Fault::not_serializable(why, fault::no_json(why)));
    if let Some(why) = done.unfit {
        return unfit(why.lines().next().unwrap_or_default());
    }
    if let Some(length) = done.too_large {
        return End::Failed(Fault::result_too_large(limits.max_result_chars, length));
    }
    let text = done.json.as_deref().unwrap_or("null");
    if text.len() as u64 > limits.max_result_chars && text.chars().count() as u64 > limits.max_result_chars {
        return End::Failed(Fault::result_too_large(limits.max_result_chars, text.chars().count() as u64));
    }
    let value = match read_json(text) {
        Ok(value) => value,
        Err(_) => return unfit("it is nested too deeply"),
    };
    let mut canvas_error = done.canvas_error;
    let mut pictures = Vec::new();
    for drawn in done.pictures.into_iter().take(limits.max_images as usize) {
        match base64::engine::general_purpose::STANDARD.decode(drawn.png.as_bytes()) {
            Ok(png) => pictures.push(Picture { name: drawn.name, width: drawn.width, height: drawn.height, png }),
            Err(_) => canvas_error = Some("The canvas could not be exported: its PNG cannot be read".to_owned()),
        }
    }
    let canvas_error = canvas_error.map(PictureFailure::drawing);
    let mut warnings: Vec<String> =
        done.lost.into_iter().take(MAX_WARNINGS).map(|sentence| shorten_shown(sentence, MAX_WARNING_CHARS)).collect();
    if program.prepared.takes_last && !done.answer && !done.undefined {
        warnings.push(LAST_VALUE.to_owned());
    }
    let is_final_answer = done.answer;
    // Asked for, not merely sent: a page cannot choose how its value is shown.
    let shown = done.shown.filter(|_| request.inspect && !is_final_answer);
    let shown = shown.map(|text| shorten_shown(text, limits.max_result_chars));
    let finished = Finished { value, shown, is_final_answer, pictures, canvas_error, ..Finished::default() };
    End::Finished(Box::new(finished), warnings)
}

/// Sentences about one value, and characters of each, that are taken from a page.
const MAX_WARNINGS: usize = 5;
const MAX_WARNING_CHARS: u64 = 1000;

/// Console lines within their limit.
struct Logs {
    lines: Vec<LogLine>,
    bytes_left: u64,
    truncated: bool,
    sink: Option<cove_core::LogSink>,
}

impl Logs {
    fn new(options: &SessionOptions) -> Self {
        let sink = options.log_sink.clone();
        Self { lines: Vec::new(), bytes_left: options.limits.max_log_bytes, truncated: false, sink }
    }

    /// Keeps a line, if it fits whole; after the first that does not, none is kept.
    fn add(&mut self, line: LogLine) {
        let bytes = line.text.len() as u64 + 1;
        if self.truncated || bytes > self.bytes_left {
            self.truncated = true;
            return;
        }
        self.bytes_left -= bytes;
        if let Some(sink) = &self.sink {
            sink(&line);
        }
        self.lines.push(line);
    }
}
