//! The output of Python and of commands, printed as it is written.
//!
//! Only so much is told while a run goes on. Printing stops at the first thing that was missed, so that what is on the screen
//! is always the beginning of the output, and the answer at the end adds the rest.

use std::borrow::Cow;
use std::collections::HashSet;
use std::io::Write as _;
use std::time::Duration;

use cove_api::{Event, EventKind, ExecutionId, OutputChunk, OutputStream};
use cove_client::{Client, ClientError, Events};
use cove_core::LEFT_OUT;

use super::wait;
use crate::terminal;

/// How long the last lines of a run that has ended are waited for: they come by another connection than its answer.
const LAST_LINES: Duration = Duration::from_secs(2);

/// Prints what a run writes, and remembers it.
pub(super) struct Printed {
    events: Events,
    tag: String,
    out: String,
    err: String,
    /// Whether something of it was missed: from there on nothing is printed before the end.
    has_gap: bool,
    /// Runs whose end was heard.
    ended: HashSet<String>,
}

impl Printed {
    /// Begins to listen. `None`: it cannot be heard meanwhile, so its output comes at the end.
    pub(super) async fn listen(bay: &Client, id: &str) -> Option<Self> {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let tag = format!("cli-{}-{}", std::process::id(), now.as_nanos());
        let events = bay.events(id, None).await.ok()?;
        let (out, err, ended) = Default::default();
        Some(Self { events, tag, out, err, has_gap: false, ended })
    }

    /// What the request must say.
    pub(super) fn tag(&self) -> String {
        self.tag.clone()
    }

    /// Waits for a run's answer, and prints meanwhile. `id_of` finds the run in its answer.
    pub(super) async fn during<T>(
        &mut self,
        run: impl Future<Output = Result<T, ClientError>>,
        id_of: impl Fn(&T) -> Option<ExecutionId>,
    ) -> anyhow::Result<T> {
        let mut run = std::pin::pin!(run);
        let answer = loop {
            tokio::select! {
                biased;
                answer = &mut run => break answer?,
                event = self.events.next() => match event {
                    Ok(Some(event)) => self.print(&event)?,
                    Ok(None) | Err(_) => {
                        self.has_gap = true;
                        break run.await?;
                    }
                },
            }
        };
        let wanted = id_of(&answer);
        let rest = async {
            while wanted.as_deref().is_some_and(|id| !self.ended.contains(id)) {
                let Ok(Some(event)) = self.events.next().await else { return Ok(false) };
                self.print(&event)?;
            }
            Ok::<_, std::io::Error>(true)
        };
        let heard_all = tokio::time::timeout(LAST_LINES, rest).await.unwrap_or(Ok(false))?;
        self.has_gap |= !heard_all;
        Ok(answer)
    }

    /// What of an output was not printed yet.
    pub(super) fn rest<'a>(&self, output: &'a str) -> Cow<'a, str> {
        let printed = self.out.len() + self.err.len();
        let is_all = !self.has_gap && output.len() <= printed + 1 && output.starts_with(&self.out);
        if is_all { Cow::Borrowed("") } else { rest_after(&self.out, output) }
    }

    /// Whether the last line of standard output has no end yet.
    pub(super) fn is_mid_line(&self) -> bool {
        !self.out.is_empty() && !self.out.ends_with('\n')
    }

    /// What of an error was not printed yet: the words after those of standard error.
    pub(super) fn rest_of_error<'a>(&self, error: &'a str) -> &'a str {
        let rest = error.strip_prefix(self.err.as_str());
        rest.map_or(error, |rest| rest.trim_start_matches('\n'))
    }

    fn print(&mut self, event: &Event) -> std::io::Result<()> {
        let is_ours = event.data.get("tag").and_then(serde_json::Value::as_str) == Some(&self.tag);
        match event.kind {
            EventKind::Output if is_ours && !self.has_gap => {}
            EventKind::Gap => {
                self.has_gap = true;
                return Ok(());
            }
            EventKind::RunFinished => {
                let id = event.data.get("execution_id").and_then(serde_json::Value::as_str);
                self.ended.extend(id.map(str::to_owned));
                return Ok(());
            }
            _ => return Ok(()),
        }
        let data = serde_json::Value::Object(event.data.clone());
        let Ok(OutputChunk { stream, text, dropped }) = serde_json::from_value(data) else { return Ok(()) };
        // What was left out comes behind this text.
        self.has_gap |= dropped > 0;
        wait::make_room()?;
        let (mut screen, kept) = match stream {
            OutputStream::Stdout => (terminal::out(), &mut self.out),
            OutputStream::Stderr => (terminal::aside(), &mut self.err),
        };
        kept.push_str(&text);
        screen.write_all(text.as_bytes())?;
        screen.flush()
    }
}

/// What is missing of an output of which the beginning was printed. An answer has the first and the last part of a long output, with a
/// line in between that says how much was left out; that line then counts from what was printed.
fn rest_after<'a>(printed: &str, output: &'a str) -> Cow<'a, str> {
    if let Some(rest) = output.strip_prefix(printed) {
        return Cow::Borrowed(rest);
    }
    for (at, _) in output.match_indices(LEFT_OUT.0) {
        // The first part may end with half a character.
        let (head, rest) = (output[..at].trim_end_matches('\u{fffd}'), &output[at + LEFT_OUT.0.len()..]);
        let Some((number, tail)) = rest.split_once(LEFT_OUT.1).filter(|_| printed.starts_with(head)) else { continue };
        let Ok(number) = number.parse::<usize>() else { continue };
        let tail_begins = at + number;
        return match printed.len().checked_sub(tail_begins) {
            Some(told) => Cow::Borrowed(tail.get(told..).unwrap_or_default()),
            None => {
                let missing = tail_begins - printed.len();
                Cow::Owned(format!("{}{missing}{}{tail}", LEFT_OUT.0, LEFT_OUT.1))
            }
        };
    }
    Cow::Borrowed(output)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_printed_twice() {
        let check =
            |printed: &str, output: &str, rest: &str| assert_eq!(rest_after(printed, output), rest, "{printed:?}");
        check("", "all of it", "all of it");
        check("all ", "all of it", "of it");
        check("all of it", "all of it", "");
        // "abcde", 16 bytes, "vwxyz".
        let cut = "abcde\n[… 16 bytes left out …]\nvwxyz";
        check("abc", cut, "de\n[… 16 bytes left out …]\nvwxyz");
        check("abcde", cut, "\n[… 16 bytes left out …]\nvwxyz");
        check("abcdefghij", cut, "\n[… 11 bytes left out …]\nvwxyz");
        check("abcdefghijklmnopqrstu", cut, "vwxyz");
        check("abcdefghijklmnopqrstuvw", cut, "xyz");
        check("abcdefghijklmnopqrstuvwxyz", cut, "");
        // Somebody else's output: better twice than not at all.
        check("other", cut, cut);
        check("x", "a\n[… many bytes left out …]\nb", "a\n[… many bytes left out …]\nb");
    }
}
