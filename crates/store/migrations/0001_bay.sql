-- Bay's records. One text for SQLite and PostgreSQL: BIGINT and TEXT are all the types there are.
-- Times are microseconds since 1970, yes and no are 1 and 0, JSON is text.

CREATE TABLE instances (
    id TEXT PRIMARY KEY,
    advertise_url TEXT,
    started_at BIGINT NOT NULL,
    heartbeat_at BIGINT NOT NULL
);

-- A cargo's row outlives its deletion (deleted_at) until its folder is gone too.
CREATE TABLE cargos (
    id TEXT PRIMARY KEY,
    owner TEXT,
    managed_by TEXT,
    backend TEXT NOT NULL,
    size_limit_mb BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    last_accessed_at BIGINT NOT NULL,
    deleted_at BIGINT
);
CREATE INDEX cargos_of_owner ON cargos (owner, created_at, id);

-- owner is null: a warm sandbox, nobody's yet.
CREATE TABLE sandboxes (
    id TEXT PRIMARY KEY,
    owner TEXT,
    profile TEXT NOT NULL,
    cargo_id TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT,
    deleted_at BIGINT
);
CREATE INDEX sandboxes_of_owner ON sandboxes (owner, created_at, id);
CREATE INDEX sandboxes_of_cargo ON sandboxes (cargo_id);
CREATE INDEX sandboxes_by_end ON sandboxes (expires_at);
CREATE INDEX sandboxes_by_deletion ON sandboxes (deleted_at);

-- At most one row for each sandbox: whoever inserts it starts the session. state: starting, ready, failed.
CREATE TABLE sessions (
    id TEXT PRIMARY KEY,
    sandbox_id TEXT NOT NULL UNIQUE,
    instance_id TEXT NOT NULL,
    state TEXT NOT NULL,
    containers TEXT,
    error TEXT,
    started_at BIGINT NOT NULL,
    last_used_at BIGINT NOT NULL,
    idle_expires_at BIGINT
);
CREATE INDEX sessions_of_instance ON sessions (instance_id);

CREATE TABLE idempotency (
    owner TEXT NOT NULL,
    idempotency_key TEXT NOT NULL,
    request TEXT NOT NULL,
    answer TEXT NOT NULL,
    expires_at BIGINT NOT NULL,
    PRIMARY KEY (owner, idempotency_key)
);
CREATE INDEX idempotency_by_end ON idempotency (expires_at);

-- seq counts up in each sandbox: the order, and by what the oldest go. tag_index is ',tag,tag,' for exact matches.
CREATE TABLE executions (
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    sandbox_id TEXT NOT NULL,
    seq BIGINT NOT NULL,
    session_id TEXT,
    exec_type TEXT NOT NULL,
    code TEXT NOT NULL,
    success BIGINT NOT NULL,
    execution_time_ms BIGINT NOT NULL,
    output TEXT,
    error TEXT,
    payload_ref TEXT,
    description TEXT,
    tags TEXT,
    tag_index TEXT NOT NULL,
    notes TEXT,
    learn_enabled BIGINT NOT NULL,
    learn_status TEXT,
    learn_error TEXT,
    learn_processed_at BIGINT,
    created_at BIGINT NOT NULL
);
CREATE INDEX executions_of_sandbox ON executions (sandbox_id, seq);

-- Payloads (sandbox_id is null) and traces (of a sandbox, and gone with it). body is JSON.
CREATE TABLE blobs (
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    sandbox_id TEXT,
    execution_id TEXT,
    kind TEXT NOT NULL,
    body TEXT NOT NULL,
    size_bytes BIGINT NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE INDEX blobs_of_owner ON blobs (owner, sandbox_id);
CREATE INDEX blobs_of_sandbox ON blobs (sandbox_id, created_at);

-- A score is kept as the digits that came, so that it goes back out as it came in.
CREATE TABLE candidates (
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    skill_key TEXT NOT NULL,
    scenario_key TEXT,
    payload_ref TEXT,
    skill_type TEXT NOT NULL,
    summary TEXT,
    usage_notes TEXT,
    preconditions TEXT,
    postconditions TEXT,
    source_execution_ids TEXT NOT NULL,
    status TEXT NOT NULL,
    latest_score TEXT,
    latest_pass BIGINT,
    last_evaluated_at BIGINT,
    promotion_release_id TEXT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    deleted_at BIGINT,
    delete_reason TEXT
);
CREATE INDEX candidates_of_owner ON candidates (owner, created_at, id);

CREATE TABLE evaluations (
    id TEXT PRIMARY KEY,
    candidate_id TEXT NOT NULL REFERENCES candidates (id),
    benchmark_id TEXT,
    score TEXT,
    passed BIGINT NOT NULL,
    report TEXT,
    evaluated_by TEXT NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE INDEX evaluations_of_candidate ON evaluations (candidate_id, created_at);

-- replaces: the release that was active at this stage before; what a rollback goes back to, and health compares with.
CREATE TABLE releases (
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    skill_key TEXT NOT NULL,
    candidate_id TEXT NOT NULL REFERENCES candidates (id),
    version BIGINT NOT NULL,
    stage TEXT NOT NULL,
    is_active BIGINT NOT NULL,
    release_mode TEXT NOT NULL,
    promoted_by TEXT NOT NULL,
    promoted_at BIGINT NOT NULL,
    replaces TEXT,
    rollback_of TEXT,
    health_window_end_at BIGINT NOT NULL,
    upgrade_of_release_id TEXT,
    upgrade_reason TEXT,
    change_summary TEXT,
    deleted_at BIGINT,
    delete_reason TEXT,
    UNIQUE (owner, skill_key, version)
);
CREATE INDEX releases_of_candidate ON releases (candidate_id);

CREATE TABLE replays (
    id TEXT PRIMARY KEY,
    release_id TEXT NOT NULL REFERENCES releases (id),
    success BIGINT NOT NULL,
    duration_ms BIGINT NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE INDEX replays_of_release ON replays (release_id, created_at);
