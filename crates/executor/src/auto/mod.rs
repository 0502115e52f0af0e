//! `auto` that learns from failure: what the embedded engine cannot do, or not soon, is tried in Chrome.
//!
//! A program that needs no browser begins in the embedded engine. If it fails for want of something that Chrome has, it is
//! run again there. If it has computed for a second, Chrome runs it too (in a page that was opened shortly before), and the
//! first answer counts. Both happen only as long as nobody has noticed the first attempt: no tool was called, nothing was fetched, no console line was shown. Pictures are
//! kept only of the attempt that counts, and a failure in both engines is told in the embedded engine's words.

mod claim;
mod opening;
mod want;

use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::{Duration, Instant};

use cove_core::{
    Deadline, Engine, EngineError, EngineName, EngineReason, EngineReport, Fault, FaultKind, RunReport, RunRequest,
};

use crate::runner::Runner;
pub(crate) use claim::Attempt;
use claim::Claim;
use opening::Opening;
use want::{Want, want_of};

/// A program that has run for so long, and not mostly waited, gets Chrome beside it. Console lines are held no longer than
/// this, unless two engines run.
const LONG: Duration = Duration::from_secs(1);

/// Chrome's page is opened so long before it is needed: about what a cold start takes, so that the race begins at once. A program
/// that ends meanwhile has had a browser launched for nothing, which is why this is not longer.
const AHEAD: Duration = Duration::from_millis(400);

/// Between two looks at whether a program that has waited computes now.
const LOOK: Duration = Duration::from_millis(250);

/// A try that goes on.
type Running<'a> = Pin<Box<dyn Future<Output = Result<RunReport, EngineError>> + Send + 'a>>;

/// What has come of a run, and whose report it is.
struct Verdict {
    report: RunReport,
    engine: EngineName,
    reason: EngineReason,
    because: String,
}

/// One run that may move to Chrome.
pub(crate) struct Auto<'a> {
    pub(crate) runner: &'a Runner,
    pub(crate) embedded: &'a Arc<dyn Engine>,
    pub(crate) browser: &'a Arc<dyn Engine>,
    pub(crate) request: &'a RunRequest,
    /// Why the embedded engine begins.
    pub(crate) because: String,
}

impl Auto<'_> {
    /// Runs it. One deadline holds for everything that is tried, from when the code begins: what a busy machine needs for
    /// the first session is not taken from the code's time.
    pub(crate) async fn run(self) -> RunReport {
        let began = Instant::now();
        let claim = Claim::new();
        let sink = || self.runner.options.log_sink.clone();
        let first = Attempt::new(EngineName::Embedded, &claim, sink(), Some(Arc::clone(self.browser)));
        let second = Attempt::new(EngineName::Browser, &claim, sink(), None);
        let session = match self.runner.open_first(self.embedded.as_ref(), self.request, &first).await {
            Ok(session) => session,
            Err(error) => return self.reported(self.plain(lost(&error)), began),
        };
        let deadline = Deadline::after(Duration::from_millis(self.request.timeout_ms));
        let attempt = self.runner.run_attempt(session, self.request, &first, &deadline);
        let mut embedded: Running<'_> = Box::pin(async { Ok(attempt.await) });
        let open = self.runner.open_attempt(self.browser.as_ref(), self.request, &second, &deadline);
        let mut page = Opening::new(open);
        let verdict = match self.alone(&mut embedded, &mut page, &first, &claim).await {
            None => {
                let chrome = self.in_page(page, &second, &deadline);
                self.race(embedded, Box::pin(chrome), &first, &claim).await
            }
            Some(ended) => {
                drop((embedded, page));
                let report = ended.unwrap_or_else(|error| lost(&error));
                match report.fault().and_then(want_of).filter(|_| claim.owner().is_none() && self.browser.is_here()) {
                    Some(want) => self.again(report, want, &second, &claim, &deadline).await,
                    None => self.plain(report),
                }
            }
        };
        match verdict.engine {
            EngineName::Embedded => first.show(),
            EngineName::Browser => second.show(),
        }
        self.reported(verdict, began)
    }

    /// What the caller is told.
    fn reported(&self, verdict: Verdict, began: Instant) -> RunReport {
        let Verdict { mut report, engine, reason, because } = verdict;
        report.usage.wall_ms = began.elapsed().as_secs_f64() * 1e3;
        if let Err(fault) = &mut report.result
            && fault.kind == FaultKind::Timeout
        {
            // Whatever was left for the second attempt: this is the number that the caller gave.
            *fault = Fault::timeout(self.request.timeout_ms);
        }
        if let Ok(finished) = &mut report.result {
            self.runner.options.pictures.keep(self.request, engine, finished);
        }
        report.engine = Some(EngineReport { name: engine, reason, because, fallback_used: false });
        report
    }

    /// The first attempt until it has ended; `None` once it computes for too long and nobody has noticed it yet. Chrome's
    /// page begins to open before that.
    async fn alone(
        &self,
        embedded: &mut Running<'_>,
        page: &mut Opening<'_>,
        first: &Attempt,
        claim: &Claim,
    ) -> Option<Result<RunReport, EngineError>> {
        let began = Instant::now();
        let mut look = pin!(tokio::time::sleep(LONG - AHEAD));
        let mut opens = false;
        loop {
            tokio::select! {
                biased;
                ended = &mut *embedded => return Some(ended),
                _ = claim.taken() => {
                    page.close();
                    return Some(embedded.await);
                }
                () = page.progress(), if opens => {}
                () = look.as_mut() => {
                    let passed = began.elapsed();
                    // Less than a quarter of the time on a processor, or ready for one, is waiting.
                    let computes = first.computed().is_none_or(|computed| computed * 4 >= passed);
                    let is_wanted = computes && self.browser.is_here();
                    if passed < LONG {
                        opens = is_wanted;
                        look.as_mut().reset(tokio::time::Instant::from_std(began + LONG));
                        continue;
                    }
                    if is_wanted {
                        return None;
                    }
                    // Whoever listens waits no longer.
                    first.show();
                    look.as_mut().reset(tokio::time::Instant::now() + LOOK);
                }
            }
        }
    }

    /// The second attempt, in the page that has been opened or is about to be.
    async fn in_page(
        &self,
        page: Opening<'_>,
        second: &Arc<Attempt>,
        deadline: &Deadline,
    ) -> Result<RunReport, EngineError> {
        Ok(self.runner.run_attempt(page.opened().await?, self.request, second, deadline).await)
    }

    /// The embedded engine has failed for want of something: Chrome has its turn.
    async fn again(
        &self,
        failed: RunReport,
        want: Want,
        second: &Arc<Attempt>,
        claim: &Claim,
        deadline: &Deadline,
    ) -> Verdict {
        // Chrome could not be had: as if there were none.
        let Ok(page) = self.runner.open_attempt(self.browser.as_ref(), self.request, second, deadline).await else {
            return self.plain(failed);
        };
        let mut chrome = pin!(self.runner.run_attempt(page, self.request, second, deadline));
        let mut held = pin!(tokio::time::sleep(LONG));
        let ended = loop {
            tokio::select! {
                biased;
                ended = chrome.as_mut() => break ended,
                () = held.as_mut(), if !held.is_elapsed() => second.show(),
            }
        };
        let Want { reason, because } = want;
        if ended.result.is_ok() || claim.owner().is_some() {
            let because = format!("{because}, so Chrome ran it");
            return Verdict { report: ended, engine: EngineName::Browser, reason, because };
        }
        let because = format!("{because}, and in Chrome it failed too");
        Verdict { report: failed, engine: EngineName::Embedded, reason, because }
    }

    /// Both engines run the code. The first answer counts, and the other one is ended.
    async fn race(&self, embedded: Running<'_>, chrome: Running<'_>, first: &Attempt, claim: &Claim) -> Verdict {
        // Dropping one of them kills what it runs.
        let (mut embedded, mut chrome) = (Some(embedded), Some(chrome));
        let (mut failed, mut chrome_ran) = (None, true);
        loop {
            tokio::select! {
                biased;
                owner = claim.taken(), if embedded.is_some() && chrome.is_some() => match owner {
                    EngineName::Embedded => chrome = None,
                    EngineName::Browser => embedded = None,
                },
                ended = running(&mut embedded), if embedded.is_some() => {
                    embedded = None;
                    let report = ended.unwrap_or_else(|error| lost(&error));
                    if claim.owner() == Some(EngineName::Browser) {
                        continue;
                    }
                    if !chrome_ran {
                        return self.plain(report);
                    }
                    if is_answer(&report, EngineName::Embedded) || is_late(&report) || chrome.is_none() {
                        return raced(report, EngineName::Embedded, "the embedded engine was faster");
                    }
                    failed = Some(report);
                }
                ended = running(&mut chrome), if chrome.is_some() => {
                    chrome = None;
                    let owner = claim.owner();
                    if owner == Some(EngineName::Embedded) {
                        continue;
                    }
                    match (ended, failed.take()) {
                        (Ok(report), _) if is_answer(&report, EngineName::Browser) || owner.is_some() => {
                            return raced(report, EngineName::Browser, "Chrome was faster");
                        }
                        (_, Some(report)) => return raced(report, EngineName::Embedded, "it failed in both"),
                        // The embedded engine is alone again.
                        (ended, None) => {
                            chrome_ran = ended.is_ok();
                            first.show();
                        }
                    }
                }
                else => return self.plain(RunReport::refused(FaultKind::EngineLost, "both engines were ended")),
            }
        }
    }

    fn plain(&self, report: RunReport) -> Verdict {
        let (reason, because) = (EngineReason::NeedsNoBrowser, self.because.clone());
        Verdict { report, engine: EngineName::Embedded, reason, because }
    }
}

/// The report of an attempt that could not begin.
fn lost(error: &EngineError) -> RunReport {
    RunReport::refused(FaultKind::EngineLost, error.to_string())
}

/// One that goes on, to its end.
async fn running(attempt: &mut Option<Running<'_>>) -> Result<RunReport, EngineError> {
    match attempt {
        Some(attempt) => attempt.await,
        None => std::future::pending().await,
    }
}

fn raced(report: RunReport, engine: EngineName, how: &str) -> Verdict {
    let because = format!("the code computed for longer than a second, so both engines ran it; {how}");
    Verdict { report, engine, reason: EngineReason::LongComputation, because }
}

/// Whether a report says how the program ends, and not what its engine lacks.
fn is_answer(report: &RunReport, engine: EngineName) -> bool {
    // There are things that only the embedded engine has, and no list of them.
    let may_lack = |fault: &Fault| {
        engine == EngineName::Browser
            && ["ReferenceError", "TypeError"].iter().any(|kind| fault.message.starts_with(kind))
    };
    match &report.result {
        Ok(_) => true,
        Err(fault) => match fault.kind {
            FaultKind::Exception => want_of(fault).is_none() && !may_lack(fault),
            FaultKind::Tool
            | FaultKind::Refused
            | FaultKind::ImportNotAllowed
            | FaultKind::MaxOperations
            | FaultKind::NotSerializable
            | FaultKind::ResultTooLarge => true,
            _ => false,
        },
    }
}

fn is_late(report: &RunReport) -> bool {
    report.fault().is_some_and(|fault| fault.kind == FaultKind::Timeout)
}
