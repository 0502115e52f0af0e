-- Links to ports of sandboxes. Of a link's secret only its hash is kept. key_tag: the key that made it, if any.
CREATE TABLE port_links (
    id TEXT PRIMARY KEY,
    secret_hash TEXT NOT NULL UNIQUE,
    sandbox_id TEXT NOT NULL,
    port BIGINT NOT NULL,
    key_tag TEXT,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX port_links_of_sandbox ON port_links (sandbox_id, created_at, id);
