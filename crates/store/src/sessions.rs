//! Sessions: at most one row for each sandbox, and whoever writes it starts the session.
//!
//! A session's end is the end of its row. A failed start stays as a row, so that it can be told, until the next start
//! takes its place.

use cove_api::{Moment, SandboxStatus};
use cove_core::{SandboxId, SessionId};

use crate::{Store, StoreError, StoreResult, ask::Row, ask::ask};

/// How often a start is tried against sessions that end just then.
const BEGIN_TRIES: usize = 10;

/// How far a session is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionState {
    /// Its Bay is starting it.
    Starting,
    /// It answers.
    Ready,
    /// It could not start.
    Failed,
}

impl SessionState {
    /// What that makes the sandbox.
    pub fn status(self) -> SandboxStatus {
        match self {
            Self::Starting => SandboxStatus::Starting,
            Self::Ready => SandboxStatus::Ready,
            Self::Failed => SandboxStatus::Failed,
        }
    }
}

/// A session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionRow {
    /// Its id.
    pub id: SessionId,
    /// Whose it is.
    pub sandbox_id: SandboxId,
    /// The Bay that has it.
    pub instance_id: String,
    /// How far it is.
    pub state: SessionState,
    /// Its containers as JSON, once it is ready.
    pub containers: Option<String>,
    /// Why it could not start.
    pub error: Option<String>,
    /// When its start began.
    pub started_at: Moment,
    /// When it was last used.
    pub last_used_at: Moment,
    /// When it ends for want of calls; none: not known yet.
    pub idle_expires_at: Option<Moment>,
}

impl SessionRow {
    /// Its containers, as they were written.
    pub fn containers<T: serde::de::DeserializeOwned>(&self) -> StoreResult<Vec<T>> {
        self.containers.as_deref().map_or(Ok(Vec::new()), |json| serde_json::from_str(json).map_err(StoreError::Json))
    }
}

/// A session to be started.
#[derive(Debug, Clone, Copy)]
pub struct NewSession<'a> {
    /// Its id.
    pub id: &'a str,
    /// For which sandbox.
    pub sandbox_id: &'a str,
    /// The Bay that starts it.
    pub instance_id: &'a str,
}

/// Who starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Begin {
    /// The one who asked.
    Mine,
    /// Another has started, or has begun to.
    Other(Box<SessionRow>),
    /// Nobody: the sandbox is gone or over.
    Over,
}

macro_rules! sessions {
    ($rest:literal) => {
        concat!(
            "SELECT e.id AS session_id, e.sandbox_id, e.instance_id, e.state, e.containers, e.error, e.started_at, ",
            "e.last_used_at, e.idle_expires_at FROM sessions e ",
            $rest
        )
    };
}

pub(crate) fn session(row: &Row) -> StoreResult<SessionRow> {
    let state = match row.text("state")?.as_str() {
        "starting" => SessionState::Starting,
        "ready" => SessionState::Ready,
        _ => SessionState::Failed,
    };
    Ok(SessionRow {
        id: row.id("session_id")?,
        sandbox_id: row.id("sandbox_id")?,
        instance_id: row.text("instance_id")?,
        state,
        containers: row.text_or("containers")?,
        error: row.text_or("error")?,
        started_at: row.at("started_at")?,
        last_used_at: row.at("last_used_at")?,
        idle_expires_at: row.at_or("idle_expires_at")?,
    })
}

impl Store {
    /// Begins a session. Of all who ask at once exactly one begins; the others see who does.
    ///
    /// A failed session is replaced, and one whose Bay has not been heard since `alive_since`.
    pub async fn begin_session(&self, new: &NewSession<'_>, alive_since: Moment, now: Moment) -> StoreResult<Begin> {
        let question = "INSERT INTO sessions (id, sandbox_id, instance_id, state, started_at, last_used_at) \
             SELECT $1, s.id, $3, 'starting', $4, $4 FROM sandboxes s \
             WHERE s.id = $2 AND s.deleted_at IS NULL AND (s.expires_at IS NULL OR s.expires_at > $4) \
             ON CONFLICT (sandbox_id) DO UPDATE SET id = excluded.id, instance_id = excluded.instance_id, \
             state = excluded.state, containers = NULL, error = NULL, started_at = excluded.started_at, \
             last_used_at = excluded.last_used_at, idle_expires_at = NULL \
             WHERE sessions.state = 'failed' OR NOT EXISTS \
             (SELECT 1 FROM instances i WHERE i.id = sessions.instance_id AND i.heartbeat_at > $5)";
        let standing = sessions!("WHERE e.sandbox_id = $1");
        // The session that kept us out may end before we look at it: then the place is free, and we try again.
        for _ in 0..BEGIN_TRIES {
            let question = ask(question).text(new.id).text(new.sandbox_id).text(new.instance_id);
            if question.at(now).at(alive_since).run(&self.write).await? == 1 {
                return Ok(Begin::Mine);
            }
            let question = "SELECT id FROM sandboxes WHERE id = $1 AND deleted_at IS NULL \
                            AND (expires_at IS NULL OR expires_at > $2)";
            if ask(question).text(new.sandbox_id).at(now).one(&self.write).await?.is_none() {
                return Ok(Begin::Over);
            }
            if let Some(row) = ask(standing).text(new.sandbox_id).one(&self.write).await? {
                return Ok(Begin::Other(Box::new(session(&row)?)));
            }
        }
        Err(StoreError::Conflict(format!("sandbox {} is being started and stopped by others", new.sandbox_id)))
    }

    /// The session answers. False: it is not wanted any more (another took its place, its sandbox is gone or over), and
    /// whoever started it must end it.
    pub async fn session_ready(
        &self,
        id: &str,
        containers: &serde_json::Value,
        idle_expires_at: Moment,
        now: Moment,
    ) -> StoreResult<bool> {
        let question = "UPDATE sessions SET state = 'ready', containers = $2, idle_expires_at = $3, last_used_at = $4 \
                        WHERE id = $1 AND state = 'starting' AND EXISTS \
                        (SELECT 1 FROM sandboxes s WHERE s.id = sessions.sandbox_id AND s.deleted_at IS NULL \
                        AND (s.expires_at IS NULL OR s.expires_at > $4))";
        let question = ask(question).text(id).text(&containers.to_string()).at(idle_expires_at).at(now);
        Ok(question.run(&self.write).await? == 1)
    }

    /// Its containers changed while it ran.
    pub async fn update_containers(&self, id: &str, containers: &serde_json::Value) -> StoreResult<bool> {
        let question = "UPDATE sessions SET containers = $2 WHERE id = $1 AND state = 'ready'";
        Ok(ask(question).text(id).text(&containers.to_string()).run(&self.write).await? == 1)
    }

    /// The session could not start, or died and could not be remade.
    pub async fn session_failed(&self, id: &str, error: &str) -> StoreResult<bool> {
        let question = "UPDATE sessions SET state = 'failed', error = $2, containers = NULL, idle_expires_at = NULL \
                        WHERE id = $1";
        Ok(ask(question).text(id).text(&cove_core::shorten_bytes(error, 4096)).run(&self.write).await? == 1)
    }

    /// The session is over; false: it was already.
    pub async fn end_session(&self, id: &str) -> StoreResult<bool> {
        Ok(ask("DELETE FROM sessions WHERE id = $1").text(id).run(&self.write).await? == 1)
    }

    /// A call came: the end of idleness moves. False: there is no session.
    pub async fn touch_session(&self, sandbox_id: &str, idle_expires_at: Moment, now: Moment) -> StoreResult<bool> {
        let question = "UPDATE sessions SET idle_expires_at = $2, last_used_at = $3 WHERE sandbox_id = $1";
        Ok(ask(question).text(sandbox_id).at(idle_expires_at).at(now).run(&self.write).await? == 1)
    }

    /// The same, by the Bay that has the session: one that was taken over is not its to prolong.
    pub async fn touch_own_session(&self, id: &str, idle_expires_at: Moment, now: Moment) -> StoreResult<bool> {
        let question = "UPDATE sessions SET idle_expires_at = $2, last_used_at = $3 WHERE id = $1";
        Ok(ask(question).text(id).at(idle_expires_at).at(now).run(&self.write).await? == 1)
    }

    /// The ids of a Bay's sessions whose sandboxes are still there.
    pub async fn wanted_sessions(&self, instance_id: &str) -> StoreResult<Vec<SessionId>> {
        let question = "SELECT e.id AS session_id FROM sessions e JOIN sandboxes s ON s.id = e.sandbox_id \
                        WHERE e.instance_id = $1 AND s.deleted_at IS NULL";
        ask(question).text(instance_id).each(&self.write, |row| row.id("session_id")).await
    }

    /// One session.
    pub async fn session(&self, id: &str) -> StoreResult<Option<SessionRow>> {
        let question = sessions!("WHERE e.id = $1");
        ask(question).text(id).one(&self.write).await?.as_ref().map(session).transpose()
    }

    /// A Bay goes on with a session of one that is gone; false: another was first, or it is over.
    pub async fn take_session(&self, id: &str, from: &str, to: &str) -> StoreResult<bool> {
        let question = "UPDATE sessions SET instance_id = $3 WHERE id = $1 AND instance_id = $2 AND state = 'ready'";
        Ok(ask(question).text(id).text(from).text(to).run(&self.write).await? == 1)
    }

    #[cfg(test)]
    /// The sessions that a Bay has.
    pub(crate) async fn sessions_of(&self, instance_id: &str) -> StoreResult<Vec<SessionRow>> {
        let question = sessions!("WHERE e.instance_id = $1 ORDER BY e.started_at");
        ask(question).text(instance_id).each(&self.read, session).await
    }

    /// A Bay's sessions that are over: idle too long, or their sandbox is deleted or expired.
    pub async fn sessions_over(&self, instance_id: &str, now: Moment) -> StoreResult<Vec<SessionRow>> {
        let question = sessions!(
            "LEFT JOIN sandboxes s ON s.id = e.sandbox_id WHERE e.instance_id = $1 AND \
             (s.id IS NULL OR s.deleted_at IS NOT NULL OR s.expires_at <= $2 \
             OR (e.idle_expires_at <= $2 AND e.state = 'ready' AND s.owner IS NOT NULL))"
        );
        ask(question).text(instance_id).at(now).each(&self.read, session).await
    }

    /// Ends a session if it is still idle: not if a call came since it was looked at.
    pub async fn end_if_idle(&self, id: &str, now: Moment) -> StoreResult<bool> {
        let question = "DELETE FROM sessions WHERE id = $1 AND idle_expires_at <= $2";
        Ok(ask(question).text(id).at(now).run(&self.write).await? == 1)
    }

    /// Sessions that have been starting since before `before`, on any Bay.
    pub async fn stale_starting(&self, before: Moment) -> StoreResult<Vec<SessionRow>> {
        let question = sessions!("WHERE e.state = 'starting' AND e.started_at < $1");
        ask(question).at(before).each(&self.read, session).await
    }
}
