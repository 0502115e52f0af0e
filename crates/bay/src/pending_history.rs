//! Entries of the history that the database could not take when their run ended.
//!
//! The caller has the answer by then, and was told `recorded: false`. They are kept here, bounded, and written when the
//! database takes them again; a Bay that ends before that loses them.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use cove_api::{Barrier, ExecType, Moment};

use crate::Owner;
use cove_store::NewExecution;

/// What all of them may take.
const MAX_BYTES: usize = 32 << 20;

/// What one owner's may take: the rest is for the others.
const MAX_OWNER_BYTES: usize = 4 << 20;

/// What an entry takes beside its texts.
const ENTRY_BYTES: usize = 512;

/// One entry.
#[derive(Debug)]
pub(crate) struct PendingEntry {
    id: String,
    owner: Owner,
    sandbox_id: String,
    session_id: Option<String>,
    exec_type: ExecType,
    code: String,
    success: bool,
    execution_time_ms: i64,
    output: Option<String>,
    error: Option<String>,
    barrier: Option<Barrier>,
    payload_ref: Option<String>,
    artifacts: Option<String>,
    description: Option<String>,
    tags: Option<String>,
    learn: bool,
    created_at: Moment,
}

impl PendingEntry {
    pub(crate) fn of(new: &NewExecution<'_>) -> Self {
        let (code, output, error) = new.kept();
        let own = |text: Option<&str>| text.map(str::to_owned);
        Self {
            id: new.id.to_owned(),
            owner: new.owner.clone(),
            sandbox_id: new.sandbox_id.to_owned(),
            session_id: own(new.session_id),
            exec_type: new.exec_type,
            code,
            success: new.success,
            execution_time_ms: new.execution_time_ms,
            output,
            error,
            barrier: new.barrier,
            payload_ref: own(new.payload_ref),
            artifacts: own(new.artifacts),
            description: own(new.description),
            tags: own(new.tags),
            learn: new.learn,
            created_at: new.created_at,
        }
    }

    /// As the store takes it.
    pub(crate) fn entry(&self) -> NewExecution<'_> {
        NewExecution {
            id: &self.id,
            owner: &self.owner,
            sandbox_id: &self.sandbox_id,
            session_id: self.session_id.as_deref(),
            exec_type: self.exec_type,
            code: &self.code,
            success: self.success,
            execution_time_ms: self.execution_time_ms,
            output: self.output.as_deref(),
            error: self.error.as_deref(),
            barrier: self.barrier,
            payload_ref: self.payload_ref.as_deref(),
            artifacts: self.artifacts.as_deref(),
            description: self.description.as_deref(),
            tags: self.tags.as_deref(),
            learn: self.learn,
            created_at: self.created_at,
        }
    }

    fn bytes(&self) -> usize {
        let texts = [&self.output, &self.error, &self.artifacts, &self.description, &self.tags];
        ENTRY_BYTES + self.code.len() + texts.into_iter().flatten().map(String::len).sum::<usize>()
    }
}

/// All that wait, the oldest first.
#[derive(Debug, Default)]
pub(crate) struct PendingHistory(Mutex<VecDeque<PendingEntry>>);

impl PendingHistory {
    /// Keeps one; false: there is no room for it, and it is lost.
    pub(crate) fn keep(&self, one: PendingEntry) -> bool {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let sum = |owner: Option<&Owner>| {
            let those = waiting.iter().filter(|waiting| owner.is_none_or(|owner| *owner == waiting.owner));
            those.map(PendingEntry::bytes).sum::<usize>() + one.bytes()
        };
        let fits = sum(None) <= MAX_BYTES && sum(Some(&one.owner)) <= MAX_OWNER_BYTES;
        if fits {
            waiting.push_back(one);
        }
        fits
    }

    /// The oldest, to be written; [`PendingHistory::put_back`] if that failed.
    pub(crate) fn take(&self) -> Option<PendingEntry> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }

    pub(crate) fn put_back(&self, one: PendingEntry) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push_front(one);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_is_bounded_for_each_owner_and_comes_out_in_order() {
        let pending_history = PendingHistory::default();
        let code = "x".repeat(200 << 10);
        let keep = |owner: &Owner, id: &str| {
            pending_history.keep(PendingEntry::of(&NewExecution {
                id,
                owner,
                sandbox_id: "s",
                session_id: None,
                exec_type: ExecType::Shell,
                code: &code,
                success: true,
                execution_time_ms: 1,
                output: None,
                error: None,
                barrier: None,
                payload_ref: None,
                artifacts: None,
                description: None,
                tags: None,
                learn: false,
                created_at: Moment::from_micros(1),
            }))
        };
        let owners: Vec<Owner> = (0..20).map(|n| Owner::new(&format!("owner-{n}"))).collect();
        let kept = owners.iter().map(|owner| (0..100).filter(|n| keep(owner, &n.to_string())).count());
        let kept: Vec<usize> = kept.collect();
        assert_eq!(kept[0], 20, "four megabytes of one owner's");
        let all: usize = kept.iter().sum();
        assert!(all * (200 << 10) <= MAX_BYTES && all > 100, "{kept:?}");
        let first = pending_history.take().unwrap();
        assert_eq!((first.entry().id, first.entry().owner), ("0", &owners[0]));
        pending_history.put_back(first);
        assert_eq!(pending_history.take().unwrap().entry().id, "0");
        assert_eq!(pending_history.take().unwrap().entry().id, "1");
    }
}
