//! The history: one row for each execution, cut to a size, so many for each sandbox.

use cove_api::{Annotation, Barrier, ExecType, HistoryEntry, Moment, Owner};
use cove_core::shorten_bytes;
use sqlx::AssertSqlSafe;

use crate::bounds::ROW_BYTES;
use crate::skills::{read_word, read_word_or};
use crate::{Store, StoreResult, ask::Row, ask::ask};

/// Entries that a sandbox keeps; the oldest go. At 64 KiB each that is far more than anybody reads, and bounded.
pub(crate) const MAX_ENTRIES: i64 = 10_000;
/// What is kept of an execution's code.
pub(crate) const MAX_CODE_BYTES: usize = 256 * 1024;
/// What is kept of its output, and of its error.
pub(crate) const MAX_OUTPUT_BYTES: usize = 64 * 1024;
/// What is kept of a description, of tags, of notes.
pub const MAX_NOTE_BYTES: usize = 16 * 1024;

/// An execution that was.
#[derive(Debug, Clone, Copy)]
pub struct NewExecution<'a> {
    /// Its id, known before it ran: events name it.
    pub id: &'a str,
    /// Who ran it.
    pub owner: &'a Owner,
    /// Where.
    pub sandbox_id: &'a str,
    /// In which session.
    pub session_id: Option<&'a str>,
    /// What kind of execution.
    pub exec_type: ExecType,
    /// What ran.
    pub code: &'a str,
    /// Whether it succeeded.
    pub success: bool,
    /// How long it took.
    pub execution_time_ms: i64,
    /// What it said.
    pub output: Option<&'a str>,
    /// Why it failed.
    pub error: Option<&'a str>,
    /// What ended or refused it.
    pub barrier: Option<Barrier>,
    /// The trace.
    pub payload_ref: Option<&'a str>,
    /// Names of the artifacts that it drew, with commas between.
    pub artifacts: Option<&'a str>,
    /// What the caller said it is.
    pub description: Option<&'a str>,
    /// The caller's words for it, with commas between.
    pub tags: Option<&'a str>,
    /// Whether a skill may be learnt from it.
    pub learn: bool,
    /// When it began.
    pub created_at: Moment,
}

impl NewExecution<'_> {
    /// Code, output and error, cut to what is kept of them.
    pub fn kept(&self) -> (String, Option<String>, Option<String>) {
        let short = |text: Option<&str>| text.map(|text| shorten_bytes(text, MAX_OUTPUT_BYTES));
        (shorten_bytes(self.code, MAX_CODE_BYTES), short(self.output), short(self.error))
    }
}

/// Which entries of a sandbox.
#[derive(Debug, Clone, Copy, Default)]
pub struct ExecutionFilter<'a> {
    /// Only this kind.
    pub exec_type: Option<ExecType>,
    /// Only those that succeeded.
    pub success_only: bool,
    /// Only those that failed.
    pub failed_only: bool,
    /// Only those with all of these tags, with commas between.
    pub tags: Option<&'a str>,
    /// Only those with none of these tags, with commas between.
    pub without_tags: Option<&'a str>,
    /// Only those that a limit or a wall ended or refused.
    pub barred: bool,
    /// Only those with, or without, notes.
    pub has_notes: Option<bool>,
    /// Only those with, or without, a description.
    pub has_description: Option<bool>,
    /// How many at most.
    pub limit: u32,
    /// How many to leave out first.
    pub offset: u32,
}

/// What an execution ran.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// What kind of execution.
    pub exec_type: ExecType,
    /// What ran; of a batch, a command on each line.
    pub code: String,
}

fn entry(row: &Row) -> StoreResult<HistoryEntry> {
    Ok(HistoryEntry {
        id: row.id("id")?,
        session_id: row.text_or("session_id")?,
        exec_type: read_word(row, "exec_type")?,
        code: row.text("code")?,
        success: row.flag("success")?,
        execution_time_ms: row.int("execution_time_ms")?,
        output: row.text_or("output")?,
        error: row.text_or("error")?,
        barrier: read_word_or(row, "barrier")?,
        payload_ref: row.text_or("payload_ref")?,
        artifacts: row.text_or("artifacts")?.iter().flat_map(|names| split_tags(names)).map(str::to_owned).collect(),
        description: row.text_or("description")?,
        tags: row.text_or("tags")?,
        notes: row.text_or("notes")?,
        learn_enabled: row.flag("learn_enabled")?,
        learn_status: row.text_or("learn_status")?,
        learn_error: row.text_or("learn_error")?,
        learn_processed_at: row.at_or("learn_processed_at")?,
        created_at: row.at("created_at")?,
    })
}

/// The tags in a caller's text.
pub fn split_tags(tags: &str) -> impl Iterator<Item = &str> {
    tags.split(',').map(str::trim).filter(|tag| !tag.is_empty())
}

/// `,a,b,`: each tag stands between two commas, so that `,a,` is found in it only for the tag `a`.
fn tag_index(tags: &str) -> String {
    split_tags(tags).fold(",".to_owned(), |index, tag| index + tag + ",")
}

impl Store {
    /// Writes an entry; with `idle_expires_at` also moves the end of the session's idleness.
    pub async fn record(&self, new: &NewExecution<'_>, idle_expires_at: Option<Moment>) -> StoreResult<()> {
        let question = "INSERT INTO executions (id, owner, sandbox_id, seq, session_id, exec_type, code, success, \
             execution_time_ms, output, error, payload_ref, description, tags, tag_index, learn_enabled, learn_status, \
             created_at, size_bytes, barrier, artifacts) VALUES ($1, $2, $3, \
             (SELECT COALESCE(MAX(seq), 0) + 1 FROM executions WHERE sandbox_id = $3), \
             $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20) RETURNING seq AS n";
        let short = |text: Option<&str>, limit| text.map(|text| shorten_bytes(text, limit));
        let (code, output, error) = new.kept();
        let (description, tags) = (short(new.description, MAX_NOTE_BYTES), short(new.tags, MAX_NOTE_BYTES));
        let texts = [Some(&code), output.as_ref(), error.as_ref(), description.as_ref(), tags.as_ref(), tags.as_ref()];
        let size: usize = ROW_BYTES + texts.into_iter().flatten().map(String::len).sum::<usize>();
        let size = i64::try_from(size).unwrap_or(i64::MAX);
        let question = ask(question)
            .text(new.id)
            .text(new.owner.as_str())
            .text(new.sandbox_id)
            .text_or(new.session_id)
            .text(new.exec_type.as_str())
            .text(&code)
            .flag(new.success)
            .int(new.execution_time_ms)
            .text_or(output.as_deref())
            .text_or(error.as_deref())
            .text_or(new.payload_ref)
            .text_or(description.as_deref())
            .text_or(tags.as_deref())
            .text(&tag_index(tags.as_deref().unwrap_or_default()))
            .flag(new.learn)
            .text_or(new.learn.then_some("pending"))
            .at(new.created_at)
            .int(size)
            .text_or(new.barrier.map(Barrier::as_str))
            .text_or(new.artifacts);
        // Each by itself: none of them is worth the three more journeys of a transaction on the way of every call.
        let seq = question.number(&self.write).await?;
        // The entry is written: what fails from here on is done by the next one, or by the collector.
        if let Err(error) = self.after_entry(new, seq, size, idle_expires_at).await {
            tracing::warn!(%error, "the history could not be cut to its size");
        }
        Ok(())
    }

    async fn after_entry(
        &self,
        new: &NewExecution<'_>,
        seq: i64,
        size: i64,
        idle_expires_at: Option<Moment>,
    ) -> StoreResult<()> {
        if let Some(idle_expires_at) = idle_expires_at {
            self.touch_session(new.sandbox_id, idle_expires_at, Moment::now()).await?;
        }
        if seq > MAX_ENTRIES {
            let question = "DELETE FROM executions WHERE sandbox_id = $1 AND seq <= $2";
            ask(question).text(new.sandbox_id).int(seq - MAX_ENTRIES).run(&self.write).await?;
        }
        if self.bounds.is_due(new.owner, size) {
            self.trim_history(new.owner).await?;
        }
        Ok(())
    }

    /// One entry of a sandbox.
    pub async fn execution(&self, owner: &Owner, sandbox_id: &str, id: &str) -> StoreResult<Option<HistoryEntry>> {
        let question = "SELECT * FROM executions WHERE id = $1 AND sandbox_id = $2 AND owner = $3";
        let question = ask(question).text(id).text(sandbox_id).text(owner.as_str());
        question.one(&self.read).await?.as_ref().map(entry).transpose()
    }

    /// What one of an owner's entries ran, whichever sandbox it belongs to.
    pub async fn source(&self, owner: &Owner, id: &str) -> StoreResult<Option<Source>> {
        let question = "SELECT exec_type, code FROM executions WHERE id = $1 AND owner = $2";
        let row = ask(question).text(id).text(owner.as_str()).one(&self.read).await?;
        row.map(|row| Ok(Source { exec_type: read_word(&row, "exec_type")?, code: row.text("code")? })).transpose()
    }

    /// A page of a sandbox's entries, newest first, and how many there are in all.
    pub async fn executions(
        &self,
        owner: &Owner,
        sandbox_id: &str,
        filter: &ExecutionFilter<'_>,
    ) -> StoreResult<(Vec<HistoryEntry>, i64)> {
        let tags = |text: Option<&str>| -> Vec<String> {
            split_tags(text.unwrap_or_default()).map(|tag| format!(",{tag},")).collect()
        };
        let (with, without) = (tags(filter.tags), tags(filter.without_tags));
        let mut which = "FROM executions WHERE sandbox_id = $1 AND owner = $2 AND ($3 IS NULL OR exec_type = $3) \
            AND success >= $4 \
            AND ($5 IS NULL OR $5 = CASE WHEN COALESCE(notes, '') = '' THEN 0 ELSE 1 END) \
            AND ($6 IS NULL OR $6 = CASE WHEN COALESCE(description, '') = '' THEN 0 ELSE 1 END) \
            AND ($7 = 0 OR barrier IS NOT NULL) AND ($8 = 0 OR success = 0)"
            .to_owned();
        // Not LIKE: a tag may hold `%`, and SQLite's LIKE takes `A` for `a`.
        let is_held = with.iter().map(|_| "<>").chain(without.iter().map(|_| "="));
        for (place, is_held) in (9..).zip(is_held) {
            which.push_str(&format!(" AND REPLACE(tag_index, ${place}, '') {is_held} tag_index"));
        }
        let tags: Vec<String> = with.into_iter().chain(without).collect();
        let bound = |text: String| {
            let question = ask(AssertSqlSafe(text))
                .text(sandbox_id)
                .text(owner.as_str())
                .text_or(filter.exec_type.map(ExecType::as_str));
            let question = question.flag(filter.success_only).flag_or(filter.has_notes).flag_or(filter.has_description);
            tags.iter().fold(question.flag(filter.barred).flag(filter.failed_only), |question, tag| question.text(tag))
        };
        let total = bound(format!("SELECT COUNT(*) AS n {which}")).number(&self.read).await?;
        // Bound, not written: each text is prepared once and kept.
        let (limit, offset) = (9 + tags.len(), 10 + tags.len());
        let page = bound(format!("SELECT * {which} ORDER BY seq DESC, id DESC LIMIT ${limit} OFFSET ${offset}"));
        let page = page.int(filter.limit.into()).int(filter.offset.into());
        Ok((page.each(&self.read, entry).await?, total))
    }

    /// Notes something with an entry; what is absent stays.
    pub async fn annotate(
        &self,
        owner: &Owner,
        sandbox_id: &str,
        id: &str,
        note: &Annotation,
    ) -> StoreResult<Option<HistoryEntry>> {
        let question = "UPDATE executions SET description = COALESCE($4, description), tags = COALESCE($5, tags), \
                        tag_index = COALESCE($6, tag_index), notes = COALESCE($7, notes), \
                        size_bytes = 512 + octet_length(code) + octet_length(COALESCE(output, '')) \
                        + octet_length(COALESCE(error, '')) + octet_length(COALESCE($4, description, '')) \
                        + 2 * octet_length(COALESCE($5, tags, '')) + octet_length(COALESCE($7, notes, '')) \
                        WHERE id = $1 AND sandbox_id = $2 AND owner = $3 RETURNING *";
        let texts = [note.description.as_ref(), note.tags.as_ref(), note.tags.as_ref(), note.notes.as_ref()];
        let added: usize = texts.into_iter().flatten().map(String::len).sum();
        let row = ask(question)
            .text(id)
            .text(sandbox_id)
            .text(owner.as_str())
            .text_or(note.description.as_deref())
            .text_or(note.tags.as_deref())
            .text_or(note.tags.as_deref().map(tag_index).as_deref())
            .text_or(note.notes.as_deref())
            .one(&self.write)
            .await?;
        if row.is_some() && self.bounds.is_due(owner, i64::try_from(added).unwrap_or(i64::MAX)) {
            self.trim_history(owner).await?;
        }
        row.as_ref().map(entry).transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_stand_between_commas() {
        assert_eq!(tag_index(" a, b c ,,"), ",a,b c,");
        assert_eq!(tag_index(""), ",");
    }
}
