//! What one owner's records may take in sum, and how the file gets smaller again.
//!
//! Whatever a caller can make in a loop is counted by owner: history and traces lose their oldest, what a caller asked to
//! keep (payloads, candidates, releases, cargos) is refused beyond a limit, and what is only remembered (answers, deletions,
//! replays) is forgotten beyond a number.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use crate::{Kind, Store, StoreResult, ask::ask};
use cove_api::Owner;

/// What a row takes beside its texts: its columns, and its place in the indexes.
pub(crate) const ROW_BYTES: usize = 512;

/// Candidates of one owner. A skill comes from a person's or a model's work; thousands of them come from a loop.
pub(crate) const MAX_CANDIDATES: i64 = 2_000;

/// Releases of one owner.
pub(crate) const MAX_RELEASES: i64 = 5_000;

/// Evaluations that a candidate keeps; the oldest go.
pub(crate) const MAX_EVALUATIONS: i64 = 100;

/// Answers to idempotency keys of one owner; beyond it the oldest are forgotten before their time. Ten thousand are three
/// requests a second for an hour.
const MAX_ANSWERS: i64 = 10_000;

/// Deleted things of one kind and owner that are remembered.
const MAX_DELETED: i64 = 10_000;

/// Replays of a release that are remembered; health looks at no more.
const MAX_REPLAYS: i64 = 10_000;

/// The file is made smaller when so many of its pages hold nothing (4 MiB), and a quarter of all.
const WORTH_PAGES: i64 = 1_024;

/// Pages given back in one go: a few milliseconds, between which others write.
const STEP_PAGES: i64 = 512;

/// A file of an earlier Cove is made so that it can shrink if it is no larger: that writes all of it once.
const MAX_REWRITTEN_BYTES: i64 = 256 << 20;

/// What one owner's records may take.
#[derive(Debug)]
pub struct Bounds {
    /// Bytes of history.
    pub(crate) history_bytes: i64,
    /// Bytes of traces.
    pub(crate) trace_bytes: i64,
    /// Bytes of payloads.
    pub(crate) payload_bytes: i64,
    written: Mutex<HashMap<String, i64>>,
}

impl Bounds {
    /// In mebibytes.
    pub fn mebibytes(history: u32, traces: u32, payloads: u32) -> Self {
        let bytes = |mebibytes: u32| i64::from(mebibytes) << 20;
        Self {
            history_bytes: bytes(history),
            trace_bytes: bytes(traces),
            payload_bytes: bytes(payloads),
            written: Mutex::default(),
        }
    }

    /// Notes that an owner's history grew; whether it is time to look at how large it is. That costs a walk through its
    /// index, so it is done for every eighth of the limit.
    pub(crate) fn is_due(&self, owner: &Owner, bytes: i64) -> bool {
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        let sum = written.entry(owner.as_str().to_owned()).or_default();
        *sum += bytes;
        let due = *sum > self.history_bytes / 8;
        if due {
            *sum = 0;
        }
        due
    }
}

impl Store {
    /// Forgets the oldest of an owner's history until the rest is within the limit.
    pub(crate) async fn trim_history(&self, owner: &Owner) -> StoreResult<u64> {
        let question = "DELETE FROM executions WHERE id IN (SELECT id FROM \
                        (SELECT id, SUM(size_bytes) OVER (ORDER BY created_at DESC, id DESC) AS held \
                        FROM executions WHERE owner = $1) counted WHERE held > $2)";
        ask(question).text(owner.as_str()).int(self.bounds.history_bytes).run(&self.write).await
    }

    /// The same for every owner who has too much; how many entries went.
    pub async fn trim_histories(&self) -> StoreResult<u64> {
        let question = "SELECT owner FROM executions GROUP BY owner HAVING SUM(size_bytes) > $1";
        let owners = ask(question).int(self.bounds.history_bytes).each(&self.read, |row| row.text("owner")).await?;
        let mut gone = 0;
        for owner in owners {
            gone += self.trim_history(&Owner::new(&owner)).await?;
        }
        Ok(gone)
    }

    /// Forgets what is only remembered, beyond a number for each owner; how many rows went.
    pub async fn purge_excess(&self) -> StoreResult<u64> {
        macro_rules! beyond {
            ($table:literal, $of:literal, $order:literal, $which:literal) => {
                concat!(
                    "(SELECT id FROM (SELECT id, ROW_NUMBER() OVER (PARTITION BY ",
                    $of,
                    " ORDER BY ",
                    $order,
                    " DESC, id DESC) AS place FROM ",
                    $table,
                    " WHERE ",
                    $which,
                    ") ranked WHERE place > $1)"
                )
            };
        }
        macro_rules! candidates {
            () => {
                beyond!(
                    "candidates c",
                    "owner",
                    "deleted_at",
                    "deleted_at IS NOT NULL AND NOT EXISTS (SELECT 1 FROM releases r WHERE r.candidate_id = c.id)"
                )
            };
        }
        macro_rules! releases {
            () => {
                beyond!("releases", "owner", "deleted_at", "deleted_at IS NOT NULL")
            };
        }
        let sandboxes = beyond!(
            "sandboxes s",
            "owner",
            "deleted_at",
            "deleted_at IS NOT NULL AND NOT EXISTS (SELECT 1 FROM sessions e WHERE e.sandbox_id = s.id)"
        );
        let sandboxes = format!("DELETE FROM sandboxes WHERE id IN {sandboxes}");
        let answers = "DELETE FROM idempotency WHERE (owner, idempotency_key) IN (SELECT owner, idempotency_key FROM \
                       (SELECT owner, idempotency_key, ROW_NUMBER() OVER (PARTITION BY owner ORDER BY expires_at DESC) \
                       AS place FROM idempotency) ranked WHERE place > $1)";
        let replays =
            concat!("DELETE FROM replays WHERE id IN ", beyond!("replays", "release_id", "created_at", "1 = 1"));
        let mut gone = 0;
        let mut tx = self.begin().await?;
        gone += ask(answers).int(MAX_ANSWERS).run(&mut *tx).await?;
        gone += ask(sqlx::AssertSqlSafe(sandboxes)).int(MAX_DELETED).run(&mut *tx).await?;
        gone += ask(replays).int(MAX_REPLAYS).run(&mut *tx).await?;
        for question in [
            concat!("DELETE FROM replays WHERE release_id IN ", releases!()),
            concat!("DELETE FROM releases WHERE id IN ", releases!()),
            concat!("DELETE FROM evaluations WHERE candidate_id IN ", candidates!()),
            concat!("DELETE FROM candidates WHERE id IN ", candidates!()),
        ] {
            gone += ask(question).int(MAX_DELETED).run(&mut *tx).await?;
        }
        tx.commit().await?;
        Ok(gone)
    }

    /// Gives the pages of an SQLite file that hold nothing back to the disk, where it is worth it.
    pub async fn compact(&self) -> StoreResult<()> {
        if self.kind != Kind::Sqlite {
            return Ok(());
        }
        let (free, all) = (self.pages("free").await?, self.pages("all").await?);
        if free < WORTH_PAGES || free < all / 4 {
            return self.write_back().await;
        }
        loop {
            let step = format!("PRAGMA incremental_vacuum({STEP_PAGES})");
            sqlx::raw_sql(sqlx::AssertSqlSafe(step)).execute(&self.write).await?;
            let left = self.pages("free").await?;
            // Nothing came back: a file that cannot shrink.
            if left == 0 || left >= free {
                break;
            }
        }
        self.write_back().await
    }

    /// A file of an earlier Cove cannot shrink: it is written anew, once, where it is small and the disk has room.
    pub async fn make_shrinkable(&self) -> StoreResult<()> {
        let Some(reserve) = self.reserve() else { return Ok(()) };
        let kind = ask("SELECT auto_vacuum AS n FROM pragma_auto_vacuum").number(&self.write).await?;
        let size = ask("SELECT page_size AS n FROM pragma_page_size").number(&self.write).await?;
        let bytes = size.saturating_mul(self.pages("all").await?);
        let room = reserve.space().map_or(0, |space| space.free_bytes);
        if kind != 0 || bytes > MAX_REWRITTEN_BYTES || room < 4 * u64::try_from(bytes).unwrap_or(u64::MAX / 4) {
            return Ok(());
        }
        sqlx::raw_sql("PRAGMA auto_vacuum = INCREMENTAL; VACUUM").execute(&self.write).await?;
        Ok(())
    }

    async fn pages(&self, which: &str) -> StoreResult<i64> {
        let question = match which {
            "free" => "SELECT freelist_count AS n FROM pragma_freelist_count",
            _ => "SELECT page_count AS n FROM pragma_page_count",
        };
        ask(question).number(&self.write).await
    }
}
