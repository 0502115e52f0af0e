//! The same request with the same key does its work once: the stored answer is part of the work's own transaction.
//!
//! The row is inserted first, so that of two requests at once one waits for the other; then the work; then the answer.
//! If the work fails, the row goes with it and the key is free again. A check before the work would not do: both would
//! pass it.

use cove_api::{IdempotencyKey, Moment, Owner};
use serde_json::Value;
use sqlx::{Any, Transaction};

use crate::{Store, StoreError, StoreResult, ask::ask};

/// How long an answer is kept unless the configuration says otherwise.
pub(crate) const KEPT_SECS: i64 = 3600;

/// The key of a request, what the request was, and how its answer is made from what the work made.
pub struct Once<'a, T> {
    /// The client's key.
    pub key: &'a IdempotencyKey,
    /// The request as text (verb, path, body): another text with the same key is a conflict.
    pub request: &'a str,
    /// The answer to keep.
    pub answer: &'a (dyn Fn(&T) -> Value + Send + Sync),
}

/// What a verb with a key did.
#[derive(Debug, Clone, PartialEq)]
pub enum Done<T> {
    /// The work, just now.
    Now(T),
    /// Nothing: it was done before, with this answer.
    Before(Value),
}

impl Store {
    /// The stored answer for a key, so that a repeated request need not prepare anything.
    pub async fn answered(
        &self,
        owner: &Owner,
        key: &IdempotencyKey,
        request: &str,
        now: Moment,
    ) -> StoreResult<Option<Value>> {
        let question = "SELECT request, answer FROM idempotency \
                        WHERE owner = $1 AND idempotency_key = $2 AND expires_at > $3";
        let row = ask(question).text(owner.as_str()).text(key.as_str()).at(now).one(&self.read).await?;
        let Some(row) = row else { return Ok(None) };
        if row.text("request")? != request.replace('\0', "␀") {
            return Err(StoreError::KeyReused);
        }
        row.json("answer").map(Some)
    }

    /// Takes the key for this transaction; `Some` is the answer of the one who had it.
    pub(crate) async fn take_key<T>(
        &self,
        tx: &mut Transaction<'static, Any>,
        owner: &Owner,
        once: Option<&Once<'_, T>>,
        now: Moment,
    ) -> StoreResult<Option<Value>> {
        let Some(once) = once else { return Ok(None) };
        let question = "INSERT INTO idempotency (owner, idempotency_key, request, answer, expires_at) \
                        VALUES ($1, $2, $3, 'null', $4) ON CONFLICT (owner, idempotency_key) DO UPDATE \
                        SET request = excluded.request, answer = excluded.answer, expires_at = excluded.expires_at \
                        WHERE idempotency.expires_at <= $5";
        let taken = ask(question)
            .text(owner.as_str())
            .text(once.key.as_str())
            .text(once.request)
            .at(now.plus_secs(self.answers_kept_secs))
            .at(now)
            .run(&mut **tx)
            .await?;
        if taken == 1 {
            return Ok(None);
        }
        let question = "SELECT request, answer FROM idempotency WHERE owner = $1 AND idempotency_key = $2";
        let row = ask(question).text(owner.as_str()).text(once.key.as_str()).one(&mut **tx).await?;
        // A row that kept us out and is gone now was purged in between: as good as another request's.
        let row = row.ok_or(StoreError::KeyReused)?;
        if row.text("request")? != once.request.replace('\0', "␀") {
            return Err(StoreError::KeyReused);
        }
        row.json("answer").map(Some)
    }

    /// Keeps the answer with the key.
    pub(crate) async fn keep_answer<T>(
        &self,
        tx: &mut Transaction<'static, Any>,
        owner: &Owner,
        once: Option<&Once<'_, T>>,
        made: &T,
    ) -> StoreResult<()> {
        let Some(once) = once else { return Ok(()) };
        let question = "UPDATE idempotency SET answer = $3 WHERE owner = $1 AND idempotency_key = $2";
        let answer = (once.answer)(made).to_string();
        ask(question).text(owner.as_str()).text(once.key.as_str()).text(&answer).run(&mut **tx).await?;
        Ok(())
    }

    /// Forgets answers whose time is over.
    pub async fn purge_answers(&self, now: Moment) -> StoreResult<u64> {
        ask("DELETE FROM idempotency WHERE expires_at <= $1").at(now).run(&self.write).await
    }
}
