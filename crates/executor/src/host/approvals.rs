//! Calls that wait until a person has decided.
//!
//! A question holds the guest's `await` and nothing else: its process stays, the clock of its run stands still, and when it
//! is approved the call goes on from where it stood. Nothing is run again, so a question that is lost with the host, with its
//! run or at its deadline is a call that was never made.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cove_api::{Approval, ApprovalDecision, ApprovalEnd, CodeLine, Moment};
use cove_core::ToolError;
use serde_json::Value;
use tokio::sync::oneshot;

use super::current::CurrentRun;

/// Calls of one owner that may wait at once.
const MAX_WAITING: usize = 1_000;

/// Decisions that are remembered of one owner.
const MAX_REMEMBERED: usize = 1_000;

/// How much of a value a person is shown.
const MAX_ARGS_BYTES: usize = 256 << 10;

/// The code of a call that was not made because nobody allowed it.
const CALL_DENIED: &str = "call_denied";

/// What a person is asked.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// What is to be called.
    pub tool: String,
    /// With which arguments.
    pub args: Value,
    /// Why a person is asked.
    pub why: String,
    /// The lines of code that make such a call.
    pub lines: Vec<CodeLine>,
}

/// Nobody waits for this decision: it was decided already, its run has ended, or it is another owner's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no pending approval {0}")]
pub struct NoSuchApproval(pub String);

/// All questions that wait.
#[derive(Debug)]
pub(super) struct Approvals {
    limit: Duration,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    waiting: HashMap<String, Waiting>,
    /// Owner, session and tool.
    remembered: HashSet<(String, Option<String>, String)>,
}

#[derive(Debug)]
struct Waiting {
    approval: Approval,
    decided: oneshot::Sender<Decided>,
}

#[derive(Debug)]
enum Decided {
    Approved,
    Denied(Option<String>),
}

impl Approvals {
    /// A question that nobody answers within `limit` is denied.
    pub(super) fn new(limit: Duration) -> Self {
        Self { limit, state: Mutex::default() }
    }

    /// The questions of all owners, oldest first.
    pub(super) fn list(&self) -> Vec<Approval> {
        let state = self.state();
        let mut list: Vec<Approval> = state.waiting.values().map(|waiting| waiting.approval.clone()).collect();
        drop(state);
        list.sort_by(|one, other| one.asked_at.cmp(&other.asked_at).then_with(|| one.id.cmp(&other.id)));
        list
    }

    /// Who asks.
    pub(super) fn owner_of(&self, id: &str) -> Option<String> {
        self.state().waiting.get(id).map(|waiting| waiting.approval.sandbox_id.clone())
    }

    /// A person has decided. Taken once.
    pub(super) fn decide(
        &self,
        owner: &str,
        id: &str,
        approve: bool,
        decision: ApprovalDecision,
    ) -> Result<(), NoSuchApproval> {
        let gone = || NoSuchApproval(id.to_owned());
        let mut state = self.state();
        let own = state.waiting.get(id).is_some_and(|waiting| waiting.approval.sandbox_id == owner);
        let Waiting { approval, decided } = own.then(|| state.waiting.remove(id)).flatten().ok_or_else(gone)?;
        let answer = if approve { Decided::Approved } else { Decided::Denied(decision.reason) };
        decided.send(answer).map_err(|_| gone())?;
        if approve && decision.remember {
            let known = state.remembered.iter().filter(|(known, ..)| known == owner).count();
            if known < MAX_REMEMBERED {
                // Those that wait for the same are not asked about again, either.
                let same = |waiting: &Waiting| {
                    let other = &waiting.approval;
                    (&other.sandbox_id, &other.session, &other.tool)
                        == (&approval.sandbox_id, &approval.session, &approval.tool)
                };
                for (_, sibling) in state.waiting.extract_if(|_, waiting| same(waiting)) {
                    let _ = sibling.decided.send(Decided::Approved);
                }
                state.remembered.insert((approval.sandbox_id, approval.session, approval.tool));
            }
        }
        Ok(())
    }

    /// The session (`None`: every one) of an owner is over, and what was remembered for it.
    pub(super) fn forget(&self, owner: &str, session: Option<&str>) {
        self.state()
            .remembered
            .retain(|(known, name, _)| known != owner || session.is_some() && name.as_deref() != session);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Asks people on behalf of the code of one session.
#[derive(Clone)]
pub struct Asker {
    pub(super) owner: String,
    pub(super) session: Option<String>,
    pub(super) current: Arc<CurrentRun>,
    pub(super) approvals: Arc<Approvals>,
}

impl Asker {
    /// Holds the call until a person has allowed it. An error is what the code is told: the call was not made.
    pub async fn ask(&self, question: Question) -> Result<(), ToolError> {
        let run = self.current.get().ok_or_else(|| denied("no run is under way"))?;
        if question.args.to_string().len() > MAX_ARGS_BYTES {
            let bytes = MAX_ARGS_BYTES;
            return Err(denied(format!("its arguments have more than the {bytes} bytes that a person can be shown")));
        }
        let remembered = (self.owner.clone(), self.session.clone(), question.tool.clone());
        let chance = getrandom::u64().map_err(|error| denied(error.to_string()))?;
        let (decided, mut answer) = oneshot::channel();
        let limit = self.approvals.limit;
        let seconds = i64::try_from(limit.as_secs()).unwrap_or(i64::MAX);
        let asked_at = Moment::now();
        let approval = Approval {
            id: format!("approval-{chance:016x}"),
            sandbox_id: self.owner.clone(),
            session: self.session.clone(),
            tool: question.tool,
            args: question.args,
            why: question.why,
            lines: question.lines,
            asked_at,
            ends_at: asked_at.plus_secs(seconds),
        };
        {
            let mut state = self.approvals.state();
            if state.remembered.contains(&remembered) {
                return Ok(());
            }
            if state.waiting.values().filter(|waiting| waiting.approval.sandbox_id == self.owner).count() >= MAX_WAITING
            {
                return Err(denied(format!("{MAX_WAITING} calls wait for a person already")));
            }
            state.waiting.insert(approval.id.clone(), Waiting { approval: approval.clone(), decided });
        }
        // The clocks of the run stand still from here on.
        let _holds = (self.current.holds.hold(), run.holds.hold());
        let mut open = Open { approvals: &self.approvals, listener: &*run.listener, approval: &approval, end: None };
        run.listener.approval_asked(&approval);
        let (end, told) = match tokio::time::timeout(limit, &mut answer).await {
            Ok(Ok(Decided::Approved)) => (ApprovalEnd::Approved, Ok(())),
            Ok(Ok(Decided::Denied(reason))) => {
                let why = reason.map(|reason| format!(": {reason}")).unwrap_or_default();
                (ApprovalEnd::Denied, Err(denied(format!("a person has denied it{why}"))))
            }
            Ok(Err(_)) => (ApprovalEnd::Gone, Err(denied("the approval was cancelled"))),
            // One who decides in this moment finds nobody: the channel is closed before the question is taken off the list.
            Err(_) => {
                answer.close();
                match answer.try_recv() {
                    Ok(Decided::Approved) => (ApprovalEnd::Approved, Ok(())),
                    _ => {
                        let why = format!("no decision within {} s", limit.as_secs_f64());
                        (ApprovalEnd::NobodyAnswered, Err(denied(why)))
                    }
                }
            }
        };
        open.end = Some(end);
        told
    }
}

impl std::fmt::Debug for Asker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Asker").field("owner", &self.owner).field("session", &self.session).finish_non_exhaustive()
    }
}

fn denied(why: impl Into<String>) -> ToolError {
    ToolError { message: why.into(), code: Some(CALL_DENIED.to_owned()) }
}

/// Takes a question off the list and says how it ended, also when its run was given up.
struct Open<'a> {
    approvals: &'a Approvals,
    listener: &'a dyn super::RunListener,
    approval: &'a Approval,
    end: Option<ApprovalEnd>,
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.approvals.state().waiting.remove(&self.approval.id);
        self.listener.approval_ended(self.approval, self.end.unwrap_or(ApprovalEnd::Gone));
    }
}
