//! Blobs: payloads that skills keep, and traces that belong to a sandbox. JSON, bounded in size and in number.

use cove_api::{Moment, Owner};
use cove_core::{BlobId, ExecutionId, SandboxId};
use serde_json::Value;
use sqlx::{Any, Transaction};

use crate::bounds::ROW_BYTES;
use crate::id::new_id;
use crate::{Store, StoreError, StoreResult, ask::Row, ask::ask};

/// The largest blob. A trace of the longest batch fits; a film does not.
pub(crate) const MAX_BLOB_BYTES: usize = 4 * 1024 * 1024;
/// Traces that a sandbox keeps; the oldest go.
pub(crate) const MAX_TRACES: i64 = 100;

/// A blob.
#[derive(Debug, Clone, PartialEq)]
pub struct BlobRow {
    /// Its id.
    pub id: BlobId,
    /// The sandbox that it goes with; none: a payload.
    pub sandbox_id: Option<String>,
    /// The execution that it tells of.
    pub execution_id: Option<ExecutionId>,
    /// What kind of thing.
    pub kind: String,
    /// What it holds.
    pub body: Value,
    /// When it was kept.
    pub created_at: Moment,
}

/// A blob to be kept.
#[derive(Debug, Clone, Copy)]
pub struct NewBlob<'a> {
    /// The sandbox that it goes with; none: a payload.
    pub sandbox_id: Option<&'a SandboxId>,
    /// The execution that it tells of.
    pub execution_id: Option<&'a ExecutionId>,
    /// What kind of thing.
    pub kind: &'a str,
    /// What it holds.
    pub body: &'a Value,
}

/// How a blob is referred to.
pub fn blob_ref(id: &str) -> String {
    format!("blob:{id}")
}

/// The blob's id in a reference of ours, with or without `blob:`.
pub fn blob_id(reference: &str) -> Option<BlobId> {
    reference.strip_prefix("blob:").unwrap_or(reference).parse().ok()
}

fn blob(row: &Row) -> StoreResult<BlobRow> {
    Ok(BlobRow {
        id: row.id("id")?,
        sandbox_id: row.text_or("sandbox_id")?,
        execution_id: row.id_or("execution_id")?,
        kind: row.text("kind")?,
        body: row.json("body")?,
        created_at: row.at("created_at")?,
    })
}

impl Store {
    /// Keeps a blob; its id.
    pub async fn keep_blob(&self, owner: &Owner, new: &NewBlob<'_>, now: Moment) -> StoreResult<BlobId> {
        let body = new.body.to_string();
        if body.len() > MAX_BLOB_BYTES {
            return Err(StoreError::TooLarge { what: "a payload", limit: MAX_BLOB_BYTES });
        }
        let size = i64::try_from(ROW_BYTES + body.len()).unwrap_or(i64::MAX);
        let id = new_id::<BlobId>()?;
        let mut tx = self.begin().await?;
        match new.sandbox_id {
            None => {
                self.in_turn(&mut tx, owner.as_str()).await?;
                self.check_payloads(&mut tx, owner, size).await?;
            }
            Some(sandbox_id) => {
                let question = "DELETE FROM blobs WHERE id IN (SELECT id FROM blobs WHERE sandbox_id = $1 \
                                ORDER BY created_at DESC, id DESC LIMIT 1000 OFFSET $2)";
                ask(question).text(sandbox_id).int(MAX_TRACES - 1).run(&mut *tx).await?;
                let question = "DELETE FROM blobs WHERE id IN (SELECT id FROM (SELECT id, \
                                SUM(size_bytes) OVER (ORDER BY created_at DESC, id DESC) AS held FROM blobs \
                                WHERE owner = $1 AND sandbox_id IS NOT NULL) counted WHERE held > $2)";
                let others = self.bounds.trace_bytes.saturating_sub(size);
                ask(question).text(owner.as_str()).int(others).run(&mut *tx).await?;
            }
        }
        let question = "INSERT INTO blobs (id, owner, sandbox_id, execution_id, kind, body, size_bytes, created_at) \
                        VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
        let question = ask(question)
            .text(&id)
            .text(owner.as_str())
            .text_or(new.sandbox_id.map(SandboxId::as_str))
            .text_or(new.execution_id.map(ExecutionId::as_str));
        question.text(new.kind).text(&body).int(size).at(now).run(&mut *tx).await?;
        tx.commit().await?;
        Ok(id)
    }

    /// Makes a payload of a trace: it no longer goes with its sandbox, and counts among the owner's payloads.
    pub async fn keep_as_payload(&self, owner: &Owner, id: &BlobId) -> StoreResult<()> {
        let mut tx = self.begin().await?;
        self.in_turn(&mut tx, owner.as_str()).await?;
        let question = "UPDATE blobs SET sandbox_id = NULL WHERE id = $1 AND owner = $2 AND sandbox_id IS NOT NULL";
        if ask(question).text(id).text(owner.as_str()).run(&mut *tx).await? == 1 {
            self.check_payloads(&mut tx, owner, 0).await?;
        }
        tx.commit().await?;
        Ok(())
    }

    /// Refuses payloads beyond an owner's limit.
    async fn check_payloads(&self, tx: &mut Transaction<'static, Any>, owner: &Owner, more: i64) -> StoreResult<()> {
        let question = "SELECT CAST(COALESCE(SUM(size_bytes), 0) AS BIGINT) AS n FROM blobs \
                        WHERE owner = $1 AND sandbox_id IS NULL";
        let held = ask(question).text(owner.as_str()).number(&mut **tx).await?;
        let limit = self.bounds.payload_bytes;
        if held + more > limit {
            let next = "keep fewer, or ask the operator to raise the limit";
            return Err(StoreError::Quota { what: "bytes of payloads", name: "limits.max_payloads_mb", limit, next });
        }
        Ok(())
    }

    /// One of an owner's blobs.
    pub async fn blob(&self, owner: &Owner, id: &str) -> StoreResult<Option<BlobRow>> {
        let question = "SELECT * FROM blobs WHERE id = $1 AND owner = $2";
        ask(question).text(id).text(owner.as_str()).one(&self.read).await?.as_ref().map(blob).transpose()
    }

    /// Forgets traces that were kept before `before`.
    pub async fn purge_traces(&self, before: Moment) -> StoreResult<u64> {
        let question = "DELETE FROM blobs WHERE sandbox_id IS NOT NULL AND created_at < $1";
        ask(question).at(before).run(&self.write).await
    }
}
