//! Text files that wait until their sandbox runs.
//!
//! Leaving a text in a workspace should not start a runtime: that costs a second and memory, and keeps the sandbox
//! busy. The text waits here, bounded, and is written before the first call that needs a runtime anyway. A Bay that
//! ends before that loses it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use cove_api::SandboxId;
use cove_api::{BayError, ErrorCode, WriteFile};
use cove_core::Deadline;
use cove_runtime_api::WriteFileRequest;

use super::{LIMIT, STREAM_FROM_BYTES, relative};
use crate::router::{broken, pick};
use crate::session::LiveSession;
use crate::{Bay, BayResult, Owner};
use cove_config::Capability;

/// What all texts may take together; the oldest go first.
const MAX_BYTES: usize = 64 << 20;

/// What the texts of one sandbox may take; its oldest go first.
const MAX_SANDBOX_BYTES: usize = 8 << 20;

/// All texts that wait, the oldest first, each with its sandbox.
#[derive(Debug, Default)]
pub(crate) struct Deferred(Mutex<VecDeque<(SandboxId, WriteFile)>>);

impl Deferred {
    fn keep(&self, sandbox_id: &SandboxId, file: WriteFile) {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.push_back((sandbox_id.clone(), file));
        let held = |waiting: &VecDeque<(SandboxId, WriteFile)>, own: bool| {
            let counted = waiting.iter().filter(|(id, _)| !own || id == sandbox_id);
            counted.map(|(_, file)| file.content.len()).sum::<usize>()
        };
        while held(&waiting, true) > MAX_SANDBOX_BYTES
            && let Some(oldest) = waiting.iter().position(|(id, _)| id == sandbox_id)
        {
            waiting.remove(oldest);
        }
        while held(&waiting, false) > MAX_BYTES {
            waiting.pop_front();
        }
    }

    /// Takes out those of a sandbox; also for one that is deleted.
    pub(crate) fn take(&self, sandbox_id: &SandboxId) -> Vec<WriteFile> {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (own, others) = waiting.drain(..).partition::<VecDeque<_>, _>(|(id, _)| id == sandbox_id);
        *waiting = others;
        own.into_iter().map(|(_, file)| file).collect()
    }
}

impl Bay {
    /// Writes a text file without starting anything: at once where the sandbox runs, else when it next does.
    pub async fn write_file_when_running(&self, owner: &Owner, id: &SandboxId, mut file: WriteFile) -> BayResult<()> {
        file.path = relative(&file.path)?;
        if file.content.len() > STREAM_FROM_BYTES {
            let message = format!("the text has {} bytes; the limit is {STREAM_FROM_BYTES}", file.content.len());
            return Err(BayError::new(ErrorCode::ValidationError, message));
        }
        let call = self.admit_for(owner, id, Capability::Filesystem, LIMIT).await?;
        let runs = self.inner.sessions.get(id).is_some_and(|session| {
            let container = pick(&session, Capability::Filesystem).and_then(|place| session.container(place));
            container.is_some_and(|container| container.handle.is_alive())
        });
        if runs {
            return self.write_text(&call, file).await;
        }
        self.inner.deferred.keep(id, file);
        Ok(())
    }

    /// Writes what has waited for this session. A text that cannot be written is lost, and the log says so.
    pub(crate) async fn write_deferred(&self, session: &Arc<LiveSession>) {
        for file in self.inner.deferred.take(&session.sandbox_id) {
            if let Err(error) = self.write_one(session, &file).await {
                tracing::warn!(sandbox = %session.sandbox_id, path = file.path, %error, "a deferred file is lost");
            }
        }
    }

    async fn write_one(&self, session: &Arc<LiveSession>, file: &WriteFile) -> BayResult<()> {
        let none = || BayError::new(ErrorCode::InternalError, "the session has no container for files");
        let place = pick(session, Capability::Filesystem).ok_or_else(none)?;
        let container = self.living_container(session, place, self.start_limit().into()).await?;
        let size = file.content.len() as u64;
        self.check_space(session, size).await?;
        let request =
            WriteFileRequest { path: file.path.clone(), content: file.content.clone(), ..WriteFileRequest::default() };
        container.client.call(&request, Deadline::after(LIMIT)).await.map_err(|error| broken(&error))?;
        session.add_bytes(size);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_is_bounded_and_belongs_to_one_sandbox() {
        let deferred = Deferred::default();
        let file = |name: usize, mib: usize| WriteFile { path: name.to_string(), content: "x".repeat(mib << 20) };
        let id = |number: usize| format!("sandbox-{number:012x}").parse::<SandboxId>().unwrap();
        (0..5).for_each(|name| deferred.keep(&id(0xa), file(name, 3)));
        deferred.keep(&id(0xb), file(9, 1));
        let names = |of: usize| deferred.take(&id(of)).into_iter().map(|file| file.path).collect::<Vec<_>>();
        assert_eq!(names(0xa), ["3", "4"]);
        assert_eq!((names(0xa).len(), names(0xb)), (0, vec!["9".to_owned()]));
        (0..30).for_each(|name| deferred.keep(&id(name), file(name, 3)));
        assert_eq!((names(8).len(), names(9).len()), (0, 1));
    }
}
