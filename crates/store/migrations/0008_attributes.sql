-- What a client says of a sandbox (a JSON object of texts), what a door keeps with it for itself, and whether its session
-- ends only with the sandbox.
ALTER TABLE sandboxes ADD COLUMN metadata TEXT;
ALTER TABLE sandboxes ADD COLUMN note TEXT;
ALTER TABLE sandboxes ADD COLUMN keeps_session BIGINT NOT NULL DEFAULT 0;
