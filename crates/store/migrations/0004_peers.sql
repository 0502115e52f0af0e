-- What only the Bays of this database know: the key by which they seal requests that they hand on to one another.
CREATE TABLE secrets (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL,
    created_at BIGINT NOT NULL
);
