-- What an entry of the history takes, so that an owner's history is bounded in sum; the oldest go first.
ALTER TABLE executions ADD COLUMN size_bytes BIGINT NOT NULL DEFAULT 0;
UPDATE executions SET size_bytes = 512 + octet_length(code) + octet_length(COALESCE(output, ''))
    + octet_length(COALESCE(error, '')) + octet_length(COALESCE(description, ''))
    + 2 * octet_length(COALESCE(tags, '')) + octet_length(COALESCE(notes, ''));
CREATE INDEX executions_of_owner ON executions (owner, created_at, id, size_bytes);
CREATE INDEX blobs_by_age ON blobs (owner, created_at, id, sandbox_id, size_bytes);
-- Those that count against an owner's limit, without the many that are only remembered.
CREATE INDEX sandboxes_alive ON sandboxes (owner, expires_at) WHERE deleted_at IS NULL;
