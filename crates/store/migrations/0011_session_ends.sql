-- When a session that is kept with its sandbox ends all the same, with everything that runs in it.
ALTER TABLE sandboxes ADD COLUMN session_ends_at BIGINT;
CREATE INDEX sandboxes_session_ends ON sandboxes (session_ends_at);
