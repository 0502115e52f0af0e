-- Processes that are started again with each session of their sandbox; request: what was asked for, as JSON.
CREATE TABLE kept_processes (
    sandbox_id TEXT NOT NULL,
    name TEXT NOT NULL,
    request TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (sandbox_id, name)
);
