//! The payloads. Text and bytes travel raw beside a small head; JSON is written and read once, never inside a string.

use cove_core::{
    Fault, Finished, LogLevel, LogLine, Picture, PictureFailure, RunReport, RunRequest, RunShape, SessionFate,
};
use serde::{Deserialize, Serialize};

use super::WireError;

/// The arguments of one call. Larger things belong into a file or an artifact.
pub(crate) const MAX_CALL_BYTES: usize = 64 << 20;

/// The answer of one call; a longer one becomes a failure of the tool.
pub(crate) const MAX_ANSWER_BYTES: usize = 64 << 20;

/// The longest name of a tool or a picture.
pub(crate) const MAX_NAME_BYTES: usize = 1024;

/// Reads a payload from its beginning.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    fn byte(&mut self) -> Option<u8> {
        self.take(1)?.first().copied()
    }

    fn u32(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.take(4)?.try_into().ok()?))
    }

    fn u64(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.take(8)?.try_into().ok()?))
    }

    /// Bytes with their length in front.
    fn sized(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.u32()?).ok()?;
        self.take(length)
    }

    fn text(&mut self) -> Option<&'a str> {
        std::str::from_utf8(self.sized()?).ok()
    }

    fn rest_as_text(self) -> Option<&'a str> {
        std::str::from_utf8(self.0).ok()
    }
}

fn sized_into(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend_from_slice(&length_of(bytes));
    out.extend_from_slice(bytes);
}

fn length_of(bytes: &[u8]) -> [u8; 4] {
    u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_le_bytes()
}

// ---- Requests

/// What of a request travels beside its code and its input: what the worker needs, and no more.
#[derive(Serialize, Deserialize)]
struct RequestHead {
    cell: bool,
    last_value: bool,
    inspect: bool,
    /// `None` is `undefined`; JSON's `null` stands in the text behind the code.
    has_input: bool,
    max_operations: Option<u64>,
    timeout_ms: u64,
}

pub(crate) fn encode_request(request: &RunRequest, out: &mut Vec<u8>) {
    // A cell has no input of its own.
    let input = request.input.as_ref().filter(|_| request.shape == RunShape::FunctionBody);
    let head = RequestHead {
        cell: request.shape == RunShape::Cell,
        last_value: request.last_value,
        inspect: request.inspect,
        has_input: input.is_some(),
        max_operations: request.max_operations,
        timeout_ms: request.timeout_ms,
    };
    sized_into(out, &serde_json::to_vec(&head).unwrap_or_default());
    sized_into(out, request.code.as_bytes());
    if let Some(input) = input {
        // A `Value` has string keys only, so writing it cannot fail.
        let _ = serde_json::to_writer(&mut *out, input);
    }
}

pub(crate) fn decode_request(payload: &[u8]) -> Result<RunRequest, String> {
    let mut reader = Reader(payload);
    let head = reader.sized().and_then(|head| serde_json::from_slice::<RequestHead>(head).ok());
    let (Some(head), Some(code)) = (head, reader.text()) else { return Err("the request does not decode".into()) };
    let input = match head.has_input {
        true => Some(serde_json::from_slice(reader.0).map_err(|error| format!("the input does not decode: {error}"))?),
        false => None,
    };
    Ok(RunRequest {
        shape: if head.cell { RunShape::Cell } else { RunShape::FunctionBody },
        last_value: head.last_value,
        inspect: head.inspect,
        input,
        max_operations: head.max_operations,
        timeout_ms: head.timeout_ms,
        ..RunRequest::new(code)
    })
}

// ---- Logs

/// What stands before the text of a console line.
pub(crate) fn line_head(level: LogLevel, text: &str) -> [u8; 5] {
    let [a, b, c, d] = length_of(text.as_bytes());
    [level as u8, a, b, c, d]
}

const LEVELS: [LogLevel; 5] = [LogLevel::Debug, LogLevel::Log, LogLevel::Info, LogLevel::Warn, LogLevel::Error];

pub(crate) fn decode_lines(payload: &[u8], mut keep: impl FnMut(LogLine)) -> Result<(), WireError> {
    let mut reader = Reader(payload);
    while !reader.0.is_empty() {
        let level = reader.byte().and_then(|byte| LEVELS.into_iter().find(|level| *level as u8 == byte));
        let (Some(level), Some(text)) = (level, reader.text()) else { return Err(WireError::Payload("log")) };
        keep(LogLine { level, text: text.to_owned() });
    }
    Ok(())
}

// ---- Tool calls and answers

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Call<'a> {
    pub(crate) id: u64,
    pub(crate) name: &'a str,
    pub(crate) args_json: &'a str,
}

impl Call<'_> {
    /// What stands before the arguments.
    pub(crate) fn head(&self) -> Vec<u8> {
        let mut head = Vec::with_capacity(12 + self.name.len());
        head.extend_from_slice(&self.id.to_le_bytes());
        sized_into(&mut head, self.name.as_bytes());
        head
    }
}

pub(crate) fn decode_call(payload: &[u8]) -> Result<Call<'_>, WireError> {
    let mut reader = Reader(payload);
    let call = (|| {
        let id = reader.u64()?;
        let name = reader.text().filter(|name| name.len() <= MAX_NAME_BYTES)?;
        Some(Call { id, name, args_json: reader.rest_as_text()? })
    })();
    call.ok_or(WireError::Payload("tool call"))
}

/// What a tool said: JSON text, or a message and a code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum ToolReply {
    Value(String),
    Failure { message: String, code: Option<String> },
}

pub(crate) fn encode_answer(id: u64, answer: &ToolReply, out: &mut Vec<u8>) {
    out.extend_from_slice(&id.to_le_bytes());
    match answer {
        ToolReply::Value(json) => {
            out.push(1);
            out.extend_from_slice(json.as_bytes());
        }
        ToolReply::Failure { message, code } => {
            out.push(0);
            sized_into(out, message.as_bytes());
            out.extend_from_slice(code.as_deref().unwrap_or_default().as_bytes());
        }
    }
}

pub(crate) fn decode_answer(payload: &[u8]) -> Option<(u64, ToolReply)> {
    let mut reader = Reader(payload);
    let id = reader.u64()?;
    if reader.byte()? == 1 {
        return Some((id, ToolReply::Value(reader.rest_as_text()?.to_owned())));
    }
    let message = reader.text()?.to_owned();
    let code = Some(reader.rest_as_text()?.to_owned()).filter(|code| !code.is_empty());
    Some((id, ToolReply::Failure { message, code }))
}

// ---- Pictures

/// What stands before the PNG.
pub(crate) fn picture_head(name: Option<&str>, width: u32, height: u32) -> Vec<u8> {
    let mut head = Vec::new();
    head.extend_from_slice(&width.to_le_bytes());
    head.extend_from_slice(&height.to_le_bytes());
    head.push(u8::from(name.is_some()));
    sized_into(&mut head, name.unwrap_or_default().as_bytes());
    head
}

pub(crate) fn decode_picture(payload: &[u8]) -> Result<Picture, WireError> {
    let mut reader = Reader(payload);
    let picture = (|| {
        let (width, height, named) = (reader.u32()?, reader.u32()?, reader.byte()?);
        let name = reader.text().filter(|name| name.len() <= MAX_NAME_BYTES)?;
        Some(Picture { name: (named == 1).then(|| name.to_owned()), width, height, png: reader.0.to_vec() })
    })();
    picture.ok_or(WireError::Payload("picture"))
}

// ---- Reports

/// What of a report travels beside its value. Pictures and console lines have frames of their own, and what the run cost
/// its host the host counts itself.
#[derive(Serialize, Deserialize)]
struct ReportHead {
    fault: Option<Fault>,
    is_final_answer: bool,
    shown: Option<String>,
    canvas_error: Option<String>,
    warnings: Vec<String>,
    operations: u64,
    memory_bytes: u64,
    usable: bool,
}

/// The longest report that a session's child may send: the result with every character at its widest, and a fault.
pub(crate) fn max_report_bytes(max_result_chars: u64) -> usize {
    usize::try_from(max_result_chars).unwrap_or(usize::MAX >> 3).saturating_mul(4).saturating_add(1 << 20)
}

/// A report on its way: the head with its length, and the value's JSON, apart so that neither eats into the other's depth.
pub(crate) type ReportFrame = (Vec<u8>, Vec<u8>);

pub(crate) fn report_parts(report: RunReport) -> ReportFrame {
    let (finished, fault) = match report.result {
        Ok(finished) => (finished, None),
        Err(fault) => (Finished::default(), Some(fault)),
    };
    let head = ReportHead {
        fault,
        is_final_answer: finished.is_final_answer,
        shown: finished.shown,
        canvas_error: finished.canvas_error.map(|error| error.message),
        warnings: report.warnings,
        operations: report.usage.operations,
        memory_bytes: report.usage.memory_bytes,
        usable: report.fate == SessionFate::Usable,
    };
    let mut bytes = Vec::new();
    sized_into(&mut bytes, &serde_json::to_vec(&head).unwrap_or_default());
    (bytes, serde_json::to_vec(&finished.value).unwrap_or_default())
}

pub(crate) fn decode_report(payload: &[u8]) -> Result<RunReport, WireError> {
    let mut reader = Reader(payload);
    let head = reader.sized().and_then(|head| serde_json::from_slice::<ReportHead>(head).ok());
    let head = head.ok_or(WireError::Payload("report"))?;
    let value = serde_json::from_slice(reader.0).map_err(|_| WireError::Payload("report"))?;
    let result = match head.fault {
        Some(fault) => Err(fault),
        None => Ok(Finished {
            value,
            is_final_answer: head.is_final_answer,
            shown: head.shown,
            canvas_error: head.canvas_error.map(PictureFailure::drawing),
            ..Finished::default()
        }),
    };
    let mut report = RunReport::new(result, if head.usable { SessionFate::Usable } else { SessionFate::Lost });
    (report.usage.operations, report.usage.memory_bytes) = (head.operations, head.memory_bytes);
    report.warnings = head.warnings;
    Ok(report)
}

#[cfg(test)]
#[path = "message_tests.rs"]
mod tests;
